"""`MemCell`."""

from __future__ import annotations

from threadline.boundary import MemCell

from .conversations import chat, chats, tools


def test_a_cell_can_be_made_of_a_list_as_everalgo_makes_it():
    cell = MemCell(items=chats(2), timestamp=chat(1).timestamp)

    assert cell.items == tuple(chats(2))
    assert cell.message_ids == ("m0", "m1")


def test_the_id_depends_on_the_messages_alone():
    assert MemCell.of(chats(2)).id == MemCell(items=chats(2), timestamp=5).id
    assert MemCell.of(chats(2)).id != MemCell.of(chats(3)).id
    assert MemCell.of(chats(2)).id.startswith("cell_")


def test_messages_without_ids_get_one_from_what_they_say():
    ask, answer = tools("a")

    ids = MemCell.of([chat(0), ask, answer]).message_ids

    assert ids[0] == "m0"
    assert len(set(ids)) == 3
    assert all(made.startswith("msg_") for made in ids[1:])


def test_an_id_of_the_hosts_own_is_kept():
    assert MemCell(items=(chat(0),), id="mine").id == "mine"


def test_a_cell_of_nothing_has_no_time():
    assert MemCell.of([]).timestamp is None
