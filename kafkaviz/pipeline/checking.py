"""The checks of a run: what must be read for them, what an earlier run found and still holds, and
what all of it makes of a broker.

A segment is checked by the task that reads its rows. Its findings are kept in the catalog (table
checked) beside a digest of the facts they depend on, so that the next run takes them from there: of
a broker that was not stopped cleanly other things are true of the same bytes. What a start does to
a partition directory is kept in the same way.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from kafkaviz.analyse import health, restart
from kafkaviz.analyse.checks import segment
from kafkaviz.analyse.checks.facts import Facts
from kafkaviz.analyse.checks.segment import Checked
from kafkaviz.analyse.health import Health
from kafkaviz.analyse.restart import Log, Restart, Step
from kafkaviz.config_def import Release
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.log.partition import Partition
from kafkaviz.pipeline import kept
from kafkaviz.pipeline.catalog import Catalog
from kafkaviz.pipeline.catalog_info import version
from kafkaviz.pipeline.inventory import Found, Inventory
from kafkaviz.pipeline.schema import CHECKED
from kafkaviz.units import encodable

# broker, directory, base offset (None: of the directory), suffix
Key = tuple[str, str, int | None, str]


@dataclass(frozen=True)
class Load:
    """A log to be loaded as the next start would load it."""

    broker: str
    log: Log
    clean: bool
    release: Release

    @property
    def key(self) -> Key:
        """What tells it from everything else that is checked."""
        return self.broker, self.log.partition.directory, None, ""

    @cached_property
    def digest(self) -> str:
        """A text that is another one where the load would be."""
        log = self.log
        files = [
            (one.name, one.size_bytes, one.mtime_ns) for one in restart.log_files(log.partition)
        ]
        known = (
            log.config,
            log.recovery_point,
            log.log_start_offset,
            log.stray,
            self.clean,
            self.release,
        )
        return kept.digest_of(str(log.partition.path), *known, *files)


@dataclass(frozen=True)
class Loaded:
    """What it would do, as kept.steps_to_json has it; None where a file of it may not be read."""

    key: Key
    text: str | None


def loaded(load: Load) -> Loaded:
    """Loads a log, which changes nothing in it."""
    try:
        return Loaded(
            load.key, kept.steps_to_json(restart.steps(load.log, load.clean, load.release))
        )
    except KafkavizError:
        return Loaded(load.key, None)


class Checking:
    """The checks of all brokers of a run: first it says what must be read, then it takes what was
    read.
    """

    def __init__(self, found: Inventory, old: Catalog | None) -> None:
        """old: the catalog whose findings may still hold; None where there is none."""
        self._found, self._plans = (
            found,
            {name: health.plan(broker) for name, broker in found.brokers},
        )
        self._facts: dict[tuple[str, str], Facts] = {}
        self._kept = _rows(old) if old is not None and old.info.kafkaviz == version() else {}
        self._texts: dict[Key, tuple[str, str]] = {}  # digest and JSON, of all that was found
        self._checked: dict[Key, Checked] = {}

    def facts(self, one: Found) -> Facts | None:
        """What the checks of a segment go by; None for one that is not read for them."""
        return self._facts_of(one.broker, one.partition) if _is_read(one) else None

    def lacks(self, one: Found) -> bool:
        """Whether a segment whose rows the catalog has right must be read for its findings: else
        those that were kept are taken.
        """
        if not _is_read(one):
            return False
        digest, text = self._kept.get(_storable(one.stored.key), ("", ""))
        if digest != self._digest(one):
            return True
        try:
            checked = kept.from_json(one.segment, text)
        except ValueError:
            return True
        if not kept.still_holds(checked, self._plans[one.broker].now_ms):
            return True
        self._texts[one.stored.key], self._checked[one.stored.key] = (digest, text), checked
        return False

    def loads(self) -> list[Load]:
        """The logs whose load is not known from an earlier run."""
        return [load for load in self._all_loads if not self._keep(load)]

    def add(self, texts: Mapping[int, str]) -> None:
        """What tasks found in segments, by their numbers."""
        for number, text in texts.items():
            one = self._found.segments[number]
            self._texts[one.stored.key] = self._digest(one), text
            self._checked[one.stored.key] = kept.from_json(one.segment, text)

    def add_loads(self, told: Iterable[Loaded]) -> None:
        """What tasks say of the loads that were asked for."""
        digests = {load.key: load.digest for load in self._all_loads}
        self._texts |= {
            one.key: (digests[one.key], one.text) for one in told if one.text is not None
        }

    def healths(self) -> Iterator[tuple[str, Health]]:
        """Each broker's health, from everything that was found about it."""
        segments = defaultdict(list)
        for one in self._found.segments:
            segments[one.broker, one.partition.directory].append(one)
        for name, plan in self._plans.items():
            findings, retention = [], []
            for partition in plan.partitions:
                checked = [self._checked_of(one) for one in segments[name, partition.directory]]
                findings += health.of_segments(partition, self._facts_of(name, partition), checked)
                retention += health.retention_of(plan, partition, checked)
            yield name, health.composed(plan, findings, self._restart(name), retention)

    def table(self) -> pa.Table:
        """What the next run need not find again."""
        partitions = {
            (broker, partition.directory): partition for broker, partition in self._found.partitions
        }
        rows = [_row(key, partitions[key[:2]], *self._texts[key]) for key in self._texts]
        return pa.Table.from_pylist(rows, CHECKED)

    @cached_property
    def _all_loads(self) -> list[Load]:
        return [
            Load(name, log, plan.clean, plan.version.version)
            for name, plan in self._plans.items()
            for log in plan.logs()
        ]

    def _keep(self, load: Load) -> bool:
        """Takes what was kept of a load, if that still holds."""
        digest, text = self._kept.get(_storable(load.key), ("", ""))
        if digest != load.digest or _steps(text) is None:
            return False
        self._texts[load.key] = digest, text
        return True

    def _restart(self, broker: str) -> Restart | None:
        """The start; None where one of its logs could not be loaded."""
        loads = [load for load in self._all_loads if load.broker == broker]
        if any(load.key not in self._texts for load in loads):
            return None
        return self._plans[broker].restart(
            [
                (load.log.partition.directory, kept.steps_from_json(self._texts[load.key][1]))
                for load in loads
            ]
        )

    def _checked_of(self, one: Found) -> Checked:
        """What was found in a segment; in leftovers and lone indexes it is found by their names
        alone.
        """
        if _is_read(one):
            return self._checked.pop(one.stored.key)
        return segment.check(one.segment, self._facts_of(one.broker, one.partition))

    def _facts_of(self, broker: str, partition: Partition) -> Facts:
        key = broker, partition.directory
        if key not in self._facts:
            self._facts[key] = self._plans[broker].facts(partition)
        return self._facts[key]

    def _digest(self, one: Found) -> str:
        return kept.digest(one.segment, self._facts_of(one.broker, one.partition))


def _is_read(one: Found) -> bool:
    """Whether a segment is opened to check it."""
    return one.segment.in_use and one.segment.log is not None


def _steps(text: str) -> Sequence[Step] | None:
    try:
        return kept.steps_from_json(text)
    except ValueError:
        return None


def _rows(old: Catalog) -> Mapping[Key, tuple[str, str]]:
    """What an earlier run kept: digest and JSON; nothing where it kept nothing, or that is lost."""
    try:
        rows = old.table(
            "checked", columns=["broker", "directory", "base_offset", "suffix", "digest", "json"]
        ).to_pylist()
    except CannotOpen:
        return {}
    return {
        (row["broker"], row["directory"], row["base_offset"], row["suffix"]): (
            row["digest"],
            row["json"],
        )
        for row in rows
    }


def _storable(key: Key) -> Key:
    """The key as table checked has it.

    Bytes of a directory's name that are no UTF-8 are written out: U+FFFD would make two keys one.
    """
    broker, directory, base_offset, suffix = key
    return broker, directory.encode("utf-8", "backslashreplace").decode(), base_offset, suffix


def _row(key: Key, partition: Partition, digest: str, text: str) -> dict:
    broker, directory, base_offset, suffix = _storable(key)
    owner = {
        "broker": broker,
        "topic": encodable(partition.topic),
        "partition": partition.partition,
        "directory": directory,
    }
    return owner | {"base_offset": base_offset, "suffix": suffix, "digest": digest, "json": text}
