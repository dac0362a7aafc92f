"""Every memory has an id, its sources and the host's keys, and survives JSON."""

from __future__ import annotations

import json

import msgspec
import pytest
from msgspec.structs import replace

from threadline.errors import InvalidInputError
from threadline.memory import (
    AgentCase,
    AgentSkill,
    AtomicFact,
    Episode,
    ExplicitInfoItem,
    Foresight,
    ImplicitTraitItem,
    Profile,
    Source,
)

SOURCE = Source(message_id="m1", speaker="Ann", start=0, end=4)
COMMON = {"sources": (SOURCE,), "created_at_ms": 7, "extras": {"app": {"tags": ["a"]}}}
PRODUCTS = [
    Episode(owner_id="u", episode="Ann moved.", summary="A move.", timestamp=1, **COMMON),
    AtomicFact(owner_id=None, content="Ann lives in Oslo.", timestamp=1, valid_from_ms=1, **COMMON),
    Foresight(owner_id="u", foresight="Ann will move.", evidence="said so", timestamp=1, **COMMON),
    AgentCase(timestamp=1, task_intent="fix", **COMMON),
    AgentSkill(name="fixing", source_case_ids=("c",), **COMMON),
    Profile(
        owner_id="u",
        timestamp=1,
        explicit_info=(ExplicitInfoItem(description="Lives in Oslo", category="Home", **COMMON),),
        implicit_traits=(ImplicitTraitItem(description="Plans ahead", **COMMON),),
        **COMMON,
    ),
]


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: type(product).__name__)
def test_a_product_survives_json_with_the_hosts_keys_beside_its_own(product):
    plain = json.loads(json.dumps(product.as_dict()))

    assert plain["app"] == {"tags": ["a"]}
    assert type(product).from_dict(plain) == product
    assert msgspec.json.decode(msgspec.json.encode(product), type=type(product)) == product


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: type(product).__name__)
def test_the_same_product_has_the_same_id_whenever_it_is_made(product):
    again = replace(product, id="", created_at_ms=99, sources=(), extras={})

    assert again.id == product.id
    assert product.id.partition("_")[0] == type(product).PREFIX


def test_a_fact_that_ends_keeps_its_id():
    fact = PRODUCTS[1]

    assert replace(fact, valid_to_ms=9).id == fact.id


def test_a_profile_without_a_summary_takes_its_first_statement():
    assert PRODUCTS[5].summary == "Lives in Oslo"
    assert Profile(owner_id="u", timestamp=1).summary == "(no summary)"


def test_the_hosts_dict_is_not_exposed():
    given = {"tags": ["a"]}
    fact = AtomicFact(owner_id="u", content="x", timestamp=1, extras=given)
    given["tags"].append("b")

    assert fact.extras == {"tags": ("a",)}


def test_a_host_key_may_not_hide_a_field():
    fact = AtomicFact(owner_id="u", content="x", timestamp=1, extras={"content": "y"})

    with pytest.raises(InvalidInputError, match="content"):
        fact.as_dict()
