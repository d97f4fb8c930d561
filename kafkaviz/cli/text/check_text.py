"""The text of a check: broker start-up, the findings per partition, retention, disk space."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import TypeVar, cast

from kafkaviz import units
from kafkaviz.analysis.broker_health import Health
from kafkaviz.analysis.disk import DiskShare, total_uses
from kafkaviz.analysis.findings import Finding, sort_findings
from kafkaviz.analysis.findings import counts as count_severities
from kafkaviz.analysis.freeing import FreeingKind
from kafkaviz.analysis.overview import TopicSize, topic_sizes
from kafkaviz.analysis.restart.restart_forecast import RestartForecast
from kafkaviz.analysis.retention import sort_by_urgency
from kafkaviz.cli.common import output
from kafkaviz.format.names import METADATA_DIRECTORY
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker
from kafkaviz.messages import Message, message, say, say_count
from kafkaviz.render import disk_text, retention_text, startup_text
from kafkaviz.render.finding_groups import group_findings
from kafkaviz.render.sentences import number_word
from kafkaviz.simulate.steps import StartupStep

ItemT = TypeVar("ItemT")

MAX_KEPT = 5  # most segments that are listed with their retention
MAX_NAMES = 20  # most names of partitions with the same finding
MAX_GROUPS = 20  # most groups of findings with one code, and most causes of a failing start
MAX_TOPICS = 5  # most topics that are listed by size
MAX_PATHS = 3  # most deletable files that are named per kind
MAX_FAILED_NAMES = 3  # most partitions that are named for the same cause of a failing start


def render(health: Health, read_rate: int | None = None) -> Iterator[str]:
    """Yields the lines of a check. `read_rate` is in bytes per second; None: ASSUMED_RATE."""
    groups = list(group_findings(health.findings))
    counts = count_severities(chain.from_iterable(groups))
    yield say(
        "cli_check.counts",
        source=health.broker.sources_text,
        errors=message("finding_count.errors", n=counts["error"]),
        warnings=message("finding_count.warnings", n=counts["warning"]),
        info=counts["info"],
    )
    yield say(
        "cli_check.read_as",
        release=health.assumed_release.version,
        why=health.assumed_release.reason,
    )
    yield from _render_directories(health.broker)
    yield from _render_start(health, read_rate)
    yield from _render_single(health, [group[0] for group in groups if len(group) == 1])
    for group in groups:
        if len(group) > 1:
            is_note = group[0].severity == "info"
            yield from _render_notes(group) if is_note else _render_findings(group)
    yield from _render_retention(health)
    yield from _render_metadata_retention(health)
    yield from _render_disk(health.all_shares())
    yield from _render_freeing(health, read_rate)
    if not health.broker.is_lone:
        yield from _render_topics(topic_sizes(health.broker))


def _render_single(health: Health, findings: list[Finding]) -> Iterator[str]:
    """Yields the findings whose code occurs once, grouped by log directory and partition."""
    has_several = len(health.broker.log_directories) > 1
    places = _group_by(
        sort_findings(findings),
        lambda finding: (finding.log_directory if has_several else None, finding.partition),
    )
    order = [None, *(directory.text for directory in health.broker.log_directories)]
    for place in sorted(places, key=lambda place: order.index(place[0])):
        yield from ("", _place_text(*place))
        for finding in places[place]:
            if finding.severity == "info":
                yield from _render_note(finding)
            else:
                yield from _render_finding(finding, _location(finding))


def _place_text(log_directory: str | None, partition: str | None) -> str:
    if log_directory is None:
        return partition or _broker()
    return f"{log_directory}/{partition}" if partition else log_directory


def _render_directories(broker: Broker) -> Iterator[str]:
    if len(broker.log_directories) < 2:
        return
    for single in broker.single_directories:
        directory = single.main_directory
        key = "directory_with_metadata_log" if directory.has_metadata_log else "directory"
        detail = say(
            f"cli_check.{key}",
            path=directory.text,
            log=units.format_bytes(sum(partition.log_bytes for partition in single.partitions)),
            partitions=say_count("common.n_topic_partitions", len(single.partitions)),
        )
        yield from _wrap("", detail, "  ")
    total = say(
        "cli_check.all_directories",
        log=units.format_bytes(sum(partition.log_bytes for partition in broker.partitions)),
        partitions=say_count("common.n_topic_partitions", len(broker.partitions)),
        directories=len(broker.log_directories),
    )
    yield from _wrap("", total, "  ")


def _render_topics(sizes: Sequence[TopicSize]) -> Iterator[str]:
    if not sizes:
        return
    yield from ("", say("cli_check.largest_topics"))
    largest = sizes[:MAX_TOPICS]
    width = max(len(units.format_bytes(size.size_bytes)) for size in largest)
    for size in largest:
        total = output.pad(units.format_bytes(size.size_bytes), width, ">")
        detail = say(
            "cli_check.topic_size",
            topic=size.topic,
            log=units.format_bytes(size.log_bytes),
            indexes=size.index_bytes,
            partitions=say_count("common.n_topic_partitions", size.partitions),
        )
        yield from _wrap("", detail, f"  {total}  ")
    if len(sizes) > MAX_TOPICS:
        rest = sizes[MAX_TOPICS:]
        rest_bytes = units.format_bytes(sum(size.size_bytes for size in rest))
        yield f"  {say_count('cli_check.more_topics', len(rest), size=rest_bytes)}"


def _render_disk(shares: Sequence[DiskShare]) -> Iterator[str]:
    uses = disk_text.sorted_uses(total_uses(shares))
    title = say(
        "cli_check.disk",
        length=sum(share.length_bytes for share in shares),
        allocated=sum(share.allocated_bytes for share in shares),
    )
    yield from ("", title)
    width = max((len(units.format_bytes(size)) for _, size in uses), default=0)
    for use, size in uses:
        yield f"  {output.pad(units.format_bytes(size), width, '>')}  {disk_text.use_text(use)}"


def _render_freeing(health: Health, read_rate: int | None) -> Iterator[str]:
    """Yields numbered steps that free disk space, then what not to delete."""
    steps = health.freeing_steps()
    roots = {directory.text: directory.path for directory in health.broker.log_directories}
    yield from ("", say("cli_check.freeing" if steps else "cli_check.freeing_none"))
    number = 0
    for number, (kind, same_kind) in enumerate(groupby(steps, lambda step: step.kind), 1):
        start = f"  {number}. "
        indent = " " * len(start)
        paths: list[str] = []
        for step in same_kind:
            size = units.format_bytes(step.allocated_bytes)
            text = say("cli_check.freeing_delete", size=size, use=disk_text.freeing_text(kind))
            text = _label_directory(health.broker, step.log_directory, text)
            yield from _wrap("", text, indent if paths else start)
            for path in step.paths:
                name = archive.display_text(os.path.relpath(path, roots[step.log_directory]))
                paths.append(_label_directory(health.broker, step.log_directory, name))
        files = say("common.names", names=tuple(paths[:MAX_PATHS]))
        if len(paths) > MAX_PATHS:
            files = f"{files} {say('cli_check.more_in_json', n=len(paths) - MAX_PATHS)}"
        for key, text in (("check", kind.check), ("cost", kind.cost), ("files", files)):
            yield from output.wrap(text, f"{indent}{say(f'disk.freeing_label_{key}')}: ")
    if steps:
        yield from _wrap("", say("cli_check.freeing_again"), f"  {number + 1}. ")
        is_retention_listed = any(step.kind == FreeingKind.RETENTION for step in steps)
        due_bytes = 0 if is_retention_listed else sum(log.due_bytes for log in health.retention)
        key = "cli_check.freeing_start_retention" if due_bytes else "cli_check.freeing_start"
        text = say(key, size=units.format_bytes(due_bytes))
        yield from _wrap("", text, f"  {number + 2}. ")
    yield from _wrap("", say("disk.freeing_never"), "  ")
    for price in health.index_prices():
        text = disk_text.index_price_text(price, read_rate or disk_text.ASSUMED_RATE)
        yield from _wrap("", _label_directory(health.broker, price.log_directory, text), "  ")


def _render_recovery(health: Health, read_rate: int | None) -> Iterator[str]:
    recovery_reads = health.recovery_reads()
    if not recovery_reads:
        return
    rate = read_rate or disk_text.ASSUMED_RATE
    for reads in recovery_reads:
        text = disk_text.recovery_text(reads, rate)
        yield from _wrap("", _label_directory(health.broker, reads.log_directory, text), "  ")
    threads = recovery_reads[0].threads
    text = disk_text.rate_text(rate, threads, is_assumed=read_rate is None)
    yield from _wrap("", text, "  ")


def _label_directory(broker: Broker, log_directory: str, text: str) -> str:
    """Puts the log directory's name before `text` if the broker has several directories."""
    for directory in broker.log_directories:
        if len(broker.log_directories) > 1 and directory.text == log_directory:
            name = broker.directory_names[directory.path]
            return say("common.labelled", where=name, text=text)
    return text


def _render_retention(health: Health) -> Iterator[str]:
    logs = [log for log in health.retention if log.segments]
    if not any(item.gone_ms is not None or item.is_due for log in logs for item in log.segments):
        unknown = next((log for log in logs if not log.limits.is_known), None)
        if unknown:
            yield from ("", say("cli_check.retention"))
            text = say("retention.limits_unknown")
            why = retention_text.basis_text(unknown.limits)
            yield from _wrap("", say("cli_check.retention_unknown", text=text, why=why), "  ")
        return
    yield from ("", say("cli_check.retention"))
    yield from _wrap("", retention_text.headline_text(logs), "  ")
    for note in retention_text.basis_notes(logs):
        yield from _wrap("", note, "  ")
    rows = sort_by_urgency(logs)
    for log, segment in rows[:MAX_KEPT]:
        newest = retention_text.newest_text(segment.age)
        reason = retention_text.reason_text(log, segment)
        text = say(
            "cli_check.segment_kept",
            partition=log.partition,
            segment=segment.age.base_offset,
            retention=say("common.labelled", where=newest, text=reason),
        )
        yield from _wrap("", text, "  ")
    if len(rows) > MAX_KEPT:
        yield f"  {say('cli_check.more_in_json', n=len(rows) - MAX_KEPT)}"


def _render_metadata_retention(health: Health) -> Iterator[str]:
    retention = health.metadata_retention()
    if retention is not None:
        text = retention_text.metadata_text(retention)
        yield from _wrap("", say("common.labelled", where=METADATA_DIRECTORY, text=text), "  ")


def _render_start(health: Health, read_rate: int | None) -> Iterator[str]:
    restart = health.restart
    if restart is None:
        yield say("cli_check.start_unknown")
        return
    how = say(f"cli_check.left_{health.broker.shutdown_state}")
    if restart.starts:
        forecast = cast(RestartForecast, health.forecast)
        rest = startup_text.describe(forecast)
        strays = forecast.stray_directories or forecast.possible_strays
        directories = message("cli_check.directories", n=strays, word=number_word(strays))
        if health.misses_metadata_log:
            yield say("cli_check.start_without_metadata", how=how, name=METADATA_DIRECTORY)
        elif forecast.stray_directories:
            yield say("cli_check.start_without", how=how, directories=directories, rest=rest)
        elif restart.offline_directories:
            yield say("cli_check.start_offline", how=how, names=restart.offline_directories)
            yield from _render_failures(health)
        elif forecast.possible_strays:
            yield say("cli_check.start_may_not_serve", how=how, directories=directories, rest=rest)
        elif health.is_partial:
            yield say("cli_check.start_alone", how=how, rest=rest)
        else:
            yield say("cli_check.start_succeeds", how=how, rest=rest)
        yield from _wrap("", startup_text.read_again_text(forecast), "  ")
        yield from _render_recovery(health, read_rate)
    else:
        yield say("cli_check.start_fails", how=how)
        yield from _render_failures(health)
    source = startup_text.evidence_text(health.assumed_release.release)
    yield from _wrap("", source, "  ")


def _render_failures(health: Health) -> Iterator[str]:
    failures = health.restart.failures if health.restart else ()
    has_several = len(health.broker.log_directories) > 1
    causes = list(_group_by(failures, _failure_cause).values())
    for first, *others in causes[:MAX_GROUPS]:
        text = first.error or first.why
        where = _place_text(first.log_directory if has_several else None, first.partition)
        yield from _wrap("", say("common.labelled", where=where, text=text), "  ")
        if first.way_out:
            yield from _wrap("", first.way_out, "    ")
        if others:
            names = [
                _place_text(step.log_directory if has_several else None, step.partition)
                for step in others
            ]
            yield from _wrap("", _same_in_text(names), "    ")
    if hidden := sum(map(len, causes[MAX_GROUPS:])):
        yield from _wrap("", say("cli_check.more_in_json", n=hidden), "  ")


def _failure_cause(step: StartupStep) -> tuple[str, ...]:
    """Returns a key. Steps whose texts differ only in partition and numbers have the same key."""
    texts = [str(text or "") for text in (step.error or step.why, step.way_out)]
    if step.partition:
        texts = [text.replace(step.partition, "") for text in texts]
    return tuple(re.sub(r"\d+", "0", text) for text in texts)


def _same_in_text(names: list[str]) -> str:
    first_names = tuple(names[:MAX_FAILED_NAMES])
    hidden = len(names) - len(first_names)
    if not hidden:
        return say("cli_check.same_in", names=first_names)
    return say("cli_check.same_in_many", n=len(names), names=first_names, hidden=hidden)


def _render_findings(findings: list[Finding]) -> Iterator[str]:
    """Yields lines of text about the findings of one code: the first in full, the others in short.

    Findings that differ only in the partition share an entry.
    """
    first = findings[0]
    yield from ("", say("cli_check.times", code=first.code, n=len(findings)))
    yield from _render_finding(first, _full_location(first))
    groups = list(_group_by(findings, _key_without_partition).values())
    for group in groups[:MAX_GROUPS]:
        others = group if group[0] is not first else group[1:]
        if group[0] is not first:
            finding, *others = others
            text = say("common.labelled", where=_full_location(finding), text=finding.message)
            yield from _wrap(say("cli_check.label_also"), text)
        names = list(dict.fromkeys(item.partition or _broker() for item in others))
        if names:
            text = say("cli_check.in_names", names=_some_names(names))
            yield from _wrap(say("cli_check.label_the_same"), text)
    if hidden := sum(map(len, groups[MAX_GROUPS:])):
        yield from _wrap("", say("cli_check.more_in_json", n=hidden))


def _render_notes(findings: list[Finding]) -> Iterator[str]:
    yield from ("", say("cli_check.times", code=findings[0].code, n=len(findings)))
    yield from _render_note(findings[0])
    yield from _wrap("", say("cli_check.in_names", names=findings[0].partition or _broker()))
    names = list(dict.fromkeys(finding.partition or _broker() for finding in findings[1:]))
    yield from _wrap(say("cli_check.label_also"), _some_names(names), "  ")


def _some_names(names: list[str]) -> str:
    if len(names) <= MAX_NAMES:
        return say("common.names", names=tuple(names))
    first_names = tuple(names[:MAX_NAMES])
    return say("common.list_and_more", names=first_names, n=len(names) - MAX_NAMES)


def _key_without_partition(finding: Finding) -> tuple:
    evidence = finding.evidence
    texts = (finding.message, evidence.found, evidence.expected, finding.consequence)
    texts = tuple(map(str, (*texts, finding.next_step, _location(finding))))
    if finding.partition:
        return tuple(text.replace(finding.partition, "") for text in texts)
    return texts


def _group_by(items: Iterable[ItemT], key: Callable[[ItemT], tuple]) -> dict[tuple, list[ItemT]]:
    groups: dict[tuple, list[ItemT]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _render_finding(finding: Finding, location: str) -> Iterator[str]:
    severity = output.pad(say(f"common.severity_{finding.severity}").upper(), 7)
    yield f"  {severity}  {finding.code}  {location}".rstrip()
    yield from _wrap("", finding.message)
    evidence = finding.evidence
    found_text = _add_hex(evidence.found, evidence.found_hex)
    yield from _wrap(say("cli_check.label_found"), found_text)
    expected_text = _add_hex(evidence.expected, evidence.expected_hex)
    yield from _wrap(say("cli_check.label_expected"), expected_text)
    yield from _wrap(say("cli_check.label_kafka"), finding.consequence)
    yield from _wrap(say("cli_check.label_do"), finding.next_step)
    yield from _wrap(say("cli_check.label_see"), finding.reference or "")


def _render_note(finding: Finding) -> Iterator[str]:
    file = _file(finding)
    key = "cli_check.note_in" if file else "cli_check.note"
    text = say(key, code=finding.code, text=finding.message, file=file)
    yield from _wrap(say("common.severity_info"), text, "  ")
    if finding.next_step.key != "next_step.nothing":
        yield from _wrap(say("cli_check.label_do"), finding.next_step)


def _full_location(finding: Finding) -> str:
    return f"{finding.partition or _broker()}  {_location(finding)}".rstrip()


def _location(finding: Finding) -> str:
    if finding.position is None:
        return _file(finding)
    if not finding.length:
        return say("cli_check.at_byte", file=_file(finding), byte=finding.position)
    last = finding.position + finding.length - 1
    return say("cli_check.at_bytes", file=_file(finding), first=finding.position, last=last)


def _file(finding: Finding) -> str:
    """Returns a file's name without the partition, because the heading shows the partition."""
    name = finding.file or ""
    return "" if name == finding.partition else name.removeprefix(f"{finding.partition}/")


def _add_hex(text: Message | None, digits: str) -> str:
    line = "" if text is None else output.to_one_line(text)
    return f"{line}  [{digits}]" if digits else line


def _wrap(label: str, text: str | Message, indent: str = " " * 11) -> Iterator[str]:
    return output.wrap(text, f"{indent}{output.pad(label, 10)}" if label else indent)


def _broker() -> str:
    return say("health.broker_directory")
