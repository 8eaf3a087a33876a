"""Whatever a client sends, it is either taken or refused in Discord's words."""

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.sandbox import DiscordError
from bot.sandbox.posting.drafts import read_draft
from bot.sandbox.resources.commands import register
from tests.sandbox.clients import make_home

KEYS = st.sampled_from(
    [
        *("content", "embeds", "components", "flags", "nonce", "tts", "attachments", "type"),
        *("allowed_mentions", "parse", "users", "roles", "message_reference", "message_id"),
        *("custom_id", "label", "style", "url", "accessory", "id", "filename", "description"),
        *("title", "fields", "name", "value", "footer", "author", "text", "options", "choices"),
    ]
)
LEAVES = st.sampled_from([None, True, False, -1, 0, 1, 2, 9, 17, 1 << 15, 0.5, "", "1", "users"])
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=15,
)
OBJECTS = st.dictionaries(KEYS, JSON, max_size=6)
unhurried = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])


def refusal_of(action: Callable[[], Any]) -> DiscordError | None:
    try:
        action()
    except DiscordError as refusal:
        return refusal
    return None


@unhurried
@given(OBJECTS)
def test_any_message_body(body: dict[str, Any]) -> None:
    refusal = refusal_of(lambda: read_draft(body, {}))
    assert refusal is None or (refusal.code == 50035 and refusal.errors)


@unhurried
@given(st.lists(OBJECTS, max_size=2))
def test_any_commands(bodies: list[dict[str, Any]]) -> None:
    refusal = refusal_of(lambda: register(make_home().bot, None, bodies))
    assert refusal is None or (refusal.code == 50035 and refusal.errors)
