"""The checkups of this server: each directory is checked once in a thread of its own, while the
page shows how far it is.

The page must not wait for it: a checkup of 20 MB takes a second, one of 1 GiB three. A fresh
catalog tells the same at once, and what is larger is left to the pipeline.
"""

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import streamlit as st

from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.ui import cache, ingests
from kafkaviz.ui.cache import KEPT, Listed

if TYPE_CHECKING:
    from kafkaviz.analyse.health import Health
    from kafkaviz.log.partition import Partition

LARGE_BYTES = 2 << 30  # of .log; what is larger is read by the pipeline, on all cores


class Stopped(Exception):
    """Nobody waits for this checkup any more."""


@dataclass
class Checkup:
    """A checkup that runs, or has ended: then one of health and error is there. error: Stopped
    where it was cancelled, KafkavizError where the directory cannot be checked, anything else is a
    fault of ours.
    """

    total_bytes: int  # of .log
    done_bytes: int = 0
    partition: str = ""  # that is being read
    health: "Health | None" = None
    error: Exception | None = None
    is_cancelled: bool = False
    over: threading.Event = field(default_factory=threading.Event)

    def cancel(self) -> None:
        """Ends it before the next topic-partition."""
        self.is_cancelled = True


class Checkups:
    """The checkups by listing and release: shared by all tabs, so that no directory is read twice
    at once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], Checkup] = {}

    def of(self, here: Listed, release: str) -> Checkup:
        """The directory's checkup by this release ("" for what its traces say); started at the
        first call.
        """
        with self._lock:
            key = here.key, release
            if key not in self._known:
                self._known[key] = _started(here, release)
                for old in list(self._known)[:-KEPT]:
                    self._known.pop(old).cancel()
            return self._known[key]

    def errors(self, here: Listed) -> int:
        """How many errors the checkup by the directory's own traces has found, else what a fresh
        catalog tells; 0 where none has ended.
        """
        with self._lock:
            known = self._known.get((here.key, ""))
        return known.health.counts["error"] if known and known.health else cache.told_errors(here)

    def again(self, here: Listed, release: str) -> None:
        """Forgets the directory's checkups, and starts one that reads its files, unless they are
        too many for that.
        """
        with self._lock:
            for key in [one for one in self._known if one[0] == here.key]:
                self._known.pop(key).cancel()
            if not is_large(here):
                self._known[here.key, release] = _reading(here, release)


def log_bytes(here: Listed) -> int:
    """How much a checkup reads."""
    logs = (segment.log for partition in here.broker.partitions for segment in partition.segments)
    return sum(log.size_bytes for log in logs if log)


def is_large(here: Listed) -> bool:
    """Whether the pipeline has to read it, which judges by the directory's own traces alone."""
    return log_bytes(here) > LARGE_BYTES


def is_for_spark(here: Listed) -> bool:
    """Whether it is so large that its catalog must tell the findings, and that is not there yet."""
    return is_large(here) and ingests.is_awaited(here)


def again(here: Listed, release: str) -> None:
    """Lists the directory anew and reads it once more; of a large one the pipeline reads what has
    changed. For a button's on_click.
    """
    cache.read_again()
    with suppress(CannotOpen):  # the page says what is wrong with it
        now = cache.listed(here.broker.source)
        checkups().again(now, release)
        if (
            is_large(now)
            and not cache.is_fresh(now)
            and ingests.shared().state(now) not in ingests.WORKING
        ):
            ingests.shared().again(now)


def _started(here: Listed, release: str) -> Checkup:
    """By the directory's traces a fresh catalog tells all; else a thread reads it."""
    told = None if release else cache.told_health(here)
    if not told:
        return _reading(here, release)
    checkup = Checkup(log_bytes(here), health=told)
    checkup.over.set()
    return checkup


def _reading(here: Listed, release: str) -> Checkup:
    checkup = Checkup(log_bytes(here))
    threading.Thread(
        target=_run, args=(checkup, here, release), name="kafkaviz-checkup", daemon=True
    ).start()
    return checkup


def _run(checkup: Checkup, here: Listed, release: str) -> None:
    from kafkaviz.analyse.health import check

    read_bytes = 0

    def watch(partition: "Partition") -> None:
        nonlocal read_bytes
        if checkup.is_cancelled:
            raise Stopped
        checkup.done_bytes, checkup.partition = read_bytes, partition.directory
        read_bytes += sum(segment.log.size_bytes for segment in partition.segments if segment.log)

    try:
        checkup.health = check(here.broker, release or None, watch=watch)
    except (Stopped, KafkavizError) as fault:
        checkup.error = fault.with_traceback(None)
    except Exception as fault:  # the page must say so, and the server's log have all of it
        checkup.error = fault
        raise
    finally:
        checkup.over.set()


@st.cache_resource(show_spinner=False)
def checkups() -> Checkups:
    """This server's checkups."""
    return Checkups()
