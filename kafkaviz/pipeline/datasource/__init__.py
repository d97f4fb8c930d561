"""The Spark data source: schemas, options, planning, and reading of rows."""

import os
from collections.abc import Generator
from contextlib import contextmanager

from kafkaviz.errors import KafkavizError
from kafkaviz.units import escape_line

# The setting spark.sql.execution.pyspark.udf.hideTraceback.enabled in a worker's environment. With
# it, pyspark.util.handle_worker_exception of Spark 4.0 to 4.3 sends an error without the stack.
HIDE_TRACEBACK = "SPARK_HIDE_TRACEBACK"
WORKER_VARIABLE = "SPARK_BUFFER_SIZE"  # these releases set this in every worker and in no driver


@contextmanager
def one_line_errors() -> Generator[None]:
    """Makes Spark show a KafkavizError of a worker as one line.

    By default, Spark shows about thirty lines of the worker's stack before the message. An
    environment variable hides the stack. The variable stays set, because the worker ends with the
    error.
    """
    try:
        yield
    except KafkavizError as fault:
        if WORKER_VARIABLE in os.environ:
            os.environ[HIDE_TRACEBACK] = "1"
            fault.args = (escape_line(str(fault)),)
        raise fault from None
