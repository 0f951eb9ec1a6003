"""What can go wrong, told apart by what the caller should do about it."""
from typing import Optional


class IntrayError(Exception):
    """Any failure this package speaks of."""


class JobRefused(IntrayError, ValueError):
    """The job breaks a rule of the contract; the executor would refuse it with the same code. Nothing was handed over.

    To do: correct the job. `reason` is a code of the closed list ("UNSAFE_PATH"), `detail` says which rule and where.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__("%s: %s" % (reason, detail))
        self.reason = reason
        self.detail = detail


class HandOffError(IntrayError):
    """The hand-over did not end with "handed over". `name` is the file's in new/, `cause` the system's error, if any."""

    def __init__(self, name: str, what: str, cause: Optional[OSError] = None) -> None:
        super().__init__("%s: %s%s" % (name, what, ": %s" % cause if cause else ""))
        self.name = name
        self.cause = cause


class AlreadyHandedOver(HandOffError):
    """The same job lies in new/ from before, durably; nothing changed. To do: nothing, wait for its receipt."""


class NotAccepted(HandOffError):
    """Nothing of the job is in new/, and nothing of it is left in tmp/ (best effort). To do: mend the cause, try again."""


class NameTaken(NotAccepted):
    """The file of that name in new/ is not this job: another requester's, or what a crash left of an earlier attempt. To do: try again
    soon, for the executor takes it away."""


class OutcomeUnknown(HandOffError):
    """The job is visible in new/ but may not survive a power failure, or that can't be told. To do: hand over the same job again."""


class ReceiptTimeout(IntrayError, TimeoutError):
    """No receipt came in time. The job may still end in any way: wait again."""
