"""Being connected to Discord, and saying plainly why that is not possible."""

from __future__ import annotations

import aiohttp
import discord

from bot.errors import ConfigError, ParleyError

_CLOSED = {  # reference, "Gateway Close Event Codes"
    4004: "Discord refuses DISCORD_TOKEN. Copy the token again: developer portal, page Bot.",
    4013: "Discord does not know an intent that the bot asks for: this discord.py is too old.",
    4014: "Discord refuses the intents: switch on Message Content Intent in the developer portal, "
    "page Bot.",
}


async def connect(client: discord.Client, token: str) -> None:
    """Log in, and stay connected until the client is closed.

    Raises:
        ConfigError: if Discord refuses the token or the intents.
        ParleyError: if Discord cannot be reached.
    """
    try:
        await client.start(token)
    except discord.LoginFailure:
        raise ConfigError(_CLOSED[4004]) from None
    except discord.PrivilegedIntentsRequired:
        raise ConfigError(_CLOSED[4014]) from None
    except discord.ConnectionClosed as exc:
        if exc.code in _CLOSED:
            raise ConfigError(_CLOSED[exc.code]) from None
        raise ParleyError(f"Discord closed the connection with code {exc.code}.") from exc
    except (OSError, aiohttp.ClientError, discord.HTTPException, discord.GatewayNotFound) as exc:
        raise ParleyError(f"Discord cannot be reached: {exc}") from exc
