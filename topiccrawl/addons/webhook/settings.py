"""Settings of the webhook (docs/webhook.md)."""

from __future__ import annotations

TOPICCRAWL_WEBHOOK = ""
"""Address that gets a signed POST for each new story, such as https://example.com/news; here or in
the environment (docs/webhook.md)."""
TOPICCRAWL_WEBHOOK_SECRET = ""
"""Key of the signature: 16 bytes or more. In the environment, the list of processes hides it."""

TOPICCRAWL_STORE_LISTENERS = {"topiccrawl.addons.webhook.sender.sender_of": 100}
