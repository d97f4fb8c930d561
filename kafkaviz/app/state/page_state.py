"""Every session key and every address parameter, in one list, and the address of a place.

An address brings back what its reader saw:
`/segment?dir=/data/kafka&tp=orders-0&segment=38321&pin=38400`.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kafkaviz import messages
from kafkaviz.units import replace_surrogates

# Address parameters. A page's own choices (an order, a filter) are widgets with bind="query-params"
# and named here too.
# a broker directory or an archive of one, as it was given; once for each of several log directories
DIRECTORY = "dir"
TOPIC_PARTITION = "tp"  # the directory's name: orders-0
SEGMENT = "segment"  # the segment's base offset
PIN = "pin"  # the offset that is looked at
ORDER = "order"  # Broker: how the rows of the map are sorted
TAB = "tab"  # Segment: the open tab below the ruler; Page cache, Tuning: which part is open
SHADE = "shade"  # Segment: how dark the batches are drawn, by size or by age
# Segment: which file's bytes the tab Bytes shows: .log or .index of the segment, or the name of a
# file beside them
FILE = "file"
BYTE = "byte"  # Segment: the byte of that file to look at; the bytes view writes it in the browser
# Segment: the bytes of the .log that the ruler shows, 468797-492397; the ruler reads and writes it
# in the browser
WINDOW = "window"
# Lookup: offset or timestamp, which one, in what, as which release
BY, TARGET, SET, SEARCH = "by", "target", "set", "search"
ISOLATION = "isolation"  # Lookup: of the consumer, read_uncommitted or read_committed
# Lookup: the keys of an index that was typed, and how many entries its warm section has
KEYS, WARM = "keys", "warm"
# Lookup, Rolls: the step shown, from 1; Workshop: NAME.7, of the stepper of that name; the stepper
# reads and writes it
STEP = "step"
DISTRIBUTION = "counted"  # Lookup: what the distribution below counts
# Health: the chosen finding, and the kind that is listed; read and written in the browser
FINDING, SEVERITY = "finding", "severity"
RELEASE = "kafka"  # Health: the release whose behaviour is assumed, such as 3.9
# Page cache: when a page goes cold, how far which index grows, bytes an entry
COLD, GROW, GAP, INDEX = "cold", "grow", "gap", "index"
# Page cache: a page, the warm section, who lags and how far
PAGE_SIZE, SECTION, LAGGARDS, LAG = "page", "section", "laggards", "lag"
# Page cache: read-ahead, appends a lookup, kind of index, the draw
READ_AHEAD, APPENDS_PER_LOOKUP, ENTRY_SIZE, SEED = "around", "every", "entry", "seed"
# Page cache: the example's size, the keys compared
ENTRIES, PATTERN = "n", "pattern"
# Rolls: simulated or a topic-partition, which workload, the first row drawn
ROLLS_SUBJECT, WORKLOAD, ROLLS_ROWS = "of", "workload", "from"
# Rolls: the workload so many times as fast, in batches of another size
SPEED, BATCH_SIZE = "speed", "batch"
SETTING = {  # Rolls: a topic's settings, each a slider
    "segment.bytes": "size",
    "segment.ms": "age",
    "segment.index.bytes": "room",
    "index.interval.bytes": "interval",
    "segment.jitter.ms": "jitter",
}
STORY = "story"  # Rolls: which log grows in the stepper
# Tuning: what is tuned, and the interval that is compared with today's
TUNING_SUBJECT, CONSIDERED_INTERVAL = "tune", "consider"
WHOLE_BROKER = "Whole broker"  # as a value of TUNING_SUBJECT
# Tuning: the budgets
P99, COLD_P99, FETCHES, CORES, SHARE = "p99", "cold_p99", "fetches", "cores", "share"
# Tuning: where cold reads go (of the race on Lookup too, which reads and writes it in the browser),
# as which release, whether a topic is tiered
STORAGE, READ_RELEASE, TIERED = "storage", "reads", "tiered"
# Tuning: other settings to replay with
REPLAY_SETTINGS = {
    "segment.bytes": "if_size",
    "segment.ms": "if_age",
    "segment.index.bytes": "if_room",
}
FILTER = "filter"  # Broker: what the names in the table of topic-partitions have in them
ROWS = "rows"  # Broker: which sixty of the map's rows are shown, from 1
# Explore: which of its questions, or the query that was typed; the column that is drawn
QUESTION, SQL, DRAWN_COLUMN = "ask", "sql", "draw"
LESSON, PART = "lesson", "at"  # Workshop: which lesson, and which of its steps, from 1
# Workshop: what was answered, key-is-last.2b three-files.3x batches~1~130cb; what is typed into
# this step's exercise
ANSWERS, TYPED_ANSWER = "answers", "given"
# Workshop: the teacher's notes are shown; the entire lesson, to be printed
NOTES, PAPER = "notes", "paper"
LAB = "break"  # Workshop: the lab at the end of the lesson is open
PROJECTOR = "projector"  # Workshop, Lookup: the figure and its words alone, large
# Workshop: the code of the class; the steps of the session, all where it is not there
CLASS, TRACK = "class", "track"
# Compare: the second directory, which side leads, behind which step of the follower, what the axis
# shows
COMPARED_DIRECTORY, LEADER, FOLLOWER_STEP, COMPARED_WINDOW = "with", "leader", "cut", "view"
WORD, ALL_WORDS = "word", "all"  # Workshop: the glossary, and the word that is looked at in it
ASIDE = (PAPER, WORD, LAB)  # Workshop: what stands in the place of a step
LANGUAGE = "lang"  # en or zh

# Session keys: what must outlive a rerun, but means nothing in a link.
LINK_TARGET = "kv_came"  # Segment: the segment, file and byte that a link without a pin led to
# the open dialog, what it started with, and the page and address it was opened at
DIALOG = "kv_dialog"
PAGES_SHOWN = "kv_pages_shown"  # Workshop: the list of pages is shown
TYPED_PATH = "kv_asked_to_open"  # Broker: the path that was typed, in this run
OPEN_COUNT = "kv_opened"  # Broker: how many were, so that each field is a new one
# Compare: both directories that were asked for, in this run, and how often
COMPARED_REQUEST, COMPARED_COUNT = "kv_compared_request", "kv_compared_count"
# the topic-partition, segment and pin that were looked at last, as address parameters with their
# directory
LOCATION = "kv_place"
# directories whose ingest this session has watched: the strip keeps its place when it is done
WATCHED_INGESTS = "kv_worked"
SLIDER = "kv_slider"  # Lookup: where the slider of the target stands
TARGET_SOURCE = "kv_asked"  # Lookup: the source and the kind of target that TARGET was chosen for
# Rolls: what the last run came to, the one before, and whether that one stays
RUN, PREVIOUS_RUN, KEEPS_PREVIOUS_RUN = "kv_run", "kv_before", "kv_pinned"
# Rolls: a topic-partition was looked at last, not a simulated log
ROLLS_ON_DISK = "kv_rolls_on_disk"
# Tuning: what was tuned last, for which CONSIDERED_INTERVAL and IF were chosen
LAST_TUNING = "kv_tuned"
TUNING_WORKLOAD_TEXT = "kv_own_tuned"  # Tuning: the workload that somebody wrote
ROLLS_WORKLOAD_TEXT = "kv_own_text"  # Rolls: the workload that somebody wrote
LAST_QUERY = "kv_asking"  # Explore: the query that was looked at last, and its directory
# Health: for which listings, topic-partitions and releases the indexes were built anew
REBUILT_INDEXES = "kv_built"
# Workshop: the lesson, step and answers of this session, as address parameters
WORKSHOP = "kv_workshop"
# Workshop: by the code of a class, the token of this session's seat or the teacher's secret
CLASS_TOKENS = "kv_class_tokens"
# Workshop: where the class led this session last, and the revision that its page shows
CLASS_STEP, CLASS_REVISION = "kv_class_step", "kv_class_revision"
# Workshop: the lesson and the track that the pickers of a learner's page show
CLASS_PICKER, CLASS_PICKER_TRACK = "kv_class_picker", "kv_class_picker_track"
CLASS_NOTE = "kv_class_note"  # Workshop: why the code that was typed leads to no class
# the topic-partitions and segments that this session has looked at, newest first
VISITS = "kv_visited"
SESSION_LANGUAGE = "kv_spoken"  # the language of this session
LAST_RECENT = "kv_remembered"  # the directory this session put into the list of recent ones
OWN_RECENT = "kv_own_recent"  # that list, where visitors are several people and each has one


# between the log directories of one broker, where they are one text: no path can hold it
BETWEEN_DIRECTORIES = "\0"


def join_directories(directories: Iterable[str | Path]) -> str:
    """Returns the log directories of one broker as the text that stands for them."""
    return BETWEEN_DIRECTORIES.join(map(str, directories))


def split_directories(directory: str | Path) -> list[str]:
    """Returns the log directories that a text stands for; mostly it is the path of one."""
    return str(directory).split(BETWEEN_DIRECTORIES)


def directory_in(address: Mapping[str, Any]) -> str:
    """Returns the text that stands for the directories of an address."""
    value = address.get(DIRECTORY, "")
    return value if isinstance(value, str) else join_directories(value)


def address(
    directory: str | Path,
    topic_partition: str = "",
    segment: int | None = None,
    pin: int | None = None,
) -> dict[str, Any]:
    """The address parameters of a place, and the language where it is not English.

    What is not given is left out. Several log directories are a list, each a parameter of its own.

    Args:
        directory: one path, or what `join_directories` makes of several.
    """
    language = "" if messages.language() == messages.ENGLISH else messages.language()
    parts = {
        DIRECTORY: str(directory),
        TOPIC_PARTITION: topic_partition,
        SEGMENT: segment,
        PIN: pin,
        LANGUAGE: language,
    }
    texts: dict[str, Any] = {
        name: replace_surrogates(str(value))
        for name, value in parts.items()
        if value not in ("", None)
    }
    directories = split_directories(texts.get(DIRECTORY, ""))
    return texts | ({DIRECTORY: directories} if len(directories) > 1 else {})


def number(text: str | None) -> int | None:
    """A whole number out of the address, or None where the address has something else."""
    try:
        return int(text or "")
    except ValueError:
        return None
