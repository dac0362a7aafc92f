"""Google's Gemini."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextvars import ContextVar
from typing import Any, Unpack

from msgspec import to_builtins

from threadline.errors import ConfigurationError, ModelError
from threadline.models.adapter import Adapter, OptionArguments, Options
from threadline.models.failures import extra, failed, told_failure, vendor_code
from threadline.models.generate_content import GenerateContent
from threadline.models.resending import retry_after_s
from threadline.models.speech import Answer, parsed

__all__ = ["GoogleClient"]


class GoogleClient(Adapter):
    """A model behind Google's `generateContent`.

    Args:
        model: the model's name.
        api_key: the key; None takes `GEMINI_API_KEY` or `GOOGLE_API_KEY`.
        base_url: another server than Google's, without the version.
        options: any of `Options`.

    Raises:
        ConfigurationError: the extra `google` is not installed, there is no key, or an option is wrong.
    """

    vendor = "google"

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        **options: Unpack[OptionArguments],
    ) -> None:
        with extra("google"):
            import httpx2
            from google import genai
            from google.genai import errors, types
        settings = Options(**options)
        super().__init__(model, GenerateContent(self.vendor), settings)
        # A client of our own, so that the SDK uses the same library whatever else is installed, and sends once.
        hooks = {"response": [_note]}
        self._http = httpx2.AsyncClient(timeout=settings.timeout, follow_redirects=True, event_hooks=hooks)
        http_options = types.HttpOptions(base_url=base_url, httpx_async_client=self._http)
        try:
            client = genai.Client(api_key=api_key, http_options=http_options)
        except ValueError as error:
            raise ConfigurationError("google: no key; give api_key or set GEMINI_API_KEY") from error
        self._models: Any = client.aio.models
        self._types = types
        self._refused: type[Any] = errors.APIError
        self._unreachable = (httpx2.TransportError, httpx2.DecodingError)
        self._late = httpx2.TimeoutException
        # The SDK's own reading of chunks ends in a ValueError (pydantic's is one) or runs out of stack.
        self._failures: tuple[type[Exception], ...] = (*self._unreachable, errors.APIError, ValueError, RecursionError)

    def _config(self, body: dict[str, Any], *, raw: bool) -> Any:
        """The body goes as it is, past the SDK's own types: those know only the fields they know."""
        types = self._types
        return types.GenerateContentConfig(
            http_options=types.HttpOptions(extra_body=body),
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            automatic_continuation=False,
            should_return_http_response=raw or None,
        )

    async def _send(self, body: dict[str, Any]) -> Answer:
        try:
            answer = await self._models.generate_content(
                model=self.model, contents=_PLACEHOLDER, config=self._config(body, raw=True)
            )
            sent = answer.sdk_http_response
            return self._speech.read(parsed((sent and sent.body) or "", self.vendor))
        except self._failures as error:
            failure, cause = self._failure(error)
        raise failure from cause

    async def _open(self, body: dict[str, Any]) -> AsyncGenerator[Any]:
        noted: list[Any] = []
        try:
            chunks = await self._models.generate_content_stream(
                model=self.model, contents=_PLACEHOLDER, config=self._config(body, raw=False)
            )
            while (chunk := await _next(chunks, noted)) is not None:
                # Bytes (signatures) become the base64 they came as; the SDK's own JSON has another alphabet for it.
                yield to_builtins(chunk.model_dump(by_alias=True, exclude_none=True, exclude={"sdk_http_response"}))
        except self._failures as error:
            failure, cause = self._failure(error)
        else:
            return
        finally:
            for response in noted:
                await response.aclose()
        raise failure from cause

    def _failure(self, error: Any) -> tuple[ModelError, BaseException | None]:
        """The failure an SDK's error stands for, and its cause where that quotes nothing of the answer."""
        if isinstance(error, self._refused):
            if not error.code or error.code < 400:
                return told_failure(self.vendor, "no_reply", error.details), None
            wait_s = retry_after_s(getattr(error.response, "headers", {}))
            code = vendor_code(error.details)
            return failed(self.vendor, "status", status=error.code, vendor_code=code, retry_after_s=wait_s), None
        if isinstance(error, self._late):
            return failed(self.vendor, "timeout"), error
        if isinstance(error, self._unreachable):
            return failed(self.vendor, "connection"), error
        return failed(self.vendor, "malformed"), None

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()


_noted: ContextVar[list[Any] | None] = ContextVar("threadline_google_responses", default=None)
"""Where the responses that are opened now are noted: the SDK gives no way to close a stream that is left early."""


async def _note(response: Any) -> None:
    if (noted := _noted.get()) is not None:
        noted.append(response)


async def _next(chunks: AsyncIterator[Any], noted: list[Any]) -> Any:
    """The next chunk, or None; the first of them opens the response."""
    token = _noted.set(noted)
    try:
        return await anext(chunks, None)
    finally:
        _noted.reset(token)


_PLACEHOLDER = " "
"""The SDK wants contents of its own; the body's take their place."""
