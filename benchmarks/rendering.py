"""What the renderer costs beside markdown-it alone.

`python -m benchmarks.rendering`. CPU time, medians over rounds in which all contenders take turns.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from markdown_it import MarkdownIt

from bot.frontend.rendering.markdown import Stream, render, split

ROUNDS = 41
ANSWER = """\
## How to read a file

A file is opened with the built-in `open` function, which returns an object that can be read as a
whole, line by line, or in pieces of a given size. It is good style to use it in a `with` block, so
that it is closed again whatever happens, also when an error is raised in the middle of the work.

Some things to keep in mind:

- **Encoding**: say which one you want, since the default differs between systems.
- *Newlines*: they are translated on reading unless you ask for something else.
- See [the documentation](https://docs.python.org/3/library/functions.html#open) for the rest.

```python
from pathlib import Path

def longest_line(path: Path) -> str:
    with path.open(encoding="utf-8") as lines:
        return max(lines, key=len, default="")
```

| Mode | Reads | Writes |
|------|-------|--------|
| `r`  | yes   | no     |
| `w`  | no    | yes    |

The function above needs no more memory than the two longest lines take, however long the file is.
That is because the file object is an iterator, and `max` looks at one line after the other. If you
want the number of the line as well, use `enumerate`, and compare by the length of the second item.

"""
# Of each of these somebody once built a parser that took quadratic time.
PATTERNS = [
    *(
        "*",
        "`",
        "``` ",
        "[",
        "![",
        "](",
        "> ",
        "1. ",
        "- ",
        "|",
        "<",
        "$",
        "\\(",
        "a**b",
        "||",
        "<b>",
    ),
    *("\n", "> \n", "<!--", "```\n", "| a |\n|---|\n", "**a ", "*a* `b` ", "[a](b) ", "_a", "a\n"),
    *(
        "\u0301",
        "a `",
        "</a>",
        "[^1]",
        "   ",
        "\t",
        "> - ",
        "- a\n  ",
        "# ",
        "\r\n",
        "<br>\n",
        "$$\n",
    ),
]


def sized(text: str, size: int) -> str:
    return (text * (size // len(text) + 1))[:size]


def cost(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1e3


def medians(contenders: dict[str, Callable[[], object]]) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, work in contenders.items():
            times[name].append(cost(work))
    return {name: statistics.median(each) for name, each in times.items()}


def per_preview(size: int) -> float:
    """Return the median cost of one more chunk and a look, at the end of such a long text."""
    text = sized(ANSWER, size + 2000)
    stream = Stream(max_parts=None)
    stream.add(text[:size])
    stream.preview()
    times = []
    for at in range(size, size + 2000, 20):
        chunk = text[at : at + 20]

        def work(chunk: str = chunk) -> None:
            stream.add(chunk)
            stream.preview()

        times.append(cost(work))
    return statistics.median(times)


def main() -> None:
    floor = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    texts = {
        "an answer, 10,000": sized(ANSWER, 10_000),
        "an answer, 60,000": sized(ANSWER, 60_000),
        "prose on one line, 10,000": sized("Some words, and then a few more of them. ", 10_000),
        "one code block, 10,000": "```py\n" + sized("total = total + each\n", 9_990) + "```",
        "one word, 10,000": "x" * 10_000,
    }
    print(f"{'ms':28}{'markdown-it':>12}{'split':>10}{'ratio':>8}{'render':>10}")
    for name, text in texts.items():
        found = medians(
            {
                "floor": lambda text=text: floor.parse(text),
                "split": lambda text=text: split(text),
                "render": lambda text=text: render(text),
            }
        )
        ratio = found["split"] / found["floor"]
        print(f"{name:28}{found['floor']:12.2f}{found['split']:10.2f}{ratio:8.2f}", end="")
        print(f"{found['render']:10.2f}")
    print("\na chunk of 20 and a preview, at the end of so many characters")
    for size in (1_000, 10_000, 60_000):
        print(f"{size:28,}{per_preview(size):12.2f}")
    print("\nthe slowest of what was made to be slow, split: 20,000, 40,000, ratio")
    doubled = [
        (
            cost(lambda each=each: split(sized(each, 20_000))),
            cost(lambda each=each: split(sized(each, 40_000))),
            each,
        )
        for each in PATTERNS
    ]
    for once, twice, each in sorted(doubled, key=lambda row: -row[1])[:4]:
        print(f"{each!r:>28}{once:12.0f}{twice:10.0f}{twice / once:8.2f}")


if __name__ == "__main__":
    main()
