"""Many small cases in one test."""

import functools
import inspect
from collections.abc import Callable, Iterable

import pytest


def all_cases(name: str, cases: Iterable[object], ids: Callable[..., str] = str) -> Callable:
    """As pytest.mark.parametrize for one argument, but all cases are one test.

    For hundreds of cases of a millisecond: as tests of their own, each would cost several more,
    collected by every process of a run. All cases are run; the first error notes which failed.
    """
    cases = list(cases)
    assert cases

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)
        rest = [parameter for parameter in signature.parameters.values() if parameter.name != name]
        assert len(rest) == len(signature.parameters) - 1

        @functools.wraps(test)
        def run(**fixtures: object) -> None:
            failures = []
            for case in cases:
                try:
                    test(**{name: case}, **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    failures.append((ids(case), error))
            if failures:
                failures[0][1].add_note(f"failed: {', '.join(case for case, _ in failures)}")
                raise failures[0][1]

        run.__signature__ = signature.replace(parameters=rest)
        return run

    return decorate
