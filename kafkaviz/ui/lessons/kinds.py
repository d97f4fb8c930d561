"""The blocks a lesson may have, and what each says: the table that README.md beside this file tells
in words.
"""

import re
from types import MappingProxyType

from kafkaviz import versions
from kafkaviz.errors import KafkavizError
from kafkaviz.search import exercise
from kafkaviz.ui.lessons.grammar import Key, Kind, NoValue, minutes, one_of, whole, yes_or_no

PRACTICE = ("five", "twenty", "full")  # logs made for lessons, as on the Lookup page
STORIES = ("first", "full-time-index")
TABLES = ("batches", "index", "time-index")
TASKS = (
    "probe",
    "floor",
    "start",
    "decode",
    "file-size",
    "varint",
    "time",
    "entry",
    "time-entry",
    "cause",
    "entries",
    "ceiling",
)
CAUSES = ("size", "time", "offset-index", "time-index")
DATA = re.compile(r"[A-Za-z0-9._-]+")


def name(text: str) -> str:
    """The name of a sample, a topic-partition, a file or a workload."""
    if not DATA.fullmatch(text):
        raise NoValue("a name of letters, digits, dots, - and _")
    return text


def release(text: str) -> str:
    """A release of Kafka."""
    try:
        versions.parse(text)
    except KafkavizError:
        raise NoValue("a release such as 4.3 or 2.0") from None
    return text


def hexadecimal(text: str) -> bytes:
    """Bytes in hexadecimal, blanks between them as one likes."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise NoValue("bytes in hexadecimal, such as d8 04") from None


def rule(text: str) -> str:
    """A rule as search.exercise reads it."""
    try:
        exercise.parse(text)
    except exercise.NoRule as fault:
        raise NoValue(f"a rule ({fault})") from None
    return text


def natural(text: str) -> int:
    """A whole number from 0 on."""
    number = whole(text)
    if number < 0:
        raise NoValue("a whole number from 0 on")
    return number


def places(text: str) -> tuple[int, ...]:
    """Whole numbers with blanks between them."""
    return tuple(natural(one) for one in text.split())


# a sample directory, its topic-partition, a base offset
REAL = {"data": Key(name), "tp": Key(name), "segment": Key(natural)}
LOOKUP = {
    "set": Key(one_of(*PRACTICE)),
    **REAL,
    "by": Key(one_of("offset", "timestamp"), default="offset"),
    "target": Key(whole, needed=True),
    "search": Key(release, default=versions.NEWEST),
    "warm": Key(natural),
}
WRITTEN = {"workload": Key(name, needed=True)}
# shown once the step's question is answered, or its task solved; where a stepper begins
SHOWN = {"after": Key(one_of("answer", "task")), "step": Key(natural)}

TASK_KEYS = {  # what an exercise of each sort must say besides
    "probe": ("set", "target", "after-probes"),
    "floor": ("set", "target"),
    "start": ("set", "target"),
    "decode": ("data", "tp", "segment", "file", "slot"),
    "file-size": ("limit", "file"),
    "varint": ("bytes",),
    "time": ("set", "target"),
    "entry": ("story", "step"),
    "time-entry": ("story", "step"),
    "cause": ("workload", "segment"),
    "entries": ("batch-bytes", "interval", "batches"),
    "ceiling": ("keys",),
}


def _figure(
    about: str, keys: dict[str, Key], wide: bool = False, others: Key | None = None
) -> Kind:
    return Kind(about, MappingProxyType({**keys, **SHOWN}), True, wide, others)


KINDS = MappingProxyType(
    {
        "entries": _figure(
            "an index above its log, and where a search for an offset begins",
            {
                "set": Key(one_of("five", "twenty"), needed=True),
                "target": Key(whole, needed=True),
            },
        ),
        "stepper": _figure("a lookup, step by step", LOOKUP, wide=True),
        "lanes": _figure("the same search plain and with a warm section", LOOKUP),
        "why": _figure(
            "all records by offset and time, and why a timestamp gave this offset",
            LOOKUP,
            wide=True,
        ),
        "bytes": _figure(
            "the bytes of a real batch or file, each field named",
            {
                **REAL,
                "file": Key(name, default=".log"),
                "offset": Key(natural),
                "byte": Key(natural),
            },
            wide=True,
        ),
        "ruler": _figure(
            "the three files of a real segment to scale",
            {**REAL, "offset": Key(natural)},
            wide=True,
        ),
        "table": _figure(
            "rows of a real segment around an offset",
            {
                **REAL,
                "of": Key(one_of(*TABLES), needed=True),
                "offset": Key(natural),
            },
            wide=True,
        ),
        "segments": _figure(
            "the segments of a real topic-partition, and which one an offset is in",
            {**REAL, "offset": Key(natural)},
        ),
        "growth": _figure(
            "a log that grows, append by append",
            {"story": Key(one_of(*STORIES), needed=True)},
            wide=True,
        ),
        "pages": _figure(
            "which pages of a growing index a search touches, and which had gone cold",
            {
                "search": Key(one_of("plain", "warm"), needed=True),
                "cold": Key(natural, default=16),
                "pages": Key(natural, default=40),
                "gap": Key(natural, default=4608),
            },
        ),
        "tail-pages": _figure(
            "one lookup at the end of an index, page by page",
            {"entries": Key(natural, needed=True)},
            wide=True,
        ),
        "rolls": _figure(
            "a simulated log as it fills, and why each segment ended",
            WRITTEN,
            wide=True,
            others=Key(whole),
        ),
        "limits": _figure(
            "which limit ends a segment first, by throughput", WRITTEN, wide=True, others=Key(whole)
        ),
        "retention": _figure(
            (
                "what a retention check deletes of a real topic-partition, so many days after its "
                "newest record"
            ),
            {
                **REAL,
                "retention-days": Key(natural, needed=True),
                "days": Key(natural, needed=True),
            },
            wide=True,
        ),
        "findings": _figure(
            "what is wrong in a real directory, and what Kafka does",
            {**REAL, "code": Key(name, many=True)},
            wide=True,
        ),
        "tuning": _figure(
            (
                "which headers and which index bytes each interval costs a real topic-partition, "
                "and what to set"
            ),
            {
                **REAL,
                "considered": Key(natural, default=16384),
            },
            wide=True,
        ),
        "sweep": _figure(
            "what other index intervals would have cost a real log",
            {**REAL, "offset": Key(natural)},
            wide=True,
        ),
        "predict": Kind(
            "a question to answer before going on",
            MappingProxyType(
                {
                    "ask": Key(needed=True),
                    "choice": Key(many=True),
                    "right": Key(needed=True),
                    "reveal": Key(needed=True),
                }
            ),
        ),
        "exercise": Kind(
            "a task whose answer the program works out and checks",
            MappingProxyType(
                {
                    "of": Key(one_of(*TASKS), needed=True),
                    "ask": Key(needed=True),
                    "hint": Key(),
                    "solution": Key(needed=True),
                    **REAL,
                    "set": Key(one_of(*PRACTICE)),
                    "target": Key(whole),
                    "search": Key(release, default=versions.NEWEST),
                    "warm": Key(natural),
                    "after-probes": Key(natural),
                    "file": Key(one_of(".index", ".timeindex")),
                    "slot": Key(natural),
                    "limit": Key(natural),
                    "bytes": Key(hexadecimal),
                    "story": Key(one_of(*STORIES)),
                    "step": Key(natural),
                    "workload": Key(name),
                    "batch-bytes": Key(natural),
                    "interval": Key(natural),
                    "batches": Key(natural),
                    "keys": Key(places),
                    "rule": Key(rule),
                }
            ),
            others=None,
        ),
        "misleads": Kind(
            "what is often said, and what is so",
            MappingProxyType(
                {
                    "said": Key(needed=True),
                    "so": Key(needed=True),
                    "versions": Key(needed=True),
                }
            ),
        ),
        "notes": Kind(
            "for the teacher: minutes, what to say, what to watch for",
            MappingProxyType(
                {
                    "minutes": Key(minutes, needed=True),
                    "say": Key(many=True),
                    "watch": Key(many=True),
                }
            ),
        ),
    }
)

__all__ = ["CAUSES", "KINDS", "TASK_KEYS", "yes_or_no"]
