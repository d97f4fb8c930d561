"""Reasons of a recommendation as sentences, from their values: in English those that kafkaviz tune
prints.
"""

from kafkaviz.analysis.tuning import Reason, Recommendation
from kafkaviz.analysis.tuning.reason_text import describe_reason
from kafkaviz.messages import language, say


def describe_all(recommendation: Recommendation) -> list[str]:
    """Each reason of an answer, then what no interval changes, a sentence each."""
    return [to_sentence(reason) for reason in (*recommendation.reasons, *recommendation.not_fixed)]


def to_sentence(reason: Reason) -> str:
    """One reason with its full stop."""
    text = describe(reason)
    return say("tuning_reason.sentence", words=f"{text[0].upper()}{text[1:]}")


def describe(reason: Reason) -> str:
    """One reason as a part of a sentence."""
    return describe_reason(reason).render(language())
