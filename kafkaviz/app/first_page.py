"""What the first page of a server would wait for, done while the browser fetches Streamlit."""

import threading


def prepare_in_background() -> threading.Thread:
    """Starts what the first page needs of libraries; it waits for what is not done by then."""
    thread = threading.Thread(target=_prepare, name="kafkaviz-first-page", daemon=True)
    thread.start()
    return thread


def _prepare() -> None:
    """Imports pandas, and lets Plotly make a map of nothing, for which it imports itself."""
    import numpy as np
    import pandas  # noqa: F401  # for whoever imports it next

    from kafkaviz.figures.broker import broker_map
    from kafkaviz.figures.broker.density_strip import CELLS

    nothing = broker_map.BrokerMapView(
        title="", caption="", rows=(), bars=(), axis_bytes=1, strip=np.zeros((0, CELLS), np.float32)
    )
    broker_map.draw(nothing, "light")
