"""Requests to the web server: own host names only, no foreign frame, no statistics."""

import asyncio
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from streamlit.web.server.starlette import starlette_server

from kafkaviz.app import server as app_server
from kafkaviz.app.server import FrameGuard, HostCheck, environment_options, host_names
from kafkaviz.workshop import class_start
from kafkaviz.workshop.class_room import ClassRooms

HANDSHAKE = (
    "GET /_stcore/stream HTTP/1.1",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)
CODE = """
import sys
from kafkaviz.app import server
LATE = {"pandas", "kafkaviz.pipeline.ingest.job"}
assert not LATE & set(sys.modules)
server.prepare_in_background().join()
print((LATE | {"plotly.graph_objs._heatmap"}) - set(sys.modules))
"""


async def _answers(scope, receive, send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
    else:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"an answer"})


def _responses(app, host: str | None, kind: str = "http", path: str = "/") -> list[dict]:
    sent: list[dict] = []

    async def send(message) -> None:
        sent.append(message)

    async def receive() -> dict:
        return {"type": f"{kind}.connect"}

    headers = [] if host is None else [(b"host", host.encode())]
    scope = {"type": kind, "path": path, "headers": headers, "method": "GET"}
    with ThreadPoolExecutor() as threads:  # a browser keeps an event loop in the tests' own
        threads.submit(asyncio.run, app(scope, receive, send)).result()
    return sent


OWN_ADDRESSES = ("127.0.0.1", "127.0.0.1:8501", "[::1]:8501", "[::1]", "10.1.2.3:8501")
OWN_NAMES = ("localhost:8501", "LOCALHOST.", socket.gethostname())
LOOKALIKES = ("localhost.attacker.example", "127.0.0.1.attacker.example", "[x.example]", "1")
FOREIGN = ("attacker.example", "attacker.example:8501", *LOOKALIKES, "", None)


@pytest.mark.parametrize("host", [*OWN_ADDRESSES, *OWN_NAMES])
def test_an_address_and_the_machine_s_own_names_are_answered(host):
    """An address cannot be pointed at another machine."""
    check = HostCheck(_answers, host_names())
    assert _responses(check, host)[0]["status"] == 200
    assert _responses(check, host, "websocket") == [{"type": "websocket.accept"}]


@pytest.mark.parametrize("host", FOREIGN)
def test_a_foreign_name_is_refused(host):
    """Only the Host header shows that a web site's name was pointed at this machine."""
    check = HostCheck(_answers, host_names())
    assert _responses(check, host)[0]["status"] == 421
    assert _responses(check, host, "websocket")[0]["type"] == "websocket.close"


def test_a_name_that_was_allowed_is_answered():
    check = HostCheck(_answers, host_names("kafkaviz.example.com, viz"))
    hosts = ("kafkaviz.example.com:80", "VIZ", "a.kafkaviz.example.com", "com")
    statuses = [_responses(check, host)[0]["status"] for host in hosts]
    assert statuses == [200, 200, 421, 421]


def test_every_answer_forbids_foreign_frames():
    """Streamlit's files and its own routes."""
    headers = dict(_responses(FrameGuard(_answers), "localhost")[0]["headers"])
    assert headers[b"content-security-policy"] == b"frame-ancestors 'self'"
    assert headers[b"x-frame-options"] == b"SAMEORIGIN"


def test_server_metrics_are_not_sent():
    """Sizes and counts of all visitors."""
    guard = FrameGuard(_answers)
    for path, status in (("metrics", 404), ("health", 200)):
        assert _responses(guard, "localhost", path=f"/_stcore/{path}")[0]["status"] == status


def test_settings_of_the_environment_reach_the_server():
    """st.App does not look for them there."""
    environment = {"STREAMLIT_SERVER_ADDRESS": "0.0.0.0", "STREAMLIT_SERVER_MAX_UPLOAD_SIZE": "0"}
    options = {"server.address": "0.0.0.0", "server.maxUploadSize": 0}
    assert environment_options(environment) == options
    assert environment_options({"STREAMLIT_SERVER_ADDRESS": ""}) == {}


def test_a_connection_sends_small_packets_at_once(monkeypatch):
    """Without waiting for the browser's acknowledgement of the packet before."""
    bind = starlette_server._bind_socket
    monkeypatch.setattr(starlette_server, "_bind_socket", bind)  # restored afterwards
    app_server.send_at_once()
    with (
        starlette_server._bind_socket("127.0.0.1", 0, 1) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_server_searches_for_garbage_in_place_of_streamlit(monkeypatch):
    """Streamlit would search everything after each run of a page."""
    configs, lifespans = [], []

    class App:
        def __init__(self, *_: object, lifespan: object, **__: object) -> None:
            lifespans.append(lifespan)

        def run(self, config: dict[str, object]) -> None:
            configs.append(config)

    monkeypatch.setattr(app_server.st, "App", App)
    monkeypatch.setattr(app_server, "send_at_once", lambda: None)
    monkeypatch.setattr(sys, "argv", [])
    app_server.main(["8600"])
    assert configs[0]["runner.postScriptGC"] is False and configs[0]["server.port"] == 8600
    assert lifespans == [app_server.while_running]


@pytest.mark.parametrize("language", ["", "en"])
def test_background_work_of_the_server(language, monkeypatch, capsys):
    """The search for garbage while the server runs, and with --class the class."""
    monkeypatch.setenv(app_server.access.CLASS, language)
    monkeypatch.setattr(class_start, "ROOMS", ClassRooms())

    async def serve() -> list[str]:
        async with app_server.while_running(None):
            return [str(task.get_coro()) for task in asyncio.all_tasks()]

    with ThreadPoolExecutor() as threads:
        tasks = threads.submit(asyncio.run, serve()).result()
    assert any("_collect_forever" in task for task in tasks)
    assert ("Class " in capsys.readouterr().out) == bool(language)


def _status(address: str, **headers: str) -> int:
    request = urllib.request.Request(address, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code


def _connected(port: int, name: str) -> str:
    """Returns the status of a connection that a page of this host asks for."""
    lines = [*HANDSHAKE, f"Host: {name}:{port}", f"Origin: http://{name}:{port}", "", ""]
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall("\r\n".join(lines).encode())
        return connection.recv(4096).split()[1].decode()


def test_the_real_server_goes_by_host(server):
    port = server.rpartition(":")[2]
    for name, status, connected in (("127.0.0.1", 200, "101"), ("attacker.example", 421, "403")):
        assert _status(server, Host=f"{name}:{port}") == status
        assert _connected(int(port), name) == connected
    with urllib.request.urlopen(server) as answer:
        assert answer.headers["Content-Security-Policy"] == "frame-ancestors 'self'"


@pytest.mark.browser
def test_another_site_holds_no_page_in_a_frame(server, browser, tmp_path):
    (tmp_path / "evil.html").write_text(f'<iframe src="{server}/"></iframe>')
    with browser.new_context() as context:
        page = context.new_page()
        refused: list[str] = []
        page.on("console", lambda message: refused.append(message.text))
        page.goto(f"file://{tmp_path / 'evil.html'}")
        page.wait_for_timeout(500)
        assert any("frame-ancestors" in text for text in refused)
        assert page.frames[1].locator("[data-testid=stApp]").count() == 0


def test_streamlit_s_own_command_goes_by_host_too():
    code = (
        "from streamlit import config; config.get_option('server.port'); "
        "print(config.get_option('server.allowedHosts'))"
    )
    root = Path(__file__).parents[2]
    variables = os.environ.items()
    environment = {name: value for name, value in variables if not name.startswith("STREAMLIT_")}
    command = [sys.executable, "-c", code]
    printed = subprocess.check_output(command, cwd=root, env=environment, text=True)
    assert printed == "['127.0.0.1', 'localhost', '::1']\n"


def test_libraries_of_the_first_page_are_imported():
    printed = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=False
    )
    assert (printed.stdout, printed.stderr) == ("set()\n", "")


def test_the_sample_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path))
    monkeypatch.setenv("KAFKAVIZ_DIR", str(tmp_path / "a.tar.gz"))
    app_server.prepare_in_background().join()
    assert not list(tmp_path.rglob("meta.properties"))
    monkeypatch.delenv("KAFKAVIZ_DIR")
    app_server.prepare_in_background().join()
    assert list(tmp_path.rglob("meta.properties"))
