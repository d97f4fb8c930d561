"""The parts that a server loads before its first page is requested."""

import subprocess
import sys

from kafkaviz.app import server

CODE = """
import sys
from kafkaviz.app import server
LATE = {"pandas", "kafkaviz.pipeline.ingest.job"}
assert not LATE & set(sys.modules)
server.prepare_in_background().join()
print((LATE | {"plotly.graph_objs._heatmap"}) - set(sys.modules))
"""


def test_libraries_of_the_first_page_are_imported():
    printed = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=False
    )
    assert (printed.stdout, printed.stderr) == ("set()\n", "")


def test_the_sample_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path))
    monkeypatch.setenv("KAFKAVIZ_DIR", str(tmp_path / "a.tar.gz"))
    server.prepare_in_background().join()
    assert not list(tmp_path.rglob("meta.properties"))
    monkeypatch.delenv("KAFKAVIZ_DIR")
    server.prepare_in_background().join()
    assert list(tmp_path.rglob("meta.properties"))
