"""A view of one segment, for users who have a few files and no partition directory.

The user gives the path of one file. The view also has the files next to this file that have the
same base offset. The view is a folder in kafkaviz's cache that looks like a topic-partition and
holds links:

    ~/Downloads/orders-0_00000000000000000335.index
    …/lone/1f0c2d84a9e3b756/unnamed-0/00000000000000000335.index -> the file

For a file in a partition directory, the view also has partition.metadata and the producer snapshot
at the segment's end.
"""

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import cast

from kafkaviz.errors import translate_os_errors
from kafkaviz.format import names
from kafkaviz.log import file
from kafkaviz.log.cache_folder import cache_folder, make_link, remove_others

UNNAMED = "unnamed-0"  # the topic-partition to show if the folder is not named after one


def open_view(path: Path) -> Path | None:
    """Makes the view of a segment file. Returns the view's folder, or None for any other path."""
    name = names.find_segment_name(path.name)
    if name is None or not path.is_file():
        return None
    links = {name: path}
    segment = cast("names.SegmentName", names.parse_file(name))
    is_in_partition = names.parse_directory(path.parent.name) is not None
    snapshots: dict[int, Path] = {}
    for info in file.list_files(path.parent):
        other = names.parse_file(info.name)
        if other and (other.base_offset, other.suffix) == (segment.base_offset, segment.suffix):
            links.setdefault(info.name, info.path)
        elif info.name == names.PARTITION_METADATA and is_in_partition:
            links[info.name] = info.path
        elif other and (other.kind, other.suffix) == ("snapshot", ""):
            snapshots[other.base_offset] = info.path
    end = min((offset for offset in snapshots if offset > segment.base_offset), default=None)
    if end is not None and is_in_partition:
        links[snapshots[end].name] = snapshots[end]
    home = cache_folder() / "lone" / hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    folder = home / (path.parent.name if is_in_partition else UNNAMED)
    with translate_os_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for link_name, target in links.items():
            make_link(folder / link_name, target)
        remove_others(folder, links)
    return folder


def folder_of(path: Path) -> Path:
    """Returns the folder of the files that a view links to. Returns any other path unchanged."""
    if path.is_relative_to(cache_folder() / "lone"):
        with suppress(OSError):
            return Path(os.readlink(next(path.iterdir()))).parent
    return path
