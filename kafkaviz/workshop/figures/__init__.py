"""The figures of lessons, drawn with the app's own components.

A figure is made from its block before it is drawn. Making it raises KafkavizError or NoValue if the
block asks for something that does not exist; check.py relies on this. figure.py holds the parts
shared by all figures, and block_location.py finds the segment a block names.
"""

from kafkaviz.workshop.figures.areas import BATCH_AREAS, FILE_AREAS, HEADER_AREAS
from kafkaviz.workshop.figures.batch_attributes import ATTRIBUTES
from kafkaviz.workshop.figures.ceiling_rule import OWN_RULE
from kafkaviz.workshop.figures.entries import ENTRIES
from kafkaviz.workshop.figures.fetch_share import FETCH_SHARE
from kafkaviz.workshop.figures.file_bytes import BYTES
from kafkaviz.workshop.figures.findings import FINDINGS
from kafkaviz.workshop.figures.growth_story import GROWTH
from kafkaviz.workshop.figures.index_comparison import INDEXES
from kafkaviz.workshop.figures.index_dump import DUMP
from kafkaviz.workshop.figures.index_pages import MIDDLES, PAGES
from kafkaviz.workshop.figures.index_size import INDEX_SIZE
from kafkaviz.workshop.figures.interval_costs import TUNING
from kafkaviz.workshop.figures.limit_race import RACE
from kafkaviz.workshop.figures.lookups import STEPPER
from kafkaviz.workshop.figures.replicas import REPLICAS
from kafkaviz.workshop.figures.retention_check import RETENTION
from kafkaviz.workshop.figures.roll_clock import CLOCK
from kafkaviz.workshop.figures.segments import RULER, SEGMENTS, TABLE
from kafkaviz.workshop.figures.setting_names import SETTINGS
from kafkaviz.workshop.figures.skip_list import SKIP_LIST
from kafkaviz.workshop.figures.timestamp_zigzag import ZIGZAG

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
