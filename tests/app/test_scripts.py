"""The JavaScript: bundles match the sources, and numbers are formatted as in Python."""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from kafkaviz import units
from kafkaviz.workshop.lessons import tasks

ROOT = Path(__file__).parents[2]
FRONTEND = ROOT / "kafkaviz" / "app" / "frontend"
NODE = shutil.which("node")
NEEDS_NODE = pytest.mark.skipif(not NODE, reason="needs node, which runs the browser's scripts")


def run_node(*arguments: str) -> str:
    result = subprocess.run(
        [NODE or "node", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_the_bundles_are_of_these_sources():
    """`npm run bundle` was run after the last change: bundle.js computes the same digest."""
    digest = hashlib.sha256()
    source = FRONTEND / "src"
    for path in sorted(path.relative_to(source).as_posix() for path in source.rglob("*.js")):
        digest.update(f"{path}\0".encode() + (source / path).read_bytes())
    assert (FRONTEND / "bundles" / "sources.sha256").read_text() == f"{digest.hexdigest()}\n"


@NEEDS_NODE
def test_the_scripts_own_tests_pass():
    files = sorted(str(path) for path in (ROOT / "tests/app/frontend").glob("*.test.js"))
    assert len(files) >= 4
    assert "# fail 0" in run_node("--test", "--test-reporter=tap", *files)


@NEEDS_NODE
def test_the_browser_writes_numbers_as_python_does():
    """Sizes and grouped digits, around each change of unit and at random."""
    random = np.random.default_rng(3)
    edges = [1024**power + more for power in range(1, 5) for more in (-1, 0, 1)]
    edges += [2047 * 1024**power // 2 + more for power in range(1, 4) for more in (-1, 0, 1)]
    sizes = [
        0,
        1,
        9,
        999,
        1000,
        *edges,
        *(int(2**exponent) for exponent in random.uniform(0, 44, 500)),
    ]
    script = f"""
        import {{ formatBytes, groupDigits }} from {json.dumps((FRONTEND / "src/text.js").as_uri())};
        const sizes = {json.dumps(sizes)};
        console.log(JSON.stringify(sizes.map(size => [formatBytes(size), groupDigits(size)])));
    """
    written = json.loads(run_node("--input-type=module", "--eval", script))
    assert written == [[units.format_bytes(size), units.format_count(size)] for size in sizes]


@NEEDS_NODE
def test_the_browser_reads_typed_numbers_as_python_does():
    """In answers to the exercises of a downloaded lesson: signs, groups and lengths."""
    random = np.random.default_rng(5)
    signs = [*"0123456789", "000", "-", ",", "_", "\u202f", " ", ".", "a", "７"]
    texts = ["", "10,948", "1,2", "1 234", "-0", "12" * 20, "1,234,56"]
    texts += ["".join(random.choice(signs, size)) for size in random.integers(1, 24, 2000)]
    script = f"""
        import {{ wholeNumbers }} from {json.dumps((FRONTEND / "src/answers.js").as_uri())};
        console.log(JSON.stringify({json.dumps(texts)}.map(wholeNumbers)));
    """
    read = json.loads(run_node("--input-type=module", "--eval", script))
    assert read == [[str(number) for number in tasks.numbers(text)] for text in texts]
