"""The report: one file without a network, reproducible, without markup from its input."""

import base64
import gzip
import hashlib
import itertools
import json
import re
import shutil
import subprocess
from contextlib import contextmanager
from functools import partial
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from kafkaviz import html, report
from kafkaviz.analysis import broker_health
from kafkaviz.analysis.disk import total_uses
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.figures.disk.disk_map import price_title
from kafkaviz.figures.health_view import RecoveryBar, RecoveryStrip
from kafkaviz.format import record
from kafkaviz.format.batch import CRC_START, HEADER, HEADER_BYTES, LENGTH_END
from kafkaviz.format.record import Record
from kafkaviz.log.broker import open_broker
from kafkaviz.log.segment import Segment
from kafkaviz.messages import message
from kafkaviz.render import startup_text
from kafkaviz.render.disk_text import use_text
from kafkaviz.report import health as health_part
from kafkaviz.report import subject
from kafkaviz.report.subject import gather
from kafkaviz.units import format_count

MADE_MS = 1_790_000_000_000
TRAP = "<img src=x onerror=alert(1)>"


class Read(HTMLParser):
    """A page's tags, and its words without scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.words, self._inside = "", ""
        self.feed(text)
        self.close()

    def handle_starttag(self, name: str, attributes: list) -> None:
        self.tags.append((name, dict(attributes)))
        self._inside = name

    def handle_endtag(self, name: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside not in ("script", "style"):
            self.words += data

    def elements(self, name: str) -> list[dict]:
        """Returns the attributes of every such element."""
        return [attributes for tag, attributes in self.tags if tag == name]


def batch(base_offset: int, values: list[bytes]) -> bytes:
    """Returns a batch with these values, the trap as key and as the name of a header."""
    trapped_record = partial(
        Record, timestamp_delta_ms=0, key=TRAP.encode(), headers=((TRAP, b"\xff\0"),)
    )
    body = record.build(
        trapped_record(offset_delta=delta, value=value) for delta, value in enumerate(values)
    )
    header = np.zeros(1, HEADER)
    header["base_offset"] = base_offset
    header["batch_length_bytes"] = HEADER_BYTES - LENGTH_END + len(body)
    header["magic"] = 2
    header["last_offset_delta"], header["record_count"] = len(values) - 1, len(values)
    header["base_timestamp_ms"] = header["max_timestamp_ms"] = 1_700_000_000_000
    for name in ("producer_id", "producer_epoch", "base_sequence"):
        header[name] = -1
    header["crc"] = crc32c((header.tobytes() + body)[CRC_START:])
    return header.tobytes() + body


@pytest.fixture(scope="module")
def trapped(tmp_path_factory) -> Path:
    """Returns a broker directory with markup wherever it may be, and a line break in a file's name."""
    root = tmp_path_factory.mktemp("trapped") / "<b>broker"
    (root / f"{TRAP}-0").mkdir(parents=True)
    (root / "meta.properties").write_text(f"version=1\nnode.id=1\ncluster.id={TRAP}\n")
    value = b'</script><script>alert(1)</script>"\xe2\x80\xae'
    log = b"".join(batch(3 * place, [value, b"zweitens", b"drittens"]) for place in range(40))
    (root / f"{TRAP}-0" / "00000000000000000000.log").write_bytes(log + TRAP.encode())
    (root / "odd\nname").write_text("x")
    return root


@pytest.fixture(scope="module")
def trapped_page(trapped) -> str:
    """Returns its report, with records and checksums."""
    return report.page(gather(open_broker(trapped), with_payload=True, with_sha256=True), MADE_MS)


@pytest.fixture(scope="module")
def damaged_page(damaged) -> str:
    return report.page(gather(open_broker(damaged)), MADE_MS)


def test_the_section_disk_has_every_use_and_the_safe_order(damaged, damaged_page):
    """The tables of the Disk page, drawn from the same check."""
    broker = open_broker(damaged)
    health = broker_health.check(broker)
    words = re.search(r'<section id="disk".*?</section>', damaged_page, re.DOTALL)[0]
    for use, size in total_uses(health.all_shares()).items():
        assert use_text(use)[1:] in words and format_count(size) in words
    for step in health.freeing_steps():
        assert str(step.kind.cost) in words and str(step.kind.check) in words
    assert price_title(health.index_prices()) in words


@pytest.mark.slow
def test_the_same_directory_gives_the_same_bytes_but_for_the_date(damaged, damaged_page):
    """Written again on another day."""
    later = report.page(gather(open_broker(damaged)), MADE_MS + 86_400_000)
    assert later != damaged_page
    assert later.replace("2026-09-22", "2026-09-21") == damaged_page


def test_all_of_it_stands_in_one_file(damaged_page):
    """No other address, the figures in both modes, and not much larger than Plotly and the fonts."""
    read = Read(damaged_page)
    loading = {"src", "srcset", "action"}
    assert [attributes for _, attributes in read.tags if loading & attributes.keys()] == []
    assert {attributes["href"][0] for attributes in read.elements("a")} == {"#"}
    assert not read.elements("link")
    assert set(re.findall(r"url\(\"?([a-z]+:[a-z]+)", damaged_page)) == {"data:font", "data:image"}
    assert "@import" not in damaged_page and 1_000_000 < len(damaged_page.encode()) < 2_800_000
    figures = figures_of(damaged_page)
    assert list(figures) == ["map", "headers"]
    for modes in figures.values():
        assert list(modes) == ["light", "dark"]
        assert modes["light"] != modes["dark"]


def unpacked(page: str, name: str) -> bytes:
    packed = re.search(rf'id="packed-{name}" type="application/octet-stream">([^<]+)<', page)[1]
    return gzip.decompress(base64.b64decode(packed))


def figures_of(page: str) -> dict:
    return json.loads(unpacked(page, "figures"))


def test_only_its_own_two_scripts_may_run(damaged_page):
    """The policy names the checksums of the page's script and of Plotly; nothing is fetched."""
    policy = next(
        tag["content"]
        for tag in Read(damaged_page).elements("meta")
        if tag.get("http-equiv") == "Content-Security-Policy"
    )
    script = re.search(r"<script>(.*)</script>\s*</body>", damaged_page, re.DOTALL)[1]
    digests = [
        base64.b64encode(hashlib.sha256(data).digest()).decode()
        for data in (script.encode(), unpacked(damaged_page, "plotly"))
    ]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    assert re.search("script-src ([^;]+);", policy)[1] == allowed
    assert policy.startswith("default-src 'none'")
    assert "unsafe-eval" not in policy and "http" not in policy


def test_it_says_what_the_command_says(damaged, damaged_page):
    """The findings with evidence and next step, the start, and the verdict on the interval."""
    words, health = Read(damaged_page).words.casefold(), broker_health.check(damaged)
    findings = [finding for finding in health.findings if finding.severity == "error"]
    assert len(findings) == 5
    for finding in findings:
        texts = (finding.code, finding.consequence, finding.next_step, finding.evidence.found)
        texts += (finding.reference or "",)
        assert [text for text in texts if str(text).casefold() not in words] == []
    assert str(startup_text.describe(health.forecast)).casefold() in words
    assert "index.interval.bytes" in words
    assert "5 errors, 9 warnings, 4 worth knowing" in words


def test_a_screen_reader_gets_a_text(damaged_page):
    """One h1, headings without a gap, a name for each figure, section, table and mark."""
    read = Read(damaged_page)
    levels = [int(name[1]) for name, _ in read.tags if re.fullmatch("h[1-6]", name)]
    assert levels.count(1) == 1 and levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert all(
        tag["role"] == "img" and len(tag["aria-label"]) > 20
        for tag in read.elements("div")
        if "data-figure" in tag
    )
    assert all(tag["aria-label"] for tag in read.elements("span") if tag.get("role") == "img")
    assert all(f'id="{tag["aria-labelledby"]}"' in damaged_page for tag in read.elements("section"))
    assert len(read.elements("caption")) == len(read.elements("table")) > 5
    assert all(tag.get("scope") for tag in read.elements("th"))
    assert ("html", {"lang": "en"}) in read.tags


def test_nothing_that_was_read_becomes_markup(trapped_page):
    read = Read(trapped_page)
    assert not read.elements("img")
    assert not any("onerror" in attributes for _, attributes in read.tags)
    assert len(read.elements("script")) == 3
    assert "<b>broker" in read.words
    assert read.words.count(TRAP) > 5
    assert '</script><script>alert(1)</script>"\\u202e' in read.words
    layout = figures_of(trapped_page)["map"]["light"]["layout"]
    labels = [note["text"] for note in layout["annotations"]]
    assert any("&lt;img" in text for text in labels)
    assert not any("<img" in text for text in labels)


def test_what_records_hold_is_left_out_unless_somebody_asks(trapped, trapped_page):
    """No value, no key, no byte of a .log; on request, the last records."""
    quiet = Read(report.page(gather(open_broker(trapped)), MADE_MS)).words
    digits = TRAP.encode().hex(" ")[:20]
    assert "log-garbage-tail" in quiet
    assert [text for text in ("zweitens", digits) if text in quiet] == []
    payload = Read(trapped_page).words
    expected = ("A few records", "zweitens", f"{TRAP}: ff 00 (2 B)", digits)
    assert [text for text in expected if text not in payload] == []


def test_only_the_end_of_a_log_is_read_for_its_last_records(clean, monkeypatch):
    """From an index entry near it on, because a full segment has millions of batches."""
    read = []
    scan = Segment.scan

    def watched_scan(self, start, stop):
        read.append((start, stop))
        return scan(self, start, stop)

    monkeypatch.setattr(subject, "STRETCH_BYTES", 16_384)
    monkeypatch.setattr(Segment, "scan", watched_scan)
    partition = open_broker(clean).partition("orders-0")
    size_bytes = partition.live[-1].log.size_bytes
    assert subject._read_sample(partition).rows
    [(start, stop)] = read
    assert stop == size_bytes
    assert size_bytes - start < 40_000


@pytest.mark.parametrize(
    ("name", "is_shown"),
    [
        (f"a-0/{0:020}.index", True),
        (f"a-0/{0:020}.timeindex.deleted", True),
        (f"a-0/{0:020}.log", False),
        (f"a-0/{0:020}.log.cleaned", False),
        (f"__cluster_metadata-0/{10:020}-0000000001.checkpoint", False),
        ("a-0/index", False),
    ],
)
def test_which_files_can_hold_a_records_content(name, is_shown):
    """The bytes of all others are shown as evidence."""
    assert health_part._is_index(name) is is_shown


def test_checksums_as_sha256sum_takes_them(trapped, trapped_page):
    """Every file; also a name with a line break."""
    sums = re.search(r'<pre class="sums"[^>]*>(.*?)</pre>', trapped_page, re.DOTALL)[1]
    command = ["sha256sum", "-c", "--strict"]
    lines = f"{unescape(sums)}\n"
    answer = subprocess.run(command, input=lines, cwd=trapped, text=True, capture_output=True)
    assert answer.returncode == 0, answer.stderr
    assert lines.count("\n") == answer.stdout.count("OK") == 3


@pytest.mark.parametrize(("logs", "gap"), [(3, "2px"), (400, "0.5px")])
def test_the_gaps_of_the_strip_leave_room_for_its_logs(logs, gap):
    """400 gaps as wide as those of some logs would be wider than the page."""
    bars = (RecoveryBar("busy-1", 100, 1 / logs, 0, False, "kept whole"),) * logs
    drawn = health_part._strip(RecoveryStrip("When it starts", bars, "", ""))
    assert f"gap:{gap}" in drawn.replace(" ", "")


def test_a_partition_without_its_broker_says_nothing_of_a_stop(clean, tmp_path):
    """Neither clean nor unclean: one answer for both would contradict the other."""
    shutil.copytree(clean / "orders-2", tmp_path / "orders-2")
    words = Read(report.page(gather(open_broker(tmp_path / "orders-2")), MADE_MS)).words
    assert "How the broker was stopped is not known." in words
    assert "not known: one partition was read" in words
    assert "was stopped cleanly" not in words and "not stopped cleanly" not in words


def test_a_partition_by_itself(clean):
    gathered = gather(open_broker(clean / "payments-0"), overrides={"log.retention.ms": "-1"})
    words = Read(report.page(gathered, MADE_MS)).words
    expected = ("1 topic-partition, 2.38 MiB of log in 3 segments.", "for this partition only")
    expected += ("Keep 4\u202f096", "log.retention.ms, as typed")
    assert [text for text in expected if text not in words] == []
    assert "heartbeat" not in words
    assert "--entity-type topics" not in words  # there is nothing to run where all stays


def test_what_is_counted_is_what_the_catalog_counts(clean, killed):
    known, tails = subject._count_segments(open_broker(clean), lambda what: None)
    total = known.total
    assert (total.batches, total.records) == (54_917, 261_296)
    assert (total.offset_entries, total.time_entries, total.torn_bytes) == (5442, 4513, 0)
    assert not tails
    assert known.codecs["clicks-mixed-0"] == ("none", "gzip", "snappy", "lz4", "zstd")
    assert len(known.entries.position) == 5442
    assert set(subject._count_segments(open_broker(killed), lambda what: None)[1].values()) == {
        message("tail.torn"),
        message("tail.zeros", n=512),
        message("tail.garbage", n=45),
    }


def test_a_partition_without_a_record(clean):
    gathered = gather(open_broker(clean / "empty-room-1"))
    words = Read(report.page(gathered, MADE_MS)).words
    assert gathered.tuning is None and "The cost is not known: " in words and "empty" in words


def test_a_file_that_cannot_be_read_is_left_out_and_reported(clean, tmp_path):
    """One broken segment hides no other."""
    broker = tmp_path / "broker"
    for name in ("orders-0", "payments-0"):
        shutil.copytree(clean / name, broker / name)
    shutil.copy(clean / "meta.properties", broker)
    index = next((broker / "orders-0").glob("*.index"))
    opened = open_broker(broker)
    index.unlink()
    gathered = gather(opened)
    words = Read(report.page(gathered, MADE_MS)).words
    assert [problem.path for problem in gathered.overview.problems]
    assert "not read, and left out" in words
    assert "payments-0" in words and gathered.overview.partitions[1].sums.batches == 2167


def test_the_directory_is_as_it_was(damaged, fingerprint):
    before = fingerprint(damaged)
    report.page(gather(open_broker(damaged), with_payload=True, with_sha256=True), MADE_MS)
    assert fingerprint(damaged) == before


def test_text_is_escaped_and_markup_is_not():
    assert html.tag(
        "p", "a < b", html.Html("<br>"), class_="x", hidden=True, title='"', open=None
    ) == ('<p class="x" hidden title="&quot;">a &lt; b<br></p>')
    assert html.join(["<", html.Html("<")], "&") == "&lt;&amp;<"


# ---- in a browser


INK = {"light": "rgb(255, 255, 255)", "dark": "rgb(15, 19, 24)"}
GROUND = "getComputedStyle(document.documentElement).backgroundColor"
WORDS_INK = "getComputedStyle(document.querySelector('.plot .main-svg text')).fill"


@contextmanager
def opened(browser, folder: Path, text: str, mode: str):
    """Yields a report that is drawn without a network, any request, and a word on the console."""
    (folder / "report.html").write_text(text, encoding="utf-8")
    address = (folder / "report.html").as_uri()
    requests = []
    events = []
    with browser.new_context(
        viewport={"width": 1280, "height": 900}, color_scheme=mode, offline=True
    ) as context:
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda console_message: events.append(console_message.text))
        page.on("pageerror", lambda error: events.append(str(error)))
        page.on("dialog", lambda dialog: (events.append(dialog.message), dialog.dismiss()))
        page.goto(address)
        page.locator("html[data-drawn]").wait_for(timeout=30_000)
        assert page.locator(".plot .main-svg:first-child").count() == 2
        assert page.locator(".undrawn").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
        yield page
        assert (requests, events) == ([address], [])


@pytest.mark.browser
@pytest.mark.parametrize("mode", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
def test_it_is_drawn_in_the_readers_mode_and_on_paper(browser, damaged_page, tmp_path, mode):
    """The print is light, folded parts are open, and no figure is too wide."""
    other = "dark" if mode == "light" else "light"
    with opened(browser, tmp_path, damaged_page, mode) as page:
        assert page.evaluate(GROUND) == INK[mode]
        before = page.evaluate(WORDS_INK)
        page.emulate_media(color_scheme=other)
        page.wait_for_function(f"before => {WORDS_INK} !== before", arg=before)
        page.emulate_media(media="print", color_scheme="dark")
        page.set_viewport_size({"width": 680, "height": 900})
        page.evaluate("() => { dispatchEvent(new Event('beforeprint')) }")
        assert page.evaluate(GROUND) == INK["light"]
        assert page.locator("details:not([open])").count() == 0 < page.locator("details").count()
        assert page.evaluate("document.documentElement.scrollWidth") <= 680
        page.evaluate("() => { dispatchEvent(new Event('afterprint')) }")
        assert page.locator("details[open]").count() == 0


@pytest.mark.browser
def test_no_trap_runs(browser, trapped_page, tmp_path):
    with opened(browser, tmp_path, trapped_page, "light") as page:
        assert page.locator("[onerror]").count() == 0
