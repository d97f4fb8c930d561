"""An archive of partition directories without any file of a broker is a copy, not a broker."""

import tarfile

import pytest

from kafkaviz.analysis.broker_health import check
from kafkaviz.log.broker import open_broker

PARTITIONS = ("clicks-none-0", "payments-0")


@pytest.mark.parametrize(
    ("beside", "is_copy"), [((), True), (("log-start-offset-checkpoint",), False)]
)
def test_partitions_in_an_archive_are_a_copy_unless_a_file_of_a_broker_is_there(
    beside, is_copy, clean, tmp_path
):
    path = tmp_path / "copied.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in (*PARTITIONS, *beside):
            archive.add(clean / name, name)
    broker = open_broker(path)
    assert (broker.is_copy, broker.shutdown_state) == (is_copy, "unknown" if is_copy else "unclean")
    assert {partition.directory for partition in broker.partitions} == set(PARTITIONS)
    health = check(path, "4.3.1")
    assert health.restart.starts == is_copy
    codes = {found.code for found in health.findings}
    assert ("meta-properties-bad" in codes) == (not is_copy)
