import ast
import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import kafkaviz
from kafkaviz.analysis.comparison.comparison import OffsetRange, RecordSet
from kafkaviz.analysis.json_objects import FIELDS, to_json_object
from kafkaviz.analysis.retention import SegmentAge, SegmentRetention
from kafkaviz.messages import message


@dataclass
class Plain:
    share: float
    texts: tuple


def test_every_row_is_of_a_class():
    trees = (ast.parse(path.read_text()) for path in Path(kafkaviz.__file__).parent.rglob("*.py"))
    classes = {
        node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    }
    assert set(FIELDS) - classes == set()


def test_values_are_those_of_json():
    value = Plain(math.nan, (np.int64(3), message("span.slots", n=2), None, True))
    assert (
        json.dumps(to_json_object(value)) == '{"share": null, "texts": [3, "2 slots", null, true]}'
    )


def test_a_row_renames_moves_and_leaves_out():
    age = SegmentAge(0, 100, None, "mtime")
    assert to_json_object(SegmentRetention(age=age, state="active"))["bytes"] == 100
    assert to_json_object(RecordSet(2, (OffsetRange(5, 6),))) == {"records": 2, "ranges": [[5, 6]]}
    assert to_json_object(RecordSet(2, (OffsetRange(5, 6),), 9))["more_ranges"] == 9
