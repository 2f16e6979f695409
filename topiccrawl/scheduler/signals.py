"""Custom signals, sent through Scrapy's signal manager.

page_judged(page, verdict): a topic spider judged a page (``model.Page``, ``model.Verdict``).
page_counted(relevant, articles): a spider without judgement fetched a page, on topic or not, with
    a number of new articles or records.
example_read(page, wanted): a topic spider read an example (True) or counterexample of its topic.
lease_settled(lease, outcome): a lease was settled (``model.Lease``, ``contract.Outcome``).
page_changed(change): a watched article is new, changed or gone (``storage.pages.Change``).
hosts_taken(): this node now serves hosts that another node, or an earlier run, served before.
"""

page_judged = object()
page_counted = object()
example_read = object()
lease_settled = object()
page_changed = object()
hosts_taken = object()
