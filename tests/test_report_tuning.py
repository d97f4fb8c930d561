"""What the report says of the interval of a broker whose topics differ."""

from kafkaviz.analyse import cost_model, tuning
from kafkaviz.analyse.tuning import Budgets
from kafkaviz.analyse.tuning.source import open_source
from kafkaviz.reporting.subject import Tuned
from kafkaviz.reporting.tuning import _compared


def test_a_keep_that_advises_topic_by_topic_has_a_line_for_each_topic(clean):
    """And none for all brokers."""
    source = open_source(clean)
    budgets, costs = Budgets(), cost_model.costs(source.by_base_offset)
    case = source.whole
    answers, whole = tuning.answers(source.cases, case, budgets, costs)
    of = Tuned(source, answers, whole, tuning.every(case.measured, costs, budgets), budgets, costs)
    text = str(_compared(of))
    assert (
        "--entity-name dense-index --add-config index.interval.bytes=8192" in text
        and "--entity-name tiny-index" in text
    )
    assert "--entity-type brokers" not in text and "If you change it all the same" not in text
