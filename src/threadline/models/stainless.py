"""The SDKs of OpenAI and Anthropic are made by one generator: the same client, the same errors."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from types import ModuleType
from typing import Any

from threadline.errors import ModelError
from threadline.models.failures import failed, told_failure, vendor_code
from threadline.models.resending import retry_after_s
from threadline.models.speech import parsed, written

__all__ = ["Connection"]


class Connection:
    """Sends bodies through the SDK's client and gives back what came, untouched by its types.

    Args:
        sdk: the SDK's module; its errors are told apart by its classes.
        client: the SDK's client, which must not resend by itself.
        path: where bodies go.
        vendor: who is asked; errors name it.
    """

    def __init__(self, sdk: ModuleType, client: Any, path: str, vendor: str) -> None:
        import httpx2

        self._sdk: Any = sdk
        # Anthropic's SDK lets errors from the middle of a stream through as its HTTP library raises them.
        self._unreachable = (httpx2.TransportError, httpx2.DecodingError)
        self._late = httpx2.TimeoutException
        self._client = client
        self._path = path
        self._vendor = vendor

    async def send(self, body: dict[str, Any]) -> Any:
        """The whole answer.

        Raises:
            ModelError: the provider cannot be reached or refused the call, or its answer is no JSON.
        """
        try:
            return parsed(await self._client.post(self._path, cast_to=bytes, **_content(body)), self._vendor)
        except self._sdk.APIError as error:
            failure, cause = self._failure(error)
        raise failure from cause

    async def open(self, body: dict[str, Any]) -> AsyncGenerator[Any]:
        """The events of the answer. Raises as `send`."""
        stream_cls = self._sdk.AsyncStream[object]
        try:
            chunks = await self._client.post(
                self._path, cast_to=object, stream=True, stream_cls=stream_cls, **_content(body)
            )
            async with chunks:
                async for chunk in chunks:
                    yield chunk
        except (self._sdk.APIError, *self._unreachable) as error:
            failure, cause = self._failure(error)
        except (ValueError, RecursionError):  # an event's data is no JSON
            failure, cause = failed(self._vendor, "malformed"), None
        else:
            return
        raise failure from cause

    def _failure(self, error: Any) -> tuple[ModelError, BaseException | None]:
        """The failure an SDK's error stands for, and its cause where that quotes nothing of the answer."""
        if isinstance(error, self._sdk.APIConnectionError):
            error = error.__cause__ or error
        if isinstance(error, (self._late, self._sdk.APITimeoutError)):
            return failed(self._vendor, "timeout"), error
        if isinstance(error, (*self._unreachable, self._sdk.APIConnectionError)):
            return failed(self._vendor, "connection"), error
        if isinstance(error, self._sdk.APIStatusError) and error.status_code >= 400:
            wait_s = retry_after_s(error.response.headers)
            code = vendor_code(error.body)
            return failed(
                self._vendor, "status", status=error.status_code, vendor_code=code, retry_after_s=wait_s
            ), None
        return told_failure(self._vendor, "aborted", error.body), None

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.close()


def _content(body: dict[str, Any]) -> dict[str, Any]:
    """A body as bytes: the SDKs' own writers fail on lone surrogates, which conversations hold."""
    content = written(body)
    return {"content": content, "options": {"headers": {"Content-Type": "application/json"}}}
