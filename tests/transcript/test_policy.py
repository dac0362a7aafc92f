"""Every option of `FitPolicy` does what its row in the table says, and a wrong value names its field."""

from __future__ import annotations

import inspect
import re

import pytest
from msgspec import structs

from threadline import Fate, check_conversation, count_tokens, fit
from threadline.errors import InvalidInputError
from threadline.transcript import FitPolicy

P = "The quick brown fox jumps over the lazy dog while nobody in the whole wide valley is watching it do so."
Q = "A second paragraph that has nothing to do with the first, and is long enough to be worth leaving out."


def said(role: str, text: str) -> dict:
    return {"role": role, "content": text}


def called(id: str, text: str, name: str = "search") -> list[dict]:
    function = {"name": name, "arguments": "{}"}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": id, "content": text},
    ]


def fitted(messages: list[dict], budget: int = 10**6, **options):
    return fit(messages, max_input_tokens=budget, policy=FitPolicy(**options))


def contents(messages: list[dict], budget: int = 10**6, **options) -> list[str]:
    return [message["content"] for message in fitted(messages, budget, **options).messages]


def words(tag: str, count: int = 300) -> str:
    return " ".join(f"{tag}{n * 7919 % 997}" for n in range(count))


def test_every_field_has_a_row_in_the_table():
    rows = re.findall(r"^\| `(\w+)` \|", inspect.getdoc(FitPolicy), re.MULTILINE)
    assert sorted(rows) == sorted(field.name for field in structs.fields(FitPolicy))


def test_dedupe_off_leaves_repeats():
    chat = [said("user", P), said("user", P)]
    assert contents(chat, dedupe=False) == [P, P]
    assert contents(chat)[1] != P


def test_dedupe_roles_names_whose_text_is_looked_at():
    chat = [said("user", P), said("user", P), said("assistant", Q), said("assistant", Q)]
    kept = contents(chat, dedupe_roles=frozenset({"assistant"}))
    assert kept[1] == P
    assert kept[3] != Q


def test_across_roles_finds_another_roles_copy():
    chat = [said("user", P), said("assistant", P)]
    assert contents(chat)[1] == P
    assert contents(chat, across_roles=True)[1] != P


def test_keep_latest_leaves_the_last_copy():
    kept = contents([said("user", P), said("user", "and?"), said("user", P)], budget=70, keep="latest", low_water=0.9)
    assert kept[-1] == P
    assert "below" in kept[0]


def test_min_chars_is_the_shortest_repeat():
    chat = [said("user", P), said("user", P)]
    assert contents(chat, min_chars=len(P))[1] != P
    assert contents(chat, min_chars=len(P) + 1)[1] == P


def test_fold_edges_takes_no_notice_of_white_space_around():
    chat = [said("user", P), said("user", f"   {P}\n\n")]
    assert contents(chat)[1] == f"   {P}\n\n"
    assert P not in contents(chat, fold="edges")[1]


def test_a_silent_marker_says_nothing_and_a_callable_writes_its_own():
    chat = [said("user", f"{P}\n{Q}"), said("user", f"now:\n{P}")]
    assert contents(chat, marker="silent")[1].strip() == "now:"
    assert contents(chat, marker=lambda marker: f"<{marker.lines}>")[1] == "now:\n<1>"


def test_result_share_caps_a_result():
    chat = [said("user", "go"), *called("a", words("w", 2000))]
    capped = fitted(chat, budget=12_000, result_share=0.1)
    assert capped.tokens_after < 1400
    assert fitted(chat, budget=12_000, result_share=1.0).tokens_after == capped.tokens_before


def test_result_tokens_caps_the_results_of_one_tool():
    chat = [said("user", "go"), *called("a", words("v")), *called("b", words("w"), name="read")]
    kept = contents(chat, result_tokens={"read": 100})
    assert kept[2] == words("v")
    assert len(kept[4]) < len(words("w")) / 4


def test_keep_lines_are_kept_out_of_what_is_left_out():
    text = "\n".join([*(f"line {n} of the output" for n in range(400)), "NEEDLE here", *map(str, range(900))])
    chat = [said("user", "go"), *called("a", text)]
    assert "NEEDLE here" in contents(chat, result_tokens={"search": 200}, keep_lines="NEEDLE")[2]
    assert "NEEDLE here" not in contents(chat, result_tokens={"search": 200}, keep_lines="OTHER")[2]


BROKEN = [said("user", "go"), called("a", "x")[0], said("user", "and?"), called("b", "late result")[1]]


def test_repair_off_leaves_what_is_broken():
    assert fitted(BROKEN, repair=False).messages == BROKEN
    assert not check_conversation(fitted(BROKEN).messages)


def test_orphans_become_text_or_are_dropped():
    assert any("late result" in str(text) for text in contents(BROKEN, orphans="text"))
    assert not any("late result" in str(text) for text in contents(BROKEN, orphans="drop"))


def test_dead_after_says_when_a_call_is_dead():
    waiting = [said("user", "go"), called("a", "x")[0], said("user", "and?")]
    assert fitted(waiting, dead_after=1).report.repairs
    assert not fitted(waiting, dead_after=2).report.repairs


LONG = [said("system", "be brief")] + [said("user", words(f"m{n}x", 40)) for n in range(40)]


@pytest.mark.parametrize("low_water", [0.3, 0.6, 0.9])
def test_low_water_is_what_a_compaction_comes_down_to(low_water: float):
    result = fitted(LONG, budget=4000, low_water=low_water, summary_share=0.02)
    assert 4000 * low_water * 0.8 <= result.tokens_after <= 4000 * low_water + 40


def test_recent_share_protects_the_newest_results():
    chat = [message for n in range(12) for message in (said("user", f"q{n}"), *called(f"c{n}", words(f"r{n}x", 100)))]
    kept = contents(chat, budget=3200, recent_share=0.9, low_water=1.0, min_gain=0.0)
    assert kept[-1] == words("r11x", 100)
    assert words("r0x", 100) not in kept


def test_pressed_tokens_is_what_older_results_are_cut_to_first():
    chat = [message for n in range(6) for message in (said("user", f"q{n}"), *called(f"c{n}", words(f"r{n}x", 400)))]
    share = {"result_share": 1.0, "low_water": 0.95, "recent_share": 0.2}
    result = fitted(chat, budget=7800, pressed_tokens=300, supersede=False, **share)
    fates = {elision.fate for elision in result.elisions.elisions}
    assert Fate.PRUNED in fates
    assert Fate.CLEARED not in fates


def test_pinned_tools_and_pinned_messages_stay_word_for_word():
    chat = [said("user", "go"), *called("a", words("w", 200), name="rules"), *LONG[1:]]
    kept = contents(chat, budget=2500, pinned_tools=frozenset({"rules"}))
    assert words("w", 200) in kept
    kept = contents(LONG, budget=1500, pinned=lambda message: message.content == LONG[3]["content"])
    assert LONG[3]["content"] in kept


def test_the_summary_keeps_to_its_share_and_its_cap():
    small = fitted(LONG, budget=4000, max_summary_tokens=60)
    large = fitted(LONG, budget=4000, summary_share=0.2)
    assert small.report.inserted <= 60
    assert 60 < large.report.inserted <= 800


def test_summarise_writes_the_summary():
    kept = contents(LONG, budget=4000, summarise=lambda messages: f"{len(messages)} things were said")
    assert any("things were said" in text for text in kept)


def test_min_gain_frees_room_for_the_next_turn():
    assert fitted(LONG, budget=4000, min_gain=0.5, low_water=1.0).tokens_after <= 2000


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("low_water", 1.5), ("recent_share", -0.1), ("result_share", "much"), ("summary_share", 2), ("min_gain", -1),
        ("min_chars", 0), ("min_chars", True), ("dead_after", 0), ("pressed_tokens", 1.5), ("max_summary_tokens", 0),
        ("keep", "last"), ("fold", "all"), ("orphans", "keep"), ("marker", "loud"), ("keep_lines", "("),
        ("keep_lines", 3),
        ("dedupe", "yes"), ("tables", 1), ("repair", None), ("pinned", "x"), ("pinned_tools", "read"),
        ("pinned_tools", {1}), ("dedupe_roles", ["user"]), ("read_tools", "cat"), ("summarise", "short"),
        ("result_tokens", {"read": -1}), ("result_tokens", {"read": True}), ("result_tokens", [("read", 1)]),
    ],
)  # fmt: skip
def test_a_value_out_of_range_names_its_field(field: str, value: object):
    with pytest.raises(InvalidInputError) as caught:
        FitPolicy(**{field: value})
    assert caught.value.fields["key"] == field


def test_a_marker_of_the_callers_own_must_be_text():
    with pytest.raises(InvalidInputError) as caught:
        fitted([said("user", P), said("user", P)], marker=lambda _: None)
    assert caught.value.fields["key"] == "marker"


def test_the_cap_of_a_result_is_shared_by_its_texts():
    blocks = [{"type": "text", "text": words("a")}, {"type": "text", "text": P}, {"type": "text", "text": words("b")}]
    use = {"type": "tool_use", "id": "t", "name": "search", "input": {}}
    chat = [
        said("user", "go"),
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": blocks}]},
    ]
    shown = fitted(chat, result_tokens={"search": 300}).messages[2]["content"][0]["content"]
    assert count_tokens("".join(block["text"] for block in shown)) <= 300
    assert shown[1]["text"] == P, "a short text needs none of it"


def test_pressing_a_result_never_shows_more_than_its_cap_did():
    long = [*called("c", words("out", 2000)), *called("d", words("big", 3000), name="read")]
    chat = [said("user", "go"), *long, said("user", "and now?"), said("assistant", "wait")]
    options = {"result_tokens": {"search": 120, "read": 9000}, "pressed_tokens": 400, "recent_share": 0.0}
    roomy, pressed = (fitted(chat, budget, **options).messages for budget in (10**6, 2000))
    assert count_tokens(roomy[2]["content"]) <= 120
    assert len(pressed[4]["content"]) < len(roomy[4]["content"]), "the budget was never under pressure"
    assert pressed[2]["content"] == roomy[2]["content"]


def test_an_unknown_option_is_an_error():
    with pytest.raises(TypeError):
        FitPolicy(keep_last=3)
