"""The fields of a structured dtype; numpy's own attributes may be None for other dtypes."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np


def field_names(layout: np.dtype) -> tuple[str, ...]:
    return cast("tuple[str, ...]", layout.names)


def field_start(layout: np.dtype, name: str) -> int:
    return cast("Mapping[str, Any]", layout.fields)[name][1]
