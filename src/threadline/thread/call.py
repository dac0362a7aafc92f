"""`Call`: one assembled request, ready to send in any provider's dialect, with its manifest."""

from __future__ import annotations

from typing import Any

from threadline.context import LLMInputManifest, with_breakpoints
from threadline.messages.convert import Conversion, convert
from threadline.messages.dialects import encode
from threadline.messages.losses import Loss
from threadline.messages.message import Dialect, Request

__all__ = ["Call"]

_ANTHROPIC_MAX_TOKENS = 4096
"""Anthropic refuses a body without a limit; this one every model of theirs takes."""


class Call:
    """What one model call is made of. Immutable; everything about it is stored under `manifest_ref`.

    Attributes:
        agent_id: whose thread.
        branch: the branch it was assembled on.
        llm_call_id: names this call; `record_reply` takes it back.
        execution_id: the run that it belongs to.
        call_sequence: which call of the run, from 1.
        manifest: every block, its source, its cost and its reason; every candidate left out with the reason.
        manifest_ref: the content id of the manifest.
        request: the request in the thread's own dialect.
        tokens: what it costs by the one measure, never above the budget.
        estimated_tokens: the same without any learnt factor.
        is_exact: True where the model's own vocabulary was counted.
        reusable_tokens: what of it the provider's cache should hold from the call before.
    """

    def __init__(
        self,
        *,
        agent_id: str,
        branch: int,
        llm_call_id: str,
        execution_id: str,
        call_sequence: int,
        manifest: LLMInputManifest,
        manifest_ref: str,
        request: Request,
        tokens: int,
        estimated_tokens: int,
        is_exact: bool,
        reusable_tokens: int,
    ) -> None:
        self.agent_id = agent_id
        self.branch = branch
        self.llm_call_id = llm_call_id
        self.execution_id = execution_id
        self.call_sequence = call_sequence
        self.manifest = manifest
        self.manifest_ref = manifest_ref
        self.request = request
        self.tokens = tokens
        self.estimated_tokens = estimated_tokens
        self.is_exact = is_exact
        self.reusable_tokens = reusable_tokens

    def __repr__(self) -> str:
        return f"Call({self.agent_id!r}, {len(self.request.messages)} messages, {self.tokens} tokens)"

    @property
    def model(self) -> str | None:
        """The model it was assembled for."""
        return self.request.model

    @property
    def messages(self) -> list[Any]:
        """The messages' wire objects in the thread's own dialect."""
        return [message.wire for message in self.request.messages]

    def openai(self) -> dict[str, Any]:
        """The body for OpenAI Chat Completions, and whatever speaks like it."""
        return self.body("openai")

    def responses(self) -> dict[str, Any]:
        """The body for OpenAI Responses."""
        return self.body("responses")

    def anthropic(self) -> dict[str, Any]:
        """The body for Anthropic Messages."""
        return self.body("anthropic")

    def google(self) -> dict[str, Any]:
        """The body for Google `generateContent`."""
        return self.body("google")

    def body(self, dialect: Dialect | None = None) -> dict[str, Any]:
        """The whole body in a dialect; None is the thread's own."""
        body: dict[str, Any] = dict(encode(self._in(dialect or self.request.dialect).request))
        if (dialect or self.request.dialect) == "anthropic":
            body.setdefault("max_tokens", _ANTHROPIC_MAX_TOKENS)
            if self.request.dialect == "anthropic":
                return with_breakpoints(body, self.manifest)
        return body

    def losses(self, dialect: Dialect) -> tuple[Loss, ...]:
        """What a dialect has no place for."""
        return self._in(dialect).losses

    def _in(self, dialect: Dialect) -> Conversion:
        return convert(self.request, dialect)
