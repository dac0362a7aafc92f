"""Facts: single, traced, merged when equal, ended when contradicted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from threadline.errors import LLMOutputError
from threadline.memory import AtomicFact, AtomicFactExtractor, merge_facts

from .stories import DAY, NOON, cell, data_of, model, replied, said

anyio = pytest.mark.anyio


def facts_reply(*facts, **more):
    return {"atomic_facts": {"atomic_fact": [*facts], **more}}


async def extracted(reply, memcell=None, sender_id="u1", **options):
    llm = model(reply)
    return await AtomicFactExtractor(llm=llm, **options).aextract(memcell or cell(), sender_id=sender_id)


def fact(text, at, *, home=False, owner="u1", **fields):
    subject, relation = ("Ann", "home") if home else ("", "")
    return AtomicFact(
        owner_id=owner, content=text, timestamp=at, valid_from_ms=at, subject=subject, relation=relation, **fields
    )


@anyio
async def test_facts_are_stripped_and_blanks_dropped():  # row 35
    (only,) = await extracted(facts_reply(" a ", ""), sender_id=None)

    assert (only.content, only.owner_id, only.timestamp) == ("a", None, NOON)


@anyio
async def test_an_older_script_may_still_give_a_time():
    assert [fact.content for fact in await extracted(facts_reply("a", time="March 14, 2024"))] == ["a"]


@anyio
@pytest.mark.parametrize(
    "reply",
    ["no", '```json\n{"atomic_facts": {"atomic_fact": []}}\n```', facts_reply(1), {"atomic_facts": []}],
)
async def test_any_other_reply_is_refused_without_being_quoted(reply):  # row 22
    with pytest.raises(LLMOutputError, match=r"^atomic_facts reply is not a valid FactsReply"):
        await extracted(reply)


@anyio
async def test_a_wrapped_reply_is_recovered_only_where_that_was_asked_for():
    wrapped = '<think>hm</think>\n```json\n[{"atomic_facts": {"atomic_fact": ["a"]}}]\n```'

    assert [fact.content for fact in await extracted(wrapped, lenient=True)] == ["a"]
    with pytest.raises(LLMOutputError):
        await extracted(wrapped)


@anyio
async def test_the_same_fact_comes_once():
    facts = await extracted(facts_reply("Ann lives in Oslo.", "ann  lives in OSLO."))

    assert [fact.content for fact in facts] == ["Ann lives in Oslo."]


@anyio
async def test_a_fact_is_traced_to_the_messages_it_names_or_else_shares_words_with():
    memcell = cell(
        said("I live in Oslo.", at=NOON - DAY, id="m1"),
        said("My cat is called Kim.", id="m2"),
        replied("Lovely.", id="m3"),
    )
    named, found, unknown = await extracted(
        facts_reply({"fact": "Ann lives there.", "messages": [0, 9]}, "Ann's cat is called Kim.", "Zzz."), memcell
    )

    assert [source.message_id for source in named.sources] == ["m1"]
    assert named.valid_from_ms == NOON - DAY
    assert [source.message_id for source in found.sources] == ["m2"]
    assert [source.message_id for source in unknown.sources] == ["m1", "m2", "m3"]


@anyio
async def test_facts_of_a_text_are_bound_to_nobody_and_dated_as_told():
    llm = model(facts_reply("a"))
    (only,) = await AtomicFactExtractor(llm=llm).aextract_from_text("Ann\n</episode_text> moved.", timestamp=NOON)

    assert (only.owner_id, only.timestamp) == (None, NOON)
    assert data_of(llm).startswith("<time>2023-11-15 12:00 UTC (Wednesday)</time>")
    assert data_of(llm).count("</episode_text>") == 1


@anyio
async def test_a_stuck_model_is_cut_short():
    stuck = "Ann lives in Oslo. " + "and Oslo " * 2_000
    (only,) = await extracted(facts_reply(stuck))

    assert only.content.startswith("Ann lives in Oslo. and Oslo")
    assert len(only.content) < 700


def test_equal_facts_become_one_with_all_sources():
    first = fact("Ann  likes tea", 5, extras={"starred": True})
    (merged,) = merge_facts([first], [fact("ann likes TEA", 3)])

    assert merged.id == first.id
    assert (merged.valid_from_ms, merged.valid_to_ms) == (3, None)
    assert merged.extras == {"starred": True}


def test_a_contradicted_fact_ends_where_the_later_one_begins_and_stays():
    oslo, bergen = fact("Ann lives in Oslo", 1, home=True), fact("Ann lives in Bergen", 5, home=True)

    for known, new in (([oslo], [bergen]), ([bergen], [oslo])):
        merged = {fact.content: fact for fact in merge_facts(known, new)}
        assert merged[oslo.content].valid_to_ms == 5
        assert merged[oslo.content].superseded_by == bergen.id
        assert merged[bergen.content].valid_to_ms is None


def test_what_is_said_again_after_it_ended_holds_again():
    facts = [fact("Oslo", 1, home=True), fact("Bergen", 5, home=True), fact("Oslo", 9, home=True)]

    assert [(one.valid_from_ms, one.valid_to_ms) for one in merge_facts([], facts)] == [(1, 5), (5, 9), (9, None)]


def test_only_the_same_subject_and_relation_of_one_owner_contradict():
    facts = [fact("Oslo", 1, home=True), fact("Bergen", 5, home=True, owner="u2"), fact("tea", 6), fact("coffee", 7)]

    assert [one.valid_to_ms for one in merge_facts(facts, [])] == [None] * 4


FACT = st.builds(
    lambda text, at, home: fact(text, at, home=home), st.sampled_from("abc"), st.integers(1, 9), st.booleans()
)


@settings(max_examples=40)
@given(st.lists(FACT, max_size=8), st.lists(FACT, max_size=8))
def test_merging_again_changes_nothing_and_no_statement_is_lost(known, new):
    merged = merge_facts(known, new)

    assert merge_facts(merged, new) == merged
    assert {one.content for one in merged} == {one.content for one in (*known, *new)}
