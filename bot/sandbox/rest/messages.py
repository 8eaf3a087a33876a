"""Messages and reactions."""

from datetime import timedelta
from typing import Any

from bot.sandbox.posting import edits, posts, reactions
from bot.sandbox.posting.drafts import read_draft
from bot.sandbox.refusals.errors import Refusal
from bot.sandbox.resources import payloads
from bot.sandbox.resources.message_payloads import for_rest, nonce_of
from bot.sandbox.resources.messages import Flags, Message
from bot.sandbox.resources.permissions import Permissions
from bot.sandbox.rest.call import Call, Routes

BULK_AGE = timedelta(days=14)
MOST_AT_ONCE = 100


async def create(call: Call) -> Any:
    """Post a message."""
    place = call.place()
    body, files = await call.body()
    message = posts.post(place, call.bot, read_draft(body, files))
    return for_rest(message, call.bot) | nonce_of(message)


async def history(call: Call) -> Any:
    """Return messages, newest first; none without Read Message History."""
    place = call.place()
    limit = call.query("limit")
    limit = 50 if limit is None else limit
    if not 1 <= limit <= MOST_AT_ONCE:
        text = {"code": "NUMBER_TYPE_MAX", "message": "int value should be between 1 and 100."}
        raise Refusal.INVALID_FORM.error({"limit": {"_errors": [text]}})
    if Permissions.READ_MESSAGE_HISTORY not in place.permissions_for(call.bot):
        return []
    standing = [each for each in place.history if not each.deleted]
    chosen = _chosen(call, standing, limit)
    return [for_rest(each, call.bot) for each in reversed(chosen)]


def _chosen(call: Call, standing: list[Message], limit: int) -> list[Message]:
    before, after, around = (call.query(key) for key in ("before", "after", "around"))
    if around is not None:
        older = [each for each in standing if each.id < around][-(limit // 2) :]
        newer = [each for each in standing if each.id >= around]
        return older + newer[: limit - len(older)]
    if after is not None:
        return [each for each in standing if each.id > after][:limit]
    return [each for each in standing if before is None or each.id < before][-limit:]


async def fetch(call: Call) -> Any:
    """Return one message."""
    return for_rest(call.message(Permissions.READ_MESSAGE_HISTORY), call.bot)


async def change(call: Call) -> Any:
    """Edit an own message; of another's, a moderator may suppress the embeds."""
    message = call.message()
    body, files = await call.body()
    if message.author is not call.bot:
        return _suppress(call, message, body)
    edits.edit(message, read_draft(body, files, already=message.flags))
    return for_rest(message, call.bot)


def _suppress(call: Call, message: Message, body: Any) -> Any:
    if set(body) != {"flags"}:
        raise Refusal.OTHERS_MESSAGE.error()
    posts.require(message.place, call.bot, Permissions.MANAGE_MESSAGES)
    wanted = read_draft(body, {}).flags & Flags.SUPPRESS_EMBEDS
    message.flags = message.flags & ~Flags.SUPPRESS_EMBEDS | wanted
    edits.changed(message)
    return for_rest(message, call.bot)


async def remove(call: Call) -> Any:
    """Delete an own message, or with the permission another's."""
    message = call.message()
    if message.author is not call.bot:
        posts.require(message.place, call.bot, Permissions.MANAGE_MESSAGES)
    edits.delete(message)


async def remove_many(call: Call) -> Any:
    """Delete 2 to 100 messages of the last two weeks."""
    place, form = call.place(Permissions.MANAGE_MESSAGES), await call.form()
    ids = form.snowflakes("messages") or []
    form.count(ids, 2, MOST_AT_ONCE, "messages")
    form.finish()
    found = [each for each in (place.find(number) for number in ids) if each is not None]
    oldest = call.world.clock.now() - BULK_AGE
    if any(each.created_at < oldest for each in found):
        form.wrong("BULK_DELETE_TOO_OLD", "Older than 14 days.", "messages")
        form.finish()
    edits.delete_many(place, found)


async def react(call: Call) -> Any:
    """Add the bot's reaction."""
    reactions.add(call.message(), call.bot, call.text("emoji"))


async def unreact(call: Call) -> Any:
    """Take a reaction away; another's needs the permission to manage messages."""
    message, who = call.message(), call.number("user")
    if who != call.bot.id:
        posts.require(message.place, call.bot, Permissions.MANAGE_MESSAGES)
    user = call.world.users.get(who)
    if user is None:
        raise Refusal.UNKNOWN_USER.error()
    reactions.remove(message, user, call.text("emoji"))


async def reacted(call: Call) -> Any:
    """Return who reacted."""
    users = call.message().reactions.get(call.text("emoji"), [])
    return [payloads.user(each) for each in users]


LIST = "/channels/{channel:\\d+}/messages"
ONE = LIST + "/{message:\\d+}"
ROUTES: Routes = [
    ("POST", LIST, create),
    ("GET", LIST, history),
    ("POST", LIST + "/bulk-delete", remove_many),
    ("GET", ONE, fetch),
    ("PATCH", ONE, change),
    ("DELETE", ONE, remove),
    ("GET", ONE + "/reactions/{emoji}", reacted),
    ("PUT", ONE + "/reactions/{emoji}/@me", react),
    ("DELETE", ONE + "/reactions/{emoji}/{user:@me|\\d+}", unreact),
]
