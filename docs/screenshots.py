"""Take the README's pictures from the running page: ``make screenshots``.

The bot is the real one, in the sandbox, with the scripted model.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright

from bot import sandbox
from bot.playground.stage import BotProcess, Stage, make_stage
from bot.sandbox.model import DemoModel, serve_model

HERE = Path(__file__).parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
PATIENCE = 20.0


async def main() -> None:
    """Play a short conversation, and take a picture of it on a desk and on a phone."""
    async with AsyncExitStack() as stack:
        stage = make_stage()
        served = sandbox.serve(stage.world, restart=asyncio.Event().wait)
        running = await stack.enter_async_context(served)
        model = await stack.enter_async_context(serve_model(DemoModel(delay=0.01)))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        values = {"OPENAI_BASE_URL": model.base_url, "OPENAI_MODEL": "scripted"}
        bot = BotProcess({**stage.settings(running, folder), **values})
        await bot.start()
        stack.push_async_callback(bot.stop)
        await running.connected(stage.bot, PATIENCE)
        await converse(stage)
        playwright = await stack.enter_async_context(async_playwright())
        chromium = shutil.which("chromium") or sys.exit("install chromium first")
        browser = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        stack.push_async_callback(browser.close)
        address = f"{running.page_url}#{stage.talk.id}"
        await picture(browser, address, "sandbox.png", width=1200, height=760)
        await picture(browser, address, "sandbox-phone.png", width=390, height=760)


async def converse(stage: Stage) -> None:
    """Introduce oneself, ask for something that needs a yes, and let a stranger try."""
    talk, wren = stage.talk, stage.wren

    async def says(text: str, answer: str) -> None:
        await wren.says(text, in_=talk)
        await talk.until(
            lambda seen: any(
                answer in each.content and "Stop" not in labels(each.buttons)
                for each in seen
                if each.author is stage.bot
            ),
            PATIENCE,
        )

    await says("my name is Wren", "Nice to meet you")
    await says("roll 2d6", "Done")
    await says(f"announce Dinner is ready in {stage.announcements.mention}", "May I run")
    card = next(each for each in reversed(talk.messages) if "Approve" in labels(each.buttons))
    await stage.bob.says("I could click that for you", in_=talk)
    await stage.bob.reacts(card, "☕")


def labels(buttons: list[dict[str, object]]) -> list[str]:
    """Return what stands on buttons."""
    return [str(each.get("label")) for each in buttons]


async def picture(browser: Browser, address: str, name: str, *, width: int, height: int) -> None:
    """Open the page and keep what it looks like."""
    context = await browser.new_context(
        viewport={"width": width, "height": height}, device_scale_factor=1.5, color_scheme="dark"
    )
    page: Page = await context.new_page()
    await page.goto(address)
    await page.get_by_role("button", name="Approve").last.wait_for()
    await page.wait_for_timeout(500)
    await page.screenshot(path=HERE / name)
    await context.close()


if __name__ == "__main__":
    asyncio.run(main())
