"""What a start will do to a directory, in words: the page and the command say it in the same ones.

Outlook(logs=30, cut_logs=3, cut_bytes=1021, rebuilt_segments=24, ...)
doings      ("cut 1 021 bytes off three logs", "rebuild indexes of 24 segments")
sentence    cut 1 021 bytes off three logs, and rebuild indexes of 24 segments
"""

from collections.abc import Iterator
from functools import reduce

from kafkaviz import units, versions
from kafkaviz.analyse.outlook import Outlook
from kafkaviz.figures.listed import listed, many, named
from kafkaviz.versions import Release
from kafkaviz.words import counted, say


def doings(told: Outlook) -> tuple[str, ...]:
    """What it changes, each in some words that follow "will"; empty where it changes nothing but
    what every start may.
    """
    cut = {"bytes": units.group(told.cut_bytes), "logs": many("outlook.logs", told.cut_logs)}
    found = (
        (told.cut_logs, lambda: counted("outlook.cut", told.cut_bytes, **cut)),
        (told.deleted_files, lambda: many("outlook.delete_files", told.deleted_files)),
        (
            told.deleted_directories,
            lambda: many("outlook.delete_directories", told.deleted_directories),
        ),
        (told.rebuilt_segments, lambda: many("outlook.rebuild", told.rebuilt_segments)),
    )
    return tuple(words() for count, words in found if count)


def sentence(told: Outlook) -> str:
    """All of that in one; where it is but what every start does, that is said, and of how much."""
    if told.cut_logs or told.deleted_files or told.rebuilt_segments:
        return reduce(
            lambda before, after: say("outlook.then", before=before, after=after), doings(told)
        )
    usual = listed(_usual(told))
    return say("outlook.usual", what=usual) if usual else say("outlook.nothing")


def not_served(told: Outlook) -> str:
    """How many directories the broker will not serve, in words that follow "will"; "" where it
    serves all.
    """
    return many("outlook.not_serve", told.stray_directories) if told.stray_directories else ""


def read_again(told: Outlook) -> str:
    """How much is read anew after a stop that was not clean, and what becomes of its indexes; ""
    where nothing is.
    """
    key = "health.read_again_same" if told.as_before else "health.read_again"
    return counted(key, told.read_logs, n=units.group(told.read_logs)) if told.read_logs else ""


def by_source(release: Release) -> str:
    """That no start of this release was recorded; "" for those of which some were."""
    if release in versions.START_RECORDED:
        return ""
    text, *recorded = (".".join(map(str, one)) for one in (release, *versions.START_RECORDED))
    return say("outlook.by_source", release=text, recorded=named(recorded))


def _usual(told: Outlook) -> Iterator[str]:
    """What every start removes or writes, of a healthy directory too."""
    for key, count in (
        ("directories", told.deleted_directories),
        ("waiting", told.waiting_files),
        ("snapshots", told.snapshots),
        ("epochs", told.epochs),
    ):
        if count:
            yield many(f"outlook.{key}", count)
