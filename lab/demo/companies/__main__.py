"""``python -m lab.demo.companies``: crawl generated companies, one period after another."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lab.demo.companies.crawl import crawl
from lab.demo.companies.web import DEFAULT_COMPANIES, CompanyWeb

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Crawl; return the exit status of the last crawl."""
    parser = argparse.ArgumentParser("python -m lab.demo.companies", None, __doc__)
    add = parser.add_argument
    add("--companies", type=int, default=DEFAULT_COMPANIES, help="with a site of their own")
    add("--seed", type=int, default=1, help="equal seeds give equal webs")
    add("--periods", type=int, default=2, help="in the second, some have changed, come or gone")
    add("--folder", type=Path, default=Path("data/companies"), help="state and log")
    options, rest = parser.parse_known_args(arguments)
    status = 0
    more = [one for one in rest if one != "--"]
    first = CompanyWeb(options.seed, options.companies)
    for edition in range(options.periods):
        web = CompanyWeb(options.seed, options.companies, min(edition, 1))
        status = crawl(web, options.folder, more, first.hosts)
    where = f"-s TOPICCRAWL_DATA_DIR={options.folder}"
    print(f"\nlook at it: scrapy records list {where}")  # noqa: T201
    return status


if __name__ == "__main__":
    sys.exit(main())
