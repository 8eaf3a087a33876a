"""What a single request meets must not stop the others."""

from bot.sandbox import Scope
from tests.e2e.stage import PATIENCE, Stage


async def test_who_stops_waiting_in_a_global_rate_limit_stops_nobody_else(stage: Stage) -> None:
    gate = stage.model.pauses("", then="Four.")
    limited = stage.sandbox.faults.next_request(
        "POST", "/channels/*/typing", fails=429, retry_after=0.5, scope=Scope.GLOBAL
    )
    async with stage.running():
        await stage.alice.says("two and two?", in_=stage.desk)
        await stage.world.pulse.until(lambda: limited.hits or None, PATIENCE, lambda: "no typing")
        gate.release()  # the sign that the bot types is taken away in the middle of its request
        await stage.says(stage.desk, "Four.")
