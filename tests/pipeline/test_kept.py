"""What the checks of a segment found, kept as text: nothing is lost on the way there and back, and
nothing wrong comes back.
"""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.analyse import restart
from kafkaviz.analyse.checks import segment
from kafkaviz.analyse.checks.facts import Facts
from kafkaviz.analyse.checks.segment import Checked
from kafkaviz.analyse.checks.summary import Begun, First, Gap, Marker, Summary, Times
from kafkaviz.analyse.finding import Evidence, Finding
from kafkaviz.config_def import HOUR_MS
from kafkaviz.log.broker import open_broker
from kafkaviz.log.segment import Segment
from kafkaviz.pipeline import kept
from kafkaviz.simulate.steps import Step

NOW_MS = 1_790_000_000_000
SEGMENT = Segment(0, "active")
INTS, TEXTS = st.integers(-(2**63), 2**63 - 1), st.text(max_size=20)


def values(kind: type, **more: st.SearchStrategy) -> st.SearchStrategy:
    """Values of a dataclass whose fields hold what their types say, as far as hypothesis sees
    it.
    """
    return st.builds(kind, **more)


FINDINGS = values(Finding, evidence=values(Evidence))
STEPS = st.tuples(st.just("begin"), INTS, values(Begun)) | st.tuples(
    st.just("end"), INTS, values(Marker)
)
SUMMARIES = values(
    Summary,
    segment=st.just(SEGMENT),
    gaps=st.lists(values(Gap), max_size=3),
    first_batch=st.none() | values(First),
    newest=st.none() | st.tuples(INTS, INTS, INTS),
    epochs=st.lists(st.tuples(INTS, INTS, INTS), max_size=3),
    steps=st.lists(STEPS, max_size=3),
    times=st.dictionaries(TEXTS, values(Times), max_size=3),
)


@pytest.mark.parametrize("sample", ["clean", "killed", "damaged"])
def test_a_segment_is_kept_as_it_was(sample, request):
    """Every segment of three real brokers: findings and summary."""
    broker = open_broker(request.getfixturevalue(sample))
    seen = 0
    for partition in broker.partitions:
        facts = Facts(partition.directory, clean=broker.clean, now_ms=NOW_MS)
        for one in partition.segments:
            checked = segment.check(one, facts)
            assert kept.from_json(one, kept.to_json(checked)) == checked
            seen += bool(checked.findings or checked.summary.steps)
    assert seen > 3


@given(st.builds(Checked, st.lists(FINDINGS, max_size=3).map(tuple), st.none() | SUMMARIES))
def test_whatever_was_found_is_kept(checked):
    """Any values that the types allow."""
    text = kept.to_json(checked)
    assert kept.from_json(SEGMENT, text) == checked
    assert text.isascii()


@given(st.lists(values(Step), max_size=3).map(tuple))
def test_the_steps_of_a_start_are_kept(steps):
    """The same of what a start does to a directory."""
    assert kept.steps_from_json(kept.steps_to_json(steps)) == steps


@pytest.mark.parametrize("sample", ["killed", "damaged"])
def test_the_steps_of_real_directories_are_kept(sample, request):
    """Of directories with something to do."""
    steps = restart.foretell(open_broker(request.getfixturevalue(sample))).steps
    assert len(steps) > 3 and kept.steps_from_json(kept.steps_to_json(steps)) == steps


def a_text() -> str:
    """Something that was kept."""
    evidence = Evidence("this", "that", "00", "01")
    found = Finding(
        "log-torn-tail", "error", "a-0", "a-0/0.log", 12, 3, "it is so", evidence, "bad", "do", None
    )
    summary = Summary(
        SEGMENT,
        3,
        30,
        0,
        29,
        (5, 29, 200),
        [Gap(1, 2, 3)],
        steps=[("end", 7, Marker(1, 2, 7, True))],
    )
    return kept.to_json(Checked((found,), replace(summary, times={"late": Times(1, 2, 3, 4, 5)})))


def spoilt() -> list:
    """The same, with one value in turn replaced by something else."""
    texts = []

    def walk(whole: object, node: object, put) -> None:
        items = (
            enumerate(node)
            if isinstance(node, list)
            else node.items()
            if isinstance(node, dict)
            else ()
        )
        put(["no", "such", "thing", [{}]])
        texts.append(json.dumps(whole["found"]))
        put(node)
        for key, one in list(items):
            walk(whole, one, lambda value, key=key: node.__setitem__(key, value))

    whole = {"found": json.loads(a_text())}
    walk(whole, whole["found"], lambda value: whole.__setitem__("found", value))
    return texts


NONE = (
    "",
    "null",
    "3",
    "[]",
    "{",
    "[" * 100_000,
    '{"findings": []}',
    '{"findings": [], "summary": []}',
)


@pytest.mark.parametrize("text", [*spoilt(), *NONE])
def test_what_is_no_such_thing_is_refused(text):
    """A catalog may come from anywhere: one error, whatever is wrong."""
    with pytest.raises(ValueError):
        kept.from_json(SEGMENT, text)


@pytest.mark.parametrize("text", ["", "{}", "[[]]", '[["a-0", 0, "cut", "tail"]]', "[" * 100_000])
def test_steps_that_are_none_are_refused(text):
    """The same of the steps of a start."""
    with pytest.raises(ValueError):
        kept.steps_from_json(text)


def test_the_digest_tells_facts_apart_and_not_times():
    """Whatever checks go by changes it, but for the time that counts as now."""
    facts = Facts("a-0")
    known = kept.digest(SEGMENT, facts)
    assert kept.digest(SEGMENT, replace(facts, now_ms=5)) == known
    others = [
        {"partition": "a-1"},
        {"clean": None},
        {"clean": False},
        {"version": (3, 9)},
        {"oldest_writer": (2, 8)},
        {"compacted": True},
        {"metadata_log": True},
        {"expires": False},
        {"retention_ms": 1},
    ]
    told = {kept.digest(SEGMENT, replace(facts, **one)) for one in others}
    assert len(told | {known, kept.digest(replace(SEGMENT, state="closed"), facts)}) == 11


@pytest.mark.parametrize(
    ("newest_ms", "ahead_ms", "holds"),
    [
        (NOW_MS, None, True),
        (NOW_MS + HOUR_MS, None, True),
        # now runs behind the reading's: a file that was newer is gone
        (NOW_MS + HOUR_MS + 1, None, False),
        (1000 * NOW_MS, None, True),  # microseconds are no future
        (NOW_MS + HOUR_MS + 1, NOW_MS + HOUR_MS + 1, True),
        (NOW_MS + HOUR_MS, NOW_MS + HOUR_MS, False),  # that day has come
    ],
)
def test_what_was_kept_holds_as_long_as_the_clock_allows(newest_ms, ahead_ms, holds):
    """What lay ahead still does, and nothing else came to."""
    times = {} if ahead_ms is None else {"future": Times(1, 0, 100, 5, ahead_ms)}
    summary = Summary(SEGMENT, newest=(newest_ms, 5, 0), times=times)
    assert kept.still_holds(Checked((), summary), NOW_MS) is holds
    assert kept.still_holds(Checked((), None), NOW_MS) and kept.still_holds(
        Checked((), Summary(SEGMENT)), NOW_MS
    )
