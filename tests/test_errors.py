"""What is raised: errors that cross processes, and what the system says."""

import copy
import errno
import os
import pickle
from pathlib import Path

import pytest

from kafkaviz.analysis.fault_injection.start_trial import InvalidMagic
from kafkaviz.errors import (
    CannotOpen,
    CorruptBytes,
    CorruptFile,
    KafkavizError,
    RefusedSetting,
    system_problem,
)
from kafkaviz.format.checkpoint import UncaughtRefusal
from kafkaviz.format.message import KafkaParseError
from kafkaviz.messages import message, verbatim

WHAT = message("corrupt.no_batch", size=3)


@pytest.mark.parametrize(
    "error",
    [
        CorruptBytes(7, WHAT),
        CorruptFile(Path("a-0/0.log"), 7, WHAT),
        CannotOpen(
            Path("/x"),
            WHAT,
            message("errors.check_the_path"),
            kind="missing",
            nearby=(Path("/y"),),
        ),
        RefusedSetting("segment.bytes", "5", WHAT),
        UncaughtRefusal(7, WHAT, ("java.lang.RuntimeException", "x")),
        KafkaParseError(7, WHAT, "java.lang.RuntimeException", "x"),
        InvalidMagic(3),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize(
    "send", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy], ids=["pickle", "copy"]
)
def test_an_error_crosses_processes(error, send):
    """With all that it knows: a worker of Spark raises it, the driver words it."""
    received = send(error)
    assert type(received) is type(error)
    assert vars(received) == vars(error)
    assert str(received) == str(error)


def test_an_error_is_one_line_in_each_language():
    error = KafkavizError(message("errors.not_there"))
    assert error.render("en") == str(error) == "is not there"
    assert error.render("zh") == "不存在"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.ENOENT, os.strerror(errno.ENOENT)), message("system.enoent")),
        (OSError(errno.EADDRINUSE, "Address already in use"), verbatim("address already in use")),
        (OSError("a disk of its own kind"), verbatim("a disk of its own kind")),
        (OSError(errno.ENOENT, "Gone for good"), verbatim("gone for good")),
    ],
)
def test_what_the_system_says_is_translated_where_it_is_known(error, expected):
    """In its own words otherwise."""
    assert system_problem(error) == expected
