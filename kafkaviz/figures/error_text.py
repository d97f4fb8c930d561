"""What could not be done, in the reader's language: the one line of an error, and its parts;
Kafka's own words stay English.

    told(fault)                       /d/x, byte 4: the file is cut
    what("may not be read")           may not be read
"""

from kafkaviz import words
from kafkaviz.errors import CannotOpen, CorruptBytes, CorruptFile, KafkavizError
from kafkaviz.figures.finding_text import end_sentence
from kafkaviz.log.archive import display_path
from kafkaviz.words import say
from kafkaviz.words.sentence_translation import translate_sentence


def describe(error: Exception) -> str:
    """All of it, as one line without a full stop: what, where, and what to do."""
    if words.language() == words.ENGLISH or not isinstance(error, KafkavizError):
        return _describe_english(error)
    if isinstance(error, CorruptFile):
        return say(
            "faults.at_byte",
            path=display_path(error.path),
            byte=error.position,
            what=describe_part(error.what),
        )
    if isinstance(error, CorruptBytes):
        return say("faults.byte", byte=error.position, what=describe_part(error.what))
    if isinstance(error, CannotOpen):
        key = "faults.of_path_next" if error.next_step else "faults.of_path"
        return say(
            key,
            path=display_path(error.path),
            what=describe_part(error.what),
            next=describe_part(error.next_step),
        )
    return describe_part(str(error))


def _describe_english(error: Exception) -> str:
    """The words of a fault, which begin with its path; no folder of the cache in them."""
    path = getattr(error, "path", None)
    return (
        str(error) if path is None else f"{display_path(path)}{str(error).removeprefix(str(path))}"
    )


def describe_sentence(error: Exception) -> str:
    """The same with its full stop."""
    return end_sentence(describe(error))


def describe_part(text: str) -> str:
    """What an error, the system or a reader of the standard library says; of "mine.toml: phase 2:
    is missing" each part.
    """
    head, colon, tail = text.partition(": ")
    head_text, tail_text = translate_sentence("errors", head), describe_part(tail) if colon else ""
    if colon and (head_text, tail_text) != (head, tail):
        return say("faults.of_path", path=head_text, what=tail_text)
    translation = translate_sentence("errors", text)
    return (
        translation if translation != text else translate_sentence("findings", text)
    )  # what a start does then
