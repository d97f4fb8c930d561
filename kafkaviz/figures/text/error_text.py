"""What could not be done, in the reader's language: the one line of an error."""

from kafkaviz.figures.text.sentence_text import end_sentence
from kafkaviz.log.archives.archive import display_path
from kafkaviz.messages import Message, render


def describe(error: Exception) -> str:
    """All of it, as one line without a full stop: what, where, and what to do.

    No folder of the cache in it.
    """
    text = getattr(error, "message", None)
    if not isinstance(text, Message):
        return str(error)
    path = getattr(error, "path", None)
    return render(text if path is None else text.with_values(path=display_path(path)))


def describe_sentence(error: Exception) -> str:
    """The same with its full stop."""
    return end_sentence(describe(error))
