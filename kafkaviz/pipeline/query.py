"""A question to a catalog, answered by Spark in a thread of its own: watched, waited for and cancelled from any other."""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from kafkaviz.errors import KafkavizError
from kafkaviz.pipeline import catalog, sql
from kafkaviz.pipeline.catalog_info import CatalogInfo
from kafkaviz.pipeline.run import CANCELLED_WITHIN_S, Cancelled, in_one_line
from kafkaviz.pipeline.schema import TABLES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

MOST_ROWS = 10_000  # of an answer
CELL_CHARACTERS, LEAST_CHARACTERS = 5000, 500  # of a text in an answer, all columns of a row together, but each at least so many
COUNTED_WITHIN_S = 3.0  # all the rows of an answer that was cut; else their number stays unknown
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.codegen.wholeStage": "false",  # else all that joins one row of a cross join is held at once, and the JVM runs out of memory
    "spark.sql.variable.substitute": "false",  # ${env:HOME} is text, and tells nothing of the server
    "spark.sql.runSQLOnFiles": "false",  # no SELECT * FROM parquet.`/any/file`
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",  # names of files are known: no job to look for them
}
OVER = ("done", "failed", "cancelled")


class Lost(KafkavizError):
    """Spark's Java process ended while it worked on a query; the next one starts it again."""


@dataclass(frozen=True)
class Answer:
    """rows: the first MOST_ROWS at most; all_rows: how many there would be, None where counting took too long.

    cut_at: a text ends in … behind so many characters, 0 where none was cut.
    """

    rows: pa.Table
    all_rows: int | None
    seconds: float
    cut_at: int = 0

    @property
    def is_cut(self) -> bool:
        """Whether there are more."""
        return self.all_rows is None or self.all_rows > self.rows.num_rows


@dataclass(frozen=True)
class QueryProgress:
    """How far a query is. state: "starting" (Spark itself), "running", at last "done", "failed" or "cancelled"."""

    state: str
    done_tasks: int = 0
    total_tasks: int = 0  # of the stages that Spark knows of so far
    seconds: float = 0.0


class Query:
    """A query; it starts at once."""

    def __init__(self, catalog_path: Path, text: str, master: str = "local[*]", most_rows: int = MOST_ROWS) -> None:
        """text: one SELECT over the tables of the catalog."""
        self.text = text
        self.group = f"kafkaviz-{uuid.uuid4().hex}"  # of its Spark jobs
        self._path, self._master, self._most_rows = catalog_path, master, most_rows
        self._spark: SparkSession | None = None
        self._state, self._turn, self._over = "starting", threading.Lock(), threading.Event()
        self._answer: Answer | None = None
        self._error: KafkavizError | None = None
        self._started_at = time.monotonic()
        self._ended_at: float | None = None
        self._thread = threading.Thread(target=self._run, name="kafkaviz-query", daemon=True)
        self._thread.start()

    def progress(self) -> QueryProgress:
        """How far it is now; takes some milliseconds, since Spark is asked."""
        state = self._state
        done, total = self._tasks() if state == "running" else (0, 0)
        return QueryProgress(state, done, total, (self._ended_at or time.monotonic()) - self._started_at)

    @property
    def is_over(self) -> bool:
        """Whether it has ended, well or not."""
        return self._over.is_set()

    @property
    def error(self) -> KafkavizError | None:
        """What it failed of: sql.Wrong where the query is to blame, Lost where Spark ended, or another."""
        return self._error if self._state == "failed" else None

    def cancel(self) -> None:
        """Ends it, within about a second where Spark works on it; while Spark itself still starts, that goes on."""
        if not self._ends("cancelled"):
            return
        if self._spark is not None:
            with suppress(Exception):  # without its JVM the query ends anyway
                self._spark.sparkContext._jsc.sc().cancelJobGroupAndFutureJobs(self.group)
        self._thread.join(CANCELLED_WITHIN_S)

    def wait(self, timeout_s: float | None = None) -> Answer | None:
        """The answer; None where it takes longer than timeout_s. Raises Cancelled, or what went wrong."""
        if not self._over.wait(timeout_s):
            return None
        if self._state == "cancelled":
            raise Cancelled("the query was cancelled")
        if self._error is not None:
            raise self._error
        return self._answer

    def _run(self) -> None:
        try:
            answer = self._answered()
            with self._turn:
                self._answer = answer
            self._ends("done")
        except Exception as fault:
            with self._turn:
                self._error = self._told(fault)
            self._ends("failed")

    def _ends(self, state: str) -> bool:
        """Whether this is how it ends: an end comes once."""
        with self._turn:
            if self._state in OVER:
                return False
            self._state, self._ended_at = state, time.monotonic()
        self._over.set()
        return True

    def _answered(self) -> Answer:
        from kafkaviz.pipeline.session import session

        info = catalog.read_info(self._path)
        spark = session(self._master)
        with self._turn:
            if self._state in OVER:
                raise Cancelled("the query was cancelled")
            self._spark, self._state = spark, "running"
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)  # the page tells what is wrong with a query
        spark.sparkContext.setJobGroup(self.group, "kafkaviz query", interruptOnCancel=True)
        while True:
            try:
                return self._ask(spark, info)
            except Exception:
                was, info = info, catalog.read_info(self._path)
                if was == info or self._over.is_set():  # else an ingest has just replaced the files that were read
                    raise

    def _ask(self, spark: "SparkSession", info: CatalogInfo) -> Answer:
        """In a session of its own: other catalogs have tables of the same names."""
        began = time.monotonic()
        own = spark.newSession()
        for name, value in SETTINGS.items():
            own.conf.set(name, value)
        for table in sql.tables(own, self.text):
            _table(own, self._path, info, table).createOrReplaceTempView(table)
        found, most = _storable(own.sql(self.text))
        rows = found.limit(self._most_rows + 1).toArrow()
        seconds, shown = time.monotonic() - began, rows.slice(0, self._most_rows)
        all_rows = rows.num_rows if rows.num_rows <= self._most_rows else self._counted(spark, found)
        return Answer(shown, all_rows, seconds, most if _is_cut(shown, most) else 0)

    def _counted(self, spark: "SparkSession", found: "DataFrame") -> int | None:
        """How many rows there are in all, if that can be told soon."""
        with _given_up(spark, f"{self.group}-count", COUNTED_WITHIN_S), suppress(Exception):
            return found.count()
        return None

    def _tasks(self) -> tuple[int, int]:
        """How many tasks have ended, of how many."""
        try:
            tracker = self._spark.sparkContext.statusTracker()
            jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(self.group)]
            stages = [stage for job in jobs if job for one in job.stageIds if (stage := tracker.getStageInfo(one))]
            return sum(one.numCompletedTasks for one in stages), sum(one.numTasks for one in stages)
        except Exception:  # the JVM may be gone; the query itself will say so
            return 0, 0

    def _told(self, fault: Exception) -> KafkavizError:
        """The fault in one line."""
        from kafkaviz.pipeline.session import alive

        if isinstance(fault, KafkavizError):
            return fault
        if self._spark is not None and not alive(self._spark):
            return Lost("Spark's Java process ended while it worked on the query")
        try:
            return sql.wrong(fault) or in_one_line(fault, "the query")
        except Exception:  # its JVM ended just now, so that not even its words can be had
            return Lost("Spark's Java process ended while it worked on the query")


def _table(spark: "SparkSession", path: Path, info: CatalogInfo, name: str) -> "DataFrame":
    """A table of the catalog, of the files that its description names."""
    from pyspark.sql import functions as F
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = from_arrow_schema(TABLES[name])
    files = [str(path / name / file) for file in info.tables[name]]
    if files:
        return spark.read.schema(schema).parquet(*files)
    return spark.range(0).select([F.lit(None).cast(field.dataType).alias(field.name) for field in schema])


def _storable(found: "DataFrame") -> "tuple[DataFrame, int]":
    """The same with every column's name once, and what Arrow, CSV or a page could not hold as text, of at most so many characters.

    Cut where it is made, before all rows are gathered: a list of everything in every row would not fit into memory.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import AtomicType, BinaryType, NullType, StringType, VariantType, YearMonthIntervalType

    names, fields = list(_once(found.columns)), found.schema.fields
    found, columns = found.toDF(*names), []
    for name, field in zip(names, fields, strict=True):
        column, kind = F.col(f"`{name.replace('`', '``')}`"), field.dataType
        plain = isinstance(kind, (AtomicType, StringType)) and not isinstance(kind, (NullType, VariantType, YearMonthIntervalType))
        shown = F.hex(column) if isinstance(kind, BinaryType) else column if plain else column.cast("string")
        columns.append((name, shown, isinstance(kind, (BinaryType, StringType)) or not plain))
    most = max(LEAST_CHARACTERS, CELL_CHARACTERS // max(1, sum(is_text for *_, is_text in columns)))
    return found.select([(_short(one, most) if is_text else one).alias(name) for name, one, is_text in columns]), most


def _short(text: "Column", most: int) -> "Column":
    """The text, or its beginning and …"""
    from pyspark.sql import functions as F

    return F.when(F.length(text) > most, F.concat(F.substring(text, 1, most), F.lit("…"))).otherwise(text)


def _is_cut(rows: pa.Table, most: int) -> bool:
    """Whether a text of these was cut."""
    import pyarrow.compute as pc

    texts = (column for column in rows.columns if pa.types.is_string(column.type) or pa.types.is_large_string(column.type))
    return any((pc.max(pc.utf8_length(column)).as_py() or 0) > most for column in texts)


def _once(names: list[str]) -> Iterator[str]:
    """topic, topic reads topic, topic 2."""
    taken: set[str] = set()
    for name in names:
        shown, times = name, 1
        while shown.lower() in taken:
            times += 1
            shown = f"{name} {times}"
        taken.add(shown.lower())
        yield shown


@contextmanager
def _given_up(spark: "SparkSession", group: str, after_s: float) -> Iterator[None]:
    """The Spark jobs of the with block end after so long."""
    spark.sparkContext.setJobGroup(group, "kafkaviz query", interruptOnCancel=True)
    cancel: Callable[[], None] = lambda: spark.sparkContext._jsc.sc().cancelJobGroupAndFutureJobs(group)  # noqa: E731
    timer = threading.Timer(after_s, cancel)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
