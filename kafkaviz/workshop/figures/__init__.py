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
    "entries": lookups.ENTRIES,
    "stepper": lookups.STEPPER,
    "zigzag": timestamp_zigzag.ZIGZAG,
    "own-rule": ceiling_rule.OWN_RULE,
    "bytes": file_bytes.BYTES,
    "ruler": segments.RULER,
    "table": segments.TABLE,
    "file-areas": segments.FILE_AREAS,
    "batch-areas": batch_areas.BATCH_AREAS,
    "header-areas": batch_areas.HEADER_AREAS,
    "topic-bytes": topic_bytes.TOPIC_BYTES,
    "segments": segments.SEGMENTS,
    "skip-list": lookups.SKIP_LIST,
    "attributes": file_bytes.ATTRIBUTES,
    "indexes": segments.INDEXES,
    "dump": segments.DUMP,
    "growth": rolls.GROWTH,
    "pages": index_pages.PAGES,
    "middles": index_pages.MIDDLES,
    "search-race": lookups.SEARCH_RACE,
    "limit-race": limit_race.RACE,
    "roll-clock": rolls.CLOCK,
    "findings": checks.FINDINGS,
    "retention": checks.RETENTION,
    "tuning": tuning.TUNING,
    "index-size": tuning.INDEX_SIZE,
    "fetch-share": tuning.FETCH_SHARE,
    "settings": tuning.SETTINGS,
    "replicas": checks.REPLICAS,
    "log-retention": compaction.LOG_RETENTION,
    "cleaner-log": compaction.CLEANER_LOG,
    "cleaning": compaction.CLEANING,
    "cleaner-weeks": compaction.CLEANER_WEEKS,
    "cleaned-files": compaction.CLEANED_FILES,
    "cleaner-settings": compaction.CLEANER_SETTINGS,
    "key-story": compaction.KEY_STORY,
    "transactions": segments.TRANSACTIONS,
}
