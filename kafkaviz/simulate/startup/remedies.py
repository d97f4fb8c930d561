"""Advice for a start that ends, and the reasons for which a recovery ends inside a .log."""

from kafkaviz.messages import message

STOP_REASONS = {
    "crc": message("tail.wrong_checksum"),
    "torn": message("tail.last_batch_cut"),
    "short": message("tail.rest_too_short"),
    "bad-length": message("tail.impossible_length"),
    "too-small": message("tail.shorter_than_header"),
    "marker": message("tail.marker_unreadable"),
}


LEADER_EPOCHS = message("way_out.restore_leader_epochs")
PARTITION_METADATA = message("way_out.write_partition_metadata")
DIRECTORY_ID = message("way_out.give_own_directory_id")
FORMAT_DIRECTORY = message("way_out.format_directory")
OTHER_BROKERS_DIRECTORY = message("way_out.take_out_other_brokers_directory")
PROPERTIES = message("way_out.write_meta_properties")
BOOTSTRAP = message("way_out.move_bootstrap_away")
QUORUM_STATE = message("way_out.restore_quorum_state")
CLUSTER_SNAPSHOT = message("way_out.fetch_cluster_metadata_again")
TXN_INDEX = message("way_out.move_txnindex_and_index_away")
BAD_OFFSET = message("way_out.impossible_base_offset")
LOG_TOO_LARGE = message("way_out.log_too_large")
UNREADABLE_MESSAGE = message("way_out.restore_unreadable_message")
CORRUPT_LOG = message("way_out.recover_corrupt_log")

PRODUCERS = message("way_out.put_snapshots_back")
