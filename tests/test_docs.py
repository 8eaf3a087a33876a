"""What the pages of docs/ show is true: their programs run, what they name is there."""

import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bot.__main__ import make_parser
from bot.config import env_names
from bot.errors import ToolError
from bot.monitoring.prometheus import PrometheusMetrics
from bot.sandbox.model import DemoModel
from bot.sandbox.model.replies import Answer
from bot.tools import own_tools
from docs.configure import PAGE, page

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))
OTHERS = {
    "INFO",
    "POSTGRES_PASSWORD",
    "SIGTERM",
    "FROM",
    "PYTHONPATH",
    "COMPOSE_FILE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
}  # names in capitals that are no settings
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
    for line in "".join(blocks(path, "sh")).replace("\\\n", "").splitlines():
        for arguments in given_to_the_bot(shlex.split(line)):
            make_parser().parse_args(arguments)
        for target in re.findall(r"^(?:[A-Z]+=\S+ )*make (\S+)", line):
            assert target in targets
        for shipped in re.findall(r"(?<![\w./@-])[\w./-]+\.(?:yaml|service|txt|example)\b", line):
            assert (ROOT / shipped).exists(), line


def given_to_the_bot(words: list[str]) -> Iterator[list[str]]:
    """Return what a command line gives `python -m bot`, here, in a container or under systemd."""
    words = list(takewhile(lambda each: each not in ("<", ">", "|", "&&"), words))
    if words[-2:-1] == ["-c"]:
        yield from given_to_the_bot(shlex.split(words[-1]))
    elif "bot" in words and words[words.index("bot") - 1] == "-m":
        yield words[words.index("bot") + 1 :]
    elif words[:3] == ["docker", "compose", "run"]:
        yield words[words.index("parley") + 1 :]
    elif words and re.fullmatch(r"parley(@\w)?", words[0]):
        yield words[1:]


def test_commands_are_found_wherever_they_run() -> None:
    lines = "".join("".join(blocks(path, "sh")) for path in PAGES).replace("\\\n", "").splitlines()
    found = [each for line in lines for each in given_to_the_bot(shlex.split(line))]
    assert found.count(["backup", "parley-backup.db"]) == 5
    assert ["migrate-store", "sqlite:////data/parley.db", "$DATABASE_URL"] in found
    assert ["check"] in found


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
    monkeypatch.chdir("/")
    assert [each.name for each in own_tools(str(tmp_path / "my_tools.py"))] == ["price", "order"]


def test_the_scripted_model_uses_the_tool_that_is_shown() -> None:
    [said] = blocks(ROOT / "docs" / "tools.md", "text")
    offered = [{"type": "function", "function": {"name": "price"}}]
    messages = [{"role": "user", "content": said.strip()}]
    reply = DemoModel().reply({"messages": messages, "tools": offered}, {})
    assert isinstance(reply, Answer)
    assert list(reply.calls) == [("price", {"item": "pizza"})]
