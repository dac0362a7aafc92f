"""A model in this process: the user's own GGUF file on xllamacpp (llama.cpp)."""

from __future__ import annotations

import math
import secrets
import threading
from collections.abc import AsyncGenerator, Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Unpack

import anyio
from anyio.from_thread import run_sync
from anyio.lowlevel import current_token

from threadline.errors import ConfigurationError, ModelError
from threadline.models.adapter import Adapter, OptionArguments, Options
from threadline.models.chat_completions import ChatCompletions
from threadline.models.failures import extra, failed
from threadline.models.speech import Answer, written

__all__ = ["LocalClient"]


class LocalClient(Adapter):
    """A GGUF file as a model; replies are constrained to the schema while they are made.

    Making one loads the file, which blocks for as long as that takes. Calls are worked off one after the other; the
    time limit counts the waiting. A call that is cancelled or late stops at its next token, not while it reads the
    prompt.

    Args:
        path: the GGUF file.
        max_input_tokens: the size of the context, prompt and reply together; 0 takes the model's own.
        n_threads: threads that compute. One by default: more only help where cores are idle.
        poll: how busily waiting threads look for work, 0 to 100; above 0 they burn a core each.
        options: any of `Options`.

    Raises:
        ConfigurationError: the extra `local` is not installed, the file is none, or an option is wrong.
    """

    vendor = "local"

    def __init__(
        self,
        path: str | Path,
        *,
        max_input_tokens: int = 0,
        n_threads: int = 1,
        poll: int = 0,
        **options: Unpack[OptionArguments],
    ) -> None:
        with extra("local"):
            llama: Any = import_module("xllamacpp")  # it has no types
        path = Path(path)
        super().__init__(path.stem, ChatCompletions(self.vendor, "max_tokens"), Options(**options))
        parameters: Any = llama.CommonParams()
        parameters.model.path = str(path)
        parameters.model_alias = {path.stem}
        parameters.n_ctx = max_input_tokens
        parameters.n_parallel = 1
        for cpu in (parameters.cpuparams, parameters.cpuparams_batch):
            cpu.n_threads, cpu.poll = n_threads, poll
        parameters.warmup = False
        # The library listens on a loopback port as well; nobody is told this key.
        parameters.api_keys = [secrets.token_urlsafe()]
        parameters.ui = False
        if not path.is_file():
            raise ConfigurationError(f"local: there is no file {path}", path=str(path))
        try:
            self._server: Any = llama.Server(parameters)
        except RuntimeError as error:
            raise ConfigurationError(f"local: {path} cannot be loaded as a model", path=str(path)) from error

    async def _send(self, body: dict[str, Any]) -> Answer:
        # In chunks too: only then can it be stopped.
        collector = self._speech.collect()
        chunks = self._open(body)
        try:
            async for chunk in chunks:
                for _ in collector.add(chunk):
                    pass
        finally:
            await chunks.aclose()
        return collector.answer()

    async def _open(self, body: dict[str, Any]) -> AsyncGenerator[Any]:
        server = self._server
        if server is None:
            raise ConfigurationError("local: the model was closed")
        request = {**body, "stream": True, "stream_options": {"include_usage": True}}
        written(request)  # refuse here what is no JSON
        token, stopped = current_token(), threading.Event()
        send, receive = anyio.create_memory_object_stream[Any](math.inf)

        def tell(what: Callable[[], None]) -> None:
            try:
                run_sync(what, token=token)
            except (RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError):  # nobody listens any more
                stopped.set()

        def hear(chunk: Any) -> bool:
            tell(lambda: send.send_nowait(chunk))
            return stopped.is_set()

        def answer() -> None:
            try:
                server.handle_chat_completions(request, hear)
            except (RuntimeError, ValueError):
                # llama.cpp refuses a prompt or schema; its words quote them.
                tell(lambda: send.send_nowait(failed(self.vendor, "status")))
            finally:
                tell(send.close)

        threading.Thread(target=answer, name="threadline-local-model").start()
        try:
            async for chunk in receive:
                if isinstance(chunk, ModelError):
                    raise chunk
                yield chunk
        finally:
            stopped.set()
            send.close()
            receive.close()

    async def aclose(self) -> None:
        """Frees the model."""
        self._server = None
