"""The figures of lessons, and the views that only lessons draw.

A lesson file describes each figure in a fenced block of keys and values. `LessonFigure.make` turns
the block into a view, and `draw` turns the view into parts. `make` raises KafkavizError if the
block names something that does not exist; lessons/__main__.py relies on this. figure.py holds what
all figures share, and block_location.py finds the segment that a block names.
"""

from kafkaviz.workshop.figures.batch_areas import BATCH_AREAS, HEADER_AREAS
from kafkaviz.workshop.figures.ceiling_rule import OWN_RULE
from kafkaviz.workshop.figures.checks import FINDINGS, REPLICAS, RETENTION
from kafkaviz.workshop.figures.compaction import (
    CLEANED_FILES,
    CLEANER_LOG,
    CLEANER_SETTINGS,
    CLEANER_WEEKS,
    CLEANING,
    KEY_STORY,
    LOG_RETENTION,
)
from kafkaviz.workshop.figures.file_bytes import ATTRIBUTES, BYTES
from kafkaviz.workshop.figures.index_pages import MIDDLES, PAGES
from kafkaviz.workshop.figures.limit_race import RACE
from kafkaviz.workshop.figures.lookups import ENTRIES, SEARCH_RACE, SKIP_LIST, STEPPER
from kafkaviz.workshop.figures.rolls import CLOCK, GROWTH
from kafkaviz.workshop.figures.segments import (
    DUMP,
    FILE_AREAS,
    INDEXES,
    RULER,
    SEGMENTS,
    TABLE,
    TRANSACTIONS,
)
from kafkaviz.workshop.figures.timestamp_zigzag import ZIGZAG
from kafkaviz.workshop.figures.topic_bytes import TOPIC_BYTES
from kafkaviz.workshop.figures.tuning import FETCH_SHARE, INDEX_SIZE, SETTINGS, TUNING

LIVE = {
    "entries": ENTRIES,
    "stepper": STEPPER,
    "zigzag": ZIGZAG,
    "own-rule": OWN_RULE,
    "bytes": BYTES,
    "ruler": RULER,
    "table": TABLE,
    "file-areas": FILE_AREAS,
    "batch-areas": BATCH_AREAS,
    "header-areas": HEADER_AREAS,
    "topic-bytes": TOPIC_BYTES,
    "segments": SEGMENTS,
    "skip-list": SKIP_LIST,
    "attributes": ATTRIBUTES,
    "indexes": INDEXES,
    "dump": DUMP,
    "growth": GROWTH,
    "pages": PAGES,
    "middles": MIDDLES,
    "search-race": SEARCH_RACE,
    "limit-race": RACE,
    "roll-clock": CLOCK,
    "findings": FINDINGS,
    "retention": RETENTION,
    "tuning": TUNING,
    "index-size": INDEX_SIZE,
    "fetch-share": FETCH_SHARE,
    "settings": SETTINGS,
    "replicas": REPLICAS,
    "log-retention": LOG_RETENTION,
    "cleaner-log": CLEANER_LOG,
    "cleaning": CLEANING,
    "cleaner-weeks": CLEANER_WEEKS,
    "cleaned-files": CLEANED_FILES,
    "cleaner-settings": CLEANER_SETTINGS,
    "key-story": KEY_STORY,
    "transactions": TRANSACTIONS,
}
