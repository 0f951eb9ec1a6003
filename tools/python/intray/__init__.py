"""Hand jobs over to an intray inbox and learn what became of them: pure Python, no dependencies, the protocol of docs/protocol.md.

    inbox = intray.Inbox("/var/lib/intray/save")
    handed = inbox.hand_over(intray.SaveJob.of_note("notes/today.md", commit, content))
    receipt = inbox.receipts.wait(handed, timeout_s=60)
    print(receipt.state, receipt.reason)
"""
from .canonical import parse_canonical, parse_strict, to_canonical
from .errors import AlreadyHandedOver, HandOffError, IntrayError, JobRefused, NameTaken, NotAccepted, OutcomeUnknown, ReceiptTimeout
from .handoff import Attempt, Handed, Inbox, handed_of
from .job import DeleteJob, Job, JobRules, SaveJob, check, check_age, parse_delete, parse_save
from .path import unsafe_path_rule
from .provenance import NO_STATE, object_id_of_path, provenance_hash_of
from .receipts import Receipt, ReceiptLog, parse_receipt

__all__ = [
    "AlreadyHandedOver", "Attempt", "DeleteJob", "HandOffError", "Handed", "Inbox", "IntrayError", "Job", "JobRefused", "JobRules", "NO_STATE", "NameTaken", "NotAccepted",
    "OutcomeUnknown", "Receipt", "ReceiptLog", "ReceiptTimeout", "SaveJob", "check", "check_age", "handed_of", "object_id_of_path", "parse_canonical",
    "parse_delete", "parse_receipt", "parse_save", "parse_strict", "provenance_hash_of", "to_canonical", "unsafe_path_rule"]
