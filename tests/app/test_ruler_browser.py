"""The segment ruler in a real browser: choosing, keys, the window, slices, the offset field."""

import re
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

from kafkaviz.format.batch import HEADER
from kafkaviz.messages import say
from tests.support.browser import sync_api

pytestmark = pytest.mark.browser
IN_RULER = "[...document.querySelectorAll('*')].find(e => e.shadowRoot?.querySelector('.detail'))?.shadowRoot"
SLICE_PATIENCE_MS = 10_000


@pytest.fixture
def ruler(page: "sync_api.Page", server: str) -> "Ruler":
    return Ruler(page, server)


def grouped(number: int) -> str:
    return f"{number:,}".replace(",", "\u202f")


def group_numbers(words: str) -> str:
    return re.sub(r"\d{4,}", lambda match: grouped(int(match[0])), words)


class Ruler:
    def __init__(self, page: "sync_api.Page", server: str) -> None:
        self.page, self.server = page, server

    def open(
        self, partition: str, segment: int, directory: Path | None = None, **more: str
    ) -> None:
        query = {"tp": partition, "segment": segment, **more}
        if directory:
            query["dir"] = directory
        self.page.goto(
            f"{self.server}/segment?" + "&".join(f"{name}={value}" for name, value in query.items())
        )
        self.page.locator(".detail svg").wait_for()
        self.page.locator("tr.on").first.wait_for()
        assert self.page.locator("[data-testid=stException]").count() == 0

    def wait_for_words(self, words: str) -> None:
        self.page.locator(".say", has_text=words).wait_for()

    def pinned(self, offset: int) -> None:
        self.page.wait_for_function(
            f"new URLSearchParams(location.search).get('pin') === '{offset}'"
        )
        self.page.locator("tr.on", has_text=grouped(offset)).first.wait_for()

    def sentence(self) -> str:
        return self.page.locator(".say").inner_text()

    def pin(self) -> int | None:
        return next((int(number) for number in re.findall(r"[?&]pin=(\d+)", self.page.url)), None)

    def drawing(self) -> str:
        return self.page.evaluate(f"{IN_RULER}.querySelector('.detail').innerHTML")

    def press(self, *keys: str) -> None:
        self.page.locator(".detail").focus()
        for key in keys:
            self.page.keyboard.press(key)

    def zoom(self, key: str, times: int) -> None:
        self.page.evaluate(
            f"""([key, times]) => {{
              for (let count = 0; count < times; count++)
                {IN_RULER}.querySelector('.detail').dispatchEvent(
                  new KeyboardEvent('keydown', {{ key, bubbles: true, composed: true }}));
            }}""",
            [key, times],
        )

    def type_offset(self, text: str) -> None:
        self.page.locator(".of").fill(text)
        self.page.locator(".of").press("Enter")

    def drag(self, start: int, end: int, *, is_held: bool = False) -> None:
        """Drags in the overview, between these pixels from its left edge."""
        box = self.page.locator(".overview").bounding_box()
        self.page.mouse.move(box["x"] + start, box["y"] + 20)
        self.page.mouse.down()
        self.page.mouse.move(box["x"] + end, box["y"] + 20, steps=3)
        if not is_held:
            self.page.mouse.up()

    def settled(self) -> None:
        self.page.wait_for_function(
            f"{IN_RULER}?.querySelector('.detail')?.classList.contains('stale') === false",
            timeout=SLICE_PATIENCE_MS,
        )

    def window(self) -> tuple[float, float]:
        return tuple(
            self.page.evaluate(
                f"['x', 'width'].map(a => +{IN_RULER}.querySelector('.win').getAttribute(a))"
            )
        )

    def log(self) -> tuple[float, float]:
        box = self.page.locator(".detail").bounding_box()
        return box["x"] + box["width"] * 0.7, box["y"] + 200


def test_a_batch_is_chosen_by_click_by_key_and_by_its_offset(ruler):
    """The address has the pin at once, and the tables follow."""
    ruler.open("payments-0", 7975, pin="11612")
    ruler.wait_for_words("Slot 95 points here; its key is the batch’s last offset")
    ruler.page.mouse.click(*ruler.log())
    ruler.page.wait_for_function("new URLSearchParams(location.search).get('pin') !== '11612'")
    clicked = ruler.pin()
    ruler.pinned(clicked)
    assert 11_612 < clicked < 11_800 and ruler.sentence().startswith(f"Batch {grouped(clicked)}–")
    ruler.press("Home")
    ruler.pinned(7975)
    assert ruler.sentence() == group_numbers(
        "Batch 7975–7996, byte 0, 2871 B. Before the first entry: a search starts at byte 0."
    )
    ruler.press("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft")
    ruler.pinned(7998)
    ruler.press("End")
    ruler.pinned(15902)
    assert ruler.page.locator("tr.on").first.inner_text().split("\t")[2] == group_numbers(
        "15902–15903"
    )
    ruler.type_offset("9 001")
    ruler.page.wait_for_function("new URLSearchParams(location.search).get('pin') === '9001'")
    ruler.wait_for_words("9\u202f000–9\u202f004")
    ruler.type_offset("99999")
    ruler.page.locator(".why", has_text="This segment holds 7\u202f975 – 15\u202f903").wait_for()
    assert "pin=9001" in ruler.page.url


@pytest.mark.nightly
def test_hovering_shows_and_pins_nothing(ruler):
    ruler.open("payments-0", 7975, pin="11612")
    ruler.page.mouse.move(*ruler.log())
    ruler.page.locator(".say", has_not_text="11\u202f612–11\u202f625").wait_for()
    assert "pin=11612" in ruler.page.url
    ruler.page.mouse.move(5, 5)
    ruler.wait_for_words("11\u202f612–11\u202f625")


def test_the_window_is_zoomed_and_dragged_and_comes_back(ruler):
    """Plus and minus have limits; a drag in the overview moves the window but not the pin, and the
    address keeps its bytes until another offset is chosen.
    """
    ruler.open("payments-0", 7975, pin="11612")
    assert "window=" not in ruler.page.url
    start, width = ruler.window()
    ruler.press("-")
    wider = ruler.window()[1]
    ruler.press("+", "+")
    assert ruler.window()[1] < width < wider
    ruler.zoom("-", 40)
    assert ruler.window()[1] > 500
    ruler.zoom("+", 60)
    assert ruler.window()[1] == 8  # the minimum width that is drawn
    ruler.zoom("-", 30)
    ruler.drag(200, 260)
    assert abs(ruler.window()[0] - start) > width
    assert_the_window_comes_back(ruler, 11612)


@pytest.mark.nightly
def test_a_window_beyond_the_sent_slice_comes_back(ruler):
    ruler.open("heartbeat-0", 0, pin="100")
    ruler.drag(300, 400)
    assert_the_window_comes_back(ruler, 100)


def assert_the_window_comes_back(ruler: Ruler, pin: int) -> None:
    # the address is written once the window has rested
    ruler.page.wait_for_function(
        f"new URLSearchParams(location.search).get('window') ==="
        f" {IN_RULER}.host.__ruler.window.map(Math.round).join('-')"
    )
    ruler.settled()
    ruler.wait_for_words(f"Batch {grouped(pin)}–")
    left, before = ruler.window(), ruler.page.url
    ruler.page.reload()
    ruler.wait_for_words(f"Batch {grouped(pin)}–")
    ruler.settled()
    assert ruler.page.url == before
    assert ruler.window() == pytest.approx(left, abs=0.01)
    ruler.type_offset(str(pin))
    ruler.page.wait_for_function("!location.search.includes('window=')")


def test_a_large_segment_comes_in_slices(ruler):
    """Only the window is sent: of a pin far from it only its own slot is named.

    A drag out of the slice brings the next one, and so do End and a typed offset.
    """
    ruler.open("heartbeat-0", 0, pin="5483", window="200000-297000")
    ruler.wait_for_words(group_numbers("Batch 5483–5483, byte 526171, 97 B. Slot 126 points here."))
    assert ruler.page.locator(".detail svg path[stroke='var(--kv-scan)']").count() == 0
    ruler.type_offset("100")
    ruler.pinned(100)
    ruler.drag(300, 400, is_held=True)
    assert "stale" in ruler.page.evaluate(f"{IN_RULER}.querySelector('.detail').className")
    ruler.page.mouse.up()
    ruler.settled()
    ruler.wait_for_words("100–100")
    ruler.press("End")
    ruler.pinned(10904)
    ruler.press("ArrowLeft")
    ruler.pinned(10903)
    ruler.type_offset("5000")
    ruler.pinned(5000)
    ruler.wait_for_words("5\u202f000–5\u202f000")


@pytest.mark.nightly
def test_another_segment_starts_again(ruler):
    ruler.open("payments-0", 7975, pin="11612")
    ruler.page.evaluate("document.activeElement.blur()")
    ruler.page.keyboard.press("]")
    ruler.page.locator("h1", has_text="from offset 15\u202f904").wait_for()
    ruler.page.wait_for_function(
        "!location.search.includes('pin=') && location.search.includes('segment=15904')"
    )
    ruler.page.locator(".say", has_not_text="11\u202f612").wait_for()
    first, last = (
        int(number.replace("\u202f", ""))
        for number in re.match(r"Batch ([\d\u202f]+)–([\d\u202f]+),", ruler.sentence()).groups()
    )
    assert 15_904 <= first <= last and ruler.pin() is None
    ruler.page.go_back()
    ruler.page.locator("h1", has_text="from offset 7\u202f975").wait_for()
    ruler.wait_for_words("11\u202f612–11\u202f625")
    assert ruler.pin() == 11_612 and "segment=7975" in ruler.page.url


@pytest.mark.parametrize(
    ("partition", "segment", "words"),
    [
        ("rides-0", 1811, "No index: a search starts at byte 0"),
        *(
            pytest.param(*row, marks=pytest.mark.nightly)
            for row in (
                ("bookings-0", 1721, "The newest record of batch"),
                (
                    "bookings-0",
                    858,
                    "a search that lands here begins at 1\u202f017 and skips 949–968.",
                ),
                ("rides-0", 607, "Slot 8 points here"),
                ("bookings-0", 0, "points here"),
                ("metrics-0", 0, "points here"),
                ("metrics-0", 1201, "points here"),
                ("metrics-0", 2401, "points here"),
                ("rides-0", 3624, "points here"),
            )
        ),
    ],
)
def test_damaged_segments_are_drawn(ruler, damaged, partition, segment, words):
    """Each has its sentence, and no console error at any zoom."""
    ruler.open(partition, segment, damaged)
    ruler.wait_for_words(words)
    drawings = [ruler.drawing()]
    for key, times in (("-", 30), ("+", 50)):
        ruler.zoom(key, times)
        drawings.append(ruler.drawing())
    for key in ("End", "Home"):
        ruler.press(key)
        drawings.append(ruler.drawing())
    assert len(set(drawings)) > 2
    assert not re.search("NaN|undefined|Infinity", "".join(drawings))
    assert ruler.sentence().startswith(f"Batch {grouped(segment)}–")


def test_an_entry_that_leads_astray(ruler, damaged):
    """The distance to the right batch is shown, and the lines between sound entries pass over it."""
    ruler.open("bookings-0", 858, damaged)
    assert group_numbers("7087 B too far") in ruler.drawing()
    assert group_numbers("2391 B") not in ruler.drawing()
    assert ruler.page.locator("tr.on", has_text="■ slot 6; slot 3 leads here").count() == 1
    ruler.type_offset("1020")
    ruler.wait_for_words("Slot 6 points here")
    assert group_numbers("2391 B") in ruler.drawing() and "too far" not in ruler.drawing()
    ruler.type_offset("948")
    ruler.page.locator("tr.on", has_text="slot 3 belongs here").wait_for()


def test_offsets_beyond_what_a_double_holds(ruler, tmp_path):
    """2**53 and more are shown, pinned and found to the last digit; a topic's name is no markup."""
    base = 2**53 + 1
    headers = np.zeros(40, HEADER)
    headers["base_offset"] = base + 3 * np.arange(40)
    headers["batch_length_bytes"] = 61 - 12
    headers["magic"] = 2
    headers["last_offset_delta"], headers["record_count"] = 2, 3
    name = "<img src=x onerror=alert(1)>-0"
    (tmp_path / name).mkdir()
    (tmp_path / name / f"{base:020d}.log").write_bytes(headers.tobytes())
    ruler.open(quote(name), base, tmp_path, pin=str(base + 4))
    ruler.wait_for_words(f"{grouped(base + 3)}–{grouped(base + 5)}")
    assert ruler.page.locator("img[src=x]").count() == 0
    assert "<img" in ruler.page.locator("h1").inner_text()
    ruler.press("ArrowRight")
    ruler.pinned(base + 6)
    assert ruler.pin() == base + 6 == 9_007_199_254_740_999
    assert ruler.sentence().startswith(
        f"Batch {grouped(base + 6)}–{grouped(base + 8)}, byte 122, 61 B."
    )


def test_the_open_tab_comes_back(ruler):
    """The address has its name without the row count; another pin or shade keeps it."""
    ruler.open("payments-0", 7975, pin="11612")
    ruler.page.get_by_role("tab", name="Time index").click()
    ruler.page.wait_for_function("new URLSearchParams(location.search).get('tab') === 'Time index'")
    ruler.press("ArrowRight")
    ruler.page.wait_for_function("new URLSearchParams(location.search).get('pin') === '11626'")
    ruler.page.get_by_text("age", exact=True).click()
    ruler.page.wait_for_function("new URLSearchParams(location.search).get('shade') === 'Age'")
    ruler.page.reload()
    ruler.wait_for_words("Batch 11\u202f626–11\u202f627")
    tab = ruler.page.get_by_role("tab", name="Time index")
    ruler.page.wait_for_function(
        "document.querySelector('[role=tab][aria-selected=true]')?.innerText === 'Time index'"
    )
    assert tab.evaluate("e => getComputedStyle(e.querySelector('p'), '::after').content") == '"206"'
    assert ruler.page.get_by_text("Timestamp (UTC)").is_visible()
    assert "tab=Time+index" in ruler.page.url


@pytest.mark.nightly
def test_a_page_on_paper_has_no_frame(ruler):
    ruler.open("payments-0", 7975, pin="11612")
    ruler.page.emulate_media(media="print")
    for frame in (".st-key-kv_top", "[data-testid=stSidebar]"):
        assert not ruler.page.locator(frame).is_visible()


@pytest.mark.nightly
def test_another_language_keeps_what_was_chosen(ruler):
    """The pin, the window, the tab and the shade; the address has the same words in both languages."""
    ruler.open("payments-0", 7975, pin="11612")
    ruler.page.locator(".detail").focus()
    ruler.page.keyboard.press("ArrowRight")
    ruler.pinned(11626)
    ruler.page.get_by_role("tab", name="Time index").click()
    ruler.page.get_by_role("radio", name="Size").click()
    ruler.page.wait_for_function(
        "location.search.includes('tab=Time+index') && location.search.includes('shade=Size')"
    )
    ruler.page.get_by_text("中文").click()
    ruler.wait_for_words("批次 11\u202f626–11\u202f627")
    ruler.page.get_by_text("时间戳（UTC）").wait_for()
    assert all(
        parameter in ruler.page.url
        for parameter in ("lang=zh", "pin=11626", "tab=Time+index", "shade=Size")
    )
    ruler.page.reload()
    ruler.wait_for_words("批次 11\u202f626–11\u202f627")
    ruler.page.get_by_text("时间戳（UTC）").wait_for()


def test_the_chosen_slots_and_batch_are_drawn_as_their_fields(ruler, clean):
    """8 + 4 and 4 + 4 bytes to one scale with what is stored in each, and all 61 bytes of the
    header under Kafka's names, as they are in the file, on the first screen.
    """
    ruler.open("payments-0", 7975, pin="11612")
    slots = ruler.page.locator(".fields .group:not(.log)")
    widths = slots.locator(".field").evaluate_all("all => all.map(field => field.offsetWidth)")
    assert [width / widths[1] for width in widths] == [2, 1, 1, 1]
    assert slots.locator(".mono").all_text_contents() == [
        group_numbers(text) for text in ("1795253384123", "+3650", "+3650", "479997")
    ]
    assert slots.filter(has_text=group_numbers("7975 + 3650")).count() == 1
    log = (clean / "payments-0" / f"{7975:020d}.log").read_bytes()
    header = np.frombuffer(log, HEADER, 1, 479_997)[0]
    fields = ruler.page.locator(".fields .log .field")
    shown = dict(zip(HEADER.names, fields.locator("b").all_text_contents(), strict=True))
    assert shown["crc"] == f"0x{header['crc']:08x}" and shown["attributes"] == "0x0010"
    assert {name: int(value.replace("\u202f", ""), 0) for name, value in shown.items()} == {
        name: int(header[name]) for name in HEADER.names
    }
    texts = fields.all_text_contents()
    assert texts[2:4] == ["0partitionLeaderEpoch 4 B", "2magic 1 B"]
    assert sum(int(text.split()[-2]) for text in texts) == HEADER.itemsize
    box = fields.last.bounding_box()
    assert box["y"] + box["height"] <= 720


def test_remarks_of_a_narrow_ruler_can_be_read(ruler):
    """They end before the edge, and none covers another, wherever the window is."""
    ruler.page.set_viewport_size({"width": 390, "height": 844})
    ruler.open("payments-0", 7975, pin="8133")
    remark_count = 0
    for _ in range(40):
        ruler.press("ArrowRight")
        ends = ruler.page.evaluate(
            f"""remark => [...{IN_RULER}.querySelectorAll('.detail text')]
              .filter(text => text.textContent === remark)
              .map(text => [text.getBoundingClientRect().left, text.getBoundingClientRect().right,
                text.ownerSVGElement.getBoundingClientRect().right])""",
            say("ruler.newest_earlier"),
        )
        remark_count += len(ends)
        assert all(right <= edge for _, right, edge in ends)
        ends.sort()
        assert all(before[1] <= after[0] for before, after in pairwise(ends))
    assert remark_count
    field = ruler.page.locator(".go-to input")
    assert field.evaluate("field => field.scrollWidth <= field.clientWidth + 1")
