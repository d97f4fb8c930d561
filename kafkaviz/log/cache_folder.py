"""The folder for kafkaviz's own files: unpacked archives, blocks of remote files, uploads."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """Returns $KAFKAVIZ_CACHE, or else kafkaviz's folder in the user's cache folder."""
    override = os.environ.get("KAFKAVIZ_CACHE")
    if override:
        return Path(override)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kafkaviz"
