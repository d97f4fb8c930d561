"""A comparison as the object of plain values that `kafkaviz compare --json` prints."""

from typing import Any

from kafkaviz.analysis.comparison.byte_differences import ByteDifference
from kafkaviz.analysis.comparison.comparison import (
    SIDES,
    BrokerComparison,
    PartitionComparison,
    Replica,
)
from kafkaviz.analysis.comparison.index_differences import IndexComparison, LookupReads
from kafkaviz.analysis.comparison.leader_epochs import TruncationStep, TruncationWalk
from kafkaviz.analysis.comparison.record_ranges import RecordSet
from kafkaviz.analysis.comparison.start_changes import StartComparison
from kafkaviz.analysis.findings import finding_codec
from kafkaviz.analysis.inference.interval import IntervalBounds
from kafkaviz.log.remote import address
from kafkaviz.log.settings import SettingValue


def as_object(comparison: BrokerComparison) -> dict[str, Any]:
    return {
        "a": comparison.sources[0],
        "b": comparison.sources[1],
        "partitions": [_partition_object(partition) for partition in comparison.partitions],
        "counts": {relation.value: count for relation, count in comparison.counts.items()},
        "before_and_after": comparison.start and _start_object(comparison.start),
        "problems": [
            {"path": address.display(problem.path), "message": str(problem.what)}
            for problem in comparison.problems
        ],
    }


def _partition_object(comparison: PartitionComparison) -> dict[str, Any]:
    lag = comparison.lag
    walks = comparison.truncations
    return {
        "partition": comparison.partition,
        "relation": comparison.relation.value,
        "relations": [relation.value for relation in comparison.relations],
        "compared_from": comparison.compared_from,
        "compared_to": comparison.compared_to,
        "first_divergent_offset": comparison.first_divergent_offset,
        "leader_epochs_there": _both(comparison.leader_epochs_there),
        "segment_bases_equal": comparison.segment_bases_equal,
        "only_in_a": _records_object(comparison.only_in[0]),
        "only_in_b": _records_object(comparison.only_in[1]),
        "different": _records_object(comparison.different),
        "unreadable": _records_object(comparison.unreadable),
        "if_leader": walks and {side: _walk_object(walks[n]) for n, side in enumerate(SIDES)},
        "behind": lag
        and {
            "side": lag.side,
            "offsets": lag.offsets,
            "bytes": lag.size_bytes,
            "time_ms": lag.time_ms,
        },
        "differences": [_difference_object(difference) for difference in comparison.differences],
        "difference_count": comparison.difference_count,
        "rewritten_batches": comparison.rewritten_batches,
        "damaged_batches": _both(comparison.damaged_batches),
        "index_interval_bytes": {
            side: setting and _setting_object(setting)
            for side, setting in zip(SIDES, comparison.interval_settings, strict=True)
        },
        "indexes": [_index_object(index) for index in comparison.indexes],
        "replicas": {
            side: replica and _replica_object(replica)
            for side, replica in zip(SIDES, comparison.replicas, strict=True)
        },
        "notes": [str(note) for note in comparison.notes],
        "other_generation": comparison.other_generation,
        "other_directory": comparison.other_directory,
    }


def _both(values: tuple[Any, Any] | None) -> dict[str, Any] | None:
    return values and dict(zip(SIDES, values, strict=True))


def _records_object(records: RecordSet) -> dict[str, Any]:
    ranges = [list(offsets) for offsets in records.ranges]
    fields = {"records": records.records, "ranges": ranges}
    return fields | ({"more_ranges": records.more_ranges} if records.more_ranges else {})


def _walk_object(walk: TruncationWalk) -> dict[str, Any]:
    return {
        "follower_keeps_below": walk.follower_keeps_below,
        "follower_loses": [list(offsets) for offsets in walk.follower_loses],
        "follower_log_start": walk.follower_log_start,
        "leader_epoch": walk.leader_epoch,
        "steps": [_step_object(step) for step in walk.steps],
    }


def _step_object(step: TruncationStep) -> dict[str, Any]:
    return {
        "epoch": step.epoch,
        "fetch_offset": step.fetch_offset,
        "answer": step.answer
        and {"epoch": step.answer.epoch, "end_offset": step.answer.end_offset},
        "rule": step.rule.value,
        "truncates_to": step.truncates_to,
    }


def _difference_object(difference: ByteDifference) -> dict[str, Any]:
    location = difference.location
    return {
        "file": location.file,
        "position": location.position,
        "size_bytes": location.size_bytes,
        "what": difference.what,
        "a": difference.values[0],
        "b": difference.values[1],
        "offset": difference.offset,
        "crc_valid": _both(difference.valid_crcs),
        "locations": {
            side: place
            and {"file": place.file, "position": place.position, "size_bytes": place.size_bytes}
            for side, place in zip(SIDES, difference.locations, strict=True)
        },
    }


def _index_object(index: IndexComparison) -> dict[str, Any]:
    lookup = index.lookup
    return {
        "segment": index.segment,
        "kind": index.kind,
        "reason": index.reason.value,
        "entries": _both(index.entries),
        "common": index.common,
        "only_in_a": {"entries": index.alone_counts[0], "slots": list(index.alone[0])},
        "only_in_b": {"entries": index.alone_counts[1], "slots": list(index.alone[1])},
        "unwritten_slots": _both(index.unwritten_slots),
        "contradicted_slots": {
            side: list(slots) for side, slots in zip(SIDES, index.contradicted, strict=True)
        },
        "interval_bytes": index.intervals
        and {
            side: _interval_object(bounds)
            for side, bounds in zip(SIDES, index.intervals, strict=True)
        },
        "lookup": lookup
        and {
            "target_offset": lookup.target_offset,
            "reads": {
                side: _reads_object(reads) for side, reads in zip(SIDES, lookup.reads, strict=True)
            },
            "headers_mean": _both(lookup.mean_headers),
        },
    }


def _setting_object(setting: SettingValue) -> dict[str, Any]:
    return {"value": setting.value, "source": str(setting.source)}


def _interval_object(bounds: IntervalBounds) -> dict[str, Any]:
    return {"low": bounds.low_bytes, "high": bounds.high_bytes, "per_append": bounds.per_append}


def _reads_object(reads: LookupReads) -> dict[str, Any]:
    return {
        "slot": reads.search.slot,
        "probes": len(reads.search.probes),
        "from_position": reads.position,
        "headers": reads.headers,
    }


def _replica_object(replica: Replica) -> dict[str, Any]:
    return {
        "directory": replica.directory,
        "topic_id": replica.topic_id,
        "log_start": replica.log_start_offset,
        "log_end": replica.log_end_offset,
        "high_watermark": replica.high_watermark,
        "cleaner_checkpoint": replica.cleaner_checkpoint,
        "leader_epochs": [list(entry) for entry in replica.epochs.entries],
        "epochs_from_batches": replica.epochs.is_from_batches,
        "segments": list(replica.segments),
        "torn_bytes": replica.torn_bytes,
    }


def _start_object(start: StartComparison) -> dict[str, Any]:
    return {
        "started": start.is_started,
        "swapped": start.is_swapped,
        "steps": [
            finding_codec.step_to_object(foretold.step)
            | {"outcome": foretold.outcome.value, "size_after": foretold.size_bytes}
            for foretold in start.steps
        ],
        "changes": [
            {
                "partition": change.partition,
                "file": change.file,
                "change": change.kind.value,
                "size_before": change.sizes[0],
                "size_after": change.sizes[1],
                "same_bytes": change.same_bytes,
                "foretold": change.is_foretold,
            }
            for change in start.changes
        ],
    }
