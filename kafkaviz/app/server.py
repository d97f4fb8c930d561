"""The web server of the app: Streamlit's server with the classes of middleware.py."""

import os
import socket
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.web.server.starlette import starlette_server

from kafkaviz import environment
from kafkaviz.app import access, registry, scheduling
from kafkaviz.app.middleware import FrameGuard, HostCheck, HtmlShell, StaticCompression
from kafkaviz.errors import KafkavizError

ALLOW_HOST = "KAFKAVIZ_ALLOW_HOST"  # allowed host names, separated by commas
# options that `streamlit run` reads from the environment, but st.App does not
ENVIRONMENT_OPTIONS: dict[str, tuple[str, Callable[[str], object]]] = {
    "STREAMLIT_SERVER_ADDRESS": ("server.address", str),
    "STREAMLIT_SERVER_MAX_UPLOAD_SIZE": ("server.maxUploadSize", int),
}


def host_names(extra_names: str = "") -> list[str]:
    names = filter(None, map(str.strip, extra_names.split(",")))
    return ["localhost", socket.gethostname(), *names]


def environment_options(environment: Mapping[str, str]) -> dict[str, object]:
    return {
        option: parse(environment[name])
        for name, (option, parse) in ENVIRONMENT_OPTIONS.items()
        if environment.get(name)
    }


def send_at_once() -> None:
    """Turns off Nagle's algorithm on the listening socket, and so on every connection.

    With Nagle, a small packet waits up to 40 ms for the acknowledgement of the previous one.
    asyncio turns Nagle off only for sockets with an explicit protocol. The socket of Streamlit 1.67
    has none.
    """
    bind = starlette_server._bind_socket

    def bind_without_delay(address: str, port: int, backlog: int) -> socket.socket:
        listener = bind(address, port, backlog)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener

    starlette_server._bind_socket = bind_without_delay  # ty: ignore[invalid-assignment]


def skip_late_fragments() -> None:
    """Skips the run of a fragment if its visitor has left the fragment's page.

    After st.switch_page, the browser may still request a fragment of the previous page. Streamlit
    1.67 does not find the fragment, but still announces a run of the previous page. The browser
    then clears the new page.
    """
    run_script = ScriptRunner._run_script

    def run_unless_late(runner: ScriptRunner, request: RerunData) -> None:
        context = get_script_run_ctx()
        current_page = context.page_script_hash if context else ""
        is_on_page = current_page in ("", request.page_script_hash)
        if is_on_page or not request.fragment_id_queue:
            run_script(runner, request)

    ScriptRunner._run_script = run_unless_late  # ty: ignore[invalid-assignment]


@asynccontextmanager
async def while_running(app: object) -> AsyncGenerator[None, None]:
    """While the server runs: imports libraries, collects garbage, runs registry.BACKGROUND_WORK."""
    prepare_in_background()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(scheduling.collect_periodically())
        for work in registry.BACKGROUND_WORK.values():
            await stack.enter_async_context(work(app))
        yield


def main(arguments: Sequence[str]) -> None:
    """Serves app.py until the process is stopped. The one argument, if any, is the port."""
    # Streamlit looks for .streamlit/config.toml next to the script in sys.argv
    sys.argv = [str(environment.APP)]
    middleware = [
        Middleware(HostCheck, names=host_names(os.environ.get(ALLOW_HOST, ""))),
        Middleware(FrameGuard),
        Middleware(HtmlShell),
        *(Middleware(load()) for load in registry.MIDDLEWARE.values()),
        Middleware(StaticCompression),
    ]
    port = {"server.port": int(arguments[0])} if arguments else {}
    options = environment_options(os.environ)
    app = st.App(environment.APP, middleware=middleware, lifespan=while_running)
    # for a class, the announcement prints the addresses, and a browser opened by the server would
    # lack the teacher's secret
    opens_class = bool(os.environ.get(access.CLASS))
    quiet = {"logger.hideWelcomeMessage": True, "server.headless": True} if opens_class else {}
    send_at_once()
    skip_late_fragments()
    # the allowedHosts of config.toml apply to Streamlit's own command; here HostCheck decides
    fixed = {"server.allowedHosts": ["*"], **scheduling.NO_COLLECTION_AFTER_RUN}
    app.run(config={**fixed, **options, **quiet, **port})


def prepare_in_background() -> threading.Thread:
    """Imports the libraries in a thread. Meanwhile, a page waits only for the imports it needs."""
    thread = threading.Thread(target=_prepare, name="kafkaviz-first-page", daemon=True)
    thread.start()
    return thread


def _prepare() -> None:
    import numpy as np
    import pandas.io.formats.style  # noqa: F401  # loaded for later imports

    import kafkaviz.pipeline.ingest.job  # noqa: F401
    from kafkaviz.app import access
    from kafkaviz.app.state import page_location
    from kafkaviz.figures.broker import broker_map
    from kafkaviz.figures.broker.map_rows import CELLS
    from kafkaviz.log.archives import archive

    nothing = broker_map.BrokerMapView(
        title="", caption="", rows=(), bars=(), axis_bytes=1, strip=np.zeros((0, CELLS), np.float32)
    )
    broker_map.draw(nothing, "light")
    directory = Path(page_location.default_directory())
    if directory in access.samples():
        with suppress(KafkavizError):  # the page will report it
            archive.unpack_if_archive(directory)
