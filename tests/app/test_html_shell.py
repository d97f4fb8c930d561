"""The HTML page that a browser gets first: Streamlit's own, with the look and a skeleton in it."""

import asyncio
import gzip
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import streamlit

from kafkaviz.app import middleware
from kafkaviz.app.middleware import HtmlShell
from tests.support.pages import open_page

STATIC = Path(streamlit.__file__).parent / "static"
HTML = (STATIC / "index.html").read_bytes()


@pytest.fixture(autouse=True)
def not_in_use(monkeypatch):
    """Keeps the served page out of the state of this process."""
    monkeypatch.setattr(HtmlShell, "in_use", False)


def _answer(
    headers: dict[str, str], path: str = "/", kind: str = "text/html"
) -> tuple[dict, bytes]:
    """Returns headers and body of an application that serves this HTML in two parts."""
    sent: list[dict] = []

    async def serve(scope, _, send) -> None:
        is_known = b"if-none-match" in dict(scope["headers"])
        answer_headers = [(b"content-type", kind.encode()), (b"etag", b"one")]
        answer_headers.append((b"content-length", str(len(HTML)).encode()))
        await send(
            {
                "type": "http.response.start",
                "status": 304 if is_known else 200,
                "headers": answer_headers,
            }
        )
        parts = [] if is_known else [HTML[:1000], HTML[1000:]]
        for part in [*parts, b""]:
            await send({"type": "http.response.body", "body": part, "more_body": part != b""})

    async def send(message) -> None:
        sent.append(message)

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": path, "headers": raw}
    with ThreadPoolExecutor() as threads:  # a browser keeps an event loop in the tests' own
        threads.submit(asyncio.run, HtmlShell(serve)(scope, None, send)).result()
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return answered, b"".join(message["body"] for message in sent[1:])


def test_the_look_comes_after_streamlits_own_styles_and_before_those_of_pages():
    """When two rules have equal weight, the later one wins."""
    headers, body = _answer({})
    html = body.decode()
    assert headers["content-length"] == str(len(body))
    assert html.index("</head>") < html.index("--kv-bg: light-dark") < html.index('<div id="root">')
    assert html.count('id="kv-wait"') == 1 and html.rstrip().endswith("</body>\n</html>")


def test_a_page_that_a_browser_kept_is_not_taken_for_this_one():
    """Streamlit compares only its own file, which another version of the look does not change."""
    headers, body = _answer({"accept": "text/html", "if-none-match": "one"})
    assert b"kv-wait" in body and "etag" not in headers


@pytest.mark.parametrize(
    "path", ["/static/js/index.a.js", "/favicon.png", "/_stcore/health", "/media/0a"]
)
def test_files_and_streamlits_own_routes_are_left_as_they_are(path):
    headers, body = _answer({}, path)
    assert body == HTML and headers["etag"] == "one"
    assert _answer({"if-none-match": "one"}, path)[1] == b""


def test_what_is_no_html_is_left_as_it_is():
    """Also an answer at a page's address, such as a 404 text."""
    headers, body = _answer({}, kind="text/plain")
    assert body == HTML and headers["etag"] == "one"


def test_the_page_is_compressed_where_a_browser_takes_that():
    """We compress it, because HTML that Streamlit has compressed cannot be changed."""
    headers, body = _answer({"accept-encoding": "gzip, br"})
    assert headers["content-encoding"] == "gzip" and headers["vary"] == "Accept-Encoding"
    assert gzip.decompress(body) == _answer({})[1] and len(body) < 20_000


def test_html_without_a_place_to_draw_is_left_as_it_is():
    """Another release of Streamlit may serve different HTML."""
    assert middleware.fill(b"<p>no page</p>") == b"<p>no page</p>"


def test_the_page_names_the_scripts_to_evaluate():
    """Streamlit has exactly one script of charts and one of tables."""
    names = re.search('data-scripts="([^"]+)"', _answer({})[1].decode())[1].split()
    assert [name.partition(".")[0] for name in names] == ["PlotlyChart", "DataFrame"]
    assert all((STATIC / "static" / "js" / name).is_file() for name in names)


@pytest.mark.parametrize("in_use", [True, False])
def test_a_run_sends_the_look_only_where_the_page_has_none(in_use, monkeypatch):
    """Such as with `streamlit run app.py`, which serves Streamlit's own page."""
    monkeypatch.setattr(HtmlShell, "in_use", in_use)
    page = open_page("compare")
    styles = [html for html in page.get("html") if "--kv-bg: light-dark" in html.proto.body]
    assert len(styles) == (not in_use)
