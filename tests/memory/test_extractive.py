"""Memory without a model: quotes of what people say, whose they are, and what is never taken for speech."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from threadline.boundary import MemCell
from threadline.context.fence import FENCE, fenced
from threadline.errors import InvalidInputError
from threadline.memory import AtomicFact, Episode, Foresight, Profile
from threadline.memory.extractive import (
    extract_episode,
    extract_facts,
    extract_foresight,
    extract_memories,
    extract_profile,
    named_language,
    quotes,
    speaks_of,
)
from threadline.messages import chat_message, decode, message_id, tool_request, tool_result

NOON_MS = int(datetime(2026, 3, 4, 12, tzinfo=UTC).timestamp()) * 1000  # a Wednesday


def cell(*texts, sender_id="ann", timestamp=NOON_MS):
    return MemCell.of(
        [
            chat_message("user", text, id=f"m{number}", sender_id=sender_id, timestamp=timestamp)
            for number, text in enumerate(texts)
        ]
    )


def contents(found):
    return [fact.content for fact in found]


def test_every_sentence_of_every_memory_stands_in_its_message_at_its_span():
    spoken = cell(
        "My name is Ann. I moved to Lyon in 2019, and I love it! Dr. Roy is my dentist.",
        "I'm flying to Rome next Friday. 我住在上海。我对花生过敏。下周三我要去北京。",
        "Could you help?\n- I own two cats\n- buy milk",
    )
    texts = {message_id(message): message.content for message in spoken.items}

    found = extract_memories([spoken], owner_id="ann")

    products = [*found.facts, *found.foresights, *found.profile.explicit_info]
    assert len(products) >= 9
    for product in products:
        text = getattr(product, "content", None) or getattr(product, "foresight", None) or product.description
        assert {texts[source.message_id][source.start : source.end] for source in product.sources} == {text}
    for episode in found.episodes:
        for source in episode.sources:
            assert texts[source.message_id][source.start : source.end] in episode.episode
    assert {product.method for product in (*products, *found.episodes, found.profile)} == {"extractive"}


@given(st.lists(st.text(alphabet="I am7 Bob.\n?我住。<>", max_size=40), max_size=4))
@settings(max_examples=40)
def test_a_quote_is_its_message_at_its_span_whatever_is_said(texts):
    for quote in quotes(cell(*texts)):
        assert quote.message.content[quote.start : quote.end] == quote.text


def test_the_same_conversation_leaves_the_same_memories():
    spoken = [cell("I bought a red bike in Oslo. I will sell it tomorrow."), cell("I always ride to work.")]

    assert extract_memories(spoken, owner_id="ann") == extract_memories(spoken, owner_id="ann")


def test_memories_survive_json():
    found = extract_memories([cell("I'm a nurse from Oslo. I will travel to Bergen tomorrow.")], owner_id="ann")

    assert Episode.from_dict(found.episodes[0].as_dict()) == found.episodes[0]
    assert AtomicFact.from_dict(found.facts[0].as_dict()) == found.facts[0]
    assert Foresight.from_dict(found.foresights[0].as_dict()) == found.foresights[0]
    assert Profile.from_dict(found.profile.as_dict()) == found.profile


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Hi there! I live in Seattle. How are you?", "I live in Seattle."),
        ("Thanks a lot. I prefer window seats.", "I prefer window seats."),
        ("My counter is only 38 square feet. Hmm.", "My counter is only 38 square feet."),
        ("你好！我住在上海。你呢？", "我住在上海。"),
        ("Hallo! Ich wohne seit zwei Jahren in Graz. Und du?", "Ich wohne seit zwei Jahren in Graz."),
        ("¡Hola! Vivo en Madrid con mi esposa. ¿Y tú?", "Vivo en Madrid con mi esposa."),
        ("Привет! Я живу в Москве. А ты?", "Я живу в Москве."),
        ("こんにちは。私は東京に住んでいます。あなたは？", "私は東京に住んでいます。"),
        ("안녕! 나는 서울에 살아. 너는?", "나는 서울에 살아."),
        ("Tuesday: system downtime from 10 AM to noon.", "Tuesday: system downtime from 10 AM to noon."),
    ],
)
def test_what_people_state_of_themselves_is_a_fact_and_courtesy_is_not(text, fact):
    assert contents(extract_facts(cell(text))) == [fact]


def test_a_fact_said_twice_is_one_fact_with_both_places():
    [fact] = extract_facts(cell("I live in Oslo.", "Well, yes!\ni live in  OSLO!"))

    assert fact.content == "I live in Oslo."
    assert [source.message_id for source in fact.sources] == ["m0", "m1"]


def test_every_fact_names_its_speaker():
    messages = [
        chat_message("user", "I own a bakery in Lyon.", sender_id="u1", sender_name="Ann"),
        chat_message("user", "I own a garage in Metz.", sender_id="u2", sender_name="Bob"),
    ]

    facts = extract_facts(MemCell.of(messages))

    assert [(fact.sources[0].speaker, fact.content) for fact in facts] == [
        ("Ann", "I own a bakery in Lyon."),
        ("Bob", "I own a garage in Metz."),
    ]


def test_an_owner_is_whole_words_and_no_part_of_one():
    messages = [
        chat_message("user", "I own a garage in Metz.", sender_id="Anna"),
        chat_message("user", "I met Anna in Paris.", sender_id="Bob"),
        chat_message("user", "I met Ann in Nice.", sender_id="Bob"),
        chat_message("user", "I was born in Brest.", sender_id="ANN"),
    ]

    found = extract_memories([MemCell.of(messages)], owner_id="Ann")

    assert contents(found.facts) == ["I met Ann in Nice.", "I was born in Brest."]
    assert [item.description for item in found.profile.explicit_info] == ["I was born in Brest."]
    assert (speaks_of("Mary Ann's here", "mary ann"), speaks_of("Annette", "Ann"), speaks_of("x", " ")) == (
        True,
        False,
        False,
    )


def test_instructions_tool_traffic_and_inserted_messages_are_never_extracted():
    secret = "I live in Nowhere and my name is Nobody."
    wire = decode([{"role": "system", "content": secret}, {"role": "user", "content": secret}], "openai").messages
    items = [
        wire[0],
        structs.replace(wire[1], origin="observation"),
        structs.replace(wire[1], origin="summary"),
        tool_request([{"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}]),
        tool_result("a", secret),
    ]

    found = extract_memories([MemCell.of(items)], owner_id="user")

    assert (found.episodes, found.facts, found.foresights, found.profile.explicit_info) == ((), (), (), ())


@pytest.mark.parametrize(
    "text",
    [
        fenced("I live in Nowhere.", label="memory", trust="external"),
        f"<{FENCE} source='x'>\nI live in Nowhere.",  # never closed
        "<system-reminder>\nI live in Nowhere.\n</system-reminder>",
        "```\nI live in Nowhere.\n```",
        "> I live in Nowhere.",
        "HEARTBEAT: I live in Nowhere.",
        "Read HEARTBEAT.md if it exists. I live in Nowhere.",
        "ping",
        'const home = {city: "Nowhere"}; I live = true',
        "I live in Nowhere [3 lines as above: I live].",
    ],
)
def test_what_nobody_says_is_never_extracted(text):
    found = extract_memories([cell(text, "I live in Oslo.")], owner_id="ann")

    assert contents(found.facts) == ["I live in Oslo."]
    assert found.episodes[0].episode == "ann: I live in Oslo."


def test_what_the_assistant_says_of_itself_is_no_fact_but_what_it_tells_the_user_is():
    messages = [
        chat_message("assistant", "I am a helpful assistant with 7 tools. I love Paris."),
        chat_message("assistant", "Your appointment with Dr. Lee is at 15:30."),
    ]

    facts = extract_facts(MemCell.of(messages), owner_id="ann")

    assert contents(facts) == ["Your appointment with Dr. Lee is at 15:30."]
    assert facts[0].sources[0].speaker == "assistant"


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("I'm flying to Rome tomorrow.", "2026-03-05", "2026-03-05"),
        ("I'm heading to Portland next weekend.", "2026-03-14", "2026-03-15"),
        ("I need to file my taxes before Friday.", "2026-03-06", "2026-03-06"),
        ("We will meet next Tuesday.", "2026-03-10", "2026-03-10"),
        ("I start my new job in three weeks.", "2026-03-25", "2026-03-25"),
        ("My exam is next month.", "2026-04-01", "2026-04-30"),
        ("We plan to leave on 12 March 2027.", "2027-03-12", "2027-03-12"),
        ("On 2027-01-02 I move.", "2027-01-02", "2027-01-02"),
        ("我下周三要去北京。", "2026-03-11", "2026-03-11"),
        ("我十二天后搬家。", "2026-03-16", "2026-03-16"),
        ("Ich fliege nächsten Dienstag nach Rom.", "2026-03-10", "2026-03-10"),
        ("Mañana viajo a Madrid.", "2026-03-05", "2026-03-05"),
        ("Завтра я еду в Москву.", "2026-03-05", "2026-03-05"),
        ("私は来週の火曜日に東京へ行きます。", "2026-03-10", "2026-03-10"),
        ("저는 다음 주 화요일에 서울에 갈 거예요.", "2026-03-10", "2026-03-10"),
    ],
)
def test_a_day_to_come_is_worked_out_from_the_day_of_the_message(text, first, last):
    [found] = extract_foresight(cell(text), owner_id="ann")

    assert (found.foresight, found.start_time, found.end_time) == (text, first, last)
    assert found.start_origin == "stated"


def test_tomorrow_is_the_speakers_tomorrow():
    late_ms = int(datetime(2026, 3, 4, 23, 30, tzinfo=UTC).timestamp()) * 1000
    said = cell("I'm flying to Rome tomorrow.", timestamp=late_ms)

    days = {
        zone: extract_foresight(said, owner_id="ann", time_zone=zone)[0]
        for zone in ("UTC", "Europe/Berlin", "US/Pacific")
    }

    assert [one.start_time for one in days.values()] == ["2026-03-05", "2026-03-06", "2026-03-05"]
    berlin = days["Europe/Berlin"]
    midnight_ms = int(datetime(2026, 3, 5, 23, tzinfo=UTC).timestamp()) * 1000
    assert (berlin.valid_from_ms, berlin.valid_to_ms) == (midnight_ms, midnight_ms + 86_400_000)


def test_a_day_that_the_clocks_change_on_has_the_hours_it_has():
    said = cell("I will move on 29 March 2026.")

    [found] = extract_foresight(said, owner_id="ann", time_zone="Europe/Berlin")

    assert found.valid_to_ms - found.valid_from_ms == 23 * 3_600_000


def test_a_date_that_nobody_named_is_marked_as_inferred():
    [found] = extract_foresight(cell("I plan to learn Mandarin."), owner_id="ann")

    assert (found.start_time, found.end_time, found.start_origin) == ("2026-03-04", None, "inferred")


@pytest.mark.parametrize("timestamp", [None, 0])
def test_without_times_a_relative_day_is_not_made_up_and_a_whole_date_stands(timestamp):
    said = cell("I will fly tomorrow.", "I will move on 12 March 2027.", timestamp=timestamp)

    moving, flying = extract_foresight(said, owner_id="ann")

    assert (moving.start_time, moving.start_origin) == ("2027-03-12", "stated")
    assert (flying.start_time, flying.valid_from_ms, flying.start_origin) == (None, None, "inferred")


@pytest.mark.parametrize(
    "text",
    [
        "I went to Rome last Friday.",
        "We met on Tuesday.",
        "I was there in March.",
        "Will you come tomorrow?",
        "我昨天去了北京。",
    ],
)
def test_what_is_over_or_only_asked_is_not_to_come(text):
    assert extract_foresight(cell(text), owner_id="ann") == []


def test_an_unknown_time_zone_is_refused():
    with pytest.raises(InvalidInputError) as caught:
        extract_foresight(cell("I will fly."), owner_id="ann", time_zone="Mars/Base")

    assert caught.value.fields == {"key": "time_zone"}


def test_a_profile_holds_lasting_self_statements_with_their_dates_and_labels():
    said = cell(
        "I'm allergic to nuts. My wife works at a bank. I'm tired today. I'd love to know more. I might like tea."
    )

    profile = extract_profile([said], owner_id="ann")

    assert [(item.category, item.description, item.observed_at) for item in profile.explicit_info] == [
        ("health", "I'm allergic to nuts.", NOON_MS),
        ("family", "My wife works at a bank.", NOON_MS),
    ]


def test_a_profile_grows_keeps_what_the_host_added_and_dates_anew_what_is_said_again():
    before = extract_profile([cell("I live in Oslo. I own a boat.")], owner_id="ann")
    before = structs.replace(before, extras={"tier": "gold"})

    after = extract_profile([cell("I live in Oslo.", timestamp=NOON_MS + 1)], owner_id="ann", old_profile=before)

    assert [(item.description, item.observed_at) for item in after.explicit_info] == [
        ("I own a boat.", NOON_MS),
        ("I live in Oslo.", NOON_MS + 1),
    ]
    assert after.extras["tier"] == "gold"
    assert after.id == before.id


def test_an_episode_tells_the_most_central_sentences_in_order_with_their_speakers():
    messages = [
        chat_message("user", "My espresso machine leaks. The weather is bad.", sender_name="Ann"),
        chat_message("assistant", "Does the espresso machine leak at the valve?"),
        chat_message("user", "The valve of the machine leaks. Bye now. Take care. So long.", sender_name="Ann"),
        chat_message("assistant", "Goodbye!"),
    ]

    episode = extract_episode(MemCell.of(messages))

    assert episode.subject == "My espresso machine leaks"
    assert episode.episode == "Ann: My espresso machine leaks.\nAnn: The valve of the machine leaks."
    assert episode.summary == "My espresso machine leaks. The valve of the machine leaks."


def test_titles_and_summaries_are_short():
    episode = extract_episode(cell("I " + "really " * 60 + "like tea, coffee; and cake. " * 3))

    assert len(episode.subject) <= 72
    assert len(episode.summary) <= 400


def test_a_cell_in_which_nobody_speaks_has_no_episode():
    assert extract_episode(cell("```\nx\n```", "...")) is None


def test_a_language_is_named_by_word_or_tag():
    assert [named_language(name) for name in ("zh-CN", " English ", "fr")] == ["chinese", "english", "fr"]
    with pytest.raises(InvalidInputError):
        named_language(" ")


def test_without_cues_of_its_language_names_and_numbers_tell():
    assert contents(
        extract_facts(cell("Hún býr í Reykjavik með 3 ketti. Gott kvöld.", sender_id=None), language="icelandic")
    ) == ["Hún býr í Reykjavik með 3 ketti."]
