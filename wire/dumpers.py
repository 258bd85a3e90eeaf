"""Dumpers of the messages of the ring that hold documents, by type code: the message in, what is packed out.

Each stands beside the fingerprint of the shape it was written for; a codec uses it for that shape only.
Written by `drafting`; do not edit it. To write it anew: python -m weft.wire.drafting
"""
from __future__ import annotations

from typing import Any

from .checks import Dump, Wrap
from .shapes import SCALARS


def dump_run_wave(body: Any, wrap: Wrap) -> Any:
    token_1, version_1, runs_1 = body
    if runs_1:
        out_1: list[Any] = []
        for each_1 in runs_1:
            node_1, generation_1, number_1, function_1, arguments_1, triggers_1 = each_1
            if type(arguments_1) not in SCALARS:
                arguments_1 = wrap(arguments_1)
            out_1.append((node_1, generation_1, number_1, function_1, arguments_1, triggers_1))
        runs_1 = out_1
    return (token_1, version_1, runs_1)


def dump_commit_runs(body: Any, wrap: Wrap) -> Any:
    token_1, version_1, finished_1, last_1 = body
    if finished_1:
        out_1: list[Any] = []
        for each_1 in finished_1:
            node_1, generation_1, number_1, commit_1, reads_1, writes_1, children_1, removals_1, sends_1, error_1 = each_1
            if writes_1:
                out_2: list[Any] = []
                for each_2 in writes_1:
                    entity_1, op_1, path_1, value_1 = each_2
                    if type(value_1) not in SCALARS:
                        value_1 = wrap(value_1)
                    out_2.append((entity_1, op_1, path_1, value_1))
                writes_1 = out_2
            if children_1:
                out_3: list[Any] = []
                for each_3 in children_1:
                    if type(each_3) not in SCALARS:
                        each_3 = wrap(each_3)
                    out_3.append(each_3)
                children_1 = out_3
            if sends_1:
                out_4: list[Any] = []
                for each_4 in sends_1:
                    if type(each_4) not in SCALARS:
                        each_4 = wrap(each_4)
                    out_4.append(each_4)
                sends_1 = out_4
            if isinstance(error_1, tuple):
                name_1, text_1, fields_1 = error_1
                if type(fields_1) not in SCALARS:
                    fields_1 = wrap(fields_1)
                error_1 = (name_1, text_1, fields_1)
            out_1.append((node_1, generation_1, number_1, commit_1, reads_1, writes_1, children_1, removals_1, sends_1, error_1))
        finished_1 = out_1
    return (token_1, version_1, finished_1, last_1)


def dump_changes(body: Any, wrap: Wrap) -> Any:
    token_1, version_1, entries_1, last_1 = body
    if entries_1:
        out_1: list[Any] = []
        for each_1 in entries_1:
            version_2, entry_1, node_1, generation_1, number_1, reads_1, changes_1, moved_1 = each_1
            if changes_1:
                out_2: list[Any] = []
                for each_2 in changes_1:
                    entity_1, path_1, before_1, after_1, kept_1 = each_2
                    if type(before_1) not in SCALARS:
                        before_1 = wrap(before_1)
                    if type(after_1) not in SCALARS:
                        after_1 = wrap(after_1)
                    out_2.append((entity_1, path_1, before_1, after_1, kept_1))
                changes_1 = out_2
            out_1.append((version_2, entry_1, node_1, generation_1, number_1, reads_1, changes_1, moved_1))
        entries_1 = out_1
    return (token_1, version_1, entries_1, last_1)


def dump_feed(body: Any, wrap: Wrap) -> Any:
    version_1, documents_1, stale_1 = body
    if documents_1:
        out_1: list[Any] = []
        for each_1 in documents_1:
            entity_1, n_1, document_1 = each_1
            if type(document_1) not in SCALARS:
                document_1 = wrap(document_1)
            out_1.append((entity_1, n_1, document_1))
        documents_1 = out_1
    return (version_1, documents_1, stale_1)


DUMPERS: dict[int, tuple[str, Dump]] = {
    16: ("a832ada59615533f", dump_run_wave),
    17: ("388349c3ac387504", dump_commit_runs),
    18: ("f5bb078071d0fb8c", dump_changes),
    20: ("0cc4d37ae251ba37", dump_feed),
}
