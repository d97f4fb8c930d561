"""The fields of a structured dtype, without the None that numpy's types have for other dtypes."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np


def field_names(layout: np.dtype) -> tuple[str, ...]:
    """The names of the fields, in their order."""
    return cast("tuple[str, ...]", layout.names)


def field_start(layout: np.dtype, name: str) -> int:
    """The byte of the layout at which a field starts."""
    return cast("Mapping[str, Any]", layout.fields)[name][1]
