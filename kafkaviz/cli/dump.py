"""kafkaviz dump: prints a file as Kafka's DumpLogSegments does, or as JSON lines."""

import argparse
import os
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafkaviz.cli.dumping import DumpOptions

EPILOG = """\
Prints the same as kafka-dump-log of Kafka 4.3.1, including stderr and exit status, but without
stack frames. Writes nothing: where that tool truncates or creates an index file, this one leaves
the directory unchanged. On a terminal, control characters and characters that change the direction
of text are escaped: ESC is \\x1b.

--json prints one object a line, goes on past damage and ends with 0. Bytes are base64; what a
format does not have, or Kafka has no value of, is null; a stored timestamp of -1 is -1. By kind:
  file                 schema, path, format, size_bytes
  batch                position, size_bytes, base_offset, last_offset, leader_epoch, magic, codec,
                       timestamp_type, is_transactional, is_control, delete_horizon_ms,
                       record_count, base_timestamp_ms, max_timestamp_ms, producer_id,
                       producer_epoch, base_sequence, last_sequence, crc, crc_valid
  record               with --print-data-log: offset, timestamp_ms, sequence, key, value,
                       headers as [[name, value]], control
  offset_entry         slot, relative_offset, offset, position
  time_entry           slot, timestamp_ms, relative_offset, offset
  aborted_transaction  producer_id, first_offset, last_offset, last_stable_offset
  producer             producer_id, producer_epoch, last_sequence, last_offset, offset_delta,
                       timestamp_ms, coordinator_epoch, current_txn_first_offset
  unwritten            slots or bytes that were never written: position, size_bytes
  problem              code of a finding, position, size_bytes, message: what `kafkaviz check` says

Example: kafkaviz dump orders-0/00000000000000000000.log --print-data-log"""
FLAGS = {
    "print-data-log": "print keys and values of the records",
    "deep-iteration": "print a line per record",
    "skip-record-metadata": "print only keys and values of records",
    "verify-index-only": "check indexes without printing their entries",
    "index-sanity-check": "only check whether indexes pass Kafka's sanity check",
    "offsets-decoder": "decode the records of __consumer_offsets",
    "transaction-log-decoder": "decode the records of __transaction_state",
    "cluster-metadata-decoder": "decode the records of __cluster_metadata",
    "remote-log-metadata-decoder": "decode the records of __remote_log_metadata",
    "share-group-state-decoder": "decode the records of __share_group_state",
}


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Adds `dump` to the command line, with the options of Kafka's tool.

    As in Kafka's tool, options cannot be abbreviated, and one dash works like two.
    """
    parser = subparsers.add_parser(
        "dump",
        help="print a file as kafka-dump-log does",
        description="Prints the content of .log, .index, .timeindex, .txnindex, .snapshot and "
        ".checkpoint files.",
        epilog=EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument("paths", metavar="FILE", nargs="*", help="a file to print")
    help_text = "files to print before the others, as for Kafka's tool"
    _add(parser, "files", metavar="A,B", default="", help=help_text)
    for name, help_text in FLAGS.items():
        _add(parser, name, action="store_true", help=help_text)
    for name, help_text in (
        ("key-decoder-class", "a decoder that Kafka ships (default: text)"),
        ("value-decoder-class", "the same for values"),
    ):
        _add(parser, name, metavar="CLASS", nargs="?", const="", help=help_text)
    for name, help_text in (
        ("max-bytes", "read only the first N bytes of a .log"),
        ("max-message-size", "read at most N bytes of a batch that an .index points to"),
    ):
        _add(parser, name, metavar="N", type=_integer(name), help=help_text)
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    parser.set_defaults(refuse=parser.error)


def _add(parser: argparse.ArgumentParser, name: str, **settings: Any) -> None:
    """Adds an option with two dashes. The help text does not list its form with one dash."""
    target = name.replace("-", "_")
    hidden: dict[str, Any] = settings | {"help": argparse.SUPPRESS, "default": argparse.SUPPRESS}
    parser.add_argument(f"--{name}", dest=target, **settings)
    parser.add_argument(f"-{name}", dest=target, **hidden)


def _integer(name: str) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = int(text) if re.fullmatch("[+-]?[0-9]{1,99}", text) else None
        if number is None or not -(2**31) <= number < 2**31:
            raise argparse.ArgumentTypeError(f"Cannot parse argument '{text}' of option {name}")
        return number

    return parse


def run(args: argparse.Namespace) -> int:
    """Prints the files and returns the exit status of Kafka's tool."""
    import importlib

    from kafkaviz.cli.dumping import Console, ReaderGone

    console = Console(sys.stdout.buffer, sys.stderr.buffer)
    form = importlib.import_module(f"kafkaviz.cli.dumping.{'json_lines' if args.json else 'text'}")
    try:
        status = form.dump(options(args), console)
        console.flush()
    except ReaderGone:  # the reader of the output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


def _local_path(name: str) -> str:
    """Returns the path of a file; for a remote file, the path of the local copy."""
    from kafkaviz.log.archives import archive
    from kafkaviz.log.file import absolute_path
    from kafkaviz.log.remote import address

    if address.parse(name) is None:
        return name
    return str(archive.locate(absolute_path(name)))


def options(args: argparse.Namespace) -> "DumpOptions":
    """Returns the parsed options. Sets `prints` and `deep` if other options imply them.

    Exits with the usage text if no file is named.
    """
    from kafkaviz.cli.dumping import (
        DECODERS,
        MAX_INT,
        MAX_MESSAGE_BYTES,
        STRING_DECODER,
        DumpOptions,
    )
    from kafkaviz.cli.dumping.java import split_list

    names = (*(split_list(args.files) if args.files else ()), *args.paths)
    if not names:
        args.refuse("name a file to print")
    decoder = next(
        (name for name in DECODERS if getattr(args, f"{name.replace('-', '_')}_decoder")), None
    )
    implies_printing = decoder, args.key_decoder_class, args.value_decoder_class
    prints = args.print_data_log or any(name is not None for name in implies_printing)
    return DumpOptions(
        files=tuple(map(_local_path, names)),
        prints=prints,
        deep=prints or args.deep_iteration,
        decoder=decoder,
        key_decoder_class=args.key_decoder_class or STRING_DECODER,
        value_decoder_class=args.value_decoder_class or STRING_DECODER,
        skip_record_metadata=args.skip_record_metadata,
        max_bytes=MAX_INT if args.max_bytes is None else args.max_bytes,
        max_message_bytes=(
            MAX_MESSAGE_BYTES if args.max_message_size is None else args.max_message_size
        ),
        verify_index_only=args.verify_index_only,
        index_sanity_check=args.index_sanity_check,
    )
