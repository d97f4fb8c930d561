"""Findings and steps of a start in the reader's language; Kafka's own words, and what no catalogue
has, stay in English.

    sentence("the index is full")     The index is full.
    why(step)                         the step's own words, or what its cause says
"""

from kafkaviz import words
from kafkaviz.analyse.finding import CODES, Finding
from kafkaviz.figures.listed import sentences
from kafkaviz.simulate.steps import CAUSES, Step
from kafkaviz.words import say
from kafkaviz.words.retold import retold


def told(said: str) -> str:
    """What analyse/ or simulate/ says, in the reader's language."""
    return retold("findings", said)


def why(step: Step) -> str:
    """Why a start does a step; where a language lacks that sentence, what its cause says."""
    said = told(step.why)
    return (
        said if said != step.why or words.language() == words.ENGLISH else told(CAUSES[step.cause])
    )


def consequence(one: Finding) -> str:
    """What Kafka does with it; where a language lacks that sentence, what all findings of the code
    have in common stands before it.
    """
    said = told(one.consequence)
    common = told(CODES[one.code].consequence)
    if said != one.consequence or words.language() == words.ENGLISH:
        return sentence(said)
    return sentences([sentence(common), sentence(said)])


def sentence(text: str) -> str:
    """With a capital and a full stop."""
    return ended(capital(text))


def ended(text: str) -> str:
    """With a full stop, that of the reader's language."""
    return say("common.stop", text=text) if text and text[-1] not in ".!?。！？" else text


def capital(text: str) -> str:
    """With a capital, unless it begins with a name that has none: java.lang.Error, .index; Chinese
    has none at all.
    """
    first = text.split(" ", 1)[0]
    return (
        text[:1].upper() + text[1:]
        if first.rstrip(",;:").isalpha() and words.language() == words.ENGLISH
        else text
    )
