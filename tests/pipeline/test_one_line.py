import io
import os
import struct

import pytest
from pyspark.util import handle_worker_exception

from kafkaviz.errors import CannotOpen
from kafkaviz.messages import message, verbatim
from kafkaviz.pipeline.datasource import HIDE_TRACEBACK, WORKER_VARIABLE, one_line_errors
from kafkaviz.pipeline.datasource.source import RecordsSource
from kafkaviz.pipeline.datasource.source_schema import BadOption


def sent(error: Exception) -> str:
    out = io.BytesIO()
    try:
        raise error
    except Exception as fault:
        handle_worker_exception(fault, out)
    data = out.getvalue()
    (size,) = struct.unpack(">i", data[4:8])
    return data[8 : 8 + size].decode()


def test_a_worker_sends_the_line_alone(monkeypatch):
    """Without Python's stack or an earlier exception, and with line ends escaped."""
    monkeypatch.setenv(WORKER_VARIABLE, "65536")
    monkeypatch.setenv(HIDE_TRACEBACK, "")
    with pytest.raises(CannotOpen) as raised, one_line_errors():
        try:
            {}["nothing"]
        except KeyError:
            raise CannotOpen("a\nb", verbatim("is not there"))  # noqa: B904 - a careless raise
    assert sent(raised.value) == "kafkaviz.errors.CannotOpen: a\\nb: is not there\n"


def test_other_processes_keep_their_tracebacks(monkeypatch):
    """A driver passes its environment on to every worker."""
    monkeypatch.delenv(WORKER_VARIABLE, raising=False)
    monkeypatch.setenv(HIDE_TRACEBACK, "")
    with pytest.raises(BadOption), one_line_errors():
        RecordsSource({"path": "/x", "nothing": "1"}).schema()
    assert os.environ[HIDE_TRACEBACK] == ""


@pytest.mark.parametrize("options", [{"nothing": "1"}, {"columns": "nothing"}, {"paths": "/a,/b"}])
def test_what_a_source_refuses_is_one_line(monkeypatch, options):
    monkeypatch.setenv(WORKER_VARIABLE, "65536")
    monkeypatch.setenv(HIDE_TRACEBACK, "")
    with pytest.raises(BadOption) as raised:
        source = RecordsSource(options)
        source.reader(source.schema())
    (line,) = sent(raised.value).splitlines()
    assert line.startswith("kafkaviz.pipeline.datasource.source_schema.BadOption: ")


def test_a_long_value_is_cut():
    error = BadOption(message("option.no_flag", option="payload", value="x" * 1_000_000))
    assert 200 < len(str(error)) < 300 and str(error).endswith("…")
