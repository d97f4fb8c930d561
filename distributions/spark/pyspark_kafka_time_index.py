"""Where Spark finds the format kafka_time_index by itself; no code imports it by name."""

from kafkaviz.pipeline.datasource.installed import InstalledSource


class DefaultSource(InstalledSource):
    FORMAT = "kafka_time_index"
