"""What a number says beside it of segments that are not in use: counted too, or left out."""

from collections.abc import Sequence

from kafkaviz.analyse.unused import NO_LOG, Unused
from kafkaviz.figures.listed import listed
from kafkaviz.units import group
from kafkaviz.words import counted, say


def counted_too(found: Sequence[Unused]) -> str:
    """Of a number of all that lies there; "" where everything is in use."""
    return _told("counted_too", found) if found else ""


def left_out(found: Sequence[Unused], metadata_left_out: bool = False) -> str:
    """Of a number of logs that are in use, KRaft's own counted or not; "" where that is all there
    is.
    """
    if not found:
        return say("unused.left_out_metadata") if metadata_left_out else ""
    return _told("left_out_both" if metadata_left_out else "left_out", found)


def no_rows(suffixes: Sequence[str]) -> str:
    """Of tables whose rows are what is in the files; suffixes: of each file that has one."""
    return _told("no_rows", [Unused("", f".{one}") for one in suffixes]) if suffixes else ""


def _told(key: str, found: Sequence[Unused]) -> str:
    shown = sorted({one.mark for one in found})
    marks = listed([say("unused.mark_no_log") if one == NO_LOG else one for one in shown])
    return counted(f"unused.{key}", len(found), n=group(len(found)), marks=marks)
