"""The directory of one log, loaded as at the start of a broker."""

from collections.abc import Mapping

from kafkaviz.binary.file_view import FileView, in_memory
from kafkaviz.simulate.config import release_behaviour
from kafkaviz.simulate.startup.log_loader import LogLoader
from kafkaviz.simulate.steps import StartupStep, StoredLog


def loader_of(
    files: Mapping[str, bytes | FileView],
    *,
    clean: bool = True,
    release: tuple[int, ...] = (4, 3, 1),
    directory: str = "t-0",
    **known,
) -> LogLoader:
    """Returns the loader of these files; `known` are more fields of StoredLog."""
    views = tuple(
        data if isinstance(data, FileView) else in_memory(name, data)
        for name, data in files.items()
    )
    log = StoredLog(directory=directory, files=views, **known)
    return LogLoader(log, clean=clean, behaviour=release_behaviour(release))


def failures(loader: LogLoader) -> list[StartupStep]:
    """Runs a load, and returns the steps that end it."""
    return [step for step in loader.run() if step.action == "fail"]
