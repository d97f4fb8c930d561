"""kafkaviz app: opens the web app on a broker directory."""

import argparse
import errno
import ipaddress
import json
import os
import socket
import sys
from pathlib import Path

from kafkaviz import environment, extras
from kafkaviz.cli.common import add_tiered_option, join_tiered
from kafkaviz.errors import KafkavizError, translate_os_errors
from kafkaviz.log.remote import address
from kafkaviz.messages import language, message, say
from kafkaviz.units import escape_controls

OWN_ADDRESS = "127.0.0.1"
ALL_ADDRESSES = "0.0.0.0"
# environment variables that Streamlit's own command also reads
STREAMLIT_ADDRESS = "STREAMLIT_SERVER_ADDRESS"
STREAMLIT_UPLOAD_SIZE = "STREAMLIT_SERVER_MAX_UPLOAD_SIZE"

EPILOG = """\
The server runs until it is stopped, so there is no --json. `check`, `lookup`, `dump` and `ingest`
print the content of the pages.

--class listens on all addresses of this machine, unless --host names one. It prints the code of the
class, a link and QR code for learners, and a link for the teacher. Learners can open the samples,
DIR and the directories below --allow-root; uploads are off. The class exists only in the server's
memory and ends with the server.

Example: kafkaviz app /var/lib/kafka/data --port 8600"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "app",
        help="open the web app",
        description="Opens the web app on a broker directory, or on the sample one. The directory "
        "is never changed.",
        epilog=EPILOG,
    )
    help_text = (
        "a broker directory, a .tar, .tar.gz or .zip of one, or a segment file; several "
        "directories are the log directories of one broker"
    )
    parser.add_argument("directories", metavar="DIR", nargs="*", type=Path, help=help_text)
    add_tiered_option(parser)
    help_text = "open a class of the Workshop, reachable from this machine's network"
    parser.add_argument("--class", dest="opens_class", action="store_true", help=help_text)
    help_text = "the address to listen on (default: 127.0.0.1; with --class 0.0.0.0: all addresses)"
    parser.add_argument("--host", metavar="ADDRESS", type=_parse_address, help=help_text)
    help_text = "the port to listen on (default: 8501, or the next free one)"
    parser.add_argument("--port", metavar="N", type=_parse_port, help=help_text)
    help_text = "the Spark master that ingests (default: %(default)s)"
    parser.add_argument("--master", metavar="M", default="local[*]", help=help_text)
    help_text = "open only paths in DIR, which may be an address: s3://bucket; may be repeated"
    parser.add_argument("--allow-root", metavar="DIR", type=Path, action="append", help=help_text)
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        type=_parse_host,
        action="append",
        help="a host name under which the server may be requested; may be repeated",
    )
    help_text = "a folder of lessons; may be repeated"
    parser.add_argument("--lessons", metavar="DIR", type=Path, action="append", help=help_text)


def run(args: argparse.Namespace) -> int:
    """Replaces this process with the app's Streamlit server."""
    extras.require("app")
    environment = os.environ | _settings(args)
    size = environment.get(STREAMLIT_UPLOAD_SIZE) or "0"
    if not (size.isascii() and size.isdecimal()):
        fault = message("errors.no_upload_size", name=STREAMLIT_UPLOAD_SIZE, text=size)
        raise KafkavizError(fault)
    address = environment.get(STREAMLIT_ADDRESS)
    if address or args.port is not None:
        _check_listening_address(address or OWN_ADDRESS, args.port)
    sys.stdout.flush()
    # the option -P prevents Python from importing a streamlit.py in the current directory
    command = [sys.executable, "-P", "-m", "kafkaviz.serve"]
    if args.port is not None:
        command.append(str(args.port))
    os.execve(sys.executable, command, environment)


def _settings(args: argparse.Namespace) -> dict[str, str]:
    """Returns the environment variables that pass the options to the app.

    The app reads them: kafkaviz.app and kafkaviz.cli do not import each other.
    """
    settings = {"KAFKAVIZ_MASTER": args.master}
    if not environment.IS_WHEEL:
        python_path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        settings["PYTHONPATH"] = os.pathsep.join(
            [str(environment.ROOT), *filter(None, python_path)]
        )
    directories = list(map(_readable, args.directories))
    if args.tiered is not None:
        if len(directories) != 1:
            raise KafkavizError(message("tiered.no_directory"))
        directories = [str(join_tiered(Path(directories[0]), args.tiered))]
    if len(directories) == 1:
        settings["KAFKAVIZ_DIR"] = directories[0]
    elif directories:
        settings["KAFKAVIZ_DIR"] = json.dumps(directories)
    if args.allow_root is not None:
        settings["KAFKAVIZ_ALLOW_ROOT"] = _paths(args.allow_root)
    if args.allow_host is not None:
        settings["KAFKAVIZ_ALLOW_HOST"] = ",".join(args.allow_host)
    if args.lessons is not None:
        settings["KAFKAVIZ_LESSONS"] = _paths(args.lessons)
    if args.opens_class:
        settings["KAFKAVIZ_CLASS"] = language()
        settings[STREAMLIT_ADDRESS] = os.environ.get(STREAMLIT_ADDRESS) or ALL_ADDRESSES
        settings[STREAMLIT_UPLOAD_SIZE] = os.environ.get(STREAMLIT_UPLOAD_SIZE) or "0"
    if args.host is not None:
        settings[STREAMLIT_ADDRESS] = args.host
    return settings


def _paths(directories: list[Path]) -> str:
    """Returns directories joined by os.pathsep; a JSON list if a name contains os.pathsep."""
    paths = [_readable(path) for path in directories]
    if any(os.pathsep in path for path in paths):
        return json.dumps(paths)
    return os.pathsep.join(paths)


def _check_listening_address(address: str, port: int | None) -> None:
    """Raises KafkavizError if the server cannot listen at an address and port.

    Streamlit would report this without advice. If `port` is None, the server takes a free port.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            # without this, a port that was closed a minute ago would count as in use
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((address, port or 0))
    except PermissionError:
        raise KafkavizError(message("errors.port_not_allowed", port=port)) from None
    except OSError as fault:
        if fault.errno == errno.EADDRINUSE:
            raise KafkavizError(message("errors.port_in_use", port=port)) from None
        raise KafkavizError(message("errors.address_not_own", address=address)) from None


def _readable(path: Path) -> str:
    """Returns the absolute path of a file or directory; for a remote path, the URL.

    Raises an error if the path cannot be read. Faults in the content are reported by the app.
    """
    if remote := address.parse(str(path)):
        return str(remote)
    with translate_os_errors(path):
        path.stat()
        if not os.access(path, os.R_OK | (os.X_OK if path.is_dir() else 0)):
            raise PermissionError
    return str(path.resolve())


def _parse_address(text: str) -> str:
    if text == "localhost":
        return OWN_ADDRESS
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        problem = say("cli_app.no_address", address=escape_controls(text))
        raise argparse.ArgumentTypeError(problem) from None


def _parse_host(text: str) -> str:
    parts = text.removesuffix(".").split(".")
    if not all(part.replace("-", "").isalnum() for part in parts):
        raise argparse.ArgumentTypeError(say("cli_app.no_host", name=escape_controls(text)))
    return text


def _parse_port(text: str) -> int:
    port = int(text) if text.isdecimal() and len(text) < 20 else 0
    if not 1 <= port <= 65_535:
        raise argparse.ArgumentTypeError(say("cli_app.no_port", text=text))
    return port
