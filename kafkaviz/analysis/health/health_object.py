"""The health of a directory as the object that `kafkaviz check --json` and the Health page give."""

from kafkaviz.analysis.health.broker_health import Health
from kafkaviz.analysis.json_objects import to_json
from kafkaviz.analysis.overview import topic_sizes
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
        "findings": to_json(health.findings),
        "restart": restart
        and {
            "clean": restart.clean,
            "starts": restart.starts,
            "partial": health.is_partial,
            "metadata_log_missing": health.misses_metadata_log,
            "offline_directories": list(restart.offline_directories),
            "steps": to_json(restart.steps),
        },
        "counts": health.counts,
        "retention": to_json(health.retention),
        "topics": to_json(topic_sizes(health.broker)),
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
