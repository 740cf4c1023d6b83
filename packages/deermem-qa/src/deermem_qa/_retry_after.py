"""`Retry-After`: whole or decimal seconds, or an HTTP date (RFC 9110, section 10.2.3)."""

from __future__ import annotations

import re
from datetime import UTC
from email.utils import parsedate_to_datetime

_SECONDS = re.compile(r"[0-9]{1,400}(\.[0-9]{1,20})?")


def retry_after_seconds(header: str | None, now: float) -> float:
    """Return how long the header asks to wait, in seconds; infinite where no float holds it.

    Absent, negative, `nan`, a date gone by and anything unreadable: 0.

    Args:
        header: the header's value, if there is one.
        now: the time of day, in seconds since the epoch.
    """
    text = (header or "").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, moment.timestamp() - now)
    except (ValueError, TypeError, OverflowError, IndexError):
        return 0.0
