"""The settings of a log: Kafka's names, defaults and limits, by release.

log/settings.py finds the value that a directory was run with. The simulator takes the defaults and
refuses the values that Kafka refuses. The source is LogConfig and KafkaConfig (ConfigDef) of Kafka
4.4.0, with the changes since 0.10.

    setting("segment.index.bytes").default((4, 3))        10485760
    topic_name("log.roll.hours")                          Synonym("segment.ms", 3600000):
                                                          an hour in the topic's unit
    setting("segment.index.bytes").parse("3", (4, 3))     RefusedSetting: Invalid value 3 for
                                                          configuration segment.index.bytes:
                                                          Value must be at least 4

A release is a tuple such as (4, 3) or (4, 3, 1). A value is an int, float, bool or str; a list is
kept as its text. None means not set.
"""

import re
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

from kafkaviz.errors import RefusedSetting
from kafkaviz.messages import message
from kafkaviz.units import DAY_MS, HOUR_MS, MINUTE_MS
from kafkaviz.versions import Release

Value = Any  # int, float, bool, str or None, by the setting's kind
# pairs (first release, value), oldest first; or the value in all releases
ByRelease = tuple[tuple[Release, Value], ...] | Value

INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1
ARRAY_MAX = INT_MAX - 8  # the longest array of a JVM
DIRTY_RATIO = "min.cleanable.dirty.ratio"
ANY: Release = (0,)
_NUMBERS = {"int": INT_MAX, "long": LONG_MAX}
_INTEGER = re.compile("[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[dDfF]?")


class Synonym(NamedTuple):
    """The topic setting that a topic or broker name stands for."""

    name: str  # the name of the topic setting
    factor: int  # multiplies a value to get the topic's unit: 3600000 from hours to ms


@dataclass(frozen=True)
class Setting:
    """A setting that topics have, or that only brokers have."""

    name: str
    kind: str  # "int", "long", "double", "boolean", "string" or "list"
    defaults: ByRelease  # the value if none is set, by release
    # the broker's name for the setting; "log." means "log." plus `name`; None if there is none. For
    # several names or another unit, the tuple that `broker_names` returns.
    broker_name: str | tuple[tuple[str, int], ...] | None = "log."
    _: KW_ONLY
    minimum: ByRelease = None  # the least value for a topic, by release
    maximum: Value = None  # the largest value for a topic
    exception_value: Value = None  # a value allowed outside the limits
    choices: tuple[str, ...] = ()  # for a list: the choices for each item
    # the least value under a broker's name, by release, if it differs
    broker_minimum: ByRelease = None
    since: Release = ANY  # the first release that knows the setting
    until: Release | None = None  # the first release that does not know it any more
    # a range (since, until) of older releases that know it too
    backport: tuple[Release, Release] | None = None

    @property
    def broker_names(self) -> tuple[tuple[str, int], ...]:
        """The broker's names, each with a factor to the topic's unit; the first has precedence."""
        if isinstance(self.broker_name, tuple):
            return self.broker_name
        if self.broker_name is None:
            return ()
        return ((f"log.{self.name}" if self.broker_name == "log." else self.broker_name, 1),)

    def is_known_to(self, release: Release) -> bool:
        if self.backport and self.backport[0] <= release < self.backport[1]:
            return True
        return self.since <= release and (self.until is None or release < self.until)

    def default(self, release: Release) -> Value:
        return _value_in(self.defaults, release)

    def topic_minimum(self, release: Release) -> Value:
        return _value_in(self.minimum, release)

    def parse(
        self,
        text: str,
        release: Release,
        broker_name: str | None = None,
        *,
        within_limits: bool = True,
    ) -> Value:
        """Parses a text as a value in the topic's unit. Raises RefusedSetting with Kafka's reason.

        Args:
            broker_name: the broker's name under which the value was given; None: the topic's name.
            within_limits: whether the minimum of `release` applies. If False, the lowest minimum of
                all releases applies. Use False for a value that a broker has run with.
        """
        factor = dict(self.broker_names).get(broker_name) if broker_name else 1
        if factor is None:
            raise ValueError(f"{broker_name} is no name of {self.name}")
        kind = "int" if broker_name and broker_name.endswith((".hours", ".minutes")) else self.kind
        value = _parse_value(broker_name or self.name, text, kind)
        minimums = self.minimum
        if broker_name and self.broker_minimum is not None:
            minimums = self.broker_minimum
        minimum = _value_in(minimums, release)
        if not within_limits:
            minimum = min(least for _, least in _pairs(minimums))
        self._check(broker_name or self.name, text, value, minimum)
        return value * factor if isinstance(value, int) and factor != 1 and value >= 0 else value

    def _check(self, name: str, text: str, value: Value, minimum: Value) -> None:
        reason = None
        most = self.maximum
        if self.exception_value is not None:
            if value != self.exception_value and not minimum <= value <= most:
                key = "setting.between_or_equal"
                reason = message(key, least=minimum, most=most, besides=self.exception_value)
        elif minimum is not None and not value >= minimum:  # written this way, NaN is refused
            reason = message("setting.at_least", least=minimum)
        elif most is not None and value > most:
            reason = message("setting.at_most", most=most)
        if reason:
            raise RefusedSetting(name, text, reason)
        items = value.split(",") if self.kind == "list" and value else [value]
        for item in items if self.choices and value != "" else ():
            if item not in self.choices:
                raise RefusedSetting(name, item, message("setting.one_of", choices=self.choices))


def _by_name(*settings: Setting) -> dict[str, Setting]:
    return {setting.name: setting for setting in settings}


# one row per setting
# fmt: off
TOPIC_SETTINGS: dict[str, Setting] = _by_name(
    # when a segment is full
    # KAFKA-19080, KAFKA-16368
    Setting("segment.bytes", "int", 1 << 30, minimum=((ANY, 14), ((4, 1), 1 << 20)),
            broker_minimum=((ANY, 14), ((4, 0), 1 << 20))),
    # if set, it takes precedence over segment.bytes
    Setting("internal.segment.bytes", "int", None, None, since=(4, 1)),
    Setting("segment.ms", "long", 7 * DAY_MS, (("log.roll.ms", 1), ("log.roll.hours", HOUR_MS)),
            minimum=1),
    Setting("segment.jitter.ms", "long", 0,
            (("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", HOUR_MS)), minimum=0),
    Setting("segment.index.bytes", "int", 10 << 20, "log.index.size.max.bytes",
            minimum=((ANY, 0), ((3, 3), 4))),
    # the indexes
    Setting("index.interval.bytes", "int", 4096, minimum=0),
    # limits of a batch
    Setting("max.message.bytes", "int", ((ANY, 1_000_012), ((2, 5), 1_048_588)),
            "message.max.bytes", minimum=0),
    Setting("max.decompressed.message.bytes", "int", ARRAY_MAX, "max.decompressed.message.bytes",
            minimum=1, maximum=ARRAY_MAX, since=(4, 4), backport=((4, 2, 2), (4, 3))),
    Setting("message.timestamp.type", "string", "CreateTime",
            choices=("CreateTime", "LogAppendTime"), since=(0, 10)),
    Setting("message.timestamp.before.max.ms", "long", LONG_MAX, minimum=0, since=(3, 6)),
    Setting("message.timestamp.after.max.ms", "long", ((ANY, LONG_MAX), ((4, 0), HOUR_MS)),
            minimum=0, since=(3, 6)),
    Setting("message.timestamp.difference.max.ms", "long", LONG_MAX, minimum=0, since=(0, 10),
            until=(4, 0)),
    # None: the broker's own release
    Setting("message.format.version", "string", ((ANY, None), ((3, 0), "3.0-IV1")), since=(0, 10),
            until=(4, 0)),
    Setting("message.downconversion.enable", "boolean", True, since=(2, 0), until=(4, 0)),
    Setting("compression.type", "string", "producer", "compression.type",
            choices=("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")),
    Setting("compression.gzip.level", "int", -1, "compression.gzip.level", minimum=1, maximum=9,
            exception_value=-1, since=(3, 8)),
    Setting("compression.lz4.level", "int", 9, "compression.lz4.level", minimum=1, maximum=17,
            since=(3, 8)),
    Setting("compression.zstd.level", "int", 3, "compression.zstd.level", minimum=-131_072,
            maximum=22, since=(3, 8)),
    # writing to disk
    Setting("preallocate", "boolean", False),
    Setting("flush.messages", "long", LONG_MAX, "log.flush.interval.messages", minimum=1),
    Setting("flush.ms", "long", LONG_MAX,
            (("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1)), minimum=0),
    # retention and compaction
    Setting("cleanup.policy", "list", "delete", choices=("compact", "delete")),
    Setting("retention.ms", "long", 7 * DAY_MS,
            (("log.retention.ms", 1), ("log.retention.minutes", MINUTE_MS),
             ("log.retention.hours", HOUR_MS)), minimum=-1),
    Setting("retention.bytes", "long", -1),
    Setting("file.delete.delay.ms", "long", MINUTE_MS, "log.segment.delete.delay.ms", minimum=0),
    Setting("delete.retention.ms", "long", DAY_MS, "log.cleaner.delete.retention.ms", minimum=0),
    Setting(DIRTY_RATIO, "double", 0.5, "log.cleaner.min.cleanable.ratio",
            minimum=0, maximum=1),
    Setting("min.compaction.lag.ms", "long", 0, "log.cleaner.min.compaction.lag.ms", minimum=0,
            since=(0, 10, 1)),
    Setting("max.compaction.lag.ms", "long", LONG_MAX, "log.cleaner.max.compaction.lag.ms",
            minimum=1, since=(2, 3)),
    Setting("remote.storage.enable", "boolean", False, None, since=(3, 6)),
    Setting("remote.log.copy.disable", "boolean", False, None, since=(3, 9)),
    Setting("remote.log.delete.on.disable", "boolean", False, None, since=(3, 9)),
    Setting("local.retention.ms", "long", -2, minimum=-2, since=(3, 6)),
    Setting("local.retention.bytes", "long", -2, minimum=-2, since=(3, 6)),
    Setting("remote.copy.lag.ms", "long", 0, minimum=-1, since=(4, 4)),
    Setting("remote.copy.lag.bytes", "long", -1, minimum=-1, since=(4, 4)),
    # replication
    Setting("min.insync.replicas", "int", 1, "min.insync.replicas", minimum=1),
    Setting("unclean.leader.election.enable", "boolean", False, "unclean.leader.election.enable"),
    Setting("leader.replication.throttled.replicas", "list", "", None),
    Setting("follower.replication.throttled.replicas", "list", "", None),
    # share groups
    Setting("errors.deadletterqueue.group.enable", "boolean", False, None, since=(4, 4)),
)

BROKER_SETTINGS: dict[str, Setting] = _by_name(  # settings that no topic has
    Setting("producer.id.expiration.ms", "int", DAY_MS, "producer.id.expiration.ms", minimum=1,
            since=(3, 4)),
    # up to 3.3 it also set when producer ids expire (KIP-854)
    Setting("transactional.id.expiration.ms", "int", 7 * DAY_MS, "transactional.id.expiration.ms",
            minimum=1),
    Setting("log.retention.check.interval.ms", "long", 5 * MINUTE_MS, None, minimum=1),
    Setting("num.recovery.threads.per.data.dir", "int", ((ANY, 1), ((4, 0), 2)), None, minimum=1),
    Setting("log.cleaner.io.buffer.size", "int", 512 << 10, None, minimum=0),
    Setting("log.cleaner.threads", "int", 1, None, minimum=0),
    Setting("log.cleaner.dedupe.buffer.size", "long", 128 << 20, None),
    Setting("log.cleaner.io.buffer.load.factor", "double", 0.9, None),
    Setting("log.flush.offset.checkpoint.interval.ms", "int", MINUTE_MS, None, minimum=0),
    Setting("log.flush.start.offset.checkpoint.interval.ms", "int", MINUTE_MS, None, minimum=0),
    Setting("replica.fetch.max.bytes", "int", 1 << 20, None, minimum=0),
    Setting("metadata.log.segment.bytes", "int", 1 << 30, None, minimum=8 << 20),
    Setting("metadata.log.segment.ms", "long", 7 * DAY_MS, None),
    Setting("metadata.max.retention.bytes", "long", 100 << 20, None),
    Setting("metadata.max.retention.ms", "long", 7 * DAY_MS, None),
)
# fmt: on

_SYNONYMS = {
    broker_name: Synonym(definition.name, factor)
    for definition in TOPIC_SETTINGS.values()
    for broker_name, factor in definition.broker_names
}


def setting(name: str) -> Setting:
    """Returns the setting with this topic-level or broker-level name: segment.ms or log.roll.ms.

    Raises RefusedSetting if no setting has this name.
    """
    synonym = topic_name(name)
    definition = TOPIC_SETTINGS[synonym.name] if synonym else BROKER_SETTINGS.get(name)
    if not definition:
        raise RefusedSetting(name, None, message("setting.unknown_name", name=name))
    return definition


def topic_name(name: str) -> Synonym | None:
    """Returns the topic setting that a name stands for; None if there is none."""
    return Synonym(name, 1) if name in TOPIC_SETTINGS else _SYNONYMS.get(name)


def label(name: str) -> str:
    """Returns a setting's name and the broker's main name for it: segment.ms (log.roll.ms)."""
    definition = TOPIC_SETTINGS.get(name)
    broker_names = [other for other, _ in definition.broker_names] if definition else []
    return f"{name} ({broker_names[0]})" if broker_names not in ([], [name]) else name


def defaults(release: Release) -> dict[str, Value]:
    """Returns every topic setting that the release knows, with its default."""
    return {
        name: definition.default(release)
        for name, definition in TOPIC_SETTINGS.items()
        if definition.is_known_to(release)
    }


def parse(name: str, text: str, release: Release) -> tuple[str, Value]:
    """Returns a setting's topic-level name, and its value in the unit of the topic-level setting.

    Raises RefusedSetting if the name is unknown or Kafka refuses the value.
    """
    definition = setting(name)
    return definition.name, definition.parse(
        text, release, None if name == definition.name else name
    )


def _pairs(by_release: ByRelease) -> tuple[tuple[Release, Value], ...]:
    return by_release if isinstance(by_release, tuple) else ((ANY, by_release),)


def _value_in(by_release: ByRelease, release: Release) -> Value:
    """Returns the value for a release; the first value if all listed releases are newer."""
    pairs = _pairs(by_release)
    return next((value for first, value in reversed(pairs) if first <= release), pairs[0][1])


def _parse_value(name: str, text: str, kind: str) -> Value:
    """Parses a value as Kafka's ConfigDef.parseType does. Raises RefusedSetting if Kafka throws."""
    content = text.strip()
    if kind == "list":
        return re.sub(r"\s*,\s*", ",", content)
    if kind == "boolean":
        if content.lower() not in ("true", "false"):
            raise RefusedSetting(name, text, message("setting.true_or_false"))
        return content.lower() == "true"
    if kind == "double":
        return _double(name, text, content)
    if kind not in _NUMBERS:
        return content
    limit = _NUMBERS[kind]
    is_number = len(content) < 32 and _INTEGER.fullmatch(content)
    if not is_number or not -limit - 1 <= int(content) <= limit:
        raise RefusedSetting(name, text, message("setting.not_a_number", kind=kind.upper()))
    return int(content)


def _double(name: str, text: str, content: str) -> float:
    if content.lstrip("+-") in ("NaN", "Infinity"):
        return float(content)
    if not _DECIMAL.fullmatch(content):
        raise RefusedSetting(name, text, message("setting.not_a_number", kind="DOUBLE"))
    return float(content.rstrip("dDfF"))
