"""Finds the value of each setting of a topic, and the source of the value.

The sources, strongest first:

- a value that the user typed under the topic-level name of the setting, such as segment.ms
- a ConfigRecord of the topic, of this broker, or of all brokers, in this order
- a value that the user typed under the broker-level name, such as log.roll.ms
- server.properties
- Kafka's default for the release

If the metadata log is in a log directory that was not opened, only these settings are known: typed
ones, and those in a server.properties that the user put into the log directory.

A setting may have several broker-level names. Within one source, Kafka's order decides:
log.roll.ms before log.roll.hours. A stronger source always wins, whatever name it uses, because
DynamicBrokerConfig removes all synonyms of a setting when one is set.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath

from kafkaviz import config_def, versions
from kafkaviz.config_def import Setting, Value
from kafkaviz.errors import KafkavizError, RefusedSetting
from kafkaviz.format import checkpoint
from kafkaviz.format.java import int_or_none
from kafkaviz.format.names import METADATA_TOPIC, SERVER_PROPERTIES
from kafkaviz.log import file, metadata_log
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker, Problem
from kafkaviz.log.metadata_log import ConfigValue, MetadataImage
from kafkaviz.messages import Message, message, verbatim
from kafkaviz.versions import Release

# KafkaRaftLog, 4.3.1
METADATA_NAMES = {
    "segment.bytes": "metadata.log.segment.bytes",
    "segment.ms": "metadata.log.segment.ms",
}


class Origin(StrEnum):
    """The sources of a value, from the strongest to the weakest.

    An exception: a value typed under a broker-level name (log.roll.ms) is weaker than `CLUSTER`.
    """

    TYPED = "typed"
    TOPIC = "topic"
    BROKER = "broker"
    CLUSTER = "cluster"
    FILE = "server.properties"
    DEFAULT = "default"
    UNKNOWN = "unknown"  # the metadata log may set it, but was not opened


@dataclass(frozen=True)
class SettingValue:
    """The value of a setting, in the unit of the topic-level setting, and its source."""

    name: str
    value: Value  # None if unknown or not set
    origin: Origin
    source_name: str  # the name in the source, such as log.roll.hours
    source: Message  # says where the value comes from, or why it is unknown

    @property
    def is_known(self) -> bool:
        """Whether the value is known: from the directory, the user or Kafka's default."""
        return self.origin != Origin.UNKNOWN

    @property
    def is_given(self) -> bool:
        """Whether the user, a ConfigRecord or server.properties gave the value."""
        return self.origin not in (Origin.DEFAULT, Origin.UNKNOWN)

    def or_default(self, release: Release) -> "SettingValue":
        """Returns the setting, with Kafka's default in place of an unknown value."""
        if self.is_known:
            return self
        default = config_def.TOPIC_SETTINGS[self.name].default(release)
        source = message("tuning_answer.interval_assumed", source=self.source)
        return replace(self, value=default, source=source)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a broker, as far as its files and the user give them."""

    release: Release
    image: MetadataImage
    node_id: str | None = None
    overrides: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    properties_path: Path | None = None
    problems: tuple[Problem, ...] = ()
    has_metadata_log: bool = False  # one of the opened log directories has it
    # see Broker.lacks_metadata_log; if True, only values from the user are known: typed values,
    # and those in server.properties if `is_file_from_user`
    lacks_metadata_log: bool = False
    misses_metadata_log: bool = False  # see `_misses_metadata_log`
    # the user put server.properties into the log directory; a broker does not keep it there
    is_file_from_user: bool = False

    @property
    def topic_ids(self) -> Mapping[str, str]:
        """The id of each topic of the cluster, by name. Empty without KRaft."""
        return self.image.topic_ids

    def topic_settings(self, topic: str) -> dict[str, SettingValue]:
        """Returns the settings of a topic, by name.

        These are all settings that the release knows, and others that a ConfigRecord sets for the
        topic. A value in a file that Kafka refuses is skipped.
        """
        known_settings = {
            name: self.find(topic, name)
            for name, definition in config_def.TOPIC_SETTINGS.items()
            if definition.is_known_to(self.release)
        }
        others = {
            name: SettingValue(name, record.value, Origin.TOPIC, name, describe_record(record))
            for name, record in self.image.topic_configs(topic).items()
        }
        return known_settings | {
            name: value for name, value in others.items() if name not in known_settings
        }

    def find(self, topic: str, name: str) -> SettingValue:
        """Returns a setting of this topic. `name` may also be a setting that only brokers have."""
        definition = config_def.TOPIC_SETTINGS.get(name) or config_def.BROKER_SETTINGS[name]
        is_metadata = topic == METADATA_TOPIC
        broker_names = _broker_names(definition, is_metadata=is_metadata)
        if name in self.overrides:
            return self._typed_value(definition, name)
        for origin, records in ({} if is_metadata else self._config_records(topic)).items():
            candidates = (name,) if origin == Origin.TOPIC else broker_names
            texts = {key: record.value for key, record in records.items()}
            for source_name, value in self._valid_values(definition, candidates, texts):
                place = describe_record(records[source_name])
                source = message("setting_source.named", name=source_name, source=place)
                return SettingValue(name, value, origin, source_name, source)
        for source_name in broker_names:
            if source_name in self.overrides:
                return self._typed_value(definition, source_name)
        place = "missing" if self.misses_metadata_log else "elsewhere"
        reason = message(f"setting_source.metadata_log_{place}")
        unknown = SettingValue(name, None, Origin.UNKNOWN, name, reason)
        # a ConfigRecord in the missing log would be stronger than the broker's own file
        if self.lacks_metadata_log and not self.is_file_from_user:
            return unknown
        for source_name, value in self._valid_values(definition, broker_names, self.properties):
            path = archive.display_path(self.properties_path or Path(SERVER_PROPERTIES))
            source = message("setting_source.file", name=source_name, path=path)
            return SettingValue(name, value, Origin.FILE, source_name, source)
        if self.lacks_metadata_log:
            return unknown
        source = message("setting_source.default", release=versions.text(self.release))
        return SettingValue(name, definition.default(self.release), Origin.DEFAULT, name, source)

    def _config_records(self, topic: str) -> dict[Origin, Mapping[str, ConfigValue]]:
        return {
            Origin.TOPIC: self.image.topic_configs(topic),
            Origin.BROKER: self.image.broker_configs(self.node_id),
            Origin.CLUSTER: self.image.broker_configs(""),
        }

    def _typed_value(self, definition: Setting, source_name: str) -> SettingValue:
        broker_name = source_name if source_name in dict(definition.broker_names) else None
        value = definition.parse(self.overrides[source_name], self.release, broker_name)
        source = message("setting_source.typed", name=source_name)
        return SettingValue(definition.name, value, Origin.TYPED, source_name, source)

    def _valid_values(
        self, definition: Setting, names: Iterable[str], texts: Mapping[str, str]
    ) -> Iterator[tuple[str, Value]]:
        """Yields (name, value) for each of `names` whose text in `texts` Kafka accepts."""
        for name in names:
            if name in texts:
                value = self._broker_value(definition, name, texts[name])
                if value is not None:
                    yield name, value

    def _broker_value(self, definition: Setting, source_name: str, text: str) -> Value:
        is_broker_name = source_name in dict(definition.broker_names)
        broker_name = source_name if is_broker_name and source_name != definition.name else None
        try:
            return definition.parse(text, self.release, broker_name, within_limits=False)
        except RefusedSetting:
            return None


def open_settings(
    broker: Broker,
    release: Release = versions.NEWEST_RELEASE,
    overrides: Mapping[str, str] | None = None,
) -> Settings:
    """Returns the settings of a broker, with the `overrides` that the user typed.

    `overrides` may have topic-level and broker-level names. Raises RefusedSetting for other names,
    and for values that Kafka refuses.
    """
    for name, text in (overrides or {}).items():
        config_def.parse(name, text, release)
    image = metadata_log.read_image(broker)
    problems = list(image.problems)
    path = _find_server_properties(broker, problems)
    properties = _properties(path) if path else {}
    image.voters = image.voters or _configured_voters(properties)
    return Settings(
        release=release,
        image=image,
        node_id=None if broker.node_number is None else str(broker.node_number),
        overrides=dict(overrides or {}),
        properties=properties,
        properties_path=path,
        problems=tuple(problems),
        has_metadata_log=broker.main_directory.has_metadata_log,
        lacks_metadata_log=broker.lacks_metadata_log,
        misses_metadata_log=_misses_metadata_log(broker, properties),
        is_file_from_user=path is not None
        and any(path.parent == directory.path for directory in broker.log_directories),
    )


def _misses_metadata_log(broker: Broker, properties: Mapping[str, str]) -> bool:
    """Returns whether the metadata log is missing although all log directories were opened.

    All count as opened if the opened directories have the names in log.dirs and metadata.log.dir of
    server.properties. Kafka keeps the metadata log in one of these (AbstractKafkaConfig, source of
    4.3.1 and 4.4.0). Only the last name of each path is compared, because a copied directory has
    a different path. Returns False for a node without the controller role, and for a broker without
    partitions, which may be new.
    """
    texts = (properties.get("log.dirs") or properties.get("log.dir") or "").split(",")
    paths = {text.strip().rstrip("/") for text in texts}
    paths.add(properties.get("metadata.log.dir", "").strip().rstrip("/"))
    configured = Counter(PurePosixPath(path).name for path in paths if path)
    opened = Counter(Path(directory.text).name for directory in broker.log_directories)
    roles = [role.strip() for role in properties.get("process.roles", "").split(",")]
    return (
        broker.lacks_metadata_log
        and not broker.is_lone
        and bool(broker.partitions)
        and "controller" in roles
        and configured == opened
    )


def _configured_voters(properties: Mapping[str, str]) -> tuple[int, ...]:
    """Returns the ids in controller.quorum.voters (1@host:9093). Empty if an id is not a number."""
    texts = [text for text in properties.get("controller.quorum.voters", "").split(",") if text]
    ids = [int_or_none(text.strip().partition("@")[0]) for text in texts]
    return () if None in ids else tuple(number for number in ids if number is not None)


def _find_server_properties(broker: Broker, problems: list[Problem]) -> Path | None:
    """Finds this node's server.properties in the log directories and in their parent folders."""
    roots = dict.fromkeys((broker.path, *(directory.path for directory in broker.log_directories)))
    folders = dict.fromkeys(folder for root in roots for folder in (root, root.parent))
    for path in (folder / SERVER_PROPERTIES for folder in folders):
        try:
            if path.is_file() and _belongs_to(broker, _properties(path)):
                return path
        except (KafkavizError, OSError) as fault:
            # a file that this server may not open counts as absent
            if getattr(fault, "kind", "") != "outside":
                what = verbatim(str(fault))
                if isinstance(fault, KafkavizError):
                    what = getattr(fault, "what", fault.message)
                problems.append(Problem(path, what))
    return None


def _belongs_to(broker: Broker, properties: Mapping[str, str]) -> bool:
    node_id = properties.get("node.id") or properties.get("broker.id")
    if node_id is None or broker.node_number is None:
        return True
    # ConfigDef.parseType trims a number
    return int_or_none(node_id.strip()) == broker.node_number


def _properties(path: Path) -> dict[str, str]:
    return file.parse(path, checkpoint.parse_properties, file.PROPERTIES_BYTES)


def _broker_names(definition: Setting, *, is_metadata: bool) -> Sequence[str]:
    """Returns the broker-level names of a setting, such as log.roll.ms for segment.ms.

    For the metadata log, only two settings have such a name. The others have Kafka's defaults.
    """
    if is_metadata:
        return (METADATA_NAMES[definition.name],) if definition.name in METADATA_NAMES else ()
    return [name for name, _ in definition.broker_names]


def describe_record(config_value: ConfigValue) -> Message:
    path = f"{metadata_log.DIRECTORY}/{config_value.file}"
    return message("setting_source.config_record", offset=config_value.offset, file=path)
