"""The dependency of kafkaviz: all of kafkaviz-core, of the same version."""

from hatchling.metadata.plugin.interface import MetadataHookInterface


class SameVersion(MetadataHookInterface):
    """Takes the version, which has one source, into the list of dependencies."""

    def update(self, metadata: dict) -> None:
        metadata["dependencies"] = [f"kafkaviz-core[all]=={metadata['version']}"]
