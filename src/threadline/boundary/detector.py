"""`BoundaryDetector`: episodes out of a conversation, by a model, by the words alone, or by both."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from threadline.boundary.cells import DetectionResult, MemCell
from threadline.boundary.evidence import Weights
from threadline.boundary.gaps import time_gap
from threadline.boundary.hybrid import Consultation
from threadline.boundary.layout import Layout
from threadline.boundary.lexical import lexical_cuts
from threadline.boundary.limits import Limits, message_tokens
from threadline.boundary.model import adetect_boundary_step, model_cuts
from threadline.boundary.twins import run_sync
from threadline.boundary.vectors import VectorCache
from threadline.errors import ConfigurationError, InvalidInputError
from threadline.messages import Message

if TYPE_CHECKING:
    from threadline.ports import Embedder, LLMClient

__all__ = ["BoundaryDetector", "Method", "adetect_boundaries", "detect_boundaries"]

Method: TypeAlias = Literal["model", "lexical", "hybrid"]


class BoundaryDetector:
    """Divides conversations into episodes.

    Args:
        llm: the model to ask; without one, words, times and turns decide (`lexical`).
        embedder: gives the lexical evidence a sense of meaning.
        method: `model` asks the model about everything (the default with a model), `lexical` never, `hybrid` only
            about places that the lexical evidence leaves in doubt.
        weights: what the lexical cues are worth.
        max_calls: the most calls of `hybrid` in one detection; what is in doubt beyond them the evidence decides.

    Raises:
        ConfigurationError: a method with a model was chosen without one.
        InvalidInputError: there is no such method, or `max_calls` is negative.
    """

    def __init__(
        self,
        *,
        llm: LLMClient | None = None,
        embedder: Embedder | None = None,
        method: Method | None = None,
        weights: Weights | None = None,
        max_calls: int = 8,
    ) -> None:
        method = method or ("lexical" if llm is None else "model")
        if method not in ("model", "lexical", "hybrid"):
            raise InvalidInputError("method must be model, lexical or hybrid", key="method")
        if llm is None and method != "lexical":
            raise ConfigurationError(f"method {method} needs a model", key="llm")
        if max_calls < 0:
            raise InvalidInputError("max_calls must not be negative", key="max_calls")
        self._llm = llm
        self._method: Method = method
        self._weights = weights or Weights()
        self._vectors = None if embedder is None else VectorCache(embedder)
        self._consultation = Consultation(llm, max_calls=max_calls if method == "hybrid" else 0)

    async def adetect(
        self,
        items: Sequence[Message],
        *,
        is_final: bool = False,
        custom_instructions: str | None = None,
        hard_token_limit: int = 65_536,
        hard_msg_limit: int = 500,
    ) -> DetectionResult:
        """The episodes that are over, and the tail that may go on: hand it in again with what follows.

        Every item is in exactly one cell or in the tail, in order. No cut parts a tool call from its results. Without a
        chat message there is no call and no cell, with `is_final` either.

        Args:
            items: messages and tool traffic, in order.
            is_final: nothing follows, so that the tail is an episode too.
            custom_instructions: what the host adds to the model's instructions; the lexical method has no use for it.
            hard_token_limit: a longer episode is cut in any case.
            hard_msg_limit: the same for the number of chat messages.

        Raises:
            InvalidInputError: a limit is too small to cut by, or a message shown to a model has the timestamp 0.
            LLMOutputError: the model's reply is not what was asked for.
        """
        limits = Limits(tokens=hard_token_limit, messages=hard_msg_limit)
        layout = Layout(items, final=is_final)
        if not layout.chat:
            return DetectionResult([], layout.items)
        tokens = message_tokens(layout.chat)
        if self._llm is not None and self._method == "model":
            forced = limits.forced_cuts(tokens)
            cuts = await model_cuts(layout, forced, llm=self._llm, custom_instructions=custom_instructions)
        else:
            cuts = await self._lexical_cuts(layout, tokens, limits, custom_instructions, final=is_final)
        return layout.divided(cuts, final=is_final)

    async def _lexical_cuts(
        self, layout: Layout, tokens: Sequence[int], limits: Limits, custom_instructions: str | None, *, final: bool
    ) -> list[int]:
        vectors = scale = None
        if self._vectors is not None:
            vectors = await self._vectors.vectors([message.content for message in layout.chat])
            scale = await self._vectors.scale()
        return await lexical_cuts(
            layout,
            tokens,
            final=final,
            limits=limits,
            weights=self._weights,
            judge=self._consultation.judge(layout.chat, custom_instructions),
            vectors=vectors,
            scale=scale,
        )

    def detect(
        self,
        items: Sequence[Message],
        *,
        is_final: bool = False,
        custom_instructions: str | None = None,
        hard_token_limit: int = 65_536,
        hard_msg_limit: int = 500,
    ) -> DetectionResult:
        """`adetect` for callers without an event loop.

        Raises:
            RuntimeError: an event loop is running in this thread.
        """
        return run_sync(
            partial(
                self.adetect,
                items,
                is_final=is_final,
                custom_instructions=custom_instructions,
                hard_token_limit=hard_token_limit,
                hard_msg_limit=hard_msg_limit,
            ),
            instead="adetect",
        )

    async def adetect_step(
        self,
        history: Sequence[Message],
        new: Message,
        *,
        smart_mask: bool = True,
        smart_mask_threshold: int = 5,
        hard_token_limit: int = 65_536,
        hard_message_limit: int = 500,
        custom_instructions: str | None = None,
        bridge_overlap: bool = True,
    ) -> DetectionResult:
        """Whether one new message ends the current episode.

        Args:
            history: the chat messages of the current episode.
            new: the chat message that came in.
            smart_mask: hide the last message of a long history from the model, since it often belongs to both sides.
            smart_mask_threshold: how long a history is still shown whole.
            hard_token_limit: where history and new message together reach it, the episode ends without a call.
            hard_message_limit: the same for their number.
            custom_instructions: what the host adds to the model's instructions.
            bridge_overlap: whether a hidden message is in the ended episode and in the tail; else in the episode only.

        Raises:
            InvalidInputError: a limit is too small to cut by, or a message shown to a model has the timestamp 0.
            LLMOutputError: the model's reply is not what was asked for.
        """
        limits = Limits(tokens=hard_token_limit, messages=hard_message_limit)
        history = [*history]
        bridge = smart_mask and len(history) > smart_mask_threshold
        if len(history) > 1 and limits.reached(sum(message_tokens([*history, new])), len(history) + 1):
            ended = True
        elif self._llm is None or self._method == "lexical":
            cells, _ = await self.adetect([*history, new], is_final=True, hard_msg_limit=max(2, len(history) + 2))
            ended = bool(cells) and cells[-1].items == (new,)
        else:
            decision = await adetect_boundary_step(
                history[:-1] if bridge else history,
                [new],
                llm=self._llm,
                custom_instructions=custom_instructions,
                time_gap_info=time_gap(history[-1] if history else None, new),
            )
            ended = decision.should_end
        if not ended:
            return DetectionResult([], [*history, new])
        tail = [history[-1], new] if bridge and bridge_overlap else [new]
        return DetectionResult([MemCell.of(history)], tail)

    def detect_step(
        self,
        history: Sequence[Message],
        new: Message,
        *,
        smart_mask: bool = True,
        smart_mask_threshold: int = 5,
        hard_token_limit: int = 65_536,
        hard_message_limit: int = 500,
        custom_instructions: str | None = None,
        bridge_overlap: bool = True,
    ) -> DetectionResult:
        """`adetect_step` for callers without an event loop.

        Raises:
            RuntimeError: an event loop is running in this thread.
        """
        return run_sync(
            partial(
                self.adetect_step,
                history,
                new,
                smart_mask=smart_mask,
                smart_mask_threshold=smart_mask_threshold,
                hard_token_limit=hard_token_limit,
                hard_message_limit=hard_message_limit,
                custom_instructions=custom_instructions,
                bridge_overlap=bridge_overlap,
            ),
            instead="adetect_step",
        )


async def adetect_boundaries(
    items: Sequence[Message],
    *,
    llm: LLMClient | None = None,
    is_final: bool = False,
    custom_instructions: str | None = None,
    hard_token_limit: int = 65_536,
    hard_msg_limit: int = 500,
) -> DetectionResult:
    """`BoundaryDetector(llm=llm).adetect(items, ...)`."""
    return await BoundaryDetector(llm=llm).adetect(
        items,
        is_final=is_final,
        custom_instructions=custom_instructions,
        hard_token_limit=hard_token_limit,
        hard_msg_limit=hard_msg_limit,
    )


def detect_boundaries(
    items: Sequence[Message],
    *,
    llm: LLMClient | None = None,
    is_final: bool = False,
    custom_instructions: str | None = None,
    hard_token_limit: int = 65_536,
    hard_msg_limit: int = 500,
) -> DetectionResult:
    """`adetect_boundaries` for callers without an event loop.

    Raises:
        RuntimeError: an event loop is running in this thread.
    """
    return BoundaryDetector(llm=llm).detect(
        items,
        is_final=is_final,
        custom_instructions=custom_instructions,
        hard_token_limit=hard_token_limit,
        hard_msg_limit=hard_msg_limit,
    )
