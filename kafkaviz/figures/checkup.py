"""Health as it is shown: will the broker start and what will that do, all findings with their bytes, and what keeps each segment.

One value for the whole page: figures.checkup.view works it out, message packs it for ui/components/findings.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from kafkaviz import units
from kafkaviz.analyse import outlook
from kafkaviz.analyse.finding import CODES, ERROR, INFO, SEVERITIES, Finding
from kafkaviz.analyse.outlook import Outlook, counted, number
from kafkaviz.analyse.retention import LogRetention
from kafkaviz.figures import checkup_tables, segment_bytes
from kafkaviz.figures.checkup_tables import Table
from kafkaviz.format import names
from kafkaviz.simulate.starting.restart import Restart, Step
from kafkaviz.simulate.steps import RECOVERED

ROW_BYTES, ROWS, BEFORE_BYTES = 16, 8, 32  # of a hex dump: bytes a line, lines, and what is shown in front of a finding
ALONE = 3  # more findings of one code are one item of the list
MEMBERS = 200  # of an item, shown; all are in the JSON
DUMPS = 400  # findings whose bytes are sent along
LEAST_SHARE = 0.016  # of the strip: a small log is still seen
TAILS = (("log-torn-tail", "are a batch cut short"), ("log-zero-tail", "are zeros"), ("log-garbage-tail", "do not belong there"))
FILE_KINDS = {".index": "offset", ".timeindex": "time", ".log": "log"}

Read = Callable[[str, int, int], bytes]  # a file relative to the broker directory, a position, a length: what is there


class Verdict(NamedTuple):
    """The answer to "will it start?": a severity or "ok", a headline, and what stands behind it."""

    kind: str
    title: str
    text: str


UNKNOWN = Verdict("warning", "The next start cannot be foretold", "A file that a start reads may not be read here.")


class Bar(NamedTuple):
    """A topic-partition that the start reads."""

    name: str
    size_bytes: int
    share: float  # of the strip
    cut_bytes: int
    fails: bool
    words: str  # on hover


class Strip(NamedTuple):
    """What the start reads, in proportion; below: what is cut or fails; aside: what happens to the others."""

    title: str
    bars: tuple[Bar, ...]
    below: str
    aside: str


class Dump(NamedTuple):
    """Bytes of a file around a finding: lines of 16 from `start`; bad: from, to; kind: the colour of the others."""

    start: int
    digits: str
    bad: tuple[int, int]
    kind: str


class Member(NamedTuple):
    """One finding, in words."""

    where: str
    message: str
    found: str
    expected: str
    dump: Dump | None
    consequence: str
    next_step: str
    reference: str
    link: Mapping[str, str]  # the address of the bytes on the Segment page, but for the directory; empty where there are none


class Item(NamedTuple):
    """A line of the list: one finding, or many of the same code; count: of all, also those that are not members."""

    key: str
    severity: str
    code: str
    title: str
    where: str
    count: int
    members: tuple[Member, ...]


class View(NamedTuple):
    """The page."""

    verdict: Verdict
    strip: Strip | None
    counts: Mapping[str, int]
    items: tuple[Item, ...]
    steps: Table | None = None  # of the start
    retention: Table | None = None


def view(
    findings: Sequence[Finding], restart: Restart | None, log_bytes: Mapping[tuple[str, int], int], read: Read, logs: int,
    kept: Sequence[LogRetention] = (),
) -> View:
    """All that the page shows. log_bytes: the size of each .log by its directory and base offset; read: for the dumps.

    restart: None where it cannot be foretold. logs: how many the broker has, those without a .log too. kept: by retention.
    """
    counted = {severity: sum(one.severity == severity for one in findings) for severity in SEVERITIES}
    told = items(findings, read), checkup_tables.steps(restart), checkup_tables.kept(kept)
    if restart is None:
        return View(UNKNOWN, None, counted, *told)
    return View(verdict(findings, restart, logs), strip(restart, log_bytes), counted, *told)


# ---- the verdict


def verdict(findings: Sequence[Finding], restart: Restart, logs: int) -> Verdict:
    """What the next start does, in a headline and some sentences; logs: how many the broker has."""
    told = outlook.of(restart, logs)
    if not restart.starts:
        return _fails(restart, told)
    mended = {one.file for one in restart.steps if one.action in ("truncate", "rebuild", "delete") and one.cause != "timeindex-missing"}
    stays = sum(one.severity == ERROR and not one.code.startswith("recovery-") and one.file not in mended for one in findings)
    kind = "error" if stays else "warning" if told.cut_logs or told.deleted_files or not told.clean else "ok"
    text = " ".join(filter(None, (_why(told), _cut_words(findings, restart), _stay_words(stays))))
    return Verdict(kind, f"This broker will start, and {told.words}", text)


def _fails(restart: Restart, told: Outlook) -> Verdict:
    first = restart.failures[0]
    others = told.logs - (first.partition is not None and first.cause != "directory-name")
    rest = f" With it ends the broker, also for its {counted(others, 'other log')}." if first.partition and others else ""
    title = f"This broker will not start: {_headline_of(first)}"
    return Verdict("error", title, f"{_sentence(first.why)} {_sentence(f'Kafka says: {first.error}') if first.error else ''}{rest}")


def _headline_of(step: Step) -> str:
    where = step.partition or "the broker directory"
    words = {
        "index-full": f"the {'time index' if 'time index' in (step.error or '') else 'offset index'} of {where} cannot be rebuilt",
        "index-too-large": f"an index of {where} is larger than its limit",
        "directory-name": f"{where} is no topic-partition",
        "directory-twice": f"{where} is there twice",
        "log-corrupt": f"the log of {where} cannot be read",
        "meta-properties": "its meta.properties cannot be used",
        "bootstrap": "its bootstrap.checkpoint cannot be read",
        "quorum-state-bad": "its quorum-state cannot be read",
        "snapshot-corrupt": "its newest snapshot of the cluster's metadata is damaged",
    }
    return words.get(step.cause, f"{where} cannot be loaded")


def _why(told: Outlook) -> str:
    if told.clean:
        return "It was stopped cleanly, so contents are not checked at the start."
    logs = told.read_logs
    if not logs:
        return "It was not stopped cleanly."
    verb, its = ("is", "its") if logs == 1 else ("are", "their")
    again = f"{units.group(logs)} log{_s(logs)} {verb} read again from {its} recovery point{_s(logs)}"
    return f"It was not stopped cleanly, so {again}, and {its} indexes rebuilt."


def _cut_words(findings: Sequence[Finding], restart: Restart) -> str:
    """What the bytes are that will be cut off."""
    cuts = [one for one in restart.steps if one.action == "truncate"]
    tails = [(words, [one for one in findings if one.code == code]) for code, words in TAILS]
    told = [f"{units.group(sum(one.length or 0 for one in found))} {words}" for words, found in tails if found]
    if not cuts or not told:
        return ""
    logs = len({one.file for _, found in tails for one in found})
    lost = " No whole batch is lost." if all(one.cause == "tail" for one in cuts) else ""
    return f"{number(logs).capitalize()} log{_s(logs)} end{'s' if logs == 1 else ''} in bytes that are no batch: {', '.join(told)}.{lost}"


def _stay_words(stays: int) -> str:
    if not stays:
        return ""
    return f"{number(stays).capitalize()} error{_s(stays)} will stay: the start does not see {'it' if stays == 1 else 'them'}."


# ---- the strip


def strip(restart: Restart, log_bytes: Mapping[tuple[str, int], int]) -> Strip | None:
    """The logs that the start reads, those with trouble first, then by size; None where it reads none."""
    read = {(one.partition, one.segment) for one in restart.steps if one.cause in RECOVERED and one.segment is not None}
    sizes: dict[str, int] = {}
    for directory, base_offset in read & log_bytes.keys():
        sizes[directory] = sizes.get(directory, 0) + log_bytes[directory, base_offset]
    if not sizes:
        return None
    total = sum(sizes.values())
    bars = [_bar(name, size, max(size, total * LEAST_SHARE), restart) for name, size in sizes.items()]
    bars.sort(key=lambda bar: (not bar.fails, not bar.cut_bytes, -bar.size_bytes, bar.name))
    whole = sum(bar.share for bar in bars)
    bars = tuple(bar._replace(share=bar.share / whole if whole else 1 / len(bars)) for bar in bars)
    title = f"What the start will do: read {units.size(total)} in {units.group(len(bars))} log{_s(len(bars))}, in proportion"
    return Strip(title, bars, _below(bars), _aside(bars))


def _aside(bars: Sequence[Bar]) -> str:
    if any(bar.fails for bar in bars):
        return ""
    if any(bar.cut_bytes for bar in bars):
        return "" if all(bar.cut_bytes for bar in bars) else "others: kept whole, index rebuilt"
    return f"kept whole, index{'' if len(bars) == 1 else 'es'} rebuilt"


def _bar(name: str, size_bytes: int, share: float, restart: Restart) -> Bar:
    steps = restart.of(name)
    cut = sum(one.size_bytes or 0 for one in steps if one.action == "truncate")
    fails = any(one.action == "fail" for one in steps)
    end = "stops with an exception" if fails else f"cut by {units.group(cut)} B, index rebuilt" if cut else "kept whole, index rebuilt"
    segments = len({one.segment for one in steps if one.cause in RECOVERED and one.segment is not None})
    return Bar(name, size_bytes, share, cut, fails, f"{units.group(segments)} segment{_s(segments)}, {units.size(size_bytes)}: {end}")


def _below(bars: Sequence[Bar]) -> str:
    if any(bar.fails for bar in bars):
        return "fails here, nothing after it is served"
    cut = [f"{bar.name} by {units.group(bar.cut_bytes)} B" for bar in bars if bar.cut_bytes]
    return f"cut at the end: {', '.join(cut[:4])}{f' and {len(cut) - 4} more' if len(cut) > 4 else ''}" if cut else ""


# ---- the list


def items(findings: Sequence[Finding], read: Read) -> tuple[Item, ...]:
    """The lines of the list, the worst first; findings of one code are one line where there are more than a few."""
    found, left = [], DUMPS
    order = sorted(findings, key=lambda one: (SEVERITIES.index(one.severity), one.code))
    for (severity, code), group in groupby(order, key=lambda one: (one.severity, one.code)):
        same = list(group)
        together = len(same) > ALONE or (len(same) > 1 and (severity == INFO or code.startswith("recovery-will-")))
        for part in [same] if together else [[one] for one in same]:
            members = tuple(_member(one, read, number < left) for number, one in enumerate(part[:MEMBERS]))
            left -= len(members)
            found.append(_item(part, members))
    return tuple(found)


def _item(same: Sequence[Finding], members: tuple[Member, ...]) -> Item:
    first = same[0]
    if len(same) == 1:
        return Item(_key(first), first.severity, first.code, CODES[first.code].title, _where(first, short=True), 1, members)
    partitions = {one.partition for one in same}
    where = _short(first.partition) if len(partitions) == 1 and first.partition else f"{units.group(len(partitions))} topic-partitions"
    places = where if len(same) == len(partitions) else f"{_times(len(same))} in {where}"
    return Item(first.code, first.severity, first.code, CODES[first.code].title, places, len(same), members)


def _member(one: Finding, read: Read, is_dumped: bool) -> Member:
    dump = _dump(one, read) if is_dumped and one.file and one.position is not None and one.length else None
    link = segment_bytes.address(one.partition, one.file, one.position) if dump or (one.file and read(one.file, 0, 1)) else {}
    expected = one.evidence.expected and f"Expected: {_ended(one.evidence.expected)}"
    told = _sentence(one.message), _sentence(one.evidence.found), expected
    return Member(_where(one), *told, dump, _sentence(one.consequence), _sentence(one.next_step), one.reference or "", link)


def _key(one: Finding) -> str:
    """What an address can name it by."""
    return f"{one.code}@{one.file or one.partition or ''}{f':{one.position}' if one.position is not None else ''}"


def _where(one: Finding, short: bool = False) -> str:
    """File and bytes; short: the partition and what kind of file, as a narrow list has room for it."""
    place = one.file or (_short(one.partition) if short and one.partition else one.partition) or "the broker directory"
    if short and one.partition and (one.file or one.partition) != one.partition:
        name = one.file.rpartition("/")[2]
        stem, dot, suffix = name.partition(".")
        place = f"{_short(one.partition)} {f'{int(stem)}{dot}{suffix}' if stem.isdigit() else name}"
    return f"{place}, {_bytes(one)}" if one.position is not None else place


def _short(directory: str) -> str:
    """A directory's name without the random middle of a renamed one."""
    name = names.parse_directory(directory)
    return f"{name.topic}-{name.partition}…-{name.state}" if name and name.state != "current" else directory


def _bytes(one: Finding) -> str:
    if not one.length or one.length == 1:
        return f"byte {units.group(one.position)}"
    return f"bytes {units.group(one.position)}–{units.group(one.position + one.length - 1)}"


def _dump(one: Finding, read: Read) -> Dump | None:
    """Some lines around where the finding begins."""
    start = max(0, one.position // ROW_BYTES * ROW_BYTES - BEFORE_BYTES)
    data = read(one.file, start, ROWS * ROW_BYTES)
    kind = "plain" if one.severity == INFO else FILE_KINDS.get(f".{one.file.rpartition('.')[2]}", "plain")
    return Dump(start, data.hex(), (one.position, one.position + one.length), kind) if data else None


# ---- for the browser


def message(shown: View, key: str) -> dict:
    """The view as plain values; key: what tells one view from another."""
    return {
        "key": key,
        "verdict": shown.verdict._asdict(),
        "strip": shown.strip and {**shown.strip._asdict(), "bars": [bar._asdict() for bar in shown.strip.bars]},
        "counts": dict(shown.counts),
        "items": [{**item._asdict(), "members": [_sent(one) for one in item.members]} for item in shown.items],
        **{name: table and {**table._asdict(), "rows": [row._asdict() for row in table.rows]}
           for name, table in (("steps", shown.steps), ("retention", shown.retention))},
    }  # fmt: skip


def _sent(one: Member) -> dict:
    return {**one._asdict(), "dump": one.dump and one.dump._asdict()}


# ---- words


def _times(count: int) -> str:
    return f"{units.group(count)} times"


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _sentence(text: str) -> str:
    return _ended(_title(text))


def _ended(text: str) -> str:
    return f"{text}." if text and text[-1] not in ".!?" else text


def _title(text: str) -> str:
    """With a capital, unless it begins with a name that has none: java.lang.Error, .index."""
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first.rstrip(",;:").isalpha() else text
