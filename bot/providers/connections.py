"""How a service is reached: by which certificates and proxies, and what is read unasked."""

from __future__ import annotations

import importlib
import ssl
from collections.abc import Iterator
from functools import partial
from typing import Any

import aiohttp
import openai

from bot.errors import ConfigError, ModelError, ModelRefusedError, ModelUnavailableError
from bot.providers.errors import proxy_error

_client_class = openai.DefaultAsyncHttpxClient.__mro__[1]
HTTP: Any = importlib.import_module(_client_class.__module__.partition(".")[0])
"""The HTTP library the SDK uses: which one depends on the SDK's version."""

CONNECTIONS = 1000
"""At most so many at once."""
READ_AHEAD = 64
"""Bytes of which, once they have come, no more are read unasked: less than any event has."""


def open_connections() -> Any:
    """Return connections that hand over together what has come since they were read.

    The SDK's other ones give each piece by itself, as the service has cut it. What is not asked for
    is left to the operating system, so that not every word wakes the event loop.

    Raises:
        ConfigError: a variable of the environment that tells how to connect is wrong.
    """
    certificates = _certificates()
    try:
        connections: Any = openai.DefaultAioHttpClient(verify=certificates)
    except (ValueError, HTTP.InvalidURL):
        raise _wrong_proxy() from None
    # Neither the SDK nor its transport has another way to tell what to read ahead.
    proxied = [each for each in connections._mounts.values() if each is not None]
    if any(each.proxy.url.scheme not in ("http", "https") for each in proxied):
        raise _wrong_proxy()
    for transport in (connections._transport, *proxied):
        transport.client = partial(_session, certificates)
    return connections


def _certificates() -> ssl.SSLContext:
    try:
        trusted: ssl.SSLContext = HTTP.create_ssl_context()
    except OSError as error:
        raise ConfigError(
            f"SSL_CERT_FILE and SSL_CERT_DIR name no certificates that can be read ({error})"
        ) from None
    return trusted


def _wrong_proxy() -> ConfigError:  # an address may hold a password: it is not told
    return ConfigError(
        "HTTP_PROXY, HTTPS_PROXY and ALL_PROXY need addresses such as http://proxy.example:3128, "
        "and NO_PROXY names of hosts"
    )


def _session(certificates: ssl.SSLContext) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=CONNECTIONS, ssl=certificates),
        read_bufsize=READ_AHEAD,
    )


def connection_error(error: Exception) -> ModelError | None:
    """Make our error of what kept a request from its answer; `None` if nothing tells what.

    The SDK tells of a refused connection as of a time-out.
    """
    for cause in reversed(list(causes(error))):
        match cause:
            case ssl.SSLCertVerificationError():
                why = cause.verify_message
                return ModelRefusedError(f"the service's certificate is not trusted ({why})")
            case aiohttp.ClientHttpProxyError():
                return proxy_error(cause.status)
            case TimeoutError():
                return ModelUnavailableError("the service did not answer in time")
            case aiohttp.ClientProxyConnectionError():
                return ModelUnavailableError("the proxy cannot be reached")
            case _:
                continue
    return None


def causes(error: BaseException) -> Iterator[BaseException]:
    """Give an error, what it comes from, and so on."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__
