"""Several scans of one frame or view: every row, on classic Spark and Spark Connect."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafkaviz.pipeline import register
from kafkaviz.pipeline.datasource import probes
from kafkaviz.pipeline.datasource.source import PushingReader, RecordsSource, session_source
from kafkaviz.pipeline.spark.session import SOURCE_MODULES
from tests.pipeline.scan_answers import KEYS, SELECTIONS, SHUFFLES, TOPICS, answers
from tests.pipeline.source_reading import read

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def expected(clean) -> dict[str, dict]:
    answers_ = {}
    for name in KEYS:
        options = {"columns": ",".join(KEYS[name]), SELECTIONS.get(name, "topics"): TOPICS}
        topics = read(name, clean, **options)["topic"].to_pylist()
        every, refunds, accounts = len(topics), topics.count("refunds"), topics.count("accounts")
        assert every > refunds + accounts > refunds > 0 < accounts
        answers_[name] = {
            "one": refunds,
            "whole": every,
            "union": {"refunds": refunds, "accounts": accounts},
            "joined": refunds,
            "view": [refunds, every],
        }
    return answers_


@pytest.fixture
def pushing(spark):
    """Returns the session of the test run with filter pushdown on, as for other sources."""
    options = {probes.ENABLED: "true", SHUFFLES: "1"}
    before = {name: spark.conf.get(name) for name in options}
    for name, value in options.items():
        spark.conf.set(name, value)
    yield spark
    for name, value in before.items():
        spark.conf.set(name, value)
    probes._CACHE.clear()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        name if name == "kafka_records" else pytest.param(name, marks=pytest.mark.nightly)
        for name in KEYS
    ],
)
def test_every_scan_of_a_frame_has_all_its_rows(pushing, clean, expected, name):
    """Also where Spark keeps the filters of one scan for the next."""
    register(pushing)
    assert answers(pushing, clean, name) == expected[name]


@pytest.mark.nightly
def test_spark_connect_gives_the_same(clean, expected):
    """A server in a process of its own; all six formats are found without registering."""
    command = [sys.executable, "-m", "tests.pipeline.scan_answers", str(clean)]
    paths = os.pathsep.join([str(ROOT), str(ROOT / SOURCE_MODULES)])
    environ = {**os.environ, "PYTHONPATH": paths, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env=environ, timeout=900
    )
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["kind"] == "pyspark.sql.connect.session" and report["answers"] == expected
    assert report["found"] == dict.fromkeys(KEYS, 1)


@pytest.mark.slow
def test_filters_of_a_single_scan_are_pushed_where_spark_keeps_them_apart(
    pushing, clean, expected, monkeypatch
):
    """With a forced probe the frame's reader accepts filters, and a single scan has its rows."""
    monkeypatch.setattr(probes, "isolates_filters", lambda spark: True)
    probes._CACHE.clear()
    register(pushing)
    for name in KEYS:
        frame = (
            pushing.read.format(name)
            .option("columns", ",".join(KEYS[name]))
            .option(SELECTIONS.get(name, "topics"), TOPICS)
            .load(str(clean))
        )
        assert frame.where("topic = 'refunds' AND partition >= 0").count() == expected[name]["one"]


@pytest.mark.slow
def test_the_probe_shows_what_spark_does(pushing, clean, monkeypatch):
    """Two scans with pushed filters are right exactly if the probe says so."""
    queries = []
    keeps_apart = probes.isolates_filters
    monkeypatch.setattr(
        probes, "isolates_filters", lambda spark: queries.append(keeps_apart(spark)) or queries[-1]
    )
    probes._CACHE.clear()
    assert (
        probes.can_push_filters(pushing) == probes.can_push_filters(pushing) == queries[0]
        and len(queries) == 1
    )
    pushing.dataSource.register(session_source(RecordsSource, pushes_filters=True, is_local=True))
    frame = (
        pushing.read.format("kafka_records")
        .option("columns", "topic")
        .option("topics", "clicks-gzip,nulls")
        .load(str(clean))
    )
    nulls, every = frame.where("topic = 'nulls'").count(), frame.count()
    assert (nulls < every) == queries[0]
    register(pushing)


def test_a_session_without_pushed_filters_is_not_probed():
    class Conf:
        def get(self, name, default=None):
            return default

    class Session:
        conf = Conf()

    assert not probes.can_push_filters(Session())


def test_a_reader_takes_filters_only_where_they_are_enabled(clean):
    """Spark refuses such a reader where they are off."""
    from pyspark.sql.datasource import DataSourceReader

    source = RecordsSource({"path": str(clean)})
    assert type(source.reader(source.schema())).pushFilters is DataSourceReader.pushFilters
    pushing = session_source(RecordsSource, pushes_filters=True, is_local=True)(
        {"path": str(clean)}
    )
    assert (
        isinstance(pushing.reader(pushing.schema()), PushingReader)
        and pushing.name() == "kafka_records"
    )
    assert session_source(RecordsSource, pushes_filters=False, is_local=True) is RecordsSource
