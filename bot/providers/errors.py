"""A service's refusal to one of our errors, by its status and codes, never by its words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.errors import (
    ContentRefusedError,
    ContextTooLongError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    RequestRefusedError,
)

_BY_CODE: Mapping[str, type[ModelError]] = {
    "context_length_exceeded": ContextTooLongError,
    "context_window_exceeded": ContextTooLongError,
    "contextwindowexceedederror": ContextTooLongError,  # LiteLLM
    "exceed_context_size_error": ContextTooLongError,  # llama.cpp
    "request_too_large": ContextTooLongError,  # Anthropic
    "content_filter": ContentRefusedError,
    "content_policy_violation": ContentRefusedError,
    "contentpolicyviolationerror": ContentRefusedError,  # LiteLLM
    "responsibleaipolicyviolation": ContentRefusedError,  # Azure
    "data_inspection_failed": ContentRefusedError,  # DashScope
    "invalid_prompt": ContentRefusedError,  # OpenAI, reasoning models
    "moderation_blocked": ContentRefusedError,
    "prohibited_content": ContentRefusedError,  # Gemini
    "insufficient_quota": ModelRefusedError,
    "billing_hard_limit_reached": ModelRefusedError,
    "invalid_api_key": ModelRefusedError,
    "model_not_found": ModelRefusedError,
    "invalid_request_error": RequestRefusedError,
    "authentication_error": ModelRefusedError,
    "permission_error": ModelRefusedError,
    "not_found_error": ModelRefusedError,
}
_OF_A_REQUEST = frozenset({400, 404, 413, 415, 422})
"""Unless a code blames the key or the model's name, these refuse what is in the request."""
_TRY_AGAIN = frozenset({408, 409, 425, 429})
_LONGEST_TEXT = 300


def service_error(
    body: object,
    *,
    status: int | None = None,
    retry_after: float | None = None,
    may_retry: bool = True,
    secret: str = "",
) -> ModelError:
    """Make the error for what a service answered instead of a chunk.

    Args:
        body: the error object, decoded, or the text it was.
        status: of the response; `None` inside a stream, where `code` may hold one.
        retry_after: seconds the service asks to wait.
        may_retry: the service did not say that asking again is useless.
        secret: the key, which some services repeat in their text.
    """
    error = _error_object(body)
    codes = list(_codes(error))
    if status is None:
        status = next((int(code) for code in codes if code.isdecimal() and len(code) == 3), None)
    kind = _kind(codes, error, status, may_retry)
    text = _describe(status, codes, error, secret)
    if issubclass(kind, ModelUnavailableError):
        return kind(text, retry_after=retry_after)
    return kind(text)


def proxy_error(status: int) -> ModelError:
    """Make the error for what a proxy answered in the service's place."""
    kind = ModelRefusedError if _refuses(status) else ModelUnavailableError
    return kind(f"the proxy answered with an error ({status})")


def _refuses(status: int) -> bool:
    return 400 <= status < 500 and status not in _TRY_AGAIN


def _kind(
    codes: list[str], error: Mapping[str, Any], status: int | None, may_retry: bool
) -> type[ModelError]:
    known = [_BY_CODE[code.lower()] for code in codes if code.lower() in _BY_CODE]
    specific = next((kind for kind in known if not issubclass(kind, ModelRefusedError)), None)
    if specific is not None:
        return specific
    if _flagged(error):
        return ContentRefusedError
    refused = status is not None and _refuses(status)
    if not (known or refused or not may_retry):
        return ModelUnavailableError
    of_this_request = status in _OF_A_REQUEST or (status is None and bool(known))
    blames_more = ModelRefusedError in known
    return RequestRefusedError if of_this_request and not blames_more else ModelRefusedError


def _error_object(body: object) -> Mapping[str, Any]:
    if isinstance(body, list) and body:  # Gemini wraps it
        body = body[0]
    if isinstance(body, Mapping):
        error = body.get("error") or body
        return error if isinstance(error, Mapping) else {"message": error}
    return {"message": body} if isinstance(body, str) else {}


def _codes(error: Mapping[str, Any]) -> Iterator[str]:
    """Give the codes, the most telling first."""
    inner = error.get("innererror")
    holders = (inner, error) if isinstance(inner, Mapping) else (error,)
    for holder in holders:
        for name in ("code", "type", "status"):
            value = holder.get(name)
            if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
                yield str(value)


def _flagged(error: Mapping[str, Any]) -> bool:
    """OpenRouter tells a moderation by what its metadata holds."""
    metadata = error.get("metadata")
    return isinstance(metadata, Mapping) and "flagged_input" in metadata


def _describe(status: int | None, codes: list[str], error: Mapping[str, Any], secret: str) -> str:
    told = ", ".join(dict.fromkeys([*([str(status)] if status else []), *codes]))
    summary = f"the service answered with an error ({told})" if told else "the service failed"
    message = error.get("message")
    if status == 401 or not isinstance(message, str) or not message.strip():
        return _without(secret, summary)  # a 401 likes to repeat a part of the key
    return _without(secret, f"{summary}: {message}")


def _without(secret: str, text: str) -> str:
    if secret:
        text = text.replace(secret, "[key]")
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + "..."
