"""Models: each adapter is an `LLMClient` and a `ChatModel`, and loads its vendor's SDK when one is made."""

from threadline.models.adapter import Adapter, OptionArguments, Options
from threadline.models.anthropic import AnthropicClient
from threadline.models.google import GoogleClient
from threadline.models.local import LocalClient
from threadline.models.openai import OpenAIClient
from threadline.models.resending import Resending
from threadline.models.usage import Usage, UsageLedger

__all__ = [
    "Adapter",
    "AnthropicClient",
    "GoogleClient",
    "LocalClient",
    "OpenAIClient",
    "OptionArguments",
    "Options",
    "Resending",
    "Usage",
    "UsageLedger",
]
