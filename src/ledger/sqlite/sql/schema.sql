-- The ledger of one executor kind, version 1. Times are integer microseconds UTC, ids raw octets, states and reasons
-- their stable words. The triggers that hold the moves of a job are made from the model's table (schema.cc).
--
-- What runs for every job (RAISE(FAIL) in the triggers, OR FAIL in the statements, the deferred references) is written so
-- that SQLite needs no statement journal, which would copy each page touched: a failure rolls the whole transaction back anyway.

-- One row: what this ledger is, and the counters that never go back.
CREATE TABLE ledger (
  one           INTEGER PRIMARY KEY CHECK (one = 1),
  ledger_id     BLOB NOT NULL CHECK (length(ledger_id) = 16),
  kind          TEXT NOT NULL CHECK (kind IN ('save', 'delete')),
  created_at    INTEGER NOT NULL,
  gate          TEXT NOT NULL CHECK (gate IN ('OPEN', 'BLOCKED')),
  ledger_epoch  INTEGER NOT NULL,            -- the ledger's own: raised by a reconciliation
  epoch         INTEGER NOT NULL,            -- last one drawn, of all slots
  fence         INTEGER NOT NULL             -- last one drawn, of all claims
) STRICT;

-- Processes that have it open for writing. A row whose process is gone tells of an unclean stop.
CREATE TABLE writers (
  id            INTEGER PRIMARY KEY,
  boot_id       TEXT NOT NULL,
  pid           INTEGER NOT NULL,
  start_ticks   INTEGER NOT NULL,
  opened_at     INTEGER NOT NULL
) STRICT;

CREATE TABLE leases (
  tenant        TEXT NOT NULL,
  agent         TEXT NOT NULL,
  binding       TEXT NOT NULL,
  lease_id      BLOB NOT NULL,
  connector_id  BLOB NOT NULL,
  scopes        TEXT NOT NULL,
  epoch         INTEGER NOT NULL CHECK (epoch > 0),
  acquired_at   INTEGER NOT NULL,
  heartbeat_at  INTEGER NOT NULL,
  expires_at    INTEGER NOT NULL,
  released_at   INTEGER,
  updated_at    INTEGER NOT NULL,
  boot_id       TEXT NOT NULL,
  expires_boot  INTEGER NOT NULL,            -- CLOCK_BOOTTIME under boot_id
  PRIMARY KEY (tenant, agent, binding)
) STRICT, WITHOUT ROWID;

-- Which slot an epoch belonged to, for ever: receipts are issued by the slot whose epoch ended the job.
CREATE TABLE epochs (
  epoch         INTEGER PRIMARY KEY,
  binding       TEXT NOT NULL,
  lease_id      BLOB NOT NULL,
  connector_id  BLOB NOT NULL,
  begun_at      INTEGER NOT NULL
) STRICT;

CREATE TABLE jobs (
  seq               INTEGER PRIMARY KEY,     -- admission order
  -- from the job and its file; never changed
  job_id            BLOB NOT NULL CHECK (length(job_id) = 16),
  mission_id        BLOB NOT NULL CHECK (length(mission_id) = 16),
  object_id         TEXT NOT NULL,
  vault_path        TEXT NOT NULL,
  commit_id         TEXT NOT NULL,           -- source_commit or expected_commit
  provenance_hash   BLOB NOT NULL CHECK (length(provenance_hash) = 32),
  expected_state    TEXT NOT NULL,
  created_at        INTEGER NOT NULL,
  idempotency_key   BLOB NOT NULL CHECK (length(idempotency_key) = 16),
  delete_request_id BLOB,
  approval_id       BLOB,
  job_sha256        BLOB NOT NULL CHECK (length(job_sha256) = 32),
  take              INTEGER NOT NULL,
  name_created_us   INTEGER NOT NULL,
  owner_uid         INTEGER NOT NULL,
  taken_at          INTEGER NOT NULL,
  admitted_at       INTEGER NOT NULL,
  follows           INTEGER REFERENCES jobs (seq) DEFERRABLE INITIALLY DEFERRED,  -- of a replay: its first job
  -- what changes
  deadline_at       INTEGER NOT NULL,
  revision          INTEGER NOT NULL,
  state             TEXT NOT NULL,
  state_since       INTEGER NOT NULL,
  occupies          INTEGER,                 -- 1 while later jobs of the object or path must wait for it, else NULL
  behind            INTEGER,                 -- the latest earlier job that it waits for, NULL where there is none
  suspect           INTEGER NOT NULL DEFAULT 0,  -- a process died while holding it
  solo              INTEGER NOT NULL DEFAULT 0,  -- its present claim is alone in its process
  claim_deaths      INTEGER NOT NULL DEFAULT 0,
  binding           TEXT,                    -- the slot that holds it, NULL while nobody does
  worker_id         BLOB,                    -- these five: of the present or last claim
  claim_id          BLOB,
  epoch             INTEGER,
  fence             INTEGER,
  claimed_at        INTEGER,
  lease_until       INTEGER,
  attempts          INTEGER NOT NULL DEFAULT 0,  -- rows in attempts
  attempt_count     INTEGER NOT NULL DEFAULT 0,  -- those that count against retry.max_attempts
  may_have_effect   INTEGER NOT NULL DEFAULT 0,
  not_before        INTEGER,
  settle_until      INTEGER,                 -- object and path stay locked until then, whatever the state
  reason            TEXT,
  result            TEXT,
  finished_at       INTEGER,
  http_status       INTEGER,
  expected_sha256   BLOB,
  observed_sha256   BLOB,
  detail            TEXT,
  last_audit        INTEGER NOT NULL,
  end_audit         INTEGER
) STRICT;
CREATE UNIQUE INDEX jobs_job_id ON jobs (job_id);
CREATE INDEX jobs_idempotency_key ON jobs (idempotency_key);
-- The rest are small: they hold only jobs that wait or run.
CREATE INDEX jobs_lane_object ON jobs (object_id) WHERE occupies = 1;
CREATE INDEX jobs_lane_path ON jobs (vault_path) WHERE occupies = 1;
CREATE INDEX jobs_behind ON jobs (behind) WHERE behind IS NOT NULL;
CREATE INDEX jobs_follows ON jobs (follows) WHERE follows IS NOT NULL AND state = 'READY';
CREATE INDEX jobs_ready ON jobs (seq) WHERE state = 'READY' AND behind IS NULL AND follows IS NULL;
CREATE INDEX jobs_retryable ON jobs (not_before) WHERE state = 'RETRYABLE';
CREATE INDEX jobs_deadline ON jobs (deadline_at) WHERE (state = 'READY' AND follows IS NULL) OR state = 'RETRYABLE';
CREATE INDEX jobs_suspect ON jobs (seq) WHERE suspect = 1;
CREATE INDEX jobs_unknown ON jobs (seq) WHERE state = 'OUTCOME_UNKNOWN';
CREATE INDEX jobs_held ON jobs (binding) WHERE binding IS NOT NULL;
CREATE INDEX jobs_settling ON jobs (settle_until) WHERE settle_until IS NOT NULL;

-- The canonical bytes, apart, so that a job's row stays small.
CREATE TABLE job_bodies (
  seq           INTEGER PRIMARY KEY REFERENCES jobs (seq) DEFERRABLE INITIALLY DEFERRED,
  bytes         BLOB NOT NULL
) STRICT;

-- Files that never became a job: bad, or in conflict with one.
CREATE TABLE files (
  audit         INTEGER PRIMARY KEY,         -- the row of the audit that says so
  take          INTEGER NOT NULL UNIQUE,
  name          TEXT NOT NULL,               -- escaped
  name_created_us INTEGER NOT NULL,
  owner_uid     INTEGER NOT NULL,
  taken_at      INTEGER NOT NULL,
  rejected_at   INTEGER NOT NULL,
  sha256        BLOB,
  job_id        BLOB,                        -- only where it can be believed
  reason        TEXT NOT NULL,
  detail        TEXT NOT NULL,               -- escaped
  epoch         INTEGER NOT NULL,
  worker_id     BLOB NOT NULL
) STRICT;
CREATE INDEX files_job_id ON files (job_id) WHERE job_id IS NOT NULL;

CREATE TABLE attempts (
  job_seq         INTEGER NOT NULL REFERENCES jobs (seq) DEFERRABLE INITIALLY DEFERRED,
  number          INTEGER NOT NULL,          -- from 1
  attempt_id      BLOB NOT NULL CHECK (length(attempt_id) = 16),
  effect          INTEGER REFERENCES effects (id) DEFERRABLE INITIALLY DEFERRED,
  effect_key      BLOB NOT NULL CHECK (length(effect_key) = 32),
  repetition      INTEGER NOT NULL,          -- n of the Idempotency-Key
  content_sha256  BLOB NOT NULL CHECK (length(content_sha256) = 32),
  started_at      INTEGER NOT NULL,
  ended_at        INTEGER,
  outcome         TEXT,                      -- APPLIED, NONE, POSSIBLE, UNKNOWN, VOID (never sent)
  http_status     INTEGER,
  observed_sha256 BLOB,
  epoch           INTEGER NOT NULL,
  fence           INTEGER NOT NULL,
  PRIMARY KEY (job_seq, number)
) STRICT, WITHOUT ROWID;

-- What was ever meant to be changed at the receiver, and whether it was. Permanent.
CREATE TABLE effects (
  id              INTEGER PRIMARY KEY,
  effect_key      BLOB NOT NULL CHECK (length(effect_key) = 32),
  repetition      INTEGER NOT NULL,
  object_id       TEXT NOT NULL,
  vault_path      TEXT NOT NULL,
  commit_id       TEXT NOT NULL,
  content_sha256  BLOB NOT NULL,
  job_seq         INTEGER NOT NULL REFERENCES jobs (seq) DEFERRABLE INITIALLY DEFERRED,
  state           TEXT NOT NULL,             -- POSSIBLE, NONE, UNSENT (NONE, and never sent), APPLIED, UNKNOWN
  applied_audit   INTEGER,                   -- the row of the audit that confirmed it
  UNIQUE (effect_key, repetition)
) STRICT;
CREATE INDEX effects_object ON effects (object_id, applied_audit) WHERE applied_audit IS NOT NULL;
CREATE INDEX effects_path ON effects (vault_path, applied_audit) WHERE applied_audit IS NOT NULL;

-- Results of holders that had lost their claim: kept, and believed by nobody but a person.
CREATE TABLE late_evidence (
  id              INTEGER PRIMARY KEY,
  at              INTEGER NOT NULL,
  job_seq         INTEGER NOT NULL,
  claim_id        BLOB NOT NULL,
  lease_id        BLOB NOT NULL,
  worker_id       BLOB NOT NULL,
  epoch           INTEGER NOT NULL,
  claimed_state   TEXT NOT NULL,             -- the state it would have made
  reason          TEXT,
  result          TEXT,
  may_have_effect INTEGER NOT NULL,
  http_status     INTEGER,
  expected_sha256 BLOB,
  observed_sha256 BLOB,
  detail          TEXT
) STRICT;

-- Through which row of the audit each slot's receipts are durable.
CREATE TABLE receipts (
  binding       TEXT PRIMARY KEY,
  through       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Both audits: append only, each row's hash over the row before it and its own canonical content (audit.h).
CREATE TABLE audit (
  seq             INTEGER PRIMARY KEY,
  at              INTEGER NOT NULL,
  event           TEXT NOT NULL,
  job_seq         INTEGER,                   -- an index into this database, not part of the chained content
  job_id          BLOB,
  mission_id      BLOB,
  job_type        TEXT,
  object_id       TEXT,
  from_state      TEXT,
  to_state        TEXT,
  move            TEXT,                      -- row of the table of moves, "J05"
  worker_id       BLOB,
  claim_id        BLOB,
  attempt         BLOB,
  epoch           INTEGER,
  fence           INTEGER,
  reason          TEXT,
  result          TEXT,
  approval_id     BLOB,
  provenance_hash BLOB,
  actor           TEXT,
  detail          TEXT,
  prev_hash       BLOB NOT NULL CHECK (length(prev_hash) = 32),
  hash            BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
CREATE INDEX audit_job ON audit (job_seq) WHERE job_seq IS NOT NULL;

CREATE TABLE lease_audit (
  seq             INTEGER PRIMARY KEY,
  at              INTEGER NOT NULL,
  event           TEXT NOT NULL,
  outcome         TEXT NOT NULL,             -- GRANTED or REFUSED
  reason          TEXT,
  tenant          TEXT NOT NULL,
  agent           TEXT NOT NULL,
  binding         TEXT NOT NULL,
  connector_id    BLOB NOT NULL,
  epoch           INTEGER,
  correlation     BLOB,                      -- of the lease or attempt it is about
  prev_hash       BLOB NOT NULL CHECK (length(prev_hash) = 32),
  hash            BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE TRIGGER jobs_keep_members BEFORE UPDATE OF seq, job_id, mission_id, object_id, vault_path, commit_id, provenance_hash,
  expected_state, created_at, idempotency_key, delete_request_id, approval_id, job_sha256, take, name_created_us, owner_uid,
  taken_at, admitted_at, follows ON jobs
BEGIN SELECT RAISE(ABORT, 'jobs: what came from the job never changes'); END;
CREATE TRIGGER jobs_stay BEFORE DELETE ON jobs BEGIN SELECT RAISE(ABORT, 'jobs: never deleted'); END;
CREATE TRIGGER job_bodies_keep BEFORE UPDATE ON job_bodies BEGIN SELECT RAISE(ABORT, 'job_bodies: never changed'); END;
CREATE TRIGGER job_bodies_stay BEFORE DELETE ON job_bodies BEGIN SELECT RAISE(ABORT, 'job_bodies: never deleted'); END;
CREATE TRIGGER files_keep BEFORE UPDATE ON files BEGIN SELECT RAISE(ABORT, 'files: never changed'); END;
CREATE TRIGGER files_stay BEFORE DELETE ON files BEGIN SELECT RAISE(ABORT, 'files: never deleted'); END;
CREATE TRIGGER attempts_keep BEFORE UPDATE OF job_seq, number, attempt_id, effect, effect_key, repetition, content_sha256,
  started_at, epoch, fence ON attempts BEGIN SELECT RAISE(ABORT, 'attempts: only the outcome is filled in'); END;
CREATE TRIGGER attempts_stay BEFORE DELETE ON attempts BEGIN SELECT RAISE(ABORT, 'attempts: never deleted'); END;
CREATE TRIGGER effects_keep BEFORE UPDATE OF id, effect_key, repetition, object_id, vault_path, commit_id ON effects
BEGIN SELECT RAISE(ABORT, 'effects: what it is never changes'); END;
CREATE TRIGGER effects_applied BEFORE UPDATE OF state ON effects WHEN OLD.state = 'APPLIED' AND NEW.state <> 'APPLIED'
BEGIN SELECT RAISE(FAIL, 'effects: applied stays applied'); END;
CREATE TRIGGER effects_stay BEFORE DELETE ON effects BEGIN SELECT RAISE(ABORT, 'effects: never deleted'); END;
CREATE TRIGGER epochs_keep BEFORE UPDATE ON epochs BEGIN SELECT RAISE(ABORT, 'epochs: never changed'); END;
CREATE TRIGGER epochs_stay BEFORE DELETE ON epochs BEGIN SELECT RAISE(ABORT, 'epochs: never deleted'); END;
CREATE TRIGGER ledger_counts_up BEFORE UPDATE OF ledger_epoch, epoch, fence ON ledger
  WHEN NEW.ledger_epoch < OLD.ledger_epoch OR NEW.epoch < OLD.epoch OR NEW.fence < OLD.fence
BEGIN SELECT RAISE(ABORT, 'ledger: counters never go back'); END;
CREATE TRIGGER ledger_keep BEFORE UPDATE OF one, ledger_id, kind, created_at ON ledger
BEGIN SELECT RAISE(ABORT, 'ledger: what it is never changes'); END;
CREATE TRIGGER ledger_stay BEFORE DELETE ON ledger BEGIN SELECT RAISE(ABORT, 'ledger: never deleted'); END;
CREATE TRIGGER late_evidence_keep BEFORE UPDATE ON late_evidence BEGIN SELECT RAISE(ABORT, 'late_evidence: append only'); END;
CREATE TRIGGER late_evidence_stay BEFORE DELETE ON late_evidence BEGIN SELECT RAISE(ABORT, 'late_evidence: append only'); END;
CREATE TRIGGER audit_keep BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit: append only'); END;
CREATE TRIGGER audit_stay BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit: append only'); END;
CREATE TRIGGER lease_audit_keep BEFORE UPDATE ON lease_audit BEGIN SELECT RAISE(ABORT, 'lease_audit: append only'); END;
CREATE TRIGGER lease_audit_stay BEFORE DELETE ON lease_audit BEGIN SELECT RAISE(ABORT, 'lease_audit: append only'); END;
-- REPLACE removes rows without asking the triggers on DELETE, so no row may come in where one stands already.
CREATE TRIGGER ledger_once BEFORE INSERT ON ledger WHEN EXISTS (SELECT 1 FROM ledger)
BEGIN SELECT RAISE(FAIL, 'ledger: has one row'); END;
CREATE TRIGGER epochs_once BEFORE INSERT ON epochs WHEN NEW.epoch <= (SELECT max(epoch) FROM epochs)
BEGIN SELECT RAISE(FAIL, 'epochs: append only'); END;
CREATE TRIGGER jobs_once BEFORE INSERT ON jobs WHEN EXISTS (SELECT 1 FROM jobs WHERE seq = NEW.seq OR job_id = NEW.job_id)
BEGIN SELECT RAISE(FAIL, 'jobs: never replaced'); END;
CREATE TRIGGER job_bodies_once BEFORE INSERT ON job_bodies WHEN EXISTS (SELECT 1 FROM job_bodies WHERE seq = NEW.seq)
BEGIN SELECT RAISE(FAIL, 'job_bodies: never replaced'); END;
CREATE TRIGGER files_once BEFORE INSERT ON files
  WHEN EXISTS (SELECT 1 FROM files WHERE audit = NEW.audit OR take = NEW.take)
BEGIN SELECT RAISE(FAIL, 'files: never replaced'); END;
CREATE TRIGGER attempts_once BEFORE INSERT ON attempts
  WHEN EXISTS (SELECT 1 FROM attempts WHERE job_seq = NEW.job_seq AND number = NEW.number)
BEGIN SELECT RAISE(FAIL, 'attempts: never replaced'); END;
CREATE TRIGGER effects_once BEFORE INSERT ON effects
  WHEN EXISTS (SELECT 1 FROM effects WHERE id = NEW.id OR (effect_key = NEW.effect_key AND repetition = NEW.repetition))
BEGIN SELECT RAISE(FAIL, 'effects: never replaced'); END;
CREATE TRIGGER late_evidence_once BEFORE INSERT ON late_evidence
  WHEN EXISTS (SELECT 1 FROM late_evidence WHERE id = NEW.id)
BEGIN SELECT RAISE(FAIL, 'late_evidence: append only'); END;
CREATE TRIGGER audit_next BEFORE INSERT ON audit WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM audit)
BEGIN SELECT RAISE(FAIL, 'audit: append only'); END;
CREATE TRIGGER lease_audit_next BEFORE INSERT ON lease_audit
  WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM lease_audit)
BEGIN SELECT RAISE(FAIL, 'lease_audit: append only'); END;
