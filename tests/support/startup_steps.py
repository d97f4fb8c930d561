"""Steps that a start of the broker takes."""

from kafkaviz.messages import Message, message
from kafkaviz.simulate.steps import StartupStep

CUT_SHORT = message("tail.last_batch_cut")


def startup_step(
    partition: str,
    action: str = "rebuild",
    cause: str = "unflushed",
    suffix: str = "index",
    segment: int = 0,
    why: Message | str = CUT_SHORT,
    **more: object,
) -> StartupStep:
    """Returns a step on a file of a segment."""
    file = f"{partition}/{segment:020d}.{suffix}"
    return StartupStep(
        partition=partition, segment=segment, action=action, cause=cause, why=why, file=file, **more
    )
