"""No fragment contains another one, which Streamlit 1.67 would not survive.

ForwardMsgQueue.clear forgets what a fragment has not sent yet when that runs again, but keeps what
nested fragments have not sent, and references to what the browser has. The browser is then told of
elements whose neighbours it does not know, and the page goes blank ("Bad delta path index").
"""

import threading

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_cache import create_reference_msg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

from kafkaviz.app.pages import tuning as tuning_page
from kafkaviz.app.state import measure_jobs
from tests.app.fakes import FakeStarts
from tests.support.pages import PAGES, open_page


@pytest.fixture
def parents(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Returns the enclosing fragment of each fragment that a page registers."""
    parents_seen: list[str | None] = []
    register = MemoryFragmentStorage.register

    def noted(self, key, fragment, *, parent_fragment_id=None, **how) -> None:
        parents_seen.append(parent_fragment_id)
        register(self, key, fragment, parent_fragment_id=parent_fragment_id, **how)

    monkeypatch.setattr(MemoryFragmentStorage, "register", noted)
    return parents_seen


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_no_fragment_is_in_another(starts: FakeStarts, parents: list[str | None], page: str):
    open_page(page, tp="payments-0")
    assert [parent for parent in parents if parent] == []


@pytest.mark.parametrize(
    ("tab", "waits"),
    [("Index", "measure"), ("Batches", "measure"), ("Batches", "records"), ("Codec", "records")],
)
def test_the_progress_of_a_measurement_is_next_to_the_body(
    parents: list[str | None], monkeypatch: pytest.MonkeyPatch, nothing_cached, tab: str, waits: str
):
    """Tuning waits for the log, or for its records: the body and the progress are two fragments."""
    go = threading.Event()

    def blocked(*_, **__):
        go.wait(60)

    name = {"measure": "open_source", "records": "measure_batching"}[waits]
    monkeypatch.setattr(measure_jobs, name, blocked)
    monkeypatch.setattr(tuning_page, "PATIENCE_S", 0.01 if waits == "measure" else 60)
    at = open_page("tuning", tp="payments-0", tab=tab)
    assert "kv_tuning_cancel" in [button.key for button in at.button]
    assert parents.count(None) == len(parents) == 2
    go.set()


@pytest.mark.slow
def test_no_message_is_sent_as_a_reference(monkeypatch: pytest.MonkeyPatch):
    """Large messages neither: minCachedMessageSize in config.toml."""
    sizes: list[tuple[int, bool]] = []
    enqueue = ScriptRunContext.enqueue

    def noted(self, message: ForwardMsg) -> None:
        enqueue(self, message)
        sizes.append((message.ByteSize(), message.metadata.cacheable))

    monkeypatch.setattr(ScriptRunContext, "enqueue", noted)
    open_page("rolls", room="8 B")
    assert max(size for size, _ in sizes) > 40_000
    assert not any(is_cacheable for _, is_cacheable in sizes)


def test_streamlit_keeps_references_of_a_fragment_that_runs_again():
    """Once this fails, references may be sent again."""
    message = ForwardMsg(hash="of a figure")
    message.metadata.delta_path.extend([0, 18])
    message.delta.fragment_id = "body"
    message.delta.new_element.html.body = "a figure"
    queue = ForwardMsgQueue()
    queue.enqueue(message)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["body"])
    assert len(queue) == 0
    queue.enqueue(create_reference_msg(message))
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["body"])
    assert len(queue) == 1
