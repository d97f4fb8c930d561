"""The Broker page without a browser: its words in every state.

Spark is replaced; the browser's tests use the real one.
"""

import json
import zipfile
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from kafkaviz.app import access
from kafkaviz.app.cache import broker_cache
from kafkaviz.errors import CannotOpen
from kafkaviz.format import names
from kafkaviz.log import file
from kafkaviz.log.archives import archive, members
from kafkaviz.messages import message, verbatim
from kafkaviz.pipeline.ingest import job
from kafkaviz.pipeline.ingest.job import Progress
from tests.app.fakes import FakeStarts, forget_runs
from tests.support.pages import open_page, page_html, press_button, query_value
from tests.support.segment_files import make_segment

CHECKPOINT = "00000000000000000042-0000000001.checkpoint"


@pytest.fixture(autouse=True)
def starts(monkeypatch: pytest.MonkeyPatch) -> FakeStarts:
    size = {"done_bytes": 3 << 20, "total_bytes": 20 << 20, "bytes_per_s": 1.3e9}
    fake = FakeStarts(Progress(done_tasks=2, total_tasks=5, state="reading", **size))
    monkeypatch.setattr(job, "start_ingest", fake)
    for name in ("KAFKAVIZ_DIR", "KAFKAVIZ_ALLOW_ROOT", "KAFKAVIZ_MASTER"):
        monkeypatch.delenv(name, raising=False)
    forget_runs()
    return fake


@pytest.fixture
def small(tmp_path: Path) -> Path:
    make_segment(tmp_path / "kafka" / "orders-0", 0, 1000, [100, 200, 300, 400, 500, 600], times=5)
    make_segment(tmp_path / "kafka" / "logs-0", 0, 0, [])
    (tmp_path / "kafka" / "meta.properties").write_text("version=1\nnode.id=7\ncluster.id=abc\n")
    return tmp_path / "kafka"


def page(directory: Path | str | None = None, **query: str) -> AppTest:
    return open_page(**({"dir": directory} if directory else {}), **query)


def button(at: AppTest, label: str):
    return next(button for button in at.button if button.label == label)


def figure(at: AppTest) -> dict:
    return json.loads(at.get("plotly_chart")[0].proto.spec)


def test_the_sample_opens_without_a_word():
    """Title, chips, figures, map and table, from the listing and the index files alone."""
    at = page()
    text = page_html(at)
    assert "<h1>37 topic-partitions, 20.5 MiB of log and 95.4 KiB of index</h1>" in text
    assert "stopped cleanly" in text
    assert "Kafka 4.3 or later" in text
    assert "names and sizes are read" in text
    assert "5\u202f442 offset, 4\u202f513 time entries" in text
    assert "<i>–</i> batches, <i>–</i> records" in text
    assert "tiny-index-0 has the densest index: an entry every 243 bytes" in text
    assert "3 segments that are not in use (-delete, .deleted) are counted too." in text
    assert "torn end, not to scale" not in text
    assert len(at.get("plotly_chart")) == 1 and len(at.dataframe[0].value) == 37


def test_what_kafkaviz_wrote_passes_for_no_broker(small):
    """The title and a chip say that it was simulated; a real directory has neither."""
    assert "imulated" not in page_html(page(small))
    (small / "server.properties").write_text(f"#{names.SIMULATED_COMMENT}\nnode.id=7\n")
    st.cache_resource.clear()
    text = page_html(page(small))
    assert "<h1>Simulated: 2 topic-partitions" in text
    assert "simulated by kafkaviz, no broker wrote it" in text


def test_a_started_server_opens_its_directory(small, monkeypatch):
    """`kafkaviz app DIR` replaces a missing address; an address has priority."""
    monkeypatch.setenv("KAFKAVIZ_DIR", str(small))
    assert "<h1>2 topic-partitions, 1000 B of log" in page_html(page())
    assert "<h1>37 topic-partitions" in page_html(page(access.samples()[0]))


def test_a_renamed_copy_of_a_partition_says_what_to_do(small):
    """In the reader's language, as on the command line."""
    (small / "copy").mkdir()
    (small / "copy" / "00000000000000000000.log").touch()
    assert (
        "Holds a .log, but is not named like a topic-partition. Rename it TOPIC-N, such as orders-0."
        in page_html(page(small / "copy"))
    )
    assert "请按“主题-编号”重命名，例如 orders-0" in page_html(page(small / "copy", lang="zh"))


def test_the_ingest_is_watched_and_cancelled(small, starts):
    """The strip shows its progress; Cancel ends it; Start again starts another."""
    at = page(small)
    assert "3 MiB of 20 MiB read" in page_html(at) and len(starts.requests) == 1
    button(at, "Cancel").click().run()
    assert "Spark was cancelled" in page_html(at) and len(starts.requests) == 1
    button(at, "Start again").click().run()
    assert "3 MiB of 20 MiB read" in page_html(at) and len(starts.requests) == 2


def test_a_failed_ingest_says_why(small, starts):
    """One sentence, and a button to try again; the page stays."""
    starts.progress = Progress(
        state="failed", error=verbatim("no Java found; install Java 17 or newer")
    )
    at = page(small)
    text = page_html(at)
    assert "Spark stopped: no Java found; install Java 17 or newer" in text
    assert "<h1>2 topic-partitions" in text
    assert 'class="kv-metrics owed"' in page_html(at)  # of the first run, which did not know yet
    assert 'class="kv-metrics"' in page_html(at.run()) and "<i>–</i> batches" in page_html(at)
    button(at, "Try again").click().run()
    assert len(starts.requests) == 2


def test_the_strip_is_gone_when_all_is_read(small, starts):
    starts.progress = Progress(state="done")
    assert "kv-work" not in page_html(page(small)) and "every figure" not in page_html(page(small))


def test_the_order_is_in_the_address(small):
    at = page(access.samples()[0], order="By name")
    first = figure(at)["layout"]["annotations"][0]["text"]
    assert first == "__cluster_metadata-0"
    assert query_value(at, "order") == "By name"


def test_the_tune_door_leads_to_the_whole_broker(small):
    """The page Tuning, of this directory with all its topics."""
    doors = {link.proto.label: link.proto for link in page(small).get("page_link")}
    assert doors["Tune"].page == "tuning" and "tune=Whole+broker" in doors["Tune"].query_string


def test_many_topic_partitions_have_pages(tmp_path):
    """Sixty at once, and a sentence that says which."""
    for number in range(70):
        make_segment(tmp_path / f"topic-{number}", 0, 100 + number, [])
    at = page(tmp_path, rows="2")
    assert "rows 61–70 of 70" in page_html(at)
    rows = [
        note["text"] for note in figure(at)["layout"]["annotations"] if note.get("xshift", 0) < 0
    ]
    assert rows == [f"topic-{number}" for number in range(9, -1, -1)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words", "way_on"),
    [
        ("nowhere", "is not there", "Use a sample"),
        ("void", "Give a directory of log.dirs, or an archive of one.", "Use a sample"),
        (CHECKPOINT, "Is a file. Give the directory that contains it.", "Use a sample"),
        ("above", "looks like a broker directory", "Open"),
        ("broken.tar.gz", "could not be unpacked", "Use a sample"),
        ("a.txt", "Is a file. Give a broker directory, a .tar, .tar.gz or a .zip.", "Use a sample"),
        ("bare", "holds no topic-partition", "Use a sample"),
    ],
)
def test_what_cannot_be_opened_is_answered(tmp_path, name, words, way_on):
    """One sentence what, one why, one way on; never a traceback."""
    (tmp_path / "void").mkdir()
    make_segment(tmp_path / "above" / "kafka" / "orders-0", 0, 10, [])
    (tmp_path / "above" / "kafka" / "meta.properties").write_text("version=1\n")
    (tmp_path / "broken.tar.gz").write_bytes(b"no archive")
    (tmp_path / "a.txt").write_text("hello")
    (tmp_path / CHECKPOINT).write_bytes(bytes(8))
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "meta.properties").write_text("version=1\n")
    at = page(tmp_path / name)
    assert words in page_html(at) and len(at.get("plotly_chart")) == 0
    assert page_html(at).count("<h1>") == 1
    labels = [button.label for button in at.button]
    for action in ("Try again", way_on):
        assert any(label.startswith(action) for label in labels), labels


def test_the_way_on_leads_on(tmp_path):
    make_segment(tmp_path / "kafka" / "orders-0", 0, 10, [])
    (tmp_path / "kafka" / "meta.properties").write_text("version=1\n")
    at = page(tmp_path)
    press_button(at, "kv_nearby_0")
    assert "<h1>1 topic-partition, 10 B of log" in page_html(at)
    assert query_value(at, "dir") == str(tmp_path / "kafka")
    at = page(tmp_path / "nowhere")
    button(at, "Use a sample").click().run()
    assert "<h1>37 topic-partitions" in page_html(at)


def test_a_directory_without_permission(small, monkeypatch):
    """Its owner and its mode. The refusal is simulated, because the tests may run as root."""
    refused = CannotOpen(
        small, message("errors.may_not_be_read"), verbatim("copy it"), kind="permission"
    )
    monkeypatch.setattr(broker_cache, "open_broker", lambda path: (_ for _ in ()).throw(refused))
    small.chmod(0o700)
    text = page_html(page(small))
    assert f"{small} may not be read" in text and "its mode is 0700" in text


def test_outside_the_allowed_root(small, tmp_path, monkeypatch):
    """The page says where it may look, and still offers a sample."""
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", str(tmp_path / "elsewhere"))
    at = page(small)
    assert "may not be opened here" in page_html(at)
    assert str(tmp_path / "elsewhere") in page_html(at)
    button(at, "Use a sample").click().run()
    assert "<h1>37 topic-partitions" in page_html(at)


def test_an_archive_with_two_brokers_on_a_shared_server(tmp_path, monkeypatch):
    """A button leads to one of them; nothing next to the archive may be opened that way."""
    root = tmp_path / "root"
    root.mkdir()
    with zipfile.ZipFile(root / "two.zip", "w") as out:
        for number in (1, 2):
            out.writestr(f"broker-{number}/meta.properties", f"version=1\nnode.id={number}\n")
            out.writestr(f"broker-{number}/orders-0/00000000000000000000.log", b"")
    monkeypatch.setenv("KAFKAVIZ_ALLOW_ROOT", str(root))
    at = page(root / "two.zip")
    assert "One level down" in page_html(at)
    press_button(at, "kv_nearby_1")
    assert "<h1>1 topic-partition" in page_html(at) and "may not be opened" not in page_html(at)
    assert at.query_params["dir"] == str(root / "two.zip" / "broker-2")
    home = archive.unpack_target(root / "two.zip")
    for path in (root / "two.zip" / ".." / ".." / "x", home, home / "two" / "broker-1"):
        assert "may not be opened here" in page_html(page(path))
    assert "is not there" in page_html(page(root / "two.zip" / "broker-3"))


def test_an_archive_that_takes_long_can_be_cancelled(tmp_path, monkeypatch):
    """The page shows the progress; Cancel opens a sample instead."""
    with zipfile.ZipFile(tmp_path / "long.zip", "w") as out:
        out.writestr("meta.properties", "version=1\nnode.id=1\n")
    opened = archive.unpack_if_archive

    def waiting(path, watch=None):
        if Path(path).name != "long.zip":
            return opened(path, watch)
        watch(5 << 20)
        watch(7 << 20)
        st.stop()

    monkeypatch.setattr(archive, "unpack_if_archive", waiting)
    at = page(tmp_path / "long.zip")
    assert "<h1>long.zip is being unpacked" in page_html(at)
    assert "7 MiB read so far" in page_html(at)
    assert "5 MiB" not in page_html(at)
    button(at, "Cancel").click().run()
    assert "<h1>37 topic-partitions" in page_html(at) and "being unpacked" not in page_html(at)


def test_what_was_shown_while_unpacking_goes(tmp_path, monkeypatch):
    """The page in the end shows only its result or refusal."""
    monkeypatch.setattr(members, "PROGRESS_INTERVAL_S", 0)
    monkeypatch.setattr(members, "LIMIT_FILES", 3)
    with zipfile.ZipFile(tmp_path / "long.zip", "w") as out:
        for number in range(4):
            out.writestr(f"orders-{number}/00000000000000000000.log", b"")
    at = page(tmp_path / "long.zip")
    text = page_html(at)
    assert "long.zip could not be unpacked" in text
    assert "holds more than 3 files and folders. Unpack it yourself" in text
    assert "being unpacked" not in text
    monkeypatch.setattr(members, "LIMIT_FILES", 30)
    button(at, "Try again").click().run()
    assert "<h1>4 topic-partitions" in page_html(at) and "being unpacked" not in page_html(at)


def test_no_sample_and_no_directory(monkeypatch, tmp_path):
    monkeypatch.setattr(access, "SAMPLES", tmp_path / "none")
    assert "No broker directory open" in page_html(page())


def test_part_of_a_directory(small, monkeypatch):
    """An unreadable index takes its segment out of the totals and is named."""
    real = file.read_data

    def refusing(path):
        if path.suffix == ".index" and path.parent.name == "orders-0":
            raise CannotOpen(path, message("errors.may_not_be_read"), kind="permission")
        return real(path)

    monkeypatch.setattr(file, "read_data", refusing)
    at = page(small)
    text = page_html(at)
    assert "1 of 2 segments are shown" in text
    assert "orders-0/00000000000000000000.index" in text
    assert "<h1>2 topic-partitions" in text and "1 file not read" in text
    monkeypatch.setattr(file, "read_data", real)
    assert "segments are shown" in page_html(at.run())
    button(at, "Try again").click().run()
    assert "segments are shown" not in page_html(at)


def test_names_from_disk_become_no_markup(tmp_path):
    """A directory may have any name; so may a cluster."""
    evil = tmp_path / "<img src=x onerror=alert(1)>"
    make_segment(evil / "a<b>c-0", 0, 10, [])
    (evil / "meta.properties").write_text(
        "version=1\nnode.id=<script>x</script>\ncluster.id=<b>c</b>\n"
    )
    at = page(evil)
    text = page_html(at)
    assert "<img" not in text and "<script>" not in text and "<b>c" not in text
    labels = [note["text"] for note in figure(at)["layout"]["annotations"]]
    assert "<b>c-0" not in json.dumps(labels)


def test_a_name_that_is_no_text(tmp_path):
    """A file system accepts any bytes as a name."""
    odd = Path((bytes(tmp_path) + b"/caf\xe9-0").decode("utf-8", "surrogateescape"))
    make_segment(odd, 0, 10, [])
    (tmp_path / "meta.properties").write_text("version=1\ncluster.id=a\x07b\n")
    assert page(tmp_path).dataframe[0].value["Topic-partition"].tolist() == ["caf\ufffd-0"]


def test_a_path_as_it_is_pasted(small):
    """Blanks and quotes around it are dropped; the field opens it."""
    at = page(small)
    at.text_input[0].set_value(f" '{access.samples()[0]}' ").run()
    assert query_value(at, "dir") == str(access.samples()[0])
    assert "<h1>37 topic-partitions" in page_html(at)


def test_an_address_may_hold_anything():
    """No traceback for an impossible path, nor for parameters of another page."""
    assert "is not there" in page_html(page("/data\0/kafka"))
    assert "is not there" in page_html(page("~nobody-of-this-name"))
    assert "<h1>37 topic-partitions" in page_html(
        page(access.samples()[0], tp="<b>", segment="-1", pin="x", order="Backwards", rows="99")
    )


def test_the_table_is_filtered(small):
    at = page(small)
    next(field for field in at.text_input if field.label == "Filter").set_value("ORD").run()
    assert at.dataframe[0].value["Topic-partition"].tolist() == ["orders-0"]


def test_a_filter_that_fits_nothing(small):
    """The filter is in the address; the page lists what exists, and one button shows it again."""
    at = page(small, filter="<b>")
    assert "No topic-partition has “&lt;b&gt;” in its name" in page_html(at)
    assert "2 topic-partitions are here." in page_html(at)
    assert not at.dataframe
    button(at, "Clear the filter").click().run()
    assert len(at.dataframe[0].value) == 2
    assert "Clear the filter" not in [button.label for button in at.button]


def test_a_long_table_says_that_it_continues(small):
    assert "23 more; scroll" in page_html(page(access.samples()[0]))
    assert "more; scroll" not in page_html(page(small))


def test_a_wrong_path_is_an_error():
    text = page_html(page("/data/nowhere/kafka"))
    assert 'class="kv-sev error"' in text
    assert 'class="kv-sev info"' not in text
    assert "is not there" in text


def test_the_keys_are_listed_until_dismissed(small):
    at = page(small)
    assert "kv-kb" not in page_html(at)
    button(at, "`?` Keys").click().run()
    assert "go to a page, topic-partition, segment or offset" in page_html(at)
    assert "previous segment, next segment" in page_html(at)
    assert "kv-kb" in page_html(at.run())


def test_go_to_finds_an_offset(small):
    """From anywhere to the segment that holds it."""
    at = page(small)
    button(at, "Go to").click().run()
    assert r"orders\-0 :gray[1000 B]" in [link.proto.label for link in at.get("page_link")]
    field = next(field for field in at.text_input if field.key == "kv_goto_text")
    field.set_value("orders-0 7").run()
    [link] = [link.proto for link in at.get("page_link") if link.proto.label.startswith("Offset")]
    assert link.label == r"Offset 7 in orders\-0 :gray[1000 B]"
    assert "segment=0" in link.query_string and "pin=7" in link.query_string
