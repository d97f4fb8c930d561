"""How an error of ours leaves a Python worker of Spark: as one line.

Spark sends what a worker raises to the driver as text, by default with Python's whole stack, in
which the sentence for the user is the last of some thirty lines.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager

from kafkaviz.errors import KafkavizError
from kafkaviz.units import escape_line

# The setting spark.sql.execution.pyspark.udf.hideTraceback.enabled as a worker sees it:
# pyspark.util.handle_worker_exception of 4.0 to 4.3 then sends the error without the stack.
HIDE_TRACEBACK = "SPARK_HIDE_TRACEBACK"
WORKER_VARIABLE = "SPARK_BUFFER_SIZE"  # every worker of these releases has it, and no driver


@contextmanager
def one_line() -> Generator[None]:
    """Lets an error of kafkaviz leave as one line, where this process is a worker of Spark.

    The process ends with the error, so nothing else runs in the changed environment.
    """
    try:
        yield
    except KafkavizError as fault:
        if WORKER_VARIABLE in os.environ:
            os.environ[HIDE_TRACEBACK] = "1"
            fault.args = (escape_line(str(fault)),)
        raise fault from None
