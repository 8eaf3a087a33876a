"""A model service on loopback that speaks the Chat Completions protocol, without a model.

`ScriptedModel` says what a test wrote down; `DemoModel` talks by a few rules and says so.
"""

from bot.sandbox.model.contents import images
from bot.sandbox.model.demo import DemoModel
from bot.sandbox.model.replies import (
    Answer,
    Breaks,
    Chunks,
    Failure,
    Gate,
    Hangs,
    Pauses,
    Reply,
)
from bot.sandbox.model.scripted import ScriptedModel
from bot.sandbox.model.server import Behaviour, ModelServer, serve_model

__all__ = [
    "Answer",
    "Behaviour",
    "Breaks",
    "Chunks",
    "DemoModel",
    "Failure",
    "Gate",
    "Hangs",
    "ModelServer",
    "Pauses",
    "Reply",
    "ScriptedModel",
    "images",
    "serve_model",
]
