"""The report's section about the interval of a broker whose topics differ."""

from kafkaviz.analysis.cost import cost_model
from kafkaviz.analysis.tuning.interval_cost import Budgets, compute_costs
from kafkaviz.analysis.tuning.recommendation import recommend_all
from kafkaviz.analysis.tuning.source import open_source
from kafkaviz.report.subject import ReportTuning
from kafkaviz.report.tuning import _command


def test_a_keep_that_advises_topic_by_topic_has_a_line_for_each_topic(clean):
    """None is for all brokers."""
    source = open_source(clean)
    budgets, costs = Budgets(), cost_model.lookup_costs(by_base_offset=source.by_base_offset)
    case = source.total
    answers, broker_answer = recommend_all(source.cases, case, budgets, costs)
    report_tuning = ReportTuning(
        source=source,
        answers=answers,
        overall=broker_answer,
        intervals=compute_costs(case.measurement, costs),
        budgets=budgets,
        costs=costs,
    )
    text = str(_command(report_tuning))
    assert "--entity-name dense-index --add-config index.interval.bytes=8192" in text
    assert "--entity-name tiny-index" in text
    assert "--entity-type brokers" not in text and "If you change it all the same" not in text
