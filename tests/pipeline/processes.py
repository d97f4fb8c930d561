import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run_python(
    code: str,
    *arguments: object,
    folder: Path = ROOT,
    environ: Mapping[str, str] | None = None,
    python: str | Path = sys.executable,
) -> str:
    """Runs code in a process of its own, by default in the checkout, and returns what it prints."""
    command = [python, "-c", code, *map(str, arguments)]
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
