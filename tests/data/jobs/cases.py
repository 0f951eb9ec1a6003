"""What every case of the corpus is made of: the two good jobs, the canonical form, and the shape of a case.

This is a second reading of the contract, on purpose: no code is shared with the executor's parser or with a client, so that
each of them can be measured against it.
"""
import collections
import hashlib
import re

# The world in which the expected codes hold, where a case names no other clock or object format.
CLOCK = "2026-11-01T00:00:00Z"
VAULT_ROOT = "/app/vault"
EXTENSION = ".md"

KINDS = ("save", "delete")
JOB_TYPES = {"save": "C5_SAVE_OBJECT", "delete": "C5_DELETE_OBJECT"}
COMMITS = {"save": "source_commit", "delete": "expected_commit"}
HASHES = {"save": "provenance_hash", "delete": "expected_provenance_hash"}
UUIDS = {"save": ("job_id", "mission_id", "idempotency_key"),
         "delete": ("job_id", "mission_id", "delete_request_id", "approval_id", "idempotency_key")}

Case = collections.namedtuple("Case", "name kind expected clock object_format data what")


def uuid_of(seed):
    """A UUIDv4 that is always the same for this seed: no two cases share a job id."""
    digits = hashlib.sha256(seed.encode()).hexdigest()
    return "%s-%s-4%s-%s%s-%s" % (digits[:8], digits[8:12], digits[13:16], "89ab"[int(digits[16], 16) % 4], digits[17:20], digits[20:32])


def good(kind, seed):
    """A job with nothing wrong."""
    job = {"job_version": 1, "job_type": JOB_TYPES[kind], "object_id": "p-00112233445566778899aabbccddeeff",
           "vault_path": VAULT_ROOT + "/Ordner/Übung.md", COMMITS[kind]: "0123456789abcdef0123456789abcdef01234567",
           HASHES[kind]: "00112233445566778899aabbccddeeff" * 2, "created_at": "2026-10-31T23:00:00Z"}
    if kind == "save":
        job["expected_state"] = "UNSET"
    for member in UUIDS[kind]:
        job[member] = uuid_of(seed + "/" + member)
    return job


SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def quoted(text):
    return '"%s"' % re.sub(r'[\x00-\x1f"\\]', lambda c: SHORT_ESCAPES.get(c[0], "\\u%04x" % ord(c[0])), text)


def utf16(name):
    return name.encode("utf-16-be")


class Raw(str):
    """A value's bytes as they shall stand in the file."""


def text_of(value):
    """RFC 8785 for what a job may hold: no floating point."""
    if isinstance(value, Raw):
        return str(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return "[%s]" % ",".join(map(text_of, value))
    return "{%s}" % ",".join(quoted(name) + ":" + text_of(value[name]) for name in sorted(value, key=utf16))


def encode(job):
    return text_of(job).encode()


class Cases:
    """Collects cases; `kind` and the name's prefix stay the same for one of it."""

    def __init__(self, kind):
        self.kind, self.all = kind, []

    def raw(self, name, expected, data, what, clock=CLOCK, object_format="sha1"):
        """A file of these bytes."""
        self.all.append(Case("%s_%s" % (self.kind, name), self.kind, expected, clock, object_format, data, what))

    def good(self, name):
        return good(self.kind, "%s_%s" % (self.kind, name))

    def set(self, name, expected, changes, what, **world):
        """A canonical job with these members changed or added."""
        self.raw(name, expected, encode({**self.good(name), **changes}), what, **world)

    def drop(self, name, expected, member, what):
        job = self.good(name)
        del job[member]
        self.raw(name, expected, encode(job), what)

    def edit(self, name, expected, old, new, what):
        """A good job's bytes with the one place `old` replaced."""
        data = encode(self.good(name))
        if data.count(old) != 1:
            raise ValueError("%s: %r is there %d times" % (name, old, data.count(old)))
        self.raw(name, expected, data.replace(old, new), what)
