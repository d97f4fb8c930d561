"""What a log would have become with other settings: its batches appended once more, without their
payload, by the rules of the writer.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kafkaviz.analyse.cost_model import FILES_A_SEGMENT, MAPS_A_SEGMENT
from kafkaviz.config_def import Value
from kafkaviz.errors import KafkavizError
from kafkaviz.format import offset_index, time_index
from kafkaviz.simulate.config import LogConfig, Profile
from kafkaviz.simulate.incoming import Chunk
from kafkaviz.simulate.writing.refusals import AppendFailed
from kafkaviz.simulate.writing.writer import CannotLoad, Log


@dataclass(frozen=True)
class WhatIf:
    """A log that was written once more and closed. rolls: by cause, in words of the writer; the
    last segment was rolled by none.
    """

    config: LogConfig
    segments: int
    rolls: Mapping[str, int]
    log_bytes: int
    offset_entries: int
    time_entries: int

    @property
    def index_bytes(self) -> int:
        """Of both indexes together."""
        return (
            self.offset_entries * offset_index.ENTRY.itemsize
            + self.time_entries * time_index.ENTRY.itemsize
        )

    @property
    def maps(self) -> int:
        """Where every segment's indexes are loaded."""
        return MAPS_A_SEGMENT * self.segments

    @property
    def files(self) -> int:
        """A .log, an .index and a .timeindex each."""
        return FILES_A_SEGMENT * self.segments


def replay(
    chunks: Iterable[Chunk],
    config: LogConfig,
    of: Profile,
    start_offset: int = 0,
    is_leader: bool = True,
) -> WhatIf:
    """Appends every chunk's rows; the clock is theirs.

    KafkavizError with Kafka's exception where it takes one with an exception.
    """
    log, now_ms = None, 0
    try:
        for chunk in chunks:
            if len(chunk.rows):
                now_ms = int(chunk.rows["now_ms"][0]) if log is None else now_ms
                log = log or Log(
                    config, of, now_ms=now_ms, start_offset=start_offset, is_leader=is_leader
                )
                log.append(chunk.rows.copy())
                now_ms = int(chunk.rows["now_ms"][-1])
    except (AppendFailed, CannotLoad) as failed:
        raise KafkavizError(f"with these settings Kafka ends in {failed}") from None
    log = log or Log(config, of, now_ms=0, start_offset=start_offset)
    log.close(now_ms)
    rolls = Counter(str(one.rolled.cause) for one in log.segments if one.rolled)
    return WhatIf(
        config,
        len(log.segments),
        dict(rolls),
        sum(one.log_bytes for one in log.segments),
        sum(one.index.count for one in log.segments),
        sum(one.timeindex.count for one in log.segments),
    )


def compare(
    logs: Sequence[tuple[Callable[[], Iterable[Chunk]], int]],
    config: LogConfig,
    changed: Mapping[str, Value],
    of: Profile,
    is_leader: bool = True,
) -> tuple[WhatIf, WhatIf]:
    """(as the logs are set, with the fields of LogConfig in `changed`), each the sum over the logs.
    logs: (their chunks, first offset).
    """
    other = replace(config, **changed)
    as_set, as_changed = (
        _total([replay(chunks(), one, of, start, is_leader) for chunks, start in logs], one)
        for one in (config, other)
    )
    return as_set, as_changed


def _total(found: Sequence[WhatIf], config: LogConfig) -> WhatIf:
    rolls: Counter[str] = Counter()
    for one in found:
        rolls.update(one.rolls)
    sums = (
        sum(getattr(one, name) for one in found)
        for name in ("log_bytes", "offset_entries", "time_entries")
    )
    return WhatIf(config, sum(one.segments for one in found), dict(rolls), *sums)
