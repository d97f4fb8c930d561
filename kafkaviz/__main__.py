"""python -m kafkaviz: finds the command that was typed, runs it, and says what went wrong in one line."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from kafkaviz.commands import INTERRUPTED
from kafkaviz.commands.printing import output
from kafkaviz.errors import KafkavizError

# Each is a module of kafkaviz.commands that imports only argparse at its top: `kafkaviz --help` reads them all.
COMMANDS = ("app", "calibrate", "check", "dump", "ingest", "lookup", "rebuild", "report", "simulate", "tune", "warm")
USAGE_OR_INPUT = 2
NO_READER = 128 + 13  # as a shell tells of SIGPIPE


def parser() -> argparse.ArgumentParser:
    """The whole command line: every command adds its own part, and sets `run`."""
    top = argparse.ArgumentParser(
        prog="kafkaviz",
        description="Opens a Kafka broker directory and shows how .log, .index and .timeindex find a record.",
        epilog="Example: kafkaviz app /var/lib/kafka/data",
    )
    subparsers = top.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        importlib.import_module(f"kafkaviz.commands.{name}").add_parser(subparsers)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; 0 done, 1 it found what it was asked to look for, 2 wrong usage or unreadable input."""
    output.set_up()
    args = parser().parse_args(argv)
    try:
        status = args.run(args)
        sys.stdout.flush()
        return status
    except KafkavizError as error:
        print(output.plain(f"kafkaviz: {error}"), file=sys.stderr)
        return USAGE_OR_INPUT
    except KeyboardInterrupt:
        print("kafkaviz: stopped", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has had enough, as `| head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NO_READER


if __name__ == "__main__":
    sys.exit(main())
