"""Anthropic."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, Unpack

from threadline.errors import ConfigurationError
from threadline.models.adapter import Adapter, OptionArguments, Options
from threadline.models.anthropic_messages import AnthropicMessages
from threadline.models.failures import extra
from threadline.models.speech import Answer
from threadline.models.stainless import Connection

__all__ = ["AnthropicClient"]


class AnthropicClient(Adapter):
    """A model behind Anthropic's Messages API.

    Args:
        model: the model's name.
        api_key: the key; None takes `ANTHROPIC_API_KEY`.
        base_url: another server than Anthropic's, without `/v1`.
        options: any of `Options`, but the mode `json_object`, which the API has not.

    Raises:
        ConfigurationError: the extra `anthropic` is not installed, there is no key, or an option is wrong.
    """

    vendor = "anthropic"

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        **options: Unpack[OptionArguments],
    ) -> None:
        with extra("anthropic"):
            import anthropic
        settings = Options(**options)
        if settings.response_format_mode == "json_object":
            raise ConfigurationError("anthropic has no mode json_object; use json_schema or prompt_only")
        super().__init__(model, AnthropicMessages(self.vendor), settings)
        client = anthropic.AsyncAnthropic(api_key=api_key, base_url=base_url, timeout=settings.timeout, max_retries=0)
        if client.api_key is None and client.auth_token is None:
            raise ConfigurationError("anthropic: no key; give api_key or set ANTHROPIC_API_KEY")
        self._connection = Connection(anthropic, client, "/v1/messages", self.vendor)

    async def _send(self, body: dict[str, Any]) -> Answer:
        return self._speech.read(await self._connection.send({"model": self.model, **body}))

    def _open(self, body: dict[str, Any]) -> AsyncGenerator[Any]:
        return self._connection.open({"model": self.model, **body, "stream": True})

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._connection.aclose()
