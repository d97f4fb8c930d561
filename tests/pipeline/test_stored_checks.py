"""The stored results of a segment's checks: a round trip loses nothing, and wrong text is refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.analysis import finding_rows
from kafkaviz.analysis.checks import segment
from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.segment import SegmentFindings
from kafkaviz.analysis.checks.summary import (
    CheckSummary,
    Gap,
    TimeAnomaly,
    TransactionBegin,
    TransactionEnd,
)
from kafkaviz.analysis.findings import CODES, SEVERITIES, Evidence, Finding
from kafkaviz.analysis.inferred_settings import FirstBatch
from kafkaviz.analysis.restart import next_start
from kafkaviz.analysis.serialization import encode
from kafkaviz.log.broker import open_broker
from kafkaviz.log.segment import Segment
from kafkaviz.messages import Message, message, verbatim
from kafkaviz.pipeline.ingest import stored_checks
from kafkaviz.simulate.steps import ACTIONS, CAUSES, StartupStep
from kafkaviz.units import HOUR_MS
from tests.support.cases import all_cases

NOW_MS = 1_790_000_000_000
SEGMENT = Segment(base_offset=0, state="active")
INTS, TEXTS = st.integers(-(2**63), 2**63 - 1), st.text(max_size=20)
PLAIN_MESSAGES = st.builds(verbatim, TEXTS) | st.builds(
    message, st.just("finding.at_offset"), offset=INTS
)
st.register_type_strategy(
    Message,
    PLAIN_MESSAGES
    | st.builds(
        message,
        st.just("errors.of_path"),
        path=st.sampled_from([Path("/data/a-0"), Path("b-1")]),
        problem=PLAIN_MESSAGES,
    )
    | st.builds(
        message, st.just("release.traces"), traces=st.lists(PLAIN_MESSAGES, max_size=3).map(tuple)
    ),
)


FINDINGS = st.builds(
    Finding,
    code=st.sampled_from(sorted(CODES)),
    severity=st.sampled_from(SEVERITIES),
    evidence=st.builds(Evidence),
)
STEPS = st.tuples(st.just("begin"), INTS, st.builds(TransactionBegin)) | st.tuples(
    st.just("end"), INTS, st.builds(TransactionEnd)
)
SUMMARIES = st.builds(
    CheckSummary,
    segment=st.just(SEGMENT),
    gaps=st.lists(st.builds(Gap), max_size=3),
    first_batch=st.none() | st.builds(FirstBatch),
    newest=st.none() | st.tuples(INTS, INTS, INTS),
    epochs=st.lists(st.tuples(INTS, INTS, INTS), max_size=3),
    steps=st.lists(STEPS, max_size=3),
    times=st.dictionaries(TEXTS, st.builds(TimeAnomaly), max_size=3),
)


@pytest.mark.parametrize("sample", ["some_partitions", "killed", "damaged"])
def test_a_segment_is_kept_as_it_was(sample, request):
    broker = open_broker(request.getfixturevalue(sample))
    check_count = 0
    for partition in broker.partitions:
        facts = PartitionFacts(partition=partition.directory, clean=broker.is_clean, now_ms=NOW_MS)
        for log_segment in partition.segments:
            checked = segment.check(log_segment, facts)
            assert stored_checks.from_json(log_segment, stored_checks.to_json(checked)) == checked
            check_count += bool(checked.findings or checked.summary.steps)
    assert check_count > 3


@given(st.builds(SegmentFindings, st.lists(FINDINGS, max_size=3).map(tuple), st.none() | SUMMARIES))
def test_whatever_was_found_is_kept(checked):
    text = stored_checks.to_json(checked)
    assert stored_checks.from_json(SEGMENT, text) == checked
    assert text.isascii()


STARTUP_STEPS = st.builds(
    StartupStep, action=st.sampled_from(ACTIONS), cause=st.sampled_from(sorted(CAUSES))
)


@given(st.lists(STARTUP_STEPS, max_size=3).map(tuple))
def test_the_steps_of_a_start_are_kept(steps):
    assert finding_rows.steps_from_json(encode(steps)) == steps


@pytest.mark.parametrize("sample", ["killed", "damaged"])
def test_the_steps_of_real_directories_are_kept(sample, request):
    steps = next_start.predict_restart(open_broker(request.getfixturevalue(sample))).steps
    assert len(steps) > 3 and finding_rows.steps_from_json(encode(steps)) == steps


def a_text() -> str:
    evidence = Evidence(message("evidence.base_offset", offset=5), verbatim("that"), "00", "01")
    finding = Finding(
        code="log-torn-tail",
        severity="error",
        partition="a-0",
        file="a-0/0.log",
        position=12,
        length=3,
        message=verbatim("it is so"),
        evidence=evidence,
        consequence=verbatim("bad"),
        next_step=verbatim("do"),
        reference=None,
    )
    summary = CheckSummary(
        segment=SEGMENT,
        batches=3,
        records=30,
        first_offset=0,
        last_offset=29,
        end_offset=(5, 29, 200),
        end_bytes=[Gap(1, 2, 3)],
        steps=[("end", 7, TransactionEnd(1, 2, 7, True))],
        times={"late": TimeAnomaly(count=1, position=2, size_bytes=3, offset=4, timestamp_ms=5)},
    )
    return stored_checks.to_json(SegmentFindings((finding,), summary))


def spoilt() -> list:
    texts = []

    def walk(document: object, node: object, replace_node) -> None:
        items = node.items() if isinstance(node, dict) else []
        if isinstance(node, list):
            items = enumerate(node)
        replace_node(["no", "such", "thing", [{}]])
        texts.append(json.dumps(document["found"]))
        replace_node(node)
        for key, value_ in list(items):
            walk(document, value_, lambda value, key=key: node.__setitem__(key, value))

    document = {"found": json.loads(a_text())}
    walk(document, document["found"], lambda value: document.__setitem__("found", value))
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


@all_cases("text", [*spoilt(), *NONE], ids=lambda text: text[:60])
def test_what_is_no_such_thing_is_refused(text):
    with pytest.raises(ValueError):
        stored_checks.from_json(SEGMENT, text)


@pytest.mark.parametrize(
    ("known", "unknown"), [("log-torn-tail", "no-such-code"), ("error", "no-such-severity")]
)
def test_a_finding_that_there_is_not_is_refused(known, unknown):
    text = a_text().replace(f'"{known}"', f'"{unknown}"')
    with pytest.raises(ValueError, match=rf"{unknown}.* is no finding"):
        stored_checks.from_json(SEGMENT, text)


@pytest.mark.parametrize("name", ["action", "cause"])
def test_a_step_that_there_is_not_is_refused(name):
    step = StartupStep(
        partition="a-0", segment=0, action="truncate", cause="tail", why=verbatim("why")
    )
    text = encode((replace(step, **{name: "no-such-word"}),))
    with pytest.raises(ValueError, match=r"no-such-word.* is no step"):
        finding_rows.steps_from_json(text)


@pytest.mark.parametrize("text", ["", "{}", "[[]]", '[["a-0", 0, "cut", "tail"]]', "[" * 100_000])
def test_malformed_steps_are_refused(text):
    with pytest.raises(ValueError):
        finding_rows.steps_from_json(text)


def test_the_digest_depends_on_facts_and_not_times():
    facts = PartitionFacts(partition="a-0")
    known = stored_checks.digest(SEGMENT, facts)
    assert stored_checks.digest(SEGMENT, replace(facts, now_ms=5)) == known
    others = [
        {"partition": "a-1"},
        {"clean": None},
        {"clean": False},
        {"release": (3, 9)},
        {"oldest_writer": (2, 8)},
        {"compacted": True},
        {"metadata_log": True},
        {"expires": False},
        {"retention_ms": 1},
    ]
    digests = {stored_checks.digest(SEGMENT, replace(facts, **changes)) for changes in others}
    assert (
        len(digests | {known, stored_checks.digest(replace(SEGMENT, state="closed"), facts)}) == 11
    )


@pytest.mark.parametrize(
    ("newest_ms", "ahead_ms", "holds"),
    [
        (NOW_MS, None, True),
        (NOW_MS + HOUR_MS, None, True),
        # the clock is behind that of the reading: a newer file is gone
        (NOW_MS + HOUR_MS + 1, None, False),
        (1000 * NOW_MS, None, True),  # microseconds are not in the future
        (NOW_MS + HOUR_MS + 1, NOW_MS + HOUR_MS + 1, True),
        (NOW_MS + HOUR_MS, NOW_MS + HOUR_MS, False),  # that day has come
    ],
)
def test_what_was_kept_holds_as_long_as_the_clock_allows(newest_ms, ahead_ms, holds):
    times = {}
    if ahead_ms is not None:
        anomaly = TimeAnomaly(count=1, position=0, size_bytes=100, offset=5, timestamp_ms=ahead_ms)
        times = {"future": anomaly}
    summary = CheckSummary(segment=SEGMENT, newest=(newest_ms, 5, 0), times=times)
    assert stored_checks.is_still_valid(SegmentFindings((), summary), NOW_MS) is holds


@pytest.mark.parametrize("summary", [None, CheckSummary(segment=SEGMENT)], ids=["none", "empty"])
def test_what_has_no_time_holds(summary):
    assert stored_checks.is_still_valid(SegmentFindings((), summary), NOW_MS)
