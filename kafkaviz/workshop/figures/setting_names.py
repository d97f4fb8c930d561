"""The broker's names for a topic's settings, in order of precedence."""

from collections.abc import Iterator
from dataclasses import dataclass

from kafkaviz import config_def, versions
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import table_html
from kafkaviz.config_def import Setting
from kafkaviz.errors import RefusedSetting
from kafkaviz.messages import say
from kafkaviz.units import format_count
from kafkaviz.workshop.figures.figure import Destination, LessonFigure, Part
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue


@dataclass(frozen=True)
class SettingNames:
    settings: tuple[Setting, ...]
    release: str


def _make(block: LessonBlock) -> SettingNames:
    """Returns the settings that a block names.

    Raises:
        NoValue: a name is not a topic setting.
    """
    try:
        settings = tuple(config_def.setting(name) for name in block["name"])
    except RefusedSetting as fault:
        raise NoValue(fault.message) from None
    return SettingNames(settings, block["release"])


def rows(names: SettingNames, *, is_ordered: bool = True) -> Iterator[tuple[str, str, str]]:
    """Yields the topic's name of each setting, the broker's names, and the default.

    Args:
        is_ordered: whether the broker's names are in order of precedence; False hides the order.
    """
    release = versions.parse(names.release)
    for setting in names.settings:
        broker_names = [name for name, _ in setting.broker_names]
        default = setting.default(release)
        is_known = is_ordered or len(broker_names) < 2
        yield (
            setting.name,
            (" → " if is_known else " / ").join(broker_names if is_known else sorted(broker_names)),
            format_count(default) if isinstance(default, int) else str(default),
        )


def _draw(names: SettingNames, block: LessonBlock, key: str) -> list[Part]:
    return _parts(names, is_ordered=True)


def _draw_question(names: SettingNames, block: LessonBlock, key: str) -> list[Part]:
    return _parts(names, is_ordered=False)


def _parts(names: SettingNames, *, is_ordered: bool) -> list[Part]:
    title = say("setting_names.title", count=len(names.settings))
    below = "setting_names.below" if is_ordered else "setting_names.below_asked"
    heads = map(
        say, ("tuning.head_topic", "setting_names.head_broker", "setting_names.head_default")
    )
    return [
        elements.figure_head_html(title, say(below, release=names.release)),
        table_html([*heads], rows(names, is_ordered=is_ordered), "ccr"),
    ]


def _to_rolls(block: LessonBlock) -> Destination:
    return "Rolls", {}


SETTINGS = LessonFigure(_make, _draw, _to_rolls, question=_draw_question)
