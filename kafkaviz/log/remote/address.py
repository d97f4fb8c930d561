"""The address of a remote file, s3://bucket/brokers/17, and where its mirror lies.

A mirror is a local folder that looks as the remote directory does. Its path holds the address, so
whoever has the path, such as a worker of Spark on another machine, knows what it is of:

    s3://bucket/brokers/17/meta.properties
    ~/.cache/kafkaviz/remote/files/s3%3A%2F%2Fbucket/brokers/17/meta.properties

An address holds no secret: with a password or a key in it, it is refused, and what its query may
say is listed here. Credentials are the environment's.
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
SPELLINGS = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}  # as Hadoop and others have it
PARAMETERS = {  # what a query may say; none of it is a secret
    "s3": ("endpoint_override", "region", "scheme", "anonymous"),
    "gs": ("endpoint_override", "scheme", "anonymous"),
    "abfs": ("blob_storage_authority", "blob_storage_scheme"),
    "abfss": ("blob_storage_authority", "blob_storage_scheme"),
    "hdfs": (),
}
# Amazon's own names for another store of its protocol
ENDPOINT_VARIABLES = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
NAME_BYTES = 255  # of a file's name, in most filesystems
# a Path has one slash where the address had two
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(/+)(.*)", re.DOTALL)
_MIRRORS = "/remote/files/"  # in the path of any machine's mirror
_ONE_SLASH = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):/(?!/)")
_QUERY = re.compile(r"\?(?=\w+=)")


@dataclass(frozen=True, slots=True)
class Store:
    """What one connection is made to: a bucket, a container, a machine."""

    scheme: str
    authority: str
    parameters: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """The address, without an endpoint that the environment names anyway."""
        parameters = tuple(
            pair
            for pair in self.parameters
            if pair != ("endpoint_override", _environment_endpoint() or "")
        )
        return self._spell(parameters)

    @property
    def folder_name(self) -> str:
        """The name of the folder of its mirror, which holds all of it."""
        return quote(self._spell(self.parameters), safe="")

    def _spell(self, parameters: tuple[tuple[str, str], ...]) -> str:
        query = f"?{urlencode(parameters, safe=':/')}" if parameters else ""
        return f"{self.scheme}://{self.authority}{query}"


@dataclass(frozen=True, slots=True)
class RemotePath:
    """A file or directory of a store; the key has no slash at either end."""

    store: Store
    key: str

    def __str__(self) -> str:
        """The address as a person types it."""
        start, question, query = str(self.store).partition("?")
        return f"{start}{'/' if self.key else ''}{self.key}{question}{query}"

    @property
    def parent(self) -> "RemotePath":
        """The directory that it lies in."""
        return RemotePath(self.store, self.key.rpartition("/")[0])

    def child(self, key: str) -> "RemotePath":
        """What lies in it by this key."""
        return RemotePath(self.store, f"{self.key}/{key}" if self.key else key)


def parse(text: str) -> RemotePath | None:
    """The remote path that a text names; None of one that is no address.

    Raises:
        CannotOpen: it is an address that cannot be used.
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
    """Whether a part of a key can be the name of a local file."""
    return (
        part not in ("", ".", "..")
        and "\0" not in part
        and "/" not in part
        and len(os.fsencode(part)) <= NAME_BYTES
    )


def mirror_path(remote: RemotePath) -> Path:
    """Where the mirror of a remote path lies, whether or not it is there."""
    return Path(files_root(), remote.store.folder_name, *filter(None, remote.key.split("/")))


def local_path(text: str) -> Path:
    """A path as it was written; of a remote address that of its mirror on this machine.

    Raises:
        CannotOpen: it is an address that cannot be used.
    """
    remote = parse(text)
    return mirror_path(remote) if remote else Path(text)


def views_root() -> str:
    """The folder of the views of tiered storage, whose links may lead into a mirror."""
    return _roots()[1]


def may_hold_mirrored(directory: Path) -> bool:
    """Whether a file of this directory may be one of a mirror."""
    return f"{directory}/".startswith(_roots())


def mirror_behind(path: Path | str) -> Path | None:
    """The file of a mirror that a path is, or leads to by the links of a view; else None."""
    text, (mirrors, views) = str(path), _roots()
    if text.startswith(mirrors):
        return Path(path)
    if not text.startswith(views):
        return None
    real_path, real_root = os.path.realpath(text), os.path.join(os.path.realpath(mirrors), "")
    if not real_path.startswith(real_root):
        return None
    return Path(mirrors, real_path.removeprefix(real_root))


def is_mirrored(path: Path | str) -> bool:
    """Whether a path lies in a mirror."""
    return str(path).startswith(files_root())


def remote_path(path: PurePath | str) -> RemotePath | None:
    """What a path of a mirror is of; None of any other path."""
    text = str(path)
    if not text.startswith(files_root()):
        return None
    folder, _, key = text[len(files_root()) :].partition("/")
    store = parse(unquote(folder))
    return None if store is None else RemotePath(store.store, key)


def localize(path: Path) -> Path:
    """The path of this machine's mirror, where another one's is given; any other path as it is."""
    text = str(path)
    _, root, rest = text.partition(_MIRRORS)
    if not root or text.startswith(files_root()):
        return path
    folder, _, key = rest.partition("/")
    return Path(files_root(), folder, key) if _is_store(folder) else path


def _is_store(folder: str) -> bool:
    """Whether a folder has the name of a store's mirror."""
    try:
        store = parse(unquote(folder)) if "%3A%2F%2F" in folder else None
    except CannotOpen:
        return False
    return store is not None and store.store.folder_name == folder


def display(path: PurePath | str) -> str:
    """A path as a person knows it: of a file of a mirror the address.

    Of an address that is refused no more is shown than its refusal shows.
    """
    text = str(path)
    try:
        if remote := remote_path(path):
            return str(remote)
        parse(text)
    except CannotOpen as fault:
        text = str(fault.path)
    # an address that was never opened has one slash as a Path
    return _ONE_SLASH.sub(r"\1://", text)


def files_root() -> str:
    """The folder of all mirrors, with a separator at its end."""
    return _roots()[0]


def _roots() -> tuple[str, str]:
    """The folders of all mirrors and of all views, which are asked for at every file."""
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
    """An endpoint with the two slashes of which a Path keeps one, and none at its end."""
    return re.sub(r"^(https?):/+", r"\1://", text).rstrip("/")


def _refusal(text: str, what: Message) -> CannotOpen:
    """The error of an address, of which neither a password nor the query is shown."""
    location = re.sub(r"^(\w[\w+.-]*):/+", r"\1://", _QUERY.split(text, maxsplit=1)[0])
    location = re.sub(r"(?<=://)[^/]*@", "", location)
    return CannotOpen(location, what, message("remote.address_examples"), kind="missing")


set_path_spelling(display)
