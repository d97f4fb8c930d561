"""The names of a setting in words."""

from kafkaviz import config_def
from kafkaviz.messages import say


def broker_names_text(name: str) -> str:
    """Returns the broker's names for a topic's setting, in order of precedence; "" if unknown."""
    setting = config_def.TOPIC_SETTINGS.get(name)
    names = [broker_name for broker_name, _ in setting.broker_names] if setting else []
    return say("setting_names.on_a_broker", names=" → ".join(names)) if names else ""
