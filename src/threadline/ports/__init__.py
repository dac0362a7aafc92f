"""What Threadline asks of the world outside: Protocols that adapters implement, and the values they exchange."""

from threadline.ports.chat import (
    ChatEvent,
    ChatModel,
    ChatReply,
    ReplyDone,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from threadline.ports.embedder import Embedder
from threadline.ports.keys import Key, KeyProvider
from threadline.ports.llm import ChatResponse, ImagePart, LLMClient, LLMMessage, TextContent, TokenUsage
from threadline.ports.metering import Meter, ModelCall, current_meter, metering
from threadline.ports.observer import Observer, Span
from threadline.ports.scope import Scope
from threadline.ports.store import Document, Naming, Row, Store, StoreStatistics, Transaction

__all__ = [
    "ChatEvent",
    "ChatModel",
    "ChatReply",
    "ChatResponse",
    "Document",
    "Embedder",
    "ImagePart",
    "Key",
    "KeyProvider",
    "LLMClient",
    "LLMMessage",
    "Meter",
    "ModelCall",
    "Naming",
    "Observer",
    "ReplyDone",
    "Row",
    "Scope",
    "Span",
    "StopReason",
    "Store",
    "StoreStatistics",
    "TextContent",
    "TextDelta",
    "ThinkingDelta",
    "TokenUsage",
    "ToolCallDelta",
    "Transaction",
    "current_meter",
    "metering",
]
