import pytest

from kafkaviz.simulate.recovery import LeaderEpochs

KNOWN = ((0, 0), (3, 500), (5, 900))


@pytest.mark.parametrize(
    ("log_start", "log_end", "left"),
    [
        (0, 2000, [(0, 0), (3, 500), (5, 900)]),
        (0, 900, [(0, 0), (3, 500)]),
        (600, 800, [(3, 600)]),
        (500, 501, [(3, 500)]),
        (499, 500, [(0, 499)]),
        (0, 0, []),
    ],
)
def test_epochs_end_and_start_with_their_log(log_start, log_end, left):
    """Entries at or above the end are removed; the epoch in force at the start begins there."""
    epochs = LeaderEpochs(KNOWN)
    epochs.cut_to(log_start, log_end)
    assert epochs.entries == left


@pytest.mark.parametrize(
    ("assigned", "left"),
    [
        ((6, 1000), [*KNOWN, (6, 1000)]),
        ((5, 950), [*KNOWN]),
        ((5, 700), [(0, 0), (3, 500), (5, 700)]),
        ((4, 1000), [(0, 0), (3, 500), (4, 1000)]),
        ((6, 400), [(0, 0), (6, 400)]),
    ],
)
def test_a_new_epoch_pushes_out_what_it_contradicts(assigned, left):
    """Epochs and offsets both ascend, whatever a file or a batch says."""
    epochs = LeaderEpochs(KNOWN)
    epochs.assign(*assigned)
    assert epochs.entries == left and LeaderEpochs(reversed(left)).entries == left[:1]


def test_the_file_of_the_epochs():
    known, none = LeaderEpochs(KNOWN), LeaderEpochs()
    assert (known.text(), known.latest) == (b"0\n3\n0 0\n3 500\n5 900\n", 5)
    assert (none.text(), none.latest) == (b"0\n0\n", -1)
