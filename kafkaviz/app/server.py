"""The web server of the app: Streamlit's behind two checks, compressed, with the feed of classes.

A request must name this server by an address, by localhost, by this machine's name, or by a name
that was allowed: a web site whose name was pointed at 127.0.0.1 (DNS rebinding) names itself, and
could else drive the app as the person at the machine. And no page of another site may hold one of
ours in a frame.
"""

import ipaddress
import os
import socket
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.websockets import WebSocketClose
from streamlit.web.server.starlette import starlette_server

from kafkaviz import resources
from kafkaviz.app import class_start, first_page, gc_tuning
from kafkaviz.app.class_feed import ClassFeed
from kafkaviz.app.compression import StaticCompression
from kafkaviz.app.index_page import IndexPage
from kafkaviz.app.state import access

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

ALLOW_HOST = "KAFKAVIZ_ALLOW_HOST"  # names by which it may be reached, a comma between them
NO_FRAMES = {
    "Content-Security-Policy": "frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "same-origin",
}
# what Streamlit's own command takes from the environment, and st.App does not
ENVIRONMENT_OPTIONS: dict[str, tuple[str, Callable[[str], object]]] = {
    "STREAMLIT_SERVER_ADDRESS": ("server.address", str),
    "STREAMLIT_SERVER_MAX_UPLOAD_SIZE": ("server.maxUploadSize", int),
}
METRICS_PATH = "/_stcore/metrics"  # what all visitors together hold is no visitor's business


class HostCheck:
    """Refuses requests and connections that name this server by a name that is not its own."""

    def __init__(self, app: "ASGIApp", names: Sequence[str]) -> None:
        self._app, self._names = app, frozenset(name.lower().rstrip(".") for name in names)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """One request, or one connection."""
        host = (
            Headers(scope=scope).get("host", "") if scope["type"] in ("http", "websocket") else None
        )
        if host is None or self._is_own(host):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocketClose(code=1008)(scope, receive, send)
        else:
            words = (
                "This server is not known by that name. Its owner allows one with: kafkaviz app "
                "--allow-host NAME\n"
            )
            await PlainTextResponse(words, status_code=421)(scope, receive, send)

    def _is_own(self, host: str) -> bool:
        """Whether a request may come by this name.

        Args:
            host: of the Host header, with or without a port.
        """
        name = (
            host.partition("]")[0].removeprefix("[")
            if host.startswith("[")
            else host.partition(":")[0]
        )
        return name.lower().rstrip(".") in self._names or _is_address(name)


class FrameGuard:
    """Forbids other sites' pages to frame an answer, and keeps the server's own figures private."""

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """One request, or one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["path"].endswith(METRICS_PATH):
            await PlainTextResponse("Not found\n", status_code=404)(scope, receive, send)
            return

        async def send_guarded(message: "Message") -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(NO_FRAMES)
            await send(message)

        await self._app(scope, receive, send_guarded)


def host_names(extra_names: str = "") -> list[str]:
    """By which names this server may be reached, beside addresses.

    This machine's, and those that were allowed.
    """
    return [
        "localhost",
        socket.gethostname(),
        *filter(None, (name.strip() for name in extra_names.split(","))),
    ]


def _is_address(name: str) -> bool:
    """An address cannot be pointed at another machine, as a name can."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def environment_options(environment: Mapping[str, str]) -> dict[str, object]:
    """Streamlit's options that an environment sets."""
    return {
        option: parse(environment[name])
        for name, (option, parse) in ENVIRONMENT_OPTIONS.items()
        if environment.get(name)
    }


def send_at_once() -> None:
    """Turns off Nagle's algorithm for every connection, which has it of the socket that listens.

    With it a small packet waits until the browser has acknowledged the one before, up to 40 ms: so
    did a message behind a message, and each of sixty scripts. asyncio turns it off only where a
    socket names its protocol, and Streamlit 1.67 binds one that does not.
    """
    bind = starlette_server._bind_socket

    def bind_without_delay(address: str, port: int, backlog: int) -> socket.socket:
        listener = bind(address, port, backlog)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener

    starlette_server._bind_socket = bind_without_delay  # ty: ignore[invalid-assignment]


@asynccontextmanager
async def while_running(app: object) -> AsyncGenerator[None, None]:
    """What goes on beside the pages.

    The imports of the first one, the search for garbage, the class of `--class`.
    """
    first_page.prepare_in_background()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(gc_tuning.collect_periodically())
        if os.environ.get(access.CLASS):
            await stack.enter_async_context(class_start.open_class(app))
        yield


def main(arguments: Sequence[str]) -> None:
    """Serves app.py until it is stopped.

    Args:
        arguments: the port, or nothing.
    """
    sys.argv = [str(resources.APP)]  # beside it Streamlit looks for .streamlit/config.toml
    middleware = [
        Middleware(HostCheck, names=host_names(os.environ.get(ALLOW_HOST, ""))),
        Middleware(FrameGuard),
        Middleware(IndexPage),
        Middleware(ClassFeed),
        Middleware(StaticCompression),
    ]
    port = {"server.port": int(arguments[0])} if arguments else {}
    options = environment_options(os.environ)
    app = st.App(resources.APP, middleware=middleware, lifespan=while_running)
    # what is printed has the addresses that matter, and a browser that opens by itself has no chair
    opens_class = bool(os.environ.get(access.CLASS))
    quiet = {"logger.hideWelcomeMessage": True, "server.headless": True} if opens_class else {}
    # the file's list of hosts is for who runs app.py with Streamlit's own command
    send_at_once()
    fixed = {"server.allowedHosts": ["*"], **gc_tuning.NO_COLLECTION_AFTER_RUN}
    app.run(config={**fixed, **options, **quiet, **port})


if __name__ == "__main__":
    main(sys.argv[1:])
