"""`Retry-After`, in every form a server sends it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deermem_qa._retry_after import retry_after_seconds

# 2026-08-13T00:00:00Z, a Thursday.
NOW = 1786579200.0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, 0.0),
        ("", 0.0),
        ("0", 0.0),
        ("2", 2.0),
        (" 2 ", 2.0),
        ("1.5", 1.5),
        ("3600", 3600.0),
        ("9" * 400, float("inf")),
        ("nan", 0.0),
        ("inf", 0.0),
        ("-1", 0.0),
        ("1e3", 0.0),
        ("٣", 0.0),
        ("2, 3", 0.0),
        ("soon", 0.0),
        ("Thu, 13 Aug 2026 00:00:30 GMT", 30.0),
        ("Thursday, 13-Aug-26 00:00:30 GMT", 30.0),
        ("Thu Aug 13 00:00:30 2026", 30.0),
        ("Thu, 13 Aug 2026 02:00:30 +0200", 30.0),
        ("Wed, 12 Aug 2026 23:59:59 GMT", 0.0),
        ("Thu, 99 Aug 2026 00:00:30 GMT", 0.0),
        ("Thu, 13 Aug 99999 00:00:30 GMT", 0.0),
        ("Thu, 13 Aug 99999999999999999999 00:00:30 GMT", 0.0),
    ],
)
def test_forms(header: str | None, seconds: float) -> None:
    """Seconds and dates are read; a time gone by and what cannot be read ask for nothing."""
    assert seconds == retry_after_seconds(header, NOW)


@given(st.text(alphabet=st.characters(max_codepoint=255)) | st.from_regex(r"\w+, \d+ \w+ \d+ .*"))
def test_any_text_gives_a_wait(header: str) -> None:
    """No header ends in an exception or a negative wait."""
    assert retry_after_seconds(header, NOW) >= 0.0
