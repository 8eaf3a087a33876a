"""What stands between the bot and a service: certificates and proxies."""

from __future__ import annotations

from pathlib import Path

import pytest
import trustme

from bot.agent.model.service import Retrying
from bot.errors import ConfigError, ModelRefusedError, ModelUnavailableError
from bot.providers import RetryPolicy
from bot.sandbox.model import ScriptedModel
from tests.providers.conftest import Make, answer_of, events_of, failure_of
from tests.providers.network import NAME, encrypted, proxied

ONCE = RetryPolicy(max_attempts=1)
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
each_way = pytest.mark.parametrize("scheme", ["http", "https"])


@pytest.fixture(autouse=True)
def of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what the machine has set."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def trusted(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust the authority, as `SSL_CERT_FILE` tells."""
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(file))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))


def asks_for(scheme: str) -> str:
    if scheme == "http":
        return f"POST http://{NAME}/v1/chat/completions"
    return f"CONNECT {NAME}:443"


@pytest.mark.usefixtures("trusted")
async def test_a_certificate_of_an_own_authority_is_trusted(
    make: Make, service: ScriptedModel, base_url: str, authority: trustme.CA
) -> None:
    service.says("Hello.")
    async with encrypted(base_url, authority) as front:
        provider = make(base_url=f"https://localhost:{front.port}/v1")
        assert (await answer_of(provider)).text == "Hello."
        await provider.close()


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    ("host", "why"),
    [("localhost", "unable to get local issuer"), ("127.0.0.1", "IP address mismatch")],
)
async def test_another_certificate_is_told_and_not_asked_again(
    make: Make, base_url: str, authority: trustme.CA, host: str, why: str
) -> None:
    presents = trustme.CA() if host == "localhost" else authority
    async with encrypted(base_url, presents) as front:
        before, error = await failure_of(make(base_url=f"https://{host}:{front.port}/v1"))
    assert before == []
    assert isinstance(error, ModelRefusedError)
    assert str(error).startswith("the service's certificate is not trusted (")
    assert why in str(error)


@pytest.mark.filterwarnings("ignore:(BasicAuth|The 'proxy_auth'):DeprecationWarning")  # by the SDK
@each_way
@pytest.mark.parametrize("by", ["own", "ALL_PROXY"])
@pytest.mark.usefixtures("trusted")
async def test_the_proxy_of_the_environment_is_used(
    make: Make,
    service: ScriptedModel,
    base_url: str,
    authority: trustme.CA,
    monkeypatch: pytest.MonkeyPatch,
    scheme: str,
    by: str,
) -> None:
    service.says("Hello.").then("Again.")
    async with proxied(scheme, base_url, authority, "me:pass") as proxy:
        name = by if by == "ALL_PROXY" else f"{scheme.upper()}_PROXY"
        monkeypatch.setenv(name, f"http://me:pass@127.0.0.1:{proxy.port}")
        provider = make(base_url=f"{scheme}://{NAME}/v1")
        assert [(await answer_of(provider)).text for _ in range(2)] == ["Hello.", "Again."]
        await provider.close()
    assert proxy.asked == [asks_for(scheme)]


@pytest.mark.parametrize("exempt", ["127.0.0.1", "*", "other.test, 127.0.0.1"])
async def test_what_no_proxy_names_is_reached_without_it(
    make: Make,
    service: ScriptedModel,
    base_url: str,
    authority: trustme.CA,
    monkeypatch: pytest.MonkeyPatch,
    exempt: str,
) -> None:
    service.says("By the proxy.").then("Without.")
    async with proxied("http", base_url, authority) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        assert (await answer_of(make())).text == "By the proxy."
        assert proxy.asked == [f"POST {base_url}/chat/completions"]
        monkeypatch.setenv("NO_PROXY", exempt)
        assert (await answer_of(make())).text == "Without."
    assert len(proxy.asked) == 1


@each_way
@pytest.mark.parametrize("status", [403, 407])
async def test_a_proxy_that_refuses_is_not_asked_again(
    make: Make,
    base_url: str,
    authority: trustme.CA,
    monkeypatch: pytest.MonkeyPatch,
    scheme: str,
    status: int,
) -> None:
    async with proxied(scheme, base_url, authority) as proxy:
        proxy.refuses_with = status
        monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
        before, error = await failure_of(make(base_url=f"{scheme}://{NAME}/v1"))
    assert before == []
    assert isinstance(error, ModelRefusedError)
    assert str(status) in str(error)
    # Whose answer a 403 is cannot be seen where the proxy reads along.
    assert ("proxy" in str(error)) == (scheme == "https" or status == 407)
    assert proxy.asked == [asks_for(scheme)]


@each_way
async def test_a_proxy_that_cannot_reach_the_service_is_asked_again(
    make: Make,
    base_url: str,
    authority: trustme.CA,
    monkeypatch: pytest.MonkeyPatch,
    scheme: str,
) -> None:
    async with proxied(scheme, base_url, authority) as proxy:
        proxy.refuses_with = 502
        monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
        waits, error = await failure_of(make(base_url=f"{scheme}://{NAME}/v1"))
    assert [type(wait) for wait in waits] == [Retrying] * 3
    assert isinstance(error, ModelUnavailableError)
    assert "502" in str(error)
    assert proxy.asked == [asks_for(scheme)] * 4


@each_way
async def test_a_proxy_that_does_not_answer_is_given_up(
    make: Make,
    base_url: str,
    authority: trustme.CA,
    monkeypatch: pytest.MonkeyPatch,
    scheme: str,
) -> None:
    async with proxied(scheme, base_url, authority) as proxy:
        proxy.answers = False
        monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
        provider = make(base_url=f"{scheme}://{NAME}/v1", idle_timeout=1.0, retry=ONCE)
        with pytest.raises(ModelUnavailableError, match="in time"):
            await events_of(provider)
        assert proxy.asked == [asks_for(scheme)]


@each_way
async def test_a_proxy_that_is_not_there_is_named(
    make: Make,
    base_url: str,
    authority: trustme.CA,
    monkeypatch: pytest.MonkeyPatch,
    scheme: str,
) -> None:
    async with proxied(scheme, base_url, authority) as proxy:
        pass
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
    _, error = await failure_of(make(base_url=f"{scheme}://{NAME}/v1", retry=ONCE))
    assert isinstance(error, ModelUnavailableError)
    assert str(error) == "the proxy cannot be reached"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SSL_CERT_FILE", "/nowhere/authority.pem"),
        ("SSL_CERT_FILE", __file__),
        ("HTTPS_PROXY", "ftp://me:pass@127.0.0.1"),
        ("ALL_PROXY", "socks5://me:pass@127.0.0.1"),
        ("HTTP_PROXY", "http://[me:pass"),
    ],
)
async def test_variables_that_are_wrong_are_told(
    make: Make, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match="SSL_CERT_FILE" if "SSL" in name else "_PROXY") as told:
        await make().open()
    assert "pass" not in str(told.value)
