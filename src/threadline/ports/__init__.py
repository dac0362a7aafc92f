"""What Threadline asks of the world outside: Protocols that adapters implement, and the values they exchange."""

from threadline.ports.embedder import Embedder
from threadline.ports.llm import ChatResponse, ImagePart, LLMClient, LLMMessage, TextContent, TokenUsage
from threadline.ports.scope import Scope
from threadline.ports.store import Document, Naming, Row, Store, StoreStatistics, Transaction

__all__ = [
    "ChatResponse",
    "Document",
    "Embedder",
    "ImagePart",
    "LLMClient",
    "LLMMessage",
    "Naming",
    "Row",
    "Scope",
    "Store",
    "StoreStatistics",
    "TextContent",
    "TokenUsage",
    "Transaction",
]
