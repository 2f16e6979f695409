"""Settings of the webhook (docs/webhook.md)."""

TOPICCRAWL_WEBHOOK = ""
"""URL that gets a signed POST request for each new story, such as https://example.com/news; can
also be set in the environment (docs/webhook.md)."""
TOPICCRAWL_WEBHOOK_SECRET = ""
"""Key of the signature, at least 16 bytes. Set it in the environment to hide it from process
lists."""

TOPICCRAWL_STORE_LISTENERS = {"topiccrawl.addons.webhook.sender.sender_of": 100}
