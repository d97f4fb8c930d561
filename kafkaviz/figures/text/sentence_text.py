"""Makes sentences of their parts: to_sentence("the index is full") is "The index is full."."""

from kafkaviz import messages
from kafkaviz.messages import say


def to_sentence(text: str) -> str:
    """Adds a capital and a full stop."""
    return end_sentence(capitalize(text))


def end_sentence(text: str) -> str:
    """Adds the full stop of the reader's language, if the text has none."""
    return say("common.stop", text=text) if text and text[-1] not in ".!?。！？" else text


def capitalize(text: str) -> str:
    """Capitalizes English text, unless it begins with a name such as java.lang.Error or .index."""
    first_word = text.split(" ", 1)[0]
    if first_word.rstrip(",;:").isalpha() and messages.language() == messages.ENGLISH:
        return text[:1].upper() + text[1:]
    return text
