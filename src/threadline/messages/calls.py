"""`OpenCalls`: tool calls that wait for a result, so that a result without an id still finds its call."""

from __future__ import annotations

__all__ = ["OpenCalls", "local_id"]


class _Call:
    """One call that was made; `open` until a result closes it."""

    __slots__ = ("id", "name", "open", "turn")

    def __init__(self, id: str, name: str, turn: int) -> None:
        self.id = id
        self.name = name
        self.turn = turn
        self.open = True


class OpenCalls:
    """Pairs results with calls over one conversation, each step in amortised constant time.

    A result with an id closes the nearest preceding open call with that id. A result without one closes, in the
    nearest preceding turn that has an open call of its name, the first of them: parallel results come in the order of
    the calls.
    """

    def __init__(self) -> None:
        self._by_id: dict[str, list[_Call]] = {}
        self._by_name: dict[str | None, list[list[_Call]]] = {}

    def opened(self, id: str, name: str, turn: int) -> None:
        """A call was made in message number `turn`."""
        call = _Call(id, name, turn)
        self._by_id.setdefault(id, []).append(call)
        for key in (name, None):
            turns = self._by_name.setdefault(key, [])
            if turns and turns[-1] and turns[-1][-1].turn == turn:
                turns[-1].append(call)
            else:
                turns.append([call])

    def answered(self, id: str) -> str | None:
        """A result names its call: closes it and gives the tool's name, or None where no call is open."""
        calls = self._by_id.get(id)
        while calls:
            call = calls.pop()
            if call.open:
                call.open = False
                return call.name
        return None

    def match(self, name: str | None) -> str | None:
        """The id of the call that a result without an id answers (any tool's where `name` is None), which it closes."""
        turns = self._by_name.get(name, [])
        while turns:
            while turns[-1]:
                call = turns[-1].pop(0)
                if call.open:
                    call.open = False
                    return call.id
            turns.pop()
        return None


def local_id(index: int, number: int) -> str:
    """An id for a call or result whose wire has none; the colon keeps it apart from every provider's own ids."""
    return f"local:{index}:{number}"
