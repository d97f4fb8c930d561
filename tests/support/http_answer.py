import urllib.request
from time import monotonic, sleep


def wait_for(url: str, seconds: float) -> bytes | None:
    """Returns the first answer of an address, or None."""
    end = monotonic() + seconds
    while monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=1) as answer:
                return answer.read()
        except OSError:
            sleep(0.05)
    return None
