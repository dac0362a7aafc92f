"""Random conversations in every dialect, and the one place that binds the names under test.

The bindings at the top are all that has to change when a public name does.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import threadline
from threadline.compat.contextray import optimize_context
from threadline.errors import ContextBudgetExceededError

from .dialects import TOOL_NAMES, Answered, Called, Drawn, Event, Said, write
from .judge import DIALECTS, Dialect, frozen

# --- bindings

ROOMY = 10**9


def optimise(messages: Any, **options: Any) -> list[Any]:
    """The view of `optimize_context`."""
    return optimize_context(messages, **options)["optimized_context"]


def measure(conversation: Any, dialect: Dialect | None = None) -> int:
    """Tokens of a message list or of a whole body by the library's one measure."""
    return threadline.fit(conversation, max_input_tokens=ROOMY, dialect=dialect).tokens_before


def violations(conversation: Any, dialect: Dialect) -> list[Any]:
    """What `check_conversation` finds wrong with a conversation for the provider of its dialect."""
    return list(threadline.check_conversation(conversation, dialect))


def stored(decisions: Any) -> Any:
    """Decisions after a trip through JSON text, as a process that restarts would read them."""
    return type(decisions).from_builtins(json_copy(decisions.to_builtins()))


def reported(repaired: Any) -> Any:
    """What a repair says it did."""
    return repaired.repairs


def taken_back(fitter: Any) -> list[Any]:
    """Everything that was said to a fitter, out of its present view and its decisions after a restart."""
    return threadline.restore(json_copy(list(fitter.messages)), stored(fitter.decisions))


def fit_or_none(conversation: Any, budget: int, dialect: Dialect) -> Any:
    """A fit, or None when the budget is refused as impossible."""
    try:
        return threadline.fit(conversation, max_input_tokens=budget, dialect=dialect)
    except ContextBudgetExceededError:
        return None


def floor_of(conversation: Any, dialect: Dialect) -> int:
    """A budget that is hard to meet, and met: at most a little over the least that a refusal names."""
    budget = 1
    while True:
        try:
            return threadline.fit(conversation, max_input_tokens=budget, dialect=dialect).tokens_after
        except ContextBudgetExceededError as error:
            budget = max(error.required, budget + budget // 8 + 4)


LAW = settings(
    max_examples=40,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)

# --- short spellings

_CONSONANTS, _VOWELS = "bdfghjklmnprstvz", "aeiou"
_WORDS = [f"{c}{v}{d}{w}" for c in _CONSONANTS for v in _VOWELS for d in "lmnrst" for w in "aeo"]


def prose(length: int, seed: int | str = 0) -> str:
    """Exactly `length` ASCII characters of one line of words that never repeats itself over 64 characters."""
    dice = random.Random(f"prose-{seed}")
    text = ""
    while len(text) < length:
        text += f"{dice.choice(_WORDS)}{dice.randrange(1000)} "
    return text[: length - 1].rstrip().ljust(length - 1, "o") + "." if length else ""


P, Q, R = prose(110, "P"), prose(220, "Q"), prose(400, "R")


def in_context(text: str, seed: str, gap: str = "\n\n") -> str:
    """The text as one paragraph of a long message that shares nothing else with any other."""
    return gap.join([prose(500, f"{seed}-before"), text, prose(500, f"{seed}-after")])


def short_marker(_: Any) -> str:
    return "[*]"


def u(content: Any, **extra: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **extra}


def a(content: Any, **extra: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **extra}


def s(content: Any, **extra: Any) -> dict[str, Any]:
    return {"role": "system", "content": content, **extra}


def t(content: Any, call_id: str = "call_a", **extra: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **extra}


def call(*ids: str, name: str = "look_up", arguments: str = "{}", content: Any = None) -> dict[str, Any]:
    """An OpenAI assistant message that calls one tool per id."""
    calls = [{"id": i, "type": "function", "function": {"name": name, "arguments": arguments}} for i in ids]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def json_copy(value: Any) -> Any:
    return json.loads(frozen(value))


def inserted(view: Sequence[Any], originals: Sequence[Any]) -> list[Any]:
    """What stands in the view without being one of the original objects."""
    known = {id(message) for message in originals}
    return [message for message in view if id(message) not in known]


def users(count: int, *, size: int = 300, start: int = 1) -> list[dict[str, Any]]:
    return [u(prose(size, f"user-{n}")) for n in range(start, start + count)]


def is_tail(view: list[Any], messages: list[Any]) -> bool:
    """Whether the view ends with these very objects."""
    tail = view[len(view) - len(messages) :]
    return len(tail) == len(messages) and all(x is y for x, y in zip(tail, messages, strict=True))


def exchange(*ids: str, size: int = 300) -> list[dict[str, Any]]:
    return [call(*ids), *(t(prose(size, f"result-{i}"), i) for i in ids)]


# --- texts

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
FENCE = "```python\ndef area(width: int, height: int) -> int:\n\n    return width * height  # the plain rectangle\n```"
FILE = [f"    value_{n} = compute_step({n * 37 % 101}, previous=value_{n - 1})" for n in range(1, 60)]


def _window(start: int, stop: int, spell: str) -> str:
    return "\n".join(spell.format(n=n, line=FILE[n]) for n in range(start, stop))


_ROWS = [
    {"id": n, "flight": f"HAT{n * 73 % 400:03}", "seats": {"economy": n % 9, "business": n % 4}} for n in range(24)
]

POOL: tuple[str, ...] = (
    *(prose(90 + 40 * n, f"pool-{n}") for n in range(5)),
    FENCE,
    "~~~text\nfirst half of a tilde fence, long enough to be found again\n\nsecond half of it after a blank line\n~~~",
    "````md\n```\ninner fence with a line that is quite long, more than sixty-four characters\n```\n````",
    "```\nan unclosed fence whose only line is long enough to be taken for a repeated unit elsewhere",
    _window(0, 20, "{n}:{line}"),
    _window(10, 30, "{n}:{line}"),
    _window(10, 30, "{n:>6}|{line}"),
    _window(12, 24, "{line}"),
    json.dumps(_ROWS),
    json.dumps({"data": _ROWS[4:20], "next": None}),
    json.dumps(_ROWS, indent=1),
    "航班已经改签到明天上午九点，座位在靠窗的一侧，行李额度没有变化，请在起飞前两个小时到达机场办理登机手续，谢谢您的耐心等待。"
    * 2,
    "ข้อความภาษาไทยที่ยาวพอจะถูกพบซ้ำอีกครั้งในบทสนทนาเดียวกันโดยไม่มีช่องว่างระหว่างคำ",
    "نص عربي طويل بما يكفي ليظهر مرة أخرى في المحادثة نفسها من دون أي تغيير في الحروف",
    FAMILY * 12,
    "e\u0301" * 40,
    "lone \ud83d surrogate in a line that is long enough to be seen as a repeated unit, twice \udc00",
    "nul \x00 in a line that is long enough to be seen as a repeated unit by any default there is",
    f"{prose(80, 'crlf')}\r\n\r\n{prose(80, 'crlf2')}\r\n",
    " " * 70,
    "\n" * 100,
    "__BLOCK_1__ " + "__SEG_2__",
    "[duplicate of chunk #0 removed]",
    "[Compacted 40 earlier messages]",
    "[... 9000 bytes elided by transcript pruning; kept 4096 leading and 1024 trailing characters ...]",
    "\n".join(f"step {n}: all quiet" if n != 150 else "ERROR: exit status 2" for n in range(300)),
    "ok",
    "",
)

_hostile = st.text(
    st.one_of(
        st.characters(min_codepoint=0, max_codepoint=0x2FF),
        st.sampled_from("\u200d\u0301\ud800\udfff\x00\r\n\u2028\ufeff\U0001f469 `~[]#|:"),
        st.characters(categories=["Cs", "Lo", "So", "Mn"]),
    ),
    max_size=30,
)

texts: st.SearchStrategy[str] = st.one_of(
    st.sampled_from(POOL),
    st.sampled_from(POOL),
    st.builds(
        lambda pieces, glue: glue.join(pieces),
        st.lists(st.sampled_from(POOL), min_size=2, max_size=4),
        st.sampled_from(["\n\n", "\n", "\r\n\r\n", ""]),
    ),
    _hostile,
)

# --- conversations


def _interruption(draw: st.DrawFn, serial: int) -> list[Event]:
    """What may stand between a call and its result in a wild conversation."""
    return draw(
        st.one_of(
            st.builds(lambda text: [Said("user", text)], texts),
            st.builds(lambda text: [Said("system", text)], texts),
            st.builds(lambda text: [Answered(f"lost_{serial}", "search", text)], texts),
        )
    )


def _exchange(draw: st.DrawFn, told: list[Event], used: list[str], *, wild: bool) -> None:
    """One assistant turn with calls, and their results."""
    calls: dict[str, str] = {}
    for _ in range(draw(st.integers(1, 3))):
        again = wild and used and draw(st.integers(0, 4)) == 0
        call_id = draw(st.sampled_from(used)) if again else f"call_{len(used) + len(calls) + 1}"
        calls[call_id] = draw(st.sampled_from(TOOL_NAMES))
    told.append(Called(draw(texts).strip(), tuple(calls.items()), draw(st.booleans())))
    for call_id in draw(st.permutations(list(calls))):
        chance = draw(st.integers(0, 9)) if wild else 9
        if chance == 1:
            told.extend(_interruption(draw, len(told)))
        if chance:  # at 0 the call is never answered
            told.append(Answered(call_id, calls[call_id], draw(texts)))
    used.extend(calls)


@st.composite
def events(draw: st.DrawFn, *, wild: bool) -> list[Event]:
    """A conversation as events.

    Tame: every call answered right after it. Wild: pending, dead, orphaned, interleaved calls and ids used again.
    """
    told: list[Event] = [Said("system", draw(texts) or "rules")] if draw(st.booleans()) else []
    used: list[str] = []
    for _ in range(draw(st.integers(1, 5))):
        told.append(Said("user", draw(texts) if wild else draw(texts).strip() or "go on"))
        for _ in range(draw(st.integers(0, 3))):
            _exchange(draw, told, used, wild=wild)
        if not wild or draw(st.booleans()):
            told.append(Said("assistant", draw(texts).strip() or "done"))
    if not wild:
        told.append(Said("user", draw(texts).strip() or "and now"))
    elif draw(st.booleans()):
        told.append(Called("", ((f"call_{len(used) + 1}", "search"),), draw(st.booleans())))
    return told


@st.composite
def drawn(draw: st.DrawFn, *, wild: bool = True, dialects: Sequence[Dialect] = DIALECTS) -> Drawn:
    """A conversation on the wire of a drawn dialect, never empty."""
    dialect = draw(st.sampled_from(list(dialects)))
    conversation = write(draw(events(wild=wild)), dialect)
    if dialect == "google" and draw(st.booleans()):  # most Gemini traffic has no call ids
        for part in (part for content in conversation.messages for part in content["parts"]):
            for block in part.values():
                if isinstance(block, dict):
                    block.pop("id", None)
    return conversation if conversation.messages else write([Said("user", "hello")], dialect)


# --- long, unique and tame: for sweeps without chance


def working_day(dialect: Dialect, rounds: int = 6, *, size: int = 400) -> Drawn:
    """A conversation of unique texts with parallel calls in every round; the last turn is a user's."""
    told: list[Event] = [Said("system", prose(150, "rules"))]
    for n in range(rounds):
        told.append(Said("user", prose(size, f"ask-{n}")))
        told.append(
            Called(
                prose(size // 2, f"plan-{n}"), ((f"call_{n}a", "search"), (f"call_{n}b", "open_file")), thinking=True
            )
        )
        told.append(Answered(f"call_{n}b", "open_file", prose(size * 2, f"file-{n}")))
        told.append(Answered(f"call_{n}a", "search", prose(size, f"found-{n}")))
        told.append(Said("assistant", prose(size, f"answer-{n}")))
    told.append(Said("user", prose(200, "last question")))
    return write(told, dialect)
