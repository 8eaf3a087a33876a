"""A thread that runs functions one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")

_Call = tuple[Callable[[], Any], asyncio.Future[Any]]


class Worker:
    """A daemon thread: a program that ends with an error does not wait for it."""

    def __init__(self, name: str) -> None:
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        Thread(target=self._run, name=name, daemon=True).start()

    async def call(self, function: Callable[[], T]) -> T:
        """Run a function in the thread, after what was asked before; what it raises is raised."""
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._calls.put((function, answer))
        return await answer

    def end(self) -> None:
        """Let the thread end, after what was asked before."""
        self._calls.put(None)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            function, answer = call
            try:
                told = (answer.set_result, function())
            except BaseException as exc:  # noqa: BLE001 - raised again where it was asked for
                told = (answer.set_exception, exc)
            _tell(answer, *told)


def _tell(answer: asyncio.Future[Any], setter: Callable[[Any], None], value: object) -> None:
    def tell() -> None:
        if not answer.done():  # whoever asked may have stopped listening
            setter(value)

    loop = answer.get_loop()
    if not loop.is_closed():
        loop.call_soon_threadsafe(tell)
