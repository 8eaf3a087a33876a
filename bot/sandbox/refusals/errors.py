"""The refusals of Discord, by name, with their numbers.

SandboxError
└── DiscordError    what a client of the REST interface is told
"""

from enum import Enum
from typing import Any

Json = dict[str, Any]


class SandboxError(Exception):
    """Any error that the sandbox raises on purpose."""


class DiscordError(SandboxError):
    """A refusal in Discord's form."""

    def __init__(self, status: int, code: int, message: str, errors: Json | None = None) -> None:
        super().__init__(f"{message} ({code})")
        self.status, self.code, self.message, self.errors = status, code, message, errors

    def body(self) -> Json:
        """Return the JSON that Discord would answer."""
        body: Json = {"message": self.message, "code": self.code}
        return body | {"errors": self.errors} if self.errors else body


class Refusal(Enum):
    """Status, code and text, as in Discord's reference, "JSON Error Codes"."""

    UNKNOWN_ROUTE = (404, 0, "404: Not Found")
    UNAUTHORIZED = (401, 0, "401: Unauthorized")
    UNKNOWN_CHANNEL = (404, 10003, "Unknown Channel")
    UNKNOWN_GUILD = (404, 10004, "Unknown Guild")
    UNKNOWN_MEMBER = (404, 10007, "Unknown Member")
    UNKNOWN_MESSAGE = (404, 10008, "Unknown Message")
    UNKNOWN_ROLE = (404, 10011, "Unknown Role")
    UNKNOWN_USER = (404, 10013, "Unknown User")
    UNKNOWN_WEBHOOK = (404, 10015, "Unknown Webhook")
    UNKNOWN_INTERACTION = (404, 10062, "Unknown interaction")
    UNKNOWN_COMMAND = (404, 10063, "Unknown application command")
    SLOW_MODE = (429, 20016, "This action cannot be performed due to slowmode rate limit")
    WRITE_LIMIT = (
        429,
        20028,
        "The write action you are performing on the channel has hit the write rate limit",
    )
    TOO_MANY_PINS = (400, 30003, "Maximum number of pins reached (250)")
    TOO_MANY_EVENTS = (
        400,
        30038,
        "Maximum number of uncompleted guild scheduled events reached (100)",
    )
    OLD_EDITS = (
        429,
        30046,
        "Maximum number of edits to messages older than 1 hour reached. Try again later.",
    )
    TOO_LARGE = (413, 40005, "Request entity too large")
    ALREADY_ACKNOWLEDGED = (400, 40060, "Interaction has already been acknowledged.")
    MISSING_ACCESS = (403, 50001, "Missing Access")
    OTHERS_MESSAGE = (403, 50005, "Cannot edit a message authored by another user")
    EMPTY_MESSAGE = (400, 50006, "Cannot send an empty message")
    DMS_CLOSED = (403, 50007, "Cannot send messages to this user")
    MISSING_PERMISSIONS = (403, 50013, "Missing Permissions")
    SYSTEM_MESSAGE = (403, 50021, "Cannot execute action on a system message")
    WRONG_CHANNEL_TYPE = (400, 50024, "Cannot execute action on this channel type")
    INVALID_WEBHOOK_TOKEN = (401, 50027, "Invalid Webhook Token")
    INVALID_FORM = (400, 50035, "Invalid Form Body")
    INVALID_STICKER = (400, 50081, "Invalid sticker sent")
    ARCHIVED_THREAD = (400, 50083, "Thread is archived")
    INVALID_JSON = (400, 50109, "The request body contains invalid JSON.")
    THREAD_EXISTS = (400, 160004, "A thread has already been created for this message")
    LOCKED_THREAD = (403, 160005, "Thread is locked")
    AUTOMOD = (400, 200000, "Message was blocked by automatic moderation")
    HARMFUL_LINK = (400, 240000, "Message blocked by harmful links filter")

    def error(self, errors: Json | None = None) -> DiscordError:
        """Return the error to raise."""
        status, code, message = self.value
        return DiscordError(status, code, message, errors)
