"""A short soak of every reader, always the same one; and proof that the soak notices faults."""

from random import Random

import pytest

from tests.fuzz import faulty_targets, mutators, seeds, soak, targets
from tests.fuzz.commanded import COMMANDED, TARGETS

SEED = 20


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_every_target_damages_its_seeds_and_reads_them(target, tmp_path, monkeypatch):
    """Most cases read something else than the seed, and none escapes.

    This process's memory is not judged, because it compiles.
    """
    monkeypatch.setenv("KAFKAVIZ_FUZZ", str(tmp_path))
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path / "cache"))
    cases = 2 if target in COMMANDED else 5
    escapes = [soak.run_case([target], SEED, case)[1] for case in range(cases)]
    assert [one for one in escapes if one and one.kind not in ("memory", "slow")] == []
    drawn = [soak.drawn([target], SEED, case) for case in range(50)]
    assert sum(original != data for _, original, data, _ in drawn) > 25


def test_a_case_is_the_same_every_time():
    for case in range(200):
        (target, *read), (other, *again) = (soak.drawn(TARGETS, SEED, case) for _ in range(2))
        assert target is other and read[:2] == again[:2] and read[2].random() == again[2].random()


@pytest.mark.parametrize(
    "readers, kind, words",
    [
        (faulty_targets.BREAKS, "raised", "IndexError"),
        (faulty_targets.REFUSES, "raised", "refused where nothing may be refused"),
        (faulty_targets.HIDES, "raised", "lie before the damage, given were 0"),
        (faulty_targets.DAWDLES, "slow", " s"),
    ],
)
def test_a_fault_is_noticed(readers, kind, words, monkeypatch):
    """One kind of fault each, found within a few cases; its text says how to repeat it."""
    # a busy machine takes as long now and then where another fault is awaited, and what a thread of
    # an earlier test still takes raises the peak of the process
    monkeypatch.setattr(soak, "SLOW_S", 0.2 if kind == "slow" else 3600)
    monkeypatch.setattr(soak, "MAX_BYTES", 1 << 62)
    first_escape = next(
        escape for case in range(100) if (escape := soak.run_case(readers, SEED, case)[1])
    )
    run = soak.Soak(SEED)
    run.add(first_escape)
    assert first_escape.kind == kind and words in first_escape.what
    assert f"make fuzz SEED={SEED} CASE={first_escape.case}" in run.text()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, kind, words, stuck_s",
    [
        pytest.param("HOARDS", "memory", "MiB", 60, marks=pytest.mark.nightly),
        pytest.param("ASKS", "raised", "Unable to allocate", 60, marks=pytest.mark.nightly),
        pytest.param("LOOPS", "stuck", "no end", 1, marks=pytest.mark.nightly),
        ("DIES", "died", "exit code", 60),
    ],
)
def test_a_fault_that_takes_a_process_is_noticed(name, kind, words, stuck_s):
    run = soak.soak(
        SEED, 2, workers=1, targets=f"tests.fuzz.faulty_targets:{name}", stuck_s=stuck_s
    )
    assert {escape_kind for _, escape_kind, _ in run.escapes} == {kind}
    assert all(words in escape.what for escapes in run.first.values() for escape in escapes)


def test_mended_batches_have_the_right_checksum():
    draw = Random(SEED)
    mended = [mutators.mended(mutators.mutated(batch, draw)) for batch in seeds.batches()[:300]]
    complete = [
        batch[start:end]
        for batch in mended
        for start, end in mutators.batch_places(batch)[:1]
        if end - start >= 61
    ]
    assert len(complete) > 100
    assert all(targets.batch_records.is_crc_valid(batch) for batch in complete)


def test_the_first_difference():
    """The first byte that differs, else where one of them ends."""
    others = (b"abc", b"abd", b"ab", b"abcd", b"", b"xbc")
    found = [targets.first_difference(b"abc", other) for other in others]
    assert found == [3, 2, 2, 3, 0, 0]


def test_seeds_are_of_every_kind():
    """Batches of three magics, every codec, every file and directory."""
    magics = {batch[16] for batch in seeds.batches() if len(batch) > 16}
    codecs = {body.codec for body in seeds.packed()}
    assert {0, 1, 2} <= magics and {"gzip", "snappy", "lz4", "zstd"} <= codecs
    decoders = {body.decoder for body in seeds.bodies()}
    assert {"control", "metadata", "offsets", "transactions", "share", "remote"} <= decoders
    for inputs in (
        *(seeds.logs, seeds.offset_indexes, seeds.time_indexes, seeds.txn_indexes, seeds.snapshots),
        *(seeds.texts, seeds.partitions),
    ):
        assert len(inputs()) > 5, inputs
    assert all(
        any(name.startswith("__cluster_metadata-0/") for name in tree) for tree in seeds.brokers()
    )
