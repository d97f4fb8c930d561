"""The view of the Health page: whether the broker will start, and all findings with their bytes.

`findings_payload` and `start_payload` convert the view to plain data for findings.js.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from kafkaviz import units, versions
from kafkaviz.analysis.findings import CODES, ERROR, INFO, SEVERITIES, TAIL_CODES, Finding
from kafkaviz.analysis.restart import restart_forecast
from kafkaviz.analysis.restart.restart_forecast import RecoveryReads, RestartForecast
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import startup_steps
from kafkaviz.figures.segment import segment_bytes
from kafkaviz.figures.startup_steps import HealthTable
from kafkaviz.format import names
from kafkaviz.log import file
from kafkaviz.log.broker import Broker, LogDirectory
from kafkaviz.messages import render, say, say_count, table
from kafkaviz.render import disk_text, startup_text
from kafkaviz.render.finding_groups import group_findings
from kafkaviz.render.sentences import (
    end_sentence,
    join_comma,
    join_sentences,
    join_with_others,
    number_word,
    to_sentence,
)
from kafkaviz.simulate.startup.restart import Restart
from kafkaviz.simulate.steps import RECOVERY_CAUSES, StartupStep
from kafkaviz.versions import Release

if TYPE_CHECKING:
    from kafkaviz.analysis.broker_health import Health

ItemT = TypeVar("ItemT", Finding, StartupStep)

# of a hex dump: bytes per line, number of lines, bytes shown before a finding
ROW_BYTES = 16
ROWS = 8
BEFORE_BYTES = 32
MAX_MEMBERS = 200  # most findings shown per item; the JSON has all
MAX_DUMPS = 400  # most findings whose bytes are sent to the browser
MAX_CUTS = 4  # most logs named below the strip
MIN_SHARE = 0.016  # least share of the strip, so that a small log stays visible
# prefixes of the codes of findings about the broker start itself
START_CODES = ("recovery-", "becomes-stray")
TRANSACTION_CODES = ("open-transaction", "hanging-transaction")
FILE_KINDS = {".index": "offset", ".timeindex": "time", ".log": "log"}

# called with a path relative to the broker directory, a position and a length
ByteReader = Callable[[str, int, int], bytes]


class StartVerdict(NamedTuple):
    kind: str  # a severity or "ok"
    title: str
    text: str  # the reasons


def unknown_verdict() -> StartVerdict:
    return StartVerdict("warning", say("health.unknown"), say("health.unknown_why"))


class RecoveryBar(NamedTuple):
    name: str
    size_bytes: int
    share: float  # share of the strip's width
    cut_bytes: int
    fails: bool
    words: str  # hover text
    as_before: bool = False  # whether start-up leaves the indexes of the log unchanged


class RecoveryStrip(NamedTuple):
    """A row of bars: the logs that the next start-up reads. A bar's width shows the log's bytes."""

    title: str
    bars: tuple[RecoveryBar, ...]
    below: str  # text below the strip: the logs that are cut or fail
    aside: str  # text about the logs that are not cut


class HexDump(NamedTuple):
    """Bytes of a file around a finding, 16 per line. The first line begins at `start`."""

    start: int
    digits: str
    bad: tuple[int, int]  # first and end position (exclusive) of the bytes with the fault
    kind: str  # the colour of the other bytes


class FindingMember(NamedTuple):
    where: str
    message: str
    found: str
    expected: str
    dump: HexDump | None
    consequence: str
    next_step: str
    reference: str
    # query parameters of the Segment page for these bytes or transactions, without the directory;
    # empty if they cannot be shown
    link: Mapping[str, str]


class FindingItem(NamedTuple):
    """An item of the list: one finding, or several with the same code."""

    key: str
    severity: str
    code: str
    title: str
    where: str
    count: int  # number of findings, including those left out of `members`
    members: tuple[FindingMember, ...]


class HealthView(NamedTuple):
    verdict: StartVerdict
    strip: RecoveryStrip | None
    counts: Mapping[str, int]
    items: tuple[FindingItem, ...]
    steps: HealthTable | None  # steps of the next start


def view(health: "Health", may_show: Callable[[str], bool] = lambda _name: True) -> HealthView:
    """Returns everything that the Health page shows.

    `may_show` is called with a file's name and returns whether bytes of the file may be shown.
    """
    broker = health.broker
    directories = _named_directories(broker)
    names = {directory.text: name for directory, name in directories}
    findings = [_with_log_directory(finding, names) for finding in health.findings]
    restart = health.restart
    if restart is None:
        verdict = unknown_verdict()
        strip = None
    else:
        steps = tuple(_with_log_directory(step, names) for step in restart.steps)
        restart = replace(restart, steps=steps)
        verdict = start_verdict(
            findings,
            restart,
            len(broker.partitions),
            is_left_known=broker.shutdown_state != "unknown",
            is_partial=health.is_partial,
            release=health.assumed_release.release,
            recovery=health.recovery_reads(),
        )
        strip = recovery_strip(restart, _log_bytes(broker, names))
    items = finding_items(findings, _byte_reader(broker, directories, may_show))
    counts = dict.fromkeys(SEVERITIES, 0)
    for item in items:
        counts[item.severity] += item.count
    return HealthView(verdict, strip, counts, items, startup_steps.steps_table(restart))


def _log_bytes(broker: Broker, names: Mapping[str, str]) -> dict[tuple[str, int], int]:
    log_bytes = {}
    for partition in broker.partitions:
        name = _with_directory_name(names, broker.directory_of(partition).text, partition.directory)
        for segment in partition.segments:
            if segment.log:
                log_bytes[name, segment.base_offset] = segment.log.size_bytes
    return log_bytes


def _byte_reader(
    broker: Broker, directories: Sequence[tuple[LogDirectory, str]], may_show: Callable[[str], bool]
) -> ByteReader:
    """Returns a function that reads bytes of a file; b"" for an unreadable or forbidden file."""

    def read_bytes(name: str, position: int, length: int) -> bytes:
        path = broker.path / name
        for directory, directory_name in directories:
            if name.startswith(f"{directory_name}/"):
                path = directory.path / name.removeprefix(f"{directory_name}/")
        if may_show(name):
            with suppress(KafkavizError):
                return file.read(path, position, length)
        return b""

    return read_bytes


def _named_directories(broker: Broker) -> list[tuple[LogDirectory, str]]:
    if len(broker.log_directories) == 1:
        return []
    names = broker.directory_names
    return [(directory, names[directory.path]) for directory in broker.log_directories]


def _with_directory_name(names: Mapping[str, str], log_directory: str | None, path: str) -> str:
    name = names.get(log_directory or "")
    return f"{name}/{path}" if name else path


def _with_log_directory(item: ItemT, names: Mapping[str, str]) -> ItemT:
    partition = item.partition and _with_directory_name(names, item.log_directory, item.partition)
    path = item.file and _with_directory_name(names, item.log_directory, item.file)
    return replace(item, partition=partition, file=path)


# ---- the verdict


def start_verdict(
    findings: Sequence[Finding],
    restart: Restart,
    logs: int,
    *,
    is_left_known: bool = True,
    is_partial: bool = False,
    release: Release = versions.NEWEST_RELEASE,
    recovery: Sequence[RecoveryReads] = (),
) -> StartVerdict:
    """Returns a headline and sentences on what the next broker start-up does.

    Args:
        logs: number of the broker's partition logs, including those without a .log file.
        is_left_known: whether the files show how the broker stopped: shut down or killed.
        is_partial: whether some log directories of the broker were not read.
        release: the Kafka release that will start.
        recovery: the .log files that recovery reads, for each log directory.
    """
    forecast = restart_forecast.forecast(restart, logs)
    source = startup_text.evidence_text(release)
    if not restart.starts:
        return _failing_verdict(restart, forecast, source)
    mended_files = {
        step.file
        for step in restart.steps
        if step.action in ("truncate", "rebuild", "delete") and step.cause != "timeindex-missing"
    }
    remaining_errors = sum(
        finding.severity == ERROR
        and not finding.code.startswith(START_CODES)
        and finding.file not in mended_files
        for finding in findings
    )
    has_changes = forecast.cut_logs or forecast.deleted_files or forecast.possible_strays
    if remaining_errors or forecast.stray_directories:
        kind = "error"
    elif has_changes or is_partial or not forecast.is_clean:
        kind = "warning"
    else:
        kind = "ok"
    stop_text = _stop_text(forecast) if is_left_known else say("health.taken_as_clean")
    text = join_sentences(
        [
            stop_text,
            disk_text.recovery_sentence(recovery),
            *_cut_texts(findings, restart),
            _count_text("health.stray", forecast.stray_directories),
            _count_text("health.possible_strays", forecast.possible_strays),
            _count_text("health.stay", remaining_errors),
            say("health.others_not_read") if is_partial else "",
            source,
        ]
    )
    if restart.offline_directories:
        title = say("health.will_start_without", names=tuple(restart.offline_directories))
        texts = [*_why_texts(restart.failures[0]), say("health.others_served"), source]
        return StartVerdict("error", title, join_sentences(texts))
    if any(finding.code == "metadata-log-missing" for finding in findings):
        headline = say("health.metadata_log_missing", name=names.METADATA_DIRECTORY)
        return StartVerdict("error", headline, text)
    not_served_text = startup_text.not_served_text(forecast)
    if not_served_text:
        headline = say("health.will_not_serve", without=not_served_text)
    else:
        key = "nothing_stops" if is_partial else "will_start"
        headline = say(f"health.{key}", doings=startup_text.describe(forecast))
    return StartVerdict(kind, headline, text)


def _failing_verdict(restart: Restart, forecast: RestartForecast, source: str) -> StartVerdict:
    failure = cast(StartupStep, restart.main_failure)
    is_a_log = failure.partition is not None and failure.cause != "directory-name"
    other_logs = forecast.logs - is_a_log
    texts = _why_texts(failure)
    if failure.partition and other_logs:
        texts.append(say_count("health.with_others", other_logs, n=number_word(other_logs)))
    title = say("health.will_not", because=_failure_headline(failure))
    return StartVerdict("error", title, join_sentences([*texts, source]))


def _why_texts(failure: StartupStep) -> list[str]:
    """Returns the reason of a failure as a sentence, then Kafka's error if it is known."""
    texts = [to_sentence(render(failure.why))]
    if failure.error:
        texts.append(end_sentence(say("health.kafka_says", error=failure.error)))
    return texts


# causes with a headline of their own
FAILURES = (
    "index-full", "index-full-time", "index-too-large", "directory-name", "directory-twice",
    "directory-offline", "log-corrupt", "log-too-large", "meta-properties", "metadata-log-missing",
    "bootstrap", "quorum-state-bad", "snapshot-corrupt",
)  # fmt: skip


def _failure_headline(step: StartupStep) -> str:
    cause = step.cause if step.cause in FAILURES else "other"
    if cause == "index-full" and "time index" in (step.error or ""):
        cause = "index-full-time"
    return say(f"health.fails_{cause}", where=step.partition or say("health.broker_directory"))


def _stop_text(forecast: RestartForecast) -> str:
    if forecast.is_clean:
        return say("health.clean")
    return startup_text.read_again_text(forecast) or say("health.unclean")


def _cut_texts(findings: Sequence[Finding], restart: Restart) -> Iterator[str]:
    truncations = [step for step in restart.steps if step.action == "truncate"]
    tails = {
        code: [finding for finding in findings if finding.code == code]
        for code in TAIL_CODES.values()
    }
    tail_texts = [
        say_count(f"health.{code}", sum(finding.length or 0 for finding in tail_findings))
        for code, tail_findings in tails.items()
        if tail_findings
    ]
    if truncations and tail_texts:
        logs = len({finding.file for tail_findings in tails.values() for finding in tail_findings})
        logs_text = number_word(logs).capitalize()
        yield say_count("health.tails", logs, n=logs_text, tails=join_comma(tail_texts))
        if all(step.cause == "tail" for step in truncations):
            yield say("health.no_batch_lost")


def _count_text(key: str, count: int) -> str:
    return say_count(key, count, n=number_word(count).capitalize()) if count else ""


# ---- the strip


def recovery_strip(
    restart: Restart, log_bytes: Mapping[tuple[str, int], int]
) -> RecoveryStrip | None:
    """Returns the logs that start-up reads: failing, then truncated, then others. None: no log."""
    segments_read = {
        (cast(str, step.partition), step.segment)
        for step in restart.steps
        if step.cause in RECOVERY_CAUSES and step.segment is not None
    }
    sizes: dict[str, int] = {}
    for directory, base_offset in segments_read & log_bytes.keys():
        sizes[directory] = sizes.get(directory, 0) + log_bytes[directory, base_offset]
    if not sizes:
        return None
    total = sum(sizes.values())
    bars = [
        _recovery_bar(name, size, max(size, total * MIN_SHARE), restart)
        for name, size in sizes.items()
    ]

    def order(bar: RecoveryBar) -> tuple:
        return not bar.fails, not bar.cut_bytes, -bar.size_bytes, names.natural_sort_key(bar.name)

    bars.sort(key=order)
    total_share = sum(bar.share for bar in bars)
    bars = tuple(
        bar._replace(share=bar.share / total_share if total_share else 1 / len(bars))
        for bar in bars
    )
    title = say_count("health.strip", len(bars), size=total)
    return RecoveryStrip(title, bars, _cut_text(bars), _unchanged_text(bars))


def _unchanged_text(bars: Sequence[RecoveryBar]) -> str:
    uncut = [bar for bar in bars if not bar.cut_bytes]
    if not uncut or any(bar.fails for bar in bars):
        return ""
    suffix = "_same" if all(bar.as_before for bar in uncut) else ""
    if len(uncut) < len(bars):
        return say(f"health.others_kept{suffix}")
    return say_count(f"health.all_kept{suffix}", len(bars))


def _recovery_bar(name: str, size_bytes: int, share: float, restart: Restart) -> RecoveryBar:
    steps = restart.steps_of_partition(name)
    cut_bytes = sum(step.size_bytes or 0 for step in steps if step.action == "truncate")
    is_failing = any(step.action == "fail" for step in steps)
    segments = {step.segment for step in steps if step.cause in RECOVERY_CAUSES} - {None}
    is_unchanged = restart_forecast.is_as_before(steps)
    if is_failing:
        key = "fails"
    elif cut_bytes:
        key = "cut"
    elif is_unchanged:
        key = "kept_same"
    else:
        key = "kept"
    hover = say(
        f"health.bar_{key}",
        cut=units.format_count(cut_bytes),
        segments=say_count("common.n_segments", len(segments)),
        size=units.format_bytes(size_bytes),
    )
    return RecoveryBar(name, size_bytes, share, cut_bytes, is_failing, hover, is_unchanged)


def _cut_text(bars: Sequence[RecoveryBar]) -> str:
    if any(bar.fails for bar in bars):
        return say("health.fails_here")
    cut_texts = [
        say_count("health.cut_by", bar.cut_bytes, log=bar.name) for bar in bars if bar.cut_bytes
    ]
    if not cut_texts:
        return ""
    logs = join_with_others(cut_texts[:MAX_CUTS], max(len(cut_texts) - MAX_CUTS, 0))
    return say("health.cut_at_end", logs=logs)


# ---- the list


def finding_items(findings: Sequence[Finding], read_bytes: ByteReader) -> tuple[FindingItem, ...]:
    """Returns one item per group of findings, the worst first."""
    items = []
    dumps_left = MAX_DUMPS
    for group in group_findings(findings):
        members = tuple(
            _finding_member(finding, read_bytes, is_dumped=number < dumps_left)
            for number, finding in enumerate(group[:MAX_MEMBERS])
        )
        dumps_left -= len(members)
        items.append(_finding_item(group, members))
    return tuple(items)


def _finding_item(findings: Sequence[Finding], members: tuple[FindingMember, ...]) -> FindingItem:
    worst = findings[0]
    count = len(findings)
    partitions = {finding.partition for finding in findings}
    if count == 1:
        key = _finding_key(worst)
        place = _location_text(worst, is_short=True)
    else:
        key = worst.code
        place = say_count("common.n_topic_partitions", len(partitions))
        if len(partitions) == 1 and worst.partition:
            place = _short_directory(worst.partition)
        if count != len(partitions):
            place = say_count("health.times_in", count, where=place)
    title = render(CODES[worst.code].title)
    return FindingItem(key, worst.severity, worst.code, title, place, count, members)


def _finding_member(finding: Finding, read_bytes: ByteReader, *, is_dumped: bool) -> FindingMember:
    dump = None
    if is_dumped and finding.file and finding.position is not None and finding.length:
        dump = _hex_dump(finding, read_bytes)
    link = {}
    if finding.file and (dump or read_bytes(finding.file, 0, 1)):
        link = segment_bytes.byte_address(finding.partition, finding.file, finding.position)
    if link and finding.code in TRANSACTION_CODES:
        link = {"tp": link["tp"], "segment": link["segment"], "tab": "Transactions"}
    expected = ""
    if finding.evidence.expected:
        expected = end_sentence(say("health.expected", expected=render(finding.evidence.expected)))
    return FindingMember(
        where=_location_text(finding),
        message=to_sentence(render(finding.message)),
        found=to_sentence(render(finding.evidence.found)),
        expected=expected,
        dump=dump,
        consequence=to_sentence(render(finding.consequence)),
        next_step=to_sentence(render(finding.next_step)),
        reference=finding.reference or "",
        link=link,
    )


def _finding_key(finding: Finding) -> str:
    position = "" if finding.position is None else f":{finding.position}"
    return f"{finding.code}@{finding.file or finding.partition or ''}{position}"


def _location_text(finding: Finding, *, is_short: bool = False) -> str:
    location = finding.file or finding.partition or say("health.broker_directory")
    if is_short and finding.partition and not finding.file:
        location = _short_directory(location)
    elif is_short and finding.partition and location != finding.partition:
        name = location.rpartition("/")[2]
        stem, dot, suffix = name.partition(".")
        if stem.isdigit():
            name = f"{int(stem)}{dot}{suffix}"
        location = f"{_short_directory(finding.partition)} {name}"
    if finding.position is not None:
        return say("health.at_bytes", place=location, bytes=_bytes_text(finding))
    return location


def _short_directory(directory: str) -> str:
    parsed = names.parse_directory(directory)
    if parsed and parsed.state != "current":
        return f"{parsed.topic}-{parsed.partition}…-{parsed.state}"
    return directory


def _bytes_text(finding: Finding) -> str:
    if not finding.length or finding.length == 1:
        return say("health.one_byte", first=finding.position)
    last = cast(int, finding.position) + finding.length - 1
    return say("health.bytes", first=finding.position, last=last)


def _hex_dump(finding: Finding, read_bytes: ByteReader) -> HexDump | None:
    file, position, length = cast(
        tuple[str, int, int], (finding.file, finding.position, finding.length)
    )
    start = max(0, position // ROW_BYTES * ROW_BYTES - BEFORE_BYTES)
    data = read_bytes(file, start, ROWS * ROW_BYTES)
    kind = "plain"
    if finding.severity != INFO:
        kind = FILE_KINDS.get(f".{file.rpartition('.')[2]}", "plain")
    return HexDump(start, data.hex(), (position, position + length), kind) if data else None


# ---- for the browser


def _words() -> dict[str, str]:
    marks = {severity: say(f"common.severity_{severity}") for severity in (*SEVERITIES, "ok")}
    return table("finding_list") | marks


def start_payload(view: HealthView) -> dict:
    """Returns the `RecoveryStrip` and the start-up steps of a view as plain data."""
    strip = view.strip and view.strip._asdict()
    if strip:
        strip["bars"] = [bar._asdict() for bar in strip["bars"]]
    steps = view.steps and view.steps._asdict()
    if steps:
        steps["rows"] = [row._asdict() for row in steps["rows"]]
    return {"words": _words(), "strip": strip, "steps": steps}


def findings_payload(view: HealthView, key: str) -> dict:
    """Returns the verdict and the findings as plain data. `key` changes with the content."""
    return {
        "key": key,
        "words": _words(),
        "verdict": view.verdict._asdict(),
        "counts": dict(view.counts),
        "items": [
            {**item._asdict(), "members": [_member_object(member) for member in item.members]}
            for item in view.items
        ],
    }


def _member_object(member: FindingMember) -> dict:
    return {**member._asdict(), "dump": member.dump and member.dump._asdict()}
