"""`materialise`: a manifest and its contents made the request again; nothing is chosen, counted or added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from threadline.context.contents import content_of, read_content
from threadline.context.items import ToolItem, tool_name
from threadline.context.layout import Block, block_of_segment
from threadline.context.manifest import ASSEMBLY_VERSION, LLMInputManifest
from threadline.context.rendering import render, request_of, tools_of
from threadline.errors import ConfigurationError, InvalidInputError
from threadline.journal.canonical import canonical_json
from threadline.messages.message import Request, Tool
from threadline.ports.store import Naming

__all__ = ["materialise"]


def materialise(
    manifest: LLMInputManifest,
    contents: Mapping[str, bytes],
    *,
    naming: Naming | None = None,
    adapter_name: str | None = None,
    tools: Sequence[ToolItem] | None = None,
) -> Request:
    """The request that a manifest describes.

    Args:
        manifest: what to make again.
        contents: everything it names (`referenced_content_refs`).
        naming: how contents are named; with it each is checked against its name.
        adapter_name: of what will send it; None does not ask.
        tools: the tools as they are configured now; None takes the stored definitions as they are.

    Raises:
        IntegrityError: a content is not what its name says; `fields["ref"]` names it.
        NotFoundError: a content is missing; `fields["ref"]` names it.
        SerializationError: a content is of another format.
        ConfigurationError: the manifest was made by other rules or for another adapter, or a tool is gone or has
            changed; `fields["key"]` says which.
        InvalidInputError: two stored tools have one name, or a content is no message of the dialect.
    """
    if manifest.assembly_policy_version != ASSEMBLY_VERSION:
        raise ConfigurationError(
            f"the manifest was made by rules {manifest.assembly_policy_version}; these are {ASSEMBLY_VERSION}",
            key="assembly_policy_version",
        )
    if None not in (adapter_name, manifest.adapter_name) and adapter_name != manifest.adapter_name:
        raise ConfigurationError("the manifest was made for another adapter", key="adapter_name")
    rendered = render(_blocks(manifest, contents, naming), manifest.dialect)
    return request_of(
        rendered,
        dialect=manifest.dialect,
        tools=_tools(manifest, contents, naming, tools),
        model_config=_value(manifest.model_config_ref, contents, naming),
        response_format=_value(manifest.response_schema_ref, contents, naming),
    )


def _blocks(manifest: LLMInputManifest, contents: Mapping[str, bytes], naming: Naming | None) -> list[Block]:
    return [
        block_of_segment(
            segment, content_of(read_content(contents, segment.content_ref, naming), segment.content_format)
        )
        for segment in manifest.segments
    ]


def _value(ref: str | None, contents: Mapping[str, bytes], naming: Naming | None) -> Any:
    return None if ref is None else content_of(read_content(contents, ref, naming), "json")


def _tools(
    manifest: LLMInputManifest,
    contents: Mapping[str, bytes],
    naming: Naming | None,
    current: Sequence[ToolItem] | None,
) -> tuple[Tool, ...]:
    """The stored definitions in their order, each equal to the one configured now."""
    if manifest.tool_definitions_ref is None:
        return ()
    wires: list[Any] = _value(manifest.tool_definitions_ref, contents, naming)
    stored = tuple(Tool(name=tool_name(wire), wire=wire) for wire in wires)
    names = [tool.name for tool in stored]
    if len(set(names)) != len(names):
        raise InvalidInputError("two stored tools have one name", key="tools")
    if current is None:
        return stored
    now = {tool.name: tool for tool in tools_of([item.definition for item in current], manifest.dialect)}
    for tool in stored:
        if tool.name not in now:
            raise ConfigurationError(f"tool {tool.name!r} is no longer configured", key="tools", tool=tool.name)
        if canonical_json(now[tool.name].wire) != canonical_json(tool.wire):
            raise ConfigurationError(f"tool {tool.name!r} is defined otherwise now", key="tools", tool=tool.name)
    return stored
