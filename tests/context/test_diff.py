"""Two manifests side by side."""

from __future__ import annotations

from inline_snapshot import snapshot

from threadline.context.assembler import ContextAssembler
from threadline.context.diff import diff, render_diff
from threadline.context.plan import ContextPlan, Omission
from threadline.journal.canonical import content_ref
from threadline.tokens import Measure

from .items import asked, known, said, told


def made(policy=None, *, factor=1.0, **fields):
    def everything(given):
        return ContextPlan(instruction=given.instruction, knowledge=given.knowledge, conversation=given.conversation)

    measure = Measure("gpt-4o", factor=factor)
    writer = ContextAssembler(policy=policy or everything, measure=measure, naming=content_ref, dialect="openai")
    fields.setdefault("model_config", {"model": "gpt-4o"})
    return writer.finish(writer.prepare(writer.price(asked(5000, **fields)))).manifest


def drops_a(given):
    gone = Omission(item_id="a", category="conversation", reason="budget", tokens=1)
    return ContextPlan(
        instruction=given.instruction, knowledge=given.knowledge, conversation=given.conversation[1:], omissions=(gone,)
    )


A, B, C, D = (said(name, sequence=number) for number, name in enumerate("abcd"))


def test_a_manifest_does_not_differ_from_itself():
    found = diff(made(conversation=[A, B]), made(conversation=[A, B]))

    assert found.changes == ()
    assert found.settings == ()
    assert found.unchanged == 2


def test_what_entered_left_moved_and_changed_is_told_with_its_cost():
    before = made(instruction=[told("i")], knowledge=[known("k")], conversation=[A, B, C])
    after = made(
        drops_a,
        instruction=[told("i", content="do it now")],
        knowledge=[known("k")],
        conversation=[A, C, B, D],
        model_config={"model": "gpt-4.1"},
    )

    found = diff(before, after)

    assert [(change.kind, change.item_id) for change in found.changes] == [
        ("left", "a"),
        ("changed", "i"),
        ("moved", "c"),
        ("entered", "d"),
    ]
    assert sum(change.tokens for change in found.changes) == found.tokens_after - found.tokens_before
    assert found.changes[0].reason == "budget"
    assert ("model", "gpt-4o", "gpt-4.1") in found.settings


def test_one_move_is_one_change():
    before = made(conversation=[A, B, C, D])
    after = made(conversation=[D, A, B, C])

    assert [(change.kind, change.item_id) for change in diff(before, after).changes] == [("moved", "d")]


def test_another_factor_is_a_recount():
    found = diff(made(conversation=[A]), made(conversation=[A], factor=1.5))

    assert [change.kind for change in found.changes] == ["recounted"]
    assert ("calibration_factor", "1.0", "1.5") in found.settings


def test_a_diff_reads_well_and_quotes_nothing():
    before = made(instruction=[told("i")], conversation=[A, B])
    after = made(drops_a, instruction=[told("i")], conversation=[A, B, C])

    text = render_diff(diff(before, after))

    assert text == snapshot("""\
21 -> 21 tokens (+0), 2 changes, 2 segments unchanged
  policy: everything -> drops_a
-     -6  a  external_message user  budget
+     +6  c  external_message user  policy\
""")
    assert "text a" not in text
