"""Where episodes end, as a model sees it: all at once, or message by message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from threadline.boundary.cells import BoundaryDecision
from threadline.boundary.layout import Layout
from threadline.boundary.prompts import BATCH_SYSTEM_PROMPT, STEP_SYSTEM_PROMPT
from threadline.boundary.records import batch_prompt, step_prompt, with_instructions
from threadline.messages import Message
from threadline.ports import LLMMessage

if TYPE_CHECKING:
    from threadline.ports import LLMClient

__all__ = ["adetect_boundary_step", "model_cuts"]


async def model_cuts(
    layout: Layout, forced: Sequence[int], *, llm: LLMClient, custom_instructions: str | None
) -> list[int]:
    """The forced cuts, and those a model sees behind the last of them: one call.

    Boundaries that the window does not have are dropped. A cut that would part a tool call from its results moves to
    the nearest place that does not.

    Args:
        layout: the conversation.
        forced: cuts that its size asks for.
        llm: the model.
        custom_instructions: what the host adds to the system text.

    Raises:
        LLMOutputError: the reply is not what was asked for.
        InvalidInputError: a message that says something has the timestamp 0.
    """
    from threadline.boundary.replies import BatchReply
    from threadline.ports.replies import parse_reply

    cuts = _allowed(layout, forced)
    start = cuts[-1] if cuts else 0
    window = layout.chat[start:]
    text = await llm.achat(
        [
            LLMMessage("system", with_instructions(BATCH_SYSTEM_PROMPT, custom_instructions)),
            LLMMessage("user", batch_prompt(window)),
        ],
        response_format=BatchReply,
    )
    reply = parse_reply(BatchReply, text, operator="boundary")
    found = sorted({start + label for label in reply.boundaries if 1 <= label < len(window)})
    return cuts + _allowed(layout, found, after=start)


def _allowed(layout: Layout, cuts: Sequence[int], *, after: int = 0) -> list[int]:
    """The places nearest to these cuts that part no call from its results; several cuts inside one group become one."""
    places = (layout.nearest(cut, after=after) for cut in cuts)
    return sorted({place for place in places if place is not None})


async def adetect_boundary_step(
    conversation_history: Sequence[Message],
    new_messages: Sequence[Message],
    *,
    llm: LLMClient,
    custom_instructions: str | None = None,
    time_gap_info: str = "",
) -> BoundaryDecision:
    """Whether the new messages open another episode: one call, none without a history.

    Args:
        conversation_history: the chat messages of the current episode.
        new_messages: the chat messages that came in.
        llm: the model.
        custom_instructions: what the host adds to the system text.
        time_gap_info: the time that passed; worked out from the last message of the history where it is not given.

    Raises:
        LLMOutputError: the reply is not what was asked for.
        InvalidInputError: a message that says something has the timestamp 0.
    """
    from threadline.boundary.replies import StepReply
    from threadline.ports.replies import parse_reply

    if not conversation_history:
        return BoundaryDecision(should_end=False, reasoning="nothing came before", confidence=1.0, topic_summary="")
    text = await llm.achat(
        [
            LLMMessage("system", with_instructions(STEP_SYSTEM_PROMPT, custom_instructions)),
            LLMMessage("user", step_prompt(conversation_history, new_messages, time_gap_info)),
        ],
        response_format=StepReply,
    )
    reply = parse_reply(StepReply, text, operator="boundary_step")
    return BoundaryDecision(
        should_end=reply.should_end,
        reasoning=reply.reasoning,
        confidence=reply.confidence,
        topic_summary=reply.topic_summary,
    )
