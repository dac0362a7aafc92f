"""Messages that Threadline makes itself: text, and answers to calls."""

from __future__ import annotations

import pytest

from threadline.errors import InvalidInputError
from threadline.messages import TextPart, ToolCallPart, decode, result_message, text_message

from .conversations import DIALECTS

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)
CALL = ToolCallPart("call_a", "look", "{}", ())
LOCAL = ToolCallPart("local:3:0", "look", "{}", ("tool_calls", 0), local=True)
LEGACY = ToolCallPart("local:3:0", "look", "{}", ("function_call",), local=True)


@every_dialect
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_new_text_reads_as_it_was_meant(dialect, role):
    message = text_message(role, "hello", dialect)

    assert (message.role, message.content, message.dialect) == (role, "hello", dialect)
    assert decode([message.wire], dialect).messages == (message,)


@every_dialect
def test_a_new_instruction_is_a_system_message(dialect):
    message = text_message("system", "obey", dialect)

    assert (message.role, message.content) == ("system", "obey")


def test_a_new_instruction_is_written_where_the_dialect_keeps_them():
    assert text_message("developer", "obey", "anthropic").wire == {"type": "text", "text": "obey"}
    assert text_message("developer", "obey", "google").wire == {"parts": [{"text": "obey"}]}
    assert text_message("developer", "obey", "openai").wire == {"role": "developer", "content": "obey"}


@every_dialect
def test_a_result_is_not_made_as_text(dialect):
    with pytest.raises(InvalidInputError, match="result_message"):
        text_message("tool", "done", dialect)


@every_dialect
@pytest.mark.parametrize("call", [CALL, LOCAL, LEGACY])
def test_an_answer_belongs_to_its_call(dialect, call):
    message = result_message(call, "done", dialect)
    [part] = message.tool_results

    assert part.call_id == call.id
    assert part.name == "look"
    assert TextPart("done", part.parts[0].path) == part.parts[0]
    assert "local:" not in str(message.wire)


def test_answers_are_written_as_each_dialect_has_them():
    assert result_message(CALL, "done", "openai").wire == {"role": "tool", "tool_call_id": "call_a", "content": "done"}
    assert result_message(LOCAL, "done", "plain").wire == {"role": "tool", "name": "look", "content": "done"}
    assert result_message(LEGACY, "done", "openai").wire == {"role": "function", "name": "look", "content": "done"}
    assert result_message(CALL, "done", "anthropic").wire == {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "call_a", "content": "done"}],
    }
    assert result_message(CALL, "done", "google").wire == {
        "role": "user",
        "parts": [{"functionResponse": {"id": "call_a", "name": "look", "response": {"output": "done"}}}],
    }
    assert result_message(CALL, "done", "responses").wire == {
        "type": "function_call_output",
        "call_id": "call_a",
        "output": "done",
    }


@pytest.mark.parametrize(
    ("kind", "output"),
    [
        ("function_call", "function_call_output"),
        ("custom_tool_call", "custom_tool_call_output"),
        ("local_shell_call", "local_shell_call_output"),
        ("apply_patch_call", "apply_patch_call_output"),
    ],
)
def test_an_answer_to_a_responses_item_is_of_the_item_s_kind(kind, output):
    item = {"type": kind, "id": "it", "call_id": "call_a", "name": "look"}

    assert result_message(CALL, "done", "responses", wire=item).wire["type"] == output
