"""What the controls of the Tuning page offer, by the words that stand in the address; and what a
reader calls them.
"""

from kafkaviz import units, versions
from kafkaviz.app.state import page_state
from kafkaviz.config_def import DAY_MS, HOUR_MS, MINUTE_MS
from kafkaviz.words import say

# as values of state.TUNING_SUBJECT
BROKER, WORKLOAD, ALL_OF = page_state.WHOLE_BROKER, "Workload", "all of "
ANY, AS_FOUND, CALIBRATED, UNCOUNTED = "any", "as the directory tells", "calibrated", "not counted"
WARM = " warm"
P99_US = {
    "10 µs warm": 10.0,
    "25 µs warm": 25.0,
    "50 µs warm": 50.0,
    "100 µs warm": 100.0,
    "250 µs warm": 250.0,
    "1 ms warm": 1000.0,
    ANY: None,
}
COLD_P99_US = {
    ANY: None,
    "0.5 ms": 500.0,
    "1 ms": 1000.0,
    "5 ms": 5000.0,
    "20 ms": 20_000.0,
    "100 ms": 100_000.0,
}
FETCHES = {UNCOUNTED: None, "100": 100.0, "1000": 1000.0, "10000": 10_000.0, "100000": 100_000.0}
CORES = {ANY: None, "0.05": 0.05, "0.1": 0.1, "0.5": 0.5, "1": 1.0, "4": 4.0}
SHARE = {ANY: None, "0.05 %": 0.0005, "0.1 %": 0.001, "0.5 %": 0.005, "1 %": 0.01, "5 %": 0.05}
RELEASES = (AS_FOUND, versions.NEWEST, "4.3.1", "4.1.0", "4.0.2", "3.9.0", "2.8.2")
DEFAULT_P99 = "50 µs warm"
TIERED = {"as the topic says": False, "tiered": True}
# names of options that are words; times, shares and numbers are the same in every language
OPTION_KEYS = {
    ANY: "any",
    AS_FOUND: "as_found",
    CALIBRATED: "calibrated",
    UNCOUNTED: "uncounted",
    "as the topic says": "as_topic",
    "tiered": "tiered",
    BROKER: "broker",
    WORKLOAD: "workload",
}
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SETTINGS = {  # to replay with: the values that a slider offers
    "segment.bytes": (MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB, GIB, 2**31 - 1),
    "segment.ms": (MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS, 7 * DAY_MS),
    "segment.index.bytes": (
        4 * KIB,
        16 * KIB,
        64 * KIB,
        100 * KIB,
        256 * KIB,
        MIB,
        2 * MIB,
        10 * MIB,
    ),
}


def option_text(option: str) -> str:
    """The name of an option in the reader's language."""
    if option in OPTION_KEYS:
        return say(f"tuning.option_{OPTION_KEYS[option]}")
    if option.startswith(ALL_OF):
        return say("tuning.option_all_of", topic=option.removeprefix(ALL_OF))
    if option.isdigit():
        return units.group(int(option))
    return (
        say("tuning.option_warm", us=option.removesuffix(WARM)) if option.endswith(WARM) else option
    )
