"""The two jobs: what a requester may ask for, and the rules that the executor will judge it by.

Everything is text as it will stand in the file; check() says whether it may stand there.
"""
import re
import uuid
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, ClassVar, Dict, List, Optional, Sequence, Tuple, Type, TypeVar, Union

from . import timestamp
from .canonical import excerpt, parse_canonical, to_canonical
from .errors import JobRefused
from .limits import CREATED_AHEAD_MAX_S, JOB_FILE_BYTES_MAX
from .path import unsafe_path_rule
from .provenance import NO_STATE, object_id_of_path, provenance_hash_of

JOB_VERSION = 1

_UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_OBJECT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_STATE_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _-]{0,63}")
_COMMITS = {"sha1": re.compile(r"(?!0+\Z)[0-9a-f]{40}"), "sha256": re.compile(r"(?!0+\Z)[0-9a-f]{64}")}

AnyJob = TypeVar("AnyJob", bound="_Job")


@dataclass(frozen=True)
class JobRules:
    """What a site's settings add to the contract. A requester asks the site's admin, or leaves the defaults."""

    object_format: str = "sha1"  # of the site's repository: "sha1" or "sha256"
    vault_root: str = "/app/vault"  # without a slash at the end
    extensions: Sequence[str] = (".md",)
    max_age: timedelta = timedelta(days=7)


@dataclass(frozen=True)
class _Job:
    job_id: str
    mission_id: str
    object_id: str
    vault_path: str
    created_at: str
    idempotency_key: str

    KIND: ClassVar[str]  # the inbox's directory
    JOB_TYPE: ClassVar[str]
    MEMBERS: ClassVar[Tuple[str, ...]]  # in the contract's order, in which values are judged

    def to_object(self) -> Dict[str, Any]:
        """The job as its file holds it."""
        return {"job_version": JOB_VERSION, "job_type": self.JOB_TYPE, **asdict(self)}

    def to_bytes(self) -> bytes:
        """The canonical bytes: what is handed over, and what `job_sha256` in a receipt is the hash of."""
        return to_canonical(self.to_object())


@dataclass(frozen=True)
class SaveJob(_Job):
    """Asks for a note of a commit to be written. It carries no content: the executor takes that from git."""

    source_commit: str
    provenance_hash: str
    expected_state: str

    KIND: ClassVar[str] = "save"
    JOB_TYPE: ClassVar[str] = "C5_SAVE_OBJECT"
    MEMBERS: ClassVar[Tuple[str, ...]] = (
        "job_version", "job_id", "mission_id", "job_type", "object_id", "vault_path", "source_commit", "provenance_hash", "expected_state",
        "created_at", "idempotency_key")

    @classmethod
    def new(cls, *, object_id: str, vault_path: str, source_commit: str, provenance_hash: str, expected_state: str = NO_STATE,
            job_id: Optional[str] = None, mission_id: Optional[str] = None, idempotency_key: Optional[str] = None,
            created_at: Optional[datetime] = None) -> "SaveJob":
        """A job of this moment; ids that are not given are made. To ask for the same thing once more, give the same idempotency_key and
        no job_id. Nothing is judged here: see check()."""
        return cls(job_id=job_id or _new_id(), mission_id=mission_id or _new_id(), object_id=object_id, vault_path=vault_path,
                   created_at=_moment(created_at), idempotency_key=idempotency_key or _new_id(), source_commit=source_commit,
                   provenance_hash=provenance_hash, expected_state=expected_state)

    @classmethod
    def of_note(cls, path: str, commit: str, content: bytes, *, state: str = NO_STATE, object_id: Optional[str] = None,
                vault_root: str = "/app/vault", mission_id: Optional[str] = None, idempotency_key: Optional[str] = None) -> "SaveJob":
        """A job for the note at `path` in the repository, whose blob in `commit` has the bytes `content`. Without `object_id`: the one that
        a site which takes ids from paths (the default) gives it."""
        object_id = object_id or object_id_of_path(path)
        return cls.new(object_id=object_id, vault_path="%s/%s" % (vault_root, path), source_commit=commit,
                       provenance_hash=provenance_hash_of(commit, path, content, object_id, state), expected_state=state,
                       mission_id=mission_id, idempotency_key=idempotency_key)


@dataclass(frozen=True)
class DeleteJob(_Job):
    """Asks for a note to be deleted. It authorizes nothing: a signed approval does."""

    delete_request_id: str
    expected_commit: str
    expected_provenance_hash: str
    approval_id: str

    KIND: ClassVar[str] = "delete"
    JOB_TYPE: ClassVar[str] = "C5_DELETE_OBJECT"
    MEMBERS: ClassVar[Tuple[str, ...]] = (
        "job_version", "job_id", "mission_id", "delete_request_id", "job_type", "object_id", "vault_path", "expected_commit",
        "expected_provenance_hash", "approval_id", "created_at", "idempotency_key")

    @classmethod
    def new(cls, *, object_id: str, vault_path: str, expected_commit: str, expected_provenance_hash: str, approval_id: str,
            delete_request_id: str, job_id: Optional[str] = None, mission_id: Optional[str] = None, idempotency_key: Optional[str] = None,
            created_at: Optional[datetime] = None) -> "DeleteJob":
        """A job of this moment for a deletion that an approval names; see SaveJob.new()."""
        return cls(job_id=job_id or _new_id(), mission_id=mission_id or _new_id(), object_id=object_id, vault_path=vault_path,
                   created_at=_moment(created_at), idempotency_key=idempotency_key or _new_id(), delete_request_id=delete_request_id,
                   expected_commit=expected_commit, expected_provenance_hash=expected_provenance_hash, approval_id=approval_id)


Job = Union[SaveJob, DeleteJob]


def parse_save(data: bytes, rules: JobRules = JobRules()) -> SaveJob:
    """The SAVE job in a file's bytes. Raises JobRefused with the code that the SAVE executor would give; age is not judged."""
    return _parse(SaveJob, data, rules)


def parse_delete(data: bytes, rules: JobRules = JobRules()) -> DeleteJob:
    """The same for DELETE."""
    return _parse(DeleteJob, data, rules)


def check(job: Job, rules: JobRules = JobRules(), now: Optional[datetime] = None) -> bytes:
    """The job's bytes, after every rule that the executor knows without git, approvals or its ledger. Raises JobRefused.

    `now` is the clock for the age, with a time zone; default: this machine's.
    """
    try:
        data = job.to_bytes()
    except UnicodeEncodeError:
        raise JobRefused("MALFORMED_JSON", "a member holds a lone surrogate") from None
    except (TypeError, ValueError) as error:
        raise JobRefused("BAD_TYPE", str(error)) from None
    _parse(type(job), data, rules)
    check_age(job, rules, now)
    return data


def check_age(job: Job, rules: JobRules = JobRules(), now: Optional[datetime] = None) -> None:
    """Raises JobRefused: CREATED_IN_FUTURE, JOB_TOO_OLD. The executor judges it at admission, by its own clock."""
    created = timestamp.parse(job.created_at)
    if created is None:
        raise JobRefused("BAD_VALUE", "created_at: %s is no UTC time" % excerpt(job.created_at))
    age = (now or datetime.now(timezone.utc)) - created
    if -age > timedelta(seconds=CREATED_AHEAD_MAX_S):
        raise JobRefused("CREATED_IN_FUTURE", "created_at %s is more than %d s ahead" % (job.created_at, CREATED_AHEAD_MAX_S))
    if age > rules.max_age:
        raise JobRefused("JOB_TOO_OLD", "created_at %s is older than %s" % (job.created_at, rules.max_age))


def _new_id() -> str:
    return str(uuid.uuid4())


def _moment(created_at: Optional[datetime]) -> str:
    return timestamp.format_utc(created_at or datetime.now(timezone.utc))


def _parse(cls: Type[AnyJob], data: bytes, rules: JobRules) -> AnyJob:
    """In the executor's order: size, JSON, canonical form, object, version, type, members, values, path."""
    if not data:
        raise JobRefused("EMPTY_FILE", "no content")
    if len(data) > JOB_FILE_BYTES_MAX:
        raise JobRefused("OVERSIZED", "more than %d bytes" % JOB_FILE_BYTES_MAX)
    value = parse_canonical(data)
    if not isinstance(value, dict):
        raise JobRefused("BAD_TYPE", "the job is not an object")
    _check_version(value)
    _check_type(value, cls.JOB_TYPE)
    _check_members(value, cls.MEMBERS)
    for name in cls.MEMBERS:
        rule = _value_rule(name, value[name], rules) if name not in ("job_version", "job_type", "vault_path") else None
        if rule:
            raise JobRefused("BAD_VALUE", "%s: %s is %s" % (name, excerpt(value[name]), rule))
    unsafe = unsafe_path_rule(value["vault_path"], rules.vault_root, rules.extensions)
    if unsafe:
        raise JobRefused("UNSAFE_PATH", "vault_path: " + unsafe)
    return cls(**{name: value[name] for name in cls.MEMBERS if name not in ("job_version", "job_type")})


def _check_version(value: Dict[str, Any]) -> None:
    if "job_version" not in value:
        raise JobRefused("MISSING_MEMBER", "member job_version is missing")
    version = value["job_version"]
    if not isinstance(version, int) or isinstance(version, bool):
        raise JobRefused("BAD_TYPE", "job_version is not an integer")
    if version != JOB_VERSION:
        raise JobRefused("UNKNOWN_VERSION", "job_version is %d, not %d" % (version, JOB_VERSION))


def _check_type(value: Dict[str, Any], job_type: str) -> None:
    if "job_type" not in value:
        raise JobRefused("MISSING_MEMBER", "member job_type is missing")
    if not isinstance(value["job_type"], str):
        raise JobRefused("BAD_TYPE", "job_type is not a string")
    if value["job_type"] != job_type:
        raise JobRefused("UNKNOWN_JOB_TYPE", "job_type is %s, not %s" % (excerpt(value["job_type"]), job_type))


def _check_members(value: Dict[str, Any], members: Sequence[str]) -> None:
    unknown: List[str] = sorted(set(value) - set(members))
    if unknown:
        raise JobRefused("UNKNOWN_MEMBER", "unknown member %s" % excerpt(unknown[0]))
    for name in members:
        if name not in value:
            raise JobRefused("MISSING_MEMBER", "member %s is missing" % name)
    for name in members:
        if name != "job_version" and not isinstance(value[name], str):
            raise JobRefused("BAD_TYPE", "%s is not a string" % name)


def _value_rule(name: str, text: str, rules: JobRules) -> Optional[str]:
    """None where the value may stand there; else what it is instead."""
    if name == "created_at":
        return None if timestamp.parse(text) else "not a UTC time as in RFC 3339 with T, Z and at most 6 digits"
    if name.endswith("_commit"):
        return None if _COMMITS[rules.object_format].fullmatch(text) else "not a full lower-case commit id, or all zero"
    if name.endswith("provenance_hash"):
        return None if _SHA256.fullmatch(text) else "not 64 lower-case hex digits"
    if name == "object_id":
        return None if _OBJECT_ID.fullmatch(text) else "not an object id"
    if name == "expected_state":
        return None if _STATE_WORD.fullmatch(text) else "not a state word"
    return None if _UUID4.fullmatch(text) else "not a lower-case UUIDv4"
