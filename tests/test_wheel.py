"""The content of an installed wheel: the whole app, or the core alone, from any folder."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import kafkaviz
from docs.browsing import started
from tests.support.http_answer import wait_for

pytest.importorskip("hatchling", reason="needs hatchling: pip install -r requirements-dev.txt")

ROOT = Path(__file__).parents[1]
# kafkaviz_core's own dependencies, and what those need
CORE_MODULES = (
    *("numpy", "numpy.libs", "numba", "llvmlite"),
    *("crc32c", "crc32c-*", "cramjam", "zlib_ng", "zstandard"),
)
CHECKOUT = "kafkaviz/checkout/"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> dict[str, Path]:
    """Returns the wheels of both distributions, by the first words of their names."""
    out = tmp_path_factory.mktemp("wheels")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    for folder in (ROOT, ROOT / "distributions" / "kafkaviz"):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return {path.name.partition("-")[0]: path for path in out.glob("*.whl")}


@pytest.fixture(scope="module")
def core(wheels, tmp_path_factory) -> Path:
    """Returns the Python of a virtual environment that has the core, and no extra."""
    return environment(wheels, tmp_path_factory.mktemp("core"), CORE_MODULES)


@pytest.fixture(scope="module")
def whole(wheels, tmp_path_factory) -> Path:
    """Returns the Python of one that has the core's wheel before all packages installed here."""
    python = environment(wheels, tmp_path_factory.mktemp("whole"), ())
    site_packages(python).joinpath("here.pth").write_text(
        "\n".join(path for path in sys.path if path.endswith("site-packages")) + "\n"
    )
    return python


@pytest.fixture(scope="module")
def app(whole, tmp_path_factory) -> Iterator[str]:
    """Yields the address of that environment's app, started in a folder of its own."""
    folder = tmp_path_factory.mktemp("app")
    with started(folder, python=whole, cwd=folder) as (address, _):
        yield address


def environment(wheels: dict[str, Path], folder: Path, modules: tuple[str, ...]) -> Path:
    """Creates a virtual environment with the core's wheel, and links to modules of this one."""
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    site = site_packages(python)
    with zipfile.ZipFile(wheels["kafkaviz_core"]) as wheel:
        wheel.extractall(site)
    take_compiled(site)
    homes = [Path(path) for path in sys.path if path.endswith("site-packages")]
    for found in (found for home in homes for name in modules for found in home.glob(name)):
        if not site.joinpath(found.name).exists():  # the first on the path is imported
            site.joinpath(found.name).symlink_to(found)
    return python


def take_compiled(site: Path) -> None:
    """Copies the compiled code of Python and numba, a minute's work, which go by a file's time."""
    for path in ROOT.glob("kafkaviz/**/__pycache__/*"):
        if path.suffix in (".pyc", ".nbi", ".nbc"):  # not what another process is writing just now
            target = site / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    for path in site.glob("kafkaviz/**/*.py"):
        source = ROOT / path.relative_to(site)
        if source.is_file() and source.read_bytes() == path.read_bytes():
            shutil.copystat(source, path)


def site_packages(python: Path) -> Path:
    """Returns the folder of a virtual environment's packages."""
    scheme = {"base": str(python.parents[1]), "platbase": str(python.parents[1])}
    return Path(sysconfig.get_path("purelib", "venv", vars=scheme))


def run(python: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess:
    variables = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [python, *arguments], cwd=cwd, env=variables, capture_output=True, text=True
    )


def test_the_core_holds_all_that_is_in_git(wheels):
    """Every file of the package, the files next to it, and Spark's modules."""
    folders = ["kafkaviz", "app.py", "pages", ".streamlit", "sample_data", "*.py"]
    git = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True)
    if git.returncode != 0:
        pytest.skip("not a git checkout: there is no list of tracked files")
    beside = ("app.py", "pages/", ".streamlit/", "sample_data/")
    spark = "distributions/spark/"
    expected = {
        CHECKOUT + name if name.startswith(beside) else name.removeprefix(spark)
        for name in git.stdout.split()
        if name.startswith((*beside, "kafkaviz/", spark))
    }
    names = set(zipfile.ZipFile(wheels["kafkaviz_core"]).namelist())
    assert expected - names == set()
    assert {f"{CHECKOUT}app.py", f"{CHECKOUT}.streamlit/config.toml"} <= names


def test_the_whole_is_the_core_of_the_same_version(wheels):
    """One version, of kafkaviz/__init__.py, in both names and in the requirement of one."""
    version = kafkaviz.__version__
    wheel = zipfile.ZipFile(wheels["kafkaviz"])
    metadata = wheel.read(f"kafkaviz-{version}.dist-info/METADATA").decode()
    assert f"Requires-Dist: kafkaviz-core[all]=={version}\n" in metadata
    assert wheels["kafkaviz_core"].name.startswith(f"kafkaviz_core-{version}-")
    code = [name for name in wheel.namelist() if ".dist-info/" not in name]
    assert code == []


@pytest.mark.slow
def test_the_core_alone_checks_looks_up_and_dumps(core, tmp_path, killed):
    """With the codecs, on the sample in the wheel."""
    where = "from kafkaviz.environment import SAMPLES; print(SAMPLES)"
    samples = run(core, "-c", where, cwd=tmp_path).stdout.strip()
    assert Path(samples).is_relative_to(core.parents[1])
    command = ("-m", "kafkaviz")
    damaged = f"{samples}/kafka-4.3.1-damaged.tar.gz"
    check = run(core, *command, "check", damaged, cwd=tmp_path)
    assert check.returncode == 1 and "errors" in check.stdout
    clean = f"{samples}/kafka-4.3.1-clean.tar.gz"
    lookup = run(
        core, *command, "lookup", f"{clean}/clicks-zstd-0", "--offset", "500", cwd=tmp_path
    )
    assert (lookup.returncode, lookup.stderr) == (0, "")
    log = next((killed / "clicks-zstd-0").glob("*.log"))
    dump = run(core, *command, "dump", str(log), "--print-data-log", cwd=tmp_path)
    assert "payload:" in dump.stdout and "Traceback" not in dump.stderr


# a command or a call: the packages that it names, and their extra
LACKING = {
    "run app": ("streamlit, plotly, pandas, pyarrow, duckdb and segno", "app"),
    "run report . -o r.html": ("plotly", "app"),
    "run ingest . --catalog c": ("pyspark, pandas and pyarrow", "spark"),
    "run check s3://bucket/broker": ("pyarrow", "remote"),
    "run records .": ("pyarrow", "arrow"),
    "pipeline.register(None)": ("pyspark, pandas and pyarrow", "spark"),
    "session.session()": ("pyspark, pandas and pyarrow", "spark"),
    "kv.plot.broker(None)": ("plotly", "app"),
    "kv.open_broker('s3://bucket/broker')": ("pyarrow", "remote"),
    "kv.records('.')": ("pyarrow", "arrow"),
}
ASK_FOR_EACH = """
import contextlib, io, json, sys
import kafkaviz as kv
from kafkaviz import pipeline
from kafkaviz.__main__ import main
from kafkaviz.extras import MissingPackages
from kafkaviz.pipeline.spark import session
answers = {}
for call in sys.argv[1:]:
    error = io.StringIO()
    with contextlib.redirect_stderr(error):
        try:
            status = main(call.split()[1:]) if call.startswith("run ") else eval(call)
            answers[call] = [status, error.getvalue()]
        except MissingPackages as missing:
            answers[call] = [2, f"kafkaviz: {missing}\\n"]
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def answers(core, tmp_path_factory) -> dict[str, list]:
    """Returns what the core answers to each of them, in a process without any extra."""
    done = run(core, "-c", ASK_FOR_EACH, *LACKING, cwd=tmp_path_factory.mktemp("lacking"))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("call", LACKING)
def test_the_core_says_what_it_lacks(answers, call):
    """One line with the install command; status 2 of a command, MissingPackages of a function."""
    packages, extra = LACKING[call]
    verb = "are" if " and " in packages else "is"
    line = f"this needs {packages}, which {verb} not installed here"
    install = f"run: pip install 'kafkaviz-core[{extra}]'"
    assert answers[call] == [2, f"kafkaviz: {line}; {install}\n"]


@pytest.mark.slow
def test_the_app_of_a_wheel_answers_from_another_folder(app):
    """With the settings and the pages of the wheel."""
    assert wait_for(f"{app}/_stcore/health", seconds=60) == b"ok"
    assert b"<title>" in wait_for(f"{app}/lookup", seconds=60)


@pytest.mark.slow
@pytest.mark.browser
def test_a_browser_sees_the_sample_of_a_wheel(app, browser):
    """The Broker page of the first sample, then a lesson, whose figures read it too."""
    from tests.support.browser import watched

    with watched(browser) as page:
        page.goto(app)
        page.get_by_role("heading", level=1, name="37 topic-partitions").wait_for()
        page.goto(f"{app}/workshop?lesson=three-files")
        page.get_by_role("heading", level=1).wait_for()
        assert page.locator(".kv-figt").first.inner_text() == "4 segments of heartbeat-0"
