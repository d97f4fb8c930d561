import pytest

from kafkaviz.analysis.tuning.source import open_source
from kafkaviz.analysis.tuning.tuning_case import TuningSource


@pytest.fixture(scope="session")
def clean_source(clean) -> TuningSource:
    """Returns the measured topics of the sample's broker, which has no server.properties."""
    return open_source(clean)
