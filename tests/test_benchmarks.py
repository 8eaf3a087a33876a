"""What `make bench` prints, and when it fails; its figures are not tests."""

from dataclasses import replace

from benchmarks.all import BEGIN, END, PAGE, SCENES
from benchmarks.rows import below, median, plus, table, times


def test_a_figure_is_judged_by_its_floor() -> None:
    assert times("a", "ms", 0.001, 0.0012, 1.3, "raw", 1e3).ok
    assert not times("a", "ms", 0.001, 0.0014, 1.3, "raw", 1e3).ok
    assert times("a", "ms", 0.001, 0.0014, 1.3, "raw", 1e3, 2.0).ok
    assert plus("a", "ms", 0.1, 0.3, 300.0, "raw", 1e3).ok
    assert not below("a", "MB", 0.0, 300.0, 250.0, "none").ok


def test_a_goal_that_is_missed_is_told_with_by_how_much() -> None:
    met = below("lag", "ms", 5.0, 50.0, 100.0, "idle")
    missed = replace(met, ours=150.0)
    lines = table([met, missed]).splitlines()
    assert lines[2] == "| lag | ms | 5 | idle | 50 | 10.00 | ≤ 100 | met |"
    assert lines[3].endswith("| **missed by 50%** |")


def test_what_else_the_machine_does_is_left_out() -> None:
    assert median([1.0, 2.0, 3.0, 90.0, 100.0]) == 2.0


def test_the_page_has_a_place_for_the_table_of_all_scenes() -> None:
    text = PAGE.read_text()
    assert text.index(BEGIN) < text.index(END)
    assert len(SCENES) == len({*SCENES})
