"""Java classes of what Kafka throws in many places, as its logs and its tools print them."""

ILLEGAL_ARGUMENT = "java.lang.IllegalArgumentException"
INVALID_RECORD = "org.apache.kafka.common.InvalidRecordException"
