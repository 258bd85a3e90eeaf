"""Loaders of the messages of the ring, by type code: the body in, the message out, ValueError if it does not fit (`checks` says why).

Each stands beside the fingerprint of the shape it was written for; a codec uses it for that shape only.
Written by `drafting`; do not edit it. To write it anew: python -m weft.wire.drafting
"""
from __future__ import annotations

from typing import Any

from ..scheduler import model
from . import messages
from .checks import Load, Unfit
from .shapes import VALUE_KINDS

new: Any = tuple.__new__  # without the keyword handling of a NamedTuple's own


def load_run_wave(body: Any) -> Any:
    token_1, version_1, runs_1 = body
    if type(token_1) is not int or type(version_1) is not tuple or type(runs_1) is not tuple:
        raise Unfit
    epoch_1, n_1 = version_1
    if type(epoch_1) is not int or type(n_1) is not int:
        raise Unfit
    if runs_1:
        out_1 = []
        for each_1 in runs_1:
            if type(each_1) is not tuple:
                raise Unfit
            node_1, generation_1, number_1, function_1, arguments_1, triggers_1 = each_1
            if type(node_1) is not str or type(generation_1) is not int or type(number_1) is not int or type(function_1) is not str or type(arguments_1) not in VALUE_KINDS:
                raise Unfit
            if type(triggers_1) is not tuple:
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
            out_1.append(new(messages.Run, (node_1, generation_1, number_1, function_1, arguments_1, triggers_1)))
        runs_1 = tuple(out_1)
    return new(messages.RunWave, (token_1, new(model.Version, version_1), runs_1))


def load_commit_runs(body: Any) -> Any:
    token_1, version_1, finished_1, last_1 = body
    if type(token_1) is not int or type(version_1) is not tuple or type(finished_1) is not tuple or type(last_1) is not bool:
        raise Unfit
    epoch_1, n_1 = version_1
    if type(epoch_1) is not int or type(n_1) is not int:
        raise Unfit
    if finished_1:
        out_1 = []
        for each_1 in finished_1:
            if type(each_1) is not tuple:
                raise Unfit
            node_1, generation_1, number_1, commit_1, reads_1, writes_1, children_1, removals_1, sends_1, error_1 = each_1
            if type(node_1) is not str or type(generation_1) is not int or type(number_1) is not int or type(commit_1) is not tuple or type(reads_1) is not tuple:
                raise Unfit
            if type(writes_1) is not tuple or type(children_1) is not tuple or type(removals_1) is not tuple or type(sends_1) is not tuple:
                raise Unfit
            if (error_1 is not None and type(error_1) is not tuple):
                raise Unfit
            session_1, local_seq_1 = commit_1
            if type(session_1) is not str or type(local_seq_1) is not int:
                raise Unfit
            if reads_1:
                out_2 = []
                for each_2 in reads_1:
                    if type(each_2) is not tuple:
                        raise Unfit
                    entity_1, path_1, deep_1, n_2 = each_2
                    if type(entity_1) is not tuple or type(path_1) is not tuple or type(deep_1) is not bool or type(n_2) is not int:
                        raise Unfit
                    space_1, scope_1, id_1 = entity_1
                    if type(space_1) is not str or type(scope_1) is not str or type(id_1) is not str:
                        raise Unfit
                    for each_3 in path_1:
                        if type(each_3) is not str:
                            raise Unfit
                    out_2.append(new(messages.SeenRead, (new(model.Entity, entity_1), path_1, deep_1, n_2)))
                reads_1 = tuple(out_2)
            if writes_1:
                out_4 = []
                for each_4 in writes_1:
                    if type(each_4) is not tuple:
                        raise Unfit
                    entity_2, op_1, path_2, value_1 = each_4
                    if type(entity_2) is not tuple or type(op_1) is not str or type(path_2) is not tuple or type(value_1) not in VALUE_KINDS:
                        raise Unfit
                    space_2, scope_2, id_2 = entity_2
                    if type(space_2) is not str or type(scope_2) is not str or type(id_2) is not str:
                        raise Unfit
                    for each_5 in path_2:
                        if type(each_5) is not str:
                            raise Unfit
                    out_4.append(new(messages.Write, (new(model.Entity, entity_2), op_1, path_2, value_1)))
                writes_1 = tuple(out_4)
            for each_6 in children_1:
                if type(each_6) not in VALUE_KINDS:
                    raise Unfit
            for each_7 in removals_1:
                if type(each_7) is not str:
                    raise Unfit
            for each_8 in sends_1:
                if type(each_8) not in VALUE_KINDS:
                    raise Unfit
            if type(error_1) is tuple:
                name_1, text_1, fields_1 = error_1
                if type(name_1) is not str or type(text_1) is not str or type(fields_1) not in VALUE_KINDS:
                    raise Unfit
                error_1 = new(messages.Failed, error_1)
            out_1.append(new(messages.Finished, (node_1, generation_1, number_1, new(model.CommitId, commit_1), reads_1, writes_1, children_1, removals_1, sends_1, error_1)))
        finished_1 = tuple(out_1)
    return new(messages.CommitRuns, (token_1, new(model.Version, version_1), finished_1, last_1))


def load_changes(body: Any) -> Any:
    token_1, version_1, entries_1, last_1 = body
    if type(token_1) is not int or type(version_1) is not tuple or type(entries_1) is not tuple or type(last_1) is not bool:
        raise Unfit
    epoch_1, n_1 = version_1
    if type(epoch_1) is not int or type(n_1) is not int:
        raise Unfit
    if entries_1:
        out_1 = []
        for each_1 in entries_1:
            if type(each_1) is not tuple:
                raise Unfit
            version_2, entry_1, node_1, generation_1, number_1, reads_1, changes_1, moved_1 = each_1
            if type(version_2) is not tuple:
                raise Unfit
            if (type(entry_1) is not str or entry_1 not in {"commit", "fence", "integrate", "pull", "registration", "removal", "result", "revert"}):
                raise Unfit
            if (node_1 is not None and type(node_1) is not str) or type(generation_1) is not int or type(number_1) is not int or type(reads_1) is not tuple:
                raise Unfit
            if type(changes_1) is not tuple or type(moved_1) is not tuple:
                raise Unfit
            epoch_2, n_2 = version_2
            if type(epoch_2) is not int or type(n_2) is not int:
                raise Unfit
            if reads_1:
                out_2 = []
                for each_2 in reads_1:
                    if type(each_2) is not tuple:
                        raise Unfit
                    entity_1, path_1, deep_1, n_3 = each_2
                    if type(entity_1) is not tuple or type(path_1) is not tuple or type(deep_1) is not bool or type(n_3) is not int:
                        raise Unfit
                    space_1, scope_1, id_1 = entity_1
                    if type(space_1) is not str or type(scope_1) is not str or type(id_1) is not str:
                        raise Unfit
                    for each_3 in path_1:
                        if type(each_3) is not str:
                            raise Unfit
                    out_2.append(new(messages.SeenRead, (new(model.Entity, entity_1), path_1, deep_1, n_3)))
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
                    space_3, scope_3, id_3, path_3 = each_6
                    if type(space_3) is not str or type(scope_3) is not str or type(id_3) is not str or type(path_3) is not tuple:
                        raise Unfit
                    for each_7 in path_3:
                        if type(each_7) is not str:
                            raise Unfit
                    out_6.append(new(model.Address, each_6))
                moved_1 = tuple(out_6)
            out_1.append(new(messages.Logged, (new(model.Version, version_2), entry_1, node_1, generation_1, number_1, reads_1, changes_1, moved_1)))
        entries_1 = tuple(out_1)
    return new(messages.Changes, (token_1, new(model.Version, version_1), entries_1, last_1))


def load_invalidated(body: Any) -> Any:
    token_1, version_1, causes_1, edges_1, liveness_1, finished_1, last_1 = body
    if type(token_1) is not int or type(version_1) is not tuple or type(causes_1) is not tuple or type(edges_1) is not tuple or type(liveness_1) is not tuple:
        raise Unfit
    if type(finished_1) is not tuple or type(last_1) is not bool:
        raise Unfit
    epoch_1, n_1 = version_1
    if type(epoch_1) is not int or type(n_1) is not int:
        raise Unfit
    if causes_1:
        out_1 = []
        for each_1 in causes_1:
            if type(each_1) is not tuple:
                raise Unfit
            node_1, address_1, version_2 = each_1
            if type(node_1) is not str or type(address_1) is not tuple or type(version_2) is not tuple:
                raise Unfit
            space_1, scope_1, id_1, path_1 = address_1
            if type(space_1) is not str or type(scope_1) is not str or type(id_1) is not str or type(path_1) is not tuple:
                raise Unfit
            for each_2 in path_1:
                if type(each_2) is not str:
                    raise Unfit
            epoch_2, n_2 = version_2
            if type(epoch_2) is not int or type(n_2) is not int:
                raise Unfit
            out_1.append(new(messages.Cause, (node_1, new(model.Address, address_1), new(model.Version, version_2))))
        causes_1 = tuple(out_1)
    if edges_1:
        out_3 = []
        for each_3 in edges_1:
            if type(each_3) is not tuple:
                raise Unfit
            writer_1, reader_1, present_1 = each_3
            if type(writer_1) is not str or type(reader_1) is not str or type(present_1) is not bool:
                raise Unfit
            out_3.append(new(messages.Edge, each_3))
        edges_1 = tuple(out_3)
    if liveness_1:
        out_4 = []
        for each_4 in liveness_1:
            if type(each_4) is not tuple:
                raise Unfit
            node_2, live_1 = each_4
            if type(node_2) is not str or type(live_1) is not bool:
                raise Unfit
            out_4.append(new(messages.Liveness, each_4))
        liveness_1 = tuple(out_4)
    for each_5 in finished_1:
        if type(each_5) is not str:
            raise Unfit
    return new(messages.Invalidated, (token_1, new(model.Version, version_1), causes_1, edges_1, liveness_1, finished_1, last_1))


def load_feed(body: Any) -> Any:
    version_1, documents_1, stale_1 = body
    if type(version_1) is not tuple or type(documents_1) is not tuple or type(stale_1) is not bool:
        raise Unfit
    epoch_1, n_1 = version_1
    if type(epoch_1) is not int or type(n_1) is not int:
        raise Unfit
    if documents_1:
        out_1 = []
        for each_1 in documents_1:
            if type(each_1) is not tuple:
                raise Unfit
            entity_1, n_2, document_1 = each_1
            if type(entity_1) is not tuple or type(n_2) is not int or type(document_1) not in VALUE_KINDS:
                raise Unfit
            space_1, scope_1, id_1 = entity_1
            if type(space_1) is not str or type(scope_1) is not str or type(id_1) is not str:
                raise Unfit
            out_1.append(new(messages.Fed, (new(model.Entity, entity_1), n_2, document_1)))
        documents_1 = tuple(out_1)
    return new(messages.Feed, (new(model.Version, version_1), documents_1, stale_1))


LOADERS: dict[int, tuple[str, Load]] = {
    16: ("a832ada59615533f", load_run_wave),
    17: ("388349c3ac387504", load_commit_runs),
    18: ("f5bb078071d0fb8c", load_changes),
    19: ("b3062838b117dea5", load_invalidated),
    20: ("0cc4d37ae251ba37", load_feed),
}
