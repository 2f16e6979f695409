"""``python -m topiccrawl``: the ``topiccrawl`` command."""

from topiccrawl.commands.main import main

main()
