"""numba's njit for modules that must import fast: the compiler is loaded at the first call.

A command that looks up one offset calls no compiled function, and is done before numba alone would
have been imported.
"""

import functools
from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class CompiledFunction(Generic[Parameters, Result]):
    """A function that numba compiles on its first call, or takes from its cache.

    Other compiled functions may call it too.
    """

    __wrapped__: Any
    __qualname__: str

    def __init__(self, function: Callable[Parameters, Result], options: dict[str, Any]) -> None:
        """Wraps the function without compiling it.

        Args:
            options: those of numba.njit.
        """
        functools.update_wrapper(self, function)
        self._options = options

    def __call__(self, *arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        return self.dispatcher(*arguments, **keywords)

    @cached_property
    def dispatcher(self) -> Any:
        """The result of numba.njit for the function."""
        from numba import njit

        return njit(**self._options)(self.__wrapped__)

    @property
    def py_func(self) -> Callable[Parameters, Result]:
        """The plain Python function."""
        return self.__wrapped__

    @property
    def _numba_type_(self) -> Any:
        """The attribute that numba reads of a global that a compiled function uses."""
        return self.dispatcher._numba_type_

    def __reduce__(self) -> str:
        """Pickled by name, as functions are."""
        return self.__qualname__


def njit(
    **options: Any,
) -> Callable[[Callable[Parameters, Result]], CompiledFunction[Parameters, Result]]:
    """As numba.njit, called with options alone; the types of parameters and result are kept."""
    return lambda function: CompiledFunction(function, options)
