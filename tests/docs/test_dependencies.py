"""docs/dependencies.md: every locked package has its licence, every named one is used."""

import ast
import re
import ssl
from collections import defaultdict
from functools import cache

import certifi
import pytest
from packaging.version import Version

from tests.support import sources
from tests.support.sources import ROOT

PAGE = (ROOT / "docs" / "dependencies.md").read_text()
NAME = re.compile(r"^([A-Za-z0-9_.-]+)")


def package_names(file: str) -> set[str]:
    lines = (ROOT / file).read_text().splitlines()
    return {NAME.match(line)[1] for line in lines if line and line[0] not in "#- "}


@cache
def imported() -> dict[str, set[str]]:
    """Returns the files that import a package, by its name; numba by our own wrapper too."""
    imports: dict[str, set[str]] = defaultdict(set)
    for path in sources.FILES:
        for node in sources.nodes(path):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules = ["numba"] if node.module == "kafkaviz.binary.lazy_njit" else [node.module]
            for module in modules:
                imports[module.partition(".")[0]].add(sources.place(path))
    return imports


def rows(heading: str) -> list[list[str]]:
    """Returns the cells of the first table below a heading, without its head."""
    lines = [
        line
        for line in PAGE.partition(heading)[2].partition("\n## ")[0].splitlines()
        if line.startswith("|")
    ]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_package_that_we_name_is_used():
    """A requirement that nothing imports is removed."""
    modules = {name.replace("-", "_") for name in package_names("requirements.txt")}
    assert modules - imported().keys() == set()


# that is everywhere
@pytest.mark.parametrize("package", sorted(package_names("requirements.txt") - {"numpy"}))
def test_the_rooms_that_use_it_are_named(package):
    """Only files in the paths of its row import it, and each of those paths does."""
    rooms = re.findall(
        r"`([^`]+)`",
        {row[0].strip("`"): row[2] for row in rows("# What kafkaviz depends on")}[package],
    )
    files = imported()[package.replace("-", "_")]
    assert {file for file in files if not file.startswith(tuple(rooms))} == set()
    assert [room for room in rooms if not any(file.startswith(room) for file in files)] == []


def test_the_page_has_them_all():
    """Each once: those that we name with their purpose, those of the lock with their licence."""
    assert {row[0].strip("`") for row in rows("# What kafkaviz depends on")} == package_names(
        "requirements.txt"
    )
    listed_names = [name.strip() for row in rows("## Licences") for name in row[1].split(",")]
    assert sorted(listed_names) == sorted(package_names("requirements.lock"))
    assert f"has {len(listed_names)} of them" in PAGE


def test_the_lock_holds_nothing_with_a_known_fault():
    """The locked version is at least the one that fixes each advisory of the page."""
    locked: dict[str, list[Version]] = {}
    for name, version in re.findall(
        r"^([a-z0-9-]+)==([^ ;]+)", (ROOT / "requirements.lock").read_text(), re.M
    ):
        locked.setdefault(name, []).append(Version(version))
    versions = {
        row[0].strip("`"): (Version(row[2]), Version(row[3]))
        for row in rows("## Known vulnerabilities")
    }
    assert len(versions) > 10
    assert all(ours == min(locked[name]) for name, (_, ours) in versions.items())
    assert [name for name, (mended, ours) in versions.items() if ours < mended] == ["certifi"]


def test_the_roots_hold_none_that_was_compromised():
    """GHSA-6q48-6c7w-9gw2, of October 2026."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(certifi.where())
    names = [str(certificate["subject"]) for certificate in context.get_ca_certs()]
    assert len(names) > 100 and not any("emSign" in name for name in names)
