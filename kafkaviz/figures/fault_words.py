"""What could not be done, in the reader's language: the one line of an error, and its parts;
Kafka's own words stay English.

    told(fault)                       /d/x, byte 4: the file is cut
    what("may not be read")           may not be read
"""

from kafkaviz import words
from kafkaviz.errors import CannotOpen, CorruptBytes, CorruptFile, KafkavizError
from kafkaviz.figures.finding_words import ended
from kafkaviz.log.archive import given
from kafkaviz.words import say
from kafkaviz.words.retold import retold


def told(fault: Exception) -> str:
    """All of it, as one line without a full stop: what, where, and what to do."""
    if words.language() == words.ENGLISH or not isinstance(fault, KafkavizError):
        return _given(fault)
    if isinstance(fault, CorruptFile):
        return say(
            "faults.at_byte", path=given(fault.path), byte=fault.position, what=what(fault.what)
        )
    if isinstance(fault, CorruptBytes):
        return say("faults.byte", byte=fault.position, what=what(fault.what))
    if isinstance(fault, CannotOpen):
        key = "faults.of_path_next" if fault.next_step else "faults.of_path"
        return say(key, path=given(fault.path), what=what(fault.what), next=what(fault.next_step))
    return what(str(fault))


def _given(fault: Exception) -> str:
    """The words of a fault, which begin with its path; no folder of the cache in them."""
    path = getattr(fault, "path", None)
    return str(fault) if path is None else f"{given(path)}{str(fault).removeprefix(str(path))}"


def line(fault: Exception) -> str:
    """The same with its full stop."""
    return ended(told(fault))


def what(said: str) -> str:
    """What an error, the system or a reader of the standard library says; of "mine.toml: phase 2:
    is missing" each part.
    """
    before, colon, after = said.partition(": ")
    known, rest = retold("errors", before), what(after) if colon else ""
    if colon and (known, rest) != (before, after):
        return say("faults.of_path", path=known, what=rest)
    found = retold("errors", said)
    return found if found != said else retold("findings", said)  # what a start does then
