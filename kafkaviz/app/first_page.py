"""What the first page of a server would wait for, done while the browser fetches Streamlit."""

import threading
from contextlib import suppress
from pathlib import Path

from kafkaviz.errors import KafkavizError


def prepare_in_background() -> threading.Thread:
    """Starts what the first page needs of libraries; it waits for what is not done by then."""
    thread = threading.Thread(target=_prepare, name="kafkaviz-first-page", daemon=True)
    thread.start()
    return thread


def _prepare() -> None:
    """Imports libraries, Plotly by a map of nothing, and unpacks the sample, if that is opened."""
    import numpy as np
    import pandas.io.formats.style  # noqa: F401  # for whoever imports it next

    import kafkaviz.pipeline.ingest.job  # noqa: F401
    from kafkaviz.app.state import access, page_location
    from kafkaviz.figures.broker import broker_map
    from kafkaviz.figures.broker.density_strip import CELLS
    from kafkaviz.log.archives import archive

    nothing = broker_map.BrokerMapView(
        title="", caption="", rows=(), bars=(), axis_bytes=1, strip=np.zeros((0, CELLS), np.float32)
    )
    broker_map.draw(nothing, "light")
    directory = Path(page_location.default_directory())
    if directory in access.samples():
        with suppress(KafkavizError):  # which the page will say
            archive.unpack_if_archive(directory)
