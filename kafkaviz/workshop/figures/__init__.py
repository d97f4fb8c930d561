"""The figures of lessons, and the views that only lessons draw.

A lesson file describes each figure in a fenced block of keys and values. `LessonFigure.make` turns
the block into a view, and `draw` turns the view into parts. `make` raises KafkavizError if the
block names something that does not exist; lessons/__main__.py relies on this. figure.py holds what
all figures share, and block_location.py finds the segment that a block names.
"""

from kafkaviz.workshop.figures import (
    batch_areas,
    ceiling_rule,
    checks,
    compaction,
    file_bytes,
    index_pages,
    limit_race,
    lookups,
    rolls,
    segments,
    timestamp_zigzag,
    topic_bytes,
    tuning,
)

LIVE = {
    "batch-areas": batch_areas.BATCH_AREAS, "header-areas": batch_areas.HEADER_AREAS,
    "own-rule": ceiling_rule.OWN_RULE,
    "findings": checks.FINDINGS, "retention": checks.RETENTION, "replicas": checks.REPLICAS,
    "log-retention": compaction.LOG_RETENTION, "cleaner-log": compaction.CLEANER_LOG,
    "cleaning": compaction.CLEANING, "cleaner-weeks": compaction.CLEANER_WEEKS,
    "cleaned-files": compaction.CLEANED_FILES, "cleaner-settings": compaction.CLEANER_SETTINGS,
    "key-story": compaction.KEY_STORY,
    "bytes": file_bytes.BYTES, "attributes": file_bytes.ATTRIBUTES,
    "pages": index_pages.PAGES, "middles": index_pages.MIDDLES,
    "limit-race": limit_race.RACE, "roll-clock": rolls.CLOCK, "growth": rolls.GROWTH,
    "entries": lookups.ENTRIES, "stepper": lookups.STEPPER,
    "skip-list": lookups.SKIP_LIST, "search-race": lookups.SEARCH_RACE,
    "ruler": segments.RULER, "table": segments.TABLE, "file-areas": segments.FILE_AREAS,
    "segments": segments.SEGMENTS, "indexes": segments.INDEXES, "dump": segments.DUMP,
    "transactions": segments.TRANSACTIONS,
    "zigzag": timestamp_zigzag.ZIGZAG, "topic-bytes": topic_bytes.TOPIC_BYTES,
    "tuning": tuning.TUNING, "index-size": tuning.INDEX_SIZE,
    "fetch-share": tuning.FETCH_SHARE, "settings": tuning.SETTINGS,
}  # fmt: skip
