"""What a SAVE or DELETE job claims about a note in git; the executor recomputes all of it."""
import hashlib

from .canonical import to_canonical

NO_STATE = "UNSET"  # of a note whose front matter names none


def object_id_of_path(path: str) -> str:
    """The object id of the note at `path` in the repository, at a site that takes ids from paths (the default)."""
    return "p-" + hashlib.sha256(path.encode("utf-8")).hexdigest()[:32]


def provenance_hash_of(commit: str, path: str, content: bytes, object_id: str, state: str = NO_STATE) -> str:
    """64 hex digits over the note's content and place: `path` is the one in the repository, `content` the blob's bytes."""
    return hashlib.sha256(to_canonical({
        "commit": commit, "content_sha256": hashlib.sha256(content).hexdigest(), "object_id": object_id, "path": path, "state": state,
        "version": 1})).hexdigest()
