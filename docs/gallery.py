"""Take pictures of the gallery, to be looked at: ``python -m docs.gallery FOLDER [NAME ...]``.

Each answer is pictured whole, as it is on a desk and on a phone.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path

from playwright.async_api import Browser, async_playwright

from bot.playground.gallery import gallery
from docs.screenshots import FLAGS

SIZES = {"desk": 1200, "phone": 390}
TALLEST = 9000
HIDDEN = """() => {
    const each = document.querySelector("#scroller");
    return each.scrollHeight - each.clientHeight;
}"""


async def main(folder: Path, names: list[str]) -> None:
    """Show the gallery, and take all pictures, or those of the answers that are named."""
    chromium = shutil.which("chromium") or sys.exit("install chromium first")
    async with gallery() as hung, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for exhibit, room in hung.rooms:
            if not names or any(each in exhibit.name for each in names):
                for size, width in SIZES.items():
                    address = f"{hung.running.page_url}#{room.id}"
                    await picture(browser, address, folder / f"{exhibit.name}-{size}.png", width)
        await browser.close()


async def picture(browser: Browser, address: str, file: Path, width: int) -> None:
    """Open the page high enough for a whole answer, and keep what it looks like."""
    context = await browser.new_context(
        viewport={"width": width, "height": 500}, color_scheme="dark"
    )
    page = await context.new_page()
    await page.goto(address)
    await page.locator("#messages > li.message").nth(1).wait_for()
    height = min(500 + int(await page.evaluate(HIDDEN)), TALLEST)
    await page.set_viewport_size({"width": width, "height": height})
    await page.wait_for_timeout(200)
    await page.screenshot(path=file)
    await context.close()


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(target, sys.argv[2:]))
