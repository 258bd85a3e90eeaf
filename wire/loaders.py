"""Loaders of the messages of the ring, by type code: the body in, the message out, ValueError if it does not fit (`checks` says why).

Each stands beside the fingerprint of the shape it was written for; a codec uses it for that shape only.
Written by `drafting`; do not edit it. To write it anew: python -m weft.wire.drafting
"""
from __future__ import annotations

from typing import Any

from ..scheduler import model, rows
from . import feeding, ring
from .checks import Load, Unfit
from .shapes import VALUE_KINDS

new: Any = tuple.__new__  # without the keyword handling of a NamedTuple's own


def load_run_wave(body: Any) -> Any:
    token_1, version_1, fed_1, wave_1, now_1, runs_1, awaited_1 = body
    if type(token_1) is not int or type(version_1) is not tuple or type(fed_1) is not int or type(wave_1) is not int or type(now_1) is not float or type(runs_1) is not tuple:
        raise Unfit
    if type(awaited_1) is not tuple:
        raise Unfit
    epoch_1, n_1 = version_1
    if type(epoch_1) is not int or type(n_1) is not int:
        raise Unfit
    if runs_1:
        out_1 = []
        for each_1 in runs_1:
            if type(each_1) is not tuple:
                raise Unfit
            node_1, generation_1, number_1, attempt_1, gives_way_1, demanded_1, spec_1, triggers_1 = each_1
            if type(node_1) is not str or type(generation_1) is not int or type(number_1) is not int or type(attempt_1) is not int or type(gives_way_1) is not bool:
                raise Unfit
            if type(demanded_1) is not bool or type(spec_1) not in VALUE_KINDS or type(triggers_1) is not tuple:
                raise Unfit
            if triggers_1:
                out_2 = []
                for each_2 in triggers_1:
                    if type(each_2) is not tuple:
                        raise Unfit
                    space_1, scope_1, id_1, path_1 = each_2
                    if type(space_1) is not str or type(scope_1) is not str or type(id_1) is not str or type(path_1) is not tuple:
                        raise Unfit
                    for each_3 in path_1:
                        if type(each_3) is not str:
                            raise Unfit
                    out_2.append(new(model.Address, each_2))
                triggers_1 = tuple(out_2)
            out_1.append(new(ring.Run, (node_1, generation_1, number_1, attempt_1, gives_way_1, demanded_1, spec_1, triggers_1)))
        runs_1 = tuple(out_1)
    if awaited_1:
        out_4 = []
        for each_4 in awaited_1:
            if type(each_4) is not tuple:
                raise Unfit
            address_1, pending_1 = each_4
            if type(address_1) is not tuple or type(pending_1) is not bool:
                raise Unfit
            space_2, scope_2, id_2, path_2 = address_1
            if type(space_2) is not str or type(scope_2) is not str or type(id_2) is not str or type(path_2) is not tuple:
                raise Unfit
            for each_5 in path_2:
                if type(each_5) is not str:
                    raise Unfit
            out_4.append(new(ring.Awaited, (new(model.Address, address_1), pending_1)))
        awaited_1 = tuple(out_4)
    return new(ring.RunWave, (token_1, new(model.Version, version_1), fed_1, wave_1, now_1, runs_1, awaited_1))


def load_commit_runs(body: Any) -> Any:
    token_1, version_1, wave_1, finished_1, last_1 = body
    if type(token_1) is not int or type(version_1) is not tuple or type(wave_1) is not int or type(finished_1) is not tuple or type(last_1) is not bool:
        raise Unfit
    epoch_1, n_1 = version_1
    if type(epoch_1) is not int or type(n_1) is not int:
        raise Unfit
    if finished_1:
        out_1 = []
        for each_1 in finished_1:
            if type(each_1) is not tuple:
                raise Unfit
            node_1, generation_1, number_1, reads_1, writes_1, triggers_1, group_1, took_1, beside_1, fault_1 = each_1
            if type(node_1) is not str or type(generation_1) is not int or type(number_1) is not int or type(reads_1) is not tuple or type(writes_1) is not tuple:
                raise Unfit
            if type(triggers_1) is not tuple or (group_1 is not None and type(group_1) is not str) or type(took_1) is not float:
                raise Unfit
            if (beside_1 is not None and type(beside_1) is not tuple) or (fault_1 is not None and type(fault_1) is not tuple):
                raise Unfit
            if reads_1:
                out_2 = []
                for each_2 in reads_1:
                    if type(each_2) is not tuple:
                        raise Unfit
                    entity_1, path_1, deep_1, use_1 = each_2
                    if type(entity_1) is not tuple or type(path_1) is not tuple or type(deep_1) is not bool or type(use_1) is not int:
                        raise Unfit
                    space_1, scope_1, id_1 = entity_1
                    if type(space_1) is not str or type(scope_1) is not str or type(id_1) is not str:
                        raise Unfit
                    for each_3 in path_1:
                        if type(each_3) is not str:
                            raise Unfit
                    out_2.append(new(ring.UsedRead, (new(model.Entity, entity_1), path_1, deep_1, use_1)))
                reads_1 = tuple(out_2)
            if writes_1:
                out_4 = []
                for each_4 in writes_1:
                    if type(each_4) is not tuple:
                        raise Unfit
                    entity_2, op_1, value_1 = each_4
                    if type(entity_2) is not tuple or (type(op_1) is not str or op_1 not in {"delete", "patch", "plain", "set"}) or type(value_1) not in VALUE_KINDS:
                        raise Unfit
                    space_2, scope_2, id_2 = entity_2
                    if type(space_2) is not str or type(scope_2) is not str or type(id_2) is not str:
                        raise Unfit
                    out_4.append(new(ring.Write, (new(model.Entity, entity_2), op_1, value_1)))
                writes_1 = tuple(out_4)
            if triggers_1:
                out_5 = []
                for each_5 in triggers_1:
                    if type(each_5) is not tuple:
                        raise Unfit
                    space_3, scope_3, id_3, path_2 = each_5
                    if type(space_3) is not str or type(scope_3) is not str or type(id_3) is not str or type(path_2) is not tuple:
                        raise Unfit
                    for each_6 in path_2:
                        if type(each_6) is not str:
                            raise Unfit
                    out_5.append(new(model.Address, each_5))
                triggers_1 = tuple(out_5)
            if type(beside_1) is tuple:
                own_1, elided_1, preconditions_1, children_1, removals_1, sends_1, touched_1, event_1 = beside_1
                if type(own_1) is not tuple or type(elided_1) is not tuple or type(preconditions_1) is not tuple or type(children_1) is not tuple:
                    raise Unfit
                if type(removals_1) is not tuple or type(sends_1) is not tuple or type(touched_1) is not tuple or (event_1 is not None and type(event_1) is not str):
                    raise Unfit
                if own_1:
                    out_7 = []
                    for each_7 in own_1:
                        if type(each_7) is not tuple:
                            raise Unfit
                        entity_3, member_1 = each_7
                        if type(entity_3) is not tuple or type(member_1) is not int:
                            raise Unfit
                        space_4, scope_4, id_4 = entity_3
                        if type(space_4) is not str or type(scope_4) is not str or type(id_4) is not str:
                            raise Unfit
                        out_7.append(new(ring.Own, (new(model.Entity, entity_3), member_1)))
                    own_1 = tuple(out_7)
                if elided_1:
                    out_8 = []
                    for each_8 in elided_1:
                        if type(each_8) is not tuple:
                            raise Unfit
                        space_5, scope_5, id_5, path_3 = each_8
                        if type(space_5) is not str or type(scope_5) is not str or type(id_5) is not str or type(path_3) is not tuple:
                            raise Unfit
                        for each_9 in path_3:
                            if type(each_9) is not str:
                                raise Unfit
                        out_8.append(new(model.Address, each_8))
                    elided_1 = tuple(out_8)
                for each_10 in preconditions_1:
                    if type(each_10) not in VALUE_KINDS:
                        raise Unfit
                if children_1:
                    out_11 = []
                    for each_11 in children_1:
                        if type(each_11) is not tuple:
                            raise Unfit
                        node_2, kind_1, space_6, outputs_1, envelope_1, declared_1, debounce_1, max_wait_1, throttle_1, auto_debounce_1, group_2, demanded_1, spec_1 = each_11
                        if type(node_2) is not str or (type(kind_1) is not str or kind_1 not in {"computation", "effect", "family", "observer"}) or type(space_6) is not str:
                            raise Unfit
                        if type(outputs_1) is not tuple or type(envelope_1) is not tuple or type(declared_1) is not tuple:
                            raise Unfit
                        if (debounce_1 is not None and type(debounce_1) is not float) or (max_wait_1 is not None and type(max_wait_1) is not float):
                            raise Unfit
                        if (throttle_1 is not None and type(throttle_1) is not float) or type(auto_debounce_1) is not bool:
                            raise Unfit
                        if (group_2 is not None and type(group_2) is not str) or type(demanded_1) is not bool or type(spec_1) not in VALUE_KINDS:
                            raise Unfit
                        if outputs_1:
                            out_12 = []
                            for each_12 in outputs_1:
                                if type(each_12) is not tuple:
                                    raise Unfit
                                space_7, scope_6, id_6, path_4 = each_12
                                if type(space_7) is not str or type(scope_6) is not str or type(id_6) is not str or type(path_4) is not tuple:
                                    raise Unfit
                                for each_13 in path_4:
                                    if type(each_13) is not str:
                                        raise Unfit
                                out_12.append(new(model.Address, each_12))
                            outputs_1 = tuple(out_12)
                        if envelope_1:
                            out_14 = []
                            for each_14 in envelope_1:
                                if type(each_14) is not tuple:
                                    raise Unfit
                                space_8, scope_7, id_7, path_5 = each_14
                                if type(space_8) is not str or type(scope_7) is not str or type(id_7) is not str or type(path_5) is not tuple:
                                    raise Unfit
                                for each_15 in path_5:
                                    if type(each_15) is not str:
                                        raise Unfit
                                out_14.append(new(model.Address, each_14))
                            envelope_1 = tuple(out_14)
                        if declared_1:
                            out_16 = []
                            for each_16 in declared_1:
                                if type(each_16) is not tuple:
                                    raise Unfit
                                entity_4, path_6, deep_2 = each_16
                                if type(entity_4) is not tuple or type(path_6) is not tuple or type(deep_2) is not bool:
                                    raise Unfit
                                space_9, scope_8, id_8 = entity_4
                                if type(space_9) is not str or type(scope_8) is not str or type(id_8) is not str:
                                    raise Unfit
                                for each_17 in path_6:
                                    if type(each_17) is not str:
                                        raise Unfit
                                out_16.append(new(model.Read, (new(model.Entity, entity_4), path_6, deep_2)))
                            declared_1 = tuple(out_16)
                        out_11.append(new(ring.Declared, (node_2, kind_1, space_6, outputs_1, envelope_1, declared_1, debounce_1, max_wait_1, throttle_1, auto_debounce_1, group_2, demanded_1, spec_1)))
                    children_1 = tuple(out_11)
                for each_18 in removals_1:
                    if type(each_18) is not str:
                        raise Unfit
                for each_19 in sends_1:
                    if type(each_19) not in VALUE_KINDS:
                        raise Unfit
                if touched_1:
                    out_20 = []
                    for each_20 in touched_1:
                        if type(each_20) is not tuple:
                            raise Unfit
                        space_10, scope_9, id_9 = each_20
                        if type(space_10) is not str or type(scope_9) is not str or type(id_9) is not str:
                            raise Unfit
                        out_20.append(new(model.Entity, each_20))
                    touched_1 = tuple(out_20)
                beside_1 = new(ring.Beside, (own_1, elided_1, preconditions_1, children_1, removals_1, sends_1, touched_1, event_1))
            if type(fault_1) is tuple:
                kind_2, code_1, message_1, where_1, trace_1 = fault_1
                if (type(kind_2) is not str or kind_2 not in {"failed", "later", "unready"}) or type(code_1) is not str or type(message_1) is not str:
                    raise Unfit
                if type(where_1) is not str or type(trace_1) is not str:
                    raise Unfit
                fault_1 = new(ring.Fault, fault_1)
            out_1.append(new(ring.Finished, (node_1, generation_1, number_1, reads_1, writes_1, triggers_1, group_1, took_1, beside_1, fault_1)))
        finished_1 = tuple(out_1)
    return new(ring.CommitRuns, (token_1, new(model.Version, version_1), wave_1, finished_1, last_1))


def load_changes(body: Any) -> Any:
    token_1, version_1, wave_1, entries_1, served_1, last_1 = body
    if type(token_1) is not int or type(version_1) is not tuple or type(wave_1) is not int or type(entries_1) is not tuple or type(served_1) is not tuple:
        raise Unfit
    if type(last_1) is not bool:
        raise Unfit
    epoch_1, n_1 = version_1
    if type(epoch_1) is not int or type(n_1) is not int:
        raise Unfit
    if entries_1:
        out_1 = []
        for each_1 in entries_1:
            if type(each_1) is not tuple:
                raise Unfit
            n_2, entry_1, node_1, generation_1, number_1, reads_1, changes_1, moved_1, took_1, unusual_1 = each_1
            if type(n_2) is not int or (type(entry_1) is not str or entry_1 not in {"commit", "fence", "integrate", "pull", "registration", "removal", "result", "revert"}):
                raise Unfit
            if (node_1 is not None and type(node_1) is not str) or type(generation_1) is not int or type(number_1) is not int or type(reads_1) is not tuple:
                raise Unfit
            if type(changes_1) is not tuple or type(moved_1) is not tuple or type(took_1) is not float or (unusual_1 is not None and type(unusual_1) is not tuple):
                raise Unfit
            if reads_1:
                out_2 = []
                for each_2 in reads_1:
                    if type(each_2) is not tuple:
                        raise Unfit
                    entity_1, path_1, deep_1 = each_2
                    if type(entity_1) is not tuple or type(path_1) is not tuple or type(deep_1) is not bool:
                        raise Unfit
                    space_1, scope_1, id_1 = entity_1
                    if type(space_1) is not str or type(scope_1) is not str or type(id_1) is not str:
                        raise Unfit
                    for each_3 in path_1:
                        if type(each_3) is not str:
                            raise Unfit
                    out_2.append(new(model.Read, (new(model.Entity, entity_1), path_1, deep_1)))
                reads_1 = tuple(out_2)
            if changes_1:
                out_4 = []
                for each_4 in changes_1:
                    if type(each_4) is not tuple:
                        raise Unfit
                    entity_2, path_2, before_1, after_1, kept_1 = each_4
                    if type(entity_2) is not tuple or type(path_2) is not tuple or type(before_1) not in VALUE_KINDS or type(after_1) not in VALUE_KINDS:
                        raise Unfit
                    if type(kept_1) is not int:
                        raise Unfit
                    space_2, scope_2, id_2 = entity_2
                    if type(space_2) is not str or type(scope_2) is not str or type(id_2) is not str:
                        raise Unfit
                    for each_5 in path_2:
                        if type(each_5) is not str:
                            raise Unfit
                    out_4.append(new(model.Change, (new(model.Entity, entity_2), path_2, before_1, after_1, kept_1)))
                changes_1 = tuple(out_4)
            if moved_1:
                out_6 = []
                for each_6 in moved_1:
                    if type(each_6) is not tuple:
                        raise Unfit
                    entity_3, path_3, deep_2 = each_6
                    if type(entity_3) is not tuple or type(path_3) is not tuple or type(deep_2) is not bool:
                        raise Unfit
                    space_3, scope_3, id_3 = entity_3
                    if type(space_3) is not str or type(scope_3) is not str or type(id_3) is not str:
                        raise Unfit
                    for each_7 in path_3:
                        if type(each_7) is not str:
                            raise Unfit
                    out_6.append(new(model.Read, (new(model.Entity, entity_3), path_3, deep_2)))
                moved_1 = tuple(out_6)
            if type(unusual_1) is tuple:
                outcome_1, group_1, parent_1, token_2, refusal_1, leaning_1, declared_1, fault_1 = unusual_1
                if (type(outcome_1) is not str or outcome_1 not in {"committed", "failed", "refused", "unchanged"}) or (group_1 is not None and type(group_1) is not str):
                    raise Unfit
                if (parent_1 is not None and type(parent_1) is not str) or type(token_2) is not int or (refusal_1 is not None and type(refusal_1) is not tuple):
                    raise Unfit
                if type(leaning_1) is not tuple or (declared_1 is not None and type(declared_1) is not tuple) or (fault_1 is not None and type(fault_1) is not tuple):
                    raise Unfit
                if type(refusal_1) is tuple:
                    name_1, message_1, fields_1 = refusal_1
                    if type(name_1) is not str or type(message_1) is not str or type(fields_1) not in VALUE_KINDS:
                        raise Unfit
                    refusal_1 = new(ring.Refusal, refusal_1)
                if leaning_1:
                    out_8 = []
                    for each_8 in leaning_1:
                        if type(each_8) is not tuple:
                            raise Unfit
                        node_2, generation_2, number_2 = each_8
                        if type(node_2) is not str or type(generation_2) is not int or type(number_2) is not int:
                            raise Unfit
                        out_8.append(new(ring.Leaning, each_8))
                    leaning_1 = tuple(out_8)
                if type(declared_1) is tuple:
                    node_3, kind_1, space_4, outputs_1, envelope_1, declared_2, debounce_1, max_wait_1, throttle_1, auto_debounce_1, group_2, demanded_1, spec_1 = declared_1
                    if type(node_3) is not str or (type(kind_1) is not str or kind_1 not in {"computation", "effect", "family", "observer"}) or type(space_4) is not str:
                        raise Unfit
                    if type(outputs_1) is not tuple or type(envelope_1) is not tuple or type(declared_2) is not tuple:
                        raise Unfit
                    if (debounce_1 is not None and type(debounce_1) is not float) or (max_wait_1 is not None and type(max_wait_1) is not float):
                        raise Unfit
                    if (throttle_1 is not None and type(throttle_1) is not float) or type(auto_debounce_1) is not bool or (group_2 is not None and type(group_2) is not str):
                        raise Unfit
                    if type(demanded_1) is not bool or type(spec_1) not in VALUE_KINDS:
                        raise Unfit
                    if outputs_1:
                        out_9 = []
                        for each_9 in outputs_1:
                            if type(each_9) is not tuple:
                                raise Unfit
                            space_5, scope_4, id_4, path_4 = each_9
                            if type(space_5) is not str or type(scope_4) is not str or type(id_4) is not str or type(path_4) is not tuple:
                                raise Unfit
                            for each_10 in path_4:
                                if type(each_10) is not str:
                                    raise Unfit
                            out_9.append(new(model.Address, each_9))
                        outputs_1 = tuple(out_9)
                    if envelope_1:
                        out_11 = []
                        for each_11 in envelope_1:
                            if type(each_11) is not tuple:
                                raise Unfit
                            space_6, scope_5, id_5, path_5 = each_11
                            if type(space_6) is not str or type(scope_5) is not str or type(id_5) is not str or type(path_5) is not tuple:
                                raise Unfit
                            for each_12 in path_5:
                                if type(each_12) is not str:
                                    raise Unfit
                            out_11.append(new(model.Address, each_11))
                        envelope_1 = tuple(out_11)
                    if declared_2:
                        out_13 = []
                        for each_13 in declared_2:
                            if type(each_13) is not tuple:
                                raise Unfit
                            entity_4, path_6, deep_3 = each_13
                            if type(entity_4) is not tuple or type(path_6) is not tuple or type(deep_3) is not bool:
                                raise Unfit
                            space_7, scope_6, id_6 = entity_4
                            if type(space_7) is not str or type(scope_6) is not str or type(id_6) is not str:
                                raise Unfit
                            for each_14 in path_6:
                                if type(each_14) is not str:
                                    raise Unfit
                            out_13.append(new(model.Read, (new(model.Entity, entity_4), path_6, deep_3)))
                        declared_2 = tuple(out_13)
                    declared_1 = new(ring.Declared, (node_3, kind_1, space_4, outputs_1, envelope_1, declared_2, debounce_1, max_wait_1, throttle_1, auto_debounce_1, group_2, demanded_1, spec_1))
                if type(fault_1) is tuple:
                    kind_2, code_1, message_2, where_1, trace_1 = fault_1
                    if (type(kind_2) is not str or kind_2 not in {"failed", "later", "unready"}) or type(code_1) is not str or type(message_2) is not str:
                        raise Unfit
                    if type(where_1) is not str or type(trace_1) is not str:
                        raise Unfit
                    fault_1 = new(ring.Fault, fault_1)
                unusual_1 = new(ring.Unusual, (outcome_1, group_1, parent_1, token_2, refusal_1, leaning_1, declared_1, fault_1))
            out_1.append(new(ring.Logged, (n_2, entry_1, node_1, generation_1, number_1, reads_1, changes_1, moved_1, took_1, unusual_1)))
        entries_1 = tuple(out_1)
    if served_1:
        out_15 = []
        for each_15 in served_1:
            if type(each_15) is not tuple:
                raise Unfit
            worker_1, fed_1 = each_15
            if type(worker_1) is not str or type(fed_1) is not int:
                raise Unfit
            out_15.append(new(ring.Served, each_15))
        served_1 = tuple(out_15)
    return new(ring.Changes, (token_1, new(model.Version, version_1), wave_1, entries_1, served_1, last_1))


def load_invalidated(body: Any) -> Any:
    token_1, version_1, wave_1, rows_1, done_1, structure_1, served_1, owed_1, last_1 = body
    if type(token_1) is not int or type(version_1) is not tuple or type(wave_1) is not int or type(rows_1) is not tuple or type(done_1) is not tuple:
        raise Unfit
    if (structure_1 is not None and type(structure_1) is not tuple) or type(served_1) is not tuple or type(owed_1) is not int or type(last_1) is not bool:
        raise Unfit
    epoch_1, n_1 = version_1
    if type(epoch_1) is not int or type(n_1) is not int:
        raise Unfit
    if rows_1:
        out_1 = []
        for each_1 in rows_1:
            if type(each_1) is not tuple:
                raise Unfit
            node_1, flags_1, height_1, attempts_1, causes_1 = each_1
            if type(node_1) is not str or type(flags_1) is not int or type(height_1) is not int or type(attempts_1) is not int or type(causes_1) is not tuple:
                raise Unfit
            if causes_1:
                out_2 = []
                for each_2 in causes_1:
                    if type(each_2) is not tuple:
                        raise Unfit
                    space_1, scope_1, id_1, path_1 = each_2
                    if type(space_1) is not str or type(scope_1) is not str or type(id_1) is not str or type(path_1) is not tuple:
                        raise Unfit
                    for each_3 in path_1:
                        if type(each_3) is not str:
                            raise Unfit
                    out_2.append(new(model.Address, each_2))
                causes_1 = tuple(out_2)
            out_1.append(new(rows.Row, (node_1, flags_1, height_1, attempts_1, causes_1)))
        rows_1 = tuple(out_1)
    if done_1:
        out_4 = []
        for each_4 in done_1:
            if type(each_4) is not tuple:
                raise Unfit
            node_2, number_1, took_1, unready_1 = each_4
            if type(node_2) is not str or type(number_1) is not int or type(took_1) is not float or type(unready_1) is not bool:
                raise Unfit
            out_4.append(new(rows.Done, each_4))
        done_1 = tuple(out_4)
    if type(structure_1) is tuple:
        born_1, gone_1, edges_1, reads_1 = structure_1
        if type(born_1) is not tuple or type(gone_1) is not tuple or type(edges_1) is not tuple or type(reads_1) is not tuple:
            raise Unfit
        if born_1:
            out_5 = []
            for each_5 in born_1:
                if type(each_5) is not tuple:
                    raise Unfit
                generation_1, ordinal_1, parent_1, declared_1 = each_5
                if type(generation_1) is not int or type(ordinal_1) is not int or (parent_1 is not None and type(parent_1) is not str) or type(declared_1) is not tuple:
                    raise Unfit
                node_3, kind_1, space_2, outputs_1, envelope_1, declared_2, debounce_1, max_wait_1, throttle_1, auto_debounce_1, group_1, demanded_1, spec_1 = declared_1
                if type(node_3) is not str or (type(kind_1) is not str or kind_1 not in {"computation", "effect", "family", "observer"}) or type(space_2) is not str:
                    raise Unfit
                if type(outputs_1) is not tuple or type(envelope_1) is not tuple or type(declared_2) is not tuple or (debounce_1 is not None and type(debounce_1) is not float):
                    raise Unfit
                if (max_wait_1 is not None and type(max_wait_1) is not float) or (throttle_1 is not None and type(throttle_1) is not float):
                    raise Unfit
                if type(auto_debounce_1) is not bool or (group_1 is not None and type(group_1) is not str) or type(demanded_1) is not bool or type(spec_1) not in VALUE_KINDS:
                    raise Unfit
                if outputs_1:
                    out_6 = []
                    for each_6 in outputs_1:
                        if type(each_6) is not tuple:
                            raise Unfit
                        space_3, scope_2, id_2, path_2 = each_6
                        if type(space_3) is not str or type(scope_2) is not str or type(id_2) is not str or type(path_2) is not tuple:
                            raise Unfit
                        for each_7 in path_2:
                            if type(each_7) is not str:
                                raise Unfit
                        out_6.append(new(model.Address, each_6))
                    outputs_1 = tuple(out_6)
                if envelope_1:
                    out_8 = []
                    for each_8 in envelope_1:
                        if type(each_8) is not tuple:
                            raise Unfit
                        space_4, scope_3, id_3, path_3 = each_8
                        if type(space_4) is not str or type(scope_3) is not str or type(id_3) is not str or type(path_3) is not tuple:
                            raise Unfit
                        for each_9 in path_3:
                            if type(each_9) is not str:
                                raise Unfit
                        out_8.append(new(model.Address, each_8))
                    envelope_1 = tuple(out_8)
                if declared_2:
                    out_10 = []
                    for each_10 in declared_2:
                        if type(each_10) is not tuple:
                            raise Unfit
                        entity_1, path_4, deep_1 = each_10
                        if type(entity_1) is not tuple or type(path_4) is not tuple or type(deep_1) is not bool:
                            raise Unfit
                        space_5, scope_4, id_4 = entity_1
                        if type(space_5) is not str or type(scope_4) is not str or type(id_4) is not str:
                            raise Unfit
                        for each_11 in path_4:
                            if type(each_11) is not str:
                                raise Unfit
                        out_10.append(new(model.Read, (new(model.Entity, entity_1), path_4, deep_1)))
                    declared_2 = tuple(out_10)
                out_5.append(new(ring.Born, (generation_1, ordinal_1, parent_1, new(ring.Declared, (node_3, kind_1, space_2, outputs_1, envelope_1, declared_2, debounce_1, max_wait_1, throttle_1, auto_debounce_1, group_1, demanded_1, spec_1)))))
            born_1 = tuple(out_5)
        for each_12 in gone_1:
            if type(each_12) is not str:
                raise Unfit
        if edges_1:
            out_13 = []
            for each_13 in edges_1:
                if type(each_13) is not tuple:
                    raise Unfit
                writer_1, reader_1, present_1 = each_13
                if type(writer_1) is not str or type(reader_1) is not str or type(present_1) is not bool:
                    raise Unfit
                out_13.append(new(rows.Edge, each_13))
            edges_1 = tuple(out_13)
        if reads_1:
            out_14 = []
            for each_14 in reads_1:
                if type(each_14) is not tuple:
                    raise Unfit
                node_4, reads_2 = each_14
                if type(node_4) is not str or type(reads_2) is not tuple:
                    raise Unfit
                if reads_2:
                    out_15 = []
                    for each_15 in reads_2:
                        if type(each_15) is not tuple:
                            raise Unfit
                        entity_2, path_5, deep_2 = each_15
                        if type(entity_2) is not tuple or type(path_5) is not tuple or type(deep_2) is not bool:
                            raise Unfit
                        space_6, scope_5, id_5 = entity_2
                        if type(space_6) is not str or type(scope_5) is not str or type(id_5) is not str:
                            raise Unfit
                        for each_16 in path_5:
                            if type(each_16) is not str:
                                raise Unfit
                        out_15.append(new(model.Read, (new(model.Entity, entity_2), path_5, deep_2)))
                    reads_2 = tuple(out_15)
                out_14.append(new(ring.Reads, (node_4, reads_2)))
            reads_1 = tuple(out_14)
        structure_1 = new(ring.Structure, (born_1, gone_1, edges_1, reads_1))
    if served_1:
        out_17 = []
        for each_17 in served_1:
            if type(each_17) is not tuple:
                raise Unfit
            worker_1, fed_1 = each_17
            if type(worker_1) is not str or type(fed_1) is not int:
                raise Unfit
            out_17.append(new(ring.Served, each_17))
        served_1 = tuple(out_17)
    return new(ring.Invalidated, (token_1, new(model.Version, version_1), wave_1, rows_1, done_1, structure_1, served_1, owed_1, last_1))


def load_feed(body: Any) -> Any:
    fed_1, version_1, changes_1, documents_1, stale_1 = body
    if type(fed_1) is not int or type(version_1) is not tuple or type(changes_1) is not tuple or type(documents_1) is not tuple or type(stale_1) is not bool:
        raise Unfit
    epoch_1, n_1 = version_1
    if type(epoch_1) is not int or type(n_1) is not int:
        raise Unfit
    if changes_1:
        out_1 = []
        for each_1 in changes_1:
            if type(each_1) is not tuple:
                raise Unfit
            entity_1, path_1, before_1, after_1, kept_1 = each_1
            if type(entity_1) is not tuple or type(path_1) is not tuple or type(before_1) not in VALUE_KINDS or type(after_1) not in VALUE_KINDS or type(kept_1) is not int:
                raise Unfit
            space_1, scope_1, id_1 = entity_1
            if type(space_1) is not str or type(scope_1) is not str or type(id_1) is not str:
                raise Unfit
            for each_2 in path_1:
                if type(each_2) is not str:
                    raise Unfit
            out_1.append(new(model.Change, (new(model.Entity, entity_1), path_1, before_1, after_1, kept_1)))
        changes_1 = tuple(out_1)
    if documents_1:
        out_3 = []
        for each_3 in documents_1:
            if type(each_3) is not tuple:
                raise Unfit
            entity_2, n_2, document_1 = each_3
            if type(entity_2) is not tuple or type(n_2) is not int or type(document_1) not in VALUE_KINDS:
                raise Unfit
            space_2, scope_2, id_2 = entity_2
            if type(space_2) is not str or type(scope_2) is not str or type(id_2) is not str:
                raise Unfit
            out_3.append(new(feeding.Fed, (new(model.Entity, entity_2), n_2, document_1)))
        documents_1 = tuple(out_3)
    return new(feeding.Feed, (fed_1, new(model.Version, version_1), changes_1, documents_1, stale_1))


LOADERS: dict[int, tuple[str, Load]] = {
    16: ("96626dab93781f8a", load_run_wave),
    17: ("54f1d18a18bd7f9c", load_commit_runs),
    18: ("e8d045df056b0266", load_changes),
    19: ("a670e73cd8836209", load_invalidated),
    20: ("e3b6f202b39724c6", load_feed),
}
