"""A shelf of books, as a reactive program: what runs when something changes, and what does not. A chapter of `weft demo`."""

from collections.abc import Iterator

import weft

books = weft.cell("books", of=dict)
discount = weft.cell("discount", of=int)
total = weft.cell("total", of=int)
price = weft.family("price", "of", of=int)


@weft.computation(output=price, id="price")
def net(tx: weft.Tx, of: str) -> int:
    """One node for each book that somebody looks at, made when somebody does."""
    return int(tx[books[of]]) - tx.get(discount, 0)


@weft.computation(output=total, id="total")
def add_up(tx: weft.Tx) -> int:
    return sum(tx.get(price(title), 0) for title in tx.keys(books))


def shelf() -> Iterator[str]:
    """Told as it happens; a step that does not run what it says raises."""
    shown: list[object] = []
    with weft.Runtime(placement="inline") as rt:
        rt.set(books, {"moby": 12, "emma": 9, "ulysses": 15})
        rt.load([net, add_up])
        rt.idle()
        yield f"   Three books and four computations. Nobody looks, so nothing has run: {_ran(rt, [])}."
        rt.sink(total, shown.append)
        rt.idle()
        first = rt.ran()
        yield f"   Somebody looks at the total, and sees {shown[-1]}. That ran {', '.join(dict.fromkeys(first))}."
        rt.set(books["emma"], 10)
        rt.idle()
        yield f"   Emma is a coin dearer: total {shown[-1]}, and what ran is {_ran(rt, ['price[emma]', 'total'])}."
        rt.set(weft.cell("visitors"), 1)
        rt.idle()
        yield f"   A visitor is counted, which nobody reads: {_ran(rt, [])}."
        with rt.transaction() as tx:
            tx.set(books["moby"], 13)
            tx.set(books["ulysses"], 14)
        rt.idle()
        ran = _ran(rt, ["price[moby]", "price[ulysses]", "total"])
        yield f"   One goes up and one goes down, in one transaction: {ran}. The total is {shown[-1]} as before, so whoever looks was not bothered: told {len(shown)} times."
        yield f"   Why did it run? {rt.why('total')}\n"


def _ran(rt: weft.Runtime, expected: list[str]) -> str:
    """What ran since the last look, which must be this."""
    ran = rt.ran()
    if ran != expected:
        raise RuntimeError(f"{expected} was to run, and {ran} did")
    return ", then ".join(ran) or "nothing"
