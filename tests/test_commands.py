"""The command line: its help, its exit statuses, and errors that are one line."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from socket import create_server, socket
from time import monotonic, sleep

import pytest

import kafkaviz as kv
from kafkaviz import extras
from kafkaviz.__main__ import COMMANDS, main
from kafkaviz.app.access import parse_directories
from kafkaviz.cli import app
from kafkaviz.errors import CorruptFile
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.messages import verbatim
from tests.support.http_answer import wait_for

ROOT = Path(__file__).parents[1]
HEAVY = {"numpy", "pandas", "pyarrow", "numba", "plotly", "pyspark", "streamlit"}


@pytest.fixture
def server(monkeypatch) -> list[tuple]:
    """Returns the calls that would start the server: (program, arguments, environment)."""
    calls = []
    monkeypatch.setattr(os, "execve", lambda *call: calls.append(call))
    return calls


@pytest.fixture
def raising(monkeypatch):
    def make(error: BaseException) -> None:
        def run(args):
            raise error

        monkeypatch.setattr(app, "run", run)

    return make


def status_of(arguments: list[str]) -> int:
    """Returns the status with which argparse ends the program."""
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    return stop.value.code


@pytest.mark.parametrize("command", [*COMMANDS, None])
def test_help_ends_with_an_example(command, capsys):
    """A command with a result has --json; the one that serves pages says why it has none."""
    assert status_of([*filter(None, [command]), "--help"]) == 0
    output = capsys.readouterr().out
    assert output.splitlines()[-1].startswith(f"Example: kafkaviz {command or ''}")
    if command == "app":
        assert "there is no --json" in output
    elif command not in ("warm", None):
        assert "  --json  " in output
        assert "\n--json prints one object" in output


def test_too_many_arguments_name_the_help_of_their_command(capsys):
    """Not that of the whole command line, which has none of its arguments."""
    assert status_of(["compare", "a", "b", "c", "--odd"]) == 2
    error_text = "kafkaviz compare: unrecognized arguments: c --odd; see kafkaviz compare --help\n"
    assert capsys.readouterr().err == error_text


def test_help_names_every_part_of_the_json(data, tmp_path, capsys):
    partition = tmp_path / "nulls-0"
    shutil.copytree(data / "kafka-4.3.1" / "nulls-0", partition)
    log = partition / "00000000000000000000.log"
    log.write_bytes(log.read_bytes()[:-10])
    for arguments in (
        ["check", partition],
        ["lookup", partition, "--offset", "3"],
        ["rebuild", partition, "--out", tmp_path / "out"],
    ):
        main([*map(str, arguments), "--json"])
        keys = set(_keys(json.loads(capsys.readouterr().out)))
        assert status_of([arguments[0], "--help"]) == 0
        words = set(re.findall(r"[\w-]+", capsys.readouterr().out))
        assert {key for key in keys if "." not in key} <= words, arguments[0]


@pytest.mark.parametrize(
    ("line", "schema"),
    [
        ("check {0}", "check/1"),
        ("compare {0} {0}", "compare/1"),
        ("lookup {0} --offset 3", "lookup/1"),
        ("lookup {0}/00000000000000000000.index --offset 3", "lookup-index/1"),
        ("rebuild {0} --out {1}", "rebuild/1"),
        ("simulate --list", "simulate-list/1"),
        ("tune {0}", "tune/1"),
    ],
)
def test_json_begins_with_its_schema(line, schema, data, tmp_path, capsys):
    partition = unpack_if_archive(data / "kafka-4.3.1" / "nulls-0")
    main([*line.format(partition, tmp_path / "out").split(), "--json"])
    first, *_ = json.loads(capsys.readouterr().out).items()
    assert first == ("schema", schema)


def test_the_version_is_printed(capsys):
    assert status_of(["--version"]) == 0
    assert capsys.readouterr().out == f"kafkaviz {kv.__version__}\n"


def _keys(value) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _keys(part)


@pytest.mark.parametrize(
    "line", ["", "no-such-command", "app --port 0", "app --port http", "app --no-such-option"]
)
def test_wrong_usage_is_2(line, capsys, server):
    """It ends with 2 and one line: the reason, and where the usage is."""
    assert status_of(line.split()) == 2
    [error_line] = capsys.readouterr().err.splitlines()
    assert error_line.startswith("kafkaviz")
    assert error_line.endswith(" --help")
    assert "warm" not in error_line
    assert server == []


def test_the_command_line_is_light():
    """`kafkaviz --help` imports nothing slow."""
    script = "import sys, kafkaviz.__main__ as m; m.parser(); print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert "kafkaviz.cli.app" in modules
    assert HEAVY & set(modules) == set()


def test_an_error_is_one_line(raising, capsys):
    """An error of kafkaviz is one line on stderr, with status 2."""
    raising(CorruptFile("orders-0/00000000000000000000.log", 4096, verbatim("batch length is -1")))
    assert main(["app"]) == 2
    assert capsys.readouterr() == (
        "",
        "kafkaviz: orders-0/00000000000000000000.log, byte 4096: batch length is -1\n",
    )


def test_an_interrupt_is_130(raising, capsys):
    raising(KeyboardInterrupt())
    assert main(["app"]) == 130
    assert capsys.readouterr().err == "kafkaviz: stopped\n"


def test_the_end_waits_for_llvm(monkeypatch, capsys):
    """An exception in LLVM's callback would abort the process; it is raised soon after."""
    name = "llvmlite.binding.executionengine"
    called = {"__name__": name, "os": os, "sleep": sleep, "went_on": []}
    kill = f"os.kill(os.getpid(), {signal.SIGTERM:d})"
    exec(f"def back():\n {kill}\n sleep(0.12)\n went_on.append(True)", called)
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGALRM)
    monkeypatch.setattr(app, "run", lambda args: (called["back"](), sleep(10)))
    started = monotonic()
    assert main(["app"]) == 128 + signal.SIGTERM and called["went_on"] and monotonic() - started < 5
    assert capsys.readouterr().err == "kafkaviz: stopped\n"
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGALRM)) == before


def test_app_becomes_the_server(server, tmp_path, monkeypatch):
    """The pages get directory, master and limit from their environment; the directory is absolute."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    options = ["--port", "8600", "--master", "local[2]", "--allow-root", str(tmp_path)]
    main(["app", "data", *options, "--allow-root", "data"])
    [(program, arguments, environment)] = server
    assert program == sys.executable
    assert arguments[1:] == ["-P", "-m", "kafkaviz.serve", "8600"]
    assert environment["KAFKAVIZ_DIR"] == str(tmp_path / "data")
    assert environment["KAFKAVIZ_MASTER"] == "local[2]"
    assert environment["KAFKAVIZ_ALLOW_ROOT"] == f"{tmp_path}{os.pathsep}{tmp_path / 'data'}"


def test_a_root_with_a_colon_in_its_name_is_one_directory(server, tmp_path, monkeypatch):
    """PATH's separator would split it, and open another directory."""
    root = tmp_path / "r:oots"
    root.mkdir()
    main(["app", "--allow-root", str(root), "--lessons", str(root)])
    environment = server[0][2]
    assert (
        parse_directories(environment["KAFKAVIZ_ALLOW_ROOT"])
        == parse_directories(environment["KAFKAVIZ_LESSONS"])
        == (root,)
    )


def test_the_names_of_the_server_reach_it(server, capsys):
    main(["app", "--allow-host", "kafkaviz.example.com", "--allow-host", "viz"])
    assert server[0][2]["KAFKAVIZ_ALLOW_HOST"] == "kafkaviz.example.com,viz"
    for wrong in ("http://viz", "viz:8501", "a,b", ""):
        assert status_of(["app", "--allow-host", wrong]) == 2
        assert "is not a host name" in capsys.readouterr().err


def test_a_class_is_served_to_the_network(server, monkeypatch):
    """In the language of the command, and without uploads, unless --host names another address."""
    names = ("KAFKAVIZ_CLASS", "STREAMLIT_SERVER_ADDRESS", "STREAMLIT_SERVER_MAX_UPLOAD_SIZE")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    for line in ("app", "app --class --language zh", "app --class --host localhost"):
        main(line.split())
    settings = [[environment.get(name) for name in names] for _, _, environment in server]
    assert settings == [[None, None, None], ["zh", "0.0.0.0", "0"], ["en", "127.0.0.1", "0"]]


def test_a_size_of_uploads_is_a_number(server, monkeypatch, capsys):
    """As in Streamlit's own variable."""
    monkeypatch.setenv("STREAMLIT_SERVER_MAX_UPLOAD_SIZE", "much")
    assert main(["app"]) == 2
    assert capsys.readouterr().err == (
        "kafkaviz: STREAMLIT_SERVER_MAX_UPLOAD_SIZE is a number of MiB, not 'much'\n"
    )
    assert server == []


def test_an_address_to_listen_on_is_one_of_this_machine(server, capsys):
    for wrong in ("example.com", "1.2.3", "http://127.0.0.1", ""):
        assert status_of(["app", "--host", wrong]) == 2
        assert "is not an address to listen on" in capsys.readouterr().err
    assert main(["app", "--host", "192.0.2.1"]) == 2
    assert capsys.readouterr().err == (
        "kafkaviz: this machine has no address 192.0.2.1; give one of its own, or 0.0.0.0 for all\n"
    )
    assert server == []


def test_a_port_in_use_is_reported(server, capsys):
    with create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert main(["app", "--port", str(port)]) == 2
    error_text = capsys.readouterr().err
    assert error_text == (
        f"kafkaviz: port {port} is in use; name another, or leave out --port to use the "
        "next free one\n"
    )
    assert server == [] and main(["app", "--port", str(port)]) is None and len(server) == 1


def test_app_without_a_directory_leaves_the_choice_to_the_pages(server, monkeypatch):
    """No directory is passed on, and the shell's variables stay."""
    monkeypatch.delenv("KAFKAVIZ_DIR", raising=False)
    main(["app"])
    assert "KAFKAVIZ_DIR" not in server[0][2]
    assert server[0][1][1:] == ["-P", "-m", "kafkaviz.serve"]


def test_app_names_a_missing_directory(server, tmp_path, capsys):
    """Nothing is started, and every command says so in the same words."""
    outputs = set()
    for line in (["app"], ["check"], ["tune"], ["lookup", "--offset", "1"]):
        assert main([line[0], str(tmp_path / "nowhere"), *line[1:]]) == 2
        outputs.add(capsys.readouterr().err)
    advice = "is not there; check the path; it may have been moved or removed"
    assert outputs == {f"kafkaviz: {tmp_path / 'nowhere'}: {advice}\n"}
    assert server == []


def test_app_names_a_directory_it_may_not_read(server, tmp_path, capsys, monkeypatch):
    """Nothing is started for one that this user may not read."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert main(["app", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"kafkaviz: {tmp_path}: may not be read; copy it,")
    assert server == []


def test_app_without_its_packages_says_what_installs_them(server, capsys, monkeypatch):
    monkeypatch.setitem(extras.PACKAGES, "app", ("streamlit", "no_such_package"))
    assert main(["app"]) == 2
    assert capsys.readouterr().err == (
        "kafkaviz: this needs no_such_package, which is not installed here; "
        "run: pip install 'kafkaviz-core[app]'\n"
    )
    assert server == []


def test_a_package_that_a_command_misses_is_named(raising, capsys):
    raising(ModuleNotFoundError(name="duckdb.typing"))
    assert main(["app"]) == 2
    assert capsys.readouterr().err.endswith("run: pip install 'kafkaviz-core[app]'\n")
    raising(ModuleNotFoundError(name="no_such_package"))
    with pytest.raises(ModuleNotFoundError):
        main(["app"])


def test_app_answers_soon_and_to_this_machine_alone(tmp_path):
    """From another directory, on 127.0.0.1 and on nothing else, with the checkout's settings."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "kafkaviz", "app", "--port", str(port)]
    own = {name: text for name, text in os.environ.items() if not name.startswith("STREAMLIT_")}
    environment = own | {"PYTHONPATH": str(ROOT)}  # this checkout, whichever one is installed
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            assert wait_for(f"http://127.0.0.1:{port}/_stcore/health", seconds=30) == b"ok"
            addresses = listening_addresses(port)
        finally:
            process.terminate()
            output = process.communicate()[0].decode()
    assert f"http://127.0.0.1:{port}" in output
    assert addresses == [f"0100007F:{port:04X}"]


def listening_addresses(port: int) -> list[str]:
    """Returns who listens on a port, by /proc/net; not known without Linux."""
    files = [Path("/proc/net/tcp"), Path("/proc/net/tcp6")]
    if not files[0].exists():
        pytest.skip("needs Linux to tell who listens where")
    rows = [line.split() for file in files for line in file.read_text().splitlines()[1:]]
    is_listening = "0A"
    return [row[1] for row in rows if row[3] == is_listening and row[1].endswith(f":{port:04X}")]


def test_a_reader_that_stops_is_no_error(data):
    """As with `| head -1`: no traceback."""
    command = f"{sys.executable} -m kafkaviz dump {next(data.rglob('*.log'))} --print-data-log"
    line = f"{{ {command}; echo $? >&2; }} | head -1"
    done = subprocess.run(line, shell=True, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.startswith("Dumping ") and "Traceback" not in done.stderr
    assert done.stderr.split()[-1] in ("0", "141")  # as fast as head was


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device without room")
@pytest.mark.parametrize("command", ["check {} --json", "simulate --list"])
def test_output_that_finds_no_room_is_one_line(data, command):
    """Status 2, since 1 means a finding for check; no traceback."""
    line = command.format(data / "kafka-4.3.1" / "nulls-0")
    with open("/dev/full", "w") as full:
        program = [sys.executable, "-m", "kafkaviz", *line.split()]
        done = subprocess.run(program, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "kafkaviz: No space left on device\n"
