"""Where this machine is reached in its network, and an address as a picture that phones read."""

import ipaddress
import socket
from contextlib import suppress

import segno

# an address of documentation (RFC 5737): asking for the way to it sends nothing
NOWHERE = ("192.0.2.1", 9)
HALVES = " ▀▄█"  # none, the upper, the lower and both of two modules


def addresses() -> list[str]:
    """The addresses of this machine that others in its network may reach, the likeliest first."""
    candidates: list[str] = []
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(NOWHERE)
        candidates.append(probe.getsockname()[0])
    with suppress(OSError):
        candidates += [
            str(address[4][0])
            for address in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
        ]
    return [address for address in dict.fromkeys(candidates) if _is_of_network(address)]


def reachable_addresses(listening: str) -> list[str]:
    """Where others in the network reach a server.

    Args:
        listening: the address that it listens on.
    """
    if is_wildcard(listening):
        return addresses()
    return [listening] if _is_of_network(listening) else []


def is_wildcard(address: str) -> bool:
    """Whether who listens there listens on all addresses of the machine."""
    with suppress(ValueError):  # of a name
        return not address or ipaddress.ip_address(address).is_unspecified
    return False


def _is_of_network(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text != "localhost"
    return not (address.is_loopback or address.is_unspecified or address.is_multicast)


def qr_text(address: str) -> str:
    """A QR code for a terminal, two rows of modules a line.

    Dark on light whatever the terminal's colours are: telephones read the other way round badly.
    """
    rows = [
        [bool(module) for module in row] for row in segno.make_qr(address).matrix_iter(border=2)
    ]
    rows += [[False] * len(rows[0])] * (len(rows) % 2)
    lines = (
        "".join(HALVES[upper + 2 * lower] for upper, lower in zip(*pair, strict=True))
        for pair in zip(rows[::2], rows[1::2], strict=True)
    )
    return "\n".join(f"\x1b[30;107m{line}\x1b[0m" for line in lines)


def qr_uri(address: str) -> str:
    """A QR code as the address of an SVG picture, with its white border."""
    return segno.make_qr(address).svg_data_uri(scale=8, border=3, light="#fff")
