"""What stands beside a number of segments that are not in use."""

import pytest

from kafkaviz import words
from kafkaviz.analyse.unused import NO_LOG, Unused
from kafkaviz.figures import unused_words

FOUND = (
    Unused("a-0/0.log.deleted", ".deleted"),
    Unused("b-0.1-delete/0.log", "-delete"),
    Unused("a-0/5.log.deleted", ".deleted"),
)


@pytest.mark.parametrize(
    ("found", "metadata", "says"),
    [
        ((), False, ""),
        ((), True, "Not counted: __cluster_metadata."),
        (FOUND[:1], False, "Not counted: 1 segment that is not in use (.deleted)."),
        (
            FOUND,
            True,
            (
                "Not counted: 3 segments that are not in use (-delete, .deleted), and "
                "__cluster_metadata."
            ),
        ),
        (
            (Unused("a-0/5.index", NO_LOG),),
            False,
            "Not counted: 1 segment that is not in use (no .log).",
        ),
    ],
)
def test_what_is_left_out_is_said(found, metadata, says):
    """Each mark once; of nothing nothing is said."""
    assert unused_words.left_out(found, metadata) == says


def test_what_is_counted_and_what_has_no_rows():
    """On the Broker page, and beside the tables of a catalog."""
    assert unused_words.counted_too(()) == "" == unused_words.no_rows(())
    assert (
        unused_words.counted_too(FOUND)
        == "3 segments that are not in use (-delete, .deleted) are counted too."
    )
    says = (
        "1 segment (.deleted) is in segments alone: what is in its files is a row of no other "
        "table."
    )
    assert unused_words.no_rows(["deleted"]) == says


def test_the_reason_is_told_in_the_readers_language(monkeypatch):
    """A suffix stays as it is."""
    monkeypatch.setattr(words, "language", lambda: "zh")
    assert (
        unused_words.left_out((Unused("a-0/5.index", NO_LOG),))
        == "未计入：1 个不在使用中的日志段（没有 .log）。"
    )
