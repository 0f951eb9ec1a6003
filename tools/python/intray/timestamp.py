"""RFC 3339 as the contract has it: UTC, upper-case T and Z, a fraction of at most 6 digits, years 1970 to 9999, no leap second."""
import re
from datetime import datetime, timedelta, timezone
from typing import Optional

_FORM = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,6}))?Z")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def parse(text: str) -> Optional[datetime]:
    """The moment, in UTC; None where the text is none."""
    found = _FORM.fullmatch(text)
    if not found or int(found[1]) < 1970:
        return None
    try:
        year, month, day, hour, minute, second = (int(found[i]) for i in range(1, 7))
        return datetime(year, month, day, hour, minute, second, int((found[7] or "").ljust(6, "0")), tzinfo=timezone.utc)
    except ValueError:
        return None


def format_utc(moment: datetime) -> str:
    """With 6 digits of fraction. `moment` must have a time zone."""
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def to_us(moment: datetime) -> int:
    """Microseconds since 1970."""
    return (moment - _EPOCH) // timedelta(microseconds=1)
