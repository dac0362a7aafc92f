"""What holds of every conversation."""

from __future__ import annotations

import asyncio

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from threadline.boundary import BoundaryDetector, MemCell
from threadline.messages import group_messages
from threadline.testing import FakeLLMClient

from .conversations import batch, trajectories

LIMITS = st.sampled_from([{}, {"hard_msg_limit": 3}, {"hard_token_limit": 40}])


def detect(items, *, labels=None, **options):
    llm = None if labels is None else FakeLLMClient([batch(labels)])
    return asyncio.run(BoundaryDetector(llm=llm).adetect(items, **options))


@given(trajectories(), st.none() | st.lists(st.integers(-2, 26), max_size=8), st.booleans(), LIMITS)
@settings(max_examples=150)
def test_every_item_is_in_one_place_in_order_and_no_exchange_is_parted(items, labels, final, limits):
    cells, tail = detect(items, labels=labels, is_final=final, **limits)

    places = [*(cell.items for cell in cells), tuple(tail)]
    assert [item for place in places for item in place] == items
    assert all(cell.items for cell in cells)
    number = [index for index, place in enumerate(places) for _ in place]
    assert all(len({number[index] for index in group.indices}) == 1 for group in group_messages(items))


@given(trajectories(), st.sampled_from([{}, {"hard_msg_limit": 4}, {"hard_token_limit": 60}]))
@settings(max_examples=60)
def test_what_was_cut_stays_cut_however_the_messages_come_in(items, limits):
    items = _answered(items)
    whole = detect(items, is_final=True, **limits)
    cells, tail = [], []
    for item in items:
        found, tail = detect([*tail, item], **limits)
        cells += found
    last, tail = detect(tail, is_final=True, **limits)

    assert [cell.items for cell in (*cells, *last)] == [cell.items for cell in whole.cells]
    assert tail == whole.tail


def _answered(items):
    """The items with each result right behind its call: a result that comes after its call was given up is too late."""
    results = {item.tool_results[0].call_id: item for item in items if item.tool_results}
    out = []
    for item in items:
        if item.tool_results:
            continue
        out += [item, *(results[call.id] for call in item.tool_calls if call.id in results)]
    return out


@given(trajectories(max_size=10))
@settings(max_examples=40)
def test_a_cell_has_the_same_id_wherever_it_is_found_and_survives_json(items):
    cells, _ = detect(items, is_final=True)
    again, _ = detect(items, is_final=True)

    assert [cell.id for cell in cells] == [cell.id for cell in again]
    for cell in cells:
        assert msgspec.json.decode(msgspec.json.encode(cell), type=MemCell) == cell
        assert len(cell.message_ids) == len(cell.items)
