"""Each setting of a topic: its value, and where that value came from.

The strongest first: what a person typed by the topic's name; a ConfigRecord of the topic; one of
this broker, then of all brokers; what a person typed by the broker's name; a server.properties;
Kafka's default for the release. For a topic with a ConfigRecord segment.ms=60000 and
log.roll.hours=2 in server.properties, or typed, segment.ms is 60000; for any other topic 7200000.

Within one of these the broker's names count in Kafka's order: log.roll.ms before log.roll.hours,
wherever they stand. A value in a weaker one never counts, whatever its name: DynamicBrokerConfig
takes all synonyms of a setting away when one is set.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from kafkaviz import config_def, versions
from kafkaviz.config_def import Release, Setting, Value
from kafkaviz.errors import CorruptBytes, KafkavizError, RefusedSetting
from kafkaviz.format import checkpoint
from kafkaviz.format.names import METADATA_TOPIC, SERVER_PROPERTIES
from kafkaviz.log import archive, file, metadata_log
from kafkaviz.log.broker import Broker, Problem
from kafkaviz.log.metadata_log import Given, Image

# KafkaRaftLog, 4.3.1
METADATA_NAMES = {
    "segment.bytes": "metadata.log.segment.bytes",
    "segment.ms": "metadata.log.segment.ms",
}


class Origin(StrEnum):
    """Where a value came from, the strongest first; what was typed by the broker's name is as weak
    as server.properties.
    """

    TYPED = "typed"
    TOPIC = "topic"
    BROKER = "broker"
    CLUSTER = "cluster"
    FILE = "server.properties"
    DEFAULT = "default"


@dataclass(frozen=True)
class Sourced:
    """A setting's value in the topic's unit, and where it came from.

    given_as: the name under which it was found, such as log.roll.hours; source: that and the place,
    in words.
    """

    name: str
    value: Value
    origin: Origin
    given_as: str
    source: str


@dataclass(frozen=True)
class Settings:
    """All that is known of the settings of a broker directory."""

    release: Release
    image: Image
    node_id: str | None = None
    typed: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    properties_path: Path | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def topic_ids(self) -> Mapping[str, str]:
        """The id of each topic of the cluster, by name; of KRaft alone."""
        return self.image.topic_ids

    def of_topic(self, topic: str) -> dict[str, Sourced]:
        """Every setting of a topic that the release knows, and any other it was given; by name.

        The release's limits are asked of what a person typed alone: RefusedSetting with Kafka's
        reason.
        """
        known = {
            name: self.find(topic, name)
            for name, one in config_def.TOPIC_SETTINGS.items()
            if one.known_to(self.release)
        }
        others = {
            name: given for name, given in self.image.of_topic(topic).items() if name not in known
        }
        return known | {
            name: Sourced(name, given.value, Origin.TOPIC, name, _place(given))
            for name, given in others.items()
        }

    def find(self, topic: str, name: str) -> Sourced:
        """One setting of a topic, by the topic's name for it."""
        one = config_def.TOPIC_SETTINGS[name]
        is_metadata = topic == METADATA_TOPIC
        dynamic = {} if is_metadata else self._dynamic(topic)
        if name in self.typed:
            return self._as_typed(one, name)
        for origin, given in dynamic.items():
            given_names = (name,) if origin == Origin.TOPIC else _names(one, is_metadata)
            for given_as in (found for found in given_names if found in given):
                value = self._read(one, given_as, given[given_as].value)
                if value is not None:
                    return Sourced(
                        name, value, origin, given_as, f"{given_as}, {_place(given[given_as])}"
                    )
        for given_as in (found for found in _names(one, is_metadata) if found in self.typed):
            return self._as_typed(one, given_as)
        for given_as in (found for found in _names(one, is_metadata) if found in self.properties):
            value = self._read(one, given_as, self.properties[given_as])
            if value is not None:
                path = archive.given(self.properties_path or Path(SERVER_PROPERTIES))
                return Sourced(name, value, Origin.FILE, given_as, f"{given_as}, in {path}")
        return Sourced(
            name,
            one.default(self.release),
            Origin.DEFAULT,
            name,
            f"default of Kafka {versions.text(self.release)}",
        )

    def _dynamic(self, topic: str) -> dict[Origin, Mapping[str, Given]]:
        """What ConfigRecords say, the strongest first."""
        return {
            Origin.TOPIC: self.image.of_topic(topic),
            Origin.BROKER: self.image.of_broker(self.node_id),
            Origin.CLUSTER: self.image.of_broker(""),
        }

    def _as_typed(self, one: Setting, given_as: str) -> Sourced:
        broker_name = given_as if given_as in dict(one.broker_names) else None
        value = one.parse(self.typed[given_as], self.release, broker_name)
        return Sourced(one.name, value, Origin.TYPED, given_as, f"{given_as}, as typed")

    def _read(self, one: Setting, given_as: str, text: str) -> Value:
        """What a broker ran with; None for a text that no release takes."""
        broker_name = (
            given_as if given_as in dict(one.broker_names) and given_as != one.name else None
        )
        try:
            return one.parse(text, self.release, broker_name, within_limits=False)
        except RefusedSetting:
            return None


def open_settings(
    broker: Broker,
    release: Release = versions.NEWEST_RELEASE,
    typed: Mapping[str, str] | None = None,
    server_properties: Path | None = None,
) -> Settings:
    """The settings of a broker directory; CannotOpen for a server.properties that was given and
    cannot be read.

    typed: by a topic's or a broker's name; RefusedSetting for a name that is neither. Without
    server_properties the file is looked for in the directory and beside it; one that names another
    node is passed over.
    """
    for name in typed or {}:
        config_def.setting(name)
    found = metadata_log.image(broker)
    problems = list(found.problems)
    path = server_properties or _beside(broker, problems)
    properties = _properties(path) if path else {}
    return Settings(
        release, found, broker.node_id, dict(typed or {}), properties, path, tuple(problems)
    )


def _beside(broker: Broker, problems: list[Problem]) -> Path | None:
    """A server.properties in the directory or beside it that may be this broker's."""
    for path in (broker.path / SERVER_PROPERTIES, broker.path.parent / SERVER_PROPERTIES):
        try:
            if path.is_file() and _is_of(broker, _properties(path)):
                return path
        except (KafkavizError, OSError) as fault:
            # what this server may not open is not there for it
            if getattr(fault, "kind", "") != "outside":
                problems.append(Problem(path, getattr(fault, "what", str(fault))))
    return None


def _is_of(broker: Broker, properties: Mapping[str, str]) -> bool:
    node_id = properties.get("node.id") or properties.get("broker.id")
    return node_id is None or broker.node_id is None or node_id == broker.node_id


def _properties(path: Path) -> dict[str, str]:
    try:
        return checkpoint.parse_properties(file.read_whole(path, file.PROPERTIES_BYTES))
    except KafkavizError as fault:
        raise fault.in_file(path) if isinstance(fault, CorruptBytes) else fault from None


def _names(one: Setting, is_metadata: bool) -> Iterable[str]:
    """The names under which a broker has the setting; the metadata log has two of its own, and of
    the rest Kafka's defaults.
    """
    if is_metadata:
        return (METADATA_NAMES[one.name],) if one.name in METADATA_NAMES else ()
    return (name for name, _ in one.broker_names)


def _place(given: Given) -> str:
    return f"ConfigRecord at offset {given.offset} of {metadata_log.DIRECTORY}/{given.file}"
