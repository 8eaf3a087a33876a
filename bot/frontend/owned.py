"""Work that discord.py begins, and that the front end owns: its own tasks are awaited by nobody."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from bot.frontend.tasks import Tasks

P = ParamSpec("P")
T = TypeVar("T")


class HasTasks(Protocol):
    """Something with tasks of its own."""

    tasks: Tasks


S = TypeVar("S", bound=HasTasks)


def owned(
    method: Callable[Concatenate[S, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """Let the front end own what a method does, to its end."""

    @wraps(method)
    async def task(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.tasks.task(method(self, *args, **kwargs), name=method.__name__)

    return task
