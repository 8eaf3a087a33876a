"""What a run, and a tool in it, can know of where it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from bot.sessions import Session, SessionManager


@dataclass(slots=True, kw_only=True)
class ExecutionContext:
    """Given to a tool that has a parameter annotated with this class.

    Attributes:
        session: The session; its `state` may be changed, and is saved with the tool's result.
            Do not save it yourself.
        session_manager: Where it lives.
        user_id: Who wrote the message that is being answered, as far as it is known.
        turn_id: The turn that is being answered.
        call_id: The call that is being run; use it as a key where an effect must not happen twice.
        on_progress: What `progress` tells.
    """

    session: Session
    session_manager: SessionManager
    user_id: str | None = None
    turn_id: str = ""
    call_id: str = ""
    on_progress: Callable[[str], None] = field(default=lambda text: None, repr=False)

    def progress(self, text: str) -> None:
        """Tell people what the tool is at, in a few words; from any thread, as often as you like.

        They see it while the call runs; it is not kept, and the model does not hear of it.
        """
        self.on_progress(text)
