"""Broker: what a broker directory holds, and how densely it is indexed."""

import streamlit as st

from kafkaviz.analyse.overview import Overview
from kafkaviz.ui import cache, faults, pick, work
from kafkaviz.ui.broker.doors import doors
from kafkaviz.ui.broker.head import head
from kafkaviz.ui.broker.path import path_form
from kafkaviz.ui.broker.rows import partition_rows
from kafkaviz.ui.broker.segment_map import segment_map
from kafkaviz.ui.cache import Listed
from kafkaviz.ui.frame import frame
from kafkaviz.ui.pick import Place
from kafkaviz.words import say


def main() -> None:
    """The page, or what is wrong with a directory that holds no topic-partition."""
    place = frame("Broker")
    said = path_form(place)
    here = pick.listed(place)
    known = cache.overview(here)
    if not known.partitions:
        return faults.no_partition(here.broker.path, known.problems)
    read = say("broker.read_full" if cache.is_fresh(here) else "broker.read_names")
    said.html(f'<div class="kv-sm kv-fnt kv-right">{read}</div>')
    whole(place, here, known)


def whole(place: Place, here: Listed, known: Overview) -> None:
    """What the directory holds, the ways on, the map, the table, and what could not be read."""
    head(here, known)
    doors(place, known)
    st.space(24)
    segment_map(place, here, known)
    st.space(12)
    strip = st.container()
    st.space(28)
    partition_rows(place, known)
    if known.problems:
        st.space(28)
        faults.partial(
            int((~known.segments["left_out"]).sum()),
            len(known.segments),
            here.broker.path,
            known.problems,
        )
    with strip:  # last, because it may start Spark: all else is on its way to the reader by then
        work.strip(here)


main()
