"""Which session is used, refused or given up, without a JVM."""

import os
import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace

import pyspark
import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from kafkaviz.errors import KafkavizError
from kafkaviz.messages import message
from kafkaviz.pipeline.ingest import job
from kafkaviz.pipeline.spark import session
from kafkaviz.pipeline.spark.java import NoJava


def answering(is_stopped: Callable[[], bool], **more: object) -> SimpleNamespace:
    """Returns a context whose JVM says whether it was stopped."""
    return SimpleNamespace(
        _jsc=SimpleNamespace(sc=lambda: SimpleNamespace(isStopped=is_stopped)), **more
    )


def lost_jvm() -> bool:
    raise ConnectionRefusedError


@pytest.mark.parametrize(
    ("context", "alive"),
    [
        (answering(lambda: False), True),
        (answering(lambda: True), False),
        (answering(lost_jvm), False),
        (SimpleNamespace(_jsc=None), False),
    ],
)
def test_a_context_lives_while_its_jvm_answers(context, alive):
    assert session.is_alive(context) == alive


def connected(*, is_stopped: bool) -> object:
    kind = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})
    spark = kind()
    spark.is_stopped = is_stopped
    return spark


@pytest.mark.parametrize(
    "spark", [connected(is_stopped=True), SimpleNamespace(sparkContext=answering(lambda: True))]
)
def test_a_session_that_was_stopped_is_refused(spark, tmp_path):
    """Before anything is read: the directory does not even exist."""
    with pytest.raises(KafkavizError) as refusal:
        job.start_ingest([tmp_path / "gone"], tmp_path / "catalog", spark=spark).wait()
    assert refusal.value.message.key == "errors.session_stopped"


@pytest.mark.parametrize(
    "spark", [connected(is_stopped=False), SimpleNamespace(sparkContext=answering(lambda: False))]
)
def test_a_session_that_runs_is_not_refused(spark):
    assert session.refuse_stopped(spark) is None


def test_a_foreign_context_is_not_stopped_for_another_master(monkeypatch):
    theirs = answering(lambda: False, master="local[1]")
    monkeypatch.setattr(SparkContext, "_active_spark_context", theirs)
    assert session.context() is session.context("local[1]") is theirs
    with pytest.raises(KafkavizError) as refusal:
        session.context("local[2]")
    assert refusal.value.message.key == "errors.other_session"


def test_a_context_whose_jvm_was_killed_is_given_up(monkeypatch):
    """A JVM that merely hangs ends with its stdin; another one is started."""
    closed = []
    process = SimpleNamespace(stdin=SimpleNamespace(close=lambda: closed.append(True)))
    monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=process))
    monkeypatch.setattr(SparkContext, "_jvm", object())
    monkeypatch.setattr(SparkContext, "_active_spark_context", answering(lost_jvm))
    monkeypatch.setattr(SparkSession, "_instantiatedSession", object())

    def prepare(master: str, cache: object) -> None:
        assert SparkContext._active_spark_context is SparkContext._gateway is None
        assert SparkSession._instantiatedSession is SparkContext._jvm is None
        raise NoJava(message("errors.no_java", oldest=17, too_old=""))

    monkeypatch.setattr(session, "prepare", prepare)
    with pytest.raises(NoJava):
        session.context("local[2]")
    assert closed == [True]


def test_a_server_of_spark_connect_is_asked_for_a_session(monkeypatch):
    """The given server, else that of the environment; an invalid master is refused here too."""
    remotes = []
    builder = SimpleNamespace(
        remote=lambda master: remotes.append(master) or builder, getOrCreate=lambda: "session"
    )
    monkeypatch.setattr(SparkSession, "builder", builder)
    assert session.session("sc://there") == "session"
    monkeypatch.setenv("SPARK_REMOTE", "sc://elsewhere")
    assert session.session() == "session"
    assert remotes == ["sc://there"]
    with pytest.raises(KafkavizError, match="is not a Spark master"):
        session.session("sc://")


@pytest.mark.parametrize(
    ("settings", "master"), [({"spark.master": "yarn"}, "yarn"), ({}, "local[*]")]
)
def test_the_master_of_spark_submit_is_a_setting_of_its_jvm(monkeypatch, settings, master):
    monkeypatch.setattr(SparkContext, "_ensure_initialized", lambda: None)
    monkeypatch.setattr(
        pyspark, "SparkConf", lambda _jvm: SimpleNamespace(getAll=lambda: list(settings.items()))
    )
    assert session.submitted_master({session.GATEWAY_PORT: "7077"}) == master


def foreign_context(master: str, environment: dict[str, str]) -> SimpleNamespace:
    return SimpleNamespace(
        master=master,
        pythonExec="python3",
        environment=environment,
        getConf=lambda: SimpleNamespace(contains=lambda name: False),
    )


@pytest.mark.parametrize(
    ("master", "python"), [("local[1]", sys.executable), ("spark://there:7077", "python3")]
)
def test_workers_of_a_foreign_local_context_run_this_python(monkeypatch, master, python):
    """Only during our job; elsewhere administrators set the Python."""
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    environment = {"PYTHONPATH": "theirs"}
    context = foreign_context(master, environment)
    with session.workers_with_kafkaviz(context):
        assert context.pythonExec == python
        assert context.environment["PYTHONPATH"].split(os.pathsep) == [
            str(session.CHECKOUT),
            str(session.CHECKOUT / session.SOURCE_MODULES),
            "theirs",
        ]
    assert context.pythonExec == "python3"
    assert context.environment is environment and environment == {"PYTHONPATH": "theirs"}


def test_two_runs_on_one_context_wait_for_each_other(monkeypatch):
    """Otherwise one would restore a setting while the other needs it, or for good."""
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    context = foreign_context("local[1]", {})
    seen: list[str] = []

    def run() -> None:
        with session.workers_with_kafkaviz(context):
            seen.append(context.pythonExec)

    other = threading.Thread(target=run)
    with session.workers_with_kafkaviz(context):
        other.start()
        other.join(0.2)
        assert seen == []
    other.join()
    assert (seen, context.pythonExec) == ([sys.executable], "python3")
