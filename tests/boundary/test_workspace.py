"""Mailboxes, issue trackers and page histories as episodes."""

from __future__ import annotations

import json
import mailbox
from email.message import EmailMessage

import pytest

from threadline.boundary import WorkspaceMemCellExtractor
from threadline.boundary.workspace.posts import plain_subject, without_quotes
from threadline.errors import InvalidInputError

pytestmark = pytest.mark.anyio


def mail(number, body, *, subject="Budget", day=1, sender="Ann <ann@example.org>", parent=None, html=None):
    message = EmailMessage()
    message["From"] = sender
    message["To"] = "team@example.org"
    message["Subject"] = subject
    message["Date"] = f"{day:02} Mar 2026 10:0{number}:00 +0100"
    message["Message-ID"] = f"<{number}@example.org>"
    if parent is not None:
        message["In-Reply-To"] = f"<{parent}@example.org>"
    message.set_content(body)
    if html is not None:
        message.add_alternative(html, subtype="html")
    return message


@pytest.fixture
def box(tmp_path):
    """A function that gives the bytes of an mbox file, written by the standard library."""

    def written(*mails):
        path = tmp_path / "box.mbox"
        kept = mailbox.mbox(path)
        for one in mails:
            kept.add(one)
        kept.close()
        return path.read_bytes()

    return written


def extract(content, **options):
    return WorkspaceMemCellExtractor(**options).extract(content)


def texts(cells):
    return [[item.content for item in cell.items] for cell in cells]


REPLY = "Fine with me.\n\nOn Sun, 1 Mar 2026 at 10:01, Ann <ann@example.org> wrote:\n> Shall we spend it all?\n"


def test_a_thread_is_an_episode_and_quoted_replies_are_not_new(box):
    cells = extract(
        box(
            mail(1, "Shall we spend it all?"),
            mail(2, "Lunch at noon?", subject="Lunch"),
            mail(3, REPLY, subject="Re: Budget", sender="Bob <bob@example.org>", parent=1),
        )
    )

    assert texts(cells) == [["Budget\n\nShall we spend it all?", "Fine with me."], ["Lunch\n\nLunch at noon?"]]
    assert [(item.sender_id, item.sender_name) for item in cells[0].items] == [
        ("ann@example.org", "Ann"),
        ("bob@example.org", "Bob"),
    ]
    assert cells[0].message_ids == ("<1@example.org>", "<3@example.org>")
    assert cells[0].timestamp == 1_772_355_780_000


def test_replies_without_headers_are_found_by_subject_or_by_what_they_quote(box):
    said = "We might want to move the whole archive to the cellar."
    cells = extract(
        box(
            mail(1, said, subject="Archive"),
            mail(2, "Yes.", subject="AW: Archive"),
            mail(3, f"No!\n\n> {said}", subject="Fwd: Archive"),
            mail(4, f"Another thing\n> {said}", subject="Cellar"),
        )
    )

    assert [len(cell.items) for cell in cells] == [3, 1]


def test_a_subject_that_a_reply_changes_begins_another_episode(box):
    cells = extract(box(mail(1, "one"), mail(2, "two", subject="Holidays (was: Budget)", parent=1)))

    assert [len(cell.items) for cell in cells] == [1, 1]


def test_equal_subjects_of_new_mails_are_not_one_thread(box):
    assert len(extract(box(mail(1, "one"), mail(2, "two")))) == 2


def test_a_thread_that_rested_for_more_than_a_week_is_two_episodes(box):
    cells = extract(box(mail(1, "one"), mail(2, "two", parent=1, day=7), mail(3, "three", parent=2, day=20)))

    assert texts(cells) == [["Budget\n\none", "two"], ["Budget\n\nthree"]]


def test_replies_to_a_mail_that_is_not_in_the_box_are_together(box):
    assert len(extract(box(mail(2, "two", parent=1), mail(3, "three", parent=1)))) == 1


def test_lines_that_begin_with_from_do_not_divide_a_mail(box):
    assert texts(extract(box(mail(1, "From here on\nFrom now on at 10:30 we rest")))) == [
        ["Budget\n\nFrom here on\nFrom now on at 10:30 we rest"]
    ]


def test_a_single_mail_is_a_file_too_in_both_line_endings():
    plain = mail(1, "Shall we?").as_bytes()

    assert texts(extract(plain)) == [["Budget\n\nShall we?"]]
    assert texts(extract(plain.replace(b"\n", b"\r\n"))) == [["Budget\n\nShall we?"]]


def test_html_alone_is_read_without_its_quotations():
    message = EmailMessage()
    message["From"] = "ann@example.org"
    message["Subject"] = "Hi"
    message.set_content(
        "<style>p{}</style><p>I  agree.</p><p>Ann</p><blockquote><p>Do you?</p></blockquote>", subtype="html"
    )

    assert texts(extract(message.as_bytes())) == [["Hi\n\nI agree.\n\nAnn"]]


def test_broken_mails_are_read_as_far_as_they_go():
    broken = b"From: \xff\xfe\nDate: yesterday\nContent-Type: text/plain; charset=nonsense\n\nhello\n"

    assert len(extract(broken)) <= 1


def comment(number, body, login, created_at):
    return {"id": number, "body": body, "user": {"login": login}, "created_at": created_at}


ISSUE = {
    "number": 7,
    "title": "Crash on start",
    "body": "It crashes.",
    "user": {"login": "ann"},
    "created_at": "2026-03-01T10:00:00Z",
    "comments": [
        comment(1, "> It crashes.\n\nWhich version?", "bob", "2026-03-01T11:00:00Z"),
        comment(2, "> Which version?", "ann", "2026-03-01T12:00:00Z"),
        comment(3, "Still there in 2.0.", "eve", "2026-04-01T12:00:00Z"),
    ],
}


def test_an_issue_with_its_comments_is_cut_by_time_and_empty_replies_fall_out():
    cells = extract(json.dumps(ISSUE))

    assert texts(cells) == [
        ["Crash on start\n\nIt crashes.", "Which version?"],
        ["Crash on start\n\nStill there in 2.0."],
    ]
    assert [item.sender_id for item in cells[0].items] == ["ann", "bob"]
    assert cells[0].message_ids == ("issue 7", "issue 7 comment 1")


def test_issues_are_episodes_of_their_own():
    cells = extract(json.dumps([ISSUE, {"title": "Typo", "user": "bob"}]))

    assert texts(cells)[-1] == ["Typo\n\nTypo"]


PAGE = {
    "title": "Cellar",
    "revisions": [
        {"id": 2, "timestamp": "2026-03-01T10:10:00Z", "author": "ann", "content": "Dark.\nCold.", "comment": "colder"},
        {"id": 1, "timestamp": "2026-03-01T10:00:00Z", "author": "ann", "content": "Dark.", "comment": ""},
        {"id": 3, "timestamp": "2026-03-01T10:20:00Z", "author": "bob", "content": "Dark.\nCold.\nWet.", "comment": ""},
        {"id": 4, "timestamp": "2026-03-02T10:20:00Z", "author": "bob", "content": "Dark.\nWet.", "comment": ""},
        {"id": 5, "timestamp": "2026-03-03T10:20:00Z", "author": "bob", "content": "Dark.\nWet!", "comment": ""},
    ],
}


def test_a_page_is_cut_by_author_and_time_and_only_what_was_added_counts():
    cells = extract(json.dumps(PAGE))

    assert texts(cells) == [["Cellar\n\nDark.", "colder\nCold."], ["Cellar\n\nWet."], ["Cellar\n\nWet!"]]


def test_long_threads_are_cut_by_the_limits():
    issue = {**ISSUE, "comments": [{"id": n, "body": f"note {n}", "created_at": None} for n in range(6)]}

    cells = extract(json.dumps(issue), hard_msg_limit=3)

    assert [len(cell.items) for cell in cells] == [2, 2, 2, 1]
    assert cells[0].message_ids == ("issue 7", "issue 7 comment 0")


@pytest.mark.parametrize("content", ["", "hello", "[1]", '{"a": ', b"\xff\xfe"])
def test_anything_else_is_refused(content):
    with pytest.raises(InvalidInputError):
        extract(content)


async def test_the_sync_twin_refuses_to_block_a_running_loop():
    with pytest.raises(RuntimeError, match="await aextract"):
        extract("{}")
    assert len(await WorkspaceMemCellExtractor().aextract(json.dumps(ISSUE), kind="issues")) == 2


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Yes.\n\nAm 1.3.2026 um 10:00 schrieb Ann:\n> Nein?", "Yes."),
        ("Yes.\n\nOn Sun, 1 Mar 2026 at 10:01, Ann Example\n<ann@example.org> wrote:\n\n> No?", "Yes."),
        ("Yes.\n-- \nAnn\nExample Ltd", "Yes."),
        ("Yes.\n-----Original Message-----\nFrom: Ann\nNo?", "Yes."),
        ("> No?\nYes.\n> Why?\nSo.", "Yes.\nSo."),
        ("On Monday she wrote:\nnothing", "On Monday she wrote:\nnothing"),
        ("a > b\n\n\n\nc", "a > b\n\nc"),
    ],
)
def test_what_the_author_wrote_is_what_is_left_without_quotations(text, own):
    assert without_quotes(text) == own


@pytest.mark.parametrize(
    "subject", ["Re: Budget", "RE: re: Budget", "AW: Fwd: Budget", " Re[2]:  Budget", "回复：Budget"]
)
def test_marks_of_replies_are_no_subject(subject):
    assert plain_subject(subject) == "Budget"
