"""Is a server alive? ``python -m newsroom.alive URL STATUS...``: exit status 0 if it answers so."""

import sys
from http.client import HTTPConnection
from urllib.parse import urlsplit


def status_of(url: str) -> int:
    """Return the status of a server's answer, 0 where there is none within five seconds."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.netloc, timeout=5)
    try:
        connection.request("GET", parts.path or "/")
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(str(status_of(sys.argv[1])) not in sys.argv[2:])
