"""Findings and steps of a start in the reader's language; Kafka's own words, and what no catalogue
has, stay in English.

    sentence("the index is full")     The index is full.
    why(step)                         the step's own words, or what its cause says
"""

from kafkaviz import words
from kafkaviz.analysis.finding import CODES, Finding
from kafkaviz.figures.join_text import join_sentences
from kafkaviz.simulate.steps import CAUSES, StartupStep
from kafkaviz.words import say
from kafkaviz.words.sentence_translation import translate_sentence


def translate(text: str) -> str:
    """What analysis/ or simulate/ says, in the reader's language."""
    return translate_sentence("findings", text)


def step_reason(step: StartupStep) -> str:
    """Why a start does a step; where a language lacks that sentence, what its cause says."""
    text = translate(step.why)
    return (
        text
        if text != step.why or words.language() == words.ENGLISH
        else translate(CAUSES[step.cause])
    )


def consequence_text(finding: Finding) -> str:
    """What Kafka does with it; where a language lacks that sentence, what all findings of the code
    have in common stands before it.
    """
    text = translate(finding.consequence)
    common_text = translate(CODES[finding.code].consequence)
    if text != finding.consequence or words.language() == words.ENGLISH:
        return to_sentence(text)
    return join_sentences([to_sentence(common_text), to_sentence(text)])


def to_sentence(text: str) -> str:
    """With a capital and a full stop."""
    return end_sentence(capitalize(text))


def end_sentence(text: str) -> str:
    """With a full stop, that of the reader's language."""
    return say("common.stop", text=text) if text and text[-1] not in ".!?。！？" else text


def capitalize(text: str) -> str:
    """With a capital, unless it begins with a name that has none: java.lang.Error, .index; Chinese
    has none at all.
    """
    first_word = text.split(" ", 1)[0]
    return (
        text[:1].upper() + text[1:]
        if first_word.rstrip(",;:").isalpha() and words.language() == words.ENGLISH
        else text
    )
