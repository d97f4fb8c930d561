"""Floor 5: what Kafka writes, byte for byte, from settings, batches and a release; nothing here opens a file."""
