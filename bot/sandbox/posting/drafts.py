"""What someone wants to post or change, read from a request body."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable
from dataclasses import dataclass, field

from bot.sandbox.components.components import checked_components, checked_embeds
from bot.sandbox.posting.mentions import Allowed
from bot.sandbox.refusals.errors import Json, Refusal
from bot.sandbox.refusals.forms import Form
from bot.sandbox.resources.messages import FORWARDS, NO_FLAGS, REPLIES, UPLOAD_LIMIT, Flags
from bot.sandbox.resources.polls import Poll, checked_poll
from bot.sandbox.resources.stickers import MOST_STICKERS

File = tuple[str, bytes]
MOST_CONTENT = 2000  # code points: what len() counts
MOST_FILES = 10
MOST_NONCE = 25
ALONE = ("content", "embeds", "components", "attachments", "sticker_ids", "poll")
SETTABLE = Flags.SUPPRESS_EMBEDS | Flags.SUPPRESS_NOTIFICATIONS | Flags.COMPONENTS_V2


@dataclass(frozen=True)
class Upload:
    """A file on its way in."""

    filename: str
    data: bytes
    content_type: str | None = None
    description: str | None = None


@dataclass(frozen=True)
class ReplyTo:
    """The message that a new one wants to refer to."""

    message_id: int
    fail_if_not_exists: bool = True


@dataclass(frozen=True)
class Forward:
    """The message that a new one wants to carry on."""

    channel_id: int
    message_id: int


@dataclass(frozen=True)
class Draft:
    """A message to be; in an edit, None leaves a part as it is."""

    content: str | None = None
    embeds: list[Json] | None = None
    components: list[Json] | None = None
    uploads: list[Upload] = field(default_factory=list)
    keep: list[int] | None = None
    reply_to: ReplyTo | None = None
    forward: Forward | None = None
    stickers: list[int] = field(default_factory=list)
    poll: Poll | None = None
    allowed: Allowed = field(default_factory=Allowed)
    flags: Flags = NO_FLAGS
    nonce: str | int | None = None
    enforce_nonce: bool = False
    tts: bool = False

    def refuse_empty(self) -> None:
        """Refuse a new message without anything to see."""
        parts = (self.embeds, self.components, self.uploads, self.forward, self.stickers, self.poll)
        if not (self.content or "").strip() and not any(parts):
            raise Refusal.EMPTY_MESSAGE.error()

    def refuse_large(self) -> None:
        """Refuse files over the limit; the whole message goes with them."""
        if any(len(each.data) > UPLOAD_LIMIT for each in self.uploads):
            raise Refusal.TOO_LARGE.error()


def written(
    content: str, files: Iterable[File], fields: Json, reply_to: int | None = None
) -> Draft:
    """Return what someone wrote, checked like the body of a request."""
    uploads = {
        number: Upload(name, data, mimetypes.guess_type(name)[0])
        for number, (name, data) in enumerate(files)
    }
    body: Json = {"content": content, **fields}
    if reply_to is not None:
        body["message_reference"] = {"message_id": str(reply_to)}
    return read_draft(body, uploads)


def read_draft(
    body: Json,
    uploads: dict[int, Upload],
    *,
    path: tuple[str, ...] = (),
    already: Flags = NO_FLAGS,
) -> Draft:
    """Read the body of a message; in an edit, ``already`` are the flags it has.

    Raises:
        DiscordError: 50035 naming every wrong field, or 40005.
    """
    form = Form(body, path)
    flags = _flags(form, already)
    reply_to, forward = _reference(form)
    draft = Draft(
        content=_content(form, flags),
        embeds=checked_embeds(form),
        components=checked_components(form, flags),
        uploads=_uploads(form, uploads),
        keep=_kept(form),
        reply_to=reply_to,
        forward=forward,
        stickers=form.snowflakes("sticker_ids", MOST_STICKERS) or [],
        poll=checked_poll(form),
        allowed=Allowed.of(form.child("allowed_mentions")),
        flags=flags & (SETTABLE | Flags.EPHEMERAL),
        nonce=_nonce(form),
        enforce_nonce=form.value("enforce_nonce", bool) or False,
        tts=form.value("tts", bool) or False,
    )
    form.finish()
    draft.refuse_large()
    return draft


def _flags(form: Form, already: Flags) -> Flags:
    given = form.integer("flags", 0, (1 << 31) - 1)
    # Components V2 cannot be taken back by an edit (reference, "Message Flags").
    return already if given is None else Flags(given) | (already & Flags.COMPONENTS_V2)


def _content(form: Form, flags: Flags) -> str | None:
    content = form.text("content", 0, MOST_CONTENT)
    if content is not None:
        content = content.strip()  # measured: Discord keeps no blanks around a message's text
    if Flags.COMPONENTS_V2 in flags and (content or form.body.get("embeds")):
        text = "The 'content' field cannot be used when using MessageFlags.IS_COMPONENTS_V2"
        form.wrong("MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", text, "content")
    return "" if content is None and "content" in form.body else content


def _nonce(form: Form) -> str | int | None:
    nonce = form.body.get("nonce")
    if isinstance(nonce, int) and not isinstance(nonce, bool):
        form.length(str(nonce), 0, MOST_NONCE, "nonce")
        return nonce
    return form.text("nonce", 0, MOST_NONCE)


def _reference(body: Form) -> tuple[ReplyTo | None, Forward | None]:
    form = body.child("message_reference")
    if form is None:
        return None, None
    kind = form.choice("type", {REPLIES, FORWARDS})
    message_id = form.snowflake("message_id", required=True) or 0
    if kind == FORWARDS:
        channel_id = form.snowflake("channel_id", required=True) or 0
        if any(body.body.get(key) for key in ALONE):
            form.wrong("MESSAGE_REFERENCE_FORWARD_ALONE", "A forward carries nothing else.")
        return None, Forward(channel_id, message_id)
    strict = form.value("fail_if_not_exists", bool)
    return ReplyTo(message_id, fail_if_not_exists=strict is not False), None


def _kept(form: Form) -> list[int] | None:
    """Return the ids of the files that an edit keeps."""
    listed = form.children("attachments", most=MOST_FILES)
    if listed is None:
        return None
    return [each.snowflake("id", required=True) or 0 for each in listed]


def _uploads(form: Form, files: dict[int, Upload]) -> list[Upload]:
    described: dict[int, Json] = {}
    for each in form.children("attachments", most=MOST_FILES) or []:
        each.text("description", 0, 1024)
        each.text("filename", 1, 260)
        described[int(each.snowflake("id") or 0)] = each.body
    if len(files) > MOST_FILES:
        form.wrong("BASE_TYPE_MAX_LENGTH", f"Must be {MOST_FILES} or fewer in length.", "files")
    return [_described(file, described.get(number, {})) for number, file in sorted(files.items())]


def _described(file: Upload, about: Json) -> Upload:
    name = str(about.get("filename") or file.filename)
    return Upload(name, file.data, file.content_type, about.get("description"))
