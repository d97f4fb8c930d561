"""The settings of a log: Kafka's names, defaults and limits, by release.

All packages share this table. log/settings.py finds the value that a directory was run with. The
simulator takes the defaults and refuses the values that Kafka refuses. The source is LogConfig and
KafkaConfig (ConfigDef) of Kafka 4.4.0, with the changes since 0.10.

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
from dataclasses import dataclass
from typing import Any, NamedTuple

from kafkaviz.errors import RefusedSetting
from kafkaviz.messages import message
from kafkaviz.versions import Release

Value = Any  # int, float, bool, str or None, by the setting's kind
ByRelease = tuple[tuple[Release, Value], ...]

INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1
ARRAY_MAX = INT_MAX - 8  # the longest array of a JVM
SECOND_MS = 1000
MINUTE_MS = 60_000
HOUR_MS = 3_600_000
DAY_MS = 86_400_000
ANY: Release = (0,)
_NUMBERS = {"int": INT_MAX, "long": LONG_MAX}
_INTEGER = re.compile("[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[dDfF]?")


class Synonym(NamedTuple):
    """The topic setting that a broker's name stands for.

    Attributes:
        name: the topic's name.
        factor: the number of the topic's units in one of the broker's units.
    """

    name: str
    factor: int


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting of a topic, or one that only brokers have.

    Attributes:
        kind: "int", "long", "double", "boolean", "string" or "list".
        defaults: pairs (first release, value), oldest first.
        broker_names: the broker's names for it, highest precedence first, each with its factor to
            the topic's unit.
        minimum: pairs (first release, least value for a topic), oldest first.
        maximum: the largest value for a topic.
        broker_minimum: the same as minimum for a broker's names, if they differ.
        since: the first release that knows the setting.
        until: the first later release that does not know it.
        backport: since and until for an older line whose later patches know it, too.
    """

    name: str
    kind: str
    defaults: ByRelease
    broker_names: tuple[tuple[str, int], ...] = ()
    minimum: ByRelease = ()
    maximum: Value = None
    exception_value: Value = None  # a value allowed outside the limits
    choices: tuple[str, ...] = ()  # for a list: the choices for each item
    broker_minimum: ByRelease | None = None
    since: Release = ANY
    until: Release | None = None
    backport: tuple[Release, Release] | None = None

    def is_known_to(self, release: Release) -> bool:
        if self.backport and self.backport[0] <= release < self.backport[1]:
            return True
        return self.since <= release and (self.until is None or release < self.until)

    def default(self, release: Release) -> Value:
        return _value_in(self.defaults, release)

    def topic_minimum(self, release: Release) -> Value:
        """Returns the least value for a topic in that release, or None without a limit."""
        return _value_in(self.minimum, release)

    def parse(
        self,
        text: str,
        release: Release,
        broker_name: str | None = None,
        *,
        within_limits: bool = True,
    ) -> Value:
        """Returns the value of a text, in the topic's unit.

        Args:
            broker_name: the broker's name for the setting, if the value was given under it.
            within_limits: False for a value that a broker is known to have run with; it may only
                fit the limits of another release.

        Raises:
            RefusedSetting: the release refuses the text, for Kafka's reason.
        """
        factor = dict(self.broker_names).get(broker_name) if broker_name else 1
        if factor is None:
            raise ValueError(f"{broker_name} is no name of {self.name}")
        kind = "int" if broker_name and broker_name.endswith((".hours", ".minutes")) else self.kind
        value = _parse_value(broker_name or self.name, text, kind)
        minimums = self._minimum(broker_name)
        minimum = _value_in(minimums, release)
        if not within_limits:
            minimum = min((least for _, least in minimums), default=None)
        self._check(broker_name or self.name, text, value, minimum)
        return value * factor if isinstance(value, int) and factor != 1 and value >= 0 else value

    def _minimum(self, broker_name: str | None) -> ByRelease:
        if broker_name and self.broker_minimum is not None:
            return self.broker_minimum
        return self.minimum

    def _check(self, name: str, text: str, value: Value, minimum: Value) -> None:
        if self.exception_value is not None:
            if value != self.exception_value and not minimum <= value <= self.maximum:
                raise RefusedSetting(
                    name,
                    text,
                    message(
                        "setting.between_or_equal",
                        least=minimum,
                        most=self.maximum,
                        besides=self.exception_value,
                    ),
                )
        elif minimum is not None and not value >= minimum:  # written this way, NaN is refused
            raise RefusedSetting(name, text, message("setting.at_least", least=minimum))
        elif self.maximum is not None and value > self.maximum:
            raise RefusedSetting(name, text, message("setting.at_most", most=self.maximum))
        items = value.split(",") if self.kind == "list" and value else [value]
        for item in items if self.choices and value != "" else ():
            if item not in self.choices:
                raise RefusedSetting(name, item, message("setting.one_of", choices=self.choices))


def _same_unit(name: str) -> tuple[tuple[str, int], ...]:
    return ((name, 1),)


def _always(value: Value) -> ByRelease:
    return ((ANY, value),)


TOPIC_SETTINGS: dict[str, Setting] = {
    definition.name: definition
    for definition in (
        # when a segment is full
        Setting(
            name="segment.bytes",
            kind="int",
            defaults=_always(1 << 30),
            broker_names=_same_unit("log.segment.bytes"),
            # KAFKA-19080, KAFKA-16368
            minimum=((ANY, 14), ((4, 1), 1 << 20)),
            broker_minimum=((ANY, 14), ((4, 0), 1 << 20)),
        ),
        # if set, it takes precedence over segment.bytes
        Setting(name="internal.segment.bytes", kind="int", defaults=_always(None), since=(4, 1)),
        Setting(
            name="segment.ms",
            kind="long",
            defaults=_always(7 * DAY_MS),
            broker_names=(("log.roll.ms", 1), ("log.roll.hours", HOUR_MS)),
            minimum=_always(1),
        ),
        Setting(
            name="segment.jitter.ms",
            kind="long",
            defaults=_always(0),
            broker_names=(("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", HOUR_MS)),
            minimum=_always(0),
        ),
        Setting(
            name="segment.index.bytes",
            kind="int",
            defaults=_always(10 << 20),
            broker_names=_same_unit("log.index.size.max.bytes"),
            minimum=((ANY, 0), ((3, 3), 4)),
        ),
        # the indexes
        Setting(
            name="index.interval.bytes",
            kind="int",
            defaults=_always(4096),
            broker_names=_same_unit("log.index.interval.bytes"),
            minimum=_always(0),
        ),
        # limits of a batch
        Setting(
            name="max.message.bytes",
            kind="int",
            defaults=((ANY, 1_000_012), ((2, 5), 1_048_588)),
            broker_names=_same_unit("message.max.bytes"),
            minimum=_always(0),
        ),
        Setting(
            name="max.decompressed.message.bytes",
            kind="int",
            defaults=_always(ARRAY_MAX),
            broker_names=_same_unit("max.decompressed.message.bytes"),
            minimum=_always(1),
            maximum=ARRAY_MAX,
            since=(4, 4),
            backport=((4, 2, 2), (4, 3)),
        ),
        Setting(
            name="message.timestamp.type",
            kind="string",
            defaults=_always("CreateTime"),
            broker_names=_same_unit("log.message.timestamp.type"),
            choices=("CreateTime", "LogAppendTime"),
            since=(0, 10),
        ),
        Setting(
            name="message.timestamp.before.max.ms",
            kind="long",
            defaults=_always(LONG_MAX),
            broker_names=_same_unit("log.message.timestamp.before.max.ms"),
            minimum=_always(0),
            since=(3, 6),
        ),
        Setting(
            name="message.timestamp.after.max.ms",
            kind="long",
            defaults=((ANY, LONG_MAX), ((4, 0), HOUR_MS)),
            broker_names=_same_unit("log.message.timestamp.after.max.ms"),
            minimum=_always(0),
            since=(3, 6),
        ),
        Setting(
            name="message.timestamp.difference.max.ms",
            kind="long",
            defaults=_always(LONG_MAX),
            broker_names=_same_unit("log.message.timestamp.difference.max.ms"),
            minimum=_always(0),
            since=(0, 10),
            until=(4, 0),
        ),
        Setting(
            name="message.format.version",
            kind="string",
            defaults=((ANY, None), ((3, 0), "3.0-IV1")),
            broker_names=_same_unit("log.message.format.version"),
            since=(0, 10),
            until=(4, 0),
        ),  # None: the broker's own release
        Setting(
            name="message.downconversion.enable",
            kind="boolean",
            defaults=_always(True),
            broker_names=_same_unit("log.message.downconversion.enable"),
            since=(2, 0),
            until=(4, 0),
        ),
        Setting(
            name="compression.type",
            kind="string",
            defaults=_always("producer"),
            broker_names=_same_unit("compression.type"),
            choices=("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        ),
        Setting(
            name="compression.gzip.level",
            kind="int",
            defaults=_always(-1),
            broker_names=_same_unit("compression.gzip.level"),
            minimum=_always(1),
            maximum=9,
            exception_value=-1,
            since=(3, 8),
        ),
        Setting(
            name="compression.lz4.level",
            kind="int",
            defaults=_always(9),
            broker_names=_same_unit("compression.lz4.level"),
            minimum=_always(1),
            maximum=17,
            since=(3, 8),
        ),
        Setting(
            name="compression.zstd.level",
            kind="int",
            defaults=_always(3),
            broker_names=_same_unit("compression.zstd.level"),
            minimum=_always(-131_072),
            maximum=22,
            since=(3, 8),
        ),
        # writing to disk
        Setting(
            name="preallocate",
            kind="boolean",
            defaults=_always(False),
            broker_names=_same_unit("log.preallocate"),
        ),
        Setting(
            name="flush.messages",
            kind="long",
            defaults=_always(LONG_MAX),
            broker_names=_same_unit("log.flush.interval.messages"),
            minimum=_always(1),
        ),
        Setting(
            name="flush.ms",
            kind="long",
            defaults=_always(LONG_MAX),
            broker_names=(("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1)),
            minimum=_always(0),
        ),
        # retention and compaction
        Setting(
            name="cleanup.policy",
            kind="list",
            defaults=_always("delete"),
            broker_names=_same_unit("log.cleanup.policy"),
            choices=("compact", "delete"),
        ),
        Setting(
            name="retention.ms",
            kind="long",
            defaults=_always(7 * DAY_MS),
            broker_names=(
                ("log.retention.ms", 1),
                ("log.retention.minutes", MINUTE_MS),
                ("log.retention.hours", HOUR_MS),
            ),
            minimum=_always(-1),
        ),
        Setting(
            name="retention.bytes",
            kind="long",
            defaults=_always(-1),
            broker_names=_same_unit("log.retention.bytes"),
        ),
        Setting(
            name="file.delete.delay.ms",
            kind="long",
            defaults=_always(MINUTE_MS),
            broker_names=_same_unit("log.segment.delete.delay.ms"),
            minimum=_always(0),
        ),
        Setting(
            name="delete.retention.ms",
            kind="long",
            defaults=_always(DAY_MS),
            broker_names=_same_unit("log.cleaner.delete.retention.ms"),
            minimum=_always(0),
        ),
        Setting(
            name="min.cleanable.dirty.ratio",
            kind="double",
            defaults=_always(0.5),
            broker_names=_same_unit("log.cleaner.min.cleanable.ratio"),
            minimum=_always(0),
            maximum=1,
        ),
        Setting(
            name="min.compaction.lag.ms",
            kind="long",
            defaults=_always(0),
            broker_names=_same_unit("log.cleaner.min.compaction.lag.ms"),
            minimum=_always(0),
            since=(0, 10, 1),
        ),
        Setting(
            name="max.compaction.lag.ms",
            kind="long",
            defaults=_always(LONG_MAX),
            broker_names=_same_unit("log.cleaner.max.compaction.lag.ms"),
            minimum=_always(1),
            since=(2, 3),
        ),
        Setting(
            name="remote.storage.enable", kind="boolean", defaults=_always(False), since=(3, 6)
        ),
        Setting(
            name="remote.log.copy.disable", kind="boolean", defaults=_always(False), since=(3, 9)
        ),
        Setting(
            name="remote.log.delete.on.disable",
            kind="boolean",
            defaults=_always(False),
            since=(3, 9),
        ),
        Setting(
            name="local.retention.ms",
            kind="long",
            defaults=_always(-2),
            broker_names=_same_unit("log.local.retention.ms"),
            minimum=_always(-2),
            since=(3, 6),
        ),
        Setting(
            name="local.retention.bytes",
            kind="long",
            defaults=_always(-2),
            broker_names=_same_unit("log.local.retention.bytes"),
            minimum=_always(-2),
            since=(3, 6),
        ),
        Setting(
            name="remote.copy.lag.ms",
            kind="long",
            defaults=_always(0),
            broker_names=_same_unit("log.remote.copy.lag.ms"),
            minimum=_always(-1),
            since=(4, 4),
        ),
        Setting(
            name="remote.copy.lag.bytes",
            kind="long",
            defaults=_always(-1),
            broker_names=_same_unit("log.remote.copy.lag.bytes"),
            minimum=_always(-1),
            since=(4, 4),
        ),
        # replication
        Setting(
            name="min.insync.replicas",
            kind="int",
            defaults=_always(1),
            broker_names=_same_unit("min.insync.replicas"),
            minimum=_always(1),
        ),
        Setting(
            name="unclean.leader.election.enable",
            kind="boolean",
            defaults=_always(False),
            broker_names=_same_unit("unclean.leader.election.enable"),
        ),
        Setting(name="leader.replication.throttled.replicas", kind="list", defaults=_always("")),
        Setting(name="follower.replication.throttled.replicas", kind="list", defaults=_always("")),
        # share groups
        Setting(
            name="errors.deadletterqueue.group.enable",
            kind="boolean",
            defaults=_always(False),
            since=(4, 4),
        ),
    )
}

BROKER_SETTINGS: dict[str, Setting] = {  # settings that no topic has
    definition.name: definition
    for definition in (
        Setting(
            name="producer.id.expiration.ms",
            kind="int",
            defaults=_always(DAY_MS),
            broker_names=_same_unit("producer.id.expiration.ms"),
            minimum=_always(1),
            since=(3, 4),
        ),
        Setting(  # it was also that of producer ids up to 3.3 (KIP-854)
            name="transactional.id.expiration.ms",
            kind="int",
            defaults=_always(7 * DAY_MS),
            broker_names=_same_unit("transactional.id.expiration.ms"),
            minimum=_always(1),
        ),
        Setting(
            name="log.retention.check.interval.ms",
            kind="long",
            defaults=_always(5 * MINUTE_MS),
            minimum=_always(1),
        ),
        Setting(
            name="num.recovery.threads.per.data.dir",
            kind="int",
            defaults=((ANY, 1), ((4, 0), 2)),
            minimum=_always(1),
        ),
        Setting(
            name="log.cleaner.io.buffer.size",
            kind="int",
            defaults=_always(512 << 10),
            minimum=_always(0),
        ),
        Setting(name="log.cleaner.threads", kind="int", defaults=_always(1), minimum=_always(0)),
        Setting(
            name="log.flush.offset.checkpoint.interval.ms",
            kind="int",
            defaults=_always(MINUTE_MS),
            minimum=_always(0),
        ),
        Setting(
            name="log.flush.start.offset.checkpoint.interval.ms",
            kind="int",
            defaults=_always(MINUTE_MS),
            minimum=_always(0),
        ),
        Setting(
            name="replica.fetch.max.bytes",
            kind="int",
            defaults=_always(1 << 20),
            minimum=_always(0),
        ),
        Setting(
            name="metadata.log.segment.bytes",
            kind="int",
            defaults=_always(1 << 30),
            minimum=_always(8 << 20),
        ),
        Setting(name="metadata.log.segment.ms", kind="long", defaults=_always(7 * DAY_MS)),
    )
}

_SYNONYMS = {
    broker_name: Synonym(definition.name, factor)
    for definition in TOPIC_SETTINGS.values()
    for broker_name, factor in definition.broker_names
}


def setting(name: str) -> Setting:
    """Returns the setting with that topic or broker name.

    Raises:
        RefusedSetting: no setting of a log has that name.
    """
    synonym = topic_name(name)
    definition = TOPIC_SETTINGS[synonym.name] if synonym else BROKER_SETTINGS.get(name)
    if not definition:
        raise RefusedSetting(name, None, message("setting.unknown_name", name=name))
    return definition


def topic_name(name: str) -> Synonym | None:
    """Returns the topic setting for a topic's or broker's name with its factor, or None."""
    return Synonym(name, 1) if name in TOPIC_SETTINGS else _SYNONYMS.get(name)


def defaults(release: Release) -> dict[str, Value]:
    """Returns every topic setting that the release knows, with its default."""
    return {
        name: definition.default(release)
        for name, definition in TOPIC_SETTINGS.items()
        if definition.is_known_to(release)
    }


def parse(name: str, text: str, release: Release) -> tuple[str, Value]:
    """Parses the value of a setting, which may have a topic's or a broker's name.

    Returns:
        The topic's name, and the value in the topic's unit.

    Raises:
        RefusedSetting: the name is unknown, or the release refuses the text.
    """
    definition = setting(name)
    return definition.name, definition.parse(
        text, release, None if name == definition.name else name
    )


def _value_in(by_release: ByRelease, release: Release) -> Value:
    """Returns the value in force in a release.

    Returns the oldest value for earlier releases, and None for an empty list.
    """
    return next(
        (value for first, value in reversed(by_release) if first <= release),
        by_release[0][1] if by_release else None,
    )


def _parse_value(name: str, text: str, kind: str) -> Value:
    """Parses a text as Kafka's ConfigDef.parseType does.

    Raises:
        RefusedSetting: parseType refuses the text; the reason is in its words.
    """
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
    number = (
        int(content)
        if len(content) < 32 and content.isascii() and _INTEGER.fullmatch(content)
        else None
    )
    if number is None or not -limit - 1 <= number <= limit:
        raise RefusedSetting(name, text, message("setting.not_a_number", kind=kind.upper()))
    return number


def _double(name: str, text: str, content: str) -> float:
    if content.lstrip("+-") in ("NaN", "Infinity"):
        return float(content)
    if not _DECIMAL.fullmatch(content):
        raise RefusedSetting(name, text, message("setting.not_a_number", kind="DOUBLE"))
    return float(content.rstrip("dDfF"))
