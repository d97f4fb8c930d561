"""The options of a table that was created by CREATE TABLE ... USING kafka_records.

Spark passes a table's options to the source only at CREATE TABLE, mixed with its own properties. At
SELECT they are missing (seen with Spark 4.1 to 4.3; V2SessionCatalog and CatalogV2Util):

    CREATE TABLE     provider, owner, location, path, comment, external, collation, the
                     TBLPROPERTIES, and each option twice: topics and option.topics
    SELECT           only the options of the query itself (WITH), and the columns

So the options are stored as metadata of the first column, which the catalog keeps.
"""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

PROVIDER = "provider"  # TableCatalog.PROP_PROVIDER; tables have it, loads do not
OPTION_PREFIX = "option."  # TableCatalog.OPTION_PREFIX
METADATA_KEY = "kafkaviz.options"
SECRETS = "kafka."  # options of a consumer, which may be passwords; only one of them has an effect
ISOLATION_LEVEL = "kafka.isolation.level"


def is_table(values: Mapping[str, str]) -> bool:
    """Returns whether these are properties of a table, rather than options of a load."""
    return PROVIDER in _by_lower_name(values)


def without_properties(
    values: Mapping[str, str], has_option: Callable[[str], bool]
) -> dict[str, str]:
    """Returns only the options, without properties of Spark or TBLPROPERTIES.

    A name given in OPTIONS is kept even if it is unknown, so that a mistyped one is refused.
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
    """Stores the options in the columns, for queries of the table."""
    plain_values = {
        name: value
        for name, value in values.items()
        if not name.lower().startswith(SECRETS) or name.lower() == ISOLATION_LEVEL
    }
    schema.fields[0].metadata = {METADATA_KEY: json.dumps(plain_values)}


def attached(schema: "StructType") -> dict[str, str]:
    """Returns the options stored in the columns of a table."""
    for field in schema.fields:
        if METADATA_KEY in (field.metadata or {}):
            return json.loads(field.metadata[METADATA_KEY])
    return {}


def _by_lower_name(values: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in values.items()}
