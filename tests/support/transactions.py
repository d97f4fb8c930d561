"""A broker's answers about transactions, and a workload that writes some."""

import gzip
import json
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"
ANSWERS = [
    json.loads(line)
    for line in gzip.decompress((DATA / "broker_answers.jsonl.gz").read_bytes()).splitlines()
]
SIMULATED = """
topic = "payments"
[settings]
"index.interval.bytes" = 200
"segment.index.bytes" = 120
[[phase]]
batches = 160
batches_per_s = 10
value_bytes = 60
producers = 4
[phase.transactions]
batches = {{ shape = "uniform", least = 1, most = 4 }}
abort_share = 0.4
leave_open = {leave_open}
"""
