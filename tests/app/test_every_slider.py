"""No stop of any slider on any page ends in an exception."""

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from kafkaviz.app import workloads
from tests.support.pages import ROOT, open_page

ADDRESSES = [
    *(
        {"page": path.stem}
        for path in sorted((ROOT / "pages").glob("*.py"))
        if path.stem != "tuning"
    ),
    {"page": "tuning", "tp": "payments-0"},
    {"page": "disk", "tab": "Retention", "topic": "weblogs"},
    {"page": "lookup", "tp": "orders-0", "by": "timestamp"},
    {"page": "rolls", "tp": "orders-0", "of": "orders-0"},
]
PATIENCE_S = 300  # a workload of compressed batches on a busy machine
FEW_STOPS, MAX_STOPS, ALL_STOPS = 1, 12, 1000  # of a slider with many alike


pytestmark = pytest.mark.usefixtures("starts", "patient")


def stops(at: AppTest, most: int) -> Iterator[tuple[str, object, object]]:
    """Returns key, current value and another value of each movable slider.

    For a slider over names, all or `most` of them evenly; over numbers, the ends and the middle.
    """
    for slider in at.select_slider:
        if not slider.disabled:
            options = (
                slider.options
                if len(slider.options) <= 2 * most
                else [*slider.options[:: len(slider.options) // most], slider.options[-1]]
            )
            yield from ((slider.key, slider.value, option) for option in options)
    for slider in at.slider:
        if not slider.disabled:
            yield from (
                (slider.key, slider.value, number)
                for number in (slider.min, (slider.min + slider.max) // 2, slider.max)
            )


def moved(at: AppTest, key: str, value: object) -> None:
    next(slider for slider in (*at.select_slider, *at.slider) if slider.key == key).set_value(value)


def fallen(at: AppTest, most: int) -> list[str]:
    """Returns the slider, its value and the message where the page ends in an exception."""
    at.default_timeout = PATIENCE_S
    faults, back = [], None
    for key, before, stop in list(stops(at, most)):
        if back:
            moved(at, *back)
        moved(at, key, stop)
        back = key, before
        at.run()
        faults += [f"{key} at {stop}: {error.message}" for error in at.exception]
    return faults


@pytest.mark.slow
@pytest.mark.parametrize(
    "most", [FEW_STOPS, pytest.param(ALL_STOPS, marks=pytest.mark.nightly)], ids=["", "all"]
)
@pytest.mark.parametrize("address", ADDRESSES, ids=lambda address: " ".join(address.values()))
def test_every_stop_of_every_slider(address, most):
    at = open_page(
        address["page"], **{name: value for name, value in address.items() if name != "page"}
    )
    assert fallen(at, most) == []


@pytest.mark.nightly
@pytest.mark.parametrize("workload", workloads.by_title())
def test_stops_of_every_workload(workload):
    """Each workload of Rolls has other settings and refusals: the ends and the middle of each
    slider, and most of its stops.
    """
    assert fallen(open_page("rolls", workload=workload), MAX_STOPS) == []
