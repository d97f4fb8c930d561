"""Java classes of what Kafka throws in many places, as its logs and its tools print them."""

ILLEGAL_ARGUMENT = "java.lang.IllegalArgumentException"
OUT_OF_MEMORY = "java.lang.OutOfMemoryError"
INVALID_RECORD = "org.apache.kafka.common.InvalidRecordException"
