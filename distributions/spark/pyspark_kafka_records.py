"""Where Spark finds the format kafka_records by itself; no code imports it by name."""

from kafkaviz.pipeline.datasource.installed import InstalledSource


class DefaultSource(InstalledSource):
    FORMAT = "kafka_records"
