"""A choice keeps its short word in the address, whatever language its words on the page are in."""

from streamlit.testing.v1 import AppTest


def asks() -> None:
    """A page with one choice."""
    import streamlit as st

    from kafkaviz.ui import short, spoken
    from kafkaviz.words import say

    spoken.keep()
    spoken.switch()
    says = {"name": "common.segment", "size": "common.topic_partition"}
    st.text(short.choice(st.segmented_control, "Order", says, "size", "order", lambda one: say(says[one]), required=True))


def page(**query: str) -> AppTest:
    """The page at an address."""
    at = AppTest.from_function(asks)
    for name, value in query.items():
        at.query_params[name] = value
    return at.run()


def asked(at: AppTest, name: str) -> str | None:
    """A parameter of the address; AppTest keeps it as a list or as text, by who set it."""
    value = at.query_params.get(name)
    return value[0] if isinstance(value, list) else value


def test_the_default_goes_without_saying():
    """And another choice is written as it is."""
    at = page()
    assert at.text[0].value == "size" and asked(at, "order") is None
    at.button_group[0].set_value("name").run()
    assert at.text[0].value == "name" and asked(at, "order") == "name"


def test_an_address_means_the_same_in_every_language():
    """Its words on the page are of the language, and a switch keeps the choice."""
    at = page(order="name", lang="zh")
    assert at.text[0].value == "name" and at.button_group[0].options == ["日志段", "主题分区"]
    at.button(key="kv_lang_en").click().run()
    assert at.text[0].value == "name" and at.button_group[0].options == ["Segment", "Topic-partition"]
    assert asked(at, "order") == "name" and asked(at, "lang") is None
