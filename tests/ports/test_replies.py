"""A reply is read strictly, errors about it quote nothing, and what a model wraps around it comes off on request."""

from __future__ import annotations

import json
import traceback
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError, field_validator

from threadline.errors import LLMOutputError
from threadline.ports.replies import StrictOutputModel, describe_errors, parse_reply, recover_reply

SECRET = "my pin is 4711"


class Cut(StrictOutputModel):
    reasoning: str
    boundaries: list[int]
    confidence: float = 0.5


class Add(StrictOutputModel):
    action: Literal["add"]


class Drop(StrictOutputModel):
    action: Literal["drop"]


class Operation(StrictOutputModel):
    operation: Annotated[Add | Drop, Field(discriminator="action")]


class Checked(StrictOutputModel):
    title: str

    @field_validator("title")
    @classmethod
    def _not_blank(cls, title: str) -> str:
        if not title.strip():
            raise ValueError("must not be blank")
        raise ValueError(f"do not like {title}")


GOOD = {"reasoning": "one topic", "boundaries": [2]}


def refused(text, model=Cut, parse=parse_reply):
    with pytest.raises(LLMOutputError) as caught:
        parse(model, text, operator="boundary")
    return str(caught.value)


@pytest.mark.parametrize("space", ["", " ", "\n\n\t"])
def test_white_space_around_a_reply_is_forgiven(space):
    assert parse_reply(Cut, space + json.dumps(GOOD) + space, operator="boundary").boundaries == [2]


def test_an_integer_stands_for_a_float():
    assert parse_reply(Cut, json.dumps({**GOOD, "confidence": 1}), operator="boundary").confidence == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no",
        "null",
        "[]",
        f"```json\n{json.dumps(GOOD)}\n```",
        f"Here it is: {json.dumps(GOOD)}",
        f"<think>hm</think>{json.dumps(GOOD)}",
        json.dumps([GOOD]),
        json.dumps({"reasoning": "x"}),
        json.dumps({**GOOD, "tail_complete": True}),
        *(json.dumps({**GOOD, "boundaries": [bad]}) for bad in ("1", 1.0, True, None)),
        '{"reasoning": "x", "boundaries": [], "confidence": NaN}',
        "\ud800",
        "[" * 100_000,
        '{"boundaries": ' + "9" * 5000 + "}",
    ],
    ids=repr,
)
def test_anything_but_the_promised_object_is_refused(text):
    assert refused(text).startswith("boundary reply is not a valid Cut: ")


def test_the_error_says_who_asked_for_what_and_where_it_is_wrong():
    text = json.dumps({"boundaries": [1, "two"], "tail_complete": True})

    assert refused(text) == (
        "boundary reply is not a valid Cut: reasoning: Field required; "
        "boundaries.1: Input should be a valid integer; tail_complete: Extra inputs are not permitted"
    )
    assert refused("[]") == "boundary reply is not a valid Cut: <root>: Input should be an object"


def test_the_error_names_operator_and_model_as_fields():
    with pytest.raises(LLMOutputError) as caught:
        parse_reply(Cut, "{}", operator="boundary")

    assert caught.value.fields == {"operator": "boundary", "model": "Cut"}


@pytest.mark.parametrize("parse", [parse_reply, recover_reply])
@pytest.mark.parametrize(
    ("model", "reply"),
    [
        (Cut, SECRET),
        (Cut, json.dumps({"reasoning": 1, "boundaries": [SECRET], SECRET: SECRET})),
        (Operation, json.dumps({"operation": {"action": SECRET}})),
        (Checked, json.dumps({"title": SECRET})),
    ],
)
def test_neither_the_message_nor_the_traceback_quotes_the_reply(parse, model, reply):
    with pytest.raises(LLMOutputError) as caught:
        parse(model, reply, operator="boundary")

    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None


def test_what_a_check_of_the_class_says_is_kept_where_it_quotes_nothing():
    assert refused('{"title": " "}', Checked).endswith("title: Value error, must not be blank")
    assert refused(json.dumps({"title": SECRET}), Checked).endswith("title: Value error")


def test_an_unknown_tag_is_told_by_what_was_allowed():
    assert refused('{"operation": {"action": "x"}}', Operation).endswith(
        "operation: the tag under 'action' is none of 'add', 'drop'"
    )


def test_thousands_of_mistakes_make_a_short_error():
    text = json.dumps({**GOOD, "boundaries": ["x"] * 5000})

    assert refused(text).endswith("; and 4990 more")


def test_describe_errors_takes_any_validation_error():
    with pytest.raises(ValidationError) as caught:
        Cut.model_validate({})

    assert describe_errors(caught.value) == "reasoning: Field required; boundaries: Field required"


PLAIN = json.dumps(GOOD, indent=1)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f"```json\n{PLAIN}\n```",
        f"```\n{PLAIN}",
        f"Sure.\n\n~~~\n{PLAIN}\n~~~\nAnything else?",
        f"<think>\nA draft: ```{{}}```\n</think>\n{PLAIN}",
        f"the tag was in the prompt</think>{PLAIN}",
        f"<thinking>they wrote </think> too</thinking>\n```json\n[{PLAIN}]\n```",
        f"[{PLAIN}]",
        f" [ {PLAIN} ] ",
    ],
    ids=repr,
)
def test_thoughts_a_fence_and_an_array_come_off_on_request(text):
    assert recover_reply(Cut, text, operator="boundary") == Cut.model_validate(GOOD)


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"[{PLAIN}, {PLAIN}]",
        "[]",
        f"```\n{PLAIN}\n```\nor\n```\n{PLAIN}\n```",
        f"<think>{PLAIN}",
        '```json\n{"reasoning": 1, "boundaries": []}\n```',
        "</think>" * 20_000,
        "```\n" * 20_000,
    ],
    ids=lambda text: repr(text[:60]),
)
def test_what_is_ambiguous_or_wrong_inside_is_refused_all_the_same(text):
    assert refused(text, parse=recover_reply).startswith("boundary reply is not a valid Cut: ")


@given(
    st.text(), st.lists(st.integers(-5, 5)), st.sampled_from(["{}", "```json\n{}\n```", "<think>x</think>{}", "[{}]"])
)
def test_what_is_recovered_is_what_was_said(reasoning, boundaries, wrapping):
    said = Cut(reasoning=reasoning, boundaries=boundaries)
    ascii_only = json.dumps(said.model_dump())

    assert recover_reply(Cut, wrapping.replace("{}", ascii_only), operator="boundary") == said


@given(st.text())
def test_no_text_gives_anything_but_a_reply_or_the_one_error(text):
    for parse in (parse_reply, recover_reply):
        refused(text, parse=parse)
