"""From one dialect to another: every pair kept, every loss told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.messages import Dialect, Loss, check_conversation, convert, decode, encode

from .conversations import DIALECTS, Act, Say, body_of, conversations, png, written

every_pair = pytest.mark.parametrize(("source", "target"), [(a, b) for a in DIALECTS for b in DIALECTS])
others = pytest.mark.parametrize("target", ["openai", "responses", "google"])


def pairs(request):
    """What was asked of which tool and what came back, whatever the ids."""
    open_calls = {}
    found = []
    for message in request.messages:
        for call in message.tool_calls:
            open_calls.setdefault(call.id, []).append(call)
        for result in message.tool_results:
            call = open_calls[result.call_id].pop()
            found.append(
                (call.name, call.arguments, "".join(part.text for part in result.parts if part.path[-1] != "response"))
            )
    assert not any(open_calls.values())
    return found


def spoken(request):
    """Who said what, results aside; what one turn says is one text."""
    said = []
    for message in request.messages:
        text = "".join(part.text for part in message.parts if hasattr(part, "text"))
        if text:
            if said and said[-1][0] == message.role == "assistant":
                said[-1] = (message.role, said[-1][1] + text)
            else:
                said.append((message.role, text))
    return said


@every_pair
@given(data=st.data())
def test_words_and_pairs_are_kept_and_the_target_takes_them(source: Dialect, target: Dialect, data: st.DataObject):
    request = decode(written(data.draw(conversations()), source), source)

    conversion = convert(request, target)

    assert conversion.losses == ()
    assert conversion.request.dialect == target
    assert pairs(conversion.request) == pairs(request)
    assert spoken(conversion.request) == spoken(request)
    assert check_conversation(conversion.request) == ()


@every_pair
@given(data=st.data())
def test_there_and_back_keeps_words_and_pairs(source: Dialect, target: Dialect, data: st.DataObject):
    request = decode(written(data.draw(conversations()), source), source)

    back = convert(convert(request, target).request, source).request

    assert pairs(back) == pairs(request)
    assert spoken(back) == spoken(request)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(events=conversations())
def test_the_same_dialect_gives_the_same_request(dialect, events):
    request = decode(body_of(written(events, dialect), dialect), dialect)

    conversion = convert(request, dialect)

    assert conversion.request is request
    assert conversion.losses == ()


EXCHANGE = [Say("user", "hi"), Act("", (("a", "look"), ("b", "book")), (1, 0)), Say("assistant", "done")]


def test_parallel_results_in_one_turn_become_messages_of_their_own_and_come_together_again():
    chat = convert(written(EXCHANGE, "anthropic"), "openai")
    assert encode(chat.request) == written(EXCHANGE, "plain")

    back = convert(chat.request, "anthropic")
    assert [message["role"] for message in encode(back.request)] == ["user", "assistant", "user", "assistant"]
    assert [block["tool_use_id"] for block in encode(back.request)[2]["content"]] == ["b", "a"]


def test_responses_items_merge_into_one_turn_and_split_again():
    chat = convert(written(EXCHANGE, "responses"), "openai")
    assert [message["role"] for message in encode(chat.request)] == ["user", "assistant", "tool", "tool", "assistant"]

    assert encode(convert(chat.request, "responses").request) == written(EXCHANGE, "responses")


# Bodies


@every_pair
def test_a_body_stays_a_body_with_its_tools_and_instructions(source, target):
    request = decode(body_of(written(EXCHANGE, source), source), source)

    converted = convert(request, target).request

    assert isinstance(encode(converted), dict)
    assert [tool.name for tool in converted.tools] == [tool.name for tool in request.tools]
    instructions = [*converted.system, *(message for message in converted.messages if message.role == "system")]
    assert [message.content for message in instructions] == [message.content for message in request.system]


def test_a_leading_system_message_moves_to_where_the_target_keeps_it():
    wires = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]

    assert encode(convert(wires, "anthropic").request) == {"system": "Be brief.", "messages": [wires[1]]}
    assert encode(convert(wires, "google").request) == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
    }
    assert convert(wires, "anthropic").losses == ()


def test_a_later_system_message_is_moved_and_told():
    wires = [{"role": "user", "content": "hi"}, {"role": "developer", "content": "Be brief."}]

    conversion = convert(wires, "anthropic")

    assert encode(conversion.request)["system"] == "Be brief."
    assert [(loss.index, loss.part) for loss in conversion.losses] == [(1, "system")]


def test_parameters_are_carried_or_told():
    body = {
        "model": "gpt-4o",
        "messages": [{"role": "user", "content": "hi"}],
        "temperature": 0.5,
        "top_p": 0.9,
        "max_completion_tokens": 7,
        "stop": "END",
        "logit_bias": {"1": 2},
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}},
    }

    google = convert(body, "google")
    assert encode(google.request)["generationConfig"] == {
        "temperature": 0.5,
        "topP": 0.9,
        "maxOutputTokens": 7,
        "stopSequences": ["END"],
        "responseMimeType": "application/json",
        "responseJsonSchema": {"type": "object"},
    }
    assert [(loss.index, loss.part) for loss in google.losses] == [(None, "logit_bias")]

    back = encode(convert(google.request, "anthropic").request)
    assert (back["max_tokens"], back["stop_sequences"], back["temperature"]) == (7, ["END"], 0.5)
    assert back["output_config"] == {"format": {"type": "json_schema", "schema": {"type": "object"}}}

    responses = convert(body, "responses")
    assert {loss.part for loss in responses.losses} == {"logit_bias", "stop"}


def test_a_provider_s_own_tool_is_told():
    body = {"messages": [{"role": "user", "content": "hi"}], "tools": [{"type": "web_search_20250305", "name": "web"}]}

    conversion = convert(decode(body, "anthropic"), "openai")

    assert "tools" not in encode(conversion.request)
    assert [(loss.index, loss.part) for loss in conversion.losses] == [(None, "web")]


# Ids and order


def test_missing_ids_are_made_in_order():
    wires = [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"functionCall": {"name": name, "args": {}}} for name in ("f", "g")]},
        {"role": "user", "parts": [{"functionResponse": {"name": n, "response": {"output": n}}} for n in ("g", "f")]},
    ]

    _, call, first, second = encode(convert(wires, "openai").request)

    assert [made["id"] for made in call["tool_calls"]] == ["call_1", "call_2"]
    assert [(one["tool_call_id"], one["content"]) for one in (first, second)] == [("call_2", "g"), ("call_1", "f")]


def test_a_made_id_does_not_take_one_that_is_there():
    wires = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "content": "x"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "content": "y", "tool_call_id": "call_1"},
    ]

    conversion = convert(wires, "anthropic")

    assert [call.id for message in conversion.request.messages for call in message.tool_calls] == ["call_2", "call_1"]
    assert check_conversation(conversion.request) == ()


def test_an_id_the_target_refuses_is_replaced_and_told():
    wires = written([Say("user", "hi"), Act("", (("functions.look:0", "look"),), (0,))], "openai")

    conversion = convert(wires, "anthropic")

    assert pairs(conversion.request) == pairs(decode(wires))
    assert [(loss.index, loss.part) for loss in conversion.losses] == [(1, "id")]


def test_a_reused_id_becomes_two_where_ids_are_unique():
    act = Act("", (("a", "look"),), (0,))
    conversion = convert(written([Say("user", "hi"), act, act], "openai"), "anthropic")

    assert len({call.id for message in conversion.request.messages for call in message.tool_calls}) == 2
    assert check_conversation(conversion.request) == ()


def test_a_late_result_is_moved_to_its_call_and_told():
    wires = [
        {"role": "user", "content": "hi"},
        {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"},
        {"role": "user", "content": "hurry"},
        {"type": "function_call_output", "call_id": "a", "output": "x"},
    ]

    conversion = convert(wires, "openai")

    assert [message["role"] for message in encode(conversion.request)] == ["user", "assistant", "tool", "user"]
    assert [(loss.index, loss.part) for loss in conversion.losses] == [(3, "tool_result")]


def test_an_orphan_result_is_carried_as_one():
    wires = [{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "a", "content": "x"}]

    converted = convert(wires, "anthropic").request

    assert [violation.rule for violation in check_conversation(converted)] == ["orphan_result"]


def test_legacy_function_calls_become_tool_calls():
    wires = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a":1}'}},
        {"role": "function", "name": "f", "content": "x"},
    ]

    conversion = convert(wires, "anthropic")

    assert pairs(conversion.request) == [("f", '{"a":1}', "x")]
    assert conversion.losses == ()


def test_google_results_bear_the_name_of_their_tool():
    wires = written(EXCHANGE, "openai")

    answer = encode(convert(wires, "google").request)[2]

    assert [part["functionResponse"]["name"] for part in answer["parts"]] == ["book", "look"]


def test_observations_stay_observations():
    wires = [
        {"role": "user", "content": "task"},
        {"role": "assistant", "content": "go", "action": "ls"},
        {"role": "user", "content": "a.py"},
    ]

    assert [m.origin for m in convert(wires, "anthropic").request.messages] == [
        "conversation",
        "conversation",
        "observation",
    ]


# Losses


def lost(wires, target, dialect=None):
    return [(loss.index, loss.part) for loss in convert(decode(wires, dialect), target).losses]


def said(*blocks):
    return [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [*blocks, {"type": "text", "text": "ho"}]},
    ]


@others
@pytest.mark.parametrize(
    ("block", "part"),
    [
        ({"type": "thinking", "thinking": "hm", "signature": "s"}, "thinking"),
        ({"type": "redacted_thinking", "data": "x"}, "thinking"),
        ({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, "tool_call"),
        ({"type": "web_search_tool_result", "tool_use_id": "s", "content": []}, "tool_result"),
        ({"type": "from_the_future", "x": 1}, "from_the_future"),
        ({"type": "text", "text": "a", "citations": [{"x": 1}]}, "citations"),
        ({"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}, "cache_control"),
        ({"type": "compaction", "content": "so far"}, "compaction"),
    ],
)
def test_what_has_no_place_elsewhere_is_told(block, part, target):
    assert lost(said(block), target, "anthropic") == [(1, part)]


@pytest.mark.parametrize(
    ("wire", "target", "part"),
    [
        ({"role": "user", "content": "hi", "name": "ada"}, "anthropic", "name"),
        ({"role": "user", "content": "hi", "x_note": 1}, "responses", "x_note"),
        ({"role": "assistant", "content": None, "refusal": "no"}, "anthropic", "refusal"),
        ({"role": "assistant", "content": "a", "reasoning_content": "hm"}, "google", "thinking"),
        ({"role": "assistant", "content": "a", "audio": {"id": "au"}}, "responses", "audio"),
        ({"role": "assistant", "content": ""}, "anthropic", "message"),
        (
            {"role": "user", "content": [{"type": "file", "file": {"file_id": "f"}}, {"type": "text", "text": "a"}]},
            "anthropic",
            "document",
        ),
        (
            {
                "role": "user",
                "content": [
                    {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
                    {"type": "text", "text": "a"},
                ],
            },
            "anthropic",
            "audio",
        ),
    ],
)
def test_each_loss_of_a_chat_message_is_told(wire, target, part):
    assert lost([{"role": "user", "content": "hi"}, wire], target, "openai") == [(1, part)]


@others
def test_a_thought_signature_is_told(target):
    wires = [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"text": "ho", "thoughtSignature": "c2ln"}]},
    ]

    assert lost(wires, target) == ([] if target == "google" else [(1, "thinking")])


@pytest.mark.parametrize("target", ["openai", "anthropic", "google"])
def test_reasoning_and_compaction_items_are_told(target):
    wires = [
        {"role": "user", "content": "hi"},
        {"type": "reasoning", "id": "rs", "summary": []},
        {"type": "message", "role": "assistant", "content": "ho"},
        {"type": "compaction", "encrypted_content": "x"},
    ]

    assert lost(wires, target) == [(1, "thinking"), (3, "compaction")]


@pytest.mark.parametrize("target", ["openai", "responses"])
def test_an_error_mark_is_told_where_it_cannot_be_said(target):
    wires = written([Say("user", "hi"), Act("", (("a", "look"),), (0,))], "anthropic")
    wires[2]["content"][0]["is_error"] = True

    assert lost(wires, target) == [(2, "is_error")]
    assert lost(wires, "google") == []


def test_an_error_mark_survives_where_it_can_be_said():
    wires = written([Say("user", "hi"), Act("", (("a", "look"),), (0,))], "anthropic")
    wires[2]["content"][0]["is_error"] = True

    there = convert(wires, "google").request
    back = convert(there, "anthropic").request

    assert there.messages[2].tool_results[0].is_error
    assert back.messages[2].tool_results[0].is_error


def test_arguments_that_are_no_object_are_carried_as_text_and_told():
    wires = written([Say("user", "hi"), Act("", (("a", "look"),), (0,))], "openai")
    wires[1]["tool_calls"][0]["function"]["arguments"] = "not json"

    conversion = convert(wires, "anthropic")

    assert encode(conversion.request)[1]["content"][0]["input"] == {"input": "not json"}
    assert [loss.part for loss in conversion.losses] == ["arguments"]


def test_thinking_stays_with_its_key_between_the_chat_dialects():
    wires = [{"role": "assistant", "content": "a", "reasoning_content": "hm"}]

    conversion = convert(decode(wires, "plain"), "openai")

    assert conversion.losses == ()
    assert encode(conversion.request) == wires


def test_losses_come_in_the_order_of_the_messages():
    wires = [{"role": "user", "content": str(n), "name": "ada"} for n in range(3)]

    assert convert(wires, "anthropic").losses == tuple(
        Loss(index=n, part="name", reason="messages have no author's name there") for n in range(3)
    )


# Media


PICTURE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{png()}"}}


@pytest.mark.parametrize("target", ["responses", "anthropic", "google"])
def test_a_picture_goes_there_and_back(target):
    wires = [{"role": "user", "content": [{"type": "text", "text": "see"}, PICTURE]}]

    there = convert(wires, target)
    back = convert(there.request, "openai")

    assert there.losses == back.losses == ()
    assert there.request.messages[0].parts[1].width == 800
    assert back.request.messages[0].wire["content"][1]["image_url"]["url"] == PICTURE["image_url"]["url"]


def test_a_picture_in_a_result_is_carried_where_there_is_a_place():
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png()}}
    wires = written([Say("user", "hi"), Act("", (("a", "look"),), (0,))], "anthropic")
    wires[2]["content"][0]["content"] = [block]

    for target in ("responses", "google"):
        conversion = convert(wires, target)
        assert conversion.losses == ()
        assert any(part.path for part in conversion.request.messages[2].tool_results[0].parts if hasattr(part, "width"))
    assert lost(wires, "openai") == [(2, "image")]


def test_a_document_of_plain_text_is_carried_as_text():
    source = {"type": "text", "media_type": "text/plain", "data": "the terms"}
    wires = [{"role": "user", "content": [{"type": "document", "source": source}]}]

    conversion = convert(wires, "openai")

    assert conversion.losses == ()
    assert encode(conversion.request) == [{"role": "user", "content": "the terms"}]


@pytest.mark.parametrize(
    ("part", "block"),
    [
        (
            {"fileData": {"fileUri": "https://x.test/a.png", "mimeType": "image/png"}},
            {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}},
        ),
        (
            {"inlineData": {"data": "UklGRg==", "mimeType": "audio/wav"}},
            {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
        ),
        (
            {"inlineData": {"data": "JVBERi0=", "mimeType": "application/pdf", "displayName": "a.pdf"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}},
        ),
        ({"inlineData": {"data": "AAAA", "mimeType": "video/mp4"}}, None),
        ({"fileData": {"fileUri": "gs://x/a.pdf", "mimeType": "application/pdf"}}, None),
    ],
)
def test_google_media_become_chat_blocks_or_are_told(part, block):
    conversion = convert([{"role": "user", "parts": [{"text": "see"}, part]}], "openai")
    [wire] = encode(conversion.request)

    if block is None:
        assert wire["content"] == "see"
        assert [loss.index for loss in conversion.losses] == [0]
    else:
        assert wire["content"] == [{"type": "text", "text": "see"}, block]
        assert conversion.losses == ()


@pytest.mark.parametrize("target", ["openai", "responses"])
def test_a_picture_that_the_model_made_has_no_place_in_openai_s_dialects(target):
    wires = [
        {"role": "user", "parts": [{"text": "draw"}]},
        {"role": "model", "parts": [{"text": "here"}, {"inlineData": {"mimeType": "image/png", "data": png()}}]},
    ]

    assert lost(wires, target) == [(1, "image")]


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ({"type": "url", "url": "https://x.test/a.pdf"}, {"responses", "google"}),
        ({"type": "file", "file_id": "f"}, set()),
        ({"type": "text", "media_type": "text/plain", "data": "the terms"}, {"openai", "responses", "google"}),
        ({"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}, {"openai", "responses", "google"}),
    ],
)
@others
def test_documents_are_carried_where_there_is_a_place(source, kept, target):
    wires = [{"role": "user", "content": [{"type": "document", "source": source}, {"type": "text", "text": "a"}]}]

    assert lost(wires, target, "anthropic") == ([] if target in kept else [(0, "document")])


@others
def test_a_text_document_in_a_result_is_carried_as_text(target):
    wires = written([Say("user", "hi"), Act("", (("a", "look"),), (0,))], "anthropic")
    source = {"type": "text", "media_type": "text/plain", "data": "the terms"}
    wires[2]["content"][0]["content"] = [{"type": "document", "source": source}]

    conversion = convert(wires, target)

    assert "the terms" in "".join(message.content for message in conversion.request.messages)


# Calls of other kinds


CUSTOM = [
    {"role": "user", "content": "hi"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "sh", "input": "ls"}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": "a.py"},
]


def test_custom_calls_stay_custom_between_openai_s_dialects():
    conversion = convert(CUSTOM, "responses")

    assert [wire["type"] for wire in encode(conversion.request)[1:]] == ["custom_tool_call", "custom_tool_call_output"]
    assert encode(convert(conversion.request, "openai").request) == CUSTOM
    assert conversion.losses == ()


@pytest.mark.parametrize("target", ["anthropic", "google"])
def test_custom_calls_become_calls_with_one_input_elsewhere(target):
    conversion = convert(CUSTOM, target)

    assert pairs(conversion.request) == [("sh", '{"input":"ls"}', "a.py")]
    assert [(loss.index, loss.part) for loss in conversion.losses] == [(1, "arguments")]


def test_a_shell_call_is_carried_as_a_function_call_and_told():
    wires = [
        {"role": "user", "content": "hi"},
        {"type": "local_shell_call", "id": "a", "call_id": "a", "action": {"command": ["ls"]}},
        {"type": "local_shell_call_output", "id": "a", "output": "a.py"},
    ]

    conversion = convert(wires, "openai")

    assert pairs(conversion.request) == [("local_shell", '{"action":{"command":["ls"]}}', "a.py")]
    assert [(loss.index, loss.part) for loss in conversion.losses] == [(1, "local_shell_call")]


def test_unsigned_thoughts_of_google_are_told():
    wires = [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "ho"}]},
    ]

    for target in ("openai", "responses", "anthropic"):
        assert lost(wires, target) == [(1, "thinking")]


def test_a_message_of_which_nothing_is_left_is_left_out():
    wires = [{"role": "user", "content": "hi"}, {"type": "compaction", "encrypted_content": "x"}]

    assert encode(convert(wires, "openai").request) == [{"role": "user", "content": "hi"}]


def test_structured_results_are_carried_as_json():
    wires = [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"a": "x", "n": [1, {"b": None}]}}}]},
    ]

    assert encode(convert(wires, "openai").request)[2]["content"] == '{"a":"x","n":[1,{"b":null}]}'


def test_an_unread_block_in_a_result_is_carried_as_json_and_told():
    wires = written([Say("user", "hi"), Act("", (("a", "look"),), (0,))], "anthropic")
    wires[2]["content"][0]["content"] = [{"type": "search_result", "source": "s", "title": "t", "content": []}]

    conversion = convert(wires, "openai")

    assert [loss.part for loss in conversion.losses] == ["search_result"]
    assert '"title":"t"' in encode(conversion.request)[2]["content"]


def test_an_orphan_beside_words_is_parted_from_them():
    block = {"type": "tool_result", "tool_use_id": "gone", "content": "x"}
    wires = [{"role": "user", "content": [block, {"type": "text", "text": "well?"}]}]

    assert encode(convert(wires, "openai").request) == [
        {"role": "tool", "tool_call_id": "gone", "content": "x"},
        {"role": "user", "content": "well?"},
    ]


# Tools and formats


def test_old_functions_and_google_schemas_become_tools():
    old = {"model": "m", "messages": [], "functions": [{"name": "f", "parameters": {"type": "object"}}]}
    google = {"contents": [], "tools": [{"function_declarations": [{"name": "f", "parameters": {"type": "OBJECT"}}]}]}

    for body in (old, google):
        assert encode(convert(body, "anthropic").request)["tools"] == [
            {"name": "f", "input_schema": {"type": "object"}}
        ]


def test_a_tool_without_parameters_gets_empty_ones():
    body = {"contents": [], "tools": [{"functionDeclarations": [{"name": "f"}]}, {"googleSearch": {}}]}

    conversion = convert(body, "responses")

    assert encode(conversion.request)["tools"][0]["parameters"] == {"type": "object", "properties": {}}
    assert [(loss.index, loss.part) for loss in conversion.losses] == [(None, "googleSearch")]


@pytest.mark.parametrize("source", ["openai", "responses", "anthropic", "google"])
@pytest.mark.parametrize("target", ["openai", "responses", "anthropic", "google"])
def test_a_reply_schema_is_carried_everywhere(source, target):
    body = {
        "model": "gpt-4o",
        "messages": [{"role": "user", "content": "hi"}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}},
    }

    there = convert(convert(body, source).request, target)

    assert there.losses == ()
    found = there.request.response_format
    assert found.get("json_schema", found).get("schema", found) == {"type": "object"}


def test_a_free_json_reply_and_other_settings_are_told():
    body = {
        "model": "gpt-5",
        "input": "hi",
        "stream": True,
        "text": {"format": {"type": "json_object"}, "verbosity": "low"},
    }

    assert {loss.part for loss in convert(body, "google").losses} == {"response_format", "text.verbosity", "stream"}
    config = {"generationConfig": {"topK": 3, "topP": None, "responseMimeType": "text/plain"}, "contents": []}
    assert {loss.part for loss in convert(config, "openai").losses} == {"topK"}
