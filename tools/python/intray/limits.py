"""Every bound of the contract, its unit in the name. They are the executor's, and no setting of it widens them."""

JOB_FILE_BYTES_MAX = 16 * 1024
JSON_DEPTH_MAX = 4
INTEGER_MAX = 2**53 - 1  # what every JSON reader holds exactly
VAULT_PATH_BYTES_MAX = 1024
PATH_SEGMENT_BYTES_MAX = 255
CREATED_AHEAD_MAX_S = 300  # clock skew between requester and executor
RECEIPT_LINE_BYTES_MAX = 16 * 1024
EXCERPT_CHARACTERS_MAX = 40  # of a value, in a message
TMP_ATTEMPTS_MAX = 16  # tmp/<name>.2 to .16: as many attempts of one job that were cut off
RENAMES_MAX = 4  # tries where the name is taken and free again each time
OPEN_FILES_MAX = 256  # of one batch at a time: a quarter of the usual limit
SYNC_THREADS_MAX = 16
KNOWN_RECEIPTS_MAX = 200_000  # remembered, to skip what comes twice; an executor writes at most half of it again
