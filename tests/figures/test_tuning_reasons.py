"""The reasons of a recommendation: the page says the same in English as the command line."""

from typing import get_args

import numpy as np
import pytest

from kafkaviz import messages
from kafkaviz.analysis.cost import cost_model
from kafkaviz.analysis.cost.cost_model import Range
from kafkaviz.analysis.tuning import tuning_text as tuning_text
from kafkaviz.analysis.tuning.interval_cost import Budgets, Gain, IntervalCost, compute_cost
from kafkaviz.analysis.tuning.measurement import CurrentConfig
from kafkaviz.analysis.tuning.recommendation import Reason, ReasonCode, recommend
from kafkaviz.figures.tuning.tuning_verdict import describe_all, reason_sentence
from tests.support.tuning import measured

COSTS = cost_model.lookup_costs(by_base_offset=True)
LESS, MORE, EITHER = Range(15.8, 18.9, 42.0), Range(-42.0, -18.9, -15.8), Range(-3.0, 1.0, 4.0)
SHRINKS, GROWS = Range(0.001, 0.002, 0.003), Range(-0.003, -0.002, -0.001)


def at() -> IntervalCost:
    measurement = measured(1000)
    return compute_cost(measurement, COSTS, measurement.replay_cost(4096))


def budget(missed: tuple[str, ...], p99_us: float | None) -> dict:
    return {"at": at(), "budgets": Budgets(p99_us), "missed": missed, "costs": COSTS}


def gained(*, p99_us: Range = LESS, mean_us: Range = LESS, share: Range = SHRINKS) -> dict:
    return {"from": 4096, "to": 2048, "gain": Gain(p99_us, mean_us, share, 40), "least_us": 5.0}


REPLAYED = {
    **{"interval": 512, "entries": 82, "entries_replayed": 405},
    **{"headers_p99": 245, "headers_p99_replayed": 4},
}
EVERY = [
    ("every-batch-indexed", {"interval": 4096, "is_default": True}),
    ("every-batch-indexed", {"interval": 4096, "is_default": False}),
    ("most-batches-indexed", {"interval": 4096, "entries": 9, "of": 10, "is_default": True}),
    ("most-batches-indexed", {"interval": 4096, "entries": 9, "of": 10, "is_default": False}),
    ("plateau", {"least_batch_bytes": 78}),
    *(("within-budget", budget((), cost)) for cost in (50.0, None)),
    ("over-budget", budget(("p99", "index"), 5.0)),
    *((code, REPLAYED) for code in ("on-disk", "coarser", "denser")),
    ("coarse", {"append_bytes": 1 << 20}),
    ("followers", {"append_bytes": 1 << 20, "headers_mean": 407.1, "headers_p99": 893}),
    ("too-little-data", {"batches": 12, "to": 2048}),
    ("unmeetable", {"to": 64, **budget(("p99", "index"), 1.0), "budgets": Budgets(1.0, 0.0001)}),
    ("bound-tiered", {"most_bytes": 52428.8}),
    ("bound-hdd", {"most_bytes": 16384}),
    ("faster", gained()),
    ("faster", gained(p99_us=EITHER, share=GROWS)),
    ("smaller", gained(p99_us=MORE, mean_us=EITHER)),
    ("faster-too-little", gained()),
    ("smaller-too-little", gained()),
    (
        "smaller-for-tiered",
        {"cached_segments_now": 10.0, "cached_segments_other": 30.0, "carried_share_other": 0.01},
    ),
    ("topic-by-topic", {"changing": {}, "topics": 7}),
    ("topic-by-topic", {"changing": {"a": 1024, "b": 2048}, "topics": 7}),
    ("topic-by-topic", {"changing": {str(topic): 1024 for topic in range(8)}, "topics": 9}),
    ("topic-by-topic", {"changing": {}, "topics": 1}),
    ("topic-by-topic", {"changing": {"a": 1024}, "topics": 1}),
    *(("tiny-batches", {"batch_bytes": 97.0, "single_share": share}) for share in (0.9, 0.1)),
    ("two-headers", {}),
    ("cold", {"at": at(), "costs": COSTS}),
    ("old-segments", {}),
]


@pytest.mark.parametrize(
    ("code", "values"), EVERY, ids=[f"{place}-{code}" for place, (code, _) in enumerate(EVERY)]
)
def test_english_is_that_of_the_command_line(code, values):
    reason = Reason(code, values)
    text = str(tuning_text.describe_reason(reason))
    assert reason_sentence(reason) == f"{text[0].upper()}{text[1:]}."
    with messages.speaking("zh"):
        chinese = reason_sentence(reason)
    assert chinese.endswith("。")
    assert " takes " not in chinese and " of " not in chinese


def test_every_code_has_its_sentence():
    assert {code for code, _ in EVERY} == set(get_args(ReasonCode))


def test_an_answer_shows_all_its_reasons():
    today = CurrentConfig(interval_bytes=4096, interval_source="", topic="orders")
    recommendation = recommend(measured(1000), today, Budgets(), COSTS)
    texts = describe_all(recommendation)
    assert len(texts) == len(recommendation.reasons) + len(recommendation.not_fixed)
    assert all(text.endswith(".") for text in texts)
    assert np.all([text[0].isupper() or text[0].isdigit() for text in texts])
