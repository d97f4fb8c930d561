"""How a command may end, whatever happens to the directory that it reads."""

from _pytest.capture import CaptureResult


def well(status: int, output: CaptureResult[str]) -> bool:
    """Returns whether a command ended with a result or a line of error."""
    words = output.err.splitlines()
    is_told = status != 2 or (
        bool(words) and words[-1].startswith("kafkaviz: ") and ": " in words[-1][10:]
    )
    return status in (0, 1, 2) and is_told and "Traceback" not in output.err + output.out
