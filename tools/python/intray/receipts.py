"""Receipts: one JSON line for each outcome, in receipts/<YYYY-MM-DD>.jsonl. All that a requester ever learns.

A job's receipts are those with its id AND its file's hash; of several the one with the highest audit_seq counts. Lines can come twice, be
torn by a crash, or be unfinished; none of that is an error.
"""
import os
import re
import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, Optional

from . import timestamp
from .canonical import parse_canonical
from .errors import JobRefused, ReceiptTimeout
from .limits import KNOWN_RECEIPTS_MAX, RECEIPT_LINE_BYTES_MAX

if TYPE_CHECKING:
    from .handoff import Handed

_DAY_FILE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\.jsonl")
_TEXTS = ("admitted_at", "audit_hash", "finished_at", "job_type", "result", "state", "worker_id")
_NUMBERS = ("attempts", "audit_seq", "epoch")
_NULLABLE = ("job_id", "job_sha256", "reason")
_READ_BYTES = 64 * 1024
_PAUSE_FIRST_S = 0.05
_PAUSE_MAX_S = 2.0
_CLOCK_SKEW = timedelta(hours=1)  # between requester and executor, as far as days go


@dataclass(frozen=True)
class Receipt:
    """One outcome of one file. Times are RFC 3339 in UTC."""

    job_id: Optional[str]  # None for a file that yields no id to be trusted
    job_sha256: Optional[str]  # None where the file was never read
    job_type: str
    state: str  # SUCCEEDED, REJECTED, FAILED, OUTCOME_UNKNOWN
    reason: Optional[str]  # a code of the closed list
    result: str  # APPLIED, ALREADY_AT_TARGET, REFUSED, ...
    attempts: int
    admitted_at: str
    finished_at: str
    audit_seq: int
    audit_hash: str
    epoch: int
    worker_id: str
    evidence: Dict[str, Any]  # http_status, observed_sha256, expected_sha256, detail: those there are
    file_name: Optional[str] = None  # escaped, of a file without a job_id

    @property
    def succeeded(self) -> bool:
        """The receiver holds what was asked for; this was read back."""
        return self.state == "SUCCEEDED"


def parse_receipt(line: bytes) -> Optional[Receipt]:
    """The receipt in a line without its newline; None for anything else: a torn line, another version."""
    try:
        value = parse_canonical(line)
    except JobRefused:
        return None
    if not isinstance(value, dict) or value.pop("receipt_version", None) != 1 or not _has_its_types(value):
        return None
    try:
        return Receipt(**value)
    except TypeError:  # a member too many
        return None


def _has_its_types(value: Dict[str, Any]) -> bool:
    return (all(isinstance(value.get(name), str) for name in _TEXTS) and
            all(isinstance(value.get(name), int) and not isinstance(value.get(name), bool) for name in _NUMBERS) and
            all(name in value and isinstance(value[name], (str, type(None))) for name in _NULLABLE) and
            isinstance(value.get("evidence"), dict) and isinstance(value.get("file_name", ""), str))


class ReceiptLog:
    """The receipts of one inbox. Reading takes no lock and disturbs nobody."""

    def __init__(self, path: str) -> None:
        self.path = path

    def read(self, since: Optional[datetime] = None) -> Iterator[Receipt]:
        """Every readable receipt, oldest file first, from the UTC day of `since` on (default: all there are). Raises OSError."""
        return _Tail(self.path, since).read()

    def find(self, handed: "Handed") -> Optional[Receipt]:
        """The receipt that counts for this job, if there is one. Raises OSError."""
        return _best(_Tail(self.path, _first_day(handed)), handed)

    def wait(self, handed: "Handed", timeout_s: float = 60.0) -> Receipt:
        """The receipt that counts for this job, as soon as there is one. Raises ReceiptTimeout, OSError.

        An OUTCOME_UNKNOWN is an answer, too: a person may resolve it later, and a further receipt follows then.
        """
        tail = _Tail(self.path, _first_day(handed))
        until = time.monotonic() + timeout_s
        pause_s = _PAUSE_FIRST_S
        while True:
            found = _best(tail, handed)
            if found:
                return found
            left_s = until - time.monotonic()
            if left_s <= 0:
                raise ReceiptTimeout("no receipt for job %s in %g s" % (handed.job_id, timeout_s))
            time.sleep(min(pause_s, left_s))
            pause_s = min(pause_s * 2, _PAUSE_MAX_S)

    def watch(self, since: Optional[datetime] = None, stop: Optional[Callable[[], bool]] = None) -> Iterator[Receipt]:
        """Every receipt from the UTC day of `since` on (default: today's), and then each new one as it comes, once, across day files.
        Ends when `stop` says so; it is asked at least every 2 s. Raises OSError."""
        tail = _Tail(self.path, since or datetime.now(timezone.utc))
        known: "OrderedDict[int, None]" = OrderedDict()
        pause_s = _PAUSE_FIRST_S
        while True:
            pause_s = min(pause_s * 2, _PAUSE_MAX_S)
            for receipt in tail.read():
                if _is_new(known, receipt):
                    pause_s = _PAUSE_FIRST_S
                    yield receipt
            if stop and stop():
                return
            time.sleep(pause_s)


def _first_day(handed: "Handed") -> datetime:
    return datetime(1970, 1, 1, tzinfo=timezone.utc) + max(timedelta(microseconds=handed.created_us) - _CLOCK_SKEW, timedelta())


def _best(tail: "_Tail", handed: "Handed") -> Optional[Receipt]:
    best: Optional[Receipt] = None
    for receipt in tail.read(handed.job_id):
        if receipt.job_id == handed.job_id and receipt.job_sha256 == handed.job_sha256 and (best is None or best.audit_seq < receipt.audit_seq):
            best = receipt
    return best


def _is_new(known: "OrderedDict[int, None]", receipt: Receipt) -> bool:
    if receipt.audit_seq in known:
        return False
    known[receipt.audit_seq] = None
    if len(known) > KNOWN_RECEIPTS_MAX:
        known.popitem(last=False)
    return True


class _DayFile:
    """How far one file was read."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.offset_bytes = 0
        self.rest = b""  # of an unfinished line
        self.too_long = False

    def lines(self) -> Iterator[bytes]:
        """Those that were finished since the last call, without their newlines."""
        try:
            file = open(self.path, "rb")
        except FileNotFoundError:  # pruned meanwhile
            return
        with file:
            file.seek(self.offset_bytes)
            for part in iter(lambda: file.read(_READ_BYTES), b""):
                self.offset_bytes += len(part)
                *whole, self.rest = (self.rest + part).split(b"\n")
                for line in whole:
                    if not self.too_long:
                        yield line
                    self.too_long = False
                if len(self.rest) > RECEIPT_LINE_BYTES_MAX:
                    self.rest, self.too_long = b"", True


class _Tail:
    """Reads on where it left off. The two newest files are looked at each time: a worker may still write to yesterday's when another one
    has begun today's. An older one was read to its end after a newer one was there."""

    def __init__(self, path: str, since: Optional[datetime]) -> None:
        self.path = path
        self.first = timestamp.format_utc(since)[:10] if since else ""
        self.files: Dict[str, _DayFile] = {}

    def read(self, having: str = "") -> Iterator[Receipt]:
        """Those that came since the last call, of lines that hold this text: it spares the parser everybody else's."""
        names = sorted(name for name in os.listdir(self.path) if _DAY_FILE.fullmatch(name) and name[:10] >= self.first)
        wanted = having.encode("utf-8")
        for name in names:
            file = self.files.setdefault(name, _DayFile(os.path.join(self.path, name)))
            for line in file.lines():
                receipt = parse_receipt(line) if wanted in line else None
                if receipt:
                    yield receipt
        if len(names) > 2:
            self.first = names[-2][:10]
        self.files = {name: file for name, file in self.files.items() if name[:10] >= self.first}
