"""This machine's addresses in its network, and QR codes of links."""

import ipaddress
import socket
from contextlib import suppress

import segno

# an address for documentation (RFC 5737); connecting a UDP socket to it sends nothing
NOWHERE = ("192.0.2.1", 9)
HALVES = " ▀▄█"  # space, upper, lower and both of two modules, one above the other


def addresses() -> list[str]:
    """Returns the IPv4 addresses at which others may reach this machine, the most likely first."""
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
    """Returns the addresses at which others in the network reach a server.

    Args:
        listening: the address the server listens on.
    """
    if is_wildcard(listening):
        return addresses()
    return [listening] if _is_of_network(listening) else []


def is_wildcard(address: str) -> bool:
    """Returns whether a server at this address listens on all addresses of the machine."""
    with suppress(ValueError):  # it is a host name
        return not address or ipaddress.ip_address(address).is_unspecified
    return False


def _is_of_network(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text != "localhost"
    return not (address.is_loopback or address.is_unspecified or address.is_multicast)


def qr_text(address: str) -> str:
    """Returns a QR code for a terminal, with two rows of modules per line.

    It is dark on light whatever the terminal's colours are, because phones read inverted codes
    badly.
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
    return segno.make_qr(address).svg_data_uri(scale=8, border=3, light="#fff")
