"""Loads and stores of several bytes at once, for compiled loops over bytes.

The position need not be aligned. Normally no bounds are checked, so the caller must make sure that
the bytes exist. Callers that are compiled with boundscheck=True or NUMBA_BOUNDSCHECK=1 raise an
IndexError instead.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kafkaviz.binary.lazy_njit import intrinsic

if TYPE_CHECKING:
    from llvmlite import ir

# numba's int; Any, because type checkers distinguish numpy's int from Python's
to_int: Any = np.int64

COPY_BYTES = 16  # the number of bytes that copy_16 copies


def _pointer(
    context, builder: "ir.IRBuilder", array_type: Any, array: Any, position: Any, bits: int
) -> Any:
    """Returns a pointer to the `bits`-bit number at a byte position of a uint8 array.

    Checks bounds only if numba's bounds checks are on.
    """
    from llvmlite import ir
    from numba.core import cgutils
    from numba.np.arrayobj import make_array

    values = make_array(array_type)(context, builder, array)
    if context.enable_boundscheck:
        size = cgutils.unpack_tuple(builder, values.shape, 1)[0]
        last = builder.add(position, ir.Constant(position.type, bits // 8 - 1))
        cgutils.do_boundscheck(context, builder, position, size)
        cgutils.do_boundscheck(context, builder, last, size)
    return builder.bitcast(builder.gep(values.data, [position]), ir.IntType(bits).as_pointer())


def _loader(bits: int) -> Callable[..., Any]:
    """Returns an intrinsic that loads `bits` bits, the lowest byte first.

    64 bits are loaded as a uint64, fewer as an int.
    """

    def load(typing_context, data, position):
        from llvmlite import ir
        from numba import types

        result_type = types.uint64 if bits == 64 else types.int64

        def code(context, builder, signature, arguments):
            pointer = _pointer(context, builder, signature.args[0], *arguments, bits)
            number = builder.load(pointer, align=1)
            return builder.zext(number, ir.IntType(64)) if bits < 64 else number

        return result_type(data, types.int64), code

    return intrinsic(load)


load_8, load_16, load_32, load_64 = (_loader(bits) for bits in (8, 16, 32, 64))


@intrinsic
def store_64(typing_context, data, position, word):
    from numba import types

    def code(context, builder, signature, arguments):
        array, position, word = arguments
        builder.store(
            word, _pointer(context, builder, signature.args[0], array, position, 64), align=1
        )
        return context.get_dummy_value()

    return types.void(data, types.int64, types.uint64), code


@intrinsic
def copy_16(typing_context, target, target_position, source, source_position):
    """Copies 16 bytes. Within one array, the source and target ranges must not overlap."""
    from numba import types

    def code(context, builder, signature, arguments):
        target, target_position, source, source_position = arguments
        from_pointer = _pointer(context, builder, signature.args[2], source, source_position, 128)
        to_pointer = _pointer(context, builder, signature.args[0], target, target_position, 128)
        builder.store(builder.load(from_pointer, align=1), to_pointer, align=1)
        return context.get_dummy_value()

    return types.void(target, types.int64, source, types.int64), code


@intrinsic
def trailing_zeros(typing_context, word):
    """Returns the number of 0 bits below the lowest 1 bit of a uint64; 64 for the number 0."""
    from llvmlite import ir
    from numba import types

    def code(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), code


def first_word(data: bytes) -> np.uint64:
    """Returns the first 8 bytes as one little-endian number."""
    return np.uint64(int.from_bytes(data[:8], "little"))
