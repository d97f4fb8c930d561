"""The words of a tuning: the line that changes a setting, and times."""

import pytest

from kafkaviz.analysis.cost import cost_model
from kafkaviz.analysis.tuning import tuning_text
from kafkaviz.analysis.tuning.interval_cost import Gain
from kafkaviz.analysis.tuning.recommendation import Reason
from kafkaviz.units import format_us


@pytest.mark.parametrize(
    ("topic", "entity", "name"),
    [
        ("orders", "topics --entity-name orders", "index.interval.bytes"),
        (None, "brokers --entity-default", "log.index.interval.bytes"),
    ],
)
def test_the_line_that_changes_it(topic, entity, name):
    """As kafka-configs.sh of 4.x accepts it, for a topic or for all brokers."""
    assert tuning_text.alter_line("index.interval.bytes", 2048, topic) == (
        "kafka-configs.sh --bootstrap-server <broker>:9092 --alter "
        f"--entity-type {entity} --add-config {name}=2048"
    )


def test_the_topics_that_gain_are_named():
    texts = [
        str(tuning_text.describe_reason(Reason("topic-by-topic", {"changing": settings})))
        for settings in ({"a": 1024}, {})
    ]
    gains = "1 topic would gain from an interval of its own: a (1024); the broker's default stays"
    assert texts == [gains, "no topic gains from a different interval"]


@pytest.mark.parametrize(
    ("saving", "text"),
    [
        ((-3, 8, 20), "between 3.0 µs more and 20 µs less, typically 8.0 µs less"),
        ((-20, -8, 3), "between 20 µs more and 3.0 µs less, typically 8.0 µs more"),
    ],
)
def test_a_saving_that_may_be_a_loss_has_one_sign_for_each_number(saving, text):
    unclear = cost_model.Range(*saving)
    shown = str(tuning_text.describe_gain(Gain(unclear, unclear, cost_model.Range(0, 0, 0), 9)))
    assert shown.count(text) == 2


def test_numbers_as_people_read_them():
    texts = [format_us(us) for us in (0.84, 42.3, 1400, 2.5e6)]
    assert texts == ["0.8 µs", "42 µs", "1.4 ms", "2.5 s"]
    ranges = [cost_model.Range(34, 42, 92), cost_model.Range(598, 719, 1596)]
    texts = [str(tuning_text.format_us_range(us)) for us in ranges]
    assert texts == ["42 µs (34 to 92 µs)", "719 µs (598 µs to 1.6 ms)"]
