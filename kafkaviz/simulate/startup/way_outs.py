"""What a person can do where a start ends, and why a recovery took no more of a .log."""

STOP_REASONS = {
    "crc": "the checksum of a batch is wrong",
    "torn": "its last batch is not whole",
    "short": "what follows its last batch is too short for one",
    "bad-length": "what follows its last batch has no length that a batch can have",
    "too-small": "what follows is shorter than the header of a batch",
    "marker": "a transaction marker cannot be read",
}
ALTER_TOPIC = (
    "by kafka-configs.sh, at another broker or from 3.7 on at a controller "
    "(--bootstrap-controller); a node that is its own controller is started with "
    "process.roles=controller for that. A log.index.size.max.bytes of the broker counts only where "
    "the topic has no value of its own"
)
INDEX_FULL = (
    f"give topic {{topic}} a larger segment.index.bytes {ALTER_TOPIC}. Then start again; the "
    "indexes are built anew"
)
INDEX_TOO_LARGE = (
    f"give topic {{topic}} a segment.index.bytes that has room for its entries again {ALTER_TOPIC}"
    ". Then start; this start has cut "
    "{file} to {limit} bytes and took away the mark of the clean stop, so the next one recovers "
    "the segment"
)
LEADER_EPOCHS = (
    "restore the file from another replica, or move it away: the epochs of what is recovered are "
    "found again"
)
PARTITION_METADATA = (
    "write the file anew, the lines version: 0 and topic_id: ID with the id that the cluster knows "
    "the topic by"
)
PROPERTIES = (
    "write it anew: version=1, node.id as the broker's settings have it, and cluster.id as in the "
    "meta.properties of another broker; directory.id is put in by the start"
)
BOOTSTRAP = (
    "move the file away: a start does without it, and a controller whose log is not empty needs "
    "nothing of it"
)
QUORUM_STATE = (
    "restore it from a copy, or move it away: the node then finds the quorum's epoch again; a "
    "voter that forgets its vote may vote twice in one epoch, so let the other voters have a "
    "leader before it starts"
)
CLUSTER_SNAPSHOT = (
    "copy __cluster_metadata-0, then move it away whole: the node fetches the cluster's metadata "
    "from the controllers again; of the last controller restore it from a backup"
)
TXN_INDEX = (
    "move this file and the .index of its segment out of the directory: without the .index, "
    "recovery builds both anew"
)
BAD_OFFSET = (
    "copy the directory; a batch in the middle of this .log has a base offset that cannot be "
    "right, and no start gets past it: restore the segment from another replica, or move it and "
    "what follows away"
)
LOG_TOO_LARGE = (
    "copy the directory; no start opens a .log of more than 2147483647 bytes, whatever is in it: "
    "restore the segment from another replica, or move it and what follows away"
)
CORRUPT_LOG = (
    "copy the directory, take away .kafka_cleanshutdown if it is there, and start again: "
    "recovery cuts the .log at its last valid batch"
)
EXCEPTION = "copy the directory, then move {file} and what follows it away"
PRODUCERS = "start again with the producer snapshots put back, if there is a copy"
