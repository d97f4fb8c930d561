"""A choice with one word in the address and a name in each language."""

import pytest
from streamlit.runtime.state.query_params import QueryParams
from streamlit.testing.v1 import AppTest

from kafkaviz.app.widgets import choice
from tests.support.pages import assert_no_exception, query_value


def tabs() -> None:
    import streamlit as st

    from kafkaviz.app.widgets import choice

    names = {"First": "One", "Second": "Two"}
    if st.query_params.get("lang") == "zh":
        names = {"First": "一", "Second": "二"}
    word = choice.take_from_address("tab", names)
    st.tabs(list(names.values()), key="tab", on_change="rerun")
    st.text(f"{word} {st.session_state['tab']}")


def asks() -> None:
    import streamlit as st

    from kafkaviz.app.state import session_language
    from kafkaviz.app.widgets import choice
    from kafkaviz.messages import say

    session_language.sync_address()
    session_language.render_switch()
    says = {"name": "common.segment", "size": "common.topic_partition"}
    chosen = choice.draw_bound(
        st.segmented_control,
        "Order",
        says,
        st.query_params.get("usual", "size"),
        "order",
        format_func=lambda choice_name: say(says[choice_name]),
        required=True,
    )
    st.text(chosen)


def steps() -> None:
    import streamlit as st

    from kafkaviz.app.widgets import choice

    sliders = [choice.draw_bound(st.select_slider, name, list("01234"), "0", name) for name in "ab"]
    st.text(" ".join(sliders))


def steps_after_a_job() -> None:
    import streamlit as st

    from kafkaviz.app.widgets import choice

    if st.session_state.pop("is_over", False):
        choice.rerun_page()
    st.text(choice.draw_bound(st.select_slider, "a", list("01234"), "0", "a"))


def page(script=tabs, **query: str) -> AppTest:
    at = AppTest.from_function(script)
    for name, value in query.items():
        at.query_params[name] = value
    return at.run()


def page_text(at: AppTest) -> str:
    return assert_no_exception(at).text[0].value


def test_the_first_goes_without_saying():
    assert page_text(page()) == page_text(page(tab="Third")) == "First One"
    assert page_text(page(lang="zh")) == "First 一"


def test_a_link_names_the_word():
    assert page_text(page(tab="Second")) == page_text(page(tab="second")) == "Second Two"
    assert page_text(page(tab="Second", lang="zh")) == "Second 二"


def test_what_was_clicked_stays_in_another_language():
    """The address that Python knows does not have it yet."""
    at = page()
    at.session_state["tab"] = "Two"
    assert page_text(at.run()) == "Second Two"
    at.query_params["lang"] = "zh"
    assert page_text(at.run()) == "Second 二"


def test_a_new_address_counts():
    at = page(tab="Second")
    at.query_params["tab"] = "First"
    assert page_text(at.run()) == "First One"


def test_the_default_is_not_in_the_address():
    at = page(asks)
    assert page_text(at) == "size" and query_value(at, "order") is None
    at.button_group[0].set_value("name").run()
    assert page_text(at) == "name" and query_value(at, "order") == "name"


def test_an_address_means_the_same_in_every_language():
    """The words on the page are in the reader's language, and a switch keeps the choice."""
    at = page(asks, order="name", lang="zh")
    assert page_text(at) == "name" and at.button_group[0].options == ["日志段", "主题分区"]
    at.button(key="kv_lang_en").click().run()
    assert page_text(at) == "name" and at.button_group[0].options == ["Segment", "Topic-partition"]
    assert query_value(at, "order") == "name" and query_value(at, "lang") is None


def test_without_a_choice_another_default_counts():
    at = page(asks)
    at.query_params["usual"] = "name"
    assert page_text(at.run()) == "name" and query_value(at, "order") is None
    at.button_group[0].set_value("size").run()
    at.query_params["usual"] = "size"
    assert page_text(at.run()) == "size"
    at.query_params["usual"] = "name"
    assert page_text(at.run()) == "name"


def test_an_address_older_than_a_move_does_not_lead():
    """After quick keys a browser sends the address before the last move."""
    at = page(steps)
    for moves in ({"a": "2"}, {"a": "3"}, {"b": "1"}, {"a": "4", "b": "2"}):
        for key, value in moves.items():
            at.select_slider(key=key).set_value(value)
        at.query_params.clear()  # unchanged since the page was opened
        at.run()
    assert page_text(at) == "4 2" and [slider.value for slider in at.select_slider] == ["4", "2"]
    assert (query_value(at, "a"), query_value(at, "b")) == ("4", "2")


def test_what_was_written_meanwhile_is_written_over(monkeypatch):
    """After a move there and back, the first address arrives while the second is still on its way."""
    sent = []
    monkeypatch.setattr(
        QueryParams, "_send_query_param_msg", lambda self: sent.append(self.to_dict())
    )
    at = page(steps)
    at.select_slider(key="a").set_value("1").run()
    at.query_params.clear()
    at.select_slider(key="a").set_value("0").run()
    assert page_text(at) == "0 0" and sent == [{"a": "1"}, {}]


def test_back_leads_after_moves():
    """An address that arrives alone was chosen by the reader."""
    at = page(steps)
    at.select_slider(key="a").set_value("3").run()
    at.select_slider(key="b").set_value("1").run()
    at.query_params["a"] = "1"
    assert page_text(at.run()) == "1 1" and at.select_slider(key="a").value == "1"


@pytest.mark.parametrize("said_so", ["1000", "1 000", "1\u202f000"])
def test_an_address_may_group_its_digits(said_so):
    assert (
        choice._parse_word(said_so, {"none": "none", "1000": "1\u202f000"}, lambda word: None)
        == "1000"
    )


def test_a_choice_keeps_its_word_whatever_message_was_lost():
    """The state is sent in the run that sets it, and the default in the runs after."""
    at = AppTest.from_function(asks)
    at.query_params["order"] = "name"
    at.run()
    first = at.get("button_group")[0].proto
    assert (first.set_value, list(first.raw_values), list(first.default)) == (True, ["Segment"], [])
    at.run()
    later = at.get("button_group")[0].proto
    assert (later.set_value, list(later.default)) == (False, [0])


def test_the_end_of_a_job_keeps_a_choice_that_the_browser_has_not_in_its_address_yet():
    at = page(steps_after_a_job)
    at = at.select_slider(key="a").set_value("2").run()
    assert page_text(at) == "2"
    at.query_params.clear()
    at.session_state["is_over"] = True
    at = at.run()
    assert page_text(at) == "2" and query_value(at, "a") == "2"
