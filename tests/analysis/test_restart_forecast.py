"""A start in numbers, and the words that the page and the command share."""

import pytest

from kafkaviz.analysis.broker_health import check
from kafkaviz.analysis.findings import Finding
from kafkaviz.analysis.restart import restart_forecast
from kafkaviz.analysis.restart.restart_forecast import RecoveryReads
from kafkaviz.cli.text.check_text import render
from kafkaviz.figures import health_view
from kafkaviz.figures.text import startup_text
from kafkaviz.messages import verbatim
from kafkaviz.simulate.startup.restart import Restart
from kafkaviz.simulate.steps import CAUSES, EXPECTED_CAUSES, RECOVERY_CAUSES, StartupStep

NO_REASON = verbatim("")
CUT = StartupStep(
    partition="a-0",
    segment=0,
    action="truncate",
    cause="tail",
    why=NO_REASON,
    file="a-0/0.log",
    from_position=100,
    size_bytes=1500,
)
EMPTIED = StartupStep(
    partition="a-0",
    segment=0,
    action="truncate",
    cause="invalid-offset",
    why=NO_REASON,
    file="a-0/0.log",
    from_position=0,
    size_bytes=100,
)
BUILT = [
    StartupStep(
        partition="a-0",
        segment=base,
        action="rebuild",
        cause="unflushed",
        why=NO_REASON,
        file=f"a-0/{base}.{kind}",
    )
    for base in (0, 9)
    for kind in ("index", "timeindex")
]
BUILT_B = StartupStep(
    partition="b-0",
    segment=0,
    action="rebuild",
    cause="index-missing",
    why=NO_REASON,
    file="b-0/0.index",
)
SNAPSHOT = StartupStep(
    partition="a-0",
    segment=None,
    action="rebuild",
    cause="producer-state",
    why=NO_REASON,
    file="a-0/9.snapshot",
)
DELETIONS = [
    StartupStep(
        partition="b-0",
        segment=5,
        action="delete",
        cause="orphan-index",
        why=NO_REASON,
        file="b-0/5.index",
    ),
    StartupStep(
        partition="b-0",
        segment=5,
        action="delete",
        cause="leftover-deleted",
        why=NO_REASON,
        file="b-0/5.log.deleted",
    ),
]
TOPIC = StartupStep(
    partition="c-0.1f-delete",
    segment=None,
    action="delete",
    cause="directory-deleted",
    why=NO_REASON,
)


def test_each_thing_is_counted_once():
    """Logs, not segments or files. Steps that every start may take are left out."""
    forecast = restart_forecast.forecast(
        Restart(False, True, (CUT, EMPTIED, *BUILT, BUILT_B, SNAPSHOT, *DELETIONS, TOPIC)), 7
    )
    assert forecast == restart_forecast.RestartForecast(
        is_clean=False,
        starts=True,
        logs=7,
        cut_logs=1,
        cut_bytes=1600,
        deleted_files=1,
        deleted_directories=1,
        read_logs=1,
        rebuilt_segments=3,
        waiting_files=1,
        snapshots=1,
    )
    assert startup_text.change_texts(forecast) == (
        "cut 1\u202f600 bytes off one log",
        "delete one file",
        "delete one directory of deleted topics",
        "rebuild the indexes of three segments",
    )


def test_an_empty_replica_is_announced_first():
    created = StartupStep(
        partition="d-0", segment=None, action="create", cause="replica-created", why=NO_REASON
    )
    only_created = restart_forecast.forecast(Restart(True, True, (created,)), 7)
    assert startup_text.describe(only_created) == (
        "create one empty replica where a directory is missing"
    )
    forecast = restart_forecast.forecast(Restart(False, True, (CUT, created)), 7)
    assert startup_text.change_texts(forecast) == (
        "create one empty replica where a directory is missing",
        "cut 1\u202f500 bytes off one log",
    )


def test_a_start_that_does_what_every_start_may_changes_nothing():
    epochs = StartupStep(
        partition="a-0",
        segment=None,
        action="rebuild",
        cause="leader-epochs",
        why=NO_REASON,
        file="a-0/leader-epoch-checkpoint",
    )
    forecast = restart_forecast.forecast(
        Restart(True, True, (SNAPSHOT, epochs, DELETIONS[1], TOPIC)), 7
    )
    usual = (
        "delete one directory of deleted topics, delete one file that ends in .deleted, write or "
        "delete one snapshot and rewrite one leader-epoch-checkpoint file"
    )
    assert startup_text.describe(forecast) == f"do only what every start does: {usual}"
    assert (
        startup_text.describe(restart_forecast.forecast(Restart(True, True, ()), 7))
        == "change nothing"
    )
    assert set(EXPECTED_CAUSES) | set(RECOVERY_CAUSES) <= CAUSES.keys()


@pytest.mark.parametrize("sample", ["clean", "killed", "damaged"])
def test_the_page_and_the_command_say_the_same(sample, request):
    health = check(request.getfixturevalue(sample))
    lines = list(render(health))
    title = health_view.view(health).verdict.title
    doings = startup_text.describe(health.forecast)
    if health.broker.lacks_metadata_log:
        assert title == f"Nothing read here stops this broker from starting. It will {doings}"
        assert f"which will {doings}; the broker's other" in lines[2]
    else:
        assert title == f"This broker will start. It will {doings}"
        assert lines[2].endswith(f"will succeed, and {doings}")
    assert health.forecast.logs == len(health.broker.partitions)


def test_the_other_logs_are_those_of_the_broker():
    """A file of the broker directory belongs to no log."""
    full = StartupStep(
        partition="a-0",
        segment=0,
        action="fail",
        cause="index-full",
        why=verbatim("it is full"),
        file="a-0/0.index",
        error="E: full",
    )
    none: list[Finding] = []
    assert health_view.start_verdict(none, Restart(False, False, (full,)), 1).text.endswith("full.")
    assert health_view.start_verdict(none, Restart(False, False, (full,)), 2).text.endswith(
        "its one other log is not served either."
    )
    assert health_view.start_verdict(none, Restart(False, False, (full, *BUILT)), 24).text.endswith(
        "its 23 other logs are not served either."
    )
    strange = StartupStep(
        partition="lost+found",
        segment=None,
        action="fail",
        cause="directory-name",
        why=verbatim("no name"),
    )
    assert health_view.start_verdict(none, Restart(False, False, (strange,)), 2).text.endswith(
        "its two other logs are not served either."
    )
    own = StartupStep(
        partition=None,
        segment=None,
        action="fail",
        cause="meta-properties",
        why=verbatim("there is none"),
        file="meta.properties",
        error="E: none",
    )
    assert (
        health_view.start_verdict(none, Restart(False, False, (own,)), 2).title
        == "This broker will not start: its meta.properties cannot be used"
    )


@pytest.mark.parametrize(
    ("threads", "shortest"),
    [
        pytest.param(1, 10.0, id="one thread reads all"),
        pytest.param(2, 6.0, id="the largest log holds up two threads"),
        pytest.param(None, 6.0, id="as many threads as logs, if unknown"),
    ],
)
def test_the_time_of_a_recovery_is_a_range(threads, shortest):
    reads = RecoveryReads(
        log_directory="/data/a",
        logs=3,
        segments=4,
        log_bytes=1000,
        largest_log_bytes=600,
        threads=threads,
    )
    assert reads.seconds(100) == (shortest, 10.0)
