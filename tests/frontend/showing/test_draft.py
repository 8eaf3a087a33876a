"""What a preview writes next."""

from hypothesis import given
from hypothesis import strategies as st

from bot.frontend.rendering.markdown import LIMIT, Stream
from bot.frontend.showing.draft import Draft, Due, Subject, using
from bot.frontend.showing.pacing import Kind
from bot.frontend.view.shown import Key

SUBJECT = Subject(session_id="dm-1", turn_id="turn-1", name="m0", reply_to="discord-5")


def written(draft: Draft) -> list[Due]:
    """Write all that is due, and return it."""
    found = []
    while (due := draft.due()) is not None:
        draft.wrote(due.shown)
        found.append(due)
    return found


@given(st.lists(st.tuples(st.text(max_size=600), st.integers(0, 3)), max_size=20))
def test_what_is_due_makes_the_screen_equal_to_the_text(chunks: list[tuple[str, int]]) -> None:
    draft, stream, screen = Draft(SUBJECT), Stream(), dict[Key, str]()
    for chunk, writes in chunks:
        chunk = chunk.replace("<", "")
        draft.add(chunk)
        stream.add(chunk)
        for _ in range(writes):
            if (due := draft.due()) is not None:
                draft.wrote(due.shown)
                screen[due.shown.key] = due.shown.content
    for due in written(draft):
        assert len(due.shown.content) <= LIMIT
        assert due.kind is (Kind.EDIT if due.shown.key in screen else Kind.SEND)
        screen[due.shown.key] = due.shown.content
    expected = draft._text.preview()
    assert [screen[key] for key in sorted(screen)][: len(expected)] == expected


def test_a_full_message_gets_its_last_form_in_one_edit() -> None:
    draft, writes = Draft(SUBJECT), list[Due]()
    for number in range(1000):
        draft.add(f"word{number:04} ")
        writes += written(draft) if number % 20 == 0 else []
    writes += written(draft)
    for part in range(4):
        of_part = [each.shown for each in writes if each.shown.key.part == part]
        last = [number for number, each in enumerate(of_part) if not each.buttons]
        assert last == [len(of_part) - 1]
        assert not of_part[-1].content.endswith("…")


def test_text_is_written_before_buttons_are_taken_away() -> None:
    draft = Draft(SUBJECT)
    draft.add("word " * 1000)
    due = written(draft)
    assert [(each.kind, each.shown.key.part) for each in due] == [
        (Kind.SEND, 0),
        (Kind.SEND, 1),
        (Kind.SEND, 2),
        (Kind.EDIT, 0),
        (Kind.EDIT, 1),
    ]
    assert [each.begins for each in due] == [True, False, False, False, False]


def test_the_text_begins_where_the_status_line_is() -> None:
    draft = Draft(SUBJECT)
    draft.say("One moment.")
    (line,) = written(draft)
    draft.add("Hello")
    (text,) = written(draft)
    assert (line.kind, line.begins, text.kind, text.begins) == (Kind.SEND, False, Kind.EDIT, True)
    draft.add(" you")
    assert [each.kind for each in written(draft)] == [Kind.EDIT]


def test_a_call_that_has_text_is_not_made_another() -> None:
    again = Subject(session_id="dm-1", turn_id="turn-1", name="m1", reply_to=None)
    draft = Draft(SUBJECT)
    draft.add("Hello")
    assert not draft.goes_on(again)
    written(draft)
    assert not draft.goes_on(again)


def test_many_tools_are_counted_and_none_can_break_out() -> None:
    assert using(["a", "a", "b"]) == "-# Using `a`, `b`…"
    assert using(list("abcdefg")) == "-# Using `a`, `b`, `c`, `d`, `e` and 2 more…"
    assert using(["x`\n# y"]) == "-# Using `x # y`…"
    assert len(using(["x" * 5000] * 9)) < 200
