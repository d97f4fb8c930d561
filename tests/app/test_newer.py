"""Every page on a directory that is newer than any known release."""

import pytest

from kafkaviz.app.registry import PAGES
from tests.analysis.metadata_level import raise_level
from tests.support.pages import open_page, page_html

NEWER_TEXT = {
    "en": "Newer than Kafka 4.4.0, the newest release that kafkaviz knows; read as 4.4.0",
    "zh": "比已知的最新版本 Kafka 4.4.0 还新，按它来解读",
}
OF_A_DIRECTORY = [page.path for name, page in PAGES.items() if page.path and name != "Workshop"]
pytestmark = pytest.mark.usefixtures("starts")


@pytest.fixture(scope="module")
def newer(restarted_4_4, tmp_path_factory):
    """Returns the directory of a broker whose metadata.version is 99."""
    return raise_level(restarted_4_4, tmp_path_factory.mktemp("newer") / "kafka", 99)


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_A_DIRECTORY)
def test_every_page_opens_and_says_how_it_reads(name, newer):
    """The foot of the sidebar says it, with the trace."""
    at = open_page(name, dir=str(newer), tp="tickets-any-0")
    assert page_html(at).count(NEWER_TEXT["en"]) == 1
    assert "metadata.version to level 99, which Kafka 4.4.0 does not know" in page_html(at)


def test_the_chinese_note_of_a_newer_release(newer):
    text = page_html(open_page("lookup", dir=str(newer), tp="tickets-any-0", lang="zh"))
    assert NEWER_TEXT["zh"] in text
    assert "把 metadata.version 设为级别 99，Kafka 4.4.0 不认识它" in text


def test_a_directory_of_the_newest_release_is_not_called_newer(restarted_4_4):
    text = page_html(open_page("lookup", dir=str(restarted_4_4), tp="tickets-any-0"))
    assert "Newer than" not in text and "Kafka 4.4 or later, read only" in text
