"""Every page on broker directories with names that are not UTF-8."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st

from kafkaviz.app.cache import broker_cache
from kafkaviz.messages import verbatim
from kafkaviz.pipeline.ingest import job
from kafkaviz.pipeline.ingest.job import Progress
from tests.app.fakes import FakeStarts
from tests.pipeline.small_logs import write_broker
from tests.support.ingest import ingest_in_process
from tests.support.pages import PAGES, open_page, page_html

ODD = os.fsdecode(b"caf\xe9-0")


@pytest.fixture(scope="module")
def brokers(tmp_path_factory, clean) -> Iterator[dict[str, Path]]:
    """Returns a directory of an odd name with an odd topic-partition among others, and one that has
    only an odd one; each with its catalog.
    """
    root, addresses = tmp_path_factory.mktemp("odd"), {}
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("KAFKAVIZ_CACHE", str(root / "cache"))
        for name, topics in ((os.fsdecode(b"br\xe9"), ("a-0", "b-0")), ("alone", ("b-0",))):
            path = write_broker(root / "made", {topic: [[100] * 5, [120] * 6] for topic in topics})
            shutil.rmtree(path / "b-0")
            shutil.copytree(clean / "refunds-0", path / ODD)
            for folder in (path, path / ODD):
                (folder / os.fsdecode(b"not\xe9")).write_text("x")
            addresses[name] = path.rename(root / name)
            ingest_in_process(
                addresses[name],
                catalog=broker_cache.catalog_path(broker_cache.broker(addresses[name])),
            )
        patched.setattr(
            job,
            "start_ingest",
            FakeStarts(Progress(state="failed", error=verbatim("not requested"))),
        )
        st.cache_resource.clear()
        yield addresses
    st.cache_resource.clear()


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_names_that_are_no_text(brokers, monkeypatch, page):
    """Streamlit would refuse the raw names; the catalog counts them."""
    for broker, partition in ((os.fsdecode(b"br\xe9"), "caf\ufffd-0"), ("alone", None)):
        monkeypatch.setenv("KAFKAVIZ_DIR", str(brokers[broker]))
        # where Tuning tells topic by topic
        at = open_page(page, **({"tp": partition} if partition else {"tune": "Whole broker"}))
        assert not [
            text
            for text in (page_html(at), *(element.value for element in at.markdown))
            if text.encode("utf-8", "replace") != text.encode()
        ]
        assert "not requested" not in page_html(at)
