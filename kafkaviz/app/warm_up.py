"""Slow imports for the first page, made while the browser still fetches Streamlit's scripts."""

import threading
from contextlib import suppress
from pathlib import Path

from kafkaviz.errors import KafkavizError


def prepare_in_background() -> threading.Thread:
    """Starts the preparation; a page that comes earlier waits for the imports it needs."""
    thread = threading.Thread(target=_prepare, name="kafkaviz-first-page", daemon=True)
    thread.start()
    return thread


def _prepare() -> None:
    """Imports libraries, loads Plotly by drawing an empty map, and unpacks the default sample."""
    import numpy as np
    import pandas.io.formats.style  # noqa: F401  # later importers find it loaded

    import kafkaviz.pipeline.ingest.job  # noqa: F401
    from kafkaviz.app import access
    from kafkaviz.app.state import page_location
    from kafkaviz.figures.broker import broker_map
    from kafkaviz.figures.broker.map_rows import CELLS
    from kafkaviz.log.archives import archive

    nothing = broker_map.BrokerMapView(
        title="", caption="", rows=(), bars=(), axis_bytes=1, strip=np.zeros((0, CELLS), np.float32)
    )
    broker_map.draw(nothing, "light")
    directory = Path(page_location.default_directory())
    if directory in access.samples():
        with suppress(KafkavizError):  # the page will report it
            archive.unpack_if_archive(directory)
