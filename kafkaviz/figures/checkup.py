"""Health as it is shown: will the broker start and what will that do, all findings with their
bytes, and what keeps each segment.

One value for the whole page: figures.checkup.view works it out, message packs it for
ui/components/findings.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple, cast

from kafkaviz import units, versions
from kafkaviz.analyse import outlook
from kafkaviz.analyse.finding import CODES, ERROR, INFO, SEVERITIES, Finding
from kafkaviz.analyse.outlook import Outlook
from kafkaviz.analyse.retention import LogRetention
from kafkaviz.figures import checkup_tables, outlook_words, segment_bytes
from kafkaviz.figures.checkup_tables import Table
from kafkaviz.figures.finding_words import consequence, ended, sentence, told, why
from kafkaviz.figures.listed import and_more, listed, number, sentences
from kafkaviz.format import names
from kafkaviz.simulate.starting.restart import Restart, Step
from kafkaviz.simulate.steps import RECOVERED
from kafkaviz.versions import Release
from kafkaviz.words import counted, say, table

# of a hex dump: bytes a line, lines, and what is shown in front of a finding
ROW_BYTES, ROWS, BEFORE_BYTES = 16, 8, 32
ALONE = 3  # more findings of one code are one item of the list
MEMBERS = 200  # of an item, shown; all are in the JSON
DUMPS = 400  # findings whose bytes are sent along
SHOWN_CUTS = 4  # logs below the strip, named
LEAST_SHARE = 0.016  # of the strip: a small log is still seen
# how codes begin that tell what the start itself does
DONE_BY_START = ("recovery-", "becomes-stray")
TAILS = ("log-torn-tail", "log-zero-tail", "log-garbage-tail")
FILE_KINDS = {".index": "offset", ".timeindex": "time", ".log": "log"}

# a file relative to the broker directory, a position, a length: what is there
Read = Callable[[str, int, int], bytes]


class Verdict(NamedTuple):
    """The answer to "will it start?": a severity or "ok", a headline, and what stands behind it."""

    kind: str
    title: str
    text: str


def unknown() -> Verdict:
    """Of a start that cannot be foretold."""
    return Verdict("warning", say("health.unknown"), say("health.unknown_why"))


class Bar(NamedTuple):
    """A topic-partition that the start reads."""

    name: str
    size_bytes: int
    share: float  # of the strip
    cut_bytes: int
    fails: bool
    words: str  # on hover
    as_before: bool = False  # whether its indexes come out as they were


class Strip(NamedTuple):
    """What the start reads, in proportion; below: what is cut or fails; aside: what happens to the
    others.
    """

    title: str
    bars: tuple[Bar, ...]
    below: str
    aside: str


class Dump(NamedTuple):
    """Bytes of a file around a finding: lines of 16 from `start`; bad: from, to; kind: the colour
    of the others.
    """

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
    # the address of the bytes on the Segment page, but for the directory; empty where there are
    # none
    link: Mapping[str, str]


class Item(NamedTuple):
    """A line of the list: one finding, or many of the same code; count: of all, also those that are
    not members.
    """

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
    findings: Sequence[Finding],
    restart: Restart | None,
    log_bytes: Mapping[tuple[str, int], int],
    read: Read,
    logs: int,
    kept: Sequence[LogRetention] = (),
    is_left_known: bool = True,
    release: Release = versions.NEWEST_RELEASE,
) -> View:
    """All that the page shows. log_bytes: the size of each .log by its directory and base offset;
    read: for the dumps.

    restart: None where it cannot be foretold. logs: how many the broker has, those without a .log
    too. kept: by retention. is_left_known: whether anything tells how the broker was stopped.
    release: that starts.
    """
    counts = {
        severity: sum(one.severity == severity for one in findings) for severity in SEVERITIES
    }
    rows = items(findings, read), checkup_tables.steps(restart), checkup_tables.kept(kept)
    if restart is None:
        return View(unknown(), None, counts, *rows)
    return View(
        verdict(findings, restart, logs, is_left_known, release),
        strip(restart, log_bytes),
        counts,
        *rows,
    )


# ---- the verdict


def verdict(
    findings: Sequence[Finding],
    restart: Restart,
    logs: int,
    is_left_known: bool = True,
    release: Release = versions.NEWEST_RELEASE,
) -> Verdict:
    """What the next start does, in a headline and some sentences; logs, is_left_known and release:
    as of view.
    """
    will, source = outlook.of(restart, logs), outlook_words.by_source(release)
    if not restart.starts:
        return _fails(restart, will, source)
    mended = {
        one.file
        for one in restart.steps
        if one.action in ("truncate", "rebuild", "delete") and one.cause != "timeindex-missing"
    }
    stays = sum(
        one.severity == ERROR and not one.code.startswith(DONE_BY_START) and one.file not in mended
        for one in findings
    )
    kind = (
        "error"
        if stays or will.stray_directories
        else "warning"
        if will.cut_logs or will.deleted_files or not will.clean
        else "ok"
    )
    left = _why(will) if is_left_known else say("health.taken_as_clean")
    text = sentences(
        [
            left,
            *_cut_words(findings, restart),
            _stray_words(will.stray_directories),
            _stay_words(stays),
            source,
        ]
    )
    without = outlook_words.not_served(will)
    headline = (
        say("health.will_not_serve", without=without)
        if without
        else say("health.will_start", doings=outlook_words.sentence(will))
    )
    return Verdict(kind, headline, text)


def _fails(restart: Restart, will: Outlook, source: str) -> Verdict:
    first = restart.failures[0]
    others = will.logs - (first.partition is not None and first.cause != "directory-name")
    says = ended(say("health.kafka_says", error=first.error)) if first.error else ""
    rest = (
        counted("health.with_others", others, n=number(others))
        if first.partition and others
        else ""
    )
    return Verdict(
        "error",
        say("health.will_not", because=_headline_of(first)),
        sentences([sentence(why(first)), says, rest, source]),
    )


def _headline_of(step: Step) -> str:
    cause = (
        "index-full-time"
        if step.cause == "index-full" and "time index" in (step.error or "")
        else step.cause
    )
    known = (
        "index-full",
        "index-full-time",
        "index-too-large",
        "directory-name",
        "directory-twice",
        "log-corrupt",
        "log-too-large",
        "meta-properties",
        "bootstrap",
        "quorum-state-bad",
        "snapshot-corrupt",
    )
    return say(
        f"health.fails_{cause if cause in known else 'other'}",
        where=step.partition or say("health.broker_directory"),
    )


def _why(will: Outlook) -> str:
    if will.clean:
        return say("health.clean")
    return outlook_words.read_again(will) or say("health.unclean")


def _cut_words(findings: Sequence[Finding], restart: Restart) -> Iterator[str]:
    """What the bytes are that will be cut off."""
    cuts = [one for one in restart.steps if one.action == "truncate"]
    tails = {code: [one for one in findings if one.code == code] for code in TAILS}
    shown = [
        say(f"health.{code}", n=units.group(sum(one.length or 0 for one in found)))
        for code, found in tails.items()
        if found
    ]
    if cuts and shown:
        logs = len({one.file for found in tails.values() for one in found})
        yield counted("health.tails", logs, n=number(logs).capitalize(), tails=listed(shown))
        if all(one.cause == "tail" for one in cuts):
            yield say("health.no_batch_lost")


def _stray_words(directories: int) -> str:
    return (
        counted("health.stray", directories, n=number(directories).capitalize())
        if directories
        else ""
    )


def _stay_words(stays: int) -> str:
    return counted("health.stay", stays, n=number(stays).capitalize()) if stays else ""


# ---- the strip


def strip(restart: Restart, log_bytes: Mapping[tuple[str, int], int]) -> Strip | None:
    """The logs that the start reads, those with trouble first, then by size; None where it reads
    none.
    """
    read = {
        (cast(str, one.partition), one.segment)
        for one in restart.steps
        if one.cause in RECOVERED and one.segment is not None
    }
    sizes: dict[str, int] = {}
    for directory, base_offset in read & log_bytes.keys():
        sizes[directory] = sizes.get(directory, 0) + log_bytes[directory, base_offset]
    if not sizes:
        return None
    total = sum(sizes.values())
    bars = [
        _bar(name, size, max(size, total * LEAST_SHARE), restart) for name, size in sizes.items()
    ]
    bars.sort(
        key=lambda bar: (
            not bar.fails,
            not bar.cut_bytes,
            -bar.size_bytes,
            names.counting(bar.name),
        )
    )
    whole = sum(bar.share for bar in bars)
    bars = tuple(bar._replace(share=bar.share / whole if whole else 1 / len(bars)) for bar in bars)
    title = counted("health.strip", len(bars), n=units.group(len(bars)), size=units.size(total))
    return Strip(title, bars, _below(bars), _aside(bars))


def _aside(bars: Sequence[Bar]) -> str:
    kept = [bar for bar in bars if not bar.cut_bytes]
    if not kept or any(bar.fails for bar in bars):
        return ""
    same = "_same" if all(bar.as_before for bar in kept) else ""
    return (
        say(f"health.others_kept{same}")
        if len(kept) < len(bars)
        else counted(f"health.all_kept{same}", len(bars))
    )


def _bar(name: str, size_bytes: int, share: float, restart: Restart) -> Bar:
    steps = restart.of(name)
    cut = sum(one.size_bytes or 0 for one in steps if one.action == "truncate")
    fails = any(one.action == "fail" for one in steps)
    segments = len(
        {one.segment for one in steps if one.cause in RECOVERED and one.segment is not None}
    )
    values = {
        "segments": counted("common.n_segments", segments, n=units.group(segments)),
        "size": units.size(size_bytes),
    }
    same = outlook.is_as_before(steps)
    key = "fails" if fails else "cut" if cut else "kept_same" if same else "kept"
    words = say(f"health.bar_{key}", cut=units.group(cut), **values)
    return Bar(name, size_bytes, share, cut, fails, words, same)


def _below(bars: Sequence[Bar]) -> str:
    if any(bar.fails for bar in bars):
        return say("health.fails_here")
    cut = [
        say("health.cut_by", log=bar.name, n=units.group(bar.cut_bytes))
        for bar in bars
        if bar.cut_bytes
    ]
    return (
        say("health.cut_at_end", logs=and_more(cut[:SHOWN_CUTS], max(len(cut) - SHOWN_CUTS, 0)))
        if cut
        else ""
    )


# ---- the list


def items(findings: Sequence[Finding], read: Read) -> tuple[Item, ...]:
    """The lines of the list, the worst first; findings of one code are one line where there are
    more than a few.
    """
    found, left = [], DUMPS
    order = sorted(findings, key=lambda one: (SEVERITIES.index(one.severity), one.code))
    for (severity, code), group in groupby(order, key=lambda one: (one.severity, one.code)):
        same = list(group)
        together = len(same) > ALONE or (
            len(same) > 1 and (severity == INFO or code.startswith("recovery-will-"))
        )
        for part in [same] if together else [[one] for one in same]:
            members = tuple(
                _member(one, read, number < left) for number, one in enumerate(part[:MEMBERS])
            )
            left -= len(members)
            found.append(_item(part, members))
    return tuple(found)


def _item(same: Sequence[Finding], members: tuple[Member, ...]) -> Item:
    first = same[0]
    title = told(CODES[first.code].title)
    if len(same) == 1:
        return Item(
            _key(first), first.severity, first.code, title, _where(first, short=True), 1, members
        )
    partitions = {one.partition for one in same}
    several = counted("common.n_topic_partitions", len(partitions), n=units.group(len(partitions)))
    where = _short(first.partition) if len(partitions) == 1 and first.partition else several
    places = (
        where
        if len(same) == len(partitions)
        else say("health.times_in", n=units.group(len(same)), where=where)
    )
    return Item(first.code, first.severity, first.code, title, places, len(same), members)


def _member(one: Finding, read: Read, is_dumped: bool) -> Member:
    dump = (
        _dump(one, read)
        if is_dumped and one.file and one.position is not None and one.length
        else None
    )
    link = (
        segment_bytes.address(one.partition, cast(str, one.file), one.position)
        if dump or (one.file and read(one.file, 0, 1))
        else {}
    )
    expected = one.evidence.expected and ended(
        say("health.expected", what=told(one.evidence.expected))
    )
    words = sentence(told(one.message)), sentence(told(one.evidence.found)), expected
    what = consequence(one), sentence(told(one.next_step))
    return Member(_where(one), *words, dump, *what, one.reference or "", link)


def _key(one: Finding) -> str:
    """What an address can name it by."""
    return (
        f"{one.code}@{one.file or one.partition or ''}"
        f"{f':{one.position}' if one.position is not None else ''}"
    )


def _where(one: Finding, short: bool = False) -> str:
    """File and bytes; short: the partition and what kind of file, as a narrow list has room for
    it.
    """
    place = (
        one.file
        or (_short(one.partition) if short and one.partition else one.partition)
        or say("health.broker_directory")
    )
    if short and one.partition and (one.file or one.partition) != one.partition:
        name = cast(str, one.file).rpartition("/")[2]
        stem, dot, suffix = name.partition(".")
        place = f"{_short(one.partition)} {f'{int(stem)}{dot}{suffix}' if stem.isdigit() else name}"
    return (
        say("health.at_bytes", place=place, bytes=_bytes(one))
        if one.position is not None
        else place
    )


def _short(directory: str) -> str:
    """A directory's name without the random middle of a renamed one."""
    name = names.parse_directory(directory)
    return (
        f"{name.topic}-{name.partition}…-{name.state}"
        if name and name.state != "current"
        else directory
    )


def _bytes(one: Finding) -> str:
    if not one.length or one.length == 1:
        return say("health.one_byte", first=units.group(one.position))
    return say(
        "health.bytes",
        first=units.group(one.position),
        last=units.group(cast(int, one.position) + one.length - 1),
    )


def _dump(one: Finding, read: Read) -> Dump | None:
    """Some lines around where the finding begins."""
    file, position, length = cast(tuple[str, int, int], (one.file, one.position, one.length))
    start = max(0, position // ROW_BYTES * ROW_BYTES - BEFORE_BYTES)
    data = read(file, start, ROWS * ROW_BYTES)
    kind = (
        "plain" if one.severity == INFO else FILE_KINDS.get(f".{file.rpartition('.')[2]}", "plain")
    )
    return Dump(start, data.hex(), (position, position + length), kind) if data else None


# ---- for the browser


def message(shown: View, key: str) -> dict:
    """The view as plain values; key: what tells one view from another."""
    return {
        "key": key,
        "words": table("checkup")
        | {severity: say(f"common.severity_{severity}") for severity in (*SEVERITIES, "ok")},
        "verdict": shown.verdict._asdict(),
        "strip": shown.strip
        and {**shown.strip._asdict(), "bars": [bar._asdict() for bar in shown.strip.bars]},
        "counts": dict(shown.counts),
        "items": [
            {**item._asdict(), "members": [_sent(one) for one in item.members]}
            for item in shown.items
        ],
        **{
            name: table and {**table._asdict(), "rows": [row._asdict() for row in table.rows]}
            for name, table in (("steps", shown.steps), ("retention", shown.retention))
        },
    }


def _sent(one: Member) -> dict:
    return {**one._asdict(), "dump": one.dump and one.dump._asdict()}
