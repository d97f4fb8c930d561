"""The changes that the next broker start-up makes, in words for page and command.

RestartForecast(logs=30, cut_logs=3, cut_bytes=1021, rebuilt_segments=24, ...)
change_texts    ("cut 1 021 bytes off three logs", "rebuild the indexes of 24 segments")
describe        cut 1 021 bytes off three logs, and rebuild the indexes of 24 segments
"""

from collections.abc import Iterator
from functools import reduce

from kafkaviz import units, versions
from kafkaviz.analysis.restart.restart_forecast import RestartForecast
from kafkaviz.figures.text.sentences import count_phrase, join_and
from kafkaviz.messages import say, say_count
from kafkaviz.versions import Release


def change_texts(forecast: RestartForecast) -> tuple[str, ...]:
    """Returns the important changes in words that follow "will". Leaves out routine changes."""
    counts_texts = (
        (
            forecast.created_replicas,
            lambda: count_phrase("restart_forecast.create_replicas", forecast.created_replicas),
        ),
        (
            forecast.cut_logs,
            lambda: say_count(
                "restart_forecast.cut",
                forecast.cut_bytes,
                bytes=units.format_count(forecast.cut_bytes),
                logs=count_phrase("common.n_logs", forecast.cut_logs),
            ),
        ),
        (
            forecast.deleted_files,
            lambda: count_phrase("restart_forecast.delete_files", forecast.deleted_files),
        ),
        (
            forecast.deleted_directories,
            lambda: count_phrase(
                "restart_forecast.delete_directories", forecast.deleted_directories
            ),
        ),
        (
            forecast.rebuilt_segments,
            lambda: count_phrase("restart_forecast.rebuild", forecast.rebuilt_segments),
        ),
    )
    return tuple(describe() for count, describe in counts_texts if count)


def describe(forecast: RestartForecast) -> str:
    """Returns the important changes as one text, or else the numbers of routine changes."""
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
    usual_changes = join_and(_usual_changes(forecast))
    if usual_changes:
        return say("restart_forecast.usual", steps=usual_changes)
    return say("restart_forecast.nothing")


def not_served_text(forecast: RestartForecast) -> str:
    """Says how many directories the broker will not serve, in words that follow "will", or ""."""
    if forecast.stray_directories:
        return count_phrase("restart_forecast.not_serve", forecast.stray_directories)
    return ""


def read_again_text(forecast: RestartForecast) -> str:
    """Says how many logs broker start-up rereads, and how their indexes change; "" for no log."""
    key = "health.read_again_same" if forecast.is_unchanged else "health.read_again"
    return say_count(key, forecast.read_logs) if forecast.read_logs else ""


def evidence_text(release: Release) -> str:
    """Says that the prediction follows Kafka's source; "" if recordings of start-up confirm it."""
    if release in versions.RECORDED_STARTS:
        return ""
    release_text, *recorded_texts = (
        ".".join(map(str, version)) for version in (release, *versions.RECORDED_STARTS)
    )
    return say(
        "restart_forecast.by_source", release=release_text, recorded=join_and(recorded_texts)
    )


def _usual_changes(forecast: RestartForecast) -> Iterator[str]:
    for key, count in (
        ("delete_directories", forecast.deleted_directories),
        ("waiting", forecast.waiting_files),
        ("snapshots", forecast.snapshots),
        ("epochs", forecast.epochs),
    ):
        if count:
            yield count_phrase(f"restart_forecast.{key}", count)
