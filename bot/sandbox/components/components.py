"""What the sandbox demands of components and embeds (reference, "Component Reference")."""

from bot.sandbox.components.selects import KINDS, check_select
from bot.sandbox.refusals.errors import Json
from bot.sandbox.refusals.forms import Form
from bot.sandbox.resources.messages import BUTTON, Flags

ROW, TEXT_DISPLAY = 1, 10
LINK, PREMIUM = 5, 6
SCHEMES = ("http://", "https://", "discord://")
# Section, text display, thumbnail, gallery, file, separator, container.
V2_KINDS = {9, TEXT_DISPLAY, 11, 12, 13, 14, 17}
MOST_ROWS, MOST_IN_ROW, MOST_V2 = 5, 5, 40
EMBED_LENGTHS = {"title": 256, "description": 4096}
MOST_EMBEDS, MOST_FIELDS, MOST_EMBED_TEXT = 10, 25, 6000


def checked_components(form: Form, flags: Flags) -> list[Json] | None:
    """Return the components of a message; None when the body does not speak of them."""
    v2 = Flags.COMPONENTS_V2 in flags
    tops = form.children("components", most=MOST_V2 if v2 else MOST_ROWS)
    if tops is None:
        return [] if "components" in form.body else None
    seen: list[str] = []
    counted = sum(_check(top, seen, v2=v2) for top in tops)
    if counted > MOST_V2 and v2:
        form.wrong("BASE_TYPE_BAD_LENGTH", f"At most {MOST_V2} components.", "components")
    return [top.body for top in tops]


def _check(top: Form, seen: list[str], *, v2: bool) -> int:
    """Check one component of the top level; return how many it holds with itself."""
    kind = top.choice("type", {ROW} | (V2_KINDS if v2 else set()), required=True)
    if kind == ROW:
        return 1 + _row(top, seen)
    if kind == TEXT_DISPLAY:
        top.text("content", 1, 4000, required=True)
    return 1 + _nested(top, seen)


def _nested(parent: Form, seen: list[str]) -> int:
    counted = 0
    for child in parent.children("components") or []:
        counted += _check(child, seen, v2=True)
    if (accessory := parent.child("accessory")) is not None:
        counted += 1
        if accessory.body.get("type") == BUTTON:
            _button(accessory, seen)
    return counted


def _row(row: Form, seen: list[str]) -> int:
    items = row.children("components", least=1, most=MOST_IN_ROW)
    if items is None:
        row.wrong("BASE_TYPE_REQUIRED", "This field is required", "components")
        return 0
    for item in items:
        kind = item.choice("type", {BUTTON} | KINDS, required=True)
        if kind == BUTTON:
            _button(item, seen)
        elif kind is not None:
            _custom_id(item, seen)
            check_select(item)
            if len(items) > 1:
                row.wrong("COMPONENT_LAYOUT_WIDTH_EXCEEDED", "A select fills its row.")
    return len(items)


def _button(item: Form, seen: list[str]) -> None:
    style = item.integer("style", 1, 6, required=True)
    item.text("label", 0, 80)
    item.value("disabled", bool)
    if style == LINK:
        url = item.text("url", 1, 512, required=True)
        if url is not None and not url.startswith(SCHEMES):
            item.wrong("URL_TYPE_INVALID_SCHEME", f"Scheme must be one of {SCHEMES}.", "url")
        if "custom_id" in item.body:
            item.wrong("BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", "Not with a url.")
    elif style != PREMIUM:
        _custom_id(item, seen)
        if not item.body.get("label") and not item.body.get("emoji"):
            item.wrong("BUTTON_COMPONENT_LABEL_REQUIRED", "A label or an emoji is required")


def _custom_id(item: Form, seen: list[str]) -> None:
    custom_id = item.text("custom_id", 1, 100, required=True)
    if custom_id is None:
        return
    if custom_id in seen:
        text = "Component custom id cannot be duplicated"
        item.wrong("COMPONENT_CUSTOM_ID_DUPLICATED", text, "custom_id")
    seen.append(custom_id)


def checked_embeds(form: Form) -> list[Json] | None:
    """Return the embeds of a message; None when the body does not speak of them."""
    embeds = form.children("embeds", most=MOST_EMBEDS)
    if embeds is None:
        return [] if "embeds" in form.body else None
    total = sum(_embed(each) for each in embeds)
    if total > MOST_EMBED_TEXT:
        text = f"Embed size exceeds maximum size of {MOST_EMBED_TEXT}"
        form.wrong("MAX_EMBED_SIZE_EXCEEDED", text, "embeds")
    return [each.body | {"type": "rich"} for each in embeds]


def _embed(embed: Form) -> int:
    """Check an embed; return how much text it has."""
    texts = [embed.text(key, 0, most) for key, most in EMBED_LENGTHS.items()]
    for part, key, most in (("footer", "text", 2048), ("author", "name", 256)):
        if (child := embed.child(part)) is not None:
            texts.append(child.text(key, 0, most, required=True))
    for each in embed.children("fields", most=MOST_FIELDS) or []:
        texts.append(each.text("name", 1, 256, required=True))
        texts.append(each.text("value", 1, 1024, required=True))
    return sum(len(text) for text in texts if text)
