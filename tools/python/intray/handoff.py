"""How a requester hands jobs over: tmp/ to new/, durably, at most once.

    (1) create tmp/<name> exclusively, fchmod 0644, write, fsync   a crash leaves an orphan in tmp/
    (2) renameat2(tmp/<name>, new/<name>, RENAME_NOREPLACE)        a crash before (3) may undo the rename
    (3) fsync new/                                                 now the job survives a power failure

Only after (3) a call returns. Every error says which of three things is true: not accepted, already handed over, not known. "Not known" is
healed by handing over the same job again, which is always safe. Calls are independent of each other; threads may share an Inbox.
"""
import contextlib
import errno
import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from . import timestamp
from .errors import AlreadyHandedOver, HandOffError, IntrayError, JobRefused, NameTaken, NotAccepted, OutcomeUnknown
from .job import Job, JobRules, check
from .limits import OPEN_FILES_MAX, RENAMES_MAX, SYNC_THREADS_MAX, TMP_ATTEMPTS_MAX
from .receipts import ReceiptLog
from .rename import rename_noreplace

_NO_FILE_OF_OURS = (errno.ELOOP, errno.ENXIO, errno.EISDIR, errno.EACCES)  # a link, a socket, a directory, another's
_MODE = 0o644  # the executor is in no requester's group; the directory keeps others out


@dataclass(frozen=True)
class Handed:
    """A job that is on its way: by `job_id` and `job_sha256` its receipts are known."""

    job_id: str
    job_sha256: str  # 64 hex digits, of the bytes
    name: str  # in new/
    created_us: int  # created_at, microseconds since 1970


@dataclass(frozen=True)
class Attempt:
    """What became of one job of a batch. Without `error` it was handed over."""

    handed: Optional[Handed]  # None only where the job was refused here
    error: Optional[IntrayError]


class Inbox:
    """One inbox, <root>/save or <root>/delete, as a requester sees it.

    `kind` is "save" or "delete"; default: the directory's own name, where that is one of the two. A job of another kind is refused here.
    """

    def __init__(self, path: str, rules: JobRules = JobRules(), kind: str = "") -> None:
        self.path = path
        self.rules = rules
        self.kind = kind or os.path.basename(os.path.normpath(path))
        self.receipts = ReceiptLog(os.path.join(path, "receipts"))

    def hand_over(self, job: Job) -> Handed:
        """Checks the job and hands it over, durably. Raises JobRefused, AlreadyHandedOver, NotAccepted, OutcomeUnknown."""
        data = self.check(job)
        handed = handed_of(job, data)
        with _directories(self.path, handed.name) as (tmp, new):
            parcel = _write(tmp, handed.name, data)
            parcel.sync()
            error = parcel.publish(new)
            _sync_new(new, handed.name)
        if error:
            raise error
        return handed

    def check(self, job: Job) -> bytes:
        """The job's bytes, if this inbox's executor could take them. Raises JobRefused."""
        if self.kind in ("save", "delete") and job.KIND != self.kind:
            raise JobRefused("UNKNOWN_JOB_TYPE", "%s belongs into the other inbox" % job.JOB_TYPE)
        return check(job, self.rules)

    def hand_over_all(self, jobs: Sequence[Job]) -> List[Attempt]:
        """The same for many, with one sync of new/ and files synced side by side. One result for each, in order; nothing is raised for a
        job's sake. Where the sync of new/ fails, all that were renamed are OutcomeUnknown."""
        batch = _Batch(jobs, self.check)
        try:
            with _directories(self.path, "new/") as (tmp, new):
                for start in range(0, len(jobs), OPEN_FILES_MAX):
                    batch.publish(tmp, new, range(start, min(len(jobs), start + OPEN_FILES_MAX)))
                batch.sync(new)
        except NotAccepted as error:  # the directories can't be opened
            batch.fail_rest(error)
        return [Attempt(handed, error) for handed, error in zip(batch.handed, batch.errors)]


class _Batch:
    """Jobs on their way together: for each what it is known by (None where it was refused here), and its error."""

    def __init__(self, jobs: Sequence[Job], checked: Callable[[Job], bytes]) -> None:
        self.handed: List[Optional[Handed]] = [None] * len(jobs)
        self.errors: List[Optional[IntrayError]] = [None] * len(jobs)
        self.data: List[bytes] = [b""] * len(jobs)
        for i, job in enumerate(jobs):
            try:
                self.data[i] = checked(job)
                self.handed[i] = handed_of(job, self.data[i])
            except JobRefused as error:
                self.errors[i] = error

    def publish(self, tmp: int, new: int, numbers: Sequence[int]) -> None:
        """Steps (1) and (2) of these."""
        parcels: Dict[int, _Parcel] = {}
        try:
            for i in numbers:
                handed = self.handed[i]
                if handed:
                    with self._keeping_error(i):
                        parcels[i] = _write(tmp, handed.name, self.data[i])
            for i, failed in zip(list(parcels), _sync_side_by_side(list(parcels.values()))):
                if failed:
                    del parcels[i]
                    self.errors[i] = failed
            for i in list(parcels):
                with self._keeping_error(i):
                    self.errors[i] = parcels.pop(i).publish(new)
        finally:
            for parcel in parcels.values():  # an interrupt: none of these was renamed
                parcel.discard()

    def sync(self, new: int) -> None:
        """Step (3), for all that were renamed now or before."""
        moved = [i for i, error in enumerate(self.errors) if error is None or isinstance(error, AlreadyHandedOver)]
        if not moved:
            return
        try:
            os.fsync(new)
        except OSError as error:
            for i in moved:
                self.errors[i] = OutcomeUnknown(self._name(i), "it is in new/, but may not survive a power failure", error)

    def fail_rest(self, error: NotAccepted) -> None:
        self.errors = [own or error for own in self.errors]

    def _name(self, i: int) -> str:
        handed = self.handed[i]
        return handed.name if handed else ""

    @contextlib.contextmanager
    def _keeping_error(self, i: int) -> Iterator[None]:
        try:
            yield
        except HandOffError as error:
            self.errors[i] = error


def handed_of(job: Job, data: bytes) -> Handed:
    """What a job with these bytes is known by. The name is the same each time: that is how a second hand-over is noticed."""
    created = timestamp.parse(job.created_at)
    if created is None:
        raise JobRefused("BAD_VALUE", "created_at is no UTC time")
    created_us = timestamp.to_us(created)
    return Handed(job.job_id, hashlib.sha256(data).hexdigest(), "%016d.%s.json" % (created_us, job.job_id), created_us)


class _Directory:
    def __init__(self, path: str) -> None:
        self.fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self.fd)


@contextlib.contextmanager
def _directories(path: str, name: str) -> Iterator[Tuple[int, int]]:
    """Both, open: what happens to their path meanwhile does not matter."""
    with contextlib.ExitStack() as stack:
        try:
            tmp = stack.enter_context(contextlib.closing(_Directory(os.path.join(path, "tmp"))))
            new = stack.enter_context(contextlib.closing(_Directory(os.path.join(path, "new"))))
        except OSError as error:
            raise NotAccepted(name, "this inbox can't be used", error) from error
        yield tmp.fd, new.fd


class _Parcel:
    """A written file in tmp/ that is ours. Used up by publish(), discard() or any error."""

    def __init__(self, tmp: int, name: str, tmp_name: str, fd: int) -> None:
        self.tmp, self.name, self.tmp_name, self.fd = tmp, name, tmp_name, fd
        self.data = b""

    def fill(self, data: bytes) -> None:
        self.data = data
        with self._or_discard("tmp/ can't be written"):
            os.fchmod(self.fd, _MODE)
            view = memoryview(data)
            while view:
                view = view[os.write(self.fd, view):]

    def sync(self) -> None:
        """The end of step (1)."""
        with self._or_discard("the file can't be synced"):
            os.fsync(self.fd)
        self._close()

    def publish(self, new: int) -> Optional[AlreadyHandedOver]:
        """Step (2). What is returned lies in new/ from before, and needs step (3) as well. Raises NotAccepted, OutcomeUnknown."""
        for attempt in range(1, RENAMES_MAX + 1):
            try:
                return self._rename(new)
            except FileNotFoundError:  # the name was taken and is free again, and it may have been anything
                if attempt == RENAMES_MAX:
                    self._unlink()
                    raise NameTaken(self.name, "the name is taken again and again") from None
        return None

    def _rename(self, new: int) -> Optional[AlreadyHandedOver]:
        """FileNotFoundError: the name was taken, and what had it is gone; ours is still in tmp/."""
        try:
            rename_noreplace(self.tmp, self.tmp_name, new, self.name)
        except FileExistsError as error:
            try:
                same = self._is_in(new)
            except FileNotFoundError:
                raise
            except OSError as failure:
                self._unlink()
                raise OutcomeUnknown(self.name, "what has the name in new/ can't be read", failure) from failure
            self._unlink()
            if not same:
                raise NameTaken(self.name, "the name is taken by a file that is not this job", error) from error
            return AlreadyHandedOver(self.name, "already handed over", error)
        except OSError as error:
            # A failing disk may have done it and said otherwise. Only what is still in tmp/ is certainly not accepted.
            if not self._is_in_tmp():
                raise OutcomeUnknown(self.name, "it may be in new/", error) from error
            self._unlink()
            raise NotAccepted(self.name, "can't be moved into new/", error) from error
        return None

    def discard(self) -> None:
        self._close()
        self._unlink()

    @contextlib.contextmanager
    def _or_discard(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.discard()
            raise NotAccepted(self.name, what, error) from error
        except BaseException:  # an interrupt: nothing was renamed yet
            self.discard()
            raise

    def _is_in(self, new: int) -> bool:
        """Whether what has the name holds this job's very bytes. It may be anybody's, and anything: it is not followed or waited for."""
        fd = -1
        try:
            fd = os.open(self.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=new)
            return os.read(fd, len(self.data) + 1) == self.data
        except OSError as error:
            if error.errno in _NO_FILE_OF_OURS:
                return False
            raise
        finally:
            if fd >= 0:
                with contextlib.suppress(OSError):
                    os.close(fd)

    def _is_in_tmp(self) -> bool:
        try:
            os.stat(self.tmp_name, dir_fd=self.tmp, follow_symlinks=False)
        except OSError:
            return False
        return True

    def _close(self) -> None:
        fd, self.fd = self.fd, -1
        if fd >= 0:
            with contextlib.suppress(OSError):  # after a sync nothing is left that it could report
                os.close(fd)

    def _unlink(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self.tmp_name, dir_fd=self.tmp)


def _write(tmp: int, name: str, data: bytes) -> _Parcel:
    """Step (1) without its sync. A name that is taken belongs to an attempt that was cut off, or to one at work: it is left alone."""
    for attempt in range(1, TMP_ATTEMPTS_MAX + 1):
        tmp_name = name if attempt == 1 else "%s.%d" % (name, attempt)
        try:
            fd = os.open(tmp_name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, _MODE, dir_fd=tmp)
        except FileExistsError:
            continue
        except OSError as error:
            raise NotAccepted(name, "tmp/ can't be written", error) from error
        parcel = _Parcel(tmp, name, tmp_name, fd)
        parcel.fill(data)
        return parcel
    raise NotAccepted(name, "too many attempts of this job at once", OSError(errno.EEXIST, os.strerror(errno.EEXIST)))


def _sync_new(new: int, name: str) -> None:
    """Step (3)."""
    try:
        os.fsync(new)
    except OSError as error:
        raise OutcomeUnknown(name, "it is in new/, but may not survive a power failure", error) from error


def _sync_side_by_side(parcels: Sequence[_Parcel]) -> List[Optional[NotAccepted]]:
    def sync(parcel: _Parcel) -> Optional[NotAccepted]:
        try:
            parcel.sync()
        except NotAccepted as error:
            return error
        return None

    if len(parcels) < 2:
        return [sync(parcel) for parcel in parcels]
    with ThreadPoolExecutor(max_workers=min(len(parcels), SYNC_THREADS_MAX)) as threads:
        return list(threads.map(sync, parcels))
