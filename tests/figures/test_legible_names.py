"""Names with control characters, marks that reverse text, or bytes that are not UTF-8 are escaped
wherever they are shown.
"""

import io
import json
import re

import pytest

from kafkaviz import units
from kafkaviz.analysis import overview
from kafkaviz.app import page_state
from kafkaviz.app.widgets import elements
from kafkaviz.cli.dumping import Console
from kafkaviz.figures.broker import broker_map
from kafkaviz.log.broker import open_broker
from tests.cli.hostile_files import broker

DRIVING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b-\u200f\ufeff\ud800-\udfff]"
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("\u202egnp.exe-7", "\\u202egnp.exe-7"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("caf\udce9\u200b", "caf\ufffd\\u200b"),
        ("\ud800half", "\ufffdhalf"),
        ("two\nlines\tand more", "two\nlines\tand more"),
        ("topic \u4e2d\u6587 \u05d0", "topic \u4e2d\u6587 \u05d0"),
    ],
)
def test_what_turns_or_drives_is_written_out(name, expected):
    """In HTML and in labels of Streamlit; an address keeps the name unchanged where it can be sent."""
    assert (units.escape_controls(name), elements.escape(name)) == (expected, expected)
    assert not DRIVING.search(elements.escape_markdown(name))
    assert units.escape_line(name) == expected.replace("\n", "\\n").replace("\t", "\\t")
    assert page_state.address(name)["dir"] == units.replace_surrogates(name)


def test_labels_of_the_map(tmp_path):
    """Also in the hover text; quotation marks are not escaped, because Plotly would print entities."""
    root = broker(tmp_path / "b")
    for name in ("\u202egnp.exe-7", "\x1b[31mred-0", 'say "so"-1'):
        (root / name).mkdir()
        (root / name / f"{0:020d}.log").write_bytes((root / "t-0" / f"{0:020d}.log").read_bytes())
    known = overview.inventory(open_broker(root))
    directories = sorted(row.directory for row in known.partitions)
    assert directories == ["\\u202egnp.exe-7", "\\x1b[31mred-0", 'say "so"-1', "t-0"]
    drawn = json.dumps(
        json.loads(broker_map.figure(broker_map.view(known), "light").to_json()), ensure_ascii=False
    )
    assert "u202egnp.exe" in drawn
    assert [text for text in ("&quot;", "\u202e", "u001b") if text in drawn] == []


class Terminal(io.BytesIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (Terminal, b"key: \\x1b[2J\\u202e\xc3\xa9\xef\xbf\xbd\\r\tv\n"),
        (io.BytesIO, b"key: \x1b[2J\xe2\x80\xae\xc3\xa9\xff\r\tv\n"),
    ],
)
def test_a_dump_drives_no_terminal(stream, expected):
    """Piped output is byte for byte that of Kafka's tool."""
    out, err = stream(), stream()
    console = Console(out, err)
    console.write(b"key: \x1b[2J\xe2\x80\xae\xc3\xa9\xff\r\tv\n")
    console.write_error("/d/\x1b]0;x\x07.log")
    assert out.getvalue() == expected
    assert err.getvalue() == (
        b"/d/\\x1b]0;x\\x07.log" if stream is Terminal else b"/d/\x1b]0;x\x07.log"
    )
