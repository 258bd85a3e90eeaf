"""An app for trees: two computations, an effect, and nodes that misbehave when they are told to. It is imported by workers, so that everything is at the top of the module."""

import os
import signal

import weft

A, B, C = weft.cell("a", of=int), weft.cell("b", of=int), weft.cell("c", of=int)
SEEN = weft.cell("seen", of=list)


@weft.computation(output=B)
def double(tx: weft.Tx) -> int:
    return 2 * tx.get(A, 0)


@weft.computation(output=C)
def next_to(tx: weft.Tx) -> int:
    return tx.get(B, 0) + 1


@weft.effect
def watch(tx: weft.Tx) -> None:
    print("c is", tx.get(C))
    tx.append(SEEN, [tx.get(C), os.getpid()])


@weft.computation(output=weft.cell("late", of=float), args={"key": "x"}, debounce=5.0)
def late(tx: weft.Tx, key: str) -> float:
    tx.get(A)
    return tx.now


@weft.effect(args={"key": "y"})
def looks(tx: weft.Tx, key: str) -> None:
    tx.get(weft.cell("late"))


@weft.computation(output=weft.cell("risky", of=int), args={"flag": ""})
def risky(tx: weft.Tx, flag: str) -> int:
    """Kills its worker the first time that the flag is named."""
    value = tx.get(A, 0)
    path = tx.get(weft.cell("flag", of=str), "")
    if path and not os.path.exists(path):
        with open(path, "w"):
            os.kill(os.getpid(), signal.SIGKILL)
    return value + 100
