"""Processes of other trees, by pid: whether one is still the process that it was, and the end of what a dead tree left.

A pid alone names nobody for long, so that `tree.json` has the start time beside it.
"""
from __future__ import annotations

import os
import select
from typing import Any

import psutil  # type: ignore[import-untyped]

GONE_WITHIN = 5.0  # seconds; the kernel ends a killed process in milliseconds, unless it is writing to a broken disk


def born(pid: int) -> float:
    """When this process began; 0.0 if it has ended."""
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return 0.0


def is_alive(entry: dict[str, Any]) -> bool:
    """Whether the process of this entry, {pid, born}, still runs."""
    process = _process(entry)
    try:
        return process is not None and bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def ended(entry: dict[str, Any], within: float) -> bool:
    """Waits for the end of this process, which need not be our child; False if the time runs out."""
    if hasattr(os, "pidfd_open"):
        try:
            file = os.pidfd_open(entry["pid"])
        except ProcessLookupError:
            return True
        try:
            return not is_alive(entry) or bool(select.select([file], [], [], within)[0])
        finally:
            os.close(file)
    process = _process(entry)
    return process is None or not psutil.wait_procs([process], within)[1]


def kill_remains(state: dict[str, Any] | None) -> None:
    """The children of a dead root end by themselves in milliseconds; this makes sure, before somebody else listens where they did."""
    processes = [] if state is None else state.get("processes")
    left = [process for entry in processes if isinstance(entry, dict) and (process := _process(entry)) is not None] if isinstance(processes, list) else []
    for process in left:
        try:
            process.kill()
        except psutil.Error:
            continue
    psutil.wait_procs(left, GONE_WITHIN)


def _process(entry: dict[str, Any]) -> psutil.Process | None:
    pid, begun = entry.get("pid"), entry.get("born")
    if type(pid) is not int or type(begun) is not float or pid <= 0:
        return None
    try:
        process = psutil.Process(pid)
        return process if abs(process.create_time() - begun) < 0.01 else None
    except psutil.Error:
        return None
