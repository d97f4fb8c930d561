"""Which Kafka wrote a directory, in words."""

import pytest

from kafkaviz import messages
from kafkaviz.analysis.inferred_release import InferredRelease, infer_release
from kafkaviz.app.widgets.elements import describe_writer
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import message, render
from tests.support.pages import open_page, page_html


@pytest.mark.parametrize(
    ("first", "last", "english", "chinese"),
    [
        ((4, 3), None, "Kafka 4.3 or later", "Kafka 4.3 及以上"),
        ((2, 8), (3, 6), "Kafka 2.8 to 3.6", "Kafka 2.8 到 3.6"),
        ((3, 9), (3, 9), "Kafka 3.9", "Kafka 3.9"),
        (None, (3, 6), "Kafka 3.6 or earlier", "Kafka 3.6 及以下"),
        (None, None, "Kafka of an unknown version", "Kafka 版本未知"),
    ],
)
def test_the_releases_that_fit(first, last, english, chinese):
    """In English as the analysis says it."""
    looks = InferredRelease(first, last, ())
    assert describe_writer(looks) == english == f"Kafka {looks.text}"
    with messages.speaking("zh"):
        assert describe_writer(looks) == chinese


def test_the_traces_that_say_so(monkeypatch, clean):
    """Each has its words in Chinese, and a level its values."""
    looks, nothing = infer_release(open_broker(clean)), InferredRelease(None, None, ())
    both = InferredRelease(
        None, None, (message("release.broker_epoch"), message("release.zookeeper_properties"))
    )
    (trace,) = looks.traces
    assert (trace.key, trace["level"]) == ("release.metadata_version", 30)
    assert render(both.reason) == (
        ".kafka_cleanshutdown holds a broker epoch, new in 3.7; meta.properties has the "
        "format of ZooKeeper mode, gone in 4.0"
    )
    monkeypatch.setattr(messages, "_language_sources", [lambda: "zh"])
    assert (
        render(looks.reason)
        == "bootstrap.checkpoint 把 metadata.version 设为级别 30，这是 4.3 引入的"
    )
    assert render(both.reason).startswith(
        ".kafka_cleanshutdown 里有 broker epoch，3.7 起才有；meta"
    )
    assert nothing.reason is None


def test_a_page_says_nothing_where_nothing_tells(directory, starts):
    (directory / "meta.properties").unlink()
    text = page_html(open_page(dir=directory))
    assert "Kafka of an unknown version" in text
    assert '<span class="kv-sm kv-fnt kv-after"></span>' in text
