"""Refusals are recognised by status and code, never by words."""

from __future__ import annotations

import pytest

from bot.errors import (
    ContentRefusedError,
    ContextTooLongError,
    ModelRefusedError,
    ModelUnavailableError,
    RequestRefusedError,
)
from bot.providers.errors import service_error


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"code": "context_length_exceeded"}, ContextTooLongError),
        (400, {"type": "exceed_context_size_error", "code": 400}, ContextTooLongError),
        (413, {"type": "request_too_large"}, ContextTooLongError),
        (400, {"message": "maximum context length exceeded"}, RequestRefusedError),
        (400, {"code": "content_filter"}, ContentRefusedError),
        (400, {"code": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}},
         ContentRefusedError),
        (403, {"code": 403, "metadata": {"flagged_input": "..."}}, ContentRefusedError),
        (403, {"message": "content_filter"}, ModelRefusedError),
        (401, {"code": "invalid_api_key"}, ModelRefusedError),
        (400, {"code": "invalid_api_key", "type": "invalid_request_error"}, ModelRefusedError),
        (401, {"type": "invalid_request_error"}, ModelRefusedError),
        (404, {"error": {"code": "model_not_found"}}, ModelRefusedError),
        (404, [{"error": {"code": 404, "status": "NOT_FOUND"}}], RequestRefusedError),
        (402, "pay first", ModelRefusedError),
        (422, {"detail": [{"loc": ["body"]}]}, RequestRefusedError),
        (429, {"code": "insufficient_quota"}, ModelRefusedError),
        (429, {"code": "rate_limit_exceeded", "type": "requests"}, ModelUnavailableError),
        (408, None, ModelUnavailableError),
        (409, [], ModelUnavailableError),
        (500, "<html>", ModelUnavailableError),
        (529, {"error": {"type": "overloaded_error"}}, ModelUnavailableError),
        (None, {"error": {"code": 529}}, ModelUnavailableError),
        (None, {"error": {"type": "invalid_request_error"}}, RequestRefusedError),
        (None, {"error": {"code": True, "type": ""}}, ModelUnavailableError),
    ],
)  # fmt: skip
def test_the_kind_follows_from_status_and_code(
    status: int | None, body: object, kind: type[Exception]
) -> None:
    assert type(service_error(body, status=status)) is kind


def test_a_service_that_says_do_not_retry_is_believed() -> None:
    assert type(service_error({}, status=503, may_retry=False)) is ModelRefusedError


def test_the_text_tells_codes_and_words_but_no_key() -> None:
    body = {"message": "bad\n  key sk-1 " + "x" * 500, "code": "c", "type": "t"}
    text = str(service_error(body, status=400, secret="sk-1"))
    assert text.startswith("the service answered with an error (400, c, t): bad key [key] xxx")
    assert len(text) == 300


def test_a_401_repeats_nothing_of_what_the_service_said() -> None:
    error = service_error({"message": "wrong key sk-...89"}, status=401)
    assert str(error) == "the service answered with an error (401)"


def test_the_wait_is_kept() -> None:
    error = service_error(None, status=429, retry_after=7.0)
    assert isinstance(error, ModelUnavailableError)
    assert error.retry_after == 7.0
