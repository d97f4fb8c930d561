"""python -m docs.reference: makes parts of the documentation from the code.

They are commands.md from argparse, the tables of data-source.md from the schemas, the words of
architecture.md from the glossary, and the list at the top of questions.md. In the last three pages,
the text between `<!-- NAME: made by make docs -->` and `<!-- NAME: end -->` is replaced.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from kafkaviz.__main__ import parser as command_line
from kafkaviz.cli.common import output
from kafkaviz.pipeline.datasource import consumer_options
from kafkaviz.pipeline.datasource.records import TIMESTAMP
from kafkaviz.pipeline.datasource.source_schema import FORMATS, NOT_NULL, columns, parse_options
from kafkaviz.workshop.lessons.glossary import TERMS

FOLDER = Path(__file__).parent
WIDTH = 110
TYPES = {
    pa.string(): "STRING",
    pa.bool_(): "BOOLEAN",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.binary(): "BINARY",
    TIMESTAMP: "TIMESTAMP",
}
COMMANDS_HEAD = """\
# The command line

Made from the code by `make docs`: edit `kafkaviz/cli/`, not this page.

`kafkaviz COMMAND`, also `python -m kafkaviz COMMAND`. Results go to stdout, words and progress to
stderr. Nothing is written into a directory that is inspected. Wherever one is named, or a file in
it, an address does as well: `s3://bucket/brokers/17` ([object stores](how-to/object-stores.md)).

`--language en` or `--language zh`, before or after COMMAND, sets the language; without it
that of the shell counts (`LC_ALL`, `LC_MESSAGES`, `LANG`) where the output can show it. Kafka's own
words, names, `--json`, `--help` and what `dump` prints are the same in both.

Each JSON object begins with `"schema"`, the name of its form and its version: `SCHEMAS`.
The version goes up when a field is removed, is renamed or changes its meaning; a new field leaves
it as it is. In the JSON lines of `dump` the line of kind `file` has it. `kafkaviz --version` prints
the version of the program.

| Exit status | |
|---|---|
| 0 | done |
| 1 | `check` found an error; Kafka's tool would have died here (`dump`) |
| 2 | wrong usage or unreadable input: one line says what, which file, which byte, what to do |
| 130 | stopped by Ctrl-C; 143 by SIGTERM, 129 by SIGHUP |
"""
MEANINGS = {  # by column; if a column has another meaning in one format, by FORMAT.COLUMN too
    "broker": "the name of the broker directory",
    "topic": "the topic",
    "partition": "the partition's number",
    "base_offset": (
        "the first offset of the batch; null where a compressed batch of magic 0 or 1 cannot be "
        "read for it"
    ),
    "kafka_segments.base_offset": "the segment's, from its file name",
    "segment_base_offset": "the base offset of the segment that the row is in",
    "state": "`active`, `closed`, `deleted`, `cleaned` or `swap`",
    "batches": "whole batches in the `.log`",
    "records": (
        "as the headers count them; null where a compressed batch of magic 0 or 1 cannot be read "
        "for its count"
    ),
    "first_offset": "of the first record that is there",
    "last_offset": "the last offset of the batch",
    "kafka_segments.last_offset": "of the last batch",
    "min_timestamp_ms": (
        "as far as headers tell: the first record's or the largest of a batch, not every record's"
    ),
    "max_timestamp_ms": "the largest of its records, as its header says; null in magic 0",
    "kafka_segments.max_timestamp_ms": "the largest of its batches",
    "offset_entries": "written slots of the `.index`",
    "time_entries": "written slots of the `.timeindex`",
    "unwritten_offset_slots": "preallocated slots of the `.index` that nothing was written to",
    "unwritten_time_slots": "the same of the `.timeindex`",
    "valid_bytes": "of the `.log`, up to the end of its last whole batch",
    "torn_bytes": "what follows",
    "interval_low_bytes": (
        "the least `index.interval.bytes` that explains the entries: inferred; null where nothing "
        "bounds it"
    ),
    "interval_high_bytes": "the most; null where nothing bounds it",
    "position": "the byte of the `.log` where the batch starts",
    "kafka_offset_index.position": "the byte of the `.log` that the entry points to",
    "size_bytes": "the batch's size, header included",
    "leader_epoch": "of the leader that took the batch; null in magic 0 and 1",
    "magic": "the version of the format: 0, 1 or 2",
    "codec": "`none`, `gzip`, `snappy`, `lz4`, `zstd`; an id without a codec is its number",
    "timestamp_type": "`CreateTime` or `LogAppendTime`; null in magic 0",
    "is_transactional": "whether it belongs to a transaction",
    "is_control": "whether it holds transaction markers or other control records",
    "kafka_records.is_control": (
        "a transaction marker or another record that no consumer gets to see"
    ),
    "delete_horizon_ms": "when a tombstone or marker in it may go; null if none was set",
    "record_count": "records in the batch, as its header says; null as `base_offset`",
    "base_timestamp_ms": (
        "as stored: of its first record, or its delete horizon where it has one; null in magic 0"
    ),
    "producer_id": "-1 if the producer is not idempotent; null in magic 0 and 1",
    "producer_epoch": "-1 if the producer is not idempotent; null in magic 0 and 1",
    "base_sequence": (
        "the sequence number of its first record; -1 if the producer is not idempotent; null in "
        "magic 0 and 1"
    ),
    "crc": "the checksum as stored",
    "entry_slot": "the slot of the `.index` that points at this batch; null if none does",
    "slot": "the place in the index, from 0 on",
    "relative_offset": "as stored: counted from the segment's base offset",
    "offset": "the segment's base offset and the relative offset together",
    "kafka_records.offset": "of the record",
    "timestamp_ms": "of the entry; 0 and before are possible",
    "kafka_records.timestamp_ms": "of the record; -1 if it has none",
    "batch_position": "the byte of the `.log` where its batch starts",
    "key_size_bytes": "null for a null key",
    "value_size_bytes": "null for a null value",
    "header_count": "how many headers it has",
    "key": "the bytes of the key; with option `payload`",
    "value": "the bytes of the value; with option `payload`",
    "headers": "names and values in their order; with option `payload`",
    "crc_valid": (
        "whether the checksum is right; it is looked at only where this column is asked for"
    ),
    "base_timestamp": "`base_timestamp_ms` as a TIMESTAMP; null for -1",
    "max_timestamp": "`max_timestamp_ms` as a TIMESTAMP; null for -1",
    "timestamp": (
        "`timestamp_ms` as a TIMESTAMP, to the microsecond; null for -1, and for a time that "
        "64 bits of microseconds cannot hold"
    ),
    "kafka_records.is_transactional": "whether it was written in a transaction",
    "kafka_files.key": "the bytes of the key",
    "kafka_files.value": "the bytes of the value",
    "kafka_files.offset": "of the record",
    "kafka_files.timestamp": "of the record",
    "timestampType": "0 CreateTime, 1 LogAppendTime, -1 none, as in magic 0",
    "kafka_files.broker": "the name of the broker directory; with option `includeReplica`",
    "kafka_files.replica_reason": (
        "why this replica of several is read, as in `kafka_records`; with option `includeReplica`"
    ),
    "kafka_files.headers": (
        "keys and values in their order; null without any; with option `includeHeaders`"
    ),
    "replica_reason": (
        "why this replica is read, by the first of these that it alone meets: `only replica`, "
        "`latest leader epoch`, `largest log end offset`, `leader in the metadata log`, `largest "
        "log start offset`, `first broker of the largest log end offset`; null where all replicas "
        "are read; with option `replicas=one`"
    ),
    "aborted": (
        "whether its transaction was aborted; null while that is open; with option "
        "`isolation=read_uncommitted`"
    ),
    "problem": (
        "what could not be read, and where; null in every other row; with option `mode=PERMISSIVE`"
    ),
}
FILES = ("log", "index", "timeindex", "txnindex")
EVERY_COLUMN = {  # options that add columns
    "payload": "true",
    "isolation": "read_uncommitted",
    "mode": "PERMISSIVE",
    "replicas": "one",
}
FACTS = {
    "bytes": "its size",
    "allocated_bytes": "what it takes on the disk",
    "mtime_ns": "when it was changed last, ns since 1970",
}


def main() -> None:
    """Rewrites the pages."""
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


def pages() -> dict[Path, str]:
    """Returns the text of each page that is made, whole or in parts, by its path."""
    parts = {
        "data-source.md": dict(tables()),
        "architecture.md": {"glossary": glossary_table()},
        "questions.md": {"questions": question_list()},
    }
    return {
        FOLDER / "commands.md": commands_page(),
        **{
            FOLDER / name: filled((FOLDER / name).read_text(encoding="utf-8"), page_parts)
            for name, page_parts in parts.items()
        },
    }


def filled(text: str, parts: dict[str, str]) -> str:
    """Returns the page with the parts between its marks replaced.

    Raises KeyError for a mark without a part, and ValueError for a part without a mark.
    """
    pattern = re.compile(r"<!-- (\S+): made by make docs -->\n.*?<!-- \1: end -->", re.DOTALL)
    missing = parts.keys() - set(pattern.findall(text))
    if missing:
        raise ValueError(f"no mark for {', '.join(sorted(missing))}")
    return pattern.sub(lambda match: _marked(match[1], parts[match[1]]), text)


def _marked(name: str, text: str) -> str:
    return f"<!-- {name}: made by make docs -->\n{text}<!-- {name}: end -->"


def anchor(heading: str) -> str:
    """Returns the anchor that GitHub makes for a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def question_list() -> str:
    """Returns a link to each question, below its group."""
    text = (FOLDER / "questions.md").read_text(encoding="utf-8")
    lines = []
    for level, heading in re.findall(r"^(##+) (.+)$", text, re.MULTILINE):
        link = f"[{heading}](#{anchor(heading)})"
        lines.append(f"- {link}\n" if level == "###" else f"\n**{heading}**\n\n")
    return "".join(lines) + "\n"


# ---- the glossary


def glossary_table() -> str:
    """Returns each word with its meaning, as in the app, without the words of other texts."""
    meanings = {term.name: term.meaning.partition(" Also called: ")[0] for term in TERMS}
    rows = [f"| {_cell(name)} | {_cell(meaning)} |\n" for name, meaning in meanings.items()]
    return "| Word | Meaning |\n|---|---|\n" + "".join(rows)


# ---- the data source


def tables() -> Iterator[tuple[str, str]]:
    """Yields (format, table of its columns). Columns that an option adds come last."""
    schemas = {name: columns(name, parse_options(EVERY_COLUMN)) for name in FORMATS}
    consumer = {"subscribe": "t", "includeHeaders": "true", "includeReplica": "true"}
    options = consumer_options.parse_consumer_options(consumer | {"mode": "PERMISSIVE"})
    schemas[consumer_options.FORMAT] = consumer_options.consumer_columns(options)
    for name, schema in schemas.items():
        not_null = NOT_NULL.get(name, ())
        rows = [
            f"| `{field.name}` | {spark_type(field.type)}"
            f"{' NOT NULL' if field.name in not_null else ''} | {meaning(name, field.name)} |\n"
            for field in schema
        ]
        yield name, "| Column | Type | Meaning |\n|---|---|---|\n" + "".join(rows)


def meaning(name: str, column: str) -> str:
    """Returns the meaning of a column.

    Raises:
        KeyError: the column has no description.
    """
    kind, _, fact = column.partition("_")
    if kind in FILES and fact in FACTS:
        return f"the `.{kind}`: {FACTS[fact]}; null without one"
    return MEANINGS[f"{name}.{column}"] if f"{name}.{column}" in MEANINGS else MEANINGS[column]


def spark_type(arrow: pa.DataType) -> str:
    """Returns the name of a type in Spark's SQL."""
    if pa.types.is_list(arrow):
        return f"ARRAY<{spark_type(arrow.value_type)}>"
    if pa.types.is_struct(arrow):
        return f"STRUCT<{', '.join(f'{field.name}: {spark_type(field.type)}' for field in arrow)}>"
    return TYPES[arrow]


# ---- the command line


def commands_page() -> str:
    """Returns the page of all commands: purpose, usage, arguments, and the rest of the help."""
    commands = _commands(command_line())
    rows_html = "".join(
        f"| [`{name}`](#kafkaviz-{name}) | {_cell(short)} |\n" for name, _, short in commands
    )
    command_texts = [_command(command) for _, command, _ in commands]
    schemas = "`, `".join(map(output.schema, output.SCHEMAS))
    head = COMMANDS_HEAD.replace("SCHEMAS", schemas)
    return "\n".join([head, f"| Command | |\n|---|---|\n{rows_html}", *command_texts])


def _commands(top: argparse.ArgumentParser) -> list[tuple[str, argparse.ArgumentParser, str]]:
    """Returns (name, parser, short help) of each command; those without short help come last."""
    actions = top._actions
    (subparsers,) = (each for each in actions if isinstance(each, argparse._SubParsersAction))
    short = {action.dest: action.help for action in subparsers._choices_actions}
    known = [
        (name, parser, short.get(name) or "for `make` alone")
        for name, parser in subparsers.choices.items()
    ]
    return sorted(known, key=lambda command: command[0] not in short)


def _command(parser: argparse.ArgumentParser) -> str:
    """Returns one command as a section.

    It does not use argparse's layout, which depends on the release of Python.
    """
    actions = [
        action
        for action in parser._actions
        if action.dest != "help" and action.help != argparse.SUPPRESS
    ]
    rows = "".join(f"| `{_cell(_name(action))}` | {_cell(_help(action))} |\n" for action in actions)
    arguments = f"\n| Argument | |\n|---|---|\n{rows}" if rows else ""
    return (
        f"## {parser.prog}\n\n{parser.description}\n\n```text\n{_usage(parser, actions)}\n```\n"
        f"{arguments}\n{_epilog(parser.epilog)}"
    )


def _usage(parser: argparse.ArgumentParser, actions: list[argparse.Action]) -> str:
    """Returns the usage, such as kafkaviz check [--json] PATH, in lines of at most WIDTH.

    Arguments of which only one can be given share brackets.
    """
    choices = {
        id(action): group._group_actions
        for group in parser._mutually_exclusive_groups
        for action in group._group_actions
    }
    parts = []
    for action in sorted(actions, key=lambda action: not action.option_strings):
        among = choices.get(id(action), [action])
        if action is min(among, key=actions.index):
            parts.append(f"({' | '.join(map(_bare, among))})" if len(among) > 1 else _part(action))
    lines = [parser.prog]
    for part in parts:
        if len(lines[-1]) + 1 + len(part) > WIDTH:
            lines.append(" " * len(parser.prog))
        lines[-1] += f" {part}"
    return "\n".join(lines)


def _part(action: argparse.Action) -> str:
    if not action.option_strings:
        return _argument(action)
    return _bare(action) if action.required else f"[{_bare(action)}]"


def _bare(action: argparse.Action) -> str:
    """Returns an option and its placeholder, without the brackets of an optional one."""
    option = action.option_strings[0] if action.option_strings else ""
    return f"{option} {_value(action)}".strip()


def _argument(action: argparse.Action) -> str:
    name = _value(action)
    forms = {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} [{name} ...]"}
    return forms.get(action.nargs, name)


def _value(action: argparse.Action) -> str:
    """Returns the placeholder of an option's value; "" for a flag."""
    if action.nargs == 0:
        return ""
    name = action.metavar or action.dest.upper()
    if action.choices and not action.metavar:
        name = "{" + ",".join(action.choices) + "}"
    return f"[{name}]" if action.option_strings and action.nargs == "?" else name


def _name(action: argparse.Action) -> str:
    names = [f"{option} {_value(action)}".rstrip() for option in action.option_strings]
    return ", ".join(names) or _value(action)


def _help(action: argparse.Action) -> str:
    return (action.help or "") % {"default": action.default}


def _epilog(text: str) -> str:
    """Returns the epilog as Markdown: indented paragraphs unchanged, the example as a command."""
    body, _, example = text.rpartition("Example: ")
    paragraphs = [_paragraph(part) for part in body.strip("\n").split("\n\n") if part]
    return "\n".join([*paragraphs, f"```console\n{example}\n```\n"])


def _paragraph(text: str) -> str:
    if "\n " in text:
        return f"```text\n{text}\n```\n"
    return f"{text.replace('<', '&lt;')}\n"


def _cell(text: str) -> str:
    """Escapes bars, because a bar ends a cell of a table."""
    return text.replace("|", "\\|")


if __name__ == "__main__":
    main()
