"""The bytes view in a real browser: fields, panes, scrolling, links with the ruler."""

import pytest

from tests.support.browser import sync_api

pytestmark = pytest.mark.browser
THIN = "\u202f"


@pytest.fixture
def view(page: "sync_api.Page", server: str) -> "View":
    return View(page, server)


class View:
    """The tab Bytes of an open page."""

    def __init__(self, page: "sync_api.Page", server: str) -> None:
        self.page, self.server = page, server

    def open(self, partition: str, segment: int, **more: object) -> None:
        query = {"tp": partition, "segment": segment, "tab": "Bytes", **more}
        self.page.goto(
            f"{self.server}/segment?" + "&".join(f"{name}={value}" for name, value in query.items())
        )
        self.page.locator(".hex .r").first.wait_for()
        self.page.locator(".detail svg").wait_for()

    def wait_for_words(self, words: str) -> None:
        self.page.locator(".mean", has_text=words).wait_for()

    def press(self, *keys: str, pane: int = 0) -> None:
        self.page.locator(".hex").nth(pane).focus()
        for key in keys:
            self.page.keyboard.press(key)

    def framed(self) -> str:
        """The digits of the chosen field."""
        return "".join(self.page.locator(".h.on").all_inner_texts())


def test_fields_are_named_by_key(view):
    """Arrows move by field and row, Home and End to the ends. Record content is text."""
    view.open("payments-0", 7975, pin=11612)
    view.wait_for_words(
        f"lastOffsetDelta bytes 23–26 of the batch, 480{THIN}020 in the file, 4 B. Last offset = "
        f"11{THIN}612 + 13 = 11{THIN}625."
    )
    assert view.framed() == "0000000d"
    view.press("ArrowRight")
    view.wait_for_words("baseTimestamp bytes 27–34")
    view.press("ArrowLeft", "ArrowLeft")
    view.wait_for_words("attributes bytes 21–22 of the batch")
    view.press("ArrowDown")
    view.wait_for_words("maxTimestamp")
    view.press("End")
    view.wait_for_words("headerCount")
    view.press("Home")
    view.wait_for_words("baseOffset bytes 0–7")
    assert view.page.locator(".f.on").inner_text().split("\n")[-1] == f"11{THIN}612"
    view.page.locator(".f", has_text="value").nth(1).click()
    assert view.page.locator(".mean .val").inner_text().startswith('{"payment":11279')


@pytest.mark.nightly
def test_fields_are_named_under_the_pointer(view):
    """A byte, its letter and its line are one field; on leaving, the chosen field returns."""
    view.open("payments-0", 7975, pin=11612)
    view.page.locator(".x").nth(16 + 1).hover()
    view.wait_for_words("crc bytes 17–20 of the batch")
    view.page.locator(".f", has_text="producerEpoch").hover()
    view.wait_for_words("producerEpoch bytes 51–52")
    assert len(view.page.locator(".h.near").all()) == 2
    view.page.locator("h1").hover()
    view.wait_for_words("lastOffsetDelta")


@pytest.mark.nightly
def test_after_the_last_field_comes_the_next_batch(view):
    view.open("payments-0", 7975, pin=11612)
    view.press("End", "ArrowRight")
    view.page.wait_for_function("new URLSearchParams(location.search).get('pin') === '11626'")
    view.wait_for_words("baseOffset bytes 0–7 of the batch, 481")
    view.page.locator(".say", has_text=f"11{THIN}626–11{THIN}627").wait_for()
    view.page.keyboard.press("ArrowLeft")
    view.page.wait_for_function("new URLSearchParams(location.search).get('pin') === '11612'")
    view.wait_for_words(f"The first record of this batch is offset 11{THIN}612.")
    assert "pin=11612" in view.page.url


def test_an_index_entry_pins_its_batch(view):
    view.open("payments-0", 7975, pin=11612, file=".index")
    view.wait_for_words("slot 95 relativeOffset bytes 760–763 of the file")
    view.page.locator(".f", has_text="slot 96 ").click()
    view.page.locator(".say", has_text=f"–11{THIN}658").wait_for()
    view.wait_for_words("slot 96 relativeOffset")
    view.page.locator(".st-key-file").get_by_text(".timeindex", exact=True).click()
    view.wait_for_words("timestamp bytes")
    view.page.reload()
    view.wait_for_words("timestamp bytes")
    assert "file=.timeindex" in view.page.url


def test_a_compressed_batch_has_a_second_pane(view):
    view.open("clicks-gzip-0", 0, pin=8)
    view.page.locator(".inner", has_text=f"9 records, decompressed: 1{THIN}063 B").wait_for()
    view.press("End", "Enter")
    view.wait_for_words("record 0 length bytes 0–1 of the records, 2 B.")
    view.page.keyboard.press("ArrowDown")
    view.press("Home", *["ArrowRight"] * 5, pane=1)
    view.wait_for_words("key bytes 6–11 of the records, 6 B. s00286")
    assert view.page.locator(".hex").count() == 2


@pytest.mark.parametrize(
    ("partition", "pin", "file", "last"),
    [
        pytest.param(
            "dense-index-0", 9, ".index", f"position bytes 9{THIN}004", marks=pytest.mark.nightly
        ),
        ("bulk-import-0", 548, ".log", f"headerCount byte 809{THIN}4"),
    ],
)
def test_bytes_far_on_arrive_as_they_are_scrolled_to(view, page, partition, pin, file, last):
    view.open(partition, 0, pin=pin, file=file)
    view.press("End")
    view.wait_for_words(last)
    view.press("Home")
    view.wait_for_words("bytes 0–")
    page.locator(".hex").evaluate("one => { one.scrollTop = one.scrollHeight / 2 }")
    page.locator(".hex .gone").first.wait_for(state="attached")
    page.locator(".hex .gone").first.wait_for(state="detached")
    assert page.locator(".hex .r").count() < 50


@pytest.mark.nightly
def test_slots_never_written(view, killed):
    """The zeros of a preallocated index are one field with a legend entry."""
    view.open("append-time-0", 0, dir=killed, file=".index")
    view.press("End")
    view.wait_for_words("unwritten slots bytes")
    view.page.locator(".kv-sw.byte-unwritten").wait_for()
    assert view.page.locator(".kv-sw.byte-unwritten").count() == 1


def test_what_is_torn_after_the_last_batch(view, killed):
    """It is shown with the last batch, down to the last byte of the file."""
    view.open("clicks-zstd-0", 0, dir=killed, pin=7640)
    view.press("End")
    view.wait_for_words("records, cut bytes")
    assert "of the file, " in view.page.locator(".mean").inner_text()
    view.page.locator(".kv-sw.byte-torn").wait_for()


@pytest.mark.nightly
def test_any_file_next_to_the_segment(view):
    """The address keeps the file and the byte, and a reload restores both."""
    view.open("payments-0", 7975, pin=11612)
    view.page.get_by_role("button", name="Other files").click()
    view.page.get_by_text("meta.properties", exact=True).click()
    view.page.locator(".hex", has_text="23 ").wait_for()
    view.page.wait_for_function(
        "new URLSearchParams(location.search).get('file') === 'meta.properties'"
    )
    view.press("ArrowDown", "ArrowRight")
    meaning = view.page.locator(".mean").inner_text()
    byte = view.page.evaluate("new URLSearchParams(location.search).get('byte')")
    assert int(byte) > 15
    view.page.reload()
    view.wait_for_words(meaning[:20])
    assert view.page.evaluate("new URLSearchParams(location.search).get('byte')") == byte
    view.page.locator(".st-key-file").get_by_text(".index", exact=True).click()
    view.wait_for_words("slot 95 relativeOffset")
    view.page.wait_for_function("!new URLSearchParams(location.search).has('byte')")


def test_a_link_to_a_byte_of_the_log_pins_its_batch(view):
    """Another pin clears the byte."""
    view.open("payments-0", 7975, byte=480000)
    view.wait_for_words("baseOffset bytes 0–7 of the batch")
    view.page.locator(".say", has_text=f"11{THIN}612–11{THIN}625").wait_for()
    view.page.locator(".detail").focus()
    view.page.keyboard.press("ArrowRight")
    view.wait_for_words(f"481{THIN}881 in the file")
    assert "byte=" not in view.page.url


@pytest.mark.nightly
def test_a_byte_chosen_is_not_left_when_the_rows_below_are_scrolled_to(view):
    view.open("dense-index-0", 0, pin=9, file=".index")
    view.press("Home", "ArrowDown", "ArrowDown", "ArrowDown")
    view.wait_for_words("bytes 48–")
    hexes = view.page.locator(".hex")
    hexes.evaluate("one => { one.scrollTop = one.scrollHeight / 2 }")
    view.page.locator(".hex .gone").first.wait_for(state="attached")
    view.page.locator(".hex .gone").first.wait_for(state="detached")
    # the whole page is drawn again, with the byte in its address
    view.page.get_by_role("radio", name="Size").click()
    view.page.wait_for_timeout(2000)  # the way back would be asked for only now
    assert hexes.evaluate("one => one.scrollTop") > 2000
