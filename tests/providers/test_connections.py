"""How requests go out: whole, however long, and to where a service sends them on."""

import pytest
from aiohttp import web

from bot.agent.model.service import ModelRequest
from bot.providers import Provider
from bot.providers.sdk import PART
from bot.sandbox.model import ScriptedModel, serve_model
from tests.providers.conftest import answer_of


async def moved(to: str) -> web.AppRunner:
    """Serve a place that sends every request on, with its body."""

    async def send_on(request: web.Request) -> web.Response:
        await request.read()
        raise web.HTTPTemporaryRedirect(f"{to}{request.path.removeprefix('/v1')}")

    app = web.Application(client_max_size=2**24)
    app.router.add_route("*", "/{path:.*}", send_on)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner


@pytest.mark.parametrize("size", [10, 3 * PART + 1])
async def test_a_request_arrives_whole_where_it_is_sent_on_to(size: int) -> None:
    model = ScriptedModel()
    model.says("Hello.")
    said = {"role": "user", "content": "ä" * size}
    async with serve_model(model) as service:
        runner = await moved(service.base_url)
        address = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        provider = Provider(model="m", api_key="k", base_url=address)
        assert (await answer_of(provider, ModelRequest(messages=[said]))).text == "Hello."
        await provider.close()
        await runner.cleanup()
    assert model.requests[0]["messages"] == [said]
