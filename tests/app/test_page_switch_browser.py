"""A switch to another page while a fragment of the previous one asks to run again."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from docs.browsing import serving
from tests.journeys.walk import SETTLED
from tests.support.browser import PATIENCE_MS, click_a_bar, heading

pytestmark = pytest.mark.browser
MOST_REQUESTS = 200
POLL_MS = 100
CLEARED_MS = 1500  # by then the answer to the last request has cleared the page


@pytest.fixture
def fresh_server(tmp_path: Path) -> Iterator[str]:
    """Yields the address of an app that reads its sample for the first time.

    Broker shows the progress of that job in a fragment that runs twice a second.
    """
    with serving(tmp_path) as address:
        yield address


class LateRequests:
    """Sends the last request of a fragment again while another page runs.

    Attributes:
        sent: the number of requests.
        is_over: whether the run of the other page has ended.
    """

    def __init__(self) -> None:
        self.sent = 0
        self.is_over = False
        self._request = b""
        self._is_leaving = False

    def route(self, connection) -> None:
        server = connection.connect_to_server()

        def from_page(data: bytes) -> None:
            if BackMsg.FromString(data).rerun_script.is_auto_rerun:
                self._request = data
            server.send(data)

        def from_server(data: bytes) -> None:
            message = ForwardMsg.FromString(data)
            connection.send(data)
            self._is_leaving |= "segment=" in message.page_info_changed.query_string
            if self._is_leaving and message.WhichOneof("type") == "script_finished":
                self.is_over |= message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
            if self._is_leaving and self._request and self.sent < MOST_REQUESTS:
                self.sent += 1
                server.send(self._request)

        connection.on_message(from_page)
        server.on_message(from_server)


def test_a_late_request_of_the_previous_page_does_not_clear_the_new_one(fresh_server, page):
    late = LateRequests()
    page.route_web_socket("**/_stcore/stream", late.route)
    page.goto(fresh_server)
    heading(page, "37 topic-partitions")
    page.locator(".st-key-kv_strip_work").wait_for(state="attached")
    page.wait_for_function("document.querySelector('.barlayer .point path')")
    click_a_bar(page)
    page.wait_for_url("**/segment?**")
    for _ in range(PATIENCE_MS // POLL_MS):
        if late.is_over:
            break
        page.wait_for_timeout(POLL_MS)
    page.wait_for_timeout(CLEARED_MS)
    page.locator(SETTLED).wait_for()
    assert late.is_over and late.sent
    assert page.locator("h1", has_text="from offset").count() == 1
    page.close()  # the route stays with the page, so no other test may use it
