"""Discord's Markdown as the page draws it, read back from the browser."""

import pytest

from tests.page.visitor import Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")

LINK = '<a href="https://a.org/x" target="_blank" rel="noopener noreferrer">'
DRAWN = {
    # -- what stands in a line
    "plain": "plain",
    "**bold**": "<strong>bold</strong>",
    "*it* and _it_": "<em>it</em> and <em>it</em>",
    "__under__": "<u>under</u>",
    "~~struck~~": "<s>struck</s>",
    "***both***": "<strong><em>both</em></strong>",
    "**a *b* c**": "<strong>a <em>b</em> c</strong>",
    "__**u**__": "<u><strong>u</strong></u>",
    "snake_case_name": "snake_case_name",
    "2 * 3 * 4": "2 * 3 * 4",
    "**open": "**open",
    "\\*not\\*": "*not*",
    "C:\\path": "C:\\path",
    # -- code
    "`a*b*`": "<code>a*b*</code>",
    "`` a`b ``": "<code>a`b</code>",
    "`open": "`open",
    "```py\nx = 1\n```": '<pre tabindex="0"><code data-language="py">x = 1</code></pre>',
    "```only```": '<pre tabindex="0"><code data-language="">only</code></pre>',
    "a\n```\n*b*\n```\nc": 'a<pre tabindex="0"><code data-language="">*b*</code></pre>c',
    "```open\nx": "```open\nx",
    # -- blocks
    "> a\n> b\nc": "<blockquote>a\nb</blockquote>c",
    ">>> a\nb": "<blockquote>a\nb</blockquote>",
    ">no": "&gt;no",
    "> ```\n> x\n> ```": (
        '<blockquote><pre tabindex="0"><code data-language="">x</code></pre></blockquote>'
    ),
    "# H": '<p class="heading level-1" role="heading" aria-level="3">H</p>',
    "### *H*": '<p class="heading level-3" role="heading" aria-level="5"><em>H</em></p>',
    "#### no": "#### no",
    "#no": "#no",
    "-# small": '<small class="subtext">small</small>',
    "- a\n- b": "<ul><li>a</li><li>b</li></ul>",
    "- a\n  - b\n- c": "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>",
    "- a\r\n- b": "<ul><li>a</li><li>b</li></ul>",
    "3. a\n4. b": '<ol start="3"><li>a</li><li>b</li></ol>',
    "text\n- a\nmore": "text<ul><li>a</li></ul>more",
    "-no": "-no",
    "| a | b |\n|---|---|": "| a | b |\n|---|---|",
    "---": "---",
    # -- links
    "https://a.org/x": f"{LINK}https://a.org/x</a>",
    "(https://a.org/x).": f"({LINK}https://a.org/x</a>).",
    "<https://a.org/x>": f"{LINK}https://a.org/x</a>",
    "[**here**](https://a.org/x)": f"{LINK}<strong>here</strong></a>",
    "[a://b](https://a.org/x)": f"[a://b]({LINK}https://a.org/x</a>)",
    "[x](javascript:alert(1))": "[x](javascript:alert(1))",
    "![x](https://a.org/x)": f"!{LINK}x</a>",
    # -- Discord's own
    "<@1> <@!1>": '<span class="mention">@alice</span> <span class="mention">@alice</span>',
    "<@9>": '<span class="mention">@unknown-user</span>',
    "<@&2>": '<span class="mention">@mods</span>',
    "<#3>": '<button type="button" class="mention">#general</button>',
    "@everyone": '<span class="mention">@everyone</span>',
    "</approve:5>": '<span class="mention">/approve</span>',
    "<:smile:123>": ":smile:",
    "||x||": (
        '<span class="spoiler" role="button" tabindex="0" aria-label="Spoiler">'
        '<span class="hidden" aria-hidden="true">x</span></span>'
    ),
    # -- what must never run
    "<img src=x onerror=alert(1)>": "&lt;img src=x onerror=alert(1)&gt;",
    "**<script>x</script>**": "<strong>&lt;script&gt;x&lt;/script&gt;</strong>",
}


async def test_it_is_drawn_as_discord_draws_it(visitor: Visitor) -> None:
    drawn = {text: await visitor.drawn(text) for text in DRAWN}
    assert drawn == DRAWN


async def test_a_list_of_any_depth_loses_no_item(visitor: Visitor) -> None:
    drawn = await visitor.drawn("\n".join(f"{'  ' * level}- item {level}." for level in range(30)))
    assert [f"item {level}." in drawn for level in range(30)] == [True] * 30


async def test_times_are_those_of_the_reader(visitor: Visitor) -> None:
    assert "14 November 2023" in await visitor.drawn("<t:1700000000:D>")
    assert "ago" in await visitor.drawn("<t:1700000000:R>")
    assert await visitor.drawn("<t:9999999999999>") == "Invalid Date"


@pytest.mark.parametrize("mark", ["*", "_", "`", "|", "~", "[", "<", "> ", "- ", "**a ", "||*_"])
async def test_twice_the_text_is_no_more_than_twice_the_work(visitor: Visitor, mark: str) -> None:
    """Work is how often a text is searched, cut or matched."""
    script = """async (text) => {
        const { parse } = await import("/page/markdown.js");
        const kinds = { indexOf: String, slice: String, startsWith: String, exec: RegExp };
        const real = Object.entries(kinds).map(([name, { prototype }]) => ({
            prototype, name, method: prototype[name],
        }));
        let work = 0;
        for (const { prototype, name, method } of real) {
            prototype[name] = function (...given) {
                work += 1;
                return method.apply(this, given);
            };
        }
        try {
            parse(text);
        } finally {
            for (const { prototype, name, method } of real) prototype[name] = method;
        }
        return work;
    }"""
    half, whole = [await visitor.page.evaluate(script, (mark * n)[:n]) for n in (1000, 2000)]
    assert whole <= 2.1 * half
