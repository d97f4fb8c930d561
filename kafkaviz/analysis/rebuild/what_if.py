"""The result of other settings for a log: its batches are appended again, without their payload."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kafkaviz.analysis.cost.cost_model import FILES_A_SEGMENT, MAPS_A_SEGMENT
from kafkaviz.config_def import Value
from kafkaviz.errors import KafkavizError
from kafkaviz.format import offset_index, time_index
from kafkaviz.messages import message
from kafkaviz.simulate.append_batches import AppendChunk
from kafkaviz.simulate.config import LogConfig, ReleaseBehaviour
from kafkaviz.simulate.writer.refusals import AppendFailed
from kafkaviz.simulate.writer.writer import CannotLoad, UnifiedLog


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """The result of appending all batches of a log again and closing it.

    Attributes:
        rolls: number of rolls by cause; the last segment was not rolled.
    """

    config: LogConfig
    segments: int
    rolls: Mapping[str, int]
    log_bytes: int
    offset_entries: int
    time_entries: int

    @property
    def index_bytes(self) -> int:
        return (
            self.offset_entries * offset_index.ENTRY.itemsize
            + self.time_entries * time_index.ENTRY.itemsize
        )

    @property
    def maps(self) -> int:
        """Number of memory maps if every segment's indexes are loaded."""
        return MAPS_A_SEGMENT * self.segments

    @property
    def files(self) -> int:
        return FILES_A_SEGMENT * self.segments


def replay(
    chunks: Iterable[AppendChunk],
    config: LogConfig,
    behaviour: ReleaseBehaviour,
    start_offset: int = 0,
    *,
    is_leader: bool = True,
) -> WhatIf:
    """Appends the rows of every chunk; each row has its own time of append.

    Raises:
        KafkavizError: an append fails, with Kafka's exception.
    """
    log = None
    now_ms = 0
    try:
        for chunk in chunks:
            if len(chunk.rows):
                now_ms = int(chunk.rows["now_ms"][0]) if log is None else now_ms
                log = log or UnifiedLog(
                    config, behaviour, now_ms=now_ms, start_offset=start_offset, is_leader=is_leader
                )
                log.append(chunk.rows.copy())
                now_ms = int(chunk.rows["now_ms"][-1])
    except (AppendFailed, CannotLoad) as failure:
        raise KafkavizError(message("errors.kafka_ends_in", exception=str(failure))) from None
    log = log or UnifiedLog(config, behaviour, now_ms=0, start_offset=start_offset)
    log.close(now_ms)
    rolls = Counter(
        str(closed_segment.roll_reason.cause)
        for closed_segment in log.segments
        if closed_segment.roll_reason
    )
    return WhatIf(
        config=config,
        segments=len(log.segments),
        rolls=dict(rolls),
        log_bytes=sum(closed_segment.log_bytes for closed_segment in log.segments),
        offset_entries=sum(closed_segment.index.count for closed_segment in log.segments),
        time_entries=sum(closed_segment.timeindex.count for closed_segment in log.segments),
    )


def compare(
    logs: Sequence[tuple[Callable[[], Iterable[AppendChunk]], int]],
    config: LogConfig,
    changed_settings: Mapping[str, Value],
    behaviour: ReleaseBehaviour,
    *,
    is_leader: bool = True,
) -> tuple[WhatIf, WhatIf]:
    """Returns the outcome of the present and of the changed settings, each summed over the logs.

    Args:
        logs: the chunks and the first offset of each log.
        changed_settings: fields of LogConfig.
    """
    changed_config = replace(config, **changed_settings)
    outcome_now, outcome_changed = (
        _sum_outcomes(
            [
                replay(chunks(), log_config, behaviour, start, is_leader=is_leader)
                for chunks, start in logs
            ],
            log_config,
        )
        for log_config in (config, changed_config)
    )
    return outcome_now, outcome_changed


def _sum_outcomes(outcomes: Sequence[WhatIf], config: LogConfig) -> WhatIf:
    rolls: Counter[str] = Counter()
    for outcome in outcomes:
        rolls.update(outcome.rolls)
    return WhatIf(
        config=config,
        segments=sum(outcome.segments for outcome in outcomes),
        rolls=dict(rolls),
        log_bytes=sum(outcome.log_bytes for outcome in outcomes),
        offset_entries=sum(outcome.offset_entries for outcome in outcomes),
        time_entries=sum(outcome.time_entries for outcome in outcomes),
    )
