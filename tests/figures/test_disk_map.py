"""The map of a disk and its tables, compared with sums by hand and with `du`."""

import subprocess
from functools import cache
from pathlib import Path

import pytest

from kafkaviz.analysis.broker_health import Health, check
from kafkaviz.analysis.disk import DiskShare, Use
from kafkaviz.analysis.freeing import FreeingKind, FreeingStep
from kafkaviz.figures.disk import disk_map
from kafkaviz.figures.disk.disk_map import GROUPS
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.units import format_bytes, ungroup

MIB = 1 << 20


@cache
def checked(root: Path) -> Health:
    return check(root)


def short_names(broker: Broker) -> dict[str, str]:
    return {
        directory.text: broker.directory_names[directory.path]
        for directory in broker.log_directories
    }


def share(topic: str | None, uses: dict[Use, int], holes: int = 0, directory="/a") -> DiskShare:
    length = sum(uses.values())
    return DiskShare(
        log_directory=directory,
        partition=topic and f"{topic}-0",
        topic=topic,
        uses=uses,
        files=3,
        allocated_bytes=length - holes,
        hole_bytes=holes,
    )


def numbers(cells) -> list[int]:
    return [int(ungroup(cell)) for cell in cells]


def file_lengths(root: Path) -> int:
    return sum(path.stat().st_size for path in root.rglob("*") if path.is_file())


def du_bytes(root: Path) -> int:
    lines = subprocess.run(
        ["du", "-a", "-k", str(root)], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    sizes = (line.split("\t") for line in lines)
    return 1024 * sum(int(size) for size, path in sizes if Path(path).is_file())


def test_every_use_has_one_group():
    uses = [use for group in GROUPS.values() for use in group]
    assert sorted(uses) == sorted(Use)


@pytest.mark.parametrize("name", ["clean", "damaged", "killed"])
def test_the_tables_add_up_to_the_byte(name, request):
    root = request.getfixturevalue(name)
    health = checked(root)
    shares = health.all_shares()
    uses = disk_map.use_table(shares, short_names(health.broker))
    *rows, lengths, space = [numbers(row[1:]) for row in uses.rows]
    assert [sum(column) for column in zip(*rows, strict=True)] == lengths == [file_lengths(root)]
    assert space == [du_bytes(root)]
    topics = disk_map.topic_table(shares)
    *rows, total = [numbers(row[1:]) for row in topics.rows]
    assert [sum(column) for column in zip(*rows, strict=True)] == total
    assert total[1:3] == [*space, *lengths] and sum(total[3:]) == lengths[0]


def test_log_directories_side_by_side(disks):
    broker = open_broker(disks)
    shares = check(broker).all_shares()
    names = short_names(broker)
    view = disk_map.directories_view(shares, names)
    assert [bar.name for bar in view.bars] == ["disk-a", "disk-b", "disk-c"]
    assert [bar.allocated_bytes for bar in view.bars] == [
        du_bytes(disks / name) for name in names.values()
    ]
    table = disk_map.use_table(shares, names)
    assert table.heads[1:4] == ("disk-a", "disk-b", "disk-c")
    for row in table.rows:
        *columns, total = numbers(row[1:])
        assert sum(columns) == total


def test_a_file_names_columns_and_rows_without_a_language():
    shares = [share("b", {Use.RECORDS: 5}), share(None, {Use.BROKER_FILES: 1})]
    uses = disk_map.use_table(shares, {"/a": "a"})
    assert uses.columns == ("use", "bytes")
    assert [row[0] for row in uses.file_rows] == ["records", "broker-files", "length", "allocated"]
    topics = disk_map.topic_table(shares)
    assert topics.columns == ("topic", "directories", "allocated", "length", "records", "state")
    assert [row[0] for row in topics.file_rows] == ["b", "", "/all"]


def test_holes_are_taken_from_preallocated_bytes():
    """A sparse index of 10 MiB with one written page takes no more space than this page."""
    sparse = share("a", {Use.RECORDS: MIB, Use.PREALLOCATED: 10 * MIB}, holes=10 * MIB - 4096)
    assert disk_map.space_per_use(sparse) == {Use.RECORDS: MIB, Use.PREALLOCATED: 4096}
    deleted = share("b", {Use.WAITING: 20 * MIB}, holes=19 * MIB)
    assert disk_map.space_per_use(deleted) == {Use.WAITING: MIB}


def test_the_ends_of_blocks_are_drawn_so_that_a_bar_is_as_long_as_its_number(clean):
    """rolls-by-time, with many small files, takes more blocks than append-time with more bytes."""
    health = checked(clean)
    shares = health.all_shares()
    view = disk_map.topics_view(shares)
    assert [bar.size_bytes for bar in view.bars] == [bar.allocated_bytes for bar in view.bars]
    ends = {
        bar.name: bar.parts[-1].size_bytes for bar in view.bars if bar.parts[-1].group == "blocks"
    }
    assert ends["rolls-by-time"] > ends["append-time"] > 0
    total = disk_map.directories_view(shares, short_names(health.broker))
    assert total.legend[-1][0] == "blocks"


def test_the_largest_topics_come_first_and_the_rest_is_one_bar():
    shares = [share(f"t{size}", {Use.RECORDS: size * 1000}) for size in range(1, 21)]
    shares.append(share(None, {Use.BROKER_FILES: 10, Use.FOREIGN: 30_000}))
    view = disk_map.topics_view(shares)
    names = [bar.name for bar in view.bars]
    assert names[:3] == ["t20", "t19", "t18"]
    assert [bar.is_other for bar in view.bars] == [False] * 12 + [True, True]
    assert view.bars[12].allocated_bytes == sum(range(1, 9)) * 1000
    assert [(part.group, part.size_bytes) for part in view.bars[13].parts] == [
        ("state", 10),
        ("foreign", 30_000),
    ]
    assert "t20" in view.title and format_bytes(20_000) in view.title


def test_a_hostile_topic_stays_text():
    view = disk_map.topics_view([share("<b onclick=x>", {Use.RECORDS: 10})])
    html = disk_map.figure(view)
    assert "<b onclick" not in html and "&lt;b onclick=x&gt;" in html


def test_an_empty_directory():
    view = disk_map.directories_view([], {"/a": "a"})
    assert [bar.parts for bar in view.bars] == [()]
    assert disk_map.topics_view([]).bars == ()


def test_four_thousand_partitions_are_quick():
    shares = [share(f"topic-{number}", {Use.RECORDS: number + 1}) for number in range(4000)]
    assert len(disk_map.topics_view(shares).bars) == disk_map.MAX_TOPICS + 1
    assert len(disk_map.topic_table(shares).rows) == 4001


@pytest.fixture(scope="module")
def health(damaged) -> Health:
    return checked(damaged)


def test_the_freeing_table_has_a_row_per_step(health):
    steps = health.freeing_steps()
    names = short_names(health.broker)
    table = disk_map.freeing_table(steps, names)
    assert [row[1:3] for row in table.rows] == [
        (format_bytes(step.allocated_bytes), str(step.files)) for step in steps
    ]
    assert len(disk_map.path_rows(steps)) == sum(len(step.paths) for step in steps)
    size = format_bytes(sum(step.allocated_bytes for step in steps))
    assert size in disk_map.freeing_title(steps)


def test_the_title_keeps_what_needs_a_check_out_of_its_sum():
    def freeing_step(kind: FreeingKind, size_bytes: int) -> FreeingStep:
        return FreeingStep(
            kind=kind,
            log_directory="/a",
            files=1,
            length_bytes=0,
            allocated_bytes=size_bytes,
            paths=(),
        )

    safe = freeing_step(FreeingKind.WAITING, 1 << 20)
    stray = freeing_step(FreeingKind.STRAY, 2 << 20)
    foreign = freeing_step(FreeingKind.FOREIGN, 3 << 20)
    title = disk_map.freeing_title
    in_use = "can be deleted without losing records in use"
    assert title([safe]) == f"1 MiB {in_use}"
    assert title([safe, foreign, stray]) == f"1 MiB {in_use}; 5 MiB only after a check"
    assert title([stray]) == "2 MiB can be deleted, but only after a check"
    assert title([]) == "No file here can be deleted by hand"


def test_the_price_next_to_the_reading_of_the_next_start(health):
    [price] = health.index_prices()
    [now] = health.recovery_reads()
    table = disk_map.price_table([price], [now], short_names(health.broker))
    [row] = table.rows
    assert format_bytes(now.log_bytes) in row[1] and format_bytes(price.reads.log_bytes) in row[3]
    assert row[5] == format_bytes(price.allocated_bytes)
    [unknown] = disk_map.price_table([price], None, short_names(health.broker)).rows
    assert unknown[1:3] == ("–", "–")
