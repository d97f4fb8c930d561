"""What Kafka's classes answered, as it was recorded in tests/data."""

import gzip
import json
from functools import cache

from tests.conftest import DATA


@cache
def recorded(name: str) -> list[dict]:
    """Returns the lines of a file, which nobody may change."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
