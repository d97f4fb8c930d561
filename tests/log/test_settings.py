"""Settings and topic ids, compared with the values the topics were created with."""

import json
import tarfile

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
    topic_configs = (
        topics.items()
        if isinstance(topics, dict)
        else ((topic.get("name", topic.get("topic")), topic) for topic in topics)
    )
    for topic, values in topic_configs:
        configs = {
            setting: str(text) for setting, text in (values.get("configs") or {}).items()
        } | SET_LATER.get((name, topic), {})
        assert {
            setting: config.value
            for setting, config in opened_settings.image.topic_configs(topic).items()
        } == configs, topic
        assert {
            setting
            for setting, topic_setting in opened_settings.topic_settings(topic).items()
            if topic_setting.origin == Origin.TOPIC
        } == set(configs)
    assert opened_settings.problems == ()


@pytest.mark.parametrize("name", RECORDED)
def test_every_partition_belongs_to_the_topic_that_the_metadata_log_names(shared, name):
    broker = open_broker(shared / "data" / f"{name}.tar.gz")
    ids = settings.open_settings(broker).topic_ids
    current = [
        partition
        for partition in broker.partitions
        if partition.state == "current" and partition.directory != metadata_log.DIRECTORY
    ]
    assert {resource.topic: resource.topic_id for resource in current} == {
        resource.topic: ids.get(resource.topic) for resource in current
    }
    assert "obsolete-2019" not in ids


def test_the_sample_broker(clean):
    """A value of a ConfigRecord names that source; any other is Kafka's default."""
    topic_settings = settings.open_settings(open_broker(clean)).topic_settings("tiny-index")
    interval = topic_settings["index.interval.bytes"]
    assert value(interval) == (150, Origin.TOPIC)
    assert str(interval.source).startswith(
        "index.interval.bytes, ConfigRecord at offset "
    ) and metadata_log.DIRECTORY in str(interval.source)
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
    (tmp_path / "server.properties").write_text(
        "log.roll.ms=5\n" + (f"node.id={node}\n" if node else "")
    )
    path = tmp_path / "data"
    broker = Broker(
        sources=(path,),
        log_directories=(LogDirectory(path=path, source=path, properties={"node.id": "1"}),),
        partitions=(),
    )
    assert settings.open_settings(broker).find("orders", "segment.ms").value == (
        5 if is_read else 604_800_000
    )


def settings_with(**origins) -> Settings:
    configs = {
        (2, "orders"): {"segment.ms": origins.get("topic")},
        (4, "1"): {"log.roll.hours": origins.get("broker")},
        (4, ""): {"log.roll.ms": origins.get("cluster")},
    }
    values = {
        key: {name: ConfigValue(text, "0.log", 7) for name, text in config.items() if text}
        for key, config in configs.items()
    }
    properties = {"log.roll.ms": origins["file"]} if "file" in origins else {}
    typed = {
        "segment.ms": origins.get("typed"),
        "log.roll.hours": origins.get("typed_of_the_broker"),
    }
    typed = {name: text for name, text in typed.items() if text}
    return Settings(
        release=NEWEST,
        image=MetadataImage(configs=values),
        node_id="1",
        overrides=typed,
        properties=properties,
    )


@pytest.mark.parametrize(
    ("origins", "expected"),
    [
        (
            {
                "typed": "1",
                "typed_of_the_broker": "3",
                "topic": "5",
                "broker": "2",
                "cluster": "7",
                "file": "8",
            },
            (1, Origin.TYPED),
        ),
        (
            {"typed_of_the_broker": "3", "topic": "5", "broker": "2", "cluster": "7", "file": "8"},
            (5, Origin.TOPIC),
        ),
        (
            {"typed_of_the_broker": "3", "broker": "2", "cluster": "7", "file": "8"},
            (7_200_000, Origin.BROKER),
        ),
        ({"typed_of_the_broker": "3", "cluster": "7", "file": "8"}, (7, Origin.CLUSTER)),
        ({"typed_of_the_broker": "3", "file": "8"}, (10_800_000, Origin.TYPED)),
        ({"topic": "5", "broker": "2", "cluster": "7", "file": "8"}, (5, Origin.TOPIC)),
        ({"broker": "2", "cluster": "7", "file": "8"}, (7_200_000, Origin.BROKER)),
        ({"cluster": "7", "file": "8"}, (7, Origin.CLUSTER)),
        ({"file": "8"}, (8, Origin.FILE)),
        ({}, (604_800_000, Origin.DEFAULT)),
    ],
)
def test_the_strongest_origin_counts(origins, expected):
    assert value(settings_with(**origins).find("orders", "segment.ms")) == expected


def test_what_a_person_types_is_checked_against_the_limits(clean):
    broker = open_broker(clean)
    with pytest.raises(RefusedSetting, match="Value must be at least 4"):
        settings.open_settings(broker, overrides={"segment.index.bytes": "3"}).topic_settings(
            "orders"
        )
    with pytest.raises(RefusedSetting, match=r"Unknown topic config name: index\.interval"):
        settings.open_settings(broker, overrides={"index.interval": "3"})
    image = MetadataImage(
        configs={(2, "orders"): {"segment.index.bytes": ConfigValue("3", "0.log", 1)}}
    )
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
    assert value(opened_settings.find("__cluster_metadata", "segment.bytes")) == (
        8 << 20,
        Origin.FILE,
    )
    assert value(opened_settings.find("__cluster_metadata", "index.interval.bytes")) == (
        4096,
        Origin.DEFAULT,
    )


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
