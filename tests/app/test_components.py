"""The data that a page sends to its browser components."""

import json

from streamlit.components.v2.bidi_component import serialization
from streamlit.proto.BidiComponent_pb2 import BidiComponent

from kafkaviz.app import frontend


def test_no_list_is_searched_for_a_dataframe(monkeypatch):
    data = {"steps": [{"text": "a"}, [1]], "key": "k", "empty": []}
    arguments = frontend._without_lists({"data": data, "width": "content"})
    assert arguments.keys() == {"data", "width"}
    monkeypatch.setattr("streamlit.dataframe_util.determine_data_format", None)
    sent = BidiComponent()
    serialization.serialize_mixed_data(arguments["data"], sent)
    assert json.loads(sent.json) == data


def test_a_component_without_fields_is_sent_as_it_is():
    assert frontend._without_lists({"data": None}) == {"data": None}
    assert frontend._without_lists({"key": "k"}) == {"key": "k"}
