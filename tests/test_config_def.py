import pytest

from kafkaviz import config_def
from kafkaviz.errors import RefusedSetting

NEWEST = (4, 4, 0)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("segment.bytes", " 2000000 ", 2_000_000),
        ("segment.bytes", "+2000000", 2_000_000),
        ("preallocate", " TRUE ", True),
        ("min.cleanable.dirty.ratio", "0.5f", 0.5),
        ("cleanup.policy", "compact, delete", "compact,delete"),
        ("cleanup.policy", "", ""),
        ("retention.bytes", "-5", -5),
        ("segment.jitter.ms", "99999999999", 99_999_999_999),
        ("internal.segment.bytes", "5", 5),
        ("log.roll.hours", "2", 7_200_000),
        ("log.retention.minutes", "3", 180_000),
        ("log.retention.hours", "-1", -1),
        ("log.index.interval.bytes", "0", 0),
        ("compression.gzip.level", "-1", -1),
        ("max.decompressed.message.bytes", "1", 1),
        ("log.remote.copy.lag.ms", "-1", -1),
        ("remote.copy.lag.bytes", "-1", -1),
        ("errors.deadletterqueue.group.enable", "TRUE", True),
    ],
)
def test_a_value_is_read_in_the_topics_unit(name, text, value):
    """A broker's name is accepted for the topic's, and hours and minutes become milliseconds."""
    assert config_def.parse(name, text, NEWEST)[1] == value


@pytest.mark.parametrize(
    "line",
    """\
flush.messages=0 -> Invalid value 0 for configuration flush.messages: Value must be at least 1
segment.bytes=100 -> Invalid value 100 for configuration segment.bytes: Value must be at least 1048576
segment.bytes=x -> Invalid value x for configuration segment.bytes: Not a number of type INT
segment.bytes= -> Invalid value  for configuration segment.bytes: Not a number of type INT
segment.bytes=99999999999 -> Invalid value 99999999999 for configuration segment.bytes: Not a number of type INT
preallocate=yes -> Invalid value yes for configuration preallocate: Expected value to be either true or false
min.cleanable.dirty.ratio=1.5 -> Invalid value 1.5 for configuration min.cleanable.dirty.ratio: Value must be no more than 1
min.cleanable.dirty.ratio=-0.1 -> Invalid value -0.1 for configuration min.cleanable.dirty.ratio: Value must be at least 0
min.cleanable.dirty.ratio=Infinity -> Invalid value Infinity for configuration min.cleanable.dirty.ratio: Value must be no more than 1
min.cleanable.dirty.ratio=a -> Invalid value a for configuration min.cleanable.dirty.ratio: Not a number of type DOUBLE
message.timestamp.type=x -> Invalid value x for configuration message.timestamp.type: String must be one of: CreateTime, LogAppendTime
cleanup.policy=x -> Invalid value x for configuration cleanup.policy: String must be one of: compact, delete
compression.gzip.level=0 -> Invalid value 0 for configuration compression.gzip.level: Value must be between 1 and 9 or equal to -1
compression.lz4.level=0 -> Invalid value 0 for configuration compression.lz4.level: Value must be at least 1
segment.ms=0 -> Invalid value 0 for configuration segment.ms: Value must be at least 1
retention.ms=-2 -> Invalid value -2 for configuration retention.ms: Value must be at least -1
max.decompressed.message.bytes=0 -> Invalid value 0 for configuration max.decompressed.message.bytes: Value must be at least 1
max.decompressed.message.bytes=2147483640 -> Invalid value 2147483640 for configuration max.decompressed.message.bytes: \
Value must be no more than 2147483639
remote.copy.lag.ms=-2 -> Invalid value -2 for configuration remote.copy.lag.ms: Value must be at least -1
remote.copy.lag.bytes=-2 -> Invalid value -2 for configuration remote.copy.lag.bytes: Value must be at least -1
remote.copy.lag.bytes=x -> Invalid value x for configuration remote.copy.lag.bytes: Not a number of type LONG
errors.deadletterqueue.group.enable=1 -> Invalid value 1 for configuration errors.deadletterqueue.group.enable: \
Expected value to be either true or false
nope=1 -> Unknown topic config name: nope""".splitlines(),
)
def test_a_value_is_refused_with_kafkas_words(line):
    """The words of LogConfig.validate of 4.4.0; 4.3.1 says the same of those that it knows."""
    value_text, words = line.split(" -> ")
    name, _, text = value_text.partition("=")
    with pytest.raises(RefusedSetting) as refused:
        config_def.parse(name, text, NEWEST)
    assert str(refused.value) == words


@pytest.mark.parametrize(
    ("name", "text", "accepts", "refuses"),
    [
        ("segment.bytes", "14", (4, 0), (4, 1)),
        ("log.segment.bytes", "14", (3, 9), (4, 0)),
        ("segment.index.bytes", "3", (3, 2), (3, 3)),
    ],
)
def test_limits_moved_with_the_releases(name, text, accepts, refuses):
    assert config_def.parse(name, text, accepts)[1] == int(text)
    with pytest.raises(RefusedSetting):
        config_def.parse(name, text, refuses)


def test_defaults_moved_with_the_releases():
    """Only settings that a release knows have a default in it."""
    assert config_def.defaults((2, 4))["max.message.bytes"] == 1_000_012
    assert config_def.defaults((2, 5))["max.message.bytes"] == 1_048_588
    assert "message.timestamp.after.max.ms" not in config_def.defaults((3, 5))
    assert config_def.defaults((3, 9))["message.timestamp.after.max.ms"] == 2**63 - 1
    assert config_def.defaults(NEWEST)["message.timestamp.after.max.ms"] == 3_600_000
    assert "message.timestamp.difference.max.ms" not in config_def.defaults(NEWEST)
    assert config_def.setting("num.recovery.threads.per.data.dir").default((3, 9)) == 1


def test_settings_that_came_with_4_4():
    """Their defaults by LogConfig.CONFIG of 4.4.0; the limit of unpacked batches came to 4.2.2 too."""
    brought = {
        "max.decompressed.message.bytes": 2_147_483_639,
        "remote.copy.lag.ms": 0,
        "remote.copy.lag.bytes": -1,
        "errors.deadletterqueue.group.enable": False,
    }
    known = {
        release: config_def.defaults(release)
        for release in ((4, 2, 1), (4, 2, 2), (4, 3, 1), (4, 4))
    }
    definitions = {
        release: {name: settings[name] for name in brought if name in settings}
        for release, settings in known.items()
    }
    patched = {"max.decompressed.message.bytes": 2_147_483_639}
    assert definitions == {(4, 2, 1): {}, (4, 2, 2): patched, (4, 3, 1): {}, (4, 4): brought}


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("index.interval.bytes", "index.interval.bytes (log.index.interval.bytes)"),
        ("segment.ms", "segment.ms (log.roll.ms)"),
        ("internal.segment.bytes", "internal.segment.bytes"),
        ("min.insync.replicas", "min.insync.replicas"),
        ("log.cleaner.threads", "log.cleaner.threads"),
    ],
)
def test_a_label_has_the_name_of_a_topic_and_of_a_broker(name, label):
    assert config_def.label(name) == label
