"""Where Spark's Python workers import pyspark from."""

import os
from collections.abc import Sequence


def without_archives(path: Sequence[str], spark_home: str) -> list[str]:
    """sys.path without the archives of a Spark whose pyspark lies unpacked on it, as pip leaves it.

    Spark puts its archives first. What is imported from one is compiled anew by each process, and
    every other module is looked for in all of them: 0.9 s of processor a start.

    Args:
        spark_home: Spark's own folder; empty where Spark was not told and has no archives here.
    """
    if not spark_home:
        return list(path)
    home = os.path.realpath(spark_home)
    if not any(os.path.realpath(os.path.join(folder, "pyspark")) == home for folder in path):
        return list(path)
    return [entry for entry in path if not os.path.realpath(entry).startswith(home + os.sep)]
