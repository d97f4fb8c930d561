"""A visitor without a browser: requests pages from a running app over its websocket."""

from dataclasses import dataclass
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

PATIENCE_S = 60
LARGEST_BYTES = 1 << 28


@dataclass(frozen=True)
class Visit:
    """The page that was sent: its number of elements, and the text of each exception among them."""

    elements: int
    exceptions: tuple[str, ...]


class Visitor:
    """One tab of a browser, for the time of a with block."""

    def __init__(self, address: str) -> None:
        """`address`: such as http://127.0.0.1:8501."""
        self._socket = connect(
            f"{address.replace('http', 'ws', 1)}/_stcore/stream",
            origin=address,
            subprotocols=["streamlit"],
            max_size=LARGEST_BYTES,
        )

    def __enter__(self) -> "Visitor":
        return self

    def __exit__(self, *exception: object) -> None:
        self._socket.close()

    def see(self, page: str, **query: str) -> Visit:
        """Requests a page and reads it to its end; "" is the home page.

        Raises TimeoutError if it does not end.
        """
        back_message = BackMsg()
        back_message.rerun_script.query_string, back_message.rerun_script.page_name = (
            urlencode(query),
            page,
        )
        self._socket.send(back_message.SerializeToString())
        elements, exceptions = 0, []
        while True:
            forward_message = ForwardMsg.FromString(self._socket.recv(PATIENCE_S))
            kind = forward_message.WhichOneof("type")
            if kind == "delta" and forward_message.delta.HasField("new_element"):
                elements += 1
                if forward_message.delta.new_element.HasField("exception"):
                    exceptions.append(forward_message.delta.new_element.exception.message)
            if (
                kind == "script_finished"
                and forward_message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
            ):
                return Visit(elements, tuple(exceptions))
