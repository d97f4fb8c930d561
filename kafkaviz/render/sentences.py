"""Makes sentences as each language does: joins parts, ends sentences, describes errors."""

from collections.abc import Iterable
from functools import partial

from kafkaviz import messages, units
from kafkaviz.log.archives.archive import display_path
from kafkaviz.messages import Message, join, language, render, say, say_count


def _join(way: str, parts: Iterable[str]) -> str:
    return join(way, parts, language())


join_comma = partial(_join, "comma")  # things of one kind: a, b, c
join_details = partial(_join, "details")  # details about one thing, also with commas
join_and = partial(_join, "and")  # a, b and c
join_or = partial(_join, "or")  # a, b or c
join_each_and = partial(_join, "each_and")  # a and b and c
join_each_or = partial(_join, "each_or")  # a or b or c
join_semicolon = partial(_join, "semicolon")  # a; b
join_sentences = partial(_join, "sentences")  # A. B. Empty ones are left out.


def sentence_gap() -> str:
    """Returns the text between two sentences, for the browser: a space, or "" in Chinese."""
    return say("common.then", first="", next="")


def join_with_others(parts: Iterable[str], left_out_count: int) -> str:
    """Joins parts with commas, and says how many more are left out."""
    if left_out_count:
        return say_count("common.and_others", left_out_count, names=join_comma(parts))
    return join_comma(parts)


def count_phrase(key: str, count: int) -> str:
    """Returns a number with its noun: one log, three logs, 24 logs."""
    return say_count(key, count, n=number_word(count))


def count_range(first: int, last: int) -> str:
    """Returns a range of numbers such as "180–219"; "180" if both ends are 180."""
    start = units.format_count(first)
    return start if first == last else f"{start}–{units.format_count(last)}"


def number_word(count: int) -> str:
    """Returns a small number as a word, a larger one in digits."""
    small_words = say("common.numbers").split()
    return small_words[count] if count < len(small_words) else units.format_count(count)


def to_sentence(text: str) -> str:
    """Capitalizes a text and adds a full stop."""
    return end_sentence(capitalize(text))


def end_sentence(text: str) -> str:
    """Adds a full stop, in the form of the reader's language, if the text has none."""
    return say("common.stop", text=text) if text and text[-1] not in ".!?。！？" else text


def capitalize(text: str) -> str:
    """Capitalizes English text, unless it begins with a name such as java.lang.Error or .index."""
    first_word = text.split(" ", 1)[0]
    if first_word.rstrip(",;:").isalpha() and messages.language() == messages.ENGLISH:
        return text[:1].upper() + text[1:]
    return text


def describe_error(error: Exception) -> str:
    """Returns an error as one line without a full stop: problem, place, next step."""
    text = getattr(error, "message", None)
    if not isinstance(text, Message):
        return str(error)
    path = getattr(error, "path", None)
    return render(text if path is None else text.with_values(path=display_path(path)))


def describe_error_sentence(error: Exception) -> str:
    return end_sentence(describe_error(error))
