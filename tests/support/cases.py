import functools
import inspect
from collections.abc import Callable, Iterable

import pytest


def all_cases(name: str, cases: Iterable[object], ids: Callable[..., str] = str) -> Callable:
    """Parametrizes one argument like pytest.mark.parametrize, but in a single test.

    For hundreds of cases of a millisecond, each of which would cost several more if every process
    of a run collected it. All cases are run; the first error notes which failed.
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
