"""A bot's answers to interactions; the token in the path is all the authority they need."""

from typing import Any

from bot.sandbox.answers import responses
from bot.sandbox.posting import edits
from bot.sandbox.posting.drafts import Upload, read_draft
from bot.sandbox.refusals.errors import Json, Refusal
from bot.sandbox.resources.interactions import Interaction, Response
from bot.sandbox.resources.message_payloads import for_rest
from bot.sandbox.resources.messages import Message
from bot.sandbox.rest.call import Call, Routes


def _interaction(call: Call) -> Interaction:
    """Return the interaction that a follow-up is about."""
    found = call.world.interactions.get(call.text("token"))
    if found is None or found.bot.application_id != call.number("application"):
        raise Refusal.UNKNOWN_WEBHOOK.error()
    found.refuse_followup()
    return found


async def respond(call: Call) -> Any:
    """Take the first response; with ``with_response`` tell what became of it."""
    found = call.world.interactions.get(call.text("token"))
    if found is None or found.id != call.number("interaction"):
        raise Refusal.UNKNOWN_INTERACTION.error()
    body, files = await call.body()
    found.refuse_response()
    responses.respond(found, body, files)
    wanted = call.request.query.get("with_response", "").lower() in ("1", "true")
    return _described(found) if wanted else None


def _described(found: Interaction) -> Json:
    about: Json = {"id": str(found.id), "type": int(found.kind)}
    resource: Json = {"type": int(found.response or 0)}
    shown = found.message if found.response is Response.UPDATE else found.original
    if shown is not None:
        about |= {
            "response_message_id": str(shown.id),
            "response_message_loading": not shown.is_there,
            "response_message_ephemeral": shown.ephemeral,
        }
        resource["message"] = for_rest(shown, found.bot)
    return {"interaction": about, "resource": resource}


async def follow_up(call: Call) -> Any:
    """Post a further message; the first one after a deferral takes its place."""
    found = _interaction(call)
    body, files = await call.body()
    original = found.original
    if found.response is Response.DEFERRED and original is not None and not original.is_there:
        return for_rest(_edited(original, body, files), found.bot)
    message = responses.say(found, read_draft(body, files))
    found.followups.append(message)
    call.world.pulse.beat()
    return for_rest(message, found.bot)


def _named(call: Call, found: Interaction) -> Message:
    name = call.text("message")
    if name == "@original":
        message = found.original or found.message
    else:
        ours = [*found.followups, found.original, found.message]
        message = next((each for each in ours if each is not None and str(each.id) == name), None)
    if message is None or message.deleted:
        raise Refusal.UNKNOWN_MESSAGE.error()
    return message


async def fetch(call: Call) -> Any:
    """Return the original response or a follow-up."""
    found = _interaction(call)
    return for_rest(_named(call, found), found.bot)


async def change(call: Call) -> Any:
    """Edit the original response or a follow-up, ephemeral ones too."""
    found = _interaction(call)
    message = _named(call, found)
    body, files = await call.body()
    return for_rest(_edited(message, body, files), found.bot)


def _edited(message: Message, body: Json, files: dict[int, Upload]) -> Message:
    edits.edit(message, read_draft(body, files, already=message.flags))
    return message


async def remove(call: Call) -> Any:
    """Delete the original response or a follow-up."""
    edits.delete(_named(call, _interaction(call)))


HOOK = "/webhooks/{application:\\d+}/{token}"
ONE = HOOK + "/messages/{message:@original|\\d+}"
ROUTES: Routes = [
    ("POST", "/interactions/{interaction:\\d+}/{token}/callback", respond),
    ("POST", HOOK, follow_up),
    ("GET", ONE, fetch),
    ("PATCH", ONE, change),
    ("DELETE", ONE, remove),
]
