"""What the pages of docs/ show is true: their programs run, what they name is there."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bot.__main__ import make_parser
from bot.config import env_names
from bot.errors import ToolError
from bot.monitoring.prometheus import PrometheusMetrics
from bot.tools import own_tools
from docs.configure import PAGE, page

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))
OTHERS = {"INFO", "POSTGRES_PASSWORD", "SIGTERM", "FROM"}  # names in capitals that are no settings
each_page = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)


def blocks(path: Path, language: str) -> list[str]:
    pattern = rf"^```{language}\n(.*?)^```"
    return re.findall(pattern, path.read_text(), re.MULTILINE | re.DOTALL)


@each_page
def test_a_page_links_only_to_what_is_there(path: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        assert link.startswith("https://") or (path.parent / link).exists(), link


@each_page
def test_a_page_names_only_settings_that_exist(path: Path) -> None:
    named = set(re.findall(r"`([A-Z][A-Z_]{3,})(?:=[^`]*)?`", path.read_text()))
    assert named - OTHERS <= env_names()


@each_page
def test_a_page_shows_only_commands_that_exist(path: Path) -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for line in "".join(blocks(path, "sh")).splitlines():
        if line.startswith("python -m bot "):
            make_parser().parse_args(line.split()[3:])
        elif line.startswith("make "):
            assert line.split()[1] in targets
        else:
            for word in line.split():
                shipped = word.endswith((".yaml", ".service", ".txt", ".example"))
                assert not shipped or (ROOT / word).exists(), line


def test_the_readme_links_to_every_page() -> None:
    linked = set(re.findall(r"\(docs/(\w+\.md)\)", (ROOT / "README.md").read_text()))
    assert linked == {path.name for path in PAGES}


def test_the_page_of_settings_is_as_they_are() -> None:
    assert page() == PAGE.read_text()


def test_the_page_of_numbers_names_all_of_them() -> None:
    text = PrometheusMetrics().text(connected=True, found=None).decode()
    kinds = dict(re.findall(r"^# TYPE (parley_\w+) (\w+)$", text, re.MULTILINE))
    told = {name for name in kinds if not name.endswith("_created")}
    named = set(re.findall(r"^\| `(parley_\w+)`", (ROOT / "docs/run.md").read_text(), re.MULTILINE))
    assert named == told


async def test_the_tools_that_are_shown_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [program] = blocks(ROOT / "docs" / "tools.md", "python")
    (tmp_path / "my_tools.py").write_text(program)
    monkeypatch.chdir(tmp_path)
    price, order = own_tools("my_tools.py")
    told: list[str] = []
    context: Any = SimpleNamespace(progress=told.append)
    assert (await price.invoke({"item": "pizza"}, context)).text == "9.50"
    with pytest.raises(ToolError, match="There are: pizza"):
        await price.invoke({"item": "tea"}, context)
    assert not price.approval
    assert order.approval
