"""The disk space of each log directory, topic and use, and what may be deleted by hand.

Bars show the space on the disk, tables show exact file lengths. A preallocated index is a sparse
file, which is longer than its space on the disk.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from kafkaviz.analysis.disk import DiskShare, Use, total_uses
from kafkaviz.analysis.freeing import SAFE_KINDS, FreeingStep, IndexPrice
from kafkaviz.analysis.restart.restart_forecast import RecoveryReads
from kafkaviz.html import Html, tag
from kafkaviz.log.archives import archive
from kafkaviz.messages import render, say, say_count
from kafkaviz.render import disk_text
from kafkaviz.render.disk_text import ASSUMED_RATE, use_text
from kafkaviz.render.sentences import capitalize
from kafkaviz.units import MISSING, format_bytes, format_count

MAX_TOPICS = 12  # topics with a bar of their own; all others share one
MAX_TOPIC_ROWS = 100  # most rows of the table; the CSV file has all
# groups of uses that share a colour, in the order of the parts of a bar
GROUPS = {
    "records": (Use.RECORDS,),
    "superseded": (Use.SUPERSEDED,),
    "headers": (Use.BATCH_HEADERS,),
    "transactions": (Use.CONTROL_BATCHES, Use.ABORTED),
    "unread": (Use.UNREAD,),
    "indexes": (Use.INDEX_ENTRIES,),
    "preallocated": (Use.PREALLOCATED,),
    "damaged": (Use.DAMAGED,),
    "state": (Use.STATE, Use.METADATA_SNAPSHOTS, Use.BROKER_FILES),
    "going": (Use.WAITING, Use.LEFTOVER, Use.STRAY, Use.FUTURE, Use.REMOTE_INDEX_CACHE),
    "foreign": (Use.FOREIGN,),
}
BLOCK_ENDS = "blocks"  # the unused ends of the files' last blocks, which belong to no use
NAMED_GROUPS = ("transactions", "preallocated", "damaged", "state", "going", "foreign", BLOCK_ENDS)
# uses that may be sparse, in the order in which holes are subtracted from them
SPARSE_USES = (Use.PREALLOCATED, Use.UNREAD, Use.WAITING, Use.STRAY, Use.FUTURE)


@dataclass(frozen=True)
class BarPart:
    """A part of a bar, for one group of uses. `group` is a key of `GROUPS`, or `BLOCK_ENDS`."""

    group: str
    size_bytes: int
    hover: str


@dataclass(frozen=True, kw_only=True)
class DiskBar:
    """The space of one log directory or topic."""

    name: str
    allocated_bytes: int  # whole blocks; may exceed the sum of the parts
    parts: tuple[BarPart, ...]
    is_other: bool = False  # the bar of all small topics, or of files outside of topics

    @property
    def size_bytes(self) -> int:
        return sum(part.size_bytes for part in self.parts)


@dataclass(frozen=True, kw_only=True)
class DiskMapView:
    """The bars of one figure, all on the same scale."""

    title: str
    caption: str
    bars: tuple[DiskBar, ...]
    legend: tuple[tuple[str, str], ...] = ()  # groups and their labels

    @property
    def alt(self) -> str:
        return say("common.titled", title=self.title, below=self.caption)


@dataclass(frozen=True, kw_only=True)
class DiskTable:
    """A table of exact numbers of bytes. The last `sums` rows are sums."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    sums: int = 0
    columns: tuple[str, ...] = ()  # the column names of the CSV file
    row_names: tuple[str, ...] = ()  # the first cells of the rows of the CSV file

    @property
    def file_rows(self) -> list[tuple[str, ...]]:
        return [(name, *row[1:]) for name, row in zip(self.row_names, self.rows, strict=True)]


def directories_view(shares: Sequence[DiskShare], names: Mapping[str, str]) -> DiskMapView:
    """Returns one bar per log directory. `names` maps a directory's path to a short name."""
    by_directory = _group(shares, "log_directory")
    bars = [_bar(names[path], by_directory[path]) for path in names]
    total_bytes = sum(bar.allocated_bytes for bar in bars)
    spaces = _total_spaces(shares)
    is_read = not spaces.get(Use.UNREAD)
    groups = {group: size for group, size in _group_sizes(spaces).items() if size}
    if block_ends := _block_end_bytes(shares, spaces):
        groups[BLOCK_ENDS] = block_ends
    if len(bars) > 1:
        fullest = max(bars, key=attrgetter("allocated_bytes"))
        title = say(
            "disk.map_title_directories",
            n=len(bars),
            size=total_bytes,
            name=fullest.name,
            most=fullest.allocated_bytes,
        )
    elif groups and is_read:
        group = max(groups, key=lambda name: groups[name])
        title = say("disk.map_title", size=total_bytes, group=group_text(group), most=groups[group])
    else:
        title = say("disk.map_title_unread", size=total_bytes)
    return DiskMapView(
        title=title,
        caption=say("disk.map_below" if is_read else "disk.map_below_unread"),
        bars=tuple(bars),
        legend=tuple(
            (group, say("disk.legend", name=group_text(group), size=size))
            for group, size in groups.items()
        ),
    )


def topics_view(shares: Sequence[DiskShare]) -> DiskMapView:
    """Returns a bar per large topic, one for all small topics, and one for all other files."""
    by_topic = _by_topic(shares)
    topics = [(topic, own) for topic, own in by_topic if topic is not None]
    bars = [_bar(topic, own) for topic, own in topics[:MAX_TOPICS]]
    rest = topics[MAX_TOPICS:]
    if rest:
        rest_shares = [share for _, own in rest for share in own]
        bars.append(_bar(say_count("disk.other_topics", len(rest)), rest_shares, is_other=True))
    others = [share for topic, own in by_topic if topic is None for share in own]
    if any(share.files for share in others):
        bars.append(_bar(say("disk.outside_topics"), others, is_other=True))
    title = say("disk.topics_title_none")
    if topics:
        title = say_count(
            "disk.topics_title", len(topics), name=topics[0][0], size=bars[0].allocated_bytes
        )
    return DiskMapView(title=title, caption=say("disk.topics_below"), bars=tuple(bars))


def use_table(shares: Sequence[DiskShare], names: Mapping[str, str]) -> DiskTable:
    """Returns one row per use of bytes and one column per log directory.

    The last two rows are the length of all files, and their space on the disk. `names` maps the
    path of a log directory to a short name.
    """
    by_directory = _group(shares, "log_directory")
    columns = [by_directory[path] for path in names]
    if len(columns) > 1:
        columns.append(list(shares))
    uses = [total_uses(column) for column in columns]
    totals = total_uses(shares)
    sorted_names = sorted(totals, key=lambda use: -totals[use])
    rows = [
        (capitalize(use_text(use)), *(format_count(column.get(use, 0)) for column in uses))
        for use in sorted_names
    ]
    rows.append((say("disk.all_files"), *(format_count(sum(column.values())) for column in uses)))
    rows.append((say("disk.on_disk"), *(format_count(_allocated(column)) for column in columns)))
    heads = (*names.values(), say("finding_list.all"))
    file_columns = (*names.values(), "all")
    if len(names) == 1:
        heads = (say("segment.bytes_heading"),)
        file_columns = ("bytes",)
    return DiskTable(
        heads=(say("disk.column_use"), *heads),
        rows=tuple(rows),
        sums=2,
        columns=("use", *file_columns),
        row_names=(*map(str, sorted_names), "length", "allocated"),
    )


def topic_table(shares: Sequence[DiskShare]) -> DiskTable:
    """Returns one row per topic, the largest first, then the sums."""
    present = [group for group, size in _group_sizes(total_uses(shares)).items() if size]
    rows = []
    by_topic = _by_topic(shares)
    for topic, own in [*by_topic, (say("disk.sum"), shares)]:
        sizes = _group_sizes(total_uses(own))
        rows.append(
            (
                say("disk.outside_topics") if topic is None else topic,
                format_count(sum(share.partition is not None for share in own)),
                format_count(_allocated(own)),
                format_count(sum(share.length_bytes for share in own)),
                *(format_count(sizes[group]) for group in present),
            )
        )
    heads = [say("tuning.head_topic")]
    heads += [say(f"disk.column_{name}") for name in ("directories", "on_disk", "length")]
    heads += [capitalize(group_text(group)) for group in present]
    return DiskTable(
        heads=tuple(heads),
        rows=tuple(rows),
        sums=1,
        columns=("topic", "directories", "allocated", "length", *present),
        # no topic has an empty name, or a slash in it
        row_names=(*(topic or "" for topic, _ in by_topic), "/all"),
    )


def figure(view: DiskMapView) -> Html:
    """Draws the bars. The CSS classes are in look.css."""
    longest = max((bar.size_bytes for bar in view.bars), default=0)
    rows = [_row(bar, longest) for bar in view.bars]
    return tag("div", *rows, class_="kv-disk", role="img", aria_label=view.alt)


def _row(bar: DiskBar, longest: int) -> Html:
    parts = []
    for part in bar.parts:
        style = f"flex-grow:{part.size_bytes}"
        parts.append(tag("i", class_=f"disk-{part.group}", style=style, title=part.hover))
    width = 100 * bar.size_bytes / longest if longest else 0
    exact_size = say_count("segment.bytes", bar.allocated_bytes)
    return tag(
        "div",
        tag("span", bar.name, class_="kv-disk-other" if bar.is_other else None, title=bar.name),
        tag("span", tag("b", *parts, style=f"width:{width:.3f}%")),
        tag("span", format_bytes(bar.allocated_bytes), title=exact_size),
    )


def _bar(name: str, shares: Sequence[DiskShare], *, is_other: bool = False) -> DiskBar:
    spaces = _total_spaces(shares)
    parts = []
    for group, uses in GROUPS.items():
        sizes = {use: spaces[use] for use in uses if spaces.get(use)}
        if sizes:
            texts = (
                say("common.labelled", where=use_text(use), text=format_bytes(size))
                for use, size in sizes.items()
            )
            parts.append(BarPart(group, sum(sizes.values()), "\n".join(texts)))
    if block_ends := _block_end_bytes(shares, spaces):
        text = say("common.labelled", where=group_text(BLOCK_ENDS), text=format_bytes(block_ends))
        parts.append(BarPart(BLOCK_ENDS, block_ends, text))
    return DiskBar(
        name=name, allocated_bytes=_allocated(shares), parts=tuple(parts), is_other=is_other
    )


def group_text(group: str) -> str:
    """Returns the name to show for a group. `group` is a key of `GROUPS`, or `BLOCK_ENDS`."""
    return say(f"disk.group_{group}") if group in NAMED_GROUPS else use_text(GROUPS[group][0])


def space_per_use(share: DiskShare) -> dict[Use, int]:
    """Returns the bytes on disk for each use. Holes of sparse files do not count.

    If `hole_bytes` is None, the size of the holes is estimated, usually a little too small.
    """
    spaces = dict(share.uses)
    hole_bytes = share.hole_bytes
    if hole_bytes is None:
        hole_bytes = max(0, share.length_bytes - share.allocated_bytes)
    for use in (*SPARSE_USES, *spaces):
        hole_part = min(hole_bytes, spaces.get(use, 0))
        if hole_part:
            spaces[use] -= hole_part
            hole_bytes -= hole_part
    return {use: size for use, size in spaces.items() if size}


def _total_spaces(shares: Iterable[DiskShare]) -> dict[Use, int]:
    totals: dict[Use, int] = defaultdict(int)
    for share in shares:
        for use, size in space_per_use(share).items():
            totals[use] += size
    return totals


def _allocated(shares: Iterable[DiskShare]) -> int:
    return sum(share.allocated_bytes for share in shares)


def _block_end_bytes(shares: Iterable[DiskShare], spaces: Mapping[Use, int]) -> int:
    """Returns the unused bytes at the ends of the files' last blocks."""
    return max(0, _allocated(shares) - sum(spaces.values()))


def _group(shares: Iterable[DiskShare], attribute: str) -> dict[str | None, list[DiskShare]]:
    groups: dict[str | None, list[DiskShare]] = defaultdict(list)
    for share in shares:
        groups[getattr(share, attribute)].append(share)
    return groups


def _by_topic(shares: Iterable[DiskShare]) -> list[tuple[str | None, list[DiskShare]]]:
    groups = _group(shares, "topic")
    return sorted(
        groups.items(), key=lambda item: (item[0] is None, -_allocated(item[1]), item[0] or "")
    )


def _group_sizes(sizes: Mapping[Use, int]) -> dict[str, int]:
    return {group: sum(sizes.get(use, 0) for use in uses) for group, uses in GROUPS.items()}


def freeing_title(steps: Sequence[FreeingStep]) -> str:
    """Says how much space is safe to free, and how much needs a check first."""
    safe = [step.allocated_bytes for step in steps if step.kind in SAFE_KINDS]
    other = [step.allocated_bytes for step in steps if step.kind not in SAFE_KINDS]
    if safe and other:
        key = "disk.freeing_title_both"
    elif safe:
        key = "disk.freeing_title"
    elif other:
        key = "disk.freeing_title_check"
    else:
        key = "disk.freeing_none"
    return say(key, size=format_bytes(sum(safe)), other=format_bytes(sum(other)))


def freeing_table(steps: Iterable[FreeingStep], names: Mapping[str, str]) -> DiskTable:
    """Returns one row per kind of file and log directory.

    `names` maps the path of a log directory to a short name. The table has the names only if there
    are several log directories.
    """
    rows = []
    for step in steps:
        directory = (names[step.log_directory],) if len(names) > 1 else ()
        rows.append(
            (
                capitalize(disk_text.freeing_text(step.kind)),
                *directory,
                format_bytes(step.allocated_bytes),
                format_count(step.files),
                render(step.kind.check),
                render(step.kind.cost),
            )
        )
    directory_head = ("broker.column_log_directory",) if len(names) > 1 else ()
    heads = ("disk.column_frees", "replay_table.files", "disk.column_check", "disk.column_cost")
    heads = map(say, ("health.column_what", *directory_head, *heads))
    return DiskTable(heads=tuple(heads), rows=tuple(rows))


PATH_COLUMNS = ("kind", "log_directory", "path")


def path_rows(steps: Iterable[FreeingStep]) -> list[tuple[str, str, str]]:
    """Returns (kind, log directory, path) of each file or folder that may be deleted."""
    return [
        (str(step.kind), step.log_directory, archive.display_text(path))
        for step in steps
        for path in step.paths
    ]


def price_title(prices: Sequence[IndexPrice]) -> str:
    """Says what deleting all .index files frees, and what broker start-up then reads."""
    return say(
        "disk.price_title",
        size=sum(price.allocated_bytes for price in prices),
        read=sum(price.reads.log_bytes for price in prices),
    )


def price_caption(prices: Sequence[IndexPrice]) -> str:
    """Says for which read rate and how many threads the times are computed."""
    threads = disk_text.threads_text(prices[0].reads.threads)
    return say("disk.price_below", rate=ASSUMED_RATE, threads=threads)


def price_table(
    prices: Sequence[IndexPrice], recovery: Sequence[RecoveryReads] | None, names: Mapping[str, str]
) -> DiskTable:
    """Returns how much the next broker start-up reads, with the .index files and without them.

    `recovery` has the reads with the .index files; None: unknown. `names` maps the path of a log
    directory to a short name.
    """
    reads_now = {reads.log_directory: reads for reads in recovery or ()}
    no_reads = MISSING if recovery is None else say("common.none")
    rows = [
        (
            names[price.log_directory],
            *_reads_cells(reads_now.get(price.log_directory), no_reads),
            *_reads_cells(price.reads, no_reads),
            format_bytes(price.allocated_bytes),
        )
        for price in prices
    ]
    columns = ("reads", "takes", "reads_without", "takes", "frees_until")
    heads = (say("broker.column_log_directory"), *(say(f"disk.column_{name}") for name in columns))
    return DiskTable(heads=heads, rows=tuple(rows))


def _reads_cells(reads: RecoveryReads | None, no_reads: str) -> tuple[str, str]:
    if reads is None:
        return no_reads, MISSING
    segments = say_count("common.n_segments", reads.segments)
    size = say("disk.reads", size=reads.log_bytes, segments=segments)
    return size, disk_text.reading_time(reads, ASSUMED_RATE)
