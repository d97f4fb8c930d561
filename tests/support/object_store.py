"""moto's local server of the S3 protocol, which counts requests and can be made to fail."""

import threading
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs

BUCKET = "kafka"
KEYS = {  # moto takes any
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "do-not-print-me",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
Application = Callable[[dict, Callable], Iterable[bytes]]
Fault = Callable[["Request"], str | None]


@dataclass(frozen=True)
class Request:
    """A request to the server."""

    method: str
    path: str
    query: dict[str, list[str]]
    byte_range: str | None

    @property
    def is_listing(self) -> bool:
        """Returns whether names are requested, not bytes: of a prefix, or whether one exists."""
        return self.method == "GET" and ("list-type" in self.query or "prefix" in self.query)


@dataclass
class ObjectStore:
    """A running server.

    Attributes:
        requests: what it was asked, in order.
        fault: called for each request; "close" ends the connection within the answer, "short"
            leaves half of the bytes out, "deny" refuses. None answers.
    """

    url: str
    requests: list[Request] = field(default_factory=list)
    fault: Fault | None = None

    @property
    def data_requests(self) -> list[Request]:
        """Returns the requests that read objects, without listings."""
        return [request for request in self.requests if not request.is_listing]

    @property
    def ranges(self) -> list[Request]:
        return [request for request in self.requests if request.byte_range]

    def put(self, key: str, data: bytes, bucket: str = BUCKET) -> None:
        self._send("PUT", f"{bucket}/{key}", data)

    def put_directory(self, directory: Path, key: str) -> None:
        for path in sorted(directory.rglob("*")):
            if path.is_file():
                self.put(f"{key}/{path.relative_to(directory)}", path.read_bytes())

    def delete(self, key: str, bucket: str = BUCKET) -> None:
        self._send("DELETE", f"{bucket}/{key}")

    def make_bucket(self, bucket: str = BUCKET) -> None:
        self._send("PUT", bucket)

    def _send(self, method: str, path: str, data: bytes | None = None) -> None:
        request = urllib.request.Request(f"{self.url}/{path}", data=data, method=method)
        request.add_header("Content-Type", "application/octet-stream")  # else it would be a form
        # moto says by it whose the request is
        request.add_header(
            "Authorization",
            "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0",
        )
        urllib.request.urlopen(request, timeout=10).close()


@contextmanager
def serving_objects() -> Iterator[ObjectStore]:
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class QuietHandler(WSGIRequestHandler):
        def log_request(self, code="-", size="-"):
            pass

        def log(self, type, message, *args):
            pass

    backend = DomainDispatcherApplication(create_backend_app)
    store = ObjectStore("")

    def application(environ: dict, start_response: Callable) -> Iterable[bytes]:
        request = Request(
            environ["REQUEST_METHOD"],
            environ["PATH_INFO"],
            parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True),
            environ.get("HTTP_RANGE"),
        )
        if request.method in ("GET", "HEAD"):
            store.requests.append(request)
        fault = store.fault(request) if store.fault else None
        if fault == "deny":
            start_response("403 Forbidden", [("Content-Type", "application/xml")])
            return [b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>"]
        answer = backend(environ, start_response)
        if fault in ("close", "short"):
            body = b"".join(answer)
            return [body[: len(body) // 2]]  # of the length that was promised
        return answer

    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=QuietHandler)
    store.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        store.make_bucket()
        yield store
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
