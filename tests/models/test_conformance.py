"""Every adapter keeps every promise of the ports, over HTTP, against a server that plays its vendor."""

from __future__ import annotations

import pytest

from threadline.models import AnthropicClient, GoogleClient, OpenAIClient
from threadline.testing.models import CLIENT_CHECKS
from threadline.testing.streams import MODEL_CHECKS
from threadline.testing.vendors import VENDORS

pytestmark = pytest.mark.anyio


class Harness:
    def __init__(self, vendor, build):
        self.vendor = VENDORS[vendor]
        self._build = build

    def build(self, url, **options):
        return self._build(url, model="asked-1", api_key="key", **options)


HARNESSES = {
    "openai": Harness("chat", lambda url, **options: OpenAIClient(base_url=f"{url}/v1", **options)),
    "responses": Harness("responses", lambda url, **options: OpenAIClient(base_url=url, api="responses", **options)),
    "anthropic": Harness("anthropic", lambda url, **options: AnthropicClient(base_url=url, **options)),
    "google": Harness("google", lambda url, **options: GoogleClient(base_url=url, **options)),
}


@pytest.mark.parametrize("harness", HARNESSES.values(), ids=HARNESSES)
@pytest.mark.parametrize("check", CLIENT_CHECKS, ids=lambda check: check.__name__)
async def test_an_adapter_is_a_client(check, harness):
    await check(harness)


@pytest.mark.parametrize("harness", HARNESSES.values(), ids=HARNESSES)
@pytest.mark.parametrize("check", MODEL_CHECKS, ids=lambda check: check.__name__)
async def test_an_adapter_is_a_chat_model(check, harness):
    await check(harness)
