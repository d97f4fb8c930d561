"""Errors in the reader's language, one line each."""

from kafkaviz.figures.text.sentence_text import end_sentence
from kafkaviz.log.archives.archive import display_path
from kafkaviz.messages import Message, render


def describe(error: Exception) -> str:
    """Returns an error as one line without a full stop: the problem, the place, and the next step.

    No path inside the cache is shown.
    """
    text = getattr(error, "message", None)
    if not isinstance(text, Message):
        return str(error)
    path = getattr(error, "path", None)
    return render(text if path is None else text.with_values(path=display_path(path)))


def describe_sentence(error: Exception) -> str:
    """Returns the same line with a full stop."""
    return end_sentence(describe(error))
