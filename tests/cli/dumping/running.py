"""Runs a dump in this process: the command line goes in, both streams and the status come out."""

import io
import json
import os
from collections.abc import Sequence
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import NamedTuple

from kafkaviz.__main__ import parser
from kafkaviz.cli import dump
from kafkaviz.cli.dumping import Console, json_lines, text

MODES = {
    "": (),
    "deep": ("--print-data-log",),
    "sanity": ("--index-sanity-check",),
    "verify": ("--verify-index-only",),
}
DECODERS = {
    "__consumer_offsets": "--offsets-decoder",
    "__transaction_state": "--transaction-log-decoder",
    "__cluster_metadata": "--cluster-metadata-decoder",
    "bootstrap": "--cluster-metadata-decoder",
}


# six hundred files are dumped in less time than it takes to describe the options for each
PARSER = cache(parser)


class DumpOutput(NamedTuple):
    """The output of a dump; the directory it ran in is @DIR@."""

    out: bytes
    err: str
    status: int


def dumped(directory: Path, args: Sequence[str]) -> DumpOutput:
    out, err = io.BytesIO(), io.BytesIO()
    with chdir(directory):
        args = PARSER().parse_args(["dump", *args])
        console = Console(out, err)
        status = (json_lines if args.json else text).dump(dump.options(args), console)
        console.flush()
        working_directory = os.getcwd()
    return DumpOutput(
        out.getvalue(),
        err.getvalue().decode("utf-8", "surrogateescape").replace(working_directory, "@DIR@"),
        status,
    )


def json_dumped(directory: Path, *args: str) -> list[dict]:
    dump = dumped(directory, ["--json", *args])
    assert (dump.err, dump.status) == ("", 0)
    return [json.loads(line) for line in dump.out.splitlines()]


def mode_and_path(name: str) -> tuple[str, str]:
    """Returns the mode in an answer's file name, and the path: weblogs-0/17.log.deep is ("deep",
    "weblogs-0/17.log").
    """
    path, _, mode = name.rpartition(".")
    return (mode, path) if mode in MODES or mode == "decoded" else ("", name)


def options_of(mode: str, path: str) -> tuple[str, ...]:
    """Returns the options that the answer was recorded with."""
    return (
        (DECODERS[path.replace("/", "-").split("-")[0].split(".")[0]],)
        if mode == "decoded"
        else MODES[mode]
    )


def without_frames(err: str) -> str:
    """Returns stderr without stack frames."""
    return "".join(
        f"{line}\n" for line in err.splitlines() if not line.startswith(("\tat ", "\t... "))
    )
