"""OpenAI, and every server that speaks its API at another URL."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, Literal, Unpack

from threadline.errors import ConfigurationError
from threadline.models.adapter import Adapter, OptionArguments, Options
from threadline.models.chat_completions import ChatCompletions
from threadline.models.failures import extra
from threadline.models.responses import Responses
from threadline.models.speech import Answer
from threadline.models.stainless import Connection

__all__ = ["OpenAIClient"]


class OpenAIClient(Adapter):
    """A model behind Chat Completions or Responses.

    Args:
        model: the model's name.
        api_key: the key; None takes `OPENAI_API_KEY`. A server of one's own that wants none takes any text.
        base_url: another server than OpenAI's, up to and with `/v1`.
        api: which of the two APIs to speak; other servers know `chat`.
        options: any of `Options`.

    Raises:
        ConfigurationError: the extra `openai` is not installed, there is no key, or an option is wrong.
    """

    vendor = "openai"

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        api: Literal["chat", "responses"] = "chat",
        **options: Unpack[OptionArguments],
    ) -> None:
        with extra("openai"):
            import openai
        settings = Options(**options)
        self._chat = api == "chat"
        limit = "max_completion_tokens" if base_url is None else "max_tokens"
        speech = ChatCompletions(self.vendor, limit) if self._chat else Responses(self.vendor)
        super().__init__(model, speech, settings)
        try:
            client = openai.AsyncOpenAI(api_key=api_key, base_url=base_url, timeout=settings.timeout, max_retries=0)
        except openai.OpenAIError as error:
            raise ConfigurationError(f"openai: {error}") from error
        self._connection = Connection(openai, client, "/chat/completions" if self._chat else "/responses", self.vendor)

    async def _send(self, body: dict[str, Any]) -> Answer:
        return self._speech.read(await self._connection.send({"model": self.model, **body}))

    def _open(self, body: dict[str, Any]) -> AsyncGenerator[Any]:
        options = {"stream_options": {"include_usage": True}} if self._chat else {}
        return self._connection.open({"model": self.model, **body, "stream": True, **options})

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._connection.aclose()
