"""A segment of which somebody has files and no partition directory, opened by the path of one.

The others are those of the same base offset beside it. They are shown as a topic-partition with
that segment alone: a folder of kafkaviz's cache with links to them, under the names that a broker
would give them. Nothing is written beside the files. Where their folder is the directory of a
topic-partition, the id of its topic (partition.metadata) is shown too, and the snapshot of the
producers at the segment's end.

    ~/Downloads/orders-0_00000000000000000335.index
    …/lone/1f0c2d84a9e3b756/unnamed-0/00000000000000000335.index -> the file
"""

import hashlib
import os
import threading
from contextlib import suppress
from pathlib import Path

from kafkaviz.errors import translate_os_errors
from kafkaviz.format import names
from kafkaviz.log import file
from kafkaviz.log.cache_folder import cache_folder

UNNAMED = "unnamed-0"  # the topic-partition of files whose folder does not name theirs
TEMPORARY = ".making-"


def open_view(path: Path) -> Path | None:
    """The partition directory that shows the segment of a file; None of any other path."""
    name = names.find_segment_name(path.name)
    if name is None or not path.is_file():
        return None
    links = {name: path}
    segment = names.parse_file(name)
    snapshots: dict[int, Path] = {}
    for info in file.list_files(path.parent):
        other = names.parse_file(info.name)
        if segment and other and _identity(other) == _identity(segment):
            links.setdefault(info.name, info.path)
        elif info.name == names.PARTITION_METADATA and names.parse_directory(path.parent.name):
            links[info.name] = info.path
        elif segment and other and (other.kind, other.suffix) == ("snapshot", ""):
            snapshots[other.base_offset] = info.path
    ends = [offset for offset in snapshots if segment and offset > segment.base_offset]
    if ends and names.parse_directory(path.parent.name):
        at_end = snapshots[min(ends)]
        links[at_end.name] = at_end
    home = cache_folder() / "lone" / hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    folder = home / (path.parent.name if names.parse_directory(path.parent.name) else UNNAMED)
    with translate_os_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for link_name, target in links.items():
            _link(folder / link_name, target)
        for link_name in set(os.listdir(folder)) - links.keys():
            if not link_name.startswith(TEMPORARY):
                (folder / link_name).unlink(missing_ok=True)
    return folder


def folder_of(path: Path) -> Path:
    """The folder that the files of a partition directory are in: of a view that of the file."""
    if path.is_relative_to(cache_folder() / "lone"):
        with suppress(OSError):
            return Path(os.readlink(next(path.iterdir()))).parent
    return path


def _identity(name: names.SegmentName) -> tuple[int, str]:
    return name.base_offset, name.suffix


def _link(link: Path, target: Path) -> None:
    """Makes the link what it should be, in one step: others may read it meanwhile."""
    with suppress(OSError):
        if os.readlink(link) == os.fspath(target):
            return
    temporary = link.with_name(f"{TEMPORARY}{link.name}-{os.getpid()}-{threading.get_ident()}")
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(target)
    temporary.replace(link)
