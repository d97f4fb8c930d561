"""The next broker start-up in words.

RestartForecast(logs=30, cut_logs=3, cut_bytes=1021, rebuilt_segments=24, ...)
change_texts    ("cut 1 021 bytes off three logs", "rebuild the indexes of 24 segments")
describe        cut 1 021 bytes off three logs, and rebuild the indexes of 24 segments
"""

from collections.abc import Mapping
from functools import reduce

from kafkaviz import units, versions
from kafkaviz.analysis.restart.restart_forecast import RestartForecast
from kafkaviz.messages import say, say_count
from kafkaviz.render.sentences import count_phrase, join_and
from kafkaviz.versions import Release


def change_texts(forecast: RestartForecast) -> tuple[str, ...]:
    """Returns the important changes as phrases to put after "will". Leaves out routine changes."""
    cut_texts = []
    if forecast.cut_logs:
        size = units.format_count(forecast.cut_bytes)
        logs = count_phrase("common.n_logs", forecast.cut_logs)
        cut_texts = [say_count("restart_forecast.cut", forecast.cut_bytes, bytes=size, logs=logs)]
    return (
        *_count_phrases({"create_replicas": forecast.created_replicas}),
        *cut_texts,
        *_count_phrases(
            {
                "delete_files": forecast.deleted_files,
                "delete_directories": forecast.deleted_directories,
                "rebuild": forecast.rebuilt_segments,
            }
        ),
    )


def _count_phrases(counts: Mapping[str, int]) -> list[str]:
    return [count_phrase(f"restart_forecast.{key}", n) for key, n in counts.items() if n]


def describe(forecast: RestartForecast) -> str:
    """Returns the important changes as text. If there are none, counts the routine changes."""
    is_unusual = (
        forecast.created_replicas
        or forecast.cut_logs
        or forecast.deleted_files
        or forecast.rebuilt_segments
    )
    if is_unusual:
        return reduce(
            lambda first, then: say("restart_forecast.then", before=first, after=then),
            change_texts(forecast),
        )
    usual_changes = join_and(
        _count_phrases(
            {
                "delete_directories": forecast.deleted_directories,
                "waiting": forecast.waiting_files,
                "snapshots": forecast.snapshots,
                "epochs": forecast.epochs,
            }
        )
    )
    if usual_changes:
        return say("restart_forecast.usual", steps=usual_changes)
    return say("restart_forecast.nothing")


def not_served_text(forecast: RestartForecast) -> str:
    """Returns how many directories are not served, as a phrase to put after "will"; "" for none."""
    if forecast.stray_directories:
        return count_phrase("restart_forecast.not_serve", forecast.stray_directories)
    return ""


def read_again_text(forecast: RestartForecast) -> str:
    """Says how many logs start-up rereads, and whether their indexes change. "" for no logs."""
    key = "health.read_again_same" if forecast.is_unchanged else "health.read_again"
    return say_count(key, forecast.read_logs) if forecast.read_logs else ""


def evidence_text(release: Release) -> str:
    """Says that a release's start-up is known only from Kafka's source. "" if it was recorded."""
    if release in versions.RECORDED_STARTS:
        return ""
    text, *recorded_texts = (
        ".".join(map(str, version)) for version in (release, *versions.RECORDED_STARTS)
    )
    return say("restart_forecast.by_source", release=text, recorded=join_and(recorded_texts))
