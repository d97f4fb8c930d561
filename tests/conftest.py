"""Fixtures and options of all tests."""

import gc
import hashlib
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from docs.browsing import CHROMIUM, chromium, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from pyspark.sql import SparkSession
    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

    from kafkaviz.pipeline.ingest.job import Ingest
    from tests.support.object_store import ObjectStore

# how long an example takes says more of the machine than of the code
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")
# what a thousand tests have left is much to search for garbage: by default a sixth of their time
gc.set_threshold(50_000, 20, 100)
# a shell may export it, and workers of pytest-xdist have it: text is as wide as that says
os.environ.pop("COLUMNS", None)

DATA = Path(__file__).parent / "data"
SAMPLES = Path(__file__).parents[1] / "sample_data"
REPLICAS = [SAMPLES / f"kafka-4.4.0-replica-{number}.tar.gz" for number in (1, 2)]
SOME_PARTITIONS = (
    *("__consumer_offsets-0", "__transaction_state-0", "accounts-0", "accounts-1"),
    *("clicks-gzip-0", "clicks-mixed-0", "clicks-zstd-0", "eu-west.audit-log-0", "nulls-0"),
    *("orders-1", "orders-2", "refunds-0", "refunds-1", "sensors-seconds-0"),
    "empty-room-0",  # the first of the checkpoint of recovery points
)
ROOMS = ("browser", "Spark", "")
# one process parses the Python of the product for all of these: tests/support/sources.py
READERS = (
    *("tests/docs/test_dependencies.py", "tests/docs/test_docstrings.py"),
    *("tests/render/test_sentence_joins.py", "tests/messages/test_catalogues.py"),
    *("tests/test_errors.py", "tests/test_floors.py", "tests/test_names.py"),
    *("tests/test_once.py", "tests/test_ratchets.py", "tests/test_versions.py"),
)
# some of their tests take the server, or the browser
SERVED = ("tests/app/test_compression.py", "tests/app/test_server.py", "tests/test_report.py")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> "LoadScopeScheduling":
    """Gives one process the browser and its server, and one Spark; their files run only there."""
    from xdist.scheduler import LoadScopeScheduling

    class RoomScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = nodeid.partition("::")[0]
            return _room(path) or ("readers" if path in READERS else path)

    return RoomScheduling(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure() -> None:
    """Leaves pytest no garbage to search for at its end.

    The search takes seconds in a process that has run thousands of tests. After five seconds xdist
    sends the process a SIGINT, and a KeyboardInterrupt is printed after the dots.
    """
    gc.freeze()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Marks tests that use the Spark session, directly or by a fixture."""
    if "spark" in getattr(item, "fixturenames", ()):
        item.add_marker("spark")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Moves files that only one process may run to the front, then the slow ones."""
    if not hasattr(config, "workerinput"):
        return
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    tests = Counter(item.path for item in items)
    items.sort(
        key=lambda item: (
            ROOMS.index(_room(item.nodeid)),
            -slow[item.path],
            -tests[item.path],
            item.path,
        )
    )


def _room(nodeid: str) -> str:
    """Returns the shared service that a file needs: the browser, Spark or nothing."""
    path = nodeid.partition("::")[0]
    if path.endswith("_browser.py") or path.startswith("tests/journeys/") or path in SERVED:
        return "browser"
    return "Spark" if path.startswith(("tests/pipeline/", "tests/examples/")) else ""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips browser tests without a browser, before anything is started for them."""
    if item.get_closest_marker("browser"):
        pytest.importorskip(
            "playwright.sync_api", reason="needs playwright: pip install -r requirements-dev.txt"
        )
        if CHROMIUM is None:
            pytest.skip("needs Chromium: on Debian and Ubuntu, apt-get install chromium")


@pytest.fixture(scope="session")
def data() -> Path:
    """Returns the small files kept with the tests; tests/data/README.md says where each came from."""
    return DATA


@pytest.fixture(scope="session")
def shared() -> Path:
    """Returns the folder of whole broker directories (data/) and Kafka's answers (vectors/)."""
    folder = Path(os.environ.get("KAFKAVIZ_SHARED") or Path(__file__).parents[2] / "shared")
    if not folder.is_dir():
        pytest.skip(
            "needs the folder of recorded broker directories: set KAFKAVIZ_SHARED or put it at "
            f"{folder}"
        )
    return folder


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gives the tests a cache folder of their own, with the user's archive of Spark's classes."""
    from kafkaviz.log.archives.archive import cache_folder
    from kafkaviz.pipeline.spark.java import ARCHIVE_FOLDER

    folder = tmp_path_factory.mktemp("cache")
    if (cache_folder() / ARCHIVE_FOLDER).is_dir():
        (folder / ARCHIVE_FOLDER).symlink_to(cache_folder() / ARCHIVE_FOLDER)
    os.environ["KAFKAVIZ_CACHE"] = str(folder)
    return folder


@pytest.fixture(autouse=True)
def own_main() -> Iterator[None]:
    """Restores __main__, which a page in AppTest replaces and a spawned process would run."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(autouse=True)
def unconfined() -> Iterator[None]:
    """Undoes the confinement of this process by a page with limited access."""
    yield
    os.environ.pop("KAFKAVIZ_CONFINED_TO", None)


@pytest.fixture(scope="module", autouse=True)
def garbage() -> Iterator[None]:
    """Undoes a page's change of the garbage collector."""
    yield
    garbage = sys.modules.get("kafkaviz.app.scheduling")
    if garbage and garbage._freeze_after_long_collection in gc.callbacks:
        gc.callbacks.remove(garbage._freeze_after_long_collection)
        gc.unfreeze()


@pytest.fixture(scope="session")
def clean(cache: Path) -> Path:
    """Returns the directory of a 4.3.1 broker that was stopped cleanly."""
    return _unpack(SAMPLES / "kafka-4.3.1-clean.tar.gz")


@pytest.fixture(scope="session")
def some_partitions(clean: Path, cache: Path) -> Path:
    """Returns a tenth of it: every codec, closed segments, compacted topics and transactions."""
    from tests.support.brokers import copy_partitions

    return copy_partitions(clean, cache / "some-partitions", SOME_PARTITIONS)


@pytest.fixture(scope="session")
def killed(cache: Path) -> Path:
    return _unpack(SAMPLES / "kafka-4.3.1-killed-selection.tar.gz")


@pytest.fixture(scope="session")
def damaged(cache: Path) -> Path:
    """Returns a directory of a 4.3.1 broker whose index files were damaged by hand."""
    return _unpack(SAMPLES / "kafka-4.3.1-damaged.tar.gz")


@pytest.fixture(scope="session")
def unstartable(cache: Path) -> Path:
    """Returns a 4.3.1 broker's partition that no start loads, with its metadata log."""
    return _unpack(DATA / "kafka-4.3.1-unstartable-excerpt.tar.gz")


@pytest.fixture(scope="session")
def restarted_4_4(cache: Path) -> Path:
    """Returns the metadata log and one partition of a 4.4.0 broker that recovered them and was
    stopped cleanly; two closed segments lost a trim.
    """
    return _unpack(DATA / "kafka-4.4.0-killed-restarted-excerpt.tar.gz")


@pytest.fixture(scope="session")
def disks(cache: Path) -> Path:
    """Returns the folder of three log directories of a 4.4.0 broker that was killed in a write."""
    return _unpack(DATA / "kafka-4.4.0-jbod-killed-excerpt.tar.xz")


@pytest.fixture(scope="session")
def tiered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Returns the log directory and the store of a 4.3.1 broker with tiered storage."""
    from tests.support.tiered_storage import unpack

    return unpack(tmp_path_factory.mktemp("tiered"))


@pytest.fixture(scope="session")
def server_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server-cache")


@pytest.fixture(scope="session")
def server(clean: Path, server_cache: Path) -> Iterator[str]:
    """Yields the address of an app on the sample broker, with its catalog."""
    from tests.support.ingest import ingest_for_app

    ingest_for_app(clean, server_cache)
    with serving(server_cache, str(clean)) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: "Browser") -> Iterator["Page"]:
    """Yields a page of 1280 px; the test fails if its console shows an error."""
    from tests.support.browser import watched

    with watched(browser) as page:
        yield page


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> Callable[..., "Ingest"]:
    """Returns a function that runs an ingest whose tasks run in this process, pickled as for a
    worker: everything but Spark, in milliseconds.
    """
    from tests.support import ingest

    ingest.without_spark(monkeypatch)
    return ingest.run_ingest


@pytest.fixture(scope="session")
def _stopped_at_the_end(cache: Path) -> Iterator[None]:
    """Stops the session, which would otherwise complain when the test run ends."""
    yield
    from kafkaviz.pipeline.spark.session import session
    from tests.support.ingest import MASTER

    session(MASTER).stop()


@pytest.fixture
def spark(_stopped_at_the_end: None) -> "SparkSession":
    """Returns the session of the whole test run, recreated only after a test that had one of
    another master.

    A sort or a join of some rows is two tasks, not Spark's two hundred.
    """
    from kafkaviz.pipeline.spark.session import session
    from tests.support.ingest import MASTER

    spark = session(MASTER)
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    return spark


@pytest.fixture
def fingerprint() -> Callable[[Path], dict[str, tuple]]:
    """Returns everything about the files of a folder that a reader must leave unchanged."""
    return _fingerprint


def _fingerprint(folder: Path) -> dict[str, tuple]:
    files = {}
    for path in sorted(folder.rglob("*")):
        stat = path.stat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        name = path.relative_to(folder).as_posix()
        files[name] = (stat.st_size, stat.st_mtime_ns, stat.st_mode, content)
    return files


def _unpack(archive: Path) -> Path:
    from kafkaviz.log.archives.archive import unpack_if_archive

    return unpack_if_archive(archive)


@pytest.fixture(scope="session")
def object_store_server() -> Iterator["ObjectStore"]:
    from tests.support.object_store import serving_objects

    with serving_objects() as store:
        yield store


@pytest.fixture
def object_store(
    object_store_server: "ObjectStore", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator["ObjectStore"]:
    """Yields the server with keys in the environment, an empty cache, and no counted requests."""
    from kafkaviz.log.remote import file_system, mirror
    from tests.support.object_store import KEYS

    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", object_store_server.url)
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path / "cache"))
    object_store_server.requests.clear()
    mirror.forget()
    file_system.forget_objects()
    yield object_store_server
    object_store_server.fault = None
