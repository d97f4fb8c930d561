"""python -m tests.fuzz: the soak, for MINUTES=10 or until INPUTS=n, from SEED=1; or only CASE=n."""

import os
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

from tests.fuzz import soak

TOLD_S = 60


def main() -> int:
    seed, case = int(os.environ.get("SEED") or 1), os.environ.get("CASE")
    return _run_case(seed, int(case)) if case else _all(seed)


def _all(seed: int) -> int:
    minutes, inputs = float(os.environ.get("MINUTES") or 10), os.environ.get("INPUTS")
    seconds = float("inf") if inputs and not os.environ.get("MINUTES") else 60 * minutes
    started = last_report_s = time.monotonic()

    def watch(run: soak.Soak) -> None:
        nonlocal last_report_s
        if time.monotonic() - last_report_s >= TOLD_S:
            last_report_s = time.monotonic()
            minutes = (last_report_s - started) / 60
            counts = f"{run.total} damaged inputs, {run.escapes.total()} escapes"
            print(f"{minutes:.0f} min: {counts}", flush=True)

    most = int(inputs) if inputs else None
    run = soak.soak(seed, seconds, most, os.cpu_count() or 1, watch=watch)
    print(run.text())
    print(f"{time.monotonic() - started:.0f} s")
    return 1 if run.escapes else 0


def _run_case(seed: int, case: int) -> int:
    targets = soak.loaded(soak.TARGETS)
    with tempfile.TemporaryDirectory(prefix="kafkaviz-fuzz-") as folder:
        os.environ |= {"KAFKAVIZ_FUZZ": folder, "KAFKAVIZ_CACHE": str(Path(folder) / "cache")}
        soak.warm_up(targets, seed)
        warnings.simplefilter("error", RuntimeWarning)
        target, original, data, draw = soak.drawn(targets, seed, case)
        print(f"{target.name}\nbefore the damage: {original!r}\nread: {data!r}")
        started = time.thread_time()
        try:
            target.read(original, data, draw)
        except Exception:
            traceback.print_exc()
            return 1
        finally:
            print(f"{time.thread_time() - started:.3f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
