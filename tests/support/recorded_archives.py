"""The recorded directories of real brokers, by the names of their archives in the shared data/."""

RECORDED_ARCHIVES = (
    "kafka-2.8.2-legacy",
    "kafka-3.9.0-follower",
    "kafka-3.9.0-leader",
    "kafka-4.3.1-clean",
    "kafka-4.3.1-damaged",
    "kafka-4.3.1-killed",
    "kafka-4.3.1-killed-restarted",
    "kafka-4.3.1-unstartable",
    "kafka-4.4.0-clean",
    "kafka-4.4.0-killed",
    "kafka-4.4.0-killed-restarted",
)
