"""Which indexes a load does not believe: of Kafka 4.3.1 the transaction index alone, up to 2.2 all three (KAFKA-7283).

As sanityCheck of TransactionIndex, OffsetIndex and TimeIndex. An index that is wrong and passes is followed blindly.
"""

from kafkaviz.errors import CorruptBytes
from kafkaviz.format import txn_index
from kafkaviz.simulate import way_outs
from kafkaviz.simulate.config import Profile
from kafkaviz.simulate.directory import INDEXES, Directory
from kafkaviz.simulate.recovery import Raised

KAFKA = "org.apache.kafka.common.KafkaException"


def index_fault(directory: Directory, base: int, of: Profile) -> str | None:
    """What CorruptIndexException would say of a segment's indexes, or None; a version it does not know ends the load."""
    file = directory.get(base, "txnindex")
    if file:
        entries = txn_index.parse(file.content())
        try:
            txn_index.readable(entries)
        except CorruptBytes as fault:
            words = fault.what.replace(",", f" in transaction index {directory.name}/{file.name},", 1)
            directory.fail(base, "index-corrupt", Raised(KAFKA, words), file.name, way_outs.TXN_INDEX)
        try:
            txn_index.check(entries, base)
        except CorruptBytes as fault:
            return f"{file.name}: {fault.what}"
    return old_fault(directory, base, of) if of.checks_indexes else None


def old_fault(directory: Directory, base: int, of: Profile) -> str | None:
    """The checks of the offset and the time index up to Kafka 2.2; an index that is missing has none."""
    for kind in ("index", "timeindex"):
        file, layout = directory.get(base, kind), INDEXES[kind]
        if not file:
            continue
        entries = layout.parse(file.content())
        if file.size_bytes % layout.ENTRY.itemsize:
            return f"{file.name}: its length is no multiple of {layout.ENTRY.itemsize}"
        least = 1 if kind == "index" and of.release < (2, 0) else 0
        if len(entries) and entries["relative_offset"][-1] < least:
            return f"{file.name}: its last entry does not lie above the base offset"
        if kind == "timeindex" and len(entries) and entries["timestamp_ms"][-1] < entries["timestamp_ms"][0]:
            return f"{file.name}: its last timestamp lies below its first"
    return None
