from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from bot.agent.model.growing import TOGETHER, Growing

pieces = st.lists(st.text(max_size=3), max_size=3 * TOGETHER)


def grown(texts: list[str]) -> Growing:
    growing = Growing()
    for text in texts:
        growing.add(text)
    return growing


@given(pieces)
def test_it_is_all_that_was_added(texts: list[str]) -> None:
    growing = grown(texts)
    assert str(growing) == "".join(texts)
    assert len(growing) == len("".join(texts))


@given(pieces, st.data())
def test_it_is_read_from_any_place(texts: list[str], data: st.DataObject) -> None:
    growing = grown(texts)
    start = data.draw(st.integers(0, len(growing)))
    assert growing.since(start) == "".join(texts)[start:]


@given(pieces, pieces, st.data())
def test_it_grows_on_from_where_it_was_cut(
    texts: list[str], more: list[str], data: st.DataObject
) -> None:
    growing = grown(texts)
    start = data.draw(st.integers(0, len(growing)))
    assert growing.cut(start) == "".join(texts)[start:]
    for text in more:
        growing.add(text)
    assert str(growing) == "".join(texts)[:start] + "".join(more)
    assert growing.since(start) == "".join(more)
    assert len(growing) == len(str(growing))


def test_many_words_take_little_more_than_their_letters() -> None:
    growing = Growing()
    tracemalloc.start()
    for number in range(10_000):
        growing.add(f" {number:04}")
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 2 * len(growing)
