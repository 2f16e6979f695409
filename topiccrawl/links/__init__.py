"""Reading and scoring the links of a page, and detecting crawler traps."""

from topiccrawl.links.feeds import read_feed
from topiccrawl.links.hosts import HostRules
from topiccrawl.links.newsurls import news_likelihood
from topiccrawl.links.page import read_page
from topiccrawl.links.sitemaps import Sitemap, read_sitemap
from topiccrawl.links.traps import TrapRules, trap
from topiccrawl.links.urls import canonical as canonicalize_url
from topiccrawl.links.urls import host_of, site_of

__all__ = [
    "HostRules",
    "Sitemap",
    "TrapRules",
    "canonicalize_url",
    "host_of",
    "news_likelihood",
    "read_feed",
    "read_page",
    "read_sitemap",
    "site_of",
    "trap",
]
