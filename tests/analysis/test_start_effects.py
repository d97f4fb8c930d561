"""No finding contradicts another one about the same file, or what the start will do to the file."""

import random
import shutil
from pathlib import Path

import pytest

from kafkaviz.analysis.broker_health import Health, check
from kafkaviz.analysis.findings import CODES
from tests.analysis.contradictions import contradictions
from tests.analysis.lab import Lab
from tests.kafka.damages import DAMAGES
from tests.kafka.starts import BASES, FIELD_CASES, unpack
from tests.support.cases import all_cases
from tests.support.findings import only

PLAIN = "clicks-none-0"
SECOND_DAMAGES = (
    *("log_cut", "log_flipped", "log_with_zeros_behind"),
    *("index_cut", "index_flipped", "index_removed", "index_with_zeros_behind"),
    *("timeindex_removed", "transaction_index_cut", "transaction_index_flipped"),
)


def _texts(health: Health, file: str) -> dict[str, tuple[str, str]]:
    return {
        finding.code: (finding.consequence.key, finding.next_step.key)
        for finding in health.findings
        if finding.file == file
    }


def test_a_txnindex_that_the_start_rebuilds_stays_where_it_is(damaged):
    health = check(damaged)
    assert contradictions(health) == []
    assert _texts(health, "transfers-0/00000000000000000320.txnindex") == {
        "txnindex-mismatch": ("consequence.start_rewrites", "next_step.let_start_rebuild"),
        "recovery-will-rebuild": ("consequence.recovery_will_rebuild", "next_step.nothing"),
    }


def test_the_index_of_an_emptied_log_is_rebuilt_after_a_kill(clean, tmp_path):
    lab = Lab(clean, tmp_path / "kafka", [PLAIN])
    log = lab.files(PLAIN, ".log")[-1]
    index = log.with_suffix(".index")
    lab.write(log, b"")
    files = shutil.copytree(lab.path, tmp_path / "stopped")
    lab.unclean()
    health = check(lab.path)
    assert contradictions(health) == []
    texts = _texts(health, f"{PLAIN}/{index.name}")
    rewritten = ("consequence.start_rewrites", "next_step.let_start_rebuild")
    assert texts["index-position-beyond-log"] == rewritten
    texts = _texts(check(files), f"{PLAIN}/{index.name}")
    assert texts["index-position-beyond-log"][1] == "next_step.rebuild_indexes"


def test_a_name_that_ends_the_start_is_one_finding(tmp_path):
    (disk,) = unpack(FIELD_CASES / "appledouble-log-name.tar.gz", tmp_path)
    health = check(disk)
    (failure,) = health.restart.failures
    (finding,) = (finding for finding in health.findings if finding.file == failure.file)
    assert (finding.code, finding.severity) == ("recovery-will-fail", "error")


@pytest.mark.parametrize(
    ("code", "damage"),
    [
        ("batch-crc-mismatch", lambda data: data.__setitem__(200, data[200] ^ 1)),
        ("batch-bad-length", lambda data: data.__setitem__(11, data[11] ^ 1)),
    ],
)
@pytest.mark.parametrize(
    ("is_clean", "recovery_point", "outcome", "next_step"),
    [
        (True, None, "damage_stays", "restore_closed_segment"),
        (True, 0, "damage_unnoticed", "restore_closed_segment"),
        (False, None, "damage_stays", "restore_closed_segment"),
        (False, 0, "damage_cut", "restore_before_cut"),
    ],
)
def test_a_damaged_batch_is_cut_only_by_a_recovery_that_reaches_it(
    is_clean, recovery_point, outcome, next_step, code, damage, clean, tmp_path
):
    """LogLoader recovers the segments from the recovery point on, after an unclean stop."""
    lab = Lab(clean, tmp_path / "kafka", [PLAIN])
    lab.change(lab.files(PLAIN, ".log")[0], damage)
    if recovery_point is not None:
        lab.checkpoint("recovery-point-offset-checkpoint", "clicks-none", 0, recovery_point)
    if not is_clean:
        lab.unclean()
    health = check(lab.path)
    finding = only(health, code)
    assert finding.consequence["readers"] == CODES[code].consequence
    assert finding.consequence["outcome"].key == f"consequence.{outcome}"
    assert finding.next_step.key == f"next_step.{next_step}"
    assert contradictions(health) == []


def _twice_damaged(seed: int) -> list[tuple[str, str, str]]:
    pick = random.Random(seed)
    return [
        (base, first, pick.choice(SECOND_DAMAGES))
        for base in ("one-clean", "one-killed")
        for first in pick.sample(sorted(DAMAGES), 15)
    ]


TWICE_DAMAGED = _twice_damaged(1)


def contradictions_after(case: tuple[str, str, str], folder: Path) -> list[str]:
    base, *damages = case
    disks = unpack(BASES / f"{base}.tar.xz", folder)
    for number, name in enumerate(damages):
        if number == 0 or any(Path(disks[0]).glob("*/*.log")):
            DAMAGES[name](disks, random.Random(f"{case}"))
    return contradictions(check(disks[0], "4.4.0"))


@all_cases("case", TWICE_DAMAGED[::3], ids=" ".join)
def test_no_finding_contradicts_the_start_after_random_damage(case, tmp_path_factory):
    assert contradictions_after(case, tmp_path_factory.mktemp("damaged")) == []


@pytest.mark.nightly
@all_cases("case", TWICE_DAMAGED, ids=" ".join)
def test_no_finding_contradicts_the_start_after_more_damage(case, tmp_path_factory):
    assert contradictions_after(case, tmp_path_factory.mktemp("damaged")) == []
