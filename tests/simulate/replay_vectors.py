"""Histories of one log that Kafka's own UnifiedLog recorded, replayed with kafkaviz's writer."""

import hashlib
import re

import numpy as np

from kafkaviz import config_def, versions
from kafkaviz.format.walk import walk
from kafkaviz.simulate.appends import INCOMING, MemoryLogs
from kafkaviz.simulate.config import log_config, release_behaviour
from kafkaviz.simulate.writer.open_segment import IndexFile
from kafkaviz.simulate.writer.refusals import AppendFailed
from kafkaviz.simulate.writer.writer import CannotLoad, UnifiedLog
from tests.support.vectors import unpacked, written

NUMBER = {"int": int, "long": int, "boolean": lambda text: text == "true"}


def settings(recorded: dict) -> dict:
    kinds = {name: setting.kind for name, setting in config_def.TOPIC_SETTINGS.items()}
    return {
        name: NUMBER.get(kinds[name], str)(str(value))
        for name, value in recorded.items()
        if name in kinds
    }


def incoming(data: bytes, append: int, now_ms: int) -> np.ndarray:
    batches, end = walk(data)
    assert end.reason == "end"
    rows = np.zeros(len(batches), INCOMING)
    for name in batches.dtype.names:
        rows[name] = batches[name]
    rows["append"], rows["now_ms"], rows["marker"] = append, now_ms, -1
    rows["deep_offset"] = rows["last_offset"]
    return rows


class Replay:
    def __init__(self, history: dict) -> None:
        self.history = history
        self.differences = []
        self.data = unpacked(history["appended_gz"]) if "appended_gz" in history else b""
        self.at = 0

    def run(self) -> list[str]:
        history = self.history
        release = versions.parse(history["version"])
        self.logs = MemoryLogs()
        config = log_config(settings(history["settings"]), release)
        try:
            self.log = UnifiedLog(
                config,
                release_behaviour(release),
                now_ms=history["start_clock"],
                start_offset=history["start_offset"],
                is_leader=history["mode"] == "leader",
                logs=self.logs,
            )
        except CannotLoad as refused:
            self.same("open error", error_text(history, "open_error"), refused.exception)
            return self.differences
        self.same("open error", history.get("open_error"), None)
        self.state("opened", history["opened"])
        for number, step in enumerate(history["steps"]):
            getattr(self, f"do_{step['op']}")(number, step)
            if self.differences:
                return self.differences
        if "final_open" in history:
            self.state("final_open", history["final_open"])
        if "final_closed" in history:
            self.log.close(history["close_clock"], flushed=False)
            self.state("final_closed", history["final_closed"])
        return self.differences

    def do_append(self, number: int, step: dict) -> None:
        size = sum(batch[2] for batch in step["b"])
        data = self.data[self.at : self.at + size]
        self.at += size
        rows = incoming(data, number, step["now"])
        before = [segment.base_offset for segment in self.log.segments]
        try:
            self.log.append(rows, data)
        except AppendFailed as failed:
            self.same(f"{number} error", error_text(step), str(failed.exception))
            self.state(f"{number} state", step["state"])
            return
        base_offset = self.log.active.base_offset
        self.same(f"{number} error", step.get("error"), None)
        self.same(f"{number} rolled", step.get("rolled", False), base_offset not in before)
        place = (base_offset, int(rows["position"][0]))
        self.same(f"{number} place", (step["seg"], step["pos"]), place)

    def do_restart(self, number: int, step: dict) -> None:
        self.log.close(step["now"])
        self.state(f"{number} closed", step["closed"])
        self.log.restart(step["now"])
        self.state(f"{number} opened", step["opened"])

    def do_crash(self, number: int, step: dict) -> None:
        self.state(f"{number} crashed", step["crashed"])
        try:
            self.log.restart(step["now"], recovery_point=step["recovery_point"])
        except CannotLoad as failed:
            self.same(f"{number} error", error_text(step), failed.exception)
            return
        self.same(f"{number} error", step.get("error"), None)
        self.state(f"{number} opened", step["opened"])

    def do_truncateTo(self, number: int, step: dict) -> None:
        result = self.log.truncate_to(step["offset"], step["now"])
        self.same(f"{number} result", step["result"], result)
        self.state(f"{number} truncated", step["state"])

    def do_deleteRecords(self, number: int, step: dict) -> None:
        deleted = self.log.delete_records(step["offset"], step["now"])
        self.same(f"{number} deleted", step["segments_deleted"], deleted)
        self.same(f"{number} log start", step["log_start"], self.log.log_start_offset)
        self.same(f"{number} bases", step["bases"], self.bases())

    # ---- comparing

    def bases(self) -> list[int]:
        return [segment.base_offset for segment in self.log.segments]

    def state(self, where: str, recorded: dict | list) -> None:
        segments = recorded["segments"] if isinstance(recorded, dict) else recorded
        if isinstance(recorded, dict) and "log_end" in recorded:
            ends = (self.log.log_start_offset, self.log.log_end_offset)
            self.same(f"{where} ends", (recorded["log_start"], recorded["log_end"]), ends)
        self.same(f"{where} bases", [line["base"] for line in segments], self.bases())
        for line, segment in zip(segments, self.log.segments, strict=False):
            place = f"{where} {line['base']}"
            data = self.logs.content(segment.base_offset)
            log = (segment.log_bytes, hashlib.sha256(data).hexdigest())
            self.same(f"{place} log", (line["log_size"], line["log_sha256"]), log)
            self.file(f"{place} index", line["index"], segment.index)
            self.file(f"{place} timeindex", line["timeindex"], segment.timeindex)

    def file(self, where: str, recorded: dict | None, file: IndexFile) -> None:
        if recorded is None or not file.exists:
            self.same(f"{where} exists", recorded is not None, file.exists)
            return
        kafkas = written(recorded).rstrip(b"\0")
        self.same(f"{where} length", recorded["file_len"], file.file_bytes)
        self.same(f"{where} content", kafkas.hex(), file.used_bytes().rstrip(b"\0").hex())
        if recorded.get("entries") is not None:
            self.same(f"{where} entries", recorded["entries"], file.count)

    def same(self, where: str, recorded: object, actual: object) -> None:
        if isinstance(recorded, str) and isinstance(actual, str):
            recorded, actual = (
                re.sub(r"lastModifiedTime=\d+", "", text) for text in (recorded, actual)
            )
        if recorded != actual:
            difference = f"{where}: Kafka {recorded}, kafkaviz {actual}"
            self.differences.append(f"{self.history['id']} {difference}")


def error_text(line: dict, name: str = "error") -> str | None:
    return "{class}: {message}".format(**line[name]) if line.get(name) else None
