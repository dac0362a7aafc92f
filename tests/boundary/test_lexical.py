"""Episodes without a model."""

from __future__ import annotations

import pytest

from threadline.boundary import BoundaryDetector, Weights
from threadline.errors import ConfigurationError, InvalidInputError
from threadline.messages import text_message

from .conversations import MINUTE, T0, TOPICS, call, chat, chats, result, talk, tools

pytestmark = pytest.mark.anyio

HOUR = 60 * MINUTE


async def sizes(items, *, final=True, **options):
    cells, tail = await BoundaryDetector().adetect(items, is_final=final, **options)
    return [len(cell.items) for cell in cells], len(tail)


async def test_a_conversation_about_one_thing_is_one_episode():
    for topic, texts in TOPICS.items():
        assert await sizes(talk(topic)) == ([len(texts)], 0)


async def test_another_topic_is_another_episode():
    assert await sizes(talk("train", "soup", "knee")) == ([6, 6, 4], 0)


async def test_what_may_go_on_is_tail():
    assert await sizes(talk("train", "soup"), final=False) == ([6], 6)


async def test_a_candidate_waits_for_the_messages_that_have_a_say_in_it():
    items = talk("train", "soup")

    assert await sizes(items[:8], final=False) == ([], 8)
    assert await sizes(items[:9], final=False) == ([6], 3)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            [
                "我想找一家评分高的餐馆。",
                "推荐您去全聚德餐馆，评分很高。",
                "餐馆的营业时间是什么？",
                "餐馆营业到晚上十点。",
            ],
            ["明天去颐和园景点游玩，门票价格多少钱？", "颐和园门票价格三十元。"],
        ),
        (
            [
                "Ich suche ein Hotel in Berlin.",
                "Das Hotel Adler in Berlin hat freie Zimmer.",
                "Haben die Zimmer im Hotel WLAN?",
                "Alle Zimmer haben WLAN.",
            ],
            [
                "Schreibst du mir ein Gedicht über den Herbst und fallende Blätter?",
                "Blätter fallen im Herbst wie Gold.",
            ],
        ),
        (
            [
                "Мне нужна гостиница в Москве.",
                "В Москве есть гостиница Космос.",
                "В гостинице есть бассейн?",
                "В гостинице Космос большой бассейн.",
            ],
            ["Расскажи историю парусного флота и морских сражений?", "Парусный флот решал исход морских сражений."],
        ),
    ],
)
async def test_topics_change_in_other_languages_and_scripts(first, second):
    items = [chat(number, text) for number, text in enumerate([*first, *second])]

    assert await sizes(items) == ([len(first), len(second)], 0)


async def test_thanks_and_farewells_stay_with_what_they_close():
    texts = [*TOPICS["train"], "Thanks a lot!", "You're welcome, goodbye.", *TOPICS["soup"]]
    items = [chat(number, text) for number, text in enumerate(texts)]

    assert await sizes(items) == ([8, 6], 0)


async def test_a_greeting_in_the_middle_is_a_hint_that_people_met_again():
    texts = [*TOPICS["knee"], "Hi, this is Tom, I want to change a reservation.", "Which reservation is that?"]
    without = [*texts[:4], texts[4].removeprefix("Hi, "), texts[5]]

    assert await sizes([chat(number, text) for number, text in enumerate(texts)]) == ([4, 2], 0)
    assert await sizes([chat(number, text) for number, text in enumerate(without)]) == ([6], 0)


async def test_a_long_silence_parts_what_words_alone_would_not():
    texts = [*TOPICS["knee"], "The doctor looked at it today.", "What did she say?"]
    apart = [chat(n, t, timestamp=T0 + (n + (4000 if n > 3 else 0)) * MINUTE) for n, t in enumerate(texts)]
    together = [chat(n, t) for n, t in enumerate(texts)]

    assert await sizes(apart) == ([4, 2], 0)
    assert await sizes(together) == ([6], 0)


async def test_a_mark_of_a_new_session_parts_at_once():
    items = [chat(0, "hello"), chat(1, "--- New session ---"), chat(2, "hello again")]

    assert await sizes(items) == ([1, 2], 0)


async def test_work_that_is_handed_in_ends_an_episode():
    texts = [
        "Fix the parser.",
        "On it: reading the parser.",
        "Also rename the parser class.",
        "Renamed the parser class.",
    ]
    items = [chat(number, text) for number, text in enumerate(texts)]
    handed_in = [*items[:2], call("a", "submit"), result("a"), *items[2:]]

    assert await sizes(items) == ([4], 0)
    assert await sizes(handed_in) == ([4, 2], 0)


async def test_a_call_and_its_result_stay_together():
    ask, answer = tools("a")
    train, soup = talk("train"), talk("soup")

    assert await sizes([*train, ask, answer, *soup]) == ([8, 6], 0)
    assert await sizes([*train[:5], ask, train[5], soup[0], answer, *soup[1:]]) != ([7, 7], 0)


async def test_limits_cut_what_has_no_boundary():
    items = [chat(number, TOPICS["train"][0]) for number in range(7)]

    assert await sizes(items, final=False, hard_msg_limit=3) == ([2, 2, 2], 1)
    assert await sizes(items, hard_token_limit=1) == ([1] * 7, 0)


@pytest.mark.parametrize("limit", [1, 0, -5])
async def test_limits_that_could_never_cut_are_refused(limit):
    with pytest.raises(InvalidInputError):
        await sizes(chats(3), hard_msg_limit=limit)


async def test_noisy_small_talk_is_cut_too_rarely_rather_than_too_often():
    noise = ["uh huh", "yeah", "hm", "so anyway", "right", "lol", "ok", "yep", "mhm", "oh well", "you know", "sure"]
    items = [chat(number, text, sender_id="ab"[number % 2], role="user") for number, text in enumerate(noise)]

    assert await sizes(items) == ([12], 0)


async def test_messages_without_times_or_senders_will_do():
    items = [
        text_message("assistant" if n % 2 else "user", m.content, "openai") for n, m in enumerate(talk("train", "soup"))
    ]

    cells, _ = await BoundaryDetector().adetect(items, is_final=True)

    assert [len(cell.items) for cell in cells] == [6, 6]
    assert [cell.timestamp for cell in cells] == [None, None]


async def test_a_step_without_a_model_decides_by_the_same_evidence():
    train, soup = talk("train"), talk("train", "soup")[6:]

    ended = await BoundaryDetector().adetect_step(train, soup[0])
    goes_on = await BoundaryDetector().adetect_step(train[:3], train[3])

    assert len(ended.cells) == 1
    assert goes_on == ([], train[:4])


async def test_weights_can_be_changed():
    cells, _ = await BoundaryDetector(weights=Weights(prior=-100.0)).adetect(talk("train", "soup"), is_final=True)

    assert len(cells) == 1


async def test_a_method_with_a_model_needs_one():
    with pytest.raises(ConfigurationError):
        BoundaryDetector(method="hybrid")
    with pytest.raises(InvalidInputError, match="method"):
        BoundaryDetector(method="nonsense")
    with pytest.raises(InvalidInputError, match="max_calls"):
        BoundaryDetector(max_calls=-1)
