"""Turns written out in a dialect; what a dialect cannot say is added to the losses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, assert_never

from threadline.messages.losses import Loss
from threadline.messages.media import MediaSource
from threadline.messages.message import Dialect
from threadline.messages.shapes import is_object
from threadline.messages.turns import Call, Media, Refusal, Result, Text, Thought, Turn

__all__ = ["write_turn"]


def write_turn(turn: Turn, dialect: Dialect, losses: list[Loss]) -> Iterator[dict[str, Any]]:
    """The wire objects of a turn: one or several in OpenAI's dialects, at most one in the others."""
    match dialect:
        case "plain" | "openai":
            return _Chat(turn, losses).write()
        case "responses":
            return _Responses(turn, losses).write()
        case "anthropic":
            return _Anthropic(turn, losses).write()
        case "google":
            return _Google(turn, losses).write()
        case _:
            assert_never(dialect)


class _Writer:
    def __init__(self, turn: Turn, losses: list[Loss]) -> None:
        self._turn = turn
        self._losses = losses

    def lose(self, part: str, reason: str) -> None:
        self._losses.append(Loss(index=self._turn.index, part=part, reason=reason))

    def _refusal(self, piece: Refusal) -> Text:
        self.lose("refusal", "carried as plain text")
        return Text(piece.text)

    def _unthought(self) -> None:
        self.lose("thinking", "left out: it is its own provider's")

    def _no_place(self, source: MediaSource) -> None:
        why = "it lies in another provider's file store" if source.file_id else "there is no place for it"
        self.lose(source.kind, f"left out: {why}")

    def _object(self, call: Call) -> dict[str, Any]:
        """A call's arguments as the JSON object that the dialect demands."""
        value: Any = None
        with suppress(ValueError, RecursionError):
            value = json.loads(call.arguments) if call.arguments else {}
        if is_object(value):
            return value
        self.lose("arguments", "carried as text under 'input': they are no JSON object")
        return {"input": call.arguments}


class _Chat(_Writer):
    """OpenAI Chat Completions and plain messages."""

    def write(self) -> Iterator[dict[str, Any]]:
        turn = self._turn
        results = [piece for piece in turn.pieces if isinstance(piece, Result)]
        for result in results:
            yield self._result(result)
        if results and len(results) == len(turn.pieces):
            return
        role = "user" if turn.role == "tool" else turn.role
        wire: dict[str, Any] = {"role": role}
        blocks = [block for piece in turn.pieces if (block := self._block(piece)) is not None]
        wire["content"] = _plain(blocks, "text") if blocks else None
        if role != "assistant" and not blocks:
            wire["content"] = ""
        if turn.name:
            wire["name"] = turn.name
        refusals = [piece.text for piece in turn.pieces if isinstance(piece, Refusal)]
        if refusals:
            wire["refusal"] = "\n".join(refusals)
        for piece in turn.pieces:
            if isinstance(piece, Thought):
                self._think(piece, wire)
        if calls := [_chat_call(piece) for piece in turn.pieces if isinstance(piece, Call)]:
            wire["tool_calls"] = calls
        elif wire["content"] is None and not refusals:
            wire["content"] = ""
        yield wire

    def _result(self, result: Result) -> dict[str, Any]:
        if result.is_error:
            self.lose("is_error", "the dialect does not mark a result as an error")
        blocks: list[dict[str, Any]] = []
        for piece in result.contents:
            if isinstance(piece, Text):
                blocks.append({"type": "text", "text": piece.text})
            elif piece.source.text is not None:
                blocks.append({"type": "text", "text": piece.source.text})
            else:
                self._no_place(piece.source)
        return {"role": "tool", "tool_call_id": result.id, "content": _plain(blocks, "text") if blocks else ""}

    def _think(self, thought: Thought, wire: dict[str, Any]) -> None:
        if thought.key is None:
            self._unthought()
        else:
            wire[thought.key] = thought.text

    def _block(self, piece: object) -> dict[str, Any] | None:
        match piece:
            case Text():
                return {"type": "text", "text": piece.text}
            case Media():
                return self._media(piece.source)
            case _:
                return None

    def _media(self, source: MediaSource) -> dict[str, Any] | None:
        if source.text is not None:
            return {"type": "text", "text": source.text}
        if self._turn.role != "assistant":
            if source.kind == "image" and (url := _url(source)):
                image = {"url": url, "detail": source.detail} if source.detail else {"url": url}
                return {"type": "image_url", "image_url": image}
            if source.kind == "audio" and source.data and (sound := _AUDIO.get(source.mime or "")):
                return {"type": "input_audio", "input_audio": {"data": source.data, "format": sound}}
            if source.kind == "document" and source.data:
                file = {"filename": source.name or "document.pdf", "file_data": _url(source)}
                return {"type": "file", "file": file}
        self._no_place(source)
        return None


def _chat_call(call: Call) -> dict[str, Any]:
    if call.custom:
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    function = {"name": call.name, "arguments": call.arguments or "{}"}
    return {"id": call.id, "type": "function", "function": function}


class _Responses(_Writer):
    """OpenAI Responses: every call and every result is an item of its own."""

    def write(self) -> Iterator[dict[str, Any]]:
        role = "user" if self._turn.role == "tool" else self._turn.role
        said: list[dict[str, Any]] = []
        for piece in self._turn.pieces:
            match piece:
                case Result():
                    yield self._result(piece)
                case Call():
                    yield from self._messages(role, said)
                    said = []
                    yield _item(piece)
                case Text() | Refusal():
                    text = piece if isinstance(piece, Text) else self._refusal(piece)
                    said.append({"type": "input_text", "text": text.text})
                case Media():
                    if (block := self._media(piece.source, assistant=role == "assistant")) is not None:
                        said.append(block)
                case Thought():
                    self._unthought()
                case _:
                    assert_never(piece)
        if said or not self._turn.pieces:
            yield from self._messages(role, said or [{"type": "input_text", "text": ""}])

    def _messages(self, role: str, said: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """An assistant's message that the server did not make takes a string only, so each text is one of its own."""
        if role == "assistant":
            for block in said:
                yield {"type": "message", "role": role, "content": block["text"]}
        elif said:
            yield {"type": "message", "role": role, "content": _plain(said, "input_text")}

    def _result(self, result: Result) -> dict[str, Any]:
        if result.is_error:
            self.lose("is_error", "the dialect does not mark a result as an error")
        blocks: list[dict[str, Any]] = []
        for piece in result.contents:
            if isinstance(piece, Text):
                blocks.append({"type": "input_text", "text": piece.text})
            elif (block := self._media(piece.source, assistant=False)) is not None:
                blocks.append(block)
        kind = "custom_tool_call_output" if result.custom else "function_call_output"
        return {"type": kind, "call_id": result.id, "output": _plain(blocks, "input_text") if blocks else ""}

    def _media(self, source: MediaSource, *, assistant: bool) -> dict[str, Any] | None:
        if source.text is not None:
            return {"type": "input_text", "text": source.text}
        if not assistant:
            if source.kind == "image" and (url := _url(source)):
                return {"type": "input_image", "image_url": url, "detail": source.detail or "auto"}
            if source.kind == "document" and source.data:
                return {
                    "type": "input_file",
                    "filename": source.name or "document.pdf",
                    "file_data": _url(source),
                }
            if source.kind == "document" and source.url:
                return {"type": "input_file", "file_url": source.url}
        self._no_place(source)
        return None


def _item(call: Call) -> dict[str, Any]:
    if call.custom:
        return {"type": "custom_tool_call", "call_id": call.id, "name": call.name, "input": call.arguments}
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments or "{}"}


class _Anthropic(_Writer):
    """Anthropic Messages."""

    def write(self) -> Iterator[dict[str, Any]]:
        role = "assistant" if self._turn.role == "assistant" else "user"
        blocks: list[dict[str, Any]] = []
        for piece in self._turn.pieces:
            match piece:
                case Text() | Refusal():
                    text = piece if isinstance(piece, Text) else self._refusal(piece)
                    if text.text:  # the dialect refuses an empty block, and it says nothing
                        blocks.append({"type": "text", "text": text.text})
                case Media():
                    if (block := self._media(piece.source)) is not None:
                        blocks.append(block)
                case Call():
                    arguments = self._object(piece)
                    blocks.append({"type": "tool_use", "id": piece.id, "name": piece.name, "input": arguments})
                case Result():
                    blocks.append(self._result(piece))
                case Thought():
                    self._unthought()
                case _:
                    assert_never(piece)
        blank = all(block["type"] == "text" and not block["text"].strip() for block in blocks)
        if blank:
            self.lose("message", "left out: the dialect refuses a message without content")
        else:
            yield {"role": role, "content": _plain(blocks, "text")}

    def _result(self, result: Result) -> dict[str, Any]:
        blocks: list[dict[str, Any]] = []
        for piece in result.contents:
            if isinstance(piece, Text):
                if piece.text:
                    blocks.append({"type": "text", "text": piece.text})
            elif (block := self._media(piece.source)) is not None:
                blocks.append(block)
        wire = {"type": "tool_result", "tool_use_id": result.id, "content": _plain(blocks, "text") if blocks else ""}
        return {**wire, "is_error": True} if result.is_error else wire

    def _media(self, source: MediaSource) -> dict[str, Any] | None:
        if source.kind not in ("image", "document"):
            self._no_place(source)
            return None
        if source.text is not None:
            held: dict[str, Any] = {"type": "text", "media_type": "text/plain", "data": source.text}
        elif source.data is not None:
            mime = source.mime or ("application/pdf" if source.kind == "document" else "image/png")
            held = {"type": "base64", "media_type": mime, "data": source.data}
        elif source.url:
            held = {"type": "url", "url": source.url}
        else:
            self._no_place(source)
            return None
        block = {"type": source.kind, "source": held}
        return {**block, "title": source.name} if source.name and source.kind == "document" else block


class _Google(_Writer):
    """Google `generateContent`."""

    def write(self) -> Iterator[dict[str, Any]]:
        parts: list[dict[str, Any]] = []
        for piece in self._turn.pieces:
            match piece:
                case Text() | Refusal():
                    text = piece if isinstance(piece, Text) else self._refusal(piece)
                    if text.text:  # the dialect refuses an empty part, and it says nothing
                        parts.append({"text": text.text})
                case Media():
                    if (part := self._media(piece.source)) is not None:
                        parts.append(part)
                case Call():
                    call: dict[str, Any] = {"name": piece.name, "args": self._object(piece)}
                    parts.append({"functionCall": {**call, "id": piece.id} if piece.id else call})
                case Result():
                    parts.append({"functionResponse": self._result(piece)})
                case Thought():
                    self._unthought()
                case _:
                    assert_never(piece)
        if parts:
            yield {"role": "model" if self._turn.role == "assistant" else "user", "parts": parts}
        else:
            self.lose("message", "left out: the dialect refuses a content without parts")

    def _result(self, result: Result) -> dict[str, Any]:
        texts = [piece.text for piece in result.contents if isinstance(piece, Text)]
        texts += [piece.source.text for piece in result.contents if isinstance(piece, Media) and piece.source.text]
        media = [
            part
            for piece in result.contents
            if isinstance(piece, Media) and piece.source.text is None
            if (part := self._media(piece.source)) is not None
        ]
        response = {"error" if result.is_error else "output": "\n".join(texts)}
        wire: dict[str, Any] = {"name": result.name, "response": response}
        if result.id:
            wire["id"] = result.id
        if media:
            wire["parts"] = media
        return wire

    def _media(self, source: MediaSource) -> dict[str, Any] | None:
        if source.text is not None:
            return {"text": source.text}
        named = {"displayName": source.name} if source.name else {}
        if source.data is not None:
            mime = source.mime or ("application/pdf" if source.kind == "document" else "image/png")
            return {"inlineData": {"mimeType": mime, "data": source.data, **named}}
        if source.url:
            mimed = {"mimeType": source.mime} if source.mime else {}
            return {"fileData": {**mimed, "fileUri": source.url, **named}}
        self._no_place(source)
        return None


_AUDIO = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3"}


def _url(source: MediaSource) -> str | None:
    if source.data is None:
        return source.url
    default = "application/pdf" if source.kind == "document" else f"{source.kind}/png"
    return f"data:{source.mime or default};base64,{source.data}"


def _plain(blocks: list[dict[str, Any]], text_type: str) -> Any:
    """A single text as a bare string, anything else as the blocks."""
    if len(blocks) == 1 and blocks[0]["type"] == text_type:
        return blocks[0]["text"]
    return blocks
