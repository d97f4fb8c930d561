"""The address of a remote file, such as s3://bucket/brokers/17, and the path of its local mirror.

A mirror is a local folder that looks like the remote directory. The mirror's path contains the
address. So a Spark worker on another machine can compute the address from the path:

    s3://bucket/brokers/17/meta.properties
    ~/.cache/kafkaviz/remote/files/s3%3A%2F%2Fbucket/brokers/17/meta.properties

An address with a password or key is refused. Credentials come from the environment.
"""

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath
from urllib.parse import parse_qsl, quote, unquote, urlencode

from kafkaviz.errors import CannotOpen
from kafkaviz.log.cache_folder import cache_folder
from kafkaviz.messages import Message, message, set_path_spelling

SCHEMES = ("s3", "gs", "abfs", "abfss", "hdfs")
SPELLINGS = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}  # the schemes of Hadoop and others
PARAMETERS = {  # allowed in a query; none of these is a secret
    "s3": ("endpoint_override", "region", "scheme", "anonymous"),
    "gs": ("endpoint_override", "scheme", "anonymous"),
    "abfs": ("blob_storage_authority", "blob_storage_scheme"),
    "abfss": ("blob_storage_authority", "blob_storage_scheme"),
    "hdfs": (),
}
# Amazon's variables for the address of a different store with the S3 protocol
ENDPOINT_VARIABLES = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
NAME_BYTES = 255  # the longest file name in most filesystems
# one slash is allowed, because a Path drops the second one
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(/+)(.*)", re.DOTALL)
_MIRRORS = "/remote/files/"  # is in the path of every mirror, on any machine
_ONE_SLASH = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):/(?!/)")
_QUERY = re.compile(r"\?(?=\w+=)")


@dataclass(frozen=True, slots=True)
class Store:
    """The target of a connection: a bucket, a container or a machine."""

    scheme: str
    authority: str
    parameters: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """Returns the address. Omits an endpoint that comes from an environment variable."""
        hidden = ("endpoint_override", _environment_endpoint() or "")
        return self._spell(tuple(pair for pair in self.parameters if pair != hidden))

    @property
    def folder_name(self) -> str:
        return quote(self._spell(self.parameters), safe="")

    def _spell(self, parameters: tuple[tuple[str, str], ...]) -> str:
        query = f"?{urlencode(parameters, safe=':/')}" if parameters else ""
        return f"{self.scheme}://{self.authority}{query}"


@dataclass(frozen=True, slots=True)
class RemotePath:
    """A file or directory in a store. The key does not begin or end with a slash."""

    store: Store
    key: str

    def __str__(self) -> str:
        start, question, query = str(self.store).partition("?")
        return f"{start}{'/' if self.key else ''}{self.key}{question}{query}"

    @property
    def parent(self) -> "RemotePath":
        return RemotePath(self.store, self.key.rpartition("/")[0])

    def child(self, key: str) -> "RemotePath":
        return RemotePath(self.store, f"{self.key}/{key}" if self.key else key)


def parse(text: str) -> RemotePath | None:
    """Returns the remote path of an address. None: `text` is not a remote address.

    Raises CannotOpen if the address cannot be used.
    """
    match = _ADDRESS.fullmatch(text)
    if match is None:
        return None
    scheme = SPELLINGS.get(match[1].lower(), match[1].lower())
    if scheme not in SCHEMES:
        if scheme == "file" or os.path.lexists(text):
            return None
        raise _refusal(text, message("remote.unknown_scheme", scheme=scheme, names=SCHEMES))
    if len(match[2]) > 2:
        raise _refusal(text, message("remote.no_authority"))
    location, *query = _QUERY.split(match[3], maxsplit=1)
    authority, _, key = location.partition("/")
    if not authority:
        raise _refusal(text, message("remote.no_authority"))
    user, at, _ = authority.rpartition("@")
    if at and (scheme in ("s3", "gs") or ":" in user):
        raise _refusal(text, message("remote.credentials_in_address"))
    parts = [part for part in key.split("/") if part]
    if any(not is_name(part) for part in parts):
        raise _refusal(text, message("remote.impossible_key"))
    parameters = _parameters(text, scheme, query[0] if query else "")
    store = Store(scheme, authority, parameters)
    if len(store.folder_name) > NAME_BYTES:
        raise _refusal(text, message("remote.impossible_key"))
    return RemotePath(store, "/".join(parts))


def is_name(part: str) -> bool:
    return (
        part not in ("", ".", "..")
        and "\0" not in part
        and "/" not in part
        and len(os.fsencode(part)) <= NAME_BYTES
    )


def mirror_path(remote: RemotePath) -> Path:
    return Path(files_root(), remote.store.folder_name, *filter(None, remote.key.split("/")))


def local_path(text: str) -> Path:
    """Returns the mirror path if `text` is a remote address, else Path(text).

    Raises CannotOpen if the address cannot be used.
    """
    remote = parse(text)
    return mirror_path(remote) if remote else Path(text)


def views_root() -> str:
    """Returns the folder for views of tiered storage."""
    return _roots()[1]


def may_hold_mirrored(directory: Path) -> bool:
    """Returns whether a directory is in a mirror, or in a view, which may link to a mirror."""
    return f"{directory}/".startswith(_roots())


def mirrored_file(path: Path | str) -> Path | None:
    """Returns the file in a mirror to which a path leads, perhaps through a view; else None."""
    text = str(path)
    mirrors, views = _roots()
    if text.startswith(mirrors):
        return Path(path)
    if not text.startswith(views):
        return None
    real_path = os.path.realpath(text)
    real_root = os.path.join(os.path.realpath(mirrors), "")
    if not real_path.startswith(real_root):
        return None
    return Path(mirrors, real_path.removeprefix(real_root))


def is_mirrored(path: Path | str) -> bool:
    return str(path).startswith(files_root())


def remote_path(path: PurePath | str) -> RemotePath | None:
    """Returns the remote path of a file in a mirror, or None for any other path."""
    text = str(path)
    if not text.startswith(files_root()):
        return None
    folder, _, key = text[len(files_root()) :].partition("/")
    store = parse(unquote(folder))
    return None if store is None else RemotePath(store.store, key)


def localize(path: Path) -> Path:
    """Returns the path in this machine's mirror for a path in the mirror of another machine.

    Returns any other path unchanged.
    """
    text = str(path)
    _, root, rest = text.partition(_MIRRORS)
    if not root or text.startswith(files_root()):
        return path
    folder, _, key = rest.partition("/")
    return Path(files_root(), folder, key) if _is_store(folder) else path


def _is_store(folder: str) -> bool:
    try:
        store = parse(unquote(folder)) if "%3A%2F%2F" in folder else None
    except CannotOpen:
        return False
    return store is not None and store.store.folder_name == folder


def display(path: PurePath | str) -> str:
    """Returns the remote address of a file in a mirror; for any other file, the path.

    If `path` is a remote address that cannot be used, returns it without user, password and query.
    """
    text = str(path)
    try:
        if remote := remote_path(path):
            return str(remote)
        parse(text)
    except CannotOpen as fault:
        text = str(fault.path)
    # a Path of an address that was never opened has only one slash
    return _ONE_SLASH.sub(r"\1://", text)


def files_root() -> str:
    return _roots()[0]


def _roots() -> tuple[str, str]:
    """Returns (folder of all mirrors, folder of all views). The result is cached."""
    get = os.environ.get
    return _roots_by_environment(get("KAFKAVIZ_CACHE"), get("XDG_CACHE_HOME"), get("HOME"))


@lru_cache(maxsize=4)
def _roots_by_environment(*environment: str | None) -> tuple[str, str]:  # noqa: ARG001 - what the folders depend on
    folder = cache_folder()
    return os.path.realpath(folder) + _MIRRORS, os.path.join(folder, "tiered", "")


def _parameters(text: str, scheme: str, query: str) -> tuple[tuple[str, str], ...]:
    pairs = dict(parse_qsl(query, keep_blank_values=True))
    if unknown := [name for name in pairs if name not in PARAMETERS[scheme]]:
        known = PARAMETERS[scheme] or ("",)
        raise _refusal(text, message("remote.unknown_parameter", name=unknown[0][:40], names=known))
    if scheme == "s3":
        endpoint = pairs.get("endpoint_override") or _environment_endpoint()
        if endpoint:
            pairs["endpoint_override"] = endpoint
    if "endpoint_override" in pairs:
        pairs["endpoint_override"] = _endpoint(pairs["endpoint_override"])
    return tuple(sorted(pairs.items()))


def _environment_endpoint() -> str | None:
    endpoint = next(filter(None, map(os.environ.get, ENDPOINT_VARIABLES)), None)
    return _endpoint(endpoint) if endpoint else None


def _endpoint(text: str) -> str:
    return re.sub(r"^(https?):/+", r"\1://", text).rstrip("/")


def _refusal(text: str, what: Message) -> CannotOpen:
    location = re.sub(r"^(\w[\w+.-]*):/+", r"\1://", _QUERY.split(text, maxsplit=1)[0])
    location = re.sub(r"(?<=://)[^/]*@", "", location)
    return CannotOpen(location, what, message("remote.address_examples"), kind="missing")


set_path_spelling(display)
