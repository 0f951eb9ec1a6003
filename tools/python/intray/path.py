"""Which vault_path may ever reach the receiver.

Categories and normal forms come from `unicodedata`. The executor's Unicode may be of another version (15.0 on Debian 12) than this Python's
(`unicodedata.unidata_version`): a character that only one of them knows is unassigned, and therefore refused, on the other side alone.
"""
import re
import unicodedata
from typing import Optional, Sequence

from .limits import PATH_SEGMENT_BYTES_MAX, VAULT_PATH_BYTES_MAX

# What a receiver or a disk may take for a separator or a dot.
_LOOKALIKES = frozenset("\u2044\u2215\u29f8\uff0f\u29f5\uff3c\ufe68\u2024\uff0e\ufe52")
_FORBIDDEN = frozenset('\\:*?"<>|`')
_PERCENT_HEX = re.compile(r"%[0-9A-Fa-f]{2}")


def unsafe_path_rule(vault_path: str, vault_root: str, extensions: Sequence[str]) -> Optional[str]:
    """None where the path is safe; else the rule that failed, in words. `vault_root` has no slash at its end."""
    try:
        size_bytes = len(vault_path.encode("utf-8"))
    except UnicodeEncodeError:
        return "the path is not valid UTF-8"
    if size_bytes > VAULT_PATH_BYTES_MAX:
        return "the path has %d bytes, more than %d" % (size_bytes, VAULT_PATH_BYTES_MAX)
    if not vault_path.startswith(vault_root + "/"):
        return "the path does not begin with '%s/'" % vault_root
    below = vault_path[len(vault_root) + 1:]
    if not below:
        return "the path names nothing below the vault root"
    segments = below.split("/")
    for number, segment in enumerate(segments, 1):
        rule = _segment_rule(segment)
        if rule:
            return "segment %d %s" % (number, rule)
    rule = _character_rule(vault_path)
    if rule:
        return rule
    if unicodedata.normalize("NFC", vault_path) != vault_path:
        return "the path is not in Unicode normal form C (NFC)"
    for number, segment in enumerate(segments, 1):
        folded = unicodedata.normalize("NFKC", segment)
        if folded in (".", "..") or "/" in folded or "\\" in folded:
            return "the compatibility form (NFKC) of segment %d is '.' or '..', or holds a slash or backslash" % number
    if not vault_path.endswith(tuple(extensions)):
        return "the path does not end in an allowed extension"
    return None


def _segment_rule(segment: str) -> Optional[str]:
    if not segment:
        return "is empty"
    if len(segment.encode("utf-8")) > PATH_SEGMENT_BYTES_MAX:
        return "has more than %d bytes" % PATH_SEGMENT_BYTES_MAX
    if segment in (".", ".."):
        return "is '%s'" % segment
    if segment[0] in ".-":
        return "starts with '%s'" % segment[0]
    if segment[-1] in ". ":
        return "ends in a dot or blank"
    return None


def _character_rule(path: str) -> Optional[str]:
    for at, character in enumerate(path):
        where = "U+%04X at character %d" % (ord(character), at)
        category = unicodedata.category(character)
        if character != " " and category[0] not in "LMNPS":
            return "character %s (category %s) is not allowed" % (where, category)
        if character in _FORBIDDEN:
            return "forbidden character %s" % where
        if character in _LOOKALIKES:
            return "look-alike of a slash, backslash or dot %s" % where
        if character == "%" and _PERCENT_HEX.match(path, at):
            return "'%%' before two hex digits, %s" % where
    return None
