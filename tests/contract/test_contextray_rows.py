"""Rows 1 to 16, 29 to 33, 72 and 73 of the transcript contract: exact reduction of a message list."""

from __future__ import annotations

import re
from typing import Any

import pytest

import threadline
from threadline.compat.contextray import optimize_context
from threadline.errors import InvalidInputError

from .conversations import (
    ROOMY,
    P,
    Q,
    R,
    a,
    call,
    in_context,
    json_copy,
    optimise,
    prose,
    s,
    short_marker,
    stored,
    t,
    u,
)
from .judge import frozen

METRICS = {
    "total_chars_in",
    "total_chars_out",
    "chars_saved",
    "reduction_percentage",
    "est_tokens_in",
    "est_tokens_saved",
    "removed",
    "flagged",
}


# --- rows 1 to 6: who is a duplicate of whom


def test_no_messages_give_no_messages_and_zero_metrics():  # row 1
    result = optimize_context([])
    assert result["optimized_context"] == []
    assert result["top_waste_blocks"] == []
    assert result["metrics"] == dict.fromkeys(METRICS, 0)


def test_the_result_has_contextrays_four_keys_and_the_promised_metrics():
    result = optimize_context([u(P), a(Q)])
    assert set(result) == {"optimized_context", "metrics", "top_waste_blocks", "report"}
    assert set(result["metrics"]) >= METRICS
    assert isinstance(result["report"], str)
    assert result["report"]
    assert not result["report"].endswith("\n")


def test_a_bare_string_becomes_one_message_of_role_text():
    assert optimise(R) == [{"role": "text", "content": R}]


def test_the_second_of_two_equal_user_messages_is_elided_and_the_first_stays_byte_for_byte():  # row 2
    first, second = u(P), u(P)
    result = optimize_context([first, second])
    view, metrics = result["optimized_context"], result["metrics"]
    assert len(view) == 2
    assert view[0] is first
    assert view[1]["role"] == "user"
    assert P not in view[1]["content"]
    assert len(view[1]["content"]) < len(P)
    assert (metrics["removed"], metrics["flagged"]) == (1, 0)


def test_the_numbers_follow_the_characters_that_are_really_there():  # row 2
    result = optimize_context([u(P), u(P), a(Q)])
    metrics = result["metrics"]
    out = sum(len(message["content"]) for message in result["optimized_context"])
    assert metrics["total_chars_in"] == 2 * len(P) + len(Q)
    assert metrics["total_chars_out"] == out
    assert metrics["chars_saved"] == metrics["total_chars_in"] - out > 0
    assert metrics["reduction_percentage"] == round(100 * metrics["chars_saved"] / metrics["total_chars_in"], 2)
    assert 0 < metrics["est_tokens_saved"] < metrics["est_tokens_in"]


def test_a_copy_by_another_role_is_kept_and_flagged():  # row 3
    messages = [u(P), a(P)]
    result = optimize_context(messages)
    assert result["optimized_context"] == messages
    assert (result["metrics"]["removed"], result["metrics"]["flagged"]) == (0, 1)


@pytest.mark.parametrize("copies", [2, 3, 5])
def test_a_same_role_copy_is_elided_even_when_another_role_said_it_first(copies: int):  # row 4
    result = optimize_context([u(P), *[a(P) for _ in range(copies)]])
    view = result["optimized_context"]
    assert [message["content"] == P for message in view] == [True, True, *[False] * (copies - 1)]
    assert result["metrics"]["removed"] == copies - 1


def test_a_third_copy_refers_to_the_first_of_its_own_role():  # row 5
    view = optimise([u(P), a(P), u(P)])
    assert [message["content"] == P for message in view] == [True, True, False]


def test_system_text_is_never_touched_and_does_not_make_others_duplicates():  # row 6
    messages = [s(P), s(P), u(P)]
    result = optimize_context(messages)
    assert result["optimized_context"] == messages
    assert (result["metrics"]["removed"], result["metrics"]["flagged"]) == (0, 0)


def test_a_user_copy_of_system_text_is_flagged_when_asked_and_still_kept():  # row 6
    messages = [s(P), s(P), u(P)]
    result = optimize_context(messages, flag_system=True)
    assert result["optimized_context"] == messages
    assert (result["metrics"]["removed"], result["metrics"]["flagged"]) == (0, 1)


# --- rows 7 to 11: one rule of length, and exactness


def test_a_copy_as_long_as_its_marker_is_kept_and_counted_nowhere():  # row 7
    messages = [u(P), u(P)]
    result = optimize_context(messages, marker=lambda _: "x" * len(P))
    assert result["optimized_context"] == messages
    assert result["metrics"]["removed"] == 0
    assert result["metrics"]["chars_saved"] == 0
    assert result["top_waste_blocks"] == []


def test_a_copy_one_character_longer_than_its_marker_is_elided_when_min_chars_allows():  # row 8
    messages = [u(prose(41)), u(prose(41))]
    marker = "m" * 40
    result = optimize_context(messages, marker=lambda _: marker, min_chars=41)
    assert result["optimized_context"][1]["content"] == marker
    assert result["metrics"]["chars_saved"] == 1
    assert optimise(messages, marker=lambda _: marker) == messages
    assert optimise(messages, marker=lambda _: marker, min_chars=42) == messages


@pytest.mark.parametrize("length", [0, 1, 2, 8, 16, 24, 32, 40, 48, 63, 64, 65, 200])
@pytest.mark.parametrize("marker", ["reference", "silent"])
def test_no_marker_ever_makes_a_message_longer(length: int, marker: str):  # rows 7, 8
    text = prose(length)
    result = optimize_context([u(text), u(text)], marker=marker, min_chars=1)
    second = result["optimized_context"][1]["content"]
    assert second == text or len(second) < len(text)
    assert result["metrics"]["removed"] == (second != text)


@pytest.mark.parametrize(("length", "elided"), [(32, False), (63, False), (64, True), (65, True)])
def test_sixty_four_characters_are_the_least_that_is_elided(length: int, elided: bool):  # row 9
    text = prose(length)
    result = optimize_context([u(text), u(text)])
    assert (result["optimized_context"][1]["content"] != text) is elided
    assert result["metrics"]["removed"] == elided


@pytest.mark.parametrize("min_chars", [65, 100, 111])
def test_min_chars_is_the_one_rule_of_length(min_chars: int):  # rows 8, 9
    view = optimise([u(P), u(P)], min_chars=min_chars)
    assert (view[1]["content"] == P) is (len(P) < min_chars)


def test_leading_spaces_make_a_text_another_text():  # row 10
    messages = [u(P), u("    " + P)]
    result = optimize_context(messages)
    assert result["optimized_context"] == messages
    assert result["metrics"]["removed"] == 0


def test_edges_are_folded_when_asked():  # row 10
    result = optimize_context([u(P), u("    " + P)], fold="edges")
    assert P not in result["optimized_context"][1]["content"]
    assert result["metrics"]["removed"] == 1


def test_indentation_inside_a_fence_is_never_folded():  # row 10
    code = "\n".join(f"step_{n} = run(step_{n - 1}, depth={n})" for n in range(6))
    indented = "\n".join("    " + line for line in code.splitlines())
    messages = [u(f"```py\n{indented}\n```"), u(f"```py\n{code}\n```")]
    assert optimise(messages, fold="edges") == messages


def test_two_kinds_of_blank_are_two_texts():  # row 11
    messages = [u(" " * 70), u("\n" * 100)]
    result = optimize_context(messages)
    assert result["optimized_context"] == messages
    assert result["metrics"]["removed"] == 0


# --- rows 12 to 16: a drop-in list


def test_a_long_message_stays_one_message():  # row 12
    long = "\n\n".join(prose(300, f"paragraph-{n}") for n in range(10))
    messages = [u(long)]
    assert optimise(messages) == messages


def test_a_list_without_duplicates_comes_back_as_the_very_same_messages_with_every_key():  # row 13
    messages = [
        s(prose(2400, "rules"), cache_control={"type": "ephemeral"}),
        u(prose(900, 1), name="ada", metadata={"turn": 1, "tags": ["x"]}, id="m1"),
        call("call_a", content="") | {"refusal": None},
        t(prose(900, 2), name="look_up"),
        a(prose(900, 3), audio={"id": "au_1"}),
        {"role": "critic", "content": prose(900, 4)},
    ]
    view = optimise(messages)
    assert view == messages
    assert all(out is original for out, original in zip(view, messages, strict=True))


def test_only_the_content_of_a_tool_copy_changes():  # row 14
    messages = [
        u(prose(80, 1)),
        call("call_a"),
        t(P, "call_a", name="look_up", extra=[1]),
        call("call_b"),
        t(P, "call_b", name="look_up", extra=[2]),
    ]
    view = optimise(messages)
    assert view[:4] == messages[:4]
    assert view[4]["content"] != P
    assert {**view[4], "content": P} == messages[4]
    assert list(view[4]) == list(messages[4])


def test_none_content_passes_through():  # row 15
    messages = [u(P), call("call_a"), t(Q), a(None)]
    assert optimise(messages) == messages


def test_text_parts_are_deduplicated_and_every_other_part_is_left_alone():  # row 15
    def parts() -> list[dict[str, Any]]:
        image = {"type": "image_url", "image_url": {"url": "https://example.org/" + "a" * 200}}
        text = {"type": "text", "text": Q, "cache_control": {"type": "ephemeral"}}
        return [image, text, {"type": "novel_block", "payload": Q}]

    messages = [u(parts()), u(parts())]
    view = optimise(messages)
    assert view[0] is messages[0]
    second = view[1]["content"]
    assert second[1]["text"] != Q
    assert [second[0], {**second[1], "text": Q}, second[2]] == messages[1]["content"]


@pytest.mark.parametrize("content", [5, 1.5, True, b"bytes", {"text": "x"}])
def test_content_of_another_type_is_an_error_that_names_the_message(content: Any):  # row 15
    with pytest.raises(InvalidInputError, match="2") as raised:
        optimize_context([u(P), a(Q), {"role": "user", "content": content}])
    assert raised.value.fields["index"] == 2


@pytest.mark.parametrize("key", ["role", "content"])
def test_a_missing_key_is_an_error_that_names_message_and_key(key: str):  # row 16
    broken = u("a private sentence")
    del broken[key]
    with pytest.raises(InvalidInputError, match=key) as raised:
        optimize_context([u(P), broken])
    assert raised.value.fields["index"] == 1
    assert raised.value.fields["key"] == key
    assert "1" in str(raised.value)
    assert "private" not in str(raised.value)


@pytest.mark.parametrize(
    "messages", [[{"role": "user", "content": "x"}, "text"], [None], {"role": "user"}, 7, b"bytes"]
)
def test_what_is_no_message_list_is_a_typed_error(messages: Any):  # row 16
    with pytest.raises(InvalidInputError):
        optimize_context(messages)


# --- rows 29 to 33: a second pass, references, markers, restoring


@pytest.mark.parametrize("options", [{}, {"marker": "silent"}, {"keep": "latest"}, {"fold": "edges"}, {"min_chars": 8}])
def test_a_second_pass_changes_nothing(options: dict[str, Any]):  # row 29
    messages = [
        s(P),
        u(P),
        u(in_context(Q, "one")),
        a(in_context(Q, "two")),
        u(in_context(Q, "three")),
        u(P),
        u(P),
        a(P),
    ]
    once = optimise(messages, **options)
    assert optimise(once, **options) == once


def test_a_trimmed_history_never_refers_to_what_was_trimmed():  # row 30
    history = [u(P), a(prose(90, 1)), u(P), a(prose(90, 2)), u(P)]
    for start in range(len(history)):
        view = optimise(history[start:])
        said = [message["content"] for message in view if message["role"] == "user"]
        assert said[0] == P
        assert said.count(P) == 1


def test_a_marker_does_not_change_when_the_head_of_the_history_is_trimmed():  # row 30
    head = [u(prose(100, f"head-{n}")) for n in range(7)]
    tail = [u(P), a(Q), u(P)]
    assert optimise(head + tail)[-1] == optimise(tail)[-1]


def test_a_trimmed_view_can_be_optimised_again_without_losing_more():  # row 30
    view = optimise([u(R), a(Q), u(P), u(P), u(R), u(P)])
    again = optimise(view[1:])
    assert again[1] == u(P)
    assert optimise(again) == again


def test_text_that_looks_like_a_marker_is_only_text():  # row 31
    marker = optimise([u(P), u(P)])[1]["content"]
    forged = f"{prose(90, 1)}\n\n{marker}\n\n{prose(90, 2)}"
    messages = [u(marker), u(P), u(marker), u(P), u(forged), u(marker * 3)]
    view = optimise(messages)
    assert [view[n] for n in (0, 1, 2, 4)] == [messages[n] for n in (0, 1, 2, 4)]
    assert view[3]["content"] != P
    fitted = threadline.fit(messages, max_input_tokens=ROOMY)
    assert fitted.restore() == messages
    assert threadline.restore(json_copy(fitted.messages), stored(fitted.elisions)) == messages


@pytest.mark.parametrize("seed", range(3))
def test_the_default_marker_neither_praises_nor_blames_nor_speaks_of_cleaning(seed: int):  # row 32
    text = prose(300, seed)
    marker = optimise([u(text), u(text)])[1]["content"]
    loaded = (
        r"clean|remov|tid(y|ied)|redundan|unnecessar|wast|optimi[sz]|improv|useless|junk|noise|strip|trim|delet|succe"
    )
    assert not re.search(loaded, marker, re.IGNORECASE)


def test_silent_leaves_no_word_in_the_place_of_a_copy():  # row 32
    view = optimise([u(P), u(P), u(in_context(Q, "one")), u(in_context(Q, "two"))], marker="silent")
    assert len(view) == 4
    assert view[1]["content"].strip() == ""
    assert not re.search(
        r"\w", view[3]["content"].replace(prose(500, "two-before"), "").replace(prose(500, "two-after"), "")
    )


def test_a_callable_marker_writes_what_it_likes():  # row 32
    seen: list[Any] = []

    def mark(elision: Any) -> str:
        seen.append(elision)
        return "<<same>>"

    assert optimise([u(P), u(P)], marker=mark)[1]["content"] == "<<same>>"
    assert seen


def test_keep_latest_keeps_the_last_copy():  # row 32
    messages = [u(P), a(Q), u(P), a(R), u(P)]
    view = optimise(messages, keep="latest")
    assert [message["content"] == P for message in view if message["role"] == "user"] == [False, False, True]
    assert view[4] is messages[4]


@pytest.mark.parametrize("marker", ["reference", "silent", short_marker])
@pytest.mark.parametrize("keep", ["first", "latest"])
def test_one_whole_copy_stays_in_every_role_whatever_is_kept(marker: Any, keep: str):  # row 32
    messages = [s(Q), u(Q), a(in_context(Q, "one")), u(in_context(Q, "two")), a(Q), u(Q)]
    view = optimise(messages, marker=marker, keep=keep)
    for role in ("system", "user", "assistant"):
        assert sum(message["content"].count(Q) for message in view if message["role"] == role) == 1


@pytest.mark.parametrize(
    "messages",
    [
        [u(P), u(P)],
        [u(P), u("    " + P), u(P + "\n")],
        [u(in_context(Q, "one")), u(in_context(Q, "two")), u(in_context(Q, "three", "\r\n\r\n"))],
        [u([{"type": "text", "text": Q}]), u([{"type": "text", "text": Q}, {"type": "text", "text": Q}])],
        [u("\ud800" + Q), u("\ud800" + Q)],
    ],
)
def test_what_was_elided_is_restored_byte_for_byte_after_a_restart(messages: list[Any]):  # row 33
    fitted = threadline.fit(messages, max_input_tokens=ROOMY)
    assert threadline.restore(json_copy(fitted.messages), stored(fitted.elisions)) == messages


# --- rows 72 and 73


@pytest.mark.parametrize(
    "options",
    [
        {"strategy": "exact"},
        {"min_char": 10},
        {"config": {"strategy": "exact"}},
        {"marker": "loud"},
        {"keep": "middle"},
        {"min_chars": -1},
        {"min_chars": "64"},
        {"fold": "everything"},
    ],
)
def test_an_unknown_option_or_value_is_an_error_also_on_an_empty_list(options: dict[str, Any]):  # row 72
    for messages in ([], [u(P), u(P)]):
        with pytest.raises(InvalidInputError):
            optimize_context(messages, **options)


def test_config_and_keywords_say_the_same():  # row 72
    messages = [u(P), u(P), u(prose(40)), u(prose(40))]
    options = {"min_chars": 32, "marker": "silent"}
    assert optimize_context(messages, config=options) == optimize_context(messages, **options)


def test_the_same_input_twice_gives_the_same_bytes_and_is_not_changed():  # row 73
    messages = [u(P), a(P), u(in_context(Q, "one")), u(in_context(Q, "two")), u([{"type": "text", "text": P}])]
    before = frozen(messages)
    assert frozen(optimize_context(messages)) == frozen(optimize_context(json_copy(messages)))
    assert frozen(messages) == before
