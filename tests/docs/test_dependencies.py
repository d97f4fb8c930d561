"""docs/dependencies.md: every package of the lock has its licence there, and every one we name is
really used.
"""

import ast
import re
import ssl
from functools import cache
from pathlib import Path

import certifi
import pytest
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "dependencies.md").read_text()
NAME = re.compile(r"^([A-Za-z0-9_.-]+)")


def named(file: str) -> set[str]:
    """The packages that a list of requirements names."""
    lines = (ROOT / file).read_text().splitlines()
    return {NAME.match(line)[1] for line in lines if line and line[0] not in "#- "}


@cache
def imported() -> dict[str, set[str]]:
    """The names at the top of every import of the library and the app, and the files that have it;
    numba's also by our own door to it.
    """
    found: dict[str, set[str]] = {}
    for path in [
        *(ROOT / "kafkaviz").rglob("*.py"),
        *(ROOT / "pages").glob("*.py"),
        ROOT / "app.py",
    ]:
        for node in ast.walk(ast.parse(path.read_text())):
            modules = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules = ["numba"] if node.module == "kafkaviz.binary.lazy_njit" else [node.module]
            for module in modules:
                found.setdefault(module.partition(".")[0], set()).add(
                    path.relative_to(ROOT).as_posix()
                )
    return found


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    lines = [
        line
        for line in PAGE.partition(heading)[2].partition("\n## ")[0].splitlines()
        if line.startswith("|")
    ]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_package_that_we_name_is_used():
    """A requirement that nothing imports goes."""
    assert named("requirements.txt") - imported().keys() == set()


# that is everywhere
@pytest.mark.parametrize("package", sorted(named("requirements.txt") - {"numpy"}))
def test_the_rooms_that_use_it_are_named(package):
    """No file outside of the paths in its row imports it, and none of them is there for nothing."""
    rooms = re.findall(
        r"`([^`]+)`",
        {row[0].strip("`"): row[2] for row in rows("# What kafkaviz depends on")}[package],
    )
    files = imported()[package]
    assert {file for file in files if not file.startswith(tuple(rooms))} == set()
    assert [room for room in rooms if not any(file.startswith(room) for file in files)] == []


def test_the_page_has_them_all():
    """Those that we name with what they are for, those of the lock with their licence, none of them
    twice.
    """
    assert {row[0].strip("`") for row in rows("# What kafkaviz depends on")} == named(
        "requirements.txt"
    )
    listed = [name.strip() for row in rows("## Licences") for name in row[1].split(",")]
    assert sorted(listed) == sorted(named("requirements.lock"))
    assert f"has {len(listed)} of them" in PAGE


def test_the_lock_holds_nothing_with_a_known_fault():
    """Of each advisory of the page: what is locked is what the lock says, and no older than what
    mends it; certifi is looked into.
    """
    locked: dict[str, list[Version]] = {}
    for name, version in re.findall(
        r"^([a-z0-9-]+)==([^ ;]+)", (ROOT / "requirements.lock").read_text(), re.M
    ):
        locked.setdefault(name, []).append(Version(version))
    found = {
        row[0].strip("`"): (Version(row[2]), Version(row[3]))
        for row in rows("## Known vulnerabilities")
    }
    assert len(found) > 10 and all(told == min(locked[name]) for name, (_, told) in found.items())
    assert [name for name, (mended, told) in found.items() if told < mended] == ["certifi"]


def test_the_roots_hold_none_that_was_compromised():
    """GHSA-6q48-6c7w-9gw2, of October 2026."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(certifi.where())
    names = [str(one["subject"]) for one in context.get_ca_certs()]
    assert len(names) > 100 and not any("emSign" in name for name in names)
