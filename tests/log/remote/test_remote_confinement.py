import pytest

from kafkaviz.app import access
from kafkaviz.errors import CannotOpen
from kafkaviz.log import confinement, file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import open_broker
from kafkaviz.log.remote import mirror

LOG = "orders-0/00000000000000000000.log"


@pytest.fixture
def confined(monkeypatch):
    def confine(*roots: str) -> None:
        monkeypatch.setenv(access.ALLOW_ROOT, "\n".join(roots).replace("\n", ":"))
        access.confine()
        mirror.forget()

    monkeypatch.setenv(confinement.CONFINEMENT, "")  # put back afterwards
    monkeypatch.delenv(confinement.CONFINEMENT)
    return confine


def test_below_an_allowed_address_is_read(confined, object_store, stored_broker, tmp_path):
    """Addresses and directories are mixed in one variable."""
    confined(str(tmp_path), "s3://kafka/brokers")
    assert access.roots() == (tmp_path, file.absolute_path("s3://kafka/brokers"))
    path = access.resolve_typed_path(stored_broker)
    assert open_broker(path).partitions
    assert file.read(path / LOG, 0, 8) == bytes(8)


@pytest.mark.parametrize(
    "roots", [["/srv/kafka"], ["s3://kafka/brokers/1"], ["s3://other/brokers"]]
)
def test_anything_else_is_refused_before_it_is_asked_for(
    roots, confined, object_store, stored_broker
):
    """By the typed path, and again before bytes are fetched; the store gets no request."""
    confined(*roots)
    log = file.absolute_path(f"{stored_broker}/{LOG}")
    for read, path in (
        (access.resolve_typed_path, stored_broker),
        (open_broker, stored_broker),
        (file.read, log),
    ):
        with pytest.raises(CannotOpen, match="is outside the directories that this") as refused:
            read(path)
        assert refused.value.kind == "outside"
        assert str(archive.cache_folder()) not in str(refused.value)
    assert object_store.requests == []


def test_what_was_mirrored_before_is_refused_too(confined, object_store, stored_broker):
    """Its local path in the mirror is refused like any other."""
    path = open_broker(stored_broker).path
    confined("/srv/kafka")
    with pytest.raises(CannotOpen):
        access.resolve_typed_path(str(path))
    with pytest.raises(CannotOpen):
        access.resolve_typed_path("s3://kafka/brokers/17")
