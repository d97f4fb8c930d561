"""A workload: the traffic of one topic-partition, phase after phase, as a TOML file.

    topic = "orders"
    start = 2026-03-01T08:00:00Z

    [settings]
    "index.interval.bytes" = 1024

    [[phase]]                           # ten seconds of 500 records per second, nine per batch
    duration = "10s"
    records_per_s = 500
    records_per_batch = 9
    value_bytes = { shape = "lognormal", mean = 200 }

    [[phase]]
    silence = "8d"

A missing key has the default of the dataclass's field. `streams` generates the batches.
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import cast

from kafkaviz import config_def, versions
from kafkaviz.binary.codec import CODECS
from kafkaviz.config_def import Value
from kafkaviz.errors import CannotOpen, KafkavizError, RefusedSetting
from kafkaviz.messages import Message, find_message, message, verbatim
from kafkaviz.simulate.producers import distributions, traffic
from kafkaviz.simulate.producers import toml_fields as toml
from kafkaviz.simulate.producers.distributions import Spread
from kafkaviz.simulate.producers.toml_fields import TomlField, ValueCodec, toml_error, value_text
from kafkaviz.simulate.producers.traffic import Phase
from kafkaviz.versions import Release

_SPREAD = (
    TomlField("shape", toml.choice(distributions.SHAPES)),
    TomlField("mean", toml.number(0, distributions.MAX_NUMBER)),
    TomlField("least", toml.whole_number(0)),
    TomlField("most", toml.whole_number(0)),
    TomlField("sigma", toml.number(0.01, 3)),
)


def spread(least: int, most: int) -> ValueCodec:
    """Returns the ValueCodec that reads and writes a Spread, a distribution of numbers.

    All its numbers must be from `least` to `most`. In TOML: an integer; { least, most }, which is
    uniform; or { shape, mean, sigma, least, most }.
    """

    def read_spread(value: object, where: Message) -> Spread:
        if not isinstance(value, dict):
            return Spread(distributions.CONSTANT, toml.whole_number(least, most).read(value, where))
        distribution = toml.read_table(
            Spread, _SPREAD, {"shape": distributions.UNIFORM} | value, where, "toml.key_of_table"
        )
        low = value.get("least", least)
        high = value.get("most", most)
        if not least <= low <= high <= most:
            raise toml_error(
                where, message("toml.spread_outside", low=low, high=high, least=least, most=most)
            )
        if distribution.shape == distributions.UNIFORM:
            if not {"least", "most"} <= value.keys() or value.keys() & {"mean", "sigma"}:
                raise toml_error(where, message("toml.spread_without_ends"))
        elif "mean" not in value or not low <= distribution.mean <= high:
            raise toml_error(where, message("toml.spread_mean", low=low, high=high))
        return distribution

    return ValueCodec(read_spread, spread_text)


def spread_text(value: Spread) -> str:
    if value.shape == distributions.CONSTANT:
        return str(value.mean)
    parts = toml.lines(value, _SPREAD)
    if value.shape == distributions.UNIFORM:
        parts = [line for line in parts if not line.startswith("shape")]
        parts += [f"least = {value.least}"] * (value.least == Spread.least)
        parts += [f"most = {value.most}"] * (value.most == Spread.most)
    else:
        parts += [f"mean = {value.mean!r}"] * (value.mean == Spread.mean)
    return f"{{ {', '.join(parts)} }}"


_SHARE = toml.number(0, 1)
_ASTRAY = (TomlField("share", _SHARE), TomlField("by_ms", spread(0, distributions.MAX_NUMBER)))
_KEYS = (
    TomlField("count", toml.whole_number(1)),
    TomlField("zipf", toml.number(0, 4)),
    TomlField("in_turn", toml.flag()),
    TomlField("prefix", toml.text(1000)),
)
_HEADER = (
    TomlField("name", toml.text(1000)),
    TomlField("size_bytes", toml.whole_number(0, 1 << 20)),
)
_TRANSACTIONS = (
    TomlField("batches", spread(1, 1_000_000)),
    TomlField("abort_share", _SHARE),
    TomlField("leave_open", toml.flag()),
)
_BURSTS = (TomlField("on", toml.duration(1), "on_ms"), TomlField("off", toml.duration(), "off_ms"))
RATE_KEYS = {f"{unit}_per_s": unit for unit in traffic.RATES}
ENDS = ("duration", "records", "batches", "bytes")
PHASE = (
    TomlField("name", toml.text(200)),
    TomlField("silence", toml.duration(), "silence_ms"),
    TomlField("duration", toml.duration(1), "duration_ms"),
    TomlField("records", toml.whole_number(1, 1 << 40)),
    TomlField("batches", toml.whole_number(1, 1 << 40)),
    TomlField("bytes", toml.whole_number(1, 1 << 50), "size_bytes"),
    TomlField("arrivals", toml.choice(traffic.ARRIVALS)),
    TomlField("bursts", toml.table_of(traffic.Bursts, _BURSTS)),
    TomlField("records_per_batch", spread(1, traffic.MAX_RECORDS)),
    TomlField("batch_bytes", toml.whole_number(1, 1 << 30)),
    TomlField("value_bytes", spread(0, traffic.MAX_VALUE_BYTES)),
    TomlField("null_share", _SHARE),
    TomlField("content", toml.choice(traffic.CONTENTS)),
    TomlField("keys", toml.table_of(traffic.RecordKeys, _KEYS)),
    TomlField("headers", toml.list_of(toml.table_of(traffic.Header, _HEADER), 100)),
    TomlField("codec", toml.choice(CODECS)),
    TomlField("timestamps", toml.choice(traffic.TIMESTAMPS)),
    TomlField("clock_ahead", toml.duration(-toml.LONGEST_MS), "clock_ahead_ms"),
    TomlField("events_from", toml.moment(), "events_from_ms"),
    TomlField("events_speed", toml.number(0, 1_000_000)),
    TomlField("late", toml.table_of(traffic.TimestampShift, _ASTRAY)),
    TomlField("future", toml.table_of(traffic.TimestampShift, _ASTRAY)),
    TomlField("delay", toml.duration(), "delay_ms"),
    TomlField("producers", toml.whole_number(1, traffic.MAX_PRODUCERS)),
    TomlField("idempotent", toml.flag()),
    TomlField("transactions", toml.table_of(traffic.TransactionTraffic, _TRANSACTIONS)),
    TomlField("leader_epoch", toml.whole_number(0)),
    TomlField("fetch_batches", toml.whole_number(1, 100_000)),
)
WORKLOAD = (
    TomlField("title", toml.text(200)),
    TomlField("story", toml.text()),
    TomlField("topic", toml.text(249)),
    TomlField("partition", toml.whole_number(0)),
    TomlField("start", toml.moment(), "start_ms"),
    TomlField("start_offset", toml.whole_number(0, 1 << 50)),
    TomlField("seed", toml.whole_number(0, (1 << 63) - 1)),
    TomlField("kafka_version", toml.text(20)),
)


MAX_PHASES = 1000
FILE_BYTES = 1 << 20  # a larger file is refused
PRESETS = (  # in the order in which they are best explained
    "heartbeat", "orders", "clickstream", "iot", "backfill", "bad-clock", "late-phones",
    "append-time", "no-timestamps", "follower", "strimzi", "day", "steady",
)  # fmt: skip

_TOPIC = re.compile("[a-zA-Z0-9._-]{1,249}")  # Topic.validate of Kafka 4.3.1


@dataclass(frozen=True, kw_only=True)
class Workload:
    """The phases of a workload, and its topic settings, valid for `kafka_version`."""

    phases: tuple[Phase, ...]
    title: str = ""
    story: str = ""
    topic: str = "simulated"
    partition: int = 0
    start_ms: int = 1_772_352_000_000  # 2026-03-01 08:00 UTC
    start_offset: int = 0
    seed: int = 1
    kafka_version: str = versions.NEWEST
    settings: tuple[tuple[str, Value], ...] = ()

    @property
    def release(self) -> Release:
        return versions.parse(self.kafka_version)

    @property
    def directory(self) -> str:
        return f"{self.topic}-{self.partition}"

    @property
    def is_leader(self) -> bool:
        """Whether each append has one batch, as on a leader."""
        return all(phase.fetch_batches == 1 for phase in self.phases)


def load(
    source: str | Path,
    name: str = "workload",
    version: str | None = None,
    overrides: Iterable[str] = (),
) -> Workload:
    """Reads a workload from a TOML text or a file.

    Raises KafkavizError if the workload is invalid (the one-line error names the file and the key)
    or the file cannot be read.

    Args:
        name: stands for the file name in errors about a TOML text.
        version: replaces the Kafka release of the workload. Settings are checked against it.
        overrides: names of settings that will be replaced, so their values are not checked.
    """
    if isinstance(source, Path):
        return load(_file_text(source), source.name, version, overrides)
    try:
        table = tomllib.loads(source)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as fault:
        raise toml_error(verbatim(name), toml_parser_problem(fault)) from None
    phases = table.pop("phase", None)
    if not isinstance(phases, list) or not 0 < len(phases) <= MAX_PHASES:
        raise toml_error(verbatim(name), message("toml.phases", most=MAX_PHASES))
    settings = table.pop("settings", {})
    if version is not None:
        versions.parse(version)  # checked here, so that the error does not blame the file
        table["kafka_version"] = version
    parsed_phases = tuple(
        _phase(phase_table, message("toml.phase", name=name, number=place))
        for place, phase_table in enumerate(phases, start=1)
    )
    workload = toml.read_table(
        Workload, WORKLOAD, table, verbatim(name), "toml.key_of_file", phases=parsed_phases
    )
    settings = _settings(settings, workload, message("toml.settings", name=name), overrides)
    return _check(replace(workload, settings=settings), name)


def to_toml(workload: Workload) -> str:
    """Returns a TOML text from which `load` gives the same workload."""
    head = toml.lines(workload, WORKLOAD)
    settings = [
        f"{toml.quote(name)} = {toml.quote(value) if isinstance(value, str) else value_text(value)}"
        for name, value in workload.settings
    ]
    parts = [head] if head else []
    parts += [["[settings]", *settings]] if settings else []
    parts += [["[[phase]]", *_phase_lines(phase)] for phase in workload.phases]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def presets() -> dict[str, Workload]:
    """Returns all workloads that are part of the package, by name."""
    return {name: preset(name) for name in PRESETS}


def preset(name: str, version: str | None = None, overrides: Iterable[str] = ()) -> Workload:
    """Reads a preset; for the arguments see `load`. Raises KafkavizError for an unknown name."""
    return load(preset_text(name), f"{name}.toml", version, overrides)


def preset_text(name: str) -> str:
    if name not in PRESETS:
        raise KafkavizError(message("errors.no_such_preset", name=value_text(name), names=PRESETS))
    folder = resources.files(cast(str, __package__)) / "presets"
    return (folder / f"{name}.toml").read_text(encoding="utf-8")


# ---- reading


def toml_parser_problem(fault: Exception) -> Message:
    """Returns a message for an error of Python's TOML reader."""
    text = " ".join(str(fault).split())
    match = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", text)
    if not match:
        return _parser_sentence(text)
    what = _parser_sentence(match[1])
    if match[2] is None:
        return message("toml_parser.at_end", problem=what)
    return message("toml_parser.at_line", problem=what, line=int(match[2]), column=int(match[3]))


def _parser_sentence(text: str) -> Message:
    return find_message("toml_parser", text) or verbatim(text)


def _file_text(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(FILE_BYTES + 1)
    except OSError as fault:
        raise CannotOpen(path, verbatim(fault.strerror or str(fault))) from None
    if len(data) > FILE_BYTES:
        raise CannotOpen(path, message("errors.larger_than_workload", most=FILE_BYTES))
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise CannotOpen(path, message("errors.is_no_utf8")) from None


def _phase(table: object, where: Message) -> Phase:
    if not isinstance(table, dict):
        raise toml_error(where, message("toml.is_no_table", value=value_text(table)))
    rates = [key for key in RATE_KEYS if key in table]
    if "silence" in table:
        if other_keys := sorted(table.keys() - {"silence", "name"}):
            raise toml_error(_key_of_phase(where, other_keys[0]), message("toml.not_in_silence"))
        return toml.read_table(Phase, PHASE, table, where, "toml.key_of_phase")
    if len(rates) != 1:
        raise toml_error(where, message("toml.one_rate", keys=tuple(RATE_KEYS)))
    if not table.keys() & set(ENDS):
        raise toml_error(where, message("toml.one_end", keys=tuple(ENDS)))
    [rate_key] = rates
    rate = toml.number(1e-6, 1e9).read(table[rate_key], _key_of_phase(where, rate_key))
    phase_keys = {key: value for key, value in table.items() if key != rate_key}
    phase = toml.read_table(Phase, PHASE, phase_keys, where, "toml.key_of_phase")
    phase = replace(phase, rate=rate, rate_of=RATE_KEYS[rate_key])
    if "records_per_batch" not in table and "batch_bytes" in table:
        # only batch_bytes limits a batch
        return replace(phase, records_per_batch=Spread(mean=traffic.MAX_RECORDS))
    return phase


def _key_of_phase(where: Message, key: str) -> Message:
    return message("toml.key_of_phase", where=where, key=key)


def _phase_lines(phase: Phase) -> list[str]:
    if phase.silence_ms is not None:
        return toml.lines(phase, PHASE)
    rate = next(key for key, unit in RATE_KEYS.items() if unit == phase.rate_of)
    phase_lines = [*toml.lines(phase, PHASE), f"{rate} = {phase.rate!r}"]
    # if this line were missing, batch_bytes alone would limit the batches
    if not any(line.startswith("records_per_batch") for line in phase_lines):
        phase_lines.append(f"records_per_batch = {phase.records_per_batch.mean}")
    return phase_lines


def _settings(
    table: object, workload: Workload, where: Message, overrides: Iterable[str]
) -> tuple[tuple[str, Value], ...]:
    """Returns (topic setting, value) pairs that the release accepts, without overridden ones."""
    if not isinstance(table, dict):
        raise toml_error(where, message("toml.is_no_table", value=value_text(table)))
    try:
        release = workload.release
    except KafkavizError as fault:
        key = message("toml.key_of_file", where=verbatim(where["name"]), key="kafka_version")
        raise toml_error(key, fault.message) from None
    replaced_names = {_topic_name(name) for name in overrides}
    parsed_settings = {}
    for name, value in table.items():
        if _topic_name(name) in replaced_names:
            continue
        key = _key_of_phase(where, name)
        if isinstance(value, (dict, list)):
            raise toml_error(key, message("toml.is_no_single_value"))
        text = value if isinstance(value, str) else value_text(value)
        try:
            setting, parsed_value = config_def.parse(name, text, release)
        except RefusedSetting as fault:
            raise toml_error(key, fault.message) from None
        if setting not in config_def.TOPIC_SETTINGS:
            raise toml_error(key, message("errors.no_topic_setting"))
        parsed_settings[setting] = parsed_value
    return tuple(parsed_settings.items())


def _topic_name(name: str) -> str:
    setting = config_def.topic_name(name)
    return setting.name if setting else name


def _check(workload: Workload, name: str) -> Workload:
    if not _TOPIC.fullmatch(workload.topic) or workload.topic in (".", ".."):
        key = message("toml.key_of_file", where=verbatim(name), key="topic")
        raise toml_error(key, message("toml.is_no_topic", value=value_text(workload.topic)))
    epoch = 0
    for place, phase in enumerate(workload.phases, start=1):
        where = message("toml.phase", name=name, number=place)
        if phase.transactions and not phase.idempotent:
            key = _key_of_phase(where, "transactions")
            raise toml_error(key, message("toml.needs_idempotent"))
        if phase.silence_ms is None and phase.leader_epoch < epoch:
            problem = message("toml.epoch_below", epoch=phase.leader_epoch, least=epoch)
            raise toml_error(_key_of_phase(where, "leader_epoch"), problem)
        epoch = max(epoch, phase.leader_epoch)
    _check_length(workload, name)
    return workload


def _check_length(workload: Workload, name: str) -> None:
    passed_ms = 0
    for place, phase in enumerate(workload.phases, start=1):
        if phase.silence_ms is not None:
            key = "silence"
            own_ms = phase.silence_ms
            passed_ms += own_ms
        else:
            key = "duration"
            own_ms = phase.duration_ms or 0
            # a phase with another limit may end long before its duration
            is_bounded = phase.records or phase.batches or phase.size_bytes
            passed_ms += 0 if is_bounded else own_ms
        if passed_ms > toml.LONGEST_MS:
            problem = message(
                "toml.workload_too_long",
                longest=toml.duration_text(toml.LONGEST_MS),
                own_ms=own_ms,
                passed_ms=passed_ms,
            )
            where = message("toml.phase", name=name, number=place)
            raise toml_error(_key_of_phase(where, key), problem)
