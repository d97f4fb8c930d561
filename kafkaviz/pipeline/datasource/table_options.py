"""The options of a table that CREATE TABLE ... USING kafka_records has put into Spark's catalog.

Spark hands a table's options to the source only at CREATE TABLE, mixed with its own properties; at
SELECT they are gone (seen with Spark 4.1 to 4.3; V2SessionCatalog and CatalogV2Util):

    CREATE TABLE     provider, owner, location, path, comment, external, collation, what
                     TBLPROPERTIES says, and each option twice, as topics and as option.topics
    SELECT           none of these, only the options of the query itself (WITH), and the columns

So the options travel with the columns: as metadata of the first one, which the catalog keeps.
"""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

PROVIDER = "provider"  # TableCatalog.PROP_PROVIDER, which every table has, and no load
OPTION_PREFIX = "option."  # TableCatalog.OPTION_PREFIX
METADATA_KEY = "kafkaviz.options"
SECRETS = "kafka."  # of a consumer: passwords may be among them, and one alone has an effect
ISOLATION_LEVEL = "kafka.isolation.level"


def is_table(values: Mapping[str, str]) -> bool:
    """Whether these are the properties of a table, not the options of a load."""
    return PROVIDER in _by_lower_name(values)


def without_properties(
    values: Mapping[str, str], has_option: Callable[[str], bool]
) -> dict[str, str]:
    """The options alone, without what Spark or TBLPROPERTIES say of a table.

    A name that OPTIONS gave stays, so that a mistyped one is refused.
    """
    if not is_table(values):
        return dict(values)
    properties = _by_lower_name(values)
    return {
        name: value
        for name, value in values.items()
        if not name.lower().startswith(OPTION_PREFIX)
        and (has_option(name.lower()) or f"{OPTION_PREFIX}{name.lower()}" in properties)
    }


def attach(schema: "StructType", values: Mapping[str, str]) -> None:
    """Makes the options part of the columns, for the queries of the table."""
    plain_values = {
        name: value
        for name, value in values.items()
        if not name.lower().startswith(SECRETS) or name.lower() == ISOLATION_LEVEL
    }
    schema.fields[0].metadata = {METADATA_KEY: json.dumps(plain_values)}


def attached(schema: "StructType") -> dict[str, str]:
    """The options that the columns of a table carry."""
    for field in schema.fields:
        if METADATA_KEY in (field.metadata or {}):
            return json.loads(field.metadata[METADATA_KEY])
    return {}


def _by_lower_name(values: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in values.items()}
