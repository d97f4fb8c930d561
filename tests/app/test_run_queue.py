"""Runs of pages follow one another in the order in which they came, and none blocks forever."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from kafkaviz.app.scheduling import RunQueue

LONG_S = 30.0  # longer than any test waits


def _wait_until_queued(queue: RunQueue, number: int) -> None:
    while len(queue._waiting) < number:
        time.sleep(0.001)


def test_runs_begin_in_the_order_in_which_they_came():
    """However many wait."""
    queue, begun, ended = RunQueue(LONG_S), [], []

    def run(number: int) -> None:
        with queue.turn():
            begun.append(number)
            assert ended == begun[:-1]
            ended.append(number)

    with ThreadPoolExecutor(20) as threads:
        with queue.turn():
            runs = []
            for number in range(20):
                runs.append(threads.submit(run, number))
                _wait_until_queued(queue, number + 1)
            assert not begun
        for each in runs:
            each.result()
    assert begun == list(range(20))


def test_a_long_run_delays_the_next_one_by_a_turn_only():
    queue, begun = RunQueue(0.05), [threading.Event(), threading.Event()]
    ends = threading.Event()

    def run(event: threading.Event) -> None:
        with queue.turn():
            event.set()
            ends.wait(LONG_S)

    with ThreadPoolExecutor() as threads, queue.turn():
        for event in begun:
            threads.submit(run, event)
        assert all(event.wait(LONG_S) for event in begun)
        ends.set()


def test_the_end_of_a_run_that_has_had_its_turn_lets_nobody_past_the_latest():
    queue = RunQueue(0.05)
    begun, ends = [threading.Event(), threading.Event()], threading.Event()

    def run(event: threading.Event) -> None:
        with queue.turn():
            event.set()
            ends.wait(LONG_S)

    with ThreadPoolExecutor() as threads:
        with queue.turn():
            threads.submit(run, begun[0])
            assert begun[0].wait(LONG_S)
            queue._turn_ends_s = time.monotonic() + LONG_S
            threads.submit(run, begun[1])
            _wait_until_queued(queue, 1)
        assert not begun[1].wait(0.1)
        ends.set()
        assert begun[1].wait(LONG_S)


def test_a_run_that_fails_ends_its_turn():
    """Also a run that Streamlit stops because its reader clicked again."""
    queue = RunQueue(LONG_S)
    with pytest.raises(KeyError), queue.turn():
        raise KeyError
    with queue.turn():
        assert queue._turn_left_s() > 0
