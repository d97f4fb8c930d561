"""The data of the Health page, value by value."""

import json
from dataclasses import replace

import pytest

from kafkaviz.analysis.broker_health import check
from kafkaviz.analysis.findings import Evidence, Finding, finding
from kafkaviz.analysis.restart.restart_forecast import RecoveryReads
from kafkaviz.figures import health_view, startup_steps
from kafkaviz.messages import message, render
from kafkaviz.simulate.startup.restart import Restart
from kafkaviz.simulate.steps import StartupStep
from tests.support.startup_steps import startup_step

LOGS = {("orders-0", 0): 6000, ("orders-1", 0): 3000, ("a-0", 0): 10}
TORN = startup_step("orders-1", "truncate", "tail", "log", from_position=2900, size_bytes=100)
AGAIN = tuple(startup_step(name) for name in ("orders-0", "orders-1", "a-0"))
FULL = startup_step(
    "a-0",
    "fail",
    "index-full",
    "timeindex",
    why="the index is full",
    error="E: full (size = 84)",
    way_out="raise it",
)
BECOMES_STRAY = StartupStep(
    partition="a-0",
    segment=None,
    action="keep",
    cause="becomes-stray",
    why=message("start.becomes_stray", because="no id"),
)
STARTS = "This broker will start"
TRUSTED = (
    "The broker was stopped cleanly, so it will trust the contents of its logs, except for segments "
    "that it has to recover."
)
READ_AGAIN = (
    "The broker was not stopped cleanly, so it will read 3 logs again from their recovery points and "
    "rebuild their indexes."
)


def finding_of(code: str, partition: str = "orders-1", **more: object) -> Finding:
    return finding(
        code,
        "it is so",
        Evidence("this", "that"),
        partition=partition,
        file=f"{partition}/{0:020d}.log",
        **more,
    )


def nothing(file: str, position: int, length: int) -> bytes:
    return b""


@pytest.mark.parametrize(
    ("restart", "findings", "kind", "title", "text"),
    [
        (Restart(True, True, ()), [], "ok", f"{STARTS}. It will change nothing", TRUSTED),
        (
            Restart(True, True, ()),
            [finding_of("index-offset-mismatch")],
            "error",
            f"{STARTS}. It will change nothing",
            f"{TRUSTED} One error will remain: the broker does not notice it when it starts.",
        ),
        (
            Restart(False, True, AGAIN),
            [],
            "warning",
            f"{STARTS}. It will rebuild the indexes of three segments",
            READ_AGAIN,
        ),
        (
            Restart(False, True, (*AGAIN, TORN)),
            [finding_of("log-torn-tail", position=2900, length=100)],
            "warning",
            f"{STARTS}. It will cut 100 bytes off one log and rebuild the indexes of three segments",
            f"{READ_AGAIN} One log ends in bytes that are not a batch: 100 belong to a batch that was "
            "cut short. No whole batch is lost.",
        ),
        (
            Restart(True, True, (startup_step("a-0", "delete", "orphan-index", size_bytes=8),)),
            [],
            "warning",
            f"{STARTS}. It will delete one file",
            TRUSTED,
        ),
        (
            Restart(True, True, (BECOMES_STRAY,)),
            [finding_of("becomes-stray")],
            "error",
            f"{STARTS}, but not serve one directory, because it treats it as stray",
            f"{TRUSTED} One directory will be renamed to end in -stray; its finding says why.",
        ),
        (
            Restart(False, False, (*AGAIN, FULL)),
            [],
            "error",
            "This broker will not start: the offset index of a-0 cannot be rebuilt",
            "The index is full. Kafka says: E: full (size = 84). The whole broker stops: its "
            "one other log is not served either.",
        ),
    ],
)
def test_the_verdict_says_what_the_start_will_do(restart, findings, kind, title, text):
    assert health_view.start_verdict(findings, restart, 2) == (kind, title, text)


@pytest.mark.parametrize(
    "restart",
    [Restart(False, True, (*AGAIN, TORN)), Restart(False, False, (*AGAIN, FULL))],
    ids=["starts", "fails"],
)
@pytest.mark.parametrize(
    ("release", "is_said"),
    [((4, 3, 1), False), ((4, 4, 0), False), ((2, 2), True), ((3, 9, 0), True), ((4, 3), True)],
)
def test_a_start_that_was_not_recorded_names_the_source_as_evidence(restart, release, is_said):
    """Starts were recorded on 4.3.1 and 4.4.0."""
    source = f" Known from the source of Kafka {'.'.join(map(str, release))}; "
    end = f"{source}starts were recorded only for 4.3.1 and 4.4.0."
    text = health_view.start_verdict([], restart, 2, release=release).text
    assert (text.endswith(end), "recorded" in text) == (is_said, is_said)


def test_a_batch_lost_is_not_called_no_batch_lost():
    """A cut for another reason than a tail removes whole batches."""
    cut = startup_step(
        "orders-1", "truncate", "invalid-offset", "log", from_position=0, size_bytes=3000
    )
    tail = finding_of("log-torn-tail", position=2900, length=100)
    verdict = health_view.start_verdict([tail], Restart(False, True, (*AGAIN, cut)), 3)
    assert "No whole batch is lost" not in verdict.text


def test_the_strip_shows_what_is_read_in_proportion():
    """Trouble first, then by size; a small log keeps some width."""
    strip = health_view.recovery_strip(Restart(False, True, (*AGAIN, TORN)), LOGS)
    reads = "When it starts, the broker will read 8.80 KiB in 3 logs"
    assert strip.title == f"{reads}; widths are in proportion"
    cuts = [(bar.name, bar.cut_bytes) for bar in strip.bars]
    assert cuts == [("orders-1", 100), ("orders-0", 0), ("a-0", 0)]
    assert sum(bar.share for bar in strip.bars) == pytest.approx(1) and strip.bars[2].share > 0.015
    assert strip.below == "cut at the end: orders-1 by 100 B"
    assert strip.aside == "other segments: kept whole, index rebuilt"
    assert strip.bars[0].words == "1 segment, 2.93 KiB: cut by 100 B, index rebuilt"


def test_a_failing_log_comes_first():
    strip = health_view.recovery_strip(Restart(False, False, (*AGAIN, FULL)), LOGS)
    assert strip.bars[0].name == "a-0" and strip.bars[0].fails
    assert strip.below == "fails here; nothing after it is served" and strip.aside == ""


def test_logs_that_are_only_read_are_called_unchanged():
    strips = [
        health_view.recovery_strip(Restart(False, True, steps), LOGS)
        for steps in (AGAIN, (AGAIN[1], TORN))
    ]
    assert [strip.aside for strip in strips] == ["kept whole, indexes rebuilt", ""]


def test_what_is_read_again_and_comes_out_the_same_is_reported():
    steps = tuple(startup_step(name, "keep", suffix="log", why="") for name in ("orders-0", "a-0"))
    same = Restart(False, True, steps)
    verdict = health_view.start_verdict([], same, 2)
    assert verdict.title == "This broker will start. It will change nothing"
    again = READ_AGAIN.replace("3 logs", "2 logs").removesuffix(".")
    assert verdict.text == f"{again} to the same bytes."
    strip = health_view.recovery_strip(same, LOGS)
    assert strip.aside == "kept whole, indexes rebuilt to the same bytes"
    assert strip.bars[0].words == "1 segment, 5.86 KiB: kept whole, index rebuilt to the same bytes"
    cut = health_view.recovery_strip(Restart(False, True, (*same.steps, TORN, AGAIN[1])), LOGS)
    assert cut.aside == "other segments: kept whole, index rebuilt to the same bytes"
    both = health_view.recovery_strip(Restart(False, True, (*same.steps, AGAIN[1])), LOGS)
    assert both.aside == "kept whole, indexes rebuilt"


def test_a_renamed_directory_is_named_shortly():
    directory = "old-0.d9e2420e43c24fe7bcf8a819bf93d888-delete"
    (item,) = health_view.finding_items([finding_of("timeindex-empty", directory)], nothing)
    assert item.where == "old-0…-delete 0.log" and item.members[0].where.startswith(f"{directory}/")


def test_a_clean_start_reads_nothing():
    assert health_view.recovery_strip(Restart(True, True, ()), LOGS) is None


def test_many_of_one_code_are_one_line():
    """Four errors, or two infos, of one code become one line."""
    few = health_view.finding_items(
        [finding_of("batch-crc-mismatch", position=place) for place in range(3)], nothing
    )
    assert [(item.count, item.key) for item in few] == [
        (1, f"batch-crc-mismatch@orders-1/{0:020d}.log:{place}") for place in range(3)
    ]
    (many,) = health_view.finding_items(
        [finding_of("batch-crc-mismatch", position=place) for place in range(4)], nothing
    )
    assert (many.count, many.title) == (4, "A batch does not match its checksum")
    assert many.where == "4 times in orders-1"
    (infos,) = health_view.finding_items(
        [finding_of("timeindex-empty", "a-0"), finding_of("timeindex-empty", "b-0")], nothing
    )
    assert (infos.count, infos.where, infos.key) == (2, "2 topic-partitions", "timeindex-empty")


def test_a_cut_of_more_than_the_tail_stays_a_finding():
    """Only a cut of exactly the tail's bytes says the same as the finding about the tail."""
    tail = finding_of("log-torn-tail", position=10, length=5)
    cut = finding_of("recovery-will-truncate", position=10, length=5)
    (item,) = health_view.finding_items([tail, cut], nothing)
    assert (item.code, item.count) == ("log-torn-tail", 1)
    assert item.members[0].consequence == f"{render(cut.consequence)}."
    earlier_cut = replace(cut, position=0, length=15)
    items = health_view.finding_items([tail, earlier_cut], nothing)
    assert [item.code for item in items] == ["log-torn-tail", "recovery-will-truncate"]


def test_errors_come_first_and_words_are_sentences():
    items = health_view.finding_items(
        [
            finding_of("timeindex-empty"),
            finding_of("log-torn-tail", position=10, length=5),
            finding_of("orphan-index"),
        ],
        nothing,
    )
    assert [item.severity for item in items] == ["error", "warning", "info"]
    torn = items[0]
    assert torn.title == "The last batch is cut short"
    assert torn.where == "orders-1 0.log, bytes 10–14"
    member = torn.members[0]
    assert (member.message, member.found) == ("It is so.", "This.")
    assert member.expected == "Expected: that."
    assert member.where == f"orders-1/{0:020d}.log, bytes 10–14"
    assert member.consequence.endswith(".")


def test_the_dump_begins_a_little_before_the_finding():
    """At the start of a line, at most eight lines, with the bytes of the finding marked."""
    reads = []

    def read(file: str, position: int, length: int) -> bytes:
        reads.append((file, position, length))
        return bytes(range(length))

    (item,) = health_view.finding_items([finding_of("log-torn-tail", position=100, length=7)], read)
    assert reads == [(f"orders-1/{0:020d}.log", 64, 128)]
    assert item.members[0].dump == (64, bytes(range(128)).hex(), (100, 107), "log")


def test_a_start_that_cannot_be_predicted_is_reported(unstartable):
    health = replace(check(unstartable), findings=(finding_of("log-torn-tail"),), restart=None)
    view = health_view.view(health)
    assert (view.verdict, view.strip, len(view.items)) == (health_view.unknown_verdict(), None, 1)
    assert view.counts == {"error": 1, "warning": 0, "info": 0}


def test_only_so_many_members_are_sent():
    (item,) = health_view.finding_items(
        [finding_of("batch-crc-mismatch", position=place) for place in range(1000)], nothing
    )
    assert (item.count, len(item.members)) == (1000, health_view.MAX_MEMBERS)


def test_the_message_is_plain_values():
    torn = finding_of("log-torn-tail", position=1, length=5)
    restart = Restart(False, True, (*AGAIN, TORN))
    view = health_view.HealthView(
        verdict=health_view.start_verdict([torn], restart, 3),
        strip=health_view.recovery_strip(restart, LOGS),
        counts={"error": 1, "warning": 0, "info": 0},
        items=health_view.finding_items([torn], lambda *_: b"\x01\x02"),
        steps=startup_steps.steps_table(restart),
    )
    sent = json.loads(json.dumps(health_view.findings_payload(view, "k")))
    assert sent["key"] == "k" and sent["items"][0]["members"][0]["dump"]["digits"] == "0102"
    assert sent["counts"] == {"error": 1, "warning": 0, "info": 0}


def test_a_finding_leads_to_its_bytes():
    """To the file of the segment and the byte; a missing or empty file has none."""
    (there,) = health_view.finding_items(
        [finding_of("log-torn-tail", position=2900, length=5)], lambda *_: b"\x01"
    )
    place = {"tp": "orders-1", "segment": "0", "tab": "Bytes", "file": ".log", "byte": "2900"}
    assert there.members[0].link == place
    (item,) = health_view.finding_items(
        [finding_of("log-torn-tail", position=2900, length=5)], nothing
    )
    assert item.members[0].link == {}


def test_an_open_transaction_leads_to_the_tab_transactions():
    open_transaction = finding_of("open-transaction", position=2900, length=None)
    (item,) = health_view.finding_items([open_transaction], lambda *_: b"\x01")
    assert item.members[0].link == {"tp": "orders-1", "segment": "0", "tab": "Transactions"}


def test_the_start_says_how_long_its_recovery_takes(killed):
    """The slowest log directory counts, because all are recovered at the same time."""
    text = health_view.view(check(killed)).verdict.text
    assert "Recovery reads 1.18 MiB in 4 segments, which takes 6 ms to 12 ms" in text
    reads = RecoveryReads(
        log_directory="/a",
        logs=1,
        segments=2,
        log_bytes=10**10,
        largest_log_bytes=10**10,
        threads=1,
    )
    slower = replace(reads, log_directory="/b", log_bytes=3 * 10**10, logs=3)
    restart = Restart(False, True, AGAIN)
    text = health_view.start_verdict([], restart, 4, recovery=[reads, slower]).text
    assert "Recovery reads 37.3 GiB in 4 segments, which takes 5 min if a thread reads" in text
