"""Converts results to JSON objects for `--json`, for downloads and for the catalog.

    to_json_object(TruncationStep(...))    {"epoch": 4, "fetch_offset": 900, "answer": {...}, ...}

FIELDS lists the keys per class, in order. If a class is not listed, its fields are the keys.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kafkaviz.binary.layouts import field_names
from kafkaviz.errors import KafkavizError
from kafkaviz.log.remote import address
from kafkaviz.messages import Message

# The keys of an object by the name of its class. `key=path` takes the value of another attribute,
# `key=path:form` also converts it by FORMS, `outer.key` is a key of the inner object `outer`,
# `key?` is left out if the value is 0, and `*path` inserts all keys of another object.
FIELDS = {
    # findings and start-up
    "Finding": """code severity partition file position length message evidence consequence
        next_step reference log_directory""",
    "Evidence": "found expected=expected:text found_hex expected_hex",
    "StartupStep": """partition segment file action cause from_position bytes=size_bytes why
        log_directory error way_out""",
    # retention
    "LogRetention": """partition log_directory now_ms
        deletes.value=limits.deletes deletes.source=limits.policy_source
        retention_ms.value=limits.retention_ms retention_ms.source=limits.ms_source:text
        retention_bytes.value=limits.retention_bytes retention_bytes.source=limits.bytes_source:text
        tiered=limits.is_tiered not_uploaded_bytes log_bytes over_bytes segments""",
    "MetadataRetention": """now_ms max_bytes=limits.max_bytes max_ms=limits.max_ms log_bytes
        total_bytes freed_bytes snapshots deleted_segments""",
    "MetadataSnapshot": "file=name end_offset bytes=size_bytes timestamp_ms deleted_by",
    "SegmentRetention": """segment=age.base_offset bytes=age.size_bytes
        timestamp_ms=age.timestamp_ms counted_by=age.counted_by offset=age.offset
        state until_ms gone_ms blocked_by more_bytes""",
    # compaction
    "Compaction": "directory kafka_version now_ms map order partitions unread",
    "CleanerMap": "bytes=size_bytes load_factor threads most_keys",
    "UnreadLog": "partition log_directory message",
    "PartitionCompaction": """partition log_directory *decision transaction=oldest_transaction
        settings cleaned error""",
    "CleaningDecision": """checkpointed first_dirty_offset force_update_checkpoint
        first_uncleanable_offset limits held_by first_uncleanable_segment clean_bytes
        cleanable_bytes cleanable_ratio max_compaction_delay_ms eligible=is_eligible reason""",
    "KeyStory": """key=key_text key_hex *log.decision record_count unread_from
        records""",
    "KeyRecord": """offset timestamp_ms segment position bytes=size_bytes value_bytes
        aborted=is_aborted delete_horizon_ms replaced_by fate""",
    "Cleaning": """next_first_dirty_offset passes map_keys
        removed=removed.ranges removed_records=removed.records removed_ranges=removed.count
        kept=retained.ranges kept_records=retained.records kept_ranges=retained.count
        replaced_records aborted_records keyless_records expired_tombstones removed_markers
        tombstones_left tombstones_before tombstone_records=tombstone_count
        markers_left markers_before marker_records=marker_count
        segments bytes_before=source_bytes bytes_after=log_bytes bytes_freed
        superseded_bytes""",
    "CleanedSegment": """segment=base_offset replaces=sources log_bytes index_bytes=index:count
        timeindex_bytes=timeindex:count""",
    # disk space
    "FreeingStep": """kind cost=kind.cost check=kind.check log_directory files length_bytes
        allocated_bytes paths""",
    # comparison of two directories
    "BrokerComparison": """a=sources.0 b=sources.1 partitions counts before_and_after=start
        problems""",
    "Problem": "path=path:display message=what",
    "PartitionComparison": """partition relation relations compared_from compared_to
        first_divergent_offset leader_epochs_there:sides segment_bases_equal
        only_in_a=only_in.0 only_in_b=only_in.1 different unreadable
        if_leader=truncations:sides behind=lag differences difference_count rewritten_batches
        damaged_batches:sides index_interval_bytes=interval_settings:sides indexes replicas:sides
        notes other_generation other_directory""",
    "RecordSet": "records ranges more_ranges?",
    "Lag": "side offsets bytes=size_bytes time_ms",
    "FollowerTruncation": """follower_keeps_below follower_loses follower_log_start leader_epoch
        steps""",
    "ByteDifference": """*location what a=values.0 b=values.1 offset crc_valid=valid_crcs:sides
        locations:sides""",
    "IndexComparison": """segment kind reason entries:sides common
        only_in_a.entries=alone_counts.0 only_in_a.slots=alone.0
        only_in_b.entries=alone_counts.1 only_in_b.slots=alone.1
        unwritten_slots:sides contradicted_slots=contradicted:sides
        interval_bytes=intervals:sides lookup""",
    "LookupComparison": "target_offset reads:sides headers_mean=mean_headers:sides",
    "LookupReads": "slot=search.slot probes=search.probes:count from_position=position headers",
    "SettingValue": "value source",
    "IntervalBounds": "low=low_bytes high=high_bytes per_append",
    "Replica": """directory topic_id log_start=log_start_offset log_end=log_end_offset
        high_watermark cleaner_checkpoint leader_epochs=epochs.entries
        epochs_from_batches=epochs.is_from_batches segments torn_bytes""",
    "StartComparison": "started=is_started swapped=is_swapped steps changes",
    "PredictedStep": "*step outcome size_after=size_bytes",
    "FileChange": """partition file change=kind size_before=sizes.0 size_after=sizes.1 same_bytes
        foretold=is_predicted""",
    # lookups
    "IndexSearch": """file entries=slot_search.entries warm_from_slot=slot_search.warm_from_slot
        section=slot_search.section probes=slot_search.probes slot=slot_search.slot entry=entry
        pages=slot_search.pages""",
    "Probe": "slot key lo hi compare page",
    "WrongEntry": "file=search.file slot=search.slot_search.slot base_offset why=description",
    "ConsumerRecord": "offset timestamp_ms segment=segment_base_offset batch_position",
    "ForwardScan": "from_position reads batch",
    "LogRead": "position size",
    "Batch": "base_offset last_offset position",
    "RemoteCost": """reads requests bytes=size_bytes request_ms:ms measured_requests
        modelled_ms:ms measured_ms:ms""",
    "RemoteRead": "segment file requests bytes=size_bytes measured_ms:ms",
    # transactions
    "AbortedRange": "producer_id first_offset",
    # simulated and rebuilt segments
    "SimulatedSegment": """base_offset log_bytes offset_entries=offset_index:count
        time_entries=time_index:count roll_reason=roll_reason.cause""",
    "RebuiltSegment": """base_offset log_bytes=recovered_segment.valid_bytes
        offset_entries=recovered_segment.offset_entries:count
        time_entries=recovered_segment.time_entries:count""",
    "UnreadTail": "file=name from_position bytes=size_bytes",
    # tuning
    "Range": "low typical high",
    "WhatIf": "segments rolls log_bytes offset_entries time_entries index_bytes maps files",
    "TuningCase": """log_bytes=measurement.parts.log_bytes batches=measurement.parts.batches
        segments=measurement.segments partitions=today.partitions
        batch_bytes_mean=measurement.batch_bytes
        batch_bytes_least=measurement.parts.least_batch_bytes
        single_record_share=measurement.single_share bytes_per_s=measurement.bytes_per_s""",
    "LookupCosts": """header_us first_us storage=storage.name read_us=storage.read_us
        modelled=is_modelled calibrated""",
    "IntervalCost": """mean_us p99_us cold_mean_us cold_reads_mean cold_index_reads=index_reads
        by_target index_share price_us""",
    "IndexSizeOutcome": """segment_index_bytes=index_bytes offset_slots=config.offset_slots
        usable_time_slots=config.usable_time_slots segments rolls
        segment_log_bytes=log_bytes rolls_per_gib rolls_per_day offset_entries time_entries
        headers_mean=headers cold_index_reads""",
    "Recommendation": "verdict value reasons considered=considered_bytes meets_budgets gain",
    "Reason": "code *plain_values",
    "AdviceReason": "code *values",
    "SegmentLimits": "binding least_index_bytes safe_index_bytes",
    "SegmentSizeAdvice": "verdict value code=reason today considered changing",
    "LogSample": "sampled_bytes log_bytes windows=windows:count segments is_whole",
    # tiered storage
    "TieredState": "store directory=local partitions problems",
    "TieredPartition": """partition=directory topic_id local_log_start deleted_segments deletion
        counts segments problems metadata_events=events unannounced_segments""",
    "TieredSegment": """start_offset end_offset bytes=log_bytes leader_epochs place state
        segment_id layout=stored.layout stored_bytes=stored.stored_bytes
        encrypted=stored.has_encryption max_timestamp_ms metadata_events=event_count""",
    "PartitionUpload": """partition log_directory now_ms leader=is_leader last_stable_offset
        highest_remote_offset counts kept_bytes kept_segments segments""",
    "SegmentUpload": """start_offset end_offset bytes=size_bytes state blocked_by offset until_ms
        why""",
    "RemoteRetention": """partition topic_id now_ms
        enabled.value=limits.deletes enabled.source=limits.policy_source:text
        retention_ms.value=limits.retention_ms retention_ms.source=limits.ms_source:text
        retention_bytes.value=limits.retention_bytes retention_bytes.source=limits.bytes_source:text
        local_bytes remote_bytes over_bytes next_log_start doubled_segments segments""",
    "RemoteSegmentRetention": """start_offset=segment.start_offset end_offset=segment.end_offset
        segment_id=segment.segment_id bytes=segment.log_bytes state until_ms gone_ms blocked_by
        more_bytes""",
    "RollSize": """segment_bytes rolled_bytes fill_ms current=is_current
        time_bound=is_time_bound segments_per_day objects_per_day put_requests_per_day
        metadata_events_per_day objects_kept""",
}
FORMS: dict[str, Callable[[Any], Any]] = {
    "count": len,
    "display": address.display,
    "ms": lambda duration_ms: None if duration_ms is None else round(duration_ms, 3),
    "sides": lambda values: values and dict(zip("ab", values, strict=True)),
    "text": lambda text: str(text or ""),
}

PLAIN_TYPES = {str, int, bool, type(None)}  # most values have one of these types


def to_json_object(value: Any) -> Any:
    """Returns a result as plain values for `json.dumps`.

    Messages become English text. NaN and infinity become None.
    """
    if type(value) in PLAIN_TYPES:
        return value
    if isinstance(value, np.void):
        value = dict(zip(field_names(value.dtype), value.item(), strict=True))
    elif isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Message | KafkavizError | Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(to_json_object(name)): to_json_object(part) for name, part in value.items()}
    if type(value).__name__ in FIELDS or is_dataclass(value):
        return _to_object(value)
    return [to_json_object(part) for part in value]


def _to_object(value: Any) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for outer, key, path, form in _parse_fields(type(value)):
        part = value
        for name in path:
            if part is not None:
                part = part[int(name)] if name.isdecimal() else getattr(part, name)
        plain = to_json_object(FORMS[form](part) if form else part)
        if key == "*":
            result |= plain
        elif key.endswith("?"):
            result |= {key[:-1]: plain} if plain else {}
        elif outer:
            result.setdefault(outer, {})[key] = plain
        else:
            result[key] = plain
    return result


@cache
def _parse_fields(value_type: type[Any]) -> tuple[tuple[str, str, list[str], str], ...]:
    """Splits the FIELDS of a class into tuples (outer key, key, attribute path, name in FORMS).

    For example, "deletes.source=limits.policy_source:text" becomes ("deletes", "source",
    ["limits", "policy_source"], "text").
    """
    row = FIELDS.get(value_type.__name__)
    words: Iterable[str]
    words = row.split() if row else (field.name for field in fields(value_type))
    parsed = []
    for word in words:
        target, _, form = word.partition(":")
        target, _, path = target.partition("=")
        if target.startswith("*"):
            path = target[1:]
            target = "*"
        outer, _, key = target.rpartition(".")
        parsed.append((outer, key, (path or key).rstrip("?").split("."), form))
    return tuple(parsed)
