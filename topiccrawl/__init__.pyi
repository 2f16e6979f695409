from topiccrawl.addon import Addon as Addon
from topiccrawl.addons.notebook import open as open
from topiccrawl.dedup import DuplicateDetector as DuplicateDetector
from topiccrawl.dedup import Match as Match
from topiccrawl.dedup import find_duplicates as find_duplicates
from topiccrawl.discovery import SeedProvider as SeedProvider
from topiccrawl.extract import extract_article as extract_article
from topiccrawl.frontier.contract import Frontier as Frontier
from topiccrawl.frontier.embedded import EmbeddedFrontier as EmbeddedFrontier
from topiccrawl.links import canonicalize_url as canonicalize_url
from topiccrawl.links import read_page as read_page
from topiccrawl.model import Article as Article
from topiccrawl.model import Link as Link
from topiccrawl.model import Page as Page
from topiccrawl.model import Verdict as Verdict
from topiccrawl.text import decode as decode
from topiccrawl.topics import RelevanceModel as RelevanceModel
from topiccrawl.topics import Scorer as Scorer
from topiccrawl.topics import Topic as Topic
from topiccrawl.topics import find_topic as find_topic

__version__: str
