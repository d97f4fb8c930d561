"""numba's njit for modules that must be quick to import: the compiler is loaded when a compiled
function is first called.

A command that looks up one offset calls none of them, and is done before numba alone would have
been imported.
"""

import functools
from collections.abc import Callable
from functools import cached_property


class Compiled:
    """A function that numba compiles on its first call, or takes from its cache; in other compiled
    functions it may be used too.
    """

    def __init__(self, function: Callable, options: dict) -> None:
        """options: those of numba.njit."""
        functools.update_wrapper(self, function)
        self._options = options

    def __call__(self, *arguments: object) -> object:
        return self.dispatcher(*arguments)

    @cached_property
    def dispatcher(self) -> object:
        """What numba.njit makes of the function."""
        from numba import njit

        return njit(**self._options)(self.__wrapped__)

    @property
    def py_func(self) -> Callable:
        """The function itself, as it is written."""
        return self.__wrapped__

    @property
    def _numba_type_(self) -> object:
        """What numba asks of a global that a compiled function uses."""
        return self.dispatcher._numba_type_

    def __reduce__(self) -> str:
        """By name, as a function is sent to another process."""
        return self.__qualname__


def njit(**options: object) -> Callable[[Callable], Compiled]:
    """As numba.njit, with options alone."""
    return lambda function: Compiled(function, options)
