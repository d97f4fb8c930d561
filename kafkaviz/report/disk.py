"""The report's section on disk space: the use of each byte, and what may be deleted."""

from kafkaviz.figures.disk import disk_map
from kafkaviz.figures.disk.disk_map import DiskTable
from kafkaviz.html import Html, join, tag
from kafkaviz.messages import say
from kafkaviz.report.html import ReportSection, note, table
from kafkaviz.report.subject import Subject

MAX_TOPICS = 20  # most rows of the table of topics


def section(subject: Subject) -> ReportSection:
    health = subject.health
    shares = health.all_shares()
    names = {
        directory.text: subject.broker.directory_names[directory.path]
        for directory in subject.broker.log_directories
    }
    uses = disk_map.use_table(shares, names)
    topics = disk_map.topic_table(shares)
    steps = health.freeing_steps()
    prices = health.index_prices()
    parts: list[object] = [
        note(disk_map.directories_view(shares, names).title),
        *_titled(say("disk.uses_title"), say("disk.uses_below"), uses, "l"),
        *_titled(say("disk.topic_table"), say("disk.topic_table_below"), topics, "c"),
    ]
    title = disk_map.freeing_title(steps)
    parts.append(tag("h3", title))
    if steps:
        freeing = disk_map.freeing_table(steps, names)
        kinds = "wrrww" if len(names) == 1 else "wlrrww"
        parts += [note(say("disk.freeing_below")), table(title, freeing.heads, freeing.rows, kinds)]
    parts.append(note(say("disk.freeing_never")))
    if prices:
        title = disk_map.price_title(prices)
        recovery = health.recovery_reads() if health.restart else None
        price = disk_map.price_table(prices, recovery, names)
        parts += [tag("h3", title), note(disk_map.price_caption(prices))]
        parts.append(table(title, price.heads, price.rows, "llrlrr"))
    return ReportSection("disk", say("common.page_disk"), join(parts))


def _titled(title: str, below: str, content: DiskTable, name_kind: str) -> list[Html]:
    """Returns a heading, a note and a table of at most `MAX_TOPICS` rows and the sums."""
    count = len(content.rows) - content.sums
    sums = [tuple(tag("b", cell) for cell in row) for row in content.rows[count:]]
    rows = [*content.rows[: min(count, MAX_TOPICS)], *sums]
    kinds = name_kind + "r" * (len(content.heads) - 1)
    parts = [tag("h3", title), note(below), table(title, content.heads, rows, kinds)]
    if count > MAX_TOPICS:
        parts.append(note(say("report.more_in_json", n=count - MAX_TOPICS)))
    return parts
