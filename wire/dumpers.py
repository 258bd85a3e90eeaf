"""Dumpers of the messages of the ring that hold documents, by type code: the message in, what is packed out.

Each stands beside the fingerprint of the shape it was written for; a codec uses it for that shape only.
Written by `drafting`; do not edit it. To write it anew: python -m weft.wire.drafting
"""
from __future__ import annotations

from typing import Any

from .checks import Dump, Wrap
from .shapes import SCALARS


def dump_run_wave(body: Any, wrap: Wrap) -> Any:
    token_1, version_1, fed_1, wave_1, now_1, runs_1, awaited_1 = body
    if runs_1:
        out_1: list[Any] = []
        for each_1 in runs_1:
            node_1, generation_1, number_1, attempt_1, gives_way_1, demanded_1, spec_1, triggers_1 = each_1
            if type(spec_1) not in SCALARS:
                spec_1 = wrap(spec_1)
            out_1.append((node_1, generation_1, number_1, attempt_1, gives_way_1, demanded_1, spec_1, triggers_1))
        runs_1 = out_1
    return (token_1, version_1, fed_1, wave_1, now_1, runs_1, awaited_1)


def dump_commit_runs(body: Any, wrap: Wrap) -> Any:
    token_1, version_1, wave_1, finished_1, last_1 = body
    if finished_1:
        out_1: list[Any] = []
        for each_1 in finished_1:
            node_1, generation_1, number_1, reads_1, writes_1, triggers_1, group_1, took_1, beside_1, fault_1 = each_1
            if writes_1:
                out_2: list[Any] = []
                for each_2 in writes_1:
                    entity_1, op_1, value_1 = each_2
                    if type(value_1) not in SCALARS:
                        value_1 = wrap(value_1)
                    out_2.append((entity_1, op_1, value_1))
                writes_1 = out_2
            if isinstance(beside_1, tuple):
                own_1, elided_1, preconditions_1, children_1, removals_1, sends_1, touched_1, event_1 = beside_1
                if preconditions_1:
                    out_3: list[Any] = []
                    for each_3 in preconditions_1:
                        if type(each_3) not in SCALARS:
                            each_3 = wrap(each_3)
                        out_3.append(each_3)
                    preconditions_1 = out_3
                if children_1:
                    out_4: list[Any] = []
                    for each_4 in children_1:
                        node_2, kind_1, space_1, outputs_1, envelope_1, declared_1, debounce_1, max_wait_1, throttle_1, auto_debounce_1, group_2, demanded_1, spec_1 = each_4
                        if type(spec_1) not in SCALARS:
                            spec_1 = wrap(spec_1)
                        out_4.append((node_2, kind_1, space_1, outputs_1, envelope_1, declared_1, debounce_1, max_wait_1, throttle_1, auto_debounce_1, group_2, demanded_1, spec_1))
                    children_1 = out_4
                if sends_1:
                    out_5: list[Any] = []
                    for each_5 in sends_1:
                        if type(each_5) not in SCALARS:
                            each_5 = wrap(each_5)
                        out_5.append(each_5)
                    sends_1 = out_5
                beside_1 = (own_1, elided_1, preconditions_1, children_1, removals_1, sends_1, touched_1, event_1)
            out_1.append((node_1, generation_1, number_1, reads_1, writes_1, triggers_1, group_1, took_1, beside_1, fault_1))
        finished_1 = out_1
    return (token_1, version_1, wave_1, finished_1, last_1)


def dump_changes(body: Any, wrap: Wrap) -> Any:
    token_1, version_1, wave_1, entries_1, served_1, last_1 = body
    if entries_1:
        out_1: list[Any] = []
        for each_1 in entries_1:
            n_1, entry_1, node_1, generation_1, number_1, reads_1, changes_1, moved_1, took_1, unusual_1 = each_1
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
            if isinstance(unusual_1, tuple):
                outcome_1, group_1, parent_1, token_2, refusal_1, leaning_1, declared_1, fault_1 = unusual_1
                if isinstance(refusal_1, tuple):
                    name_1, message_1, fields_1 = refusal_1
                    if type(fields_1) not in SCALARS:
                        fields_1 = wrap(fields_1)
                    refusal_1 = (name_1, message_1, fields_1)
                if isinstance(declared_1, tuple):
                    node_2, kind_1, space_1, outputs_1, envelope_1, declared_2, debounce_1, max_wait_1, throttle_1, auto_debounce_1, group_2, demanded_1, spec_1 = declared_1
                    if type(spec_1) not in SCALARS:
                        spec_1 = wrap(spec_1)
                    declared_1 = (node_2, kind_1, space_1, outputs_1, envelope_1, declared_2, debounce_1, max_wait_1, throttle_1, auto_debounce_1, group_2, demanded_1, spec_1)
                unusual_1 = (outcome_1, group_1, parent_1, token_2, refusal_1, leaning_1, declared_1, fault_1)
            out_1.append((n_1, entry_1, node_1, generation_1, number_1, reads_1, changes_1, moved_1, took_1, unusual_1))
        entries_1 = out_1
    return (token_1, version_1, wave_1, entries_1, served_1, last_1)


def dump_invalidated(body: Any, wrap: Wrap) -> Any:
    token_1, version_1, wave_1, rows_1, done_1, structure_1, served_1, owed_1, last_1 = body
    if isinstance(structure_1, tuple):
        born_1, gone_1, edges_1, reads_1 = structure_1
        if born_1:
            out_1: list[Any] = []
            for each_1 in born_1:
                generation_1, ordinal_1, parent_1, declared_1 = each_1
                node_1, kind_1, space_1, outputs_1, envelope_1, declared_2, debounce_1, max_wait_1, throttle_1, auto_debounce_1, group_1, demanded_1, spec_1 = declared_1
                if type(spec_1) not in SCALARS:
                    spec_1 = wrap(spec_1)
                out_1.append((generation_1, ordinal_1, parent_1, (node_1, kind_1, space_1, outputs_1, envelope_1, declared_2, debounce_1, max_wait_1, throttle_1, auto_debounce_1, group_1, demanded_1, spec_1)))
            born_1 = out_1
        structure_1 = (born_1, gone_1, edges_1, reads_1)
    return (token_1, version_1, wave_1, rows_1, done_1, structure_1, served_1, owed_1, last_1)


def dump_feed(body: Any, wrap: Wrap) -> Any:
    fed_1, version_1, changes_1, documents_1, stale_1 = body
    if changes_1:
        out_1: list[Any] = []
        for each_1 in changes_1:
            entity_1, path_1, before_1, after_1, kept_1 = each_1
            if type(before_1) not in SCALARS:
                before_1 = wrap(before_1)
            if type(after_1) not in SCALARS:
                after_1 = wrap(after_1)
            out_1.append((entity_1, path_1, before_1, after_1, kept_1))
        changes_1 = out_1
    if documents_1:
        out_2: list[Any] = []
        for each_2 in documents_1:
            entity_2, n_1, document_1 = each_2
            if type(document_1) not in SCALARS:
                document_1 = wrap(document_1)
            out_2.append((entity_2, n_1, document_1))
        documents_1 = out_2
    return (fed_1, version_1, changes_1, documents_1, stale_1)


DUMPERS: dict[int, tuple[str, Dump]] = {
    16: ("96626dab93781f8a", dump_run_wave),
    17: ("54f1d18a18bd7f9c", dump_commit_runs),
    18: ("e8d045df056b0266", dump_changes),
    19: ("a670e73cd8836209", dump_invalidated),
    20: ("e3b6f202b39724c6", dump_feed),
}
