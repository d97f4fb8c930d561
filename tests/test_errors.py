"""Errors that cross processes, and the operating system's messages."""

import ast
import copy
import errno
import importlib
import os
import pickle
from pathlib import Path

import pytest

from kafkaviz.binary.file_view import in_memory
from kafkaviz.errors import (
    CannotOpen,
    CorruptBytes,
    CorruptFile,
    FaultKind,
    KafkavizError,
    RefusedSetting,
    system_problem,
)
from kafkaviz.extras import MissingPackages
from kafkaviz.format.checkpoint import UncaughtRefusal
from kafkaviz.format.message import KafkaParseError
from kafkaviz.messages import message, verbatim
from kafkaviz.pipeline.datasource.source_schema import BadOption
from kafkaviz.pipeline.sql.query import QueryTooLarge, QueryTooLong
from kafkaviz.pipeline.sql.sql import QueryError
from kafkaviz.search.fetch import FailedBounds
from kafkaviz.search.index_search import IndexSearch, find_offset
from kafkaviz.search.log_view import SegmentView
from kafkaviz.search.scan import FailedRead, ForwardScan
from kafkaviz.versions import search_profile
from kafkaviz.workshop.lab.start_trial import InvalidMagic
from tests.support.sources import place, trees

WHAT = message("corrupt.no_batch", size=3)


def search_of_no_entry() -> IndexSearch:
    view = SegmentView(base_offset=0, log=in_memory("0.log", b""))
    return find_offset(view, 3, search_profile())


NO_SCAN = ForwardScan(base_offset=0, from_position=0, target=3, reads=(), headers=(), batch=None)
# of each class that is made of more than its message
ERRORS = (
    CorruptBytes(7, WHAT),
    CorruptFile(Path("a-0/0.log"), 7, WHAT),
    CannotOpen(
        Path("/x"), WHAT, message("errors.check_the_path"), kind="missing", nearby=(Path("/y"),)
    ),
    RefusedSetting("segment.bytes", "5", WHAT),
    MissingPackages("spark", ("pyspark",)),
    UncaughtRefusal(7, WHAT, ("java.lang.RuntimeException", "x")),
    KafkaParseError(7, WHAT, "java.lang.RuntimeException", "x"),
    InvalidMagic(3),
    QueryError(WHAT, message("errors.check_the_path"), 3, 5),
    QueryTooLarge(512),
    QueryTooLong(60),
    FailedRead(Path("a-0/0.log"), 7, WHAT, FaultKind.SIZE),
    FailedBounds(
        FailedRead(Path("a-0/0.log"), 7, WHAT, FaultKind.SIZE), search_of_no_entry(), NO_SCAN
    ),
    BadOption(WHAT),
)


def error_classes() -> set[type[KafkavizError]]:
    """Returns KafkavizError and all of its subclasses."""
    bases = {
        (path, node.name): {base.id for base in node.bases if isinstance(base, ast.Name)}
        for path, tree in trees().items()
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }
    names, count = {KafkavizError.__name__}, 0
    while count < len(names):
        count = len(names)
        names |= {name for (_, name), its_bases in bases.items() if its_bases & names}
    return {
        getattr(importlib.import_module(place(path).removesuffix(".py").replace("/", ".")), name)
        for path, name in bases
        if name in names
    }


def test_an_error_of_each_class_with_arguments_of_its_own_is_sent():
    with_arguments = {each for each in error_classes() if "__init__" in vars(each)}
    assert with_arguments - {KafkavizError} == set(map(type, ERRORS))


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(
    "send", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy], ids=["pickle", "copy"]
)
def test_an_error_crosses_processes(error, send):
    """With all of its values: a worker of Spark raises it, the driver words it."""
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
    """Otherwise in its own words."""
    assert system_problem(error) == expected
