"""numba's njit for modules that must be quick to import: the compiler is loaded when a compiled
function is first called.

A command that looks up one offset calls none of them, and is done before numba alone would have
been imported.
"""

import functools
from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class CompiledFunction(Generic[Parameters, Result]):
    """A function that numba compiles on its first call, or takes from its cache; in other compiled
    functions it may be used too.
    """

    __wrapped__: Any
    __qualname__: str

    def __init__(self, function: Callable[Parameters, Result], options: dict[str, Any]) -> None:
        """options: those of numba.njit."""
        functools.update_wrapper(self, function)
        self._options = options

    def __call__(self, *arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        return self.dispatcher(*arguments, **keywords)

    @cached_property
    def dispatcher(self) -> Any:
        """What numba.njit makes of the function."""
        from numba import njit

        return njit(**self._options)(self.__wrapped__)

    @property
    def py_func(self) -> Callable[Parameters, Result]:
        """The function itself, as it is written."""
        return self.__wrapped__

    @property
    def _numba_type_(self) -> Any:
        """What numba asks of a global that a compiled function uses."""
        return self.dispatcher._numba_type_

    def __reduce__(self) -> str:
        """By name, as a function is sent to another process."""
        return self.__qualname__


def njit(
    **options: Any,
) -> Callable[[Callable[Parameters, Result]], CompiledFunction[Parameters, Result]]:
    """As numba.njit, with options alone; what the function takes and gives stays known."""
    return lambda function: CompiledFunction(function, options)
