"""The end of a test run."""

import gc
import weakref

from tests import conftest


class Node:
    """One that garbage is made of."""


def test_no_garbage_is_searched_for_at_the_end():
    node = Node()
    node.itself = node
    reference = weakref.ref(node)
    del node
    conftest.pytest_unconfigure()
    try:
        gc.collect()
        assert reference() is not None
    finally:
        gc.unfreeze()
    gc.collect()
    assert reference() is None
