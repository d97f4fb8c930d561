"""A visitor without a browser: requests pages from a running app over its websocket."""

from dataclasses import dataclass
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

PATIENCE_S = 60
LARGEST_BYTES = 1 << 28


@dataclass(frozen=True)
class Visit:
    """The page that was sent: its number of elements, and the text of each exception among them."""

    elements: int
    exceptions: tuple[str, ...]


def open_socket(address: str) -> ClientConnection:
    """Connects to an app as a tab does; `address`: such as http://127.0.0.1:8501."""
    return connect(
        f"{address.replace('http', 'ws', 1)}/_stcore/stream",
        origin=address,
        subprotocols=["streamlit"],
        max_size=LARGEST_BYTES,
    )


class Visitor:
    """One tab of a browser, for the time of a with block."""

    def __init__(self, address: str) -> None:
        self._socket = open_socket(address)

    def __enter__(self) -> "Visitor":
        return self

    def __exit__(self, *exception: object) -> None:
        self._socket.close()

    def see(self, page: str, **query: str) -> Visit:
        """Requests a page and reads it to its end; "" is the home page.

        Raises TimeoutError if it does not end.
        """
        request = BackMsg()
        request.rerun_script.query_string = urlencode(query)
        request.rerun_script.page_name = page
        self._socket.send(request.SerializeToString())
        elements, exceptions = 0, []
        while True:
            message = ForwardMsg.FromString(self._socket.recv(PATIENCE_S))
            if message.delta.HasField("new_element"):
                elements += 1
                if message.delta.new_element.HasField("exception"):
                    exceptions.append(message.delta.new_element.exception.message)
            is_end = message.WhichOneof("type") == "script_finished"
            if is_end and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                return Visit(elements, tuple(exceptions))
