"""Paths of files outside the package, limits from environment variables, and locked folders.

app.py, pages/, .streamlit/ and sample_data/ are at the top of a checkout. A wheel has them in
kafkaviz/checkout/.
"""

import fcntl
import os
import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from kafkaviz.errors import KafkavizError
from kafkaviz.messages import message

PACKAGE = Path(__file__).parent
WHEEL_FOLDER = PACKAGE / "checkout"  # the build copies these files to it
IS_WHEEL = WHEEL_FOLDER.is_dir()
ROOT = WHEEL_FOLDER if IS_WHEEL else PACKAGE.parent
APP = ROOT / "app.py"
SAMPLES = ROOT / "sample_data"


def positive_number(name: str, default: int) -> int:
    """Returns the environment variable `name` as a number, or `default` if it is unset or blank.

    Raises KafkavizError if the variable is not a whole number above 0.
    """
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    digits = text.lstrip("0")
    if not re.fullmatch("[0-9]{1,18}", digits):  # Python refuses to parse thousands of digits
        raise KafkavizError(message("errors.is_no_positive_number", name=name, value=text[:40]))
    return int(digits)


@contextmanager
def lock_folder(folder: str) -> Generator[None]:
    """Lets only one process at a time run the block. Creates the folder if it is missing.

    On a file system without locks, the block runs unlocked.
    """
    os.makedirs(folder, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
