"""The health of a directory as the object that `kafkaviz check --json` and the Health page give."""

from dataclasses import asdict

from kafkaviz.analysis.broker.topic_sizes import topic_sizes
from kafkaviz.analysis.findings import finding_codec
from kafkaviz.analysis.health.broker_health import Health
from kafkaviz.analysis.retention.policy import LogRetention, SegmentRetention
from kafkaviz.log.broker import Broker
from kafkaviz.messages import message


def as_object(health: Health) -> dict:
    """Returns the health as plain values for JSON.

    They are the directory, the assumed release, the findings, the predicted start, the counts, the
    retention of each segment, and the size of each topic.
    """
    restart = health.restart
    return {
        "directory": health.broker.sources_text,
        "kafka_version": {
            "assumed": health.assumed_release.version,
            "because": str(health.assumed_release.reason),
            **_unknown_release(health),
        },
        "log_directories": [
            _directory_object(single) for single in health.broker.single_directories
        ],
        "findings": [finding_codec.to_object(finding) for finding in health.findings],
        "restart": restart
        and {
            "clean": restart.clean,
            "starts": restart.starts,
            "partial": health.is_partial,
            "offline_directories": list(restart.offline_directories),
            "steps": [finding_codec.step_to_object(step) for step in restart.steps],
        },
        "counts": health.counts,
        "retention": [_retention_object(log_retention) for log_retention in health.retention],
        "topics": [asdict(size) for size in topic_sizes(health.broker)],
    }


def _unknown_release(health: Health) -> dict:
    """Returns the fields for a release that only a missing metadata log could show; else empty."""
    if health.assumed_release.is_known:
        return {}
    place = "missing" if health.misses_metadata_log else "elsewhere"
    source = message(f"setting_source.metadata_log_{place}")
    return {"value": None, "source": str(source)}


def _directory_object(single: Broker) -> dict:
    directory = single.main_directory
    return {
        "path": directory.text,
        "directory_id": directory.directory_id,
        "has_metadata_log": directory.has_metadata_log,
        "partitions": len(single.partitions),
        "log_bytes": sum(partition.log_bytes for partition in single.partitions),
    }


def _retention_object(log: LogRetention) -> dict:
    limits = log.limits
    return {
        "partition": log.partition,
        "log_directory": log.log_directory,
        "now_ms": log.now_ms,
        "deletes": {"value": limits.deletes, "source": str(limits.policy_source)},
        "retention_ms": {"value": limits.retention_ms, "source": str(limits.ms_source or "")},
        "retention_bytes": {
            "value": limits.retention_bytes,
            "source": str(limits.bytes_source or ""),
        },
        "tiered": limits.is_tiered,
        "log_bytes": log.log_bytes,
        "over_bytes": log.over_bytes,
        "segments": [_segment_retention(segment_retention) for segment_retention in log.segments],
    }


def _segment_retention(retention: SegmentRetention) -> dict:
    age = retention.age
    return {
        "segment": age.base_offset,
        "bytes": age.size_bytes,
        "timestamp_ms": age.timestamp_ms,
        "counted_by": age.counted_by,
        "offset": age.offset,
        "state": retention.state,
        "until_ms": retention.until_ms,
        "gone_ms": retention.gone_ms,
        "blocked_by": retention.blocked_by,
        "more_bytes": retention.more_bytes,
    }
