"""What is refused, with Discord's numbers."""

import io
import logging
from datetime import timedelta
from typing import Any

import aiohttp
import pytest

from bot.sandbox import ManualClock, Overwrite, Sandbox
from tests.sandbox.clients import Home, Http, make_home

MIB = 1024 * 1024


def button(**fields: Any) -> dict[str, Any]:
    return {"type": 2, "style": 1, "label": "Go", "custom_id": "go"} | fields


def row(*buttons: dict[str, Any]) -> dict[str, Any]:
    return {"type": 1, "components": list(buttons)}


def numbered(count: int) -> list[dict[str, Any]]:
    return [button(custom_id=f"go-{number}") for number in range(count)]


async def sent(home: Home, http: Http, body: Any, **more: Any) -> tuple[int, Any]:
    status, answer = await http("POST", f"/channels/{home.general.id}/messages", body, **more)
    return status, answer


async def code_of(home: Home, http: Http, body: Any) -> int:
    status, answer = await sent(home, http, body)
    assert status >= 400, answer
    return int(answer["code"])


async def test_a_route_that_does_not_exist_fails_loudly(
    home: Home, http: Http, caplog: pytest.LogCaptureFixture
) -> None:
    status, body = await http("GET", "/guilds/1/invented")
    assert (status, body) == (404, {"message": "404: Not Found", "code": 0})
    assert home.world.unknown_routes == ["GET /api/v10/guilds/1/invented"]
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


async def test_a_method_that_does_not_exist_fails_loudly(home: Home, http: Http) -> None:
    assert (await http("PUT", f"/channels/{home.general.id}/messages"))[0] == 404
    assert len(home.world.unknown_routes) == 1


async def test_a_wrong_token_is_401(home: Home, sandbox: Sandbox) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(sandbox.api_base + "/users/@me") as response:
            assert response.status == 401
            assert (await response.json())["code"] == 0


async def test_2000_code_points_are_accepted_and_one_more_is_not(home: Home, http: Http) -> None:
    # Each is one code point and four bytes, so neither bytes nor UTF-16 units are counted.
    assert (await sent(home, http, {"content": "😀" * 2000}))[0] == 200
    status, body = await sent(home, http, {"content": "x" * 2001})
    assert status == 400
    assert body["code"] == 50035
    assert body["errors"]["content"]["_errors"] == [
        {"code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer in length."}
    ]


@pytest.mark.parametrize("content", ["", "  \n", None])
async def test_an_empty_message_is_refused(home: Home, http: Http, content: Any) -> None:
    assert await code_of(home, http, {"content": content}) == 50006


@pytest.mark.parametrize(
    "body",
    [
        {"content": 5},
        {"content": "x", "tts": "yes"},
        {"content": "x", "flags": "many"},
        {"content": "x", "flags": True},
        {"content": "x", "flags": -1},
        {"content": "x", "embeds": {}},
        {"content": "x", "embeds": ["text"]},
        {"content": "x", "allowed_mentions": []},
        {"content": "x", "allowed_mentions": {"users": ["me"]}},
        {"content": "x", "message_reference": {}},
        {"content": "x", "message_reference": {"message_id": "soon"}},
        {"content": "x", "nonce": "n" * 26},
        {"content": "x", "attachments": [{"id": "first"}]},
        {"content": "x", "attachments": [{"description": "of nothing"}]},
    ],
)
async def test_a_field_of_the_wrong_type_is_refused(home: Home, http: Http, body: Any) -> None:
    assert await code_of(home, http, body) == 50035


@pytest.mark.parametrize("text", ['{"content": "a", "content": "b"}', "{", "[]", '"hi"'])
async def test_broken_json_is_refused(home: Home, http: Http, text: str) -> None:
    headers = {"Content-Type": "application/json"}
    status, body = await sent(home, http, None, data=text, headers=headers)
    assert (status, body["code"]) == (400, 50109)


@pytest.mark.parametrize(
    "components",
    [
        [row(button(), button())],
        [row(button()), row(button())],
        [row(button(custom_id=""))],
        [row(button(custom_id="x" * 101))],
        [row(button(custom_id=None))],
        [row(button(label="x" * 81))],
        [row(button(label=""))],
        [row(button(style=7))],
        [row(button(style=5))],
        [row({"type": 2, "style": 5, "label": "x", "url": "javascript:alert(1)"})],
        [row(button(style=5, url="https://example.org"))],
        [row(*numbered(6))],
        [row()],
        [{"type": 1}],
        [row(each) for each in numbered(6)],
        [button()],
        [row({"type": 3, "custom_id": "a"}, {"type": 3, "custom_id": "b"})],
        [row({"type": 99})],
        ["row"],
        [{"type": 10, "content": "needs its flag"}],
    ],
)
async def test_components_are_checked(home: Home, http: Http, components: Any) -> None:
    assert await code_of(home, http, {"content": "x", "components": components}) == 50035


async def test_five_rows_of_five_buttons_are_accepted(home: Home, http: Http) -> None:
    buttons = numbered(24)
    buttons.append({"type": 2, "style": 5, "label": "docs", "url": "https://example.org"})
    rows = [row(*buttons[at : at + 5]) for at in range(0, 25, 5)]
    assert (await sent(home, http, {"content": "x", "components": rows}))[0] == 200


async def test_components_v2_exclude_content_and_cannot_be_unset(home: Home, http: Http) -> None:
    section = {
        "type": 9,
        "components": [{"type": 10, "content": "Delete it?"}],
        "accessory": button(),
    }
    body = {"flags": 1 << 15, "components": [{"type": 17, "components": [section]}]}
    status, message = await sent(home, http, body)
    assert status == 200
    assert await code_of(home, http, body | {"content": "x"}) == 50035
    many = [{"type": 14} for _ in range(21)]
    crowd = [{"type": 17, "components": many}, {"type": 17, "components": many}]
    assert await code_of(home, http, body | {"components": crowd}) == 50035
    path = f"/channels/{home.general.id}/messages/{message['id']}"
    status, answer = await http("PATCH", path, {"content": "x", "flags": 0})
    assert (status, answer["code"]) == (400, 50035)


@pytest.mark.parametrize(
    "embeds",
    [
        [{"title": "x" * 257}],
        [{"description": "x" * 4097}],
        [{"description": "x" * 4000}, {"description": "x" * 2001}],
        [{"footer": {"text": "x" * 2049}}],
        [{"author": {"name": "x" * 257}}],
        [{"fields": [{"name": "x"}]}],
        [{"fields": [{"name": "x", "value": "x"}] * 26}],
        [{"title": "x"}] * 11,
    ],
)
async def test_embeds_are_checked(home: Home, http: Http, embeds: Any) -> None:
    assert await code_of(home, http, {"embeds": embeds}) == 50035


async def test_an_upload_over_10_mib_is_refused_with_its_text(home: Home, http: Http) -> None:
    body: Any = None
    for size, expected in ((10 * MIB, 200), (10 * MIB + 1, 413)):
        form = aiohttp.FormData()
        form.add_field("payload_json", '{"content": "see"}', content_type="application/json")
        form.add_field("files[0]", io.BytesIO(b"x" * size), filename="big.bin")
        form.add_field("other", "ignored")
        form.add_field("files[many]", "ignored")
        status, body = await sent(home, http, None, data=form)
        assert status == expected
    assert body["code"] == 40005
    assert len(home.general.messages) == 1


async def test_more_than_ten_files_are_refused(home: Home, http: Http) -> None:
    form = aiohttp.FormData()
    for number in range(11):
        form.add_field(f"files[{number}]", b"x", filename=f"{number}.txt")
    assert (await sent(home, http, None, data=form))[1]["code"] == 50035


async def test_a_reply_to_what_is_gone_is_refused_unless_allowed(home: Home, http: Http) -> None:
    said = await home.alice.says("hello", in_=home.general)
    await home.alice.deletes(said)
    reference: dict[str, Any] = {"message_id": str(said.id)}
    assert await code_of(home, http, {"content": "x", "message_reference": reference}) == 50035
    reference["fail_if_not_exists"] = False
    status, body = await sent(home, http, {"content": "x", "message_reference": reference})
    assert status == 200
    assert "message_reference" not in body


async def test_unknown_things_have_their_numbers(home: Home, http: Http) -> None:
    guild, channel = f"/guilds/{home.guild.id}", f"/channels/{home.general.id}"
    for path, code in {
        "/channels/1": 10003,
        "/guilds/1": 10004,
        f"{guild}/members/1": 10007,
        f"{channel}/messages/1": 10008,
        f"{guild}/roles/1": 10011,
        "/users/1": 10013,
    }.items():
        status, body = await http("GET", path)
        assert (status, body["code"]) == (404, code)


async def test_anothers_message_is_not_edited(home: Home, http: Http) -> None:
    said = await home.alice.says("hello", in_=home.general)
    path = f"/channels/{home.general.id}/messages/{said.id}"
    status, body = await http("PATCH", path, {"content": "changed"})
    assert (status, body["code"]) == (403, 50005)
    status, body = await http("PATCH", path, {"flags": 4})
    assert (status, body["code"]) == (403, 50013)
    home.guild.grant(home.bot, "MANAGE_MESSAGES")
    assert (await http("PATCH", path, {"flags": 4}))[0] == 200
    assert said.content == "hello"


async def test_a_message_cannot_be_edited_empty(home: Home, http: Http) -> None:
    _, message = await sent(home, http, {"content": "x"})
    path = f"/channels/{home.general.id}/messages/{message['id']}"
    status, body = await http("PATCH", path, {"content": ""})
    assert (status, body["code"]) == (400, 50006)


async def test_missing_permissions_and_missing_access_differ(home: Home, http: Http) -> None:
    denied = {home.bot: Overwrite.of(deny={"SEND_MESSAGES"})}
    quiet = home.guild.channel("quiet", overwrites=denied)
    hidden = home.guild.channel(
        "hidden", overwrites={home.bot: Overwrite.of(deny={"VIEW_CHANNEL"})}
    )
    for channel, code in ((quiet, 50013), (hidden, 50001)):
        status, body = await http("POST", f"/channels/{channel.id}/messages", {"content": "x"})
        assert (status, body["code"]) == (403, code)
    assert (await http("GET", f"/channels/{quiet.id}"))[0] == 200
    assert (await http("GET", f"/channels/{hidden.id}"))[1]["code"] == 50001


@pytest.mark.parametrize(
    ("permission", "body"),
    [
        ("EMBED_LINKS", {"embeds": [{"title": "x"}]}),
        ("READ_MESSAGE_HISTORY", {"content": "x", "message_reference": {"message_id": "1"}}),
    ],
)
async def test_parts_of_a_message_need_permissions_of_their_own(
    home: Home, http: Http, permission: str, body: Any
) -> None:
    home.general.overwrites[home.bot] = Overwrite.of(deny={permission})
    assert await code_of(home, http, body) == 50013


async def test_without_read_message_history_there_is_none(home: Home, http: Http) -> None:
    said = await home.alice.says("hello", in_=home.general)
    home.general.overwrites[home.bot] = Overwrite.of(deny={"READ_MESSAGE_HISTORY"})
    path = f"/channels/{home.general.id}/messages"
    assert await http("GET", path) == (200, [])
    assert (await http("GET", f"{path}/{said.id}"))[1]["code"] == 50013


@pytest.mark.parametrize("limit", ["0", "101", "few"])
async def test_the_limit_of_history_is_checked(home: Home, http: Http, limit: str) -> None:
    path = f"/channels/{home.general.id}/messages?limit={limit}"
    assert (await http("GET", path))[1]["code"] == 50035


async def test_closed_dms_are_refused(home: Home, http: Http) -> None:
    dm = home.alice.dm(home.bot)
    path = f"/channels/{dm.id}/messages"
    assert (await http("POST", path, {"content": "x"}))[0] == 200
    home.alice.closes_dms()
    status, body = await http("POST", path, {"content": "x"})
    assert (status, body["code"]) == (403, 50007)


async def test_a_dm_needs_a_guild_in_common(home: Home, http: Http) -> None:
    stranger = home.world.person("stranger")
    other_bot = home.world.person("beep", bot=True)
    _, channel = await http("POST", "/users/@me/channels", {"recipient_id": str(stranger.id)})
    path = f"/channels/{channel['id']}/messages"
    assert (await http("POST", path, {"content": "x"}))[1]["code"] == 50007
    assert (await http("DELETE", f"/channels/{channel['id']}"))[0] == 200
    assert (await http("PATCH", f"/channels/{channel['id']}", {}))[1]["code"] == 50024
    for number, code in ((other_bot.id, 50007), (1, 10013)):
        body = {"recipient_id": str(number)}
        assert (await http("POST", "/users/@me/channels", body))[1]["code"] == code


async def test_deleting_anothers_message_takes_a_permission(home: Home, http: Http) -> None:
    said = await home.alice.says("hello", in_=home.general)
    path = f"/channels/{home.general.id}/messages/{said.id}"
    assert (await http("DELETE", path))[1]["code"] == 50013
    home.guild.grant(home.bot, "ADMINISTRATOR")
    assert (await http("DELETE", path))[0] == 204
    assert (await http("DELETE", path))[1]["code"] == 10008


async def test_lists_of_members_take_the_members_intent(home: Home, http: Http) -> None:
    thread = await home.alice.opens_thread("ideas", in_=home.general)
    home.bot.privileged &= ~home.bot.privileged
    for path in (f"/guilds/{home.guild.id}/members", f"/channels/{thread.id}/thread-members"):
        assert (await http("GET", path))[1]["code"] == 50001


async def test_roles_are_given_only_with_the_permission(home: Home, http: Http) -> None:
    role = home.guild.role("helpers")
    base = f"/guilds/{home.guild.id}/members"
    assert (await http("PUT", f"{base}/{home.alice.id}/roles/{role.id}"))[1]["code"] == 50013
    home.guild.grant(home.bot, "MANAGE_ROLES")
    assert (await http("PUT", f"{base}/1/roles/{role.id}"))[1]["code"] == 10007
    assert (await http("PUT", f"{base}/{home.alice.id}/roles/1"))[1]["code"] == 10011


class TestWithTime:
    """What depends on how old a message is."""

    @pytest.fixture(name="clock")
    def _clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture(name="home")
    def _home(self, clock: ManualClock) -> Home:
        return make_home(clock=clock)

    async def test_an_old_message_is_edited_a_few_times_only(
        self, home: Home, http: Http, clock: ManualClock
    ) -> None:
        _, message = await sent(home, http, {"content": "x"})
        clock.advance(timedelta(hours=2).total_seconds())
        path = f"/channels/{home.general.id}/messages/{message['id']}"
        answers = [await http("PATCH", path, {"content": str(each)}) for each in range(6)]
        assert [status for status, _ in answers] == [200] * 5 + [429]
        assert answers[-1][1]["code"] == 30046

    async def test_what_is_older_than_two_weeks_is_not_deleted_in_bulk(
        self, home: Home, http: Http, clock: ManualClock
    ) -> None:
        home.guild.grant(home.bot, "MANAGE_MESSAGES")
        said = [await home.alice.says(str(each), in_=home.general) for each in range(2)]
        body = {"messages": [str(each.id) for each in said]}
        path = f"/channels/{home.general.id}/messages/bulk-delete"
        assert (await http("POST", path, {"messages": []}))[1]["code"] == 50035
        clock.advance(timedelta(days=15).total_seconds())
        assert (await http("POST", path, body))[1]["code"] == 50035


async def test_a_file_that_does_not_exist_is_404(home: Home, sandbox: Sandbox) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{sandbox.url}/attachments/1/2/a.txt") as response:
            assert response.status == 404
