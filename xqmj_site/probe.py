"""Ask a role in the same container whether it answers: the image's health check."""

from __future__ import annotations

import os
import sys
import urllib.request

TIMEOUT_S = 4

ADDRESSES = {
    "web": ("PORT", "8000", "/api/v1/health"),
    "live": ("LIVE_PORT", "8001", "/live/v1/health"),
}
"""By role: the variable that holds its port, the port otherwise, and what to ask."""


def address(role: str) -> str:
    """Return what to ask; raises `KeyError` for a role that answers nothing."""
    variable, port, path = ADDRESSES[role]
    return f"http://127.0.0.1:{os.environ.get(variable) or port}{path}"


def main(arguments: list[str]) -> int:
    """Return 0 when the role (`web` when none is named) answers as it should."""
    url = address(arguments[0] if arguments else "web")
    # Any host that is allowed will do: the question does not leave the container.
    host = os.environ.get("ALLOWED_HOSTS", "localhost").split(",")[0].strip(" .*") or "localhost"
    request = urllib.request.Request(url, headers={"Host": host})  # noqa: S310 - our own address
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:  # noqa: S310
            return 0 if response.status == 200 else 1
    except OSError as error:
        print(f"{url}: {error}", file=sys.stderr)  # noqa: T201 - a health check's log
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
