"""What can be changed of a simulated log: its workload's speed and batches, and the settings of its
topic.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from kafkaviz import config_def
from kafkaviz.app import workloads
from kafkaviz.app.workloads import NONE, format_setting
from kafkaviz.config_def import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from kafkaviz.simulate.config import LogConfig, log_config
from kafkaviz.simulate.producers.distributions import Spread
from kafkaviz.simulate.producers.traffic import MOST_RECORDS
from kafkaviz.simulate.producers.workload import Workload
from kafkaviz.units import size
from kafkaviz.words import say

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
AS_IT_IS = "as it is"
SPEEDS = {
    AS_IT_IS: 1.0,
    "a tenth": 0.1,
    "a quarter": 0.25,
    "half": 0.5,
    "twice": 2.0,
    "4 times": 4.0,
    "10 times": 10.0,
    "100 times": 100.0,
}
SPEED_ORDER = [
    "a tenth",
    "a quarter",
    "half",
    AS_IT_IS,
    "twice",
    "4 times",
    "10 times",
    "100 times",
]
BATCHES = {
    "one record": 1,
    **{
        size(size_bytes): size_bytes
        for size_bytes in (256, 512, 1 * KIB, 2 * KIB, 8 * KIB, 16 * KIB, 64 * KIB, 256 * KIB)
    },
}
BATCH_ORDER = [AS_IT_IS, *BATCHES]
OPTION_KEYS = {  # names of options that are words; sizes and times are the same in every language
    AS_IT_IS: "as_it_is",
    NONE: "none",
    "one record": "one_record",
    "a tenth": "a_tenth",
    "a quarter": "a_quarter",
    "half": "half",
    "twice": "twice",
    "4 times": "4_times",
    "10 times": "10_times",
    "100 times": "100_times",
}
SETTINGS = {  # of a topic: the values a slider offers
    "segment.bytes":
    (4 * KIB, 64 * KIB, MIB, 4 * MIB, 8 * MIB, 16 * MIB, 32 * MIB, 64 * MIB, 256 * MIB, GIB),
    "segment.ms": (
        10 * SECOND_MS, 30 * SECOND_MS, MINUTE_MS, 2 * MINUTE_MS, 5 * MINUTE_MS, 10 * MINUTE_MS,
        HOUR_MS, 6 * HOUR_MS, DAY_MS, 7 * DAY_MS,
    ), "segment.index.bytes": (8, 12, 24, 300, 4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 128 *
    KIB, MIB, 10 * MIB), "index.interval.bytes": (0, 150, KIB, 2 * KIB, 4 * KIB, 8 * KIB, 16 * KIB,
    64 * KIB), "segment.jitter.ms": (0, 5 * SECOND_MS, 30 * SECOND_MS, MINUTE_MS, 10 * MINUTE_MS,
    HOUR_MS, DAY_MS),
}  # fmt: skip


def option_text(option: str) -> str:
    """The name of an option, or the title of a workload, as the reader's language has it."""
    return (
        say(f"rolls.option_{OPTION_KEYS[option]}")
        if option in OPTION_KEYS
        else workloads.display_title(option)
    )


def scale_workload(workload: Workload, speed: str, batch: str) -> Workload:
    """The workload so many times as fast, and in batches of another size."""
    return replace(
        workload,
        phases=tuple(
            _scale_phase(phase, SPEEDS[speed], BATCHES.get(batch)) for phase in workload.phases
        ),
    )


def _scale_phase(phase, speed: float, batch_bytes: int | None):
    if phase.silence_ms is not None:
        return phase
    phase = replace(phase, rate=phase.rate * speed)
    if batch_bytes is None:
        return phase
    if batch_bytes == 1:
        return replace(phase, records_per_batch=Spread())
    return replace(phase, batch_bytes=batch_bytes, records_per_batch=Spread(mean=MOST_RECORDS))


def setting(workload: Workload, name: str) -> int:
    """A setting's value where nothing else is chosen."""
    default = config_def.TOPIC_SETTINGS[name].default(workload.release)
    return cast(int, dict(workload.settings).get(name, default))


def choices(workload: Workload, name: str) -> dict[str, int]:
    """What a slider offers, by name: the usual values, and the workload's own."""
    values = sorted({*SETTINGS[name], setting(workload, name)})
    return {format_setting(name, value): value for value in values}


def config_of(workload: Workload, overrides: Mapping[str, int]) -> LogConfig:
    """What the log is run with: the workload's settings, and what was chosen instead."""
    return log_config(
        {**config_def.defaults(workload.release), **dict(workload.settings), **overrides}
    )
