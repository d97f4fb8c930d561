"""The only access to remote files: lists, finds and reads them, and counts all requests.

pyarrow.fs connects to S3, Google Cloud Storage, Azure and HDFS. A confined process
(log/confinement.py) reaches only the remote directories that it was given.
"""

import os
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kafkaviz import extras
from kafkaviz.errors import CannotOpen
from kafkaviz.log import confinement
from kafkaviz.log.remote.address import RemotePath, Store, files_root, mirror_path
from kafkaviz.messages import message, verbatim

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

# after these limits a request fails; it would otherwise wait forever
CONNECT_S = 5
REQUEST_S = 20
ATTEMPTS = 3
HANDLES = 64  # the most objects kept open; opening each costs a request
TIMED_OBJECTS = 4096  # the most objects whose request times are kept
HANDLE_S = 60  # how long an object stays open before it is requested again
MARK_BYTES = 16
_TAG_NAMES = ("ETag", "etag")  # the names in the metadata of pyarrow's file systems
ENTRIES = 1_000_000  # the most entries of one directory, including its subdirectories
PROBLEM_CHARACTERS = 200  # the longest quotation of a library's error
# the name of an Amazon error in its text
_AWS = re.compile(r"AWS Error (\w+)")
_DENIED = ("ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "SIGNATURE_DOES_NOT_MATCH", "INVALID_CLIENT")
# \b, so that digits within a file's name do not match
_DENIED_TEXT = re.compile(
    r"\b(403|401|Forbidden|Unauthorized|Permission denied|Authentication\w*)\b"
)
_UNREACHABLE_TEXTS = (
    "curlCode",
    "NETWORK_CONNECTION",
    "Couldn't connect",
    "Could not connect",
    "resolve host",
    "timed out",
    "Connection refused",
    "Unable to connect",
)


@dataclass(frozen=True, slots=True)
class Entry:
    key: str
    is_directory: bool
    size_bytes: int = 0
    mtime_ns: int = 0


@dataclass(slots=True)
class RequestCount:
    """Counts the requests of this process to remote stores."""

    # existence checks and listings; a listing counts once, even if it takes several requests
    listings: int = 0
    opens: int = 0  # requests for an object's size and time, before it is read
    reads: int = 0  # ranges that were read
    read_bytes: int = 0

    @property
    def data_requests(self) -> int:
        """The number of requests to open or read objects. Listings are not counted."""
        return self.opens + self.reads


@dataclass(frozen=True, slots=True)
class RequestTime:
    """The time that this process spent on requests to remote stores."""

    requests: int = 0  # for an object's size or ranges, without listings
    read_bytes: int = 0
    elapsed_ms: float = 0.0  # the sum of the requests' durations

    def __add__(self, other: "RequestTime") -> "RequestTime":
        return RequestTime(
            self.requests + other.requests,
            self.read_bytes + other.read_bytes,
            self.elapsed_ms + other.elapsed_ms,
        )


REQUESTS = RequestCount()
_LOCK = threading.Lock()
_FILE_SYSTEMS: dict[Store, "FileSystem"] = {}
_HANDLES: OrderedDict[RemotePath, tuple["_Handle", float]] = OrderedDict()
_OBJECT_TIMES: OrderedDict[RemotePath, RequestTime] = OrderedDict()
_STORE_TIMES: dict[Store, RequestTime] = {}


def _forget_connections() -> None:
    """Drops all connections in a forked process, where the threads of its parent do not exist."""
    global _LOCK
    _LOCK = threading.Lock()
    _FILE_SYSTEMS.clear()
    _HANDLES.clear()


os.register_at_fork(after_in_child=_forget_connections)


def use_credentials(environment: Mapping[str, str]) -> None:
    """Sets environment variables with which this process logs in to stores from now on.

    In a Spark worker, the variables of the Spark session replace those of the machine.
    """
    if all(os.environ.get(name) == value for name, value in environment.items()):
        return
    if "AWS_ACCESS_KEY_ID" in environment:
        os.environ.pop("AWS_SESSION_TOKEN", None)  # it belongs to another key
    os.environ.update(environment)
    with _LOCK:
        _FILE_SYSTEMS.clear()
        _HANDLES.clear()


def forget_objects() -> None:
    """Forgets all open objects, so that each is opened again before its next read."""
    with _LOCK:
        _HANDLES.clear()


def list_directory(directory: RemotePath, *, is_recursive: bool) -> list[Entry]:
    """Lists a directory. If `is_recursive`, also lists everything below the directory.

    Returns [] if nothing is there. Raises CannotOpen if the request fails, or if there are too many
    files (ENTRIES).
    """
    file_system = _file_system(directory)
    from pyarrow.fs import FileSelector, FileType

    base = _base_path(directory)
    _count(listings=1)
    selector = FileSelector(base, allow_not_found=True, recursive=is_recursive)
    try:
        infos = file_system.get_file_info(selector)
    except Exception as error:
        raise _translate(directory, error) from None
    if len(infos) > ENTRIES:
        what = message("remote.too_many_files", count=ENTRIES)
        raise CannotOpen(str(directory), what, message("remote.give_further_in"), kind="large")
    start = len(base.rstrip("/")) + 1
    return [
        _entry(info.path[start:], info)
        for info in infos
        if info.type in (FileType.Directory, FileType.File)
    ]


def find(remote: RemotePath) -> Entry | None:
    """Returns the file or directory at an address, or None if nothing is there.

    Raises CannotOpen if the request fails.
    """
    from pyarrow.fs import FileType

    file_system = _file_system(remote)
    _count(listings=1)
    try:
        info = file_system.get_file_info(_base_path(remote))
    except FileNotFoundError:
        return None
    except Exception as error:
        raise _translate(remote, error) from None
    return None if info.type == FileType.NotFound else _entry(remote.key, info)


def _entry(key: str, info: "FileInfo") -> Entry:
    from pyarrow.fs import FileType

    return Entry(key, info.type == FileType.Directory, info.size or 0, info.mtime_ns or 0)


def entity_tag(remote: RemotePath, *, size_bytes: int | None = None) -> bytes | None:
    """Returns the ETag of an object's current version, or None if the store has no ETags.

    Raises CannotOpen if the object does not exist or its size differs from the listed `size_bytes`.
    pyarrow's listings have no ETags. So the ETag comes from the request for the object's size.
    """
    try:
        return _open_sized(remote, 0, size_bytes).entity_tag
    except CannotOpen:
        raise
    except Exception as error:
        forget_object(remote)
        raise _translate(remote, error) from None


def read_range(
    remote: RemotePath, position: int, length: int, *, size_bytes: int | None = None
) -> bytes:
    """Reads a range with one request. `size_bytes` is the object's size in the listing.

    Raises CannotOpen if the request fails, or if the size of the object has changed.
    """
    try:
        handle = _open_sized(remote, position, size_bytes)
        _count(reads=1)
        start_s = time.perf_counter()
        data = handle.read(position, length)
        _add_time(remote, time.perf_counter() - start_s, len(data))
    except CannotOpen:
        raise
    except Exception as error:
        forget_object(remote)
        fault = _translate(remote, error)
        what = message("errors.at_byte", position=position, problem=fault.what)
        raise CannotOpen(str(remote), what, fault.next_step, fault.kind) from None
    _count(read_bytes=len(data))
    if len(data) != length:
        forget_object(remote)
        raise short_read(str(remote), position, len(data), length)
    return data


def short_read(path: str, position: int, count: int, length: int) -> CannotOpen:
    """Returns the error for an object that returned only `count` of `length` bytes."""
    problem = message("remote.short_read", count=count, length=length)
    what = message("errors.at_byte", position=position, problem=problem)
    return CannotOpen(path, what, message("remote.open_again"))


class _Handle:
    """An open object that can be read at any position, by one thread at a time.

    pyarrow 26.0 returns uninitialised memory if an object in S3 has become shorter. So `read`
    first writes a mark at the end of its buffer. If the mark is still there, bytes are missing.
    """

    def __init__(self, native_file: Any) -> None:
        metadata: Mapping[str, bytes] = native_file.metadata()
        self.size: int = native_file.size()
        self.entity_tag = next((metadata[name] for name in _TAG_NAMES if name in metadata), None)
        self._native_file = native_file
        self._lock = threading.Lock()

    def read(self, position: int, length: int) -> bytes:
        """Returns the bytes that arrived, perhaps fewer than `length`."""
        buffer = bytearray(length)
        mark_bytes = min(MARK_BYTES, length)
        for _ in range(ATTEMPTS):  # a file may contain one mark by chance, but not three
            mark = os.urandom(mark_bytes)
            buffer[length - mark_bytes :] = mark
            with self._lock:
                self._native_file.seek(position)
                count = self._native_file.readinto(buffer)
            if count != length:
                return bytes(buffer[:count])
            if not buffer.endswith(mark):
                return bytes(buffer)
        return b""


def _open_sized(remote: RemotePath, position: int, size_bytes: int | None) -> _Handle:
    handle = _open(remote)
    if size_bytes is not None and handle.size != size_bytes:  # the handle may be an old one
        forget_object(remote)
        handle = _open(remote)
    if size_bytes is not None and handle.size != size_bytes:
        raise changed(remote, position)
    return handle


def _open(remote: RemotePath) -> _Handle:
    file_system = _file_system(remote)
    now_s = time.monotonic()
    with _LOCK:
        handle, expiry_s = _HANDLES.get(remote, (None, 0.0))
    if handle is not None and now_s < expiry_s:
        return handle
    _count(opens=1)
    start_s = time.perf_counter()
    handle = _Handle(file_system.open_input_file(_base_path(remote)))
    _add_time(remote, time.perf_counter() - start_s)
    with _LOCK:
        _HANDLES[remote] = handle, now_s + HANDLE_S
        _HANDLES.move_to_end(remote)
        while len(_HANDLES) > HANDLES:
            _HANDLES.popitem(last=False)
    return handle


def object_time(remote: RemotePath) -> RequestTime | None:
    with _LOCK:
        return _OBJECT_TIMES.get(remote)


def store_time(store: Store) -> RequestTime | None:
    with _LOCK:
        return _STORE_TIMES.get(store)


def forget_times() -> None:
    with _LOCK:
        _OBJECT_TIMES.clear()
        _STORE_TIMES.clear()


def _add_time(remote: RemotePath, elapsed_s: float, read_bytes: int = 0) -> None:
    request = RequestTime(1, read_bytes, 1000 * elapsed_s)
    with _LOCK:
        _STORE_TIMES[remote.store] = _STORE_TIMES.get(remote.store, RequestTime()) + request
        _OBJECT_TIMES[remote] = _OBJECT_TIMES.get(remote, RequestTime()) + request
        _OBJECT_TIMES.move_to_end(remote)
        while len(_OBJECT_TIMES) > TIMED_OBJECTS:
            _OBJECT_TIMES.popitem(last=False)


def forget_object(remote: RemotePath) -> None:
    with _LOCK:
        _HANDLES.pop(remote, None)


def changed(remote: RemotePath, position: int) -> CannotOpen:
    """Returns the error for a changed object. The next read will open the object again."""
    forget_object(remote)
    what = message("errors.at_byte", position=position, problem=message("remote.changed"))
    return CannotOpen(str(remote), what, message("remote.open_again"))


def _count(*, listings: int = 0, opens: int = 0, reads: int = 0, read_bytes: int = 0) -> None:
    with _LOCK:
        REQUESTS.listings += listings
        REQUESTS.opens += opens
        REQUESTS.reads += reads
        REQUESTS.read_bytes += read_bytes


# ---- connections


def _file_system(remote: RemotePath) -> "FileSystem":
    """Returns the connection to a store. All threads share the connection.

    Raises:
        CannotOpen: this process may not access the address, or the store's client library is
            missing.
        MissingPackages: pyarrow is not installed.
    """
    _refuse_outside(remote)
    store = remote.store
    with _LOCK:
        file_system = _FILE_SYSTEMS.get(store)
    if file_system is None:
        try:
            with extras.translate_missing_packages():
                file_system = _MAKERS[store.scheme](store)
        except (CannotOpen, extras.MissingPackages):
            raise
        except Exception as error:
            raise _translate(remote, error) from None
        with _LOCK:
            file_system = _FILE_SYSTEMS.setdefault(store, file_system)
    return file_system


def _refuse_outside(remote: RemotePath) -> None:
    prefixes = confinement.allowed_prefixes()
    if prefixes is None:
        return
    root = os.path.join(os.path.realpath(files_root()), "")
    remote_prefixes = tuple(prefix for prefix in prefixes if prefix.startswith(root))
    real_path = os.path.join(os.path.realpath(mirror_path(remote)), "")
    if not remote_prefixes or not real_path.startswith(remote_prefixes):
        raise CannotOpen(str(remote), message("errors.outside_server"), kind="outside")


def _base_path(remote: RemotePath) -> str:
    if remote.store.scheme == "hdfs":
        return f"/{remote.key}"
    bucket = remote.store.authority.partition("@")[0]
    return f"{bucket}/{remote.key}" if remote.key else bucket


def _make_s3(store: Store) -> "FileSystem":
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem, resolve_s3_region

    parameters = dict(store.parameters)
    endpoint = parameters.get("endpoint_override")
    scheme, separator, host = (endpoint or "").partition("://")
    region = (
        parameters.get("region")
        or os.environ.get("AWS_REGION")
        or os.environ.get("AWS_DEFAULT_REGION")
        or (None if endpoint else resolve_s3_region(store.authority))
    )
    return S3FileSystem(
        region=region,
        scheme=scheme if separator else parameters.get("scheme", "https"),
        endpoint_override=(host if separator else endpoint) or None,
        anonymous=parameters.get("anonymous") == "true",
        connect_timeout=CONNECT_S,
        request_timeout=REQUEST_S,
        retry_strategy=AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS),
    )


def _make_gs(store: Store) -> "FileSystem":
    from datetime import timedelta

    from pyarrow.fs import GcsFileSystem

    parameters = dict(store.parameters)
    scheme, separator, host = parameters.get("endpoint_override", "").partition("://")
    return GcsFileSystem(
        endpoint_override=(host if separator else scheme) or None,
        scheme=scheme if separator else parameters.get("scheme", "https"),
        anonymous=parameters.get("anonymous") == "true",
        retry_time_limit=timedelta(seconds=REQUEST_S),
    )


def _make_abfs(store: Store) -> "FileSystem":
    """Connects to Azure: abfs://CONTAINER@ACCOUNT.dfs.core.windows.net.

    If the address has no account, the environment gives the account.
    """
    from pyarrow.fs import AzureFileSystem

    parameters = dict(store.parameters)
    _, at, host = store.authority.partition("@")
    account = host.partition(".")[0] if at else os.environ.get("AZURE_STORAGE_ACCOUNT", "")
    options: dict[str, Any] = {}
    if authority := parameters.get("blob_storage_authority"):
        options = dict.fromkeys(("blob_storage_authority", "dfs_storage_authority"), authority)
    if scheme := parameters.get("blob_storage_scheme"):
        options |= dict.fromkeys(("blob_storage_scheme", "dfs_storage_scheme"), scheme)
    if key := os.environ.get("AZURE_STORAGE_KEY"):
        options["account_key"] = key
    elif token := os.environ.get("AZURE_STORAGE_SAS_TOKEN"):
        options["sas_token"] = token
    return AzureFileSystem(account, **options)


def _make_hdfs(store: Store) -> "FileSystem":
    from pyarrow.fs import HadoopFileSystem

    user, _, address = store.authority.rpartition("@")
    host, _, port = address.partition(":")
    try:
        return HadoopFileSystem(host, int(port) if port.isdecimal() else 0, user=user or None)
    except OSError as error:
        if "libhdfs" not in str(error) and "libjvm" not in str(error):
            raise
        hint = message("remote.install_hadoop")
        raise CannotOpen(str(store), message("remote.no_libhdfs"), hint) from None


_MAKERS = {
    "s3": _make_s3,
    "gs": _make_gs,
    "abfs": _make_abfs,
    "abfss": _make_abfs,
    "hdfs": _make_hdfs,
}


def _translate(remote: RemotePath, error: Exception) -> CannotOpen:
    text = str(error)
    match = _AWS.search(text)
    name = match[1] if match else ""
    if isinstance(error, FileNotFoundError) or name in ("NO_SUCH_BUCKET", "RESOURCE_NOT_FOUND"):
        return missing(remote)
    if name in _DENIED or (name in ("", "UNKNOWN") and _DENIED_TEXT.search(text)):
        hint = message("remote.check_credentials")
        return CannotOpen(str(remote), message("remote.denied"), hint, "permission")
    if any(part in text for part in _UNREACHABLE_TEXTS):
        hint = message("remote.check_endpoint")
        return CannotOpen(str(remote), message("remote.unreachable"), hint)
    line = " ".join(text.split()) or type(error).__name__
    what = verbatim(line[:PROBLEM_CHARACTERS])
    return CannotOpen(str(remote), what, message("remote.open_again"))


def missing(remote: RemotePath) -> CannotOpen:
    return CannotOpen(
        str(remote), message("errors.not_there"), message("errors.check_the_path"), kind="missing"
    )
