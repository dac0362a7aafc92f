"""What Threadline asks of the world outside: Protocols that adapters implement, and the values they exchange."""

from threadline.ports.llm import ChatResponse, ImagePart, LLMClient, LLMMessage, TextContent, TokenUsage

__all__ = [
    "ChatResponse",
    "ImagePart",
    "LLMClient",
    "LLMMessage",
    "TextContent",
    "TokenUsage",
]
