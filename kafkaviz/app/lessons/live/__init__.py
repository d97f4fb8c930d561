"""The figures of lessons, drawn with the app's own components.

A figure is made from its block before it is drawn. Making it raises KafkavizError or NoValue if the
block asks for something that does not exist; check.py relies on this. figure.py holds the parts
shared by all figures, and block_location.py finds the segment a block names.
"""

from kafkaviz.app.lessons.live.areas import BATCH_AREAS, FILE_AREAS, HEADER_AREAS
from kafkaviz.app.lessons.live.batch_attributes import ATTRIBUTES
from kafkaviz.app.lessons.live.ceiling_rule import OWN_RULE
from kafkaviz.app.lessons.live.entries import ENTRIES
from kafkaviz.app.lessons.live.fetch_share import FETCH_SHARE
from kafkaviz.app.lessons.live.file_bytes import BYTES
from kafkaviz.app.lessons.live.findings import FINDINGS
from kafkaviz.app.lessons.live.growth_story import GROWTH
from kafkaviz.app.lessons.live.index_comparison import INDEXES
from kafkaviz.app.lessons.live.index_dump import DUMP
from kafkaviz.app.lessons.live.index_pages import MIDDLES, PAGES
from kafkaviz.app.lessons.live.index_size import INDEX_SIZE
from kafkaviz.app.lessons.live.interval_costs import TUNING
from kafkaviz.app.lessons.live.limit_race import RACE
from kafkaviz.app.lessons.live.lookups import STEPPER
from kafkaviz.app.lessons.live.replicas import REPLICAS
from kafkaviz.app.lessons.live.retention_check import RETENTION
from kafkaviz.app.lessons.live.roll_clock import CLOCK
from kafkaviz.app.lessons.live.segments import RULER, SEGMENTS, TABLE
from kafkaviz.app.lessons.live.setting_names import SETTINGS
from kafkaviz.app.lessons.live.skip_list import SKIP_LIST
from kafkaviz.app.lessons.live.timestamp_zigzag import ZIGZAG

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
    "segments": SEGMENTS,
    "skip-list": SKIP_LIST,
    "attributes": ATTRIBUTES,
    "indexes": INDEXES,
    "dump": DUMP,
    "growth": GROWTH,
    "pages": PAGES,
    "middles": MIDDLES,
    "limit-race": RACE,
    "roll-clock": CLOCK,
    "findings": FINDINGS,
    "retention": RETENTION,
    "tuning": TUNING,
    "index-size": INDEX_SIZE,
    "fetch-share": FETCH_SHARE,
    "settings": SETTINGS,
    "replicas": REPLICAS,
}
