"""The error of register for a Spark that cannot run the data source."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from pyspark import cloudpickle
from pyspark.errors import PySparkException

import kafkaviz.pipeline
from kafkaviz.errors import KafkavizError
from kafkaviz.pipeline.datasource import probes, source


@pytest.mark.parametrize("version", ["3.5.9", "4.0.5"])
def test_an_older_spark_is_refused(version):
    spark = SimpleNamespace(version=version)
    with pytest.raises(KafkavizError) as refusal:
        kafkaviz.pipeline.register(spark)
    assert str(refusal.value) == (
        f"Spark {version} is too old for the data source, which needs Spark 4.1 to 4.3"
    )


@pytest.mark.parametrize(
    ("version", "is_taken"),
    [
        ("4.0.9", False),
        ("4.1.0", True),
        ("4.3.0", True),
        ("4.10.0-SNAPSHOT", True),
        ("5.0.0", True),
    ],
)
def test_a_newer_spark_is_taken(version, is_taken):
    refusals = []
    try:
        kafkaviz.pipeline.refuse_older_spark(version)
    except KafkavizError as refusal:
        refusals.append(refusal)
    assert (not refusals) == is_taken


def test_types_are_those_of_spark_4_1_too(monkeypatch):
    """Its to_arrow_schema has no argument for the time zone."""
    schema = source.RecordsSource({"path": "/x", "columns": "timestamp,offset"}).schema()
    expected = source.arrow_schema(schema)
    to_arrow_schema = source.to_arrow_schema
    monkeypatch.setattr(
        source, "to_arrow_schema", lambda schema: to_arrow_schema(schema, timezone="UTC")
    )
    assert source.arrow_schema(schema) == expected


class Fault(PySparkException):
    """The error that Spark raises where it cannot run a Python."""

    def __init__(self) -> None:
        super().__init__(message="no python3")

    def __str__(self) -> str:
        return "no python3\n\tat org.apache.spark"


class Session:
    """A Spark session that answers a probe with columns, or with an error."""

    def __init__(self, answer: list[str] | Exception) -> None:
        self.dataSource = SimpleNamespace(register=lambda row_source: None)
        self._answer = answer

    @property
    def read(self) -> "Session":
        return self

    def format(self, name: str) -> "Session":
        return self

    def load(self) -> "Session":
        return self

    @property
    def columns(self) -> list[str]:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (["/usr/bin/python3", "ModuleNotFoundError: no"], "/usr/bin/python3, has no kafkaviz (Mod"),
        (Fault(), "no Python could be run for this Spark: no python3;"),
    ],
)
@pytest.mark.parametrize(
    ("is_connect", "process"), [(True, "Spark Connect server"), (False, "driver and of every")]
)
def test_a_python_without_kafkaviz_is_refused_in_one_line(answer, words, is_connect, process):
    with pytest.raises(KafkavizError) as refusal:
        probes.require_kafkaviz(Session(answer), is_connect=is_connect)
    text = str(refusal.value)
    assert words in text and "PYSPARK_PYTHON" in text and process in text
    assert "\n" not in text and "org.apache" not in text


def test_the_probe_needs_no_kafkaviz():
    code = (
        "import pickle, sys; sys.modules['kafkaviz'] = None; "
        "source = pickle.load(sys.stdin.buffer); print(*source({}).schema().names, sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=cloudpickle.dumps(probes._probe()),
        capture_output=True,
        check=True,
    )
    python, reason = done.stdout.decode().splitlines()
    assert python == sys.executable and reason.startswith("ModuleNotFoundError: ")


@pytest.mark.slow
def test_spark_is_asked(spark):
    probes.require_kafkaviz(spark, is_connect=False)
    name = probes._probe().name()
    assert spark.read.format(name).load().columns == [probes.HAS_KAFKAVIZ]
