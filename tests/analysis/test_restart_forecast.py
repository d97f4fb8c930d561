"""A start in numbers, and the words that the page and the command share."""

import pytest

from kafkaviz.analysis.broker_health import check
from kafkaviz.analysis.restart import restart_forecast
from kafkaviz.analysis.restart.restart_forecast import RecoveryReads, RestartForecast
from kafkaviz.cli.text.check_text import render
from kafkaviz.figures import health_view
from kafkaviz.messages import Message, verbatim
from kafkaviz.render import startup_text
from kafkaviz.simulate.startup.restart import Restart
from kafkaviz.simulate.steps import CAUSES, EXPECTED_CAUSES, RECOVERY_CAUSES, StartupStep

NO_REASON = verbatim("")


def step(
    action: str,
    cause: str,
    file: str | None,
    partition: str | None = "a-0",
    segment: int | None = 0,
    why: Message = NO_REASON,
    **fields: object,
) -> StartupStep:
    return StartupStep(
        action=action,
        cause=cause,
        file=file,
        partition=partition,
        segment=segment,
        why=why,
        **fields,
    )


CUT = step("truncate", "tail", "a-0/0.log", from_position=100, size_bytes=1500)
EMPTIED = step("truncate", "invalid-offset", "a-0/0.log", from_position=0, size_bytes=100)
BUILT = [
    step("rebuild", "unflushed", f"a-0/{base}.{kind}", segment=base)
    for base in (0, 9)
    for kind in ("index", "timeindex")
]
BUILT_B = step("rebuild", "index-missing", "b-0/0.index", partition="b-0")
SNAPSHOT = step("rebuild", "producer-state", "a-0/9.snapshot", segment=None)
DELETIONS = [
    step("delete", "orphan-index", "b-0/5.index", partition="b-0", segment=5),
    step("delete", "leftover-deleted", "b-0/5.log.deleted", partition="b-0", segment=5),
]
TOPIC = step("delete", "directory-deleted", None, partition="c-0.1f-delete", segment=None)


FULL = step("fail", "index-full", "a-0/0.index", why=verbatim("it is full"), error="E: full")
STRANGE = step("fail", "directory-name", None, partition="lost+found", segment=None)


def forecast(*steps: StartupStep, is_clean: bool = True) -> RestartForecast:
    return restart_forecast.forecast(Restart(is_clean, True, steps), 7)


def test_each_thing_is_counted_once():
    """Logs, not segments or files. Steps that every start may take are left out."""
    steps = (CUT, EMPTIED, *BUILT, BUILT_B, SNAPSHOT, *DELETIONS, TOPIC)
    counted = forecast(*steps, is_clean=False)
    assert counted == RestartForecast(
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
    assert startup_text.change_texts(counted) == (
        "cut 1\u202f600 bytes off one log",
        "delete one file",
        "delete one directory of a deleted topic",
        "rebuild the indexes of three segments",
    )


def test_an_empty_replica_is_announced_first():
    created = step("create", "replica-created", None, partition="d-0", segment=None)
    text = "create one empty replica where a directory is missing"
    assert startup_text.describe(forecast(created)) == text
    changes = startup_text.change_texts(forecast(CUT, created, is_clean=False))
    assert changes == (text, "cut 1\u202f500 bytes off one log")


def test_a_start_that_does_what_every_start_may_changes_nothing():
    epochs = step("rebuild", "leader-epochs", "a-0/leader-epoch-checkpoint", segment=None)
    usual = (
        "delete one directory of a deleted topic, delete one file that ends in .deleted, write or "
        "delete one producer snapshot and rewrite one leader-epoch-checkpoint file"
    )
    text = startup_text.describe(forecast(SNAPSHOT, epochs, DELETIONS[1], TOPIC))
    assert text == f"do only what every start does: {usual}"
    assert startup_text.describe(forecast()) == "change nothing"
    assert set(EXPECTED_CAUSES) | set(RECOVERY_CAUSES) <= CAUSES.keys()


@pytest.mark.parametrize("sample", ["clean", "killed", "damaged"])
def test_the_page_and_the_command_say_the_same(sample, request):
    health = check(request.getfixturevalue(sample))
    lines = list(render(health))
    title = health_view.view(health).verdict.title
    doings = startup_text.describe(health.forecast)
    if health.broker.lacks_metadata_log:
        assert (
            title
            == f"Nothing in the files read here stops this broker from starting. It will {doings}"
        )
        assert f"which will {doings}; the broker's other" in lines[2]
    else:
        assert title == f"This broker will start. It will {doings}"
        assert lines[2].endswith(f"will succeed, and {doings}")
    assert health.forecast.logs == len(health.broker.partitions)


@pytest.mark.parametrize(
    ("steps", "logs", "end"),
    [
        ([FULL], 1, "full."),
        ([FULL], 2, "its one other log is not served either."),
        ([FULL, *BUILT], 24, "its 23 other logs are not served either."),
        ([STRANGE], 2, "its two other logs are not served either."),
    ],
)
def test_the_other_logs_are_those_of_the_broker(steps, logs, end):
    """A file of the broker directory belongs to no log."""
    verdict = health_view.start_verdict([], Restart(False, False, tuple(steps)), logs)
    assert verdict.text.endswith(end)


def test_a_file_of_the_broker_that_ends_the_start_is_named():
    own = step("fail", "meta-properties", "meta.properties", None, None, error="E: none")
    verdict = health_view.start_verdict([], Restart(False, False, (own,)), 2)
    assert verdict.title == "This broker will not start: its meta.properties cannot be used"


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
