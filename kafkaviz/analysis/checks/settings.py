"""The checks of settings: small indexes and segments, wasted disk, memory maps, diskless topics."""

from collections.abc import Iterator, Sequence

from kafkaviz import versions
from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.index_check import ENTRY_BYTES
from kafkaviz.analysis.checks.plan import CheckPlan
from kafkaviz.analysis.checks.summary import CheckSummary
from kafkaviz.analysis.cost.cost_model import MAPS_PER_SEGMENT, MAX_MAP_COUNT
from kafkaviz.analysis.findings import Evidence, Finding, finding
from kafkaviz.analysis.inferred_settings import roll_reasons
from kafkaviz.format.names import METADATA_DIRECTORY
from kafkaviz.log.broker import Broker
from kafkaviz.log.settings import describe_record
from kafkaviz.messages import message
from kafkaviz.versions import Release

DISKLESS = "diskless.enable"  # in KIP-1163; Kafka up to 4.4.0 has no such setting
MAPS_OF_JVM = 1500  # the JVM itself has at most this many memory maps
NEAR = 0.8  # maps are near their limit from this share on
MIN_SEGMENT_BYTES = 1 << 20  # least segment.bytes since 4.0 (KIP-1030)
FEW_SEGMENTS = 20
MIN_ROLL_SHARE = 0.5  # a full index must explain this share of the rolls; a few may be chance
WASTE_BYTES = 1 << 20
FEW_ENTRIES = 20
# by the cause of a roll: the code of the finding, the file, and the count of entries
FULL = {
    "offset-index-full": ("index-limit-rolls", "index", "entries"),
    "time-index-full": ("time-index-limit-binds", "timeindex", "time_entries"),
}


def check_partition(summaries: Sequence[CheckSummary], facts: PartitionFacts) -> Iterator[Finding]:
    full_findings: list[Finding] = []
    if not any(summary.read_fault or summary.unreadable_indexes for summary in summaries):
        yield from _effect_findings(summaries, facts)
        yield from _waste_findings(summaries, facts)
        if not any(summary.is_unsound for summary in summaries):
            full_findings = list(_full_index_findings(summaries, facts))
    # if a full index ends segments, a larger segment.bytes would change nothing
    yield from full_findings or _size_findings(summaries, facts)


def _effect_findings(summaries: Sequence[CheckSummary], facts: PartitionFacts) -> Iterator[Finding]:
    batches = sum(summary.batches for summary in summaries)
    entries = sum(summary.entries for summary in summaries)
    logs = sum(1 for summary in summaries if summary.batches)
    if entries >= FEW_ENTRIES and entries == batches - logs:
        text = message("finding.every_batch_indexed", n=entries, batches=batches)
        expected = message("evidence.at_most", n=entries)
        evidence = Evidence(message("evidence.entries", n=entries), expected)
        yield facts.make_finding("interval-without-effect", None, text, evidence)


def _full_index_findings(
    summaries: Sequence[CheckSummary], facts: PartitionFacts
) -> Iterator[Finding]:
    reasons = roll_reasons([summary.segment_facts() for summary in summaries])
    rolls = len(summaries) - 1
    for reason, (code, kind, counted) in FULL.items():
        full_summaries = [
            summary
            for summary, roll_reason in zip(summaries, reasons, strict=True)
            if roll_reason == reason
        ]
        full = len(full_summaries)
        if not full_summaries or full < MIN_ROLL_SHARE * rolls:
            continue
        count = getattr(full_summaries[0], counted)
        size = count * ENTRY_BYTES[kind]
        text = message("finding.index_full", n=full, all=rolls, entries=count, size=size)
        found_text = message("evidence.entries_in_each", n=count)
        evidence = Evidence(found_text, message("evidence.room_for_more"))
        name = full_summaries[0].segment.file_name(kind)
        yield facts.make_finding(code, name, text, evidence, (0, size))


def _size_findings(summaries: Sequence[CheckSummary], facts: PartitionFacts) -> Iterator[Finding]:
    closed_sizes = [summary.segment.log.size_bytes for summary in summaries[:-1]]
    if len(closed_sizes) < FEW_SEGMENTS:
        return
    mean_bytes = sum(closed_sizes) // len(closed_sizes)
    if mean_bytes < MIN_SEGMENT_BYTES:
        text = message("finding.tiny_segments", n=len(closed_sizes), size=mean_bytes)
        expected = message("evidence.size_or_more", size=MIN_SEGMENT_BYTES)
        evidence = Evidence(message("evidence.size", size=mean_bytes), expected)
        yield facts.make_finding("segments-tiny", None, text, evidence)


def _waste_findings(summaries: Sequence[CheckSummary], facts: PartitionFacts) -> Iterator[Finding]:
    wasteful_files = []
    wasted_bytes = 0
    for summary in summaries:
        for index_file, entry_bytes in (
            (summary.segment.index, summary.entries * ENTRY_BYTES["index"]),
            (summary.segment.timeindex, summary.time_entries * ENTRY_BYTES["timeindex"]),
        ):
            if index_file and index_file.allocated_bytes - entry_bytes > WASTE_BYTES:
                wasteful_files.append((index_file, entry_bytes))
                wasted_bytes += index_file.allocated_bytes - entry_bytes
    if wasteful_files:
        index_file, entry_bytes = wasteful_files[0]
        text = message("finding.wasted_zeros", n=len(wasteful_files), size=wasted_bytes)
        found_text = message("evidence.size_on_disk", size=index_file.allocated_bytes)
        evidence = Evidence(found_text, message("evidence.entries_then_hole", size=entry_bytes))
        consequence = None
        if facts.metadata_log and versions.TRIMMED_BEFORE_CLOSE.applies_to(facts.release):
            consequence = message("consequence.metadata_log_untrimmed")
        name = index_file.name
        byte_range = (entry_bytes, index_file.size_bytes - entry_bytes)
        yield facts.make_finding(
            "preallocation-waste", name, text, evidence, byte_range, consequence=consequence
        )


def check_broker(broker: Broker, release: Release) -> Iterator[Finding]:
    segments = sum(len(partition.live) for partition in broker.partitions)
    maps = MAPS_PER_SEGMENT * segments + MAPS_OF_JVM
    if maps > NEAR * MAX_MAP_COUNT:
        text = message("finding.maps", n=segments, maps=maps, most=MAX_MAP_COUNT)
        found_text = message("evidence.maps", n=maps)
        evidence = Evidence(found_text, message("evidence.fewer_maps", n=MAX_MAP_COUNT))
        yield finding("maps-near-limit", text, evidence, release=release)


def check_topics(plan: CheckPlan) -> Iterator[Finding]:
    """Yields a finding for each topic on this broker with diskless.enable=true."""
    for topic in sorted({partition.topic for partition in plan.broker.partitions}):
        config_value = plan.settings.image.topic_configs(topic).get(DISKLESS)
        if config_value is None or config_value.value != "true":
            continue
        yield finding(
            "topic-diskless",
            message("finding.topic_diskless", topic=topic),
            Evidence(describe_record(config_value)),
            file=f"{METADATA_DIRECTORY}/{config_value.file}",
            release=plan.assumed_release.release,
        )
