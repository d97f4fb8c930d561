"""Finds out whether the Python of Spark's workers has kafkaviz, by asking it.

On a cluster or a Spark Connect server, PYSPARK_PYTHON of another environment selects that Python. A
Python without kafkaviz cannot load a class of this package. So the class below is defined inside a
function, which makes Spark send its code.
"""

from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql.datasource import DataSource

from kafkaviz.errors import KafkavizError
from kafkaviz.messages import message, verbatim
from kafkaviz.units import escape_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

HAS_KAFKAVIZ = "has_kafkaviz"
MAX_REASON = 300  # characters of Spark's error about a Python that does not run


def require_kafkaviz(spark: "SparkSession", *, is_connect: bool) -> None:
    """Asks the Python that plans the queries of a session.

    Raises:
        KafkavizError: it does not have kafkaviz, or it cannot be run.
    """
    process = message("errors.process_of_server" if is_connect else "errors.process_of_driver")
    source = _probe()
    spark.dataSource.register(source)
    try:
        columns = spark.read.format(source.name()).load().columns
    except PySparkException as fault:
        first_line = escape_line(str(fault).strip().partition("\n")[0])
        raise KafkavizError(
            message(
                "errors.server_without_python",
                reason=verbatim(first_line[:MAX_REASON]),
                process=process,
            )
        ) from None
    if columns[0] != HAS_KAFKAVIZ:
        python, reason = columns
        raise KafkavizError(
            message(
                "errors.server_without_kafkaviz",
                python=python,
                reason=verbatim(reason),
                process=process,
            )
        )


def _probe() -> type[DataSource]:
    """Returns a source whose columns are the answer; it needs only Spark's Python."""
    answer = HAS_KAFKAVIZ

    class PythonProbe(DataSource):
        @classmethod
        def name(cls) -> str:
            return "kafkaviz_python_probe"

        def schema(self) -> "StructType":
            import sys

            from pyspark.sql.types import StringType, StructType

            try:
                import kafkaviz.pipeline.datasource.source  # noqa: F401
            except Exception as fault:
                text = f"{type(fault).__name__}: {fault}"
                return StructType().add(sys.executable, StringType()).add(text, StringType())
            return StructType().add(answer, StringType())

    return PythonProbe
