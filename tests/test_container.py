"""The Dockerfile and compose.yaml: their paths exist, and the app is started correctly."""

import ast
import json
from fnmatch import fnmatch
from pathlib import Path

import yaml

from kafkaviz.__main__ import parser

ROOT = Path(__file__).parents[1]
STEPS = [
    tuple(line.split(maxsplit=1))
    for line in (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", "").splitlines()
    if line and not line.startswith("#")
]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))


def arguments(instruction: str) -> list[str]:
    return [text for name, text in STEPS if name == instruction][-1:]


def copied() -> list[str]:
    """Returns the paths of the checkout that the build takes."""
    lines = [text.split() for name, text in STEPS if name == "COPY" and "--from" not in text]
    return [source for *sources, _ in lines for source in sources]


def test_what_is_copied_is_there_and_sent():
    """.dockerignore leaves everything else out."""
    ignore = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    sent = [line.removeprefix("!") for line in ignore if line.startswith("!")]
    assert "*" in ignore
    assert [source for source in copied() if not list(ROOT.glob(source))] == []
    assert sorted(sent) == sorted(copied())


def test_all_that_a_wheel_is_made_of_is_copied():
    tree = ast.parse((ROOT / "hatch_build.py").read_text(encoding="utf-8"))
    [beside] = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "BESIDE"
    ]
    needed = {*beside, "kafkaviz", "hatch_build.py", "pyproject.toml", "README.md", "LICENSE"}
    assert needed <= set(copied())
    modules = [path.name for path in ROOT.glob("pyspark_*.py")]
    assert [name for name in modules if not any(fnmatch(name, text) for text in copied())] == []


def test_the_app_opens_what_is_mounted_and_nothing_else():
    """The command of the image, as the command line reads it."""
    [entry], [extra] = arguments("ENTRYPOINT"), arguments("CMD")
    program, *options = [*json.loads(entry), *json.loads(extra)]
    args = parser().parse_args(options)
    assert (program, args.host, args.port) == ("kafkaviz", "0.0.0.0", 8501)
    assert args.allow_root == [Path("/data")] and args.directories == [Path("/data")]


def test_it_runs_as_somebody_who_is_not_root():
    """By number, which an orchestrator can check; nothing is installed after that."""
    names = [name for name, _ in STEPS]
    [user] = arguments("USER")
    assert int(user) > 0
    assert "RUN" not in names[names.index("USER") :]


def test_it_says_whether_it_is_well():
    """At the port that it listens on, which is the exposed one."""
    [check], [port] = arguments("HEALTHCHECK"), arguments("EXPOSE")
    assert f"http://127.0.0.1:{port}/_stcore/health" in check


def test_compose_mounts_the_broker_to_be_read_alone():
    """On a read-only file system, at this machine's own address."""
    [service] = COMPOSE["services"].values()
    [data, cache] = service["volumes"]
    assert data.endswith(":/data:ro") and data.startswith("${BROKER:?")
    assert cache.partition(":")[0] in COMPOSE["volumes"]
    assert service["ports"] == ["127.0.0.1:8501:8501"]
    assert service["read_only"] is True and service["cap_drop"] == ["ALL"]
    assert arguments("VOLUME") == [cache.partition(":")[2]]
