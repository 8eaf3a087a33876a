"""A visitor in a real browser, and a bot to talk to.

One browser serves all tests of a process, so they and their fixtures share one event loop. Each
test has a tab and an origin of its own, so nothing that is kept for either is left to the next.
"""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route
from playwright.async_api import BrowserContext, Page, async_playwright, expect

from bot.sandbox import Sandbox, serve
from tests.page.talker import Talker
from tests.page.visitor import FLAGS, Visitor
from tests.sandbox.clients import Home, make_home, running

PATIENCE = 30_000  # ms; only what fails takes them
expect.set_options(timeout=PATIENCE)
CHROMIUM = shutil.which("chromium")
PATIENCE = 30_000  # milliseconds; nothing waits so long that goes well, on a slow machine either


@asynccontextmanager
async def browsing() -> AsyncIterator[BrowserContext]:
    """Run Chromium while the block lasts; without one the test is skipped, but not in CI."""
    if CHROMIUM is None:
        if os.environ.get("CI"):  # noqa: TID251 - the test run's own setting, not the bot's
            pytest.fail("CI is set and there is no chromium: apt-get install chromium")
        pytest.skip("there is no chromium here: apt-get install chromium")
    expect.set_options(timeout=PATIENCE)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield await browser.new_context(locale="en-GB")
        finally:
            await browser.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[BrowserContext]:
    async with browsing() as browser:
        await browser.new_page()  # it stays: beside another, a tab opens with half the work
        yield browser


@pytest.fixture(name="home")
def _home() -> Home:
    home = make_home()
    home.guild.channel("announcements", topic="What everybody should know")
    home.guild.grant(home.bot, "MANAGE_MESSAGES")
    return home


@pytest.fixture
def restarts() -> list[str]:
    """How often the page asked for a restart."""
    return []


@pytest_asyncio.fixture(loop_scope="session")
async def sandbox(
    home: Home, restarts: list[str], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Sandbox]:
    async def restart() -> None:
        restarts.append("restarted")

    notice = "The answers are **scripted**. For a real model set `OPENAI_API_KEY` in `.env`."
    async with serve(home.world, notice=notice, restart=restart) as running:
        monkeypatch.setattr(Route, "BASE", running.api_base)
        monkeypatch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(running.gateway_url))
        yield running


@asynccontextmanager
async def talking(home: Home) -> AsyncIterator[Talker]:
    """Have the bot there, with its commands, while the block lasts."""
    talker = Talker()
    async with running(talker, home.bot):
        await talker.synced.wait()
        yield talker


@pytest_asyncio.fixture(loop_scope="session")
async def talker(home: Home, sandbox: Sandbox) -> AsyncIterator[Talker]:
    async with talking(home) as talker:
        yield talker


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(browser: BrowserContext, sandbox: Sandbox, home: Home) -> AsyncIterator[Visitor]:
    async with opened(browser, sandbox) as page:
        yield Visitor(page, home)


@pytest_asyncio.fixture(loop_scope="session")
async def phone(browser: BrowserContext, sandbox: Sandbox, home: Home) -> AsyncIterator[Visitor]:
    async with opened(browser, sandbox, width=390, height=844) as page:
        yield Visitor(page, home)


@asynccontextmanager
async def opened(
    browser: BrowserContext,
    sandbox: Sandbox,
    *,
    width: int = 1280,
    height: int = 800,
    place: str = "",
) -> AsyncIterator[Page]:
    """Open the page; whatever goes wrong in its scripts fails the test."""
    page = await browser.new_page()
    await page.set_viewport_size({"width": width, "height": height})
    page.set_default_timeout(PATIENCE)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    await page.goto(f"{sandbox.page_url}#{place}")
    await page.locator("#title:not(:empty)", has_text="#").wait_for()
    try:
        yield page
    finally:
        await browser.set_offline(False)
        await page.evaluate("localStorage.clear()")  # a later server may have this one's port
        await page.close()
    # A refusal, or that nobody answers: the page tells both.
    expected = ("status of 400", "ERR_INTERNET_DISCONNECTED", "ERR_CONNECTION", "ERR_INCOMPLETE")
    assert [each for each in wrong if not any(one in each for one in expected)] == []
