"""The pages that are made from the code are up to date, and every link in docs/ leads somewhere."""

import re
from pathlib import Path

import pytest

from docs import reference
from kafkaviz.__main__ import COMMANDS
from kafkaviz.pipeline.datasource import consumer_options
from kafkaviz.pipeline.datasource.source_schema import FORMATS, columns, parse_options

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md"])
# options that add columns
EVERYTHING = {
    "payload": "true",
    "isolation": "read_uncommitted",
    "mode": "PERMISSIVE",
    "replicas": "one",
}
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("name", ["commands.md", "data-source.md", "questions.md"])
def test_a_generated_page_is_as_the_code_has_it(name):
    """`make docs` updates it after a change of an option or a column."""
    page = reference.pages()[DOCS / name]
    assert (DOCS / name).read_text(encoding="utf-8") == page


def test_every_command_and_option_is_documented():
    """One section per command; the usage shows alternatives of which one is required."""
    page = reference.commands_page()
    assert [name for name in COMMANDS if f"\n## kafkaviz {name}\n" not in page] == []
    assert "(--offset N | --timestamp T)" in page
    assert "(WORKLOAD | --replay TP_DIR | --list)" in page
    assert "| `--fail-on {error,warning}` |" in page
    assert "==SUPPRESS==" not in page
    assert "%(" not in page


@pytest.mark.parametrize("name", FORMATS)
def test_a_table_has_every_column(name):
    """In Spark's order, with those of the options at the end."""
    table = dict(reference.tables())[name]
    names = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert names == columns(name, parse_options(EVERYTHING)).names


def test_types_are_those_that_spark_names():
    """As Spark converts the Arrow schema."""
    types = pytest.importorskip("pyspark.sql.pandas.types")
    for name in FORMATS:
        for field in columns(name, parse_options({"payload": "true"})):
            spark = types.from_arrow_type(field.type).simpleString()
            assert (
                reference.spark_type(field.type).lower().replace(": ", ":").replace(", ", ",")
                == spark
            )


def test_no_meaning_is_left_over():
    fields = {
        (name, field)
        for name in FORMATS
        for field in columns(name, parse_options(EVERYTHING)).names
    }
    fields |= {(consumer_options.FORMAT, field) for field in consumer_options.COLUMNS.names}
    added = (consumer_options.HEADERS, *consumer_options.REPLICA)
    fields |= {(consumer_options.FORMAT, field.name) for field in added}
    known = {field for _, field in fields} | {f"{name}.{field}" for name, field in fields}
    assert reference.MEANINGS.keys() - known == set()


def test_a_page_without_a_mark_is_noticed():
    with pytest.raises(ValueError, match="kafka_batches"):
        reference.filled("no mark", {"kafka_batches": "x"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    """To a file of the repository, and to a heading in it if one is named."""
    faults = []
    for target in LINK.findall(
        re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    ):
        path, _, anchor = target.partition("#")
        if path.startswith(("http:", "https:")):
            continue
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            faults.append(target)
    assert faults == []


def anchors(file: Path) -> set[str]:
    """Returns the anchors of the headings of a Markdown file."""
    headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {reference.anchor(heading) for heading in headings}


def test_the_contact_sheet_has_every_page():
    from docs import contact_sheet
    from kafkaviz import workshop
    from kafkaviz.app.registry import PAGES

    workshop.register()
    assert {name.lower().replace(" ", "-") for name in PAGES} <= contact_sheet.PAGES.keys()
