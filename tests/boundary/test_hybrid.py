"""The model is asked about doubtful places alone."""

from __future__ import annotations

import pytest

from threadline.boundary import BoundaryDetector, Weights
from threadline.testing import FakeLLMClient

from .conversations import step, talk

pytestmark = pytest.mark.anyio

DOUBTFUL = Weights(**dict.fromkeys(Weights.__struct_fields__, 0.0))  # no cue counts: every place is in doubt


async def cut(llm, items, **options):
    cells, _ = await BoundaryDetector(llm=llm, method="hybrid", **options).adetect(items, is_final=True)
    return [len(cell.items) for cell in cells]


async def test_clear_places_cost_no_call():
    llm = FakeLLMClient([])

    assert await cut(llm, talk("train", "soup"), weights=Weights(after_closing=0.0, initiative=9.0)) is not None
    assert llm.call_count == 0


async def test_a_doubtful_place_is_what_the_model_says():
    assert await cut(FakeLLMClient(handler=lambda *_, **__: step(False)), talk("train"), weights=DOUBTFUL) == [6]
    assert await cut(FakeLLMClient(handler=lambda *_, **__: step(True)), talk("train"), weights=DOUBTFUL) == [2, 2, 2]


async def test_beyond_the_budget_the_evidence_decides():
    llm = FakeLLMClient(handler=lambda *_, **__: step(False))

    assert await cut(llm, talk("train"), weights=DOUBTFUL, max_calls=2) == [6]
    assert llm.call_count == 2


async def test_a_place_is_asked_about_once_however_often_its_tail_comes_again():
    llm = FakeLLMClient(handler=lambda *_, **__: step(False))
    detector = BoundaryDetector(llm=llm, method="hybrid", weights=DOUBTFUL, max_calls=100)
    items = talk("train")
    for count in range(1, 7):
        await detector.adetect(items[:count])

    await detector.adetect(items, is_final=True)

    assert llm.call_count == 4
