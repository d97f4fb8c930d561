"""numba's njit and intrinsic, which load the compiler at the first call instead of at import.

So a command that calls no compiled function does not wait for numba.
"""

import functools
import warnings
from collections.abc import Callable
from functools import cache, cached_property
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, cast

from kafkaviz.environment import lock_folder

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class CompiledFunction(Generic[Parameters, Result]):
    """A function that numba compiles on its first call, or loads from its cache."""

    __wrapped__: Any
    __qualname__: str

    def __init__(self, function: Callable[Parameters, Result], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self._options = options

    def __call__(self, *arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        return self.dispatcher(*arguments, **keywords)

    @cached_property
    def dispatcher(self) -> Any:
        dispatcher = _load_njit()(**self._options)(self.__wrapped__)
        if self._options.get("cache"):
            _lock_cache(dispatcher._cache)
        return dispatcher

    @property
    def py_func(self) -> Callable[Parameters, Result]:
        return self.__wrapped__

    @property
    def _numba_type_(self) -> Any:
        return self.dispatcher._numba_type_

    def __reduce__(self) -> str:
        return self.__qualname__


def _lock_cache(cache: Any) -> None:
    """Lets only one process at a time use the cached code in the folder of this cache.

    To save code, numba looks for a free file name, writes the index, and then the code. Two
    processes that save the code of different types at once would choose the same name, and from
    then on a call with one type would run the code of the other.
    """
    for name in ("load_overload", "save_overload"):
        setattr(cache, name, _locked(cache.cache_path, getattr(cache, name)))


def _locked(folder: str, function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    @functools.wraps(function)
    def call(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        with lock_folder(folder):
            return function(*arguments, **keywords)

    return call


@cache
def _load_njit() -> Callable:
    from numba import njit
    from numba.core.errors import NumbaExperimentalFeatureWarning

    # Code that was compiled for a row also takes a row with more fields at its end, such as a batch
    # with the result of its check. Whether numba warns depends on which row came first.
    warnings.filterwarnings(
        "ignore", category=NumbaExperimentalFeatureWarning, module=r".*\bkafkaviz\b"
    )
    return njit


def njit(
    **options: Any,
) -> Callable[[Callable[Parameters, Result]], CompiledFunction[Parameters, Result]]:
    """Works like numba.njit(**options), but keeps the types of parameters and result."""
    return lambda function: CompiledFunction(function, options)


class Intrinsic:
    """A function made by numba.extending.intrinsic. Only compiled functions may call it."""

    def __init__(self, definition: FunctionType) -> None:
        functools.update_wrapper(self, definition)
        self._definition = definition

    def __call__(self, *arguments: Any) -> Any:
        raise NotImplementedError(f"{self._definition.__qualname__} is for compiled functions")

    @cached_property
    def _numba_type_(self) -> Any:
        from numba import types
        from numba.core.typing.templates import make_intrinsic_template

        name = self._definition.__name__
        return types.Function(make_intrinsic_template(self, self._definition, name, kwargs={}))


def intrinsic(definition: Callable) -> Callable[..., Any]:
    """Works like numba.extending.intrinsic."""
    return Intrinsic(cast("FunctionType", definition))
