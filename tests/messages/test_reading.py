"""What is read out of a wire object: parts, pairs, origins."""

from __future__ import annotations

import itertools

import pytest

from threadline.errors import InvalidInputError
from threadline.messages import (
    MediaPart,
    OpaquePart,
    RefusalPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    decode,
)

from .conversations import png


def parts_of(*wires, dialect=None):
    return [message.parts for message in decode(list(wires), dialect).messages]


# OpenAI chat and plain


def test_chat_content_of_every_shape_is_read():
    [parts] = parts_of(
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "b"}, "c"],
            "refusal": "d",
            "reasoning_content": "e",
            "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "2", "type": "custom", "custom": {"name": "g", "input": "free text"}},
            ],
        },
        dialect="openai",
    )

    assert parts == (
        ThinkingPart("e", ("reasoning_content",)),
        TextPart("a", ("content", 0, "text")),
        RefusalPart("b", ("content", 1, "refusal")),
        TextPart("c", ("content", 2)),
        RefusalPart("d", ("refusal",)),
        ToolCallPart("1", "f", "{}", ("tool_calls", 0)),
        ToolCallPart("2", "g", "free text", ("tool_calls", 1)),
    )


def test_null_content_and_an_empty_string_are_not_the_same():
    null, empty = parts_of({"role": "assistant", "content": None}, {"role": "assistant", "content": ""})

    assert null == ()
    assert empty == (TextPart("", ("content",)),)


def test_arguments_that_are_an_object_are_read_as_json():
    call = {"id": "1", "function": {"name": "f", "arguments": {"a": 1}}}
    [[part]] = parts_of({"role": "assistant", "content": None, "tool_calls": [call]})

    assert part.arguments == '{"a":1}'


def test_a_legacy_function_call_gets_a_local_id_and_its_answer_finds_it():
    call, answer = parts_of(
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "done"},
    )

    assert call[0].local
    assert answer[0].local
    assert answer[0].call_id == call[0].id
    assert answer[0].name == "f"


def test_tool_calls_without_ids_are_answered_in_their_order():
    calls, *answers = parts_of(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"function": {"name": name}} for name in ("f", "g", "f")],
        },
        {"role": "tool", "content": "1"},
        {"role": "tool", "content": "2", "tool_call_id": ""},
        {"role": "tool", "content": "3"},
    )

    assert [answer[0].call_id for answer in answers] == [call.id for call in calls]


def test_a_result_without_a_call_gets_an_id_of_its_own():
    first, second = parts_of({"role": "tool", "content": "1"}, {"role": "tool", "content": "2"})

    assert first[0].local
    assert first[0].call_id != second[0].call_id


def test_one_message_may_answer_several_calls():
    [results] = parts_of({"role": "tool", "tool_call_ids": ["a", "b"], "content": "both"})

    assert [result.call_id for result in results] == ["a", "b"]
    assert [len(result.parts) for result in results] == [1, 0]


def test_ids_survive_any_number_of_passes():
    wires = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": ""}}]},
        {"role": "tool", "tool_call_id": "a", "content": "x"},
    ]
    for _ in range(5):
        messages = decode(wires).messages
        wires = [message.wire for message in messages]

    assert wires[0]["tool_calls"][0]["id"] == messages[0].tool_calls[0].id == "a"
    assert wires[1]["tool_call_id"] == messages[1].tool_results[0].call_id == "a"


def test_a_reused_id_belongs_to_the_nearest_call():
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": {"name": "f"}}]}
    other = {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": {"name": "g"}}]}
    answer = {"role": "tool", "tool_call_id": "a", "content": "x"}

    *_, first, _, second = parts_of(call, answer, other, answer)

    assert first[0].name == "f"
    assert second[0].name == "g"


def test_signed_thinking_of_gateways_is_an_atom():
    details = [{"type": "reasoning.text", "text": "hm", "signature": "s"}, {"type": "reasoning.encrypted", "data": "x"}]
    [parts] = parts_of({"role": "assistant", "content": "a", "reasoning": "hm", "reasoning_details": details})

    assert parts[:2] == (
        ThinkingPart("hm", ("reasoning_details", 0), signed=True),
        ThinkingPart("", ("reasoning_details", 1), signed=True),
    )


def test_user_turns_after_an_action_are_observations():
    messages = decode(
        [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "task"},
            {"role": "assistant", "content": "go", "action": "ls"},
            {"role": "user", "content": "a.py"},
            {"role": "assistant", "content": "hm", "action": ""},
            {"role": "user", "content": "are you there?"},
        ]
    ).messages

    assert [message.origin == "observation" for message in messages] == [False, False, False, True, False, False]
    assert [message.is_user_turn for message in messages] == [False, True, False, False, False, True]


def test_a_marked_observation_is_one_but_not_the_task_before_any_answer():
    messages = decode(
        [
            {"role": "user", "content": "task", "message_type": "observation"},
            {"role": "assistant", "content": "go"},
            {"role": "user", "content": "a.py", "message_type": "observation"},
        ]
    ).messages

    assert [message.origin for message in messages] == ["conversation", "conversation", "observation"]


# Anthropic


def test_anthropic_blocks_of_every_shape_are_read():
    use, results = parts_of(
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "redacted_thinking", "data": "x"},
                {"type": "text", "text": "a"},
                {"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}},
                {"type": "server_tool_use", "id": "2", "name": "web_search", "input": {"query": "q"}},
                {"type": "web_search_tool_result", "tool_use_id": "2", "content": [{"type": "web_search_result"}]},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "1",
                    "is_error": True,
                    "content": [{"type": "text", "text": "no"}],
                },
                {"type": "text", "text": "well?"},
            ],
        },
    )

    assert use == (
        ThinkingPart("hm", ("content", 0), signed=True),
        ThinkingPart("", ("content", 1), signed=True),
        TextPart("a", ("content", 2, "text")),
        ToolCallPart("1", "f", '{"a":1}', ("content", 3)),
        ToolCallPart("2", "web_search", '{"query":"q"}', ("content", 4), server=True),
        ToolResultPart(
            "2",
            ("content", 5),
            (OpaquePart("web_search_result", ("content", 5, "content", 0), '{"type":"web_search_result"}'),),
            "web_search",
            server=True,
        ),
    )
    text = TextPart("no", ("content", 0, "content", 0, "text"))
    assert results[0] == ToolResultPart("1", ("content", 0), (text,), "f", is_error=True)
    assert results[1] == TextPart("well?", ("content", 1, "text"))


def test_a_turn_of_results_only_is_no_user_turn():
    [message] = decode(
        [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "x"}]}]
    ).messages

    assert message.kind == "tool_result"
    assert not message.is_user_turn


def test_anthropic_instructions_are_read_block_by_block():
    blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": "b", "cache_control": {}}]
    request = decode({"system": blocks, "messages": []})

    assert [message.wire for message in request.system] == blocks
    assert [message.content for message in request.system] == ["a", "b"]


# Responses


def test_every_responses_item_has_its_place():
    parts = parts_of(
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {
            "type": "reasoning",
            "id": "rs",
            "summary": [{"type": "summary_text", "text": "hm"}],
            "encrypted_content": "x",
        },
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "2", "name": "g", "input": "free"},
        {"type": "local_shell_call", "id": "3", "call_id": "3", "action": {"command": ["ls"]}},
        {"type": "function_call_output", "call_id": "1", "output": "done"},
        {"type": "custom_tool_call_output", "call_id": "2", "output": [{"type": "input_text", "text": "out"}]},
        {"type": "local_shell_call_output", "id": "3", "output": "a.py"},
        {"type": "mcp_call", "id": "m", "name": "h", "arguments": "{}", "output": "there"},
        {"type": "compaction", "encrypted_content": "QUJD" * 50},
    )

    assert parts == [
        (TextPart("hi", ("content", 0, "text")),),
        (ThinkingPart("hm", (), signed=True),),
        (ToolCallPart("1", "f", "{}", ()),),
        (ToolCallPart("2", "g", "free", ()),),
        (ToolCallPart("3", "local_shell", '{"action":{"command":["ls"]}}', ()),),
        (ToolResultPart("1", (), (TextPart("done", ("output",)),), "f"),),
        (ToolResultPart("2", (), (TextPart("out", ("output", 0, "text")),), "g"),),
        (ToolResultPart("3", (), (TextPart("a.py", ("output",)),), "local_shell"),),
        (
            ToolCallPart("m", "h", "{}", (), server=True),
            ToolResultPart("m", (), (TextPart("there", ("output",)),), "h", server=True),
        ),
        (OpaquePart("compaction", (), '{"type":"compaction","encrypted_content":""}'),),
    ]


# Google


@pytest.mark.parametrize(
    ("call", "response", "signature"),
    [
        ("functionCall", "functionResponse", "thoughtSignature"),
        ("function_call", "function_response", "thought_signature"),
    ],
)
def test_google_parts_are_read_in_both_spellings(call, response, signature):
    turn, answer = parts_of(
        {
            "role": "model",
            "parts": [{"text": "hm", "thought": True}, {call: {"name": "f", "args": {}}, signature: "s"}],
        },
        {"role": "user", "parts": [{response: {"name": "f", "response": {"output": "done"}}}]},
    )

    assert turn[0] == ThinkingPart("hm", ("parts", 0))
    assert turn[1] == ThinkingPart("", ("parts", 1, signature), signed=True)
    assert turn[2].local
    assert answer[0].call_id == turn[2].id
    assert TextPart("done", ("parts", 0, response, "response", "output")) in answer[0].parts


def test_google_responses_without_ids_pair_by_name_with_the_nearest_turn():
    def call(*names):
        return {"role": "model", "parts": [{"functionCall": {"name": name, "args": {}}} for name in names]}

    def answer(*names):
        return {"role": "user", "parts": [{"functionResponse": {"name": name, "response": {}}} for name in names]}

    first, second, results, late = parts_of(call("f"), call("f", "g", "f"), answer("g", "f", "f"), answer("f"))

    assert [result.call_id for result in results] == [second[1].id, second[0].id, second[2].id]
    assert late[0].call_id == first[0].id


def test_google_code_execution_is_a_server_call():
    [parts] = parts_of(
        {
            "role": "model",
            "parts": [
                {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
            ],
        }
    )

    assert parts[0].server
    assert parts[0].arguments == "print(1)"
    assert parts[1].server
    assert parts[1].call_id == parts[0].id


def test_google_instructions_are_read_from_either_key():
    for key in ("systemInstruction", "system_instruction"):
        request = decode({key: {"parts": [{"text": "Be brief."}]}, "contents": []})
        assert [message.content for message in request.system] == ["Be brief."]


# Results


IMAGE = {"type": "image", "data": png(), "mimeType": "image/png"}
MCP = {
    "content": [{"type": "text", "text": "see"}, IMAGE],
    "structuredContent": {"shot": {"data": png(3, 4), "mimeType": "image/png"}},
}


@pytest.mark.parametrize(
    "wires",
    [
        [{"role": "tool", "tool_call_id": "a", "content": MCP["content"]}],
        [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": MCP["content"]}]}],
        [{"type": "function_call_output", "call_id": "a", "output": MCP["content"]}],
        [{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": MCP}}]}],
    ],
    ids=["openai", "anthropic", "responses", "google"],
)
def test_an_mcp_image_inside_a_result_is_a_medium_and_never_text(wires):
    [message] = decode(wires).messages
    inner = list(itertools.chain.from_iterable(result.parts for result in message.tool_results))

    media = [part for part in inner if isinstance(part, MediaPart)]
    assert (media[0].kind, media[0].width, media[0].height) == ("image", 800, 600)
    assert "iVBOR" not in "".join(part.text for part in inner if not isinstance(part, MediaPart))
    if "parts" in wires[0]:
        assert (media[1].width, media[1].height) == (3, 4)


# Bad input


@pytest.mark.parametrize(
    ("value", "dialect", "index", "key"),
    [
        ([{"role": "user", "content": "a"}, {"content": "b"}], None, 1, "role"),
        ([{"role": "user"}], None, 0, "content"),
        ([{"role": 5, "content": "a"}], None, 0, "role"),
        ([{"role": "user", "content": 5}], None, 0, "content"),
        ([{"role": "tool", "tool_call_id": "a", "content": 5}], None, 0, "content"),
        ([{"role": "user", "content": [5]}], None, 0, "content"),
        ([{"role": "assistant", "content": None, "tool_calls": [5]}], None, 0, "tool_calls"),
        ([{"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}], None, 0, "tool_calls.0.function"),
        ([{"role": "user", "content": "a"}, "b"], None, 1, None),
        ([{"role": "user"}], "anthropic", 0, "content"),
        ([{"role": "user", "content": 5}], "anthropic", 0, "content"),
        ([{"role": "user", "content": [5]}], "anthropic", 0, "content.0"),
        ([{"role": None, "content": "a"}], "anthropic", 0, "role"),
        ([{"content": "a"}], "responses", 0, "role"),
        ([{"role": "user"}], "responses", 0, "content"),
        ([{"role": "user", "content": {}}], "responses", 0, "content"),
        ([{"role": "user"}], "google", 0, "parts"),
        ([{"role": "user", "parts": {}}], "google", 0, "parts"),
        ([{"role": 5, "parts": []}], "google", 0, "role"),
        ([{"role": "user", "parts": ["a"]}], "google", 0, "parts.0"),
        ({"messages": 5}, None, None, "messages"),
        ({"x": 5}, None, None, "messages"),
        ({"contents": [], "systemInstruction": 5}, None, None, "systemInstruction"),
        ({"messages": [], "system": 5}, None, None, "system"),
        ({"input": [], "instructions": 5}, None, None, "instructions"),
        (5, None, None, None),
    ],
)
def test_an_error_names_index_and_key(value, dialect, index, key):
    with pytest.raises(InvalidInputError) as caught:
        decode(value, dialect)

    assert caught.value.fields == {"index": index, "key": key}
    if index is not None:
        assert f"message {index}:" in str(caught.value)
    if key is not None:
        assert repr(key) in str(caught.value)


def test_an_error_does_not_quote_what_was_said():
    with pytest.raises(InvalidInputError) as caught:
        decode([{"role": "user", "content": {"secret": "hunter2"}}])

    assert "hunter2" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_call_alone_needs_no_content():
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}

    assert decode([{"role": "assistant", "tool_calls": [call]}]).messages[0].tool_calls[0].id == "a"


def test_nesting_that_is_too_deep_is_told():
    deep: object = "x"
    for _ in range(5_000):
        deep = [deep]

    with pytest.raises(InvalidInputError, match="nested too deeply"):
        decode([{"role": "user", "content": [{"type": "odd", "deep": deep}]}])


# Corners


def test_results_of_any_json_are_read():
    values = {
        "n": 5,
        "list": ["a", {"type": "text", "text": "b"}, 7],
        "deep": {"shots": [{"data": png(), "mimeType": "image/png"}]},
    }
    [message] = decode([{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": values}}]}]).messages
    [result] = message.tool_results

    assert [type(part).__name__ for part in result.parts] == ["MediaPart", "OpaquePart"]
    assert (
        result.parts[1].text
        == '{"n":5,"list":["a",{"type":"text","text":"b"},7],"deep":{"shots":[{"data":"","mimeType":"image/png"}]}}'
    )


def test_a_shell_output_without_types_is_read_text_by_text():
    output = [{"stdout": "a.py", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}, 5]
    [[result]] = parts_of({"type": "shell_call_output", "call_id": "a", "output": output})

    assert [part.text for part in result.parts if isinstance(part, TextPart)] == ["a.py", ""]
    assert result.parts[-1] == OpaquePart("json", ("output", 1), "5")


def test_a_screenshot_is_a_result_s_only_part():
    shot = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{png()}"}
    [[result]] = parts_of({"type": "computer_call_output", "call_id": "a", "output": shot})

    assert [(part.kind, part.width) for part in result.parts] == [("image", 800)]


def test_a_generated_image_is_a_server_s_result():
    item = {"type": "image_generation_call", "id": "ig", "result": png(), "status": "completed"}
    [[call, result]] = parts_of(item)

    assert call.server
    assert "iVBOR" not in call.arguments
    assert isinstance(result.parts[0], MediaPart)


def test_google_instructions_may_be_a_string_or_hold_strange_parts():
    assert decode({"systemInstruction": "Be brief.", "contents": []}).system[0].content == "Be brief."
    body = {"systemInstruction": {"parts": [{"text": "a"}, {"odd": 1}]}, "contents": []}
    assert [type(part).__name__ for part in decode(body).system[0].parts] == ["TextPart", "OpaquePart"]
    assert decode({"systemInstruction": {"parts": {"text": "a"}}, "contents": []}).system[0].content == "a"


def test_anthropic_instructions_may_hold_strange_blocks():
    request = decode({"system": [{"type": "odd"}], "messages": []})

    assert isinstance(request.system[0].parts[0], OpaquePart)


def test_results_without_ids_find_their_calls_in_every_dialect():
    _, anthropic = parts_of(
        {"role": "assistant", "content": [{"type": "tool_use", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "content": "x"}]},
    )
    _, item = parts_of({"type": "function_call", "name": "f"}, {"type": "function_call_output", "output": "x"})

    for result in (anthropic[0], item[0]):
        assert result.local
        assert result.call_id == "local:0:0"


def test_the_reply_s_schema_is_found_in_every_dialect():
    schema = {"type": "json_schema", "schema": {}}
    bodies = [
        {"messages": [], "model": "m", "response_format": schema},
        {"input": [], "text": {"format": schema}},
        {"messages": [], "system": "s", "output_config": {"format": schema}},
        {"messages": [], "system": "s", "output_format": schema},
        {"contents": [], "generationConfig": {"responseSchema": schema}},
    ]

    assert [decode(body).response_format for body in bodies] == [schema] * 5


def test_tools_bear_their_names():
    tools = [
        {"type": "function", "function": {"name": "f"}},
        {"type": "custom", "custom": {"name": "g"}},
        {"type": "web_search"},
    ]

    assert [tool.name for tool in decode({"messages": [], "model": "m", "tools": tools}).tools] == [
        "f",
        "g",
        "web_search",
    ]
