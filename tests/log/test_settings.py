"""Settings and topic ids, compared with the values the topics were created with."""

import json
import tarfile
from collections.abc import Sequence

import pytest

from kafkaviz import config_def
from kafkaviz.errors import RefusedSetting
from kafkaviz.log import metadata_log, settings
from kafkaviz.log.broker import Broker, LogDirectory, open_broker
from kafkaviz.log.metadata_log import ConfigValue, MetadataImage
from kafkaviz.log.settings import Origin, Settings, SettingValue
from kafkaviz.messages import message
from tests.support.recorded_archives import RECORDED_ARCHIVES

RECORDED = [name for name in RECORDED_ARCHIVES if name >= "kafka-3"]
SET_LATER = {("kafka-4.3.1-unstartable", "meter-readings"): {"segment.index.bytes": "1024"}}
NEWEST = (4, 4)


def value(setting_value: SettingValue) -> tuple:
    return setting_value.value, setting_value.origin


@pytest.mark.parametrize("name", RECORDED)
def test_every_topic_has_the_settings_it_was_created_with(shared, name):
    """From the snapshot and the log; a later change counts."""
    opened_settings = settings.open_settings(open_broker(shared / "data" / f"{name}.tar.gz"))
    with tarfile.open(shared / "data" / f"{name}.expected.tar.gz") as expected:
        topics = json.load(expected.extractfile(f"{name}.expected/topics.json"))
    if not isinstance(topics, dict):
        topics = {topic.get("name", topic.get("topic")): topic for topic in topics}
    for topic, values in topics.items():
        created_with = (values.get("configs") or {}) | SET_LATER.get((name, topic), {})
        image_configs = opened_settings.image.topic_configs(topic)
        configs = {setting: config.value for setting, config in image_configs.items()}
        assert configs == {setting: str(text) for setting, text in created_with.items()}, topic
        topic_settings = opened_settings.topic_settings(topic)
        own = {key for key, each in topic_settings.items() if each.origin == Origin.TOPIC}
        assert own == set(configs)
    assert opened_settings.problems == ()


@pytest.mark.parametrize("name", RECORDED)
def test_every_partition_belongs_to_the_topic_that_the_metadata_log_names(shared, name):
    broker = open_broker(shared / "data" / f"{name}.tar.gz")
    ids = settings.open_settings(broker).topic_ids
    for partition in broker.partitions:
        if partition.state == "current" and partition.directory != metadata_log.DIRECTORY:
            assert partition.topic_id == ids.get(partition.topic), partition.topic
    assert "obsolete-2019" not in ids


def test_the_sample_broker(clean):
    """A value of a ConfigRecord names that source; any other is Kafka's default."""
    topic_settings = settings.open_settings(open_broker(clean)).topic_settings("tiny-index")
    interval = topic_settings["index.interval.bytes"]
    assert value(interval) == (150, Origin.TOPIC)
    source = str(interval.source)
    assert source.startswith("index.interval.bytes, ConfigRecord at offset ")
    assert metadata_log.DIRECTORY in source
    assert value(topic_settings["segment.ms"]) == (604_800_000, Origin.DEFAULT)
    assert topic_settings["segment.ms"].source == message("setting_source.default", release="4.4")


def test_a_properties_file_comes_before_the_defaults(clean, tmp_path):
    """By Kafka's precedence of names: minutes count before hours."""
    path = tmp_path / "server.properties"
    path.write_text(
        "log.retention.hours=1\nlog.retention.minutes=3\nlog.segment.bytes=1048576\n"
        "log.preallocate=perhaps\n"
    )
    (tmp_path / "data").symlink_to(clean)
    opened_settings = settings.open_settings(open_broker(tmp_path / "data"))
    assert value(opened_settings.find("orders", "retention.ms")) == (180_000, Origin.FILE)
    assert opened_settings.find("orders", "retention.ms").source == message(
        "setting_source.file", name="log.retention.minutes", path=path
    )
    assert value(opened_settings.find("orders", "segment.bytes")) == (1 << 20, Origin.FILE)
    assert value(opened_settings.find("orders", "preallocate")) == (False, Origin.DEFAULT)


@pytest.mark.parametrize(("node", "is_read"), [("1", True), ("2", False), (None, True)])
def test_a_file_of_another_node_is_passed_over(tmp_path, node, is_read):
    """A folder with several brokers' directories may have the file of one of them."""
    (tmp_path / "data").mkdir()
    node_id = f"node.id={node}\n" if node else ""
    (tmp_path / "server.properties").write_text(f"log.roll.ms=5\n{node_id}")
    path = tmp_path / "data"
    directory = LogDirectory(path=path, source=path, properties={"node.id": "1"})
    broker = Broker(sources=(path,), log_directories=(directory,), partitions=())
    setting = settings.open_settings(broker).find("orders", "segment.ms")
    assert setting.value == (5 if is_read else 604_800_000)


# the origins of segment.ms, the strongest first, with the values that they have
ORIGINS = {
    "typed": (1, Origin.TYPED),
    "topic": (5, Origin.TOPIC),
    "broker": (7_200_000, Origin.BROKER),
    "cluster": (7, Origin.CLUSTER),
    "typed of the broker": (10_800_000, Origin.TYPED),
    "file": (8, Origin.FILE),
}


def settings_with(origins: Sequence[str]) -> Settings:
    configs = {
        "topic": ((2, "orders"), "segment.ms", "5"),
        "broker": ((4, "1"), "log.roll.hours", "2"),
        "cluster": ((4, ""), "log.roll.ms", "7"),
    }
    image = MetadataImage(
        configs={
            resource: {name: ConfigValue(text, "0.log", 7)}
            for origin, (resource, name, text) in configs.items()
            if origin in origins
        }
    )
    overrides = {"segment.ms": "1"} if "typed" in origins else {}
    if "typed of the broker" in origins:
        overrides["log.roll.hours"] = "3"
    properties = {"log.roll.ms": "8"} if "file" in origins else {}
    return Settings(
        release=NEWEST, image=image, node_id="1", overrides=overrides, properties=properties
    )


@pytest.mark.parametrize("strongest", ORIGINS)
def test_the_strongest_origin_counts(strongest):
    """With all weaker ones; a broker's setting that was typed is weaker than a record."""
    origins = list(ORIGINS)
    found = settings_with(origins[origins.index(strongest) :]).find("orders", "segment.ms")
    assert value(found) == ORIGINS[strongest]


def test_without_an_origin_the_default_counts():
    found = settings_with(()).find("orders", "segment.ms")
    assert value(found) == (604_800_000, Origin.DEFAULT)


def test_what_a_person_types_is_checked_against_the_limits(clean):
    broker = open_broker(clean)
    with pytest.raises(RefusedSetting, match="Value must be at least 4"):
        settings.open_settings(broker, overrides={"segment.index.bytes": "3"})
    with pytest.raises(RefusedSetting, match=r"Unknown topic config name: index\.interval"):
        settings.open_settings(broker, overrides={"index.interval": "3"})
    config = {"segment.index.bytes": ConfigValue("3", "0.log", 1)}
    image = MetadataImage(configs={(2, "orders"): config})
    assert Settings(release=NEWEST, image=image).find("orders", "segment.index.bytes").value == 3


def test_the_metadata_log_has_settings_of_its_own():
    """KafkaRaftLog uses metadata.log.* and Kafka's defaults."""
    opened_settings = Settings(
        release=NEWEST,
        image=MetadataImage(),
        node_id="1",
        overrides={},
        properties={"metadata.log.segment.bytes": "8388608", "log.index.interval.bytes": "1"},
    )
    size = opened_settings.find("__cluster_metadata", "segment.bytes")
    interval = opened_settings.find("__cluster_metadata", "index.interval.bytes")
    assert value(size) == (8 << 20, Origin.FILE)
    assert value(interval) == (4096, Origin.DEFAULT)


@pytest.mark.parametrize(
    "line",
    [
        "log.index.interval.bytes=-2147483648",
        "log.segment.bytes=13",
        "log.roll.ms=0",
        "log.index.size.max.bytes=-1",
        "log.cleaner.min.cleanable.ratio=NaN",
    ],
)
def test_a_value_that_no_release_takes_is_passed_over(tmp_path, line):
    """From the source: ConfigDef refuses it in every release, so no broker ran with it."""
    (tmp_path / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=c\n")
    (tmp_path / "t-0").mkdir()
    (tmp_path / "server.properties").write_text(f"node.id=1\n{line}\n")
    name = config_def.topic_name(line.partition("=")[0]).name
    setting = settings.open_settings(open_broker(tmp_path)).find("t", name)
    assert setting.origin == Origin.DEFAULT
