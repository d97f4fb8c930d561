"""kafkaviz records: the file, what it refuses, and what is left when it stops."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kafkaviz as kv
from kafkaviz.__main__ import main
from kafkaviz.errors import KafkavizError
from kafkaviz.messages import message, say, say_count
from kafkaviz.pipeline.datasource import arrow_rows
from tests.pipeline import whole_logs
from tests.support.commands import json_of, refusal_of


@pytest.fixture
def directory(tmp_path) -> Path:
    """Returns a broker directory with 20 records of one topic."""
    directory = whole_logs.broker(tmp_path / "made")
    batches = [whole_logs.batch(number * 10, [whole_logs.START_MS] * 10) for number in range(2)]
    whole_logs.write(directory / "t-0", batches)
    return directory


READ = {
    ".parquet": pq.read_table,
    ".arrow": lambda path: pa.ipc.open_file(path.read_bytes()).read_all(),
}


@pytest.mark.parametrize("suffix", READ)
def test_a_file_of_the_records(directory, tmp_path, suffix, capsys):
    out = tmp_path / f"rows{suffix}"
    assert main(["records", str(directory / "t-0"), "--payload", "bytes", "-o", str(out)]) == 0
    expected = kv.records(directory / "t-0", payload="bytes").to_arrow()
    assert READ[suffix](out).to_pylist() == expected.to_pylist()
    size = out.stat().st_size
    written = say_count("cli_records.written", 20, file=out, size=size)
    assert capsys.readouterr().out == f"{written}\n"


def test_json_lines_on_stdout_and_in_a_file(directory, tmp_path, capfdbinary):
    command = ["records", str(directory), "--offsets", "5-7", "--columns", "offset,value"]
    command += ["--payload", "text"]
    assert main(command) == 0
    printed = capfdbinary.readouterr().out
    lines = [json.loads(line) for line in printed.splitlines()]
    assert [line["offset"] for line in lines] == [5, 6, 7]
    records = kv.records(directory, offsets="5-7", columns="offset,value", payload="text")
    assert lines == records.to_arrow().to_pylist()
    out = tmp_path / "rows.jsonl"
    assert main([*command, "-o", str(out)]) == 0
    assert out.read_bytes() == printed


def test_the_summary_as_json(directory, tmp_path):
    """With how many rows are problems."""
    log = directory / "t-0" / f"{0:020d}.log"
    log.write_bytes(log.read_bytes()[:-10])
    out = tmp_path / "rows.arrow"
    command = ["records", str(directory), "--mode", "PERMISSIVE", "--columns", "offset,problem"]
    assert json_of(*command, "-o", out) == {
        "schema": "records/1",
        "file": str(out),
        "bytes": out.stat().st_size,
        "rows": 11,
        "problems": 1,
        "columns": [{"name": "offset", "type": "int64"}, {"name": "problem", "type": "string"}],
    }


@pytest.mark.parametrize(
    ("options", "start"),
    [
        (["--mode", "SLOPPY"], "option mode"),
        (["--offsets", "9-1"], "option offsets"),
        (["--json"], say("cli_records.json_needs_file")),
    ],
)
def test_a_wrong_option_is_one_line(directory, options, start):
    assert refusal_of("records", directory, *options).startswith(f"kafkaviz: {start}")


@pytest.mark.parametrize("name", ["rows.csv", ".parquet", "rows"])
def test_another_kind_of_file_is_refused(directory, tmp_path, name):
    suffixes = (".parquet", ".arrow", ".jsonl")
    expected = say("cli_records.no_format", text=str(tmp_path / name), suffixes=suffixes)
    assert expected in refusal_of("records", directory, "-o", tmp_path / name)


@pytest.mark.parametrize("place", ["made", "made/t-0", "other/u-3"])
def test_nothing_is_written_among_files_of_kafka(directory, tmp_path, place, fingerprint):
    """Neither in the inspected directories nor in another one."""
    whole_logs.write(whole_logs.broker(tmp_path / "other") / "u-3", [])
    before = fingerprint(tmp_path)
    out = tmp_path / place / "rows.parquet"
    for inspected in (directory, directory / "t-0"):
        assert refusal_of("records", inspected, "-o", out).startswith(f"kafkaviz: {out}: ")
    assert fingerprint(tmp_path) == before


@pytest.mark.parametrize("fault", [KafkavizError(message("cli.stopped")), KeyboardInterrupt()])
def test_a_file_is_replaced_only_by_a_complete_one(directory, tmp_path, fault, monkeypatch):
    """Neither an error nor an interrupt leaves a part, or a temporary file."""
    out = tmp_path / "rows.parquet"
    out.write_bytes(b"the one before")

    def write(stream, schema, batches):
        stream.write(b"a part")
        raise fault

    monkeypatch.setitem(arrow_rows.WRITERS, ".parquet", write)
    assert main(["records", str(directory), "-o", str(out)]) != 0
    assert out.read_bytes() == b"the one before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made", "rows.parquet"]
    monkeypatch.undo()
    assert main(["records", str(directory), "-o", str(out)]) == 0
    assert pq.read_table(out).num_rows == 20


def test_damage_ends_with_one_line(directory, tmp_path):
    log = directory / "t-0" / f"{0:020d}.log"
    data = bytearray(log.read_bytes())
    data[-1] ^= 1
    log.write_bytes(data)
    out = tmp_path / "rows.parquet"
    assert refusal_of("records", directory, "-o", out).startswith(f"kafkaviz: {log}, ")
    assert not out.exists()


@pytest.mark.parametrize("topics", ["nosuch", "t,nosuch", "no*uch"])
def test_a_topic_that_is_not_there_is_one_line(directory, tmp_path, topics):
    out = tmp_path / "rows.jsonl"
    expected = say("cli_records.no_such_topic", name=topics.removeprefix("t,"), topics=("t",))
    error = refusal_of("records", directory, "--topics", topics, "-o", out)
    assert error == f"kafkaviz: {expected}\n"
    assert not out.exists()


def test_what_cannot_be_read_names_the_options_of_this_command(directory, tmp_path):
    log = directory / "t-0" / f"{0:020d}.log"
    log.write_bytes(log.read_bytes()[:-1] + b"!")
    command = ["records", str(directory), "-o", str(tmp_path / "rows.jsonl")]
    printed = refusal_of(*command)
    assert printed.endswith(f"; {say('cli_records.permissive_or_drop')}\n")
    assert "mode=" not in printed
    assert main([*command, "--mode", "DROPMALFORMED"]) == 0
