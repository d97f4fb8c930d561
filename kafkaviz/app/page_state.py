"""The address parameters and session keys of the app, and the address of a location.

An address restores what its reader saw:
`/segment?dir=/data/kafka&tp=orders-0&segment=38321&pin=38400`.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kafkaviz import messages
from kafkaviz.units import replace_surrogates

# Address parameters, including a page's own choices, such as an order or a filter.
# DIRECTORY is the path of a broker directory, or of an archive of one, in the form that the visitor
# gave. A broker with several log directories has one such parameter per log directory.
DIRECTORY = "dir"
TOPIC_PARTITION = "tp"  # the name of the partition's directory: orders-0
SEGMENT = "segment"  # the segment's base offset
PIN = "pin"  # an offset in the selected batch
ORDER = "order"  # Broker: how the rows of the map are sorted
TAB = "tab"  # Segment: the open tab below the ruler; Rolls, Tuning, Disk: which part is open
SHADE = "shade"  # Segment: how dark the batches are drawn, by size or by age
# Segment: the file shown on the tab Bytes: .log or .index of the segment, or the name of another
# file in its folder
FILE = "file"
BYTE = "byte"  # Segment: the selected byte of that file; the bytes view writes it in the browser
FETCH = "fetch"  # Segment: the offset of the fetch on the tab Transactions
# Lookup: offset or timestamp; the target; the source; the release
BY = "by"
TARGET = "target"
SET = "set"
SEARCH = "search"
# Lookup: the consumer's isolation.level, read_uncommitted or read_committed
ISOLATION = "isolation"
# Lookup: the keys of a typed index, and the number of entries in its warm section
KEYS = "keys"
WARM = "warm"
# Lookup, Rolls: the current step, from 1. Workshop: NAME.7, which is step 7 of the stepper called
# NAME. The stepper reads and writes this parameter.
STEP = "step"
RELEASE = "kafka"  # Health, Disk: the release whose behaviour is assumed, such as 3.9
INDEX_PAGES = "pages"  # Page cache: the size of the index; the browser reads and writes it
# Rolls: "Simulated" or a topic-partition; the workload; the segments drawn, such as 1–40
ROLLS_SUBJECT = "of"
WORKLOAD = "workload"
ROLLS_ROWS = "from"
# Rolls: the factor on the workload's speed, and the batch size
SPEED = "speed"
BATCH_SIZE = "batch"
SETTING = {  # Rolls: the sliders of a topic's settings
    "segment.bytes": "size",
    "segment.ms": "age",
    "segment.index.bytes": "room",
    "index.interval.bytes": "interval",
    "segment.jitter.ms": "jitter",
}
STORY = "story"  # Rolls: the log that grows in the stepper
# Disk, Retention: the topic, and the sliders of its settings
RETENTION_TOPIC = "topic"
RETENTION = {
    "retention.ms": "keep_time",
    "retention.bytes": "keep_size",
    "min.cleanable.dirty.ratio": "dirty_ratio",
}
# Disk, Compaction: the topic-partition; the key whose records are listed; whether that key is text
COMPACTED_LOG = "log"
RECORD_KEY = "key"
KEY_FORM = "key_as"
# Tuning: the subject, and the interval to compare with the current one
TUNING_SUBJECT = "tune"
CONSIDERED_INTERVAL = "consider"
WHOLE_BROKER = "Whole broker"  # a value of TUNING_SUBJECT
# Tuning: the budgets
P99 = "p99"
SHARE = "share"
# Tuning: the storage that cold reads come from, the release, and whether the topic is tiered. The
# race on Lookup reads and writes the storage in the browser.
STORAGE = "storage"
READ_RELEASE = "reads"
TIERED = "tiered"
PACKED_SIZE = "packed_in"  # Tuning: the batch size at which codecs are compared
# Tuning: other settings for the replay
REPLAY_SETTINGS = {
    "segment.bytes": "if_size",
    "segment.ms": "if_age",
    "segment.index.bytes": "if_room",
}
FILTER = "filter"  # Broker: a text that the names in the table of topic-partitions must contain
ROWS = "rows"  # Broker: the page of the map, with sixty rows each, from 1
# Explore: a predefined question; a typed query; the column that is drawn
QUESTION = "ask"
SQL = "sql"
DRAWN_COLUMN = "draw"
PAPER = "paper"  # Workshop: the entire lesson in print form, whose charts are drawn for paper
PROJECTOR = "projector"  # Workshop, Lookup, Page cache: only the figure and its text, enlarged
# Compare: the second directory; the leading side; the step after which the follower's log is shown;
# whether the axis shows everything
COMPARED_DIRECTORY = "with"
LEADER = "leader"
FOLLOWER_STEP = "cut"
COMPARED_WINDOW = "view"
LANGUAGE = "lang"  # en or zh

# Session keys: state that must outlive a rerun, but means nothing in a link.
LINK_TARGET = "kv_came"  # Segment: the segment, file and byte of the last link without a pin
# the open dialog, its initial text, and the page and address where it was opened
DIALOG = "kv_dialog"
TYPED_PATH = "kv_asked_to_open"  # Broker: the path typed in this run
OPEN_COUNT = "kv_opened"  # Broker: number of opened paths, part of the input field's key
# Compare: the two directories typed in this run, and how often that happened
COMPARED_REQUEST = "kv_compared_request"
COMPARED_COUNT = "kv_compared_count"
# the last topic-partition, segment and pin, as address parameters with their directory
LOCATION = "kv_place"
# directories whose ingest was watched in this session; the progress strip stays after such an
# ingest
WATCHED_INGESTS = "kv_worked"
SLIDER = "kv_slider"  # Lookup: the position of the target's slider
TARGET_SOURCE = "kv_asked"  # Lookup: the source and the kind of target that TARGET was chosen for
# Rolls: whether a topic-partition was shown last, not a simulated log
ROLLS_ON_DISK = "kv_rolls_on_disk"
# Tuning: the last subject, for which CONSIDERED_INTERVAL and REPLAY_SETTINGS were chosen
LAST_TUNING = "kv_tuned"
TUNING_WORKLOAD_TEXT = "kv_own_tuned"  # Tuning: the text of the custom workload
ROLLS_WORKLOAD_TEXT = "kv_own_text"  # Rolls: the text of the custom workload
LAST_QUERY = "kv_asking"  # Explore: the last query and its directory
# Health: the listings, topic-partitions and releases whose indexes were rebuilt
REBUILT_INDEXES = "kv_built"
# the topic-partitions and segments visited in this session, newest first
VISITS = "kv_visited"
SESSION_LANGUAGE = "kv_spoken"  # the language of this session
LAST_RECENT = "kv_remembered"  # the directory that this session put into the list of recent ones
# the recent directories of this session, used on a server with several visitors
OWN_RECENT = "kv_own_recent"


# separates log directories of one broker in one text; no path contains it
BETWEEN_DIRECTORIES = "\0"


def join_directories(directories: Iterable[str | Path]) -> str:
    """Returns the log directories of one broker as a single text."""
    return BETWEEN_DIRECTORIES.join(map(str, directories))


def split_directories(directory: str | Path) -> list[str]:
    """Returns the log directories in a text made by `join_directories`."""
    return str(directory).split(BETWEEN_DIRECTORIES)


def directory_in(address: Mapping[str, Any]) -> str:
    """Returns the directories of an address as one text, made by `join_directories`."""
    value = address.get(DIRECTORY, "")
    return value if isinstance(value, str) else join_directories(value)


def address(
    directory: str | Path,
    topic_partition: str = "",
    segment: int | None = None,
    pin: int | None = None,
) -> dict[str, Any]:
    """Returns the address parameters of a location.

    Empty parts are left out. The language is left out if it is English. Several log directories
    become a list.

    Args:
        directory: a path, or a text made by `join_directories`.
    """
    parts = {
        DIRECTORY: str(directory),
        TOPIC_PARTITION: topic_partition,
        SEGMENT: segment,
        PIN: pin,
    }
    if messages.language() != messages.ENGLISH:
        parts[LANGUAGE] = messages.language()
    texts: dict[str, Any] = {
        name: replace_surrogates(str(value))
        for name, value in parts.items()
        if value not in ("", None)
    }
    return texts | ({DIRECTORY: parameter(texts[DIRECTORY])} if DIRECTORY in texts else {})


def parameter(directory: str) -> str | list[str]:
    """Returns the address parameter for a directory: a list if it has several log directories."""
    directories = split_directories(directory)
    return directories if len(directories) > 1 else directory


def number(text: str | None) -> int | None:
    try:
        return int(text or "")
    except ValueError:
        return None
