from bot.frontend.rate import Rate, Verdict


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_so_many_turns_a_minute_and_told_once() -> None:
    clock = Clock()
    rate = Rate(2, clock)
    assert [rate.ask(1) for _ in range(4)] == [
        Verdict.ANSWER,
        Verdict.ANSWER,
        Verdict.TELL,
        Verdict.SILENT,
    ]


def test_people_do_not_share_their_turns() -> None:
    rate = Rate(1, Clock())
    assert [rate.ask(1), rate.ask(2)] == [Verdict.ANSWER, Verdict.ANSWER]


def test_a_minute_later_there_are_turns_again() -> None:
    clock = Clock()
    rate = Rate(1, clock)
    first = [rate.ask(1), rate.ask(1)]
    clock.now = 60.0
    assert [*first, rate.ask(1), rate.ask(1)] == [Verdict.ANSWER, Verdict.TELL] * 2


def test_what_is_heard_late_counts_for_the_minute_it_was_written_in() -> None:
    rate = Rate(1, Clock())
    assert [rate.ask(1, written) for written in (0.0, 120.0, 150.0, 240.0)] == [
        Verdict.ANSWER,
        Verdict.ANSWER,
        Verdict.TELL,
        Verdict.ANSWER,
    ]


def test_a_message_that_is_tried_again_counts_once() -> None:
    rate = Rate(2, Clock())
    tried = [rate.ask(1, message=7) for _ in range(3)]
    assert [*tried, rate.ask(1, message=8), rate.ask(1, message=9)] == [
        *[Verdict.ANSWER] * 4,
        Verdict.TELL,
    ]
