"""A start in numbers, and the words that the page and the command have in common."""

import pytest

from kafkaviz.analysis.findings.finding import Finding
from kafkaviz.analysis.health.broker_health import check
from kafkaviz.analysis.restart import restart_forecast
from kafkaviz.cli.text.check_text import render
from kafkaviz.figures.health import checkup
from kafkaviz.figures.text import restart_forecast_text
from kafkaviz.messages import verbatim
from kafkaviz.simulate.startup.restart import Restart
from kafkaviz.simulate.steps import CAUSES, EXPECTED_CAUSES, RECOVERY_CAUSES, StartupStep

NO_REASON = verbatim("")
CUT = StartupStep("a-0", 0, "truncate", "tail", NO_REASON, "a-0/0.log", 100, 1500)
EMPTIED = StartupStep("a-0", 0, "truncate", "invalid-offset", NO_REASON, "a-0/0.log", 0, 100)
BUILT = [
    StartupStep("a-0", base, "rebuild", "unflushed", NO_REASON, f"a-0/{base}.{kind}")
    for base in (0, 9)
    for kind in ("index", "timeindex")
]
BUILT_B = StartupStep("b-0", 0, "rebuild", "index-missing", NO_REASON, "b-0/0.index")
SNAPSHOT = StartupStep("a-0", None, "rebuild", "producer-state", NO_REASON, "a-0/9.snapshot")
DELETIONS = [
    StartupStep("b-0", 5, "delete", "orphan-index", NO_REASON, "b-0/5.index"),
    StartupStep("b-0", 5, "delete", "leftover-deleted", NO_REASON, "b-0/5.log.deleted"),
]
TOPIC = StartupStep("c-0.1f-delete", None, "delete", "directory-deleted", NO_REASON)


def test_each_thing_is_counted_once():
    """Logs, not segments or files; segments whose indexes are built, not files; what every start
    may do is left out.
    """
    forecast = restart_forecast.forecast(
        Restart(False, True, (CUT, EMPTIED, *BUILT, BUILT_B, SNAPSHOT, *DELETIONS, TOPIC)), 7
    )
    assert forecast == restart_forecast.RestartForecast(False, True, 7, 1, 1600, 1, 1, 1, 3, 1, 1)
    assert restart_forecast_text.change_texts(forecast) == (
        "cut 1\u202f600 bytes off one log",
        "delete one file",
        "delete one directory of deleted topics",
        "rebuild indexes of three segments",
    )


def test_a_start_that_does_what_every_start_may_changes_nothing():
    """Producer snapshots, and files that waited to be unlinked."""
    epochs = StartupStep(
        "a-0", None, "rebuild", "leader-epochs", NO_REASON, "a-0/leader-epoch-checkpoint"
    )
    forecast = restart_forecast.forecast(
        Restart(True, True, (SNAPSHOT, epochs, DELETIONS[1], TOPIC)), 7
    )
    usual = (
        "one directory of deleted topics, one file that waited for deletion, one snapshot, one "
        "leader-epoch-checkpoint file"
    )
    assert (
        restart_forecast_text.describe(forecast)
        == f"change nothing but what every start does: {usual}"
    )
    assert (
        restart_forecast_text.describe(restart_forecast.forecast(Restart(True, True, ()), 7))
        == "change nothing"
    )
    assert set(EXPECTED_CAUSES) | set(RECOVERY_CAUSES) <= CAUSES.keys()


@pytest.mark.parametrize("sample", ["clean", "killed", "damaged"])
def test_the_page_and_the_command_say_the_same(sample, request):
    """Of one start, in the same words; as a JSON has thousands grouped or not."""
    health = check(request.getfixturevalue(sample))
    lines = list(render(health))
    title = checkup.start_verdict(
        health.findings, health.restart, len(health.broker.partitions)
    ).title
    assert title == f"This broker will start, and {restart_forecast_text.describe(health.forecast)}"
    assert lines[2].endswith(f"will succeed, and {restart_forecast_text.describe(health.forecast)}")
    assert health.forecast.logs == len(health.broker.partitions)


def test_the_other_logs_are_those_of_the_broker():
    """However few of them the steps name; a file of the broker directory takes no one log with
    it.
    """
    full = StartupStep(
        "a-0", 0, "fail", "index-full", verbatim("it is full"), "a-0/0.index", error="E: full"
    )
    none: list[Finding] = []
    assert checkup.start_verdict(none, Restart(False, False, (full,)), 1).text.endswith("full.")
    assert checkup.start_verdict(none, Restart(False, False, (full,)), 2).text.endswith(
        "its one other log is not served either."
    )
    assert checkup.start_verdict(none, Restart(False, False, (full, *BUILT)), 24).text.endswith(
        "its 23 other logs are not served either."
    )
    strange = StartupStep("lost+found", None, "fail", "directory-name", verbatim("no name"))
    assert checkup.start_verdict(none, Restart(False, False, (strange,)), 2).text.endswith(
        "its two other logs are not served either."
    )
    own = StartupStep(
        None,
        None,
        "fail",
        "meta-properties",
        verbatim("there is none"),
        "meta.properties",
        error="E: none",
    )
    assert (
        checkup.start_verdict(none, Restart(False, False, (own,)), 2).title
        == "This broker will not start: its meta.properties cannot be used"
    )
