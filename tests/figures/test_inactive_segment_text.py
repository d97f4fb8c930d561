"""The sentence about segments that are not in use."""

import pytest

from kafkaviz import messages
from kafkaviz.analysis.overview import NO_LOG, InactiveSegment
from kafkaviz.figures.text.segment_text import included_text, left_out_text, no_rows_text

INACTIVE = (
    InactiveSegment("a-0/0.log.deleted", ".deleted"),
    InactiveSegment("b-0.1-delete/0.log", "-delete"),
    InactiveSegment("a-0/5.log.deleted", ".deleted"),
)


@pytest.mark.parametrize(
    ("segments", "metadata", "says"),
    [
        ((), False, ""),
        ((), True, "Not counted: __cluster_metadata."),
        (INACTIVE[:1], False, "Not counted: 1 segment that is not in use (.deleted)."),
        (
            INACTIVE,
            True,
            (
                "Not counted: 3 segments that are not in use (-delete, .deleted), and "
                "__cluster_metadata."
            ),
        ),
        (
            (InactiveSegment("a-0/5.index", NO_LOG),),
            False,
            "Not counted: 1 segment that is not in use (no .log).",
        ),
    ],
)
def test_what_is_left_out_is_reported(segments, metadata, says):
    assert left_out_text(segments, is_metadata_left_out=metadata) == says


def test_what_is_counted_and_what_has_no_rows():
    assert included_text(()) == "" == no_rows_text(())
    assert (
        included_text(INACTIVE)
        == "3 segments that are not in use (-delete, .deleted) are counted too."
    )
    says = (
        "1 segment (.deleted) appears only in the table segments: no other table has a row "
        "for its files."
    )
    assert no_rows_text(["deleted"]) == says


def test_the_reason_is_in_the_readers_language(monkeypatch):
    monkeypatch.setattr(messages, "language", lambda: "zh")
    assert (
        left_out_text((InactiveSegment("a-0/5.index", NO_LOG),))
        == "未计入：1 个不在使用中的日志段（没有 .log）。"
    )
