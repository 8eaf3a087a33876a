"""What a visitor can do on the page, each by the name in its request's path."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from bot.sandbox.answers.answers import Answer, first_response
from bot.sandbox.components.selects import KINDS, STRING
from bot.sandbox.gestures import gestures
from bot.sandbox.page import message_views, typed_text
from bot.sandbox.page.breakages import Breakage
from bot.sandbox.page.visits import Visit
from bot.sandbox.people.person import as_a_person
from bot.sandbox.refusals.errors import Json
from bot.sandbox.resources.interactions import Interaction


async def says(visit: Visit) -> Json:
    """Post a message, or run the command that it spells."""
    text = visit.text("text")
    if text.startswith("/") and not visit.files:
        name, options = typed_text.read(visit.person, visit.place, text)
        return await _sent(gestures.command(visit.person, name, visit.place, options))
    reply_to = visit.message_named("reply_to") if visit.body.get("reply_to") else None
    said = await visit.person.says(
        text, in_=visit.place, reply_to=reply_to, attachments=visit.files.values()
    )
    return {"message": str(said.id)}


async def edits(visit: Visit) -> Json:
    """Change an own message."""
    await visit.person.edits(visit.message, visit.text("text"))
    return {}


async def deletes(visit: Visit) -> Json:
    """Take a message away."""
    await visit.person.deletes(visit.message)
    return {}


async def reacts(visit: Visit) -> Json:
    """Add a reaction, or take it back."""
    message, emoji = visit.message, visit.text("emoji")
    if visit.person in message.reactions.get(emoji, []):
        await visit.person.unreacts(message, emoji)
    else:
        await visit.person.reacts(message, emoji)
    return {}


async def types(visit: Visit) -> Json:
    """Show that the person types."""
    await visit.person.types(in_=visit.place)
    return {}


async def forwards(visit: Visit) -> Json:
    """Forward a message to another place."""
    to = visit.place_named("to")
    await visit.person.forwards(visit.message, to=to)
    return {"place": str(to.id)}


async def opens(visit: Visit) -> Json:
    """Open the DM with a bot, or a thread on a message."""
    if "message" in visit.body:
        thread = await visit.person.opens_thread(visit.text("name"), on=visit.message)
        return {"place": str(thread.id)}
    bots = visit.person.world.bots
    bot = next((each for each in bots if str(each.id) == visit.body.get("bot")), bots[0])
    return {"place": str(visit.person.dm(bot).id)}


async def clicks(visit: Visit) -> Json:
    """Click a button."""
    return await _sent(gestures.click(visit.person, visit.message, visit.text("button")))


async def selects(visit: Visit) -> Json:
    """Choose from a menu."""
    message, menu = visit.message, visit.text("menu")
    found = message.clickable(menu, KINDS)
    values = [_meant(visit, found["type"], str(each)) for each in visit.body["values"]]
    return await _sent(gestures.choice(visit.person, message, menu, values))


def _meant(visit: Visit, kind: int, value: str) -> Any:
    """Return the option itself, or the user, role or place that an id means."""
    if kind == STRING:
        return value
    return typed_text.named(visit.place, value)


async def submits(visit: Visit) -> Json:
    """Send a form off."""
    modal, given = visit.modal, dict(visit.body["fields"])
    for item in modal.inputs:
        values = given.get(item["custom_id"])
        if isinstance(values, list):
            given[item["custom_id"]] = [_meant(visit, item["type"], str(each)) for each in values]
    return await _sent(gestures.submission(visit.person, modal, given))


async def runs(visit: Visit) -> Json:
    """Run a command whose options were filled in one by one."""
    options = typed_text.values(visit.person, visit.place, visit.text("name"), _options(visit))
    return await _sent(gestures.command(visit.person, visit.text("name"), visit.place, options))


def _options(visit: Visit) -> dict[str, Any]:
    return {**visit.body.get("options", {}), **visit.files}


async def completes(visit: Visit) -> Json:
    """Return the choices for an option that is being typed."""
    name, option = visit.text("name"), visit.text("option")
    others = {key: value for key, value in _options(visit).items() if key != option}
    options = typed_text.values(visit.person, visit.place, name, others)
    interaction = gestures.completion(
        visit.person, name, visit.place, option, visit.text("typed"), options
    )
    told = await _sent(interaction)
    return told | {
        "choices": [{"name": label, "value": value} for label, value in interaction.choices]
    }


async def _sent(interaction: Interaction) -> Json:
    """Send an interaction, and tell only whether it was acknowledged; the rest is seen live."""
    return _told(await first_response(interaction))


def _told(answer: Answer) -> Json:
    form = answer.modal
    return {"failed": answer.failed} | ({"modal": message_views.modal(form)} if form else {})


def breaking(known: dict[str, Breakage]) -> Callable[[Visit], Awaitable[Json]]:
    """Return the action that breaks one of these."""

    async def breaks(visit: Visit) -> Json:
        found = known.get(visit.text("name"))
        if found is None:
            raise LookupError("there is no such button")
        bot = visit.person.world.bots[0]
        return {"done": await found.run(bot, visit.place)}

    return breaks


async def done(action: Callable[[Visit], Awaitable[Json]], visit: Visit) -> Json:
    """Do it, with refusals as a person gets them."""
    with as_a_person():
        return await action(visit)


ACTIONS: dict[str, Callable[[Visit], Awaitable[Json]]] = {
    each.__name__: each
    for each in (
        says,
        edits,
        deletes,
        reacts,
        types,
        forwards,
        opens,
        clicks,
        selects,
        submits,
        runs,
        completes,
    )
}
