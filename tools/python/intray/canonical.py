"""RFC 8785 (JCS) for what the contract's files may hold: objects, arrays, strings, true, false, null and plain integers.

Input is hostile: the depth is bounded before anything is read that deep, and memory is linear in the input.
"""
import re
from typing import Any, Dict, List

from .errors import JobRefused
from .limits import EXCERPT_CHARACTERS_MAX, INTEGER_MAX, JSON_DEPTH_MAX

_BLANKS = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_HEX4 = re.compile(r"[0-9A-Fa-f]{4}")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SHORT = {value: "\\" + name for name, value in _ESCAPES.items() if name != "/"}
_TO_ESCAPE = re.compile(r'["\\\x00-\x1f]')
_DIGITS_MAX = len(str(INTEGER_MAX))


def to_canonical(value: Any) -> bytes:
    """The canonical bytes of a value made of dict (with str keys), list, str, int, bool and None.

    Raises TypeError for any other kind, ValueError for an integer outside of +-(2^53-1) or text with a lone surrogate.
    """
    return _text_of(value).encode("utf-8")


def parse_strict(data: bytes) -> Any:
    """The value of any JSON text that keeps to the contract's values; white space, escapes and member order are free.

    Raises JobRefused: MALFORMED_JSON where it is no JSON, no UTF-8, holds NUL, a lone surrogate or a byte order mark, or nests too deep;
    NOT_CANONICAL for a member that comes twice and for any number but a plain integer within +-(2^53-1).
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JobRefused("MALFORMED_JSON", "not UTF-8 at byte %d" % error.start) from None
    reader = _Reader(text)
    value = reader.document()
    if reader.uncanonical:
        raise JobRefused("NOT_CANONICAL", reader.uncanonical)
    return value


def parse_canonical(data: bytes) -> Any:
    """The value of bytes that must be canonical already. Raises JobRefused as parse_strict(), and NOT_CANONICAL for other bytes."""
    value = parse_strict(data)
    canonical = to_canonical(value)
    if canonical != data:
        at = next((i for i, (a, b) in enumerate(zip(canonical, data)) if a != b), min(len(canonical), len(data)))
        raise JobRefused("NOT_CANONICAL", "not the canonical form at byte %d" % at)
    return value


def excerpt(value: str) -> str:
    """The beginning of untrusted text for a message: quoted, ASCII, on one line."""
    return ascii(value if len(value) <= EXCERPT_CHARACTERS_MAX else value[:EXCERPT_CHARACTERS_MAX] + "...")


def _quoted(text: str) -> str:
    return '"%s"' % _TO_ESCAPE.sub(lambda found: _SHORT.get(found[0]) or "\\u%04x" % ord(found[0]), text)


def _utf16_units(name: str) -> bytes:
    return name.encode("utf-16-be")


def _text_of(value: Any) -> str:
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int):
        if abs(value) > INTEGER_MAX:
            raise ValueError("%d is not within +-(2^53-1)" % value)
        return "%d" % value
    if isinstance(value, list):
        return "[%s]" % ",".join(_text_of(element) for element in value)
    if isinstance(value, dict):
        if not all(isinstance(name, str) for name in value):
            raise TypeError("a member's name that is no text")
        return "{%s}" % ",".join("%s:%s" % (_quoted(name), _text_of(value[name])) for name in sorted(value, key=_utf16_units))
    raise TypeError("no JSON of the contract: %s" % type(value).__name__)


class _Reader:
    """One pass over the text. What a strict parser takes and the contract does not is remembered, not acted on: text that turns out to
    be no JSON at all is called that."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.uncanonical = ""

    def document(self) -> Any:
        self._skip_blanks()
        value = self._value()
        self._skip_blanks()
        if self.at != len(self.text):
            raise self._malformed("bytes after the end")
        return value

    def _malformed(self, why: str) -> JobRefused:
        return JobRefused("MALFORMED_JSON", "%s at byte %d" % (why, len(self.text[:self.at].encode("utf-8"))))

    def _note(self, why: str) -> None:
        self.uncanonical = self.uncanonical or why

    def _skip_blanks(self) -> None:
        found = _BLANKS.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _take(self, character: str) -> bool:
        if not self.text.startswith(character, self.at):
            return False
        self.at += len(character)
        return True

    def _value(self) -> Any:
        for word, value in (("null", None), ("true", True), ("false", False)):
            if self._take(word):
                return value
        if self._take('"'):
            return self._string()
        if self._take("{"):
            return self._nested(self._object)
        if self._take("["):
            return self._nested(self._array)
        return self._number()

    def _nested(self, read: Any) -> Any:
        if self.depth >= JSON_DEPTH_MAX:
            raise self._malformed("nested deeper than %d" % JSON_DEPTH_MAX)
        self.depth += 1
        value = read()
        self.depth -= 1
        return value

    def _object(self) -> Dict[str, Any]:
        out: Dict[str, Any] = {}
        self._skip_blanks()
        if self._take("}"):
            return out
        while True:
            self._skip_blanks()
            if not self._take('"'):
                raise self._malformed("no member name")
            name = self._string()
            self._skip_blanks()
            if not self._take(":"):
                raise self._malformed("no colon")
            self._skip_blanks()
            value = self._value()
            if name in out:
                self._note("duplicate member %s" % excerpt(name))
            out[name] = value
            self._skip_blanks()
            if self._take("}"):
                return out
            if not self._take(","):
                raise self._malformed("neither a comma nor the end of the object")

    def _array(self) -> List[Any]:
        out: List[Any] = []
        self._skip_blanks()
        if self._take("]"):
            return out
        while True:
            self._skip_blanks()
            out.append(self._value())
            self._skip_blanks()
            if self._take("]"):
                return out
            if not self._take(","):
                raise self._malformed("neither a comma nor the end of the array")

    def _number(self) -> int:
        found = _NUMBER.match(self.text, self.at)
        if not found:
            raise self._malformed("no value")
        self.at = found.end()
        sign, digits, fraction, exponent = found.groups()
        # Long digits are never turned into a number: that takes quadratic time, and Python refuses it.
        plain = not fraction and not exponent and (sign + digits) != "-0" and len(digits) <= _DIGITS_MAX
        value = int(sign + digits) if plain else 0
        if not plain or abs(value) > INTEGER_MAX:
            self._note("number %s is not a plain integer within +-(2^53-1)" % excerpt(found[0]))
        return value

    def _string(self) -> str:
        parts: List[str] = []
        while True:
            found = _PLAIN.match(self.text, self.at)
            if found:
                parts.append(found[0])
                self.at = found.end()
            if self._take('"'):
                return "".join(parts)
            if not self._take("\\"):
                raise self._malformed("a control character, or the end, in a string")
            parts.append(self._escape())

    def _escape(self) -> str:
        letter = self.text[self.at:self.at + 1]
        self.at += 1
        if letter in _ESCAPES:
            return _ESCAPES[letter]
        if letter != "u":
            raise self._malformed("no such escape")
        unit = self._unit()
        if 0xDC00 <= unit <= 0xDFFF:
            raise self._malformed("a lone surrogate")
        if 0xD800 <= unit <= 0xDBFF:
            low = self._unit() if self._take("\\u") else 0
            if not 0xDC00 <= low <= 0xDFFF:
                raise self._malformed("a lone surrogate")
            unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)
        if unit == 0:
            raise self._malformed("NUL in a string")
        return chr(unit)

    def _unit(self) -> int:
        found = _HEX4.match(self.text, self.at)
        if not found:
            raise self._malformed("an escape without four hex digits")
        self.at = found.end()
        return int(found[0], 16)
