-- The document of plexus on SQLite. The rules are here and not in the program:
-- whoever writes to this file, with whatever tool, meets them. A refusal is
-- RAISE(ABORT, 'assent: WORD'); the words are those of errors.go.
--
-- CHECK constraints can be switched off by a connection (PRAGMA
-- ignore_check_constraints), triggers cannot: every rule is a trigger. A
-- connection that drops triggers, or sets PRAGMA writable_schema, is out of
-- their reach: opening the document finds a schema that is not this one, and
-- verifying it finds rows that do not follow from each other.
--
-- A list of more than two in IN would be a table that the engine makes anew for
-- every row; equal and unequal say the same and cost nothing.
--
-- Every row has: rev, its place in the one order of commits, without gaps; tx,
-- the rev of the first row that was written together with it; writer, who
-- wrote it ("host:NAME", "human:NAME", "agent:NAME"); at, when, in
-- microseconds of Unix time; hash, over the hash of the row before and all of
-- this one (see hash.go).

-- Where the document ends. Only the triggers below move it, a row at a time.
CREATE TABLE head(
  one  INTEGER PRIMARY KEY,
  rev  INTEGER NOT NULL,
  tx   INTEGER NOT NULL,
  hash BLOB NOT NULL
) STRICT;

-- A session and the facts that never change (law §3).
CREATE TABLE session(
  rev       INTEGER PRIMARY KEY,
  tx        INTEGER NOT NULL,
  id        TEXT NOT NULL,
  seat      TEXT NOT NULL, -- attended, unattended
  client    TEXT NOT NULL,
  workspace TEXT NOT NULL,
  cwd       TEXT NOT NULL,
  home      TEXT NOT NULL,
  parent    TEXT NOT NULL, -- another session, or ''
  facts     TEXT NOT NULL, -- a JSON object, or ''
  writer    TEXT NOT NULL,
  at        INTEGER NOT NULL,
  hash      BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX session_id ON session(id);

-- A job: a leaf or a sequence of a session's tree (law §8).
CREATE TABLE job(
  rev       INTEGER PRIMARY KEY,
  tx        INTEGER NOT NULL,
  session   TEXT NOT NULL,
  id        TEXT NOT NULL,
  parent    TEXT NOT NULL, -- a sequence of this session, or ''
  ord       INTEGER NOT NULL, -- place among its siblings; rev where equal
  kind      TEXT NOT NULL, -- '' is a call of a client's own (Foreign)
  name      TEXT NOT NULL,
  arguments TEXT NOT NULL, -- a JSON object, or ''
  facts     TEXT NOT NULL, -- a JSON object, or ''
  writer    TEXT NOT NULL,
  at        INTEGER NOT NULL,
  hash      BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX job_id ON job(session, id);
CREATE INDEX job_sequence ON job(session, id) WHERE kind IN ('SessionTurn', 'ProgrammaticJob');

-- A field of a job: written once (law §2).
CREATE TABLE field(
  rev     INTEGER PRIMARY KEY,
  tx      INTEGER NOT NULL,
  session TEXT NOT NULL,
  job     TEXT NOT NULL,
  name    TEXT NOT NULL,
  value   TEXT NOT NULL, -- JSON
  seen    INTEGER NOT NULL, -- the rev of the view it was decided on, or 0
  writer  TEXT NOT NULL,
  at      INTEGER NOT NULL,
  hash    BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX field_once ON field(session, job, name);

-- A register: revisions that are only appended, the latest holds (law §6). The
-- session '' is the kernel's own.
CREATE TABLE register(
  rev     INTEGER PRIMARY KEY,
  tx      INTEGER NOT NULL,
  session TEXT NOT NULL,
  name    TEXT NOT NULL,
  value   TEXT NOT NULL, -- JSON
  seen    INTEGER NOT NULL, -- as in field
  writer  TEXT NOT NULL,
  at      INTEGER NOT NULL,
  hash    BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX register_name ON register(session, name, rev);
CREATE UNIQUE INDEX register_session ON register(session, rev);

-- What is not settled: leaves that are not completed, and sequences that were
-- cancelled and are not. It follows from the rows and is kept so that nobody
-- has to look through all that is settled to find it. Only the triggers below
-- write it.
CREATE TABLE unsettled(
  session TEXT NOT NULL,
  job     TEXT NOT NULL,
  PRIMARY KEY(session, job)
) STRICT, WITHOUT ROWID;

INSERT INTO head VALUES (1, 0, 0, zeroblob(32));

-- Nothing changes and nothing goes.

CREATE TRIGGER session_no_update BEFORE UPDATE ON session BEGIN SELECT RAISE(ABORT, 'assent: immutable'); END;
CREATE TRIGGER session_no_delete BEFORE DELETE ON session BEGIN SELECT RAISE(ABORT, 'assent: immutable'); END;
CREATE TRIGGER job_no_update BEFORE UPDATE ON job BEGIN SELECT RAISE(ABORT, 'assent: immutable'); END;
CREATE TRIGGER job_no_delete BEFORE DELETE ON job BEGIN SELECT RAISE(ABORT, 'assent: immutable'); END;
CREATE TRIGGER field_no_update BEFORE UPDATE ON field BEGIN SELECT RAISE(ABORT, 'assent: immutable'); END;
CREATE TRIGGER field_no_delete BEFORE DELETE ON field BEGIN SELECT RAISE(ABORT, 'assent: immutable'); END;
CREATE TRIGGER register_no_update BEFORE UPDATE ON register BEGIN SELECT RAISE(ABORT, 'assent: immutable'); END;
CREATE TRIGGER register_no_delete BEFORE DELETE ON register BEGIN SELECT RAISE(ABORT, 'assent: immutable'); END;

-- The head follows the rows and is moved by nothing else.

CREATE TRIGGER head_no_insert BEFORE INSERT ON head BEGIN SELECT RAISE(ABORT, 'assent: immutable'); END;
CREATE TRIGGER head_no_delete BEFORE DELETE ON head BEGIN SELECT RAISE(ABORT, 'assent: immutable'); END;
CREATE TRIGGER head_follows BEFORE UPDATE ON head
WHEN NEW.one IS NOT OLD.one OR NEW.rev IS NOT OLD.rev + 1 OR NOT (
     EXISTS (SELECT 1 FROM field    WHERE rev = NEW.rev AND tx = NEW.tx AND hash = NEW.hash)
  OR EXISTS (SELECT 1 FROM job      WHERE rev = NEW.rev AND tx = NEW.tx AND hash = NEW.hash)
  OR EXISTS (SELECT 1 FROM register WHERE rev = NEW.rev AND tx = NEW.tx AND hash = NEW.hash)
  OR EXISTS (SELECT 1 FROM session  WHERE rev = NEW.rev AND tx = NEW.tx AND hash = NEW.hash))
BEGIN SELECT RAISE(ABORT, 'assent: immutable'); END;

CREATE TRIGGER session_moves_head AFTER INSERT ON session
BEGIN UPDATE head SET rev = NEW.rev, tx = NEW.tx, hash = NEW.hash WHERE one = 1; END;
CREATE TRIGGER job_moves_head AFTER INSERT ON job
BEGIN UPDATE head SET rev = NEW.rev, tx = NEW.tx, hash = NEW.hash WHERE one = 1; END;
CREATE TRIGGER field_moves_head AFTER INSERT ON field
BEGIN UPDATE head SET rev = NEW.rev, tx = NEW.tx, hash = NEW.hash WHERE one = 1; END;
CREATE TRIGGER register_moves_head AFTER INSERT ON register
BEGIN UPDATE head SET rev = NEW.rev, tx = NEW.tx, hash = NEW.hash WHERE one = 1; END;

-- What is unsettled follows the rows too.

CREATE TRIGGER unsettled_no_update BEFORE UPDATE ON unsettled BEGIN SELECT RAISE(ABORT, 'assent: immutable'); END;
CREATE TRIGGER unsettled_no_delete BEFORE DELETE ON unsettled
WHEN NOT EXISTS (SELECT 1 FROM field WHERE session = OLD.session AND job = OLD.job AND name = 'completed')
BEGIN SELECT RAISE(ABORT, 'assent: immutable'); END;
CREATE TRIGGER unsettled_follows BEFORE INSERT ON unsettled
WHEN NOT EXISTS (SELECT 1 FROM job WHERE session = NEW.session AND id = NEW.job
    AND (kind NOT IN ('SessionTurn', 'ProgrammaticJob')
      OR EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'cancelled')))
  OR EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'completed')
BEGIN SELECT RAISE(ABORT, 'assent: immutable'); END;

CREATE TRIGGER job_unsettled AFTER INSERT ON job WHEN NEW.kind NOT IN ('SessionTurn', 'ProgrammaticJob')
BEGIN INSERT INTO unsettled VALUES (NEW.session, NEW.id); END;
CREATE TRIGGER field_unsettled AFTER INSERT ON field WHEN NEW.name = 'cancelled'
  AND EXISTS (SELECT 1 FROM job WHERE session = NEW.session AND id = NEW.job AND kind IN ('SessionTurn', 'ProgrammaticJob'))
BEGIN INSERT INTO unsettled VALUES (NEW.session, NEW.job); END;
CREATE TRIGGER field_settles AFTER INSERT ON field WHEN NEW.name = 'completed'
BEGIN DELETE FROM unsettled WHERE session = NEW.session AND job = NEW.job; END;

-- Which rows may come. The first line that holds refuses.

CREATE TRIGGER session_law BEFORE INSERT ON session BEGIN SELECT CASE
  WHEN NOT EXISTS (SELECT 1 FROM head WHERE NEW.rev = rev + 1 AND (NEW.tx = NEW.rev OR NEW.tx = tx AND tx > 0))
    OR length(NEW.hash) IS NOT 32
    THEN RAISE(ABORT, 'assent: order')
  WHEN NEW.writer NOT GLOB 'host:?*' AND NEW.writer NOT GLOB 'human:?*' THEN RAISE(ABORT, 'assent: role')
  WHEN NEW.id = '' OR NEW.id GLOB '*[^!-~]*' OR length(NEW.id) > 200 THEN RAISE(ABORT, 'assent: value')
  WHEN EXISTS (SELECT 1 FROM session WHERE id = NEW.id) THEN RAISE(ABORT, 'assent: written')
  WHEN NEW.seat NOT IN ('attended', 'unattended')
    OR NEW.facts <> '' AND (NOT json_valid(NEW.facts) OR json_type(NEW.facts) <> 'object')
    THEN RAISE(ABORT, 'assent: value')
  WHEN NEW.parent <> '' AND NOT EXISTS (SELECT 1 FROM session WHERE id = NEW.parent)
    THEN RAISE(ABORT, 'assent: no session')
END; END;

-- An agent mints calls of its own client and nothing else: a kind is a claim
-- about what a call is, and communication is not judged (law ruling 1).
CREATE TRIGGER job_law BEFORE INSERT ON job BEGIN SELECT CASE
  WHEN NOT EXISTS (SELECT 1 FROM head WHERE NEW.rev = rev + 1 AND (NEW.tx = NEW.rev OR NEW.tx = tx AND tx > 0))
    OR length(NEW.hash) IS NOT 32
    THEN RAISE(ABORT, 'assent: order')
  WHEN NEW.writer NOT GLOB 'host:?*' AND NEW.writer NOT GLOB 'human:?*'
    AND NOT (NEW.writer GLOB 'agent:?*' AND NEW.kind = '')
    THEN RAISE(ABORT, 'assent: role')
  WHEN NOT EXISTS (SELECT 1 FROM session WHERE id = NEW.session) THEN RAISE(ABORT, 'assent: no session')
  WHEN NEW.id = '' OR NEW.id GLOB '*[^!-~]*' OR length(NEW.id) > 200 THEN RAISE(ABORT, 'assent: value')
  WHEN EXISTS (SELECT 1 FROM job WHERE session = NEW.session AND id = NEW.id) THEN RAISE(ABORT, 'assent: written')
  WHEN NEW.kind <> '' AND NEW.kind <> 'SystemToolJob' AND NEW.kind <> 'FileMutateToolJob' AND NEW.kind <> 'MCPToolJob'
      AND NEW.kind <> 'WebSearchToolJob' AND NEW.kind <> 'WebExtractToolJob' AND NEW.kind <> 'AgentCallJob'
      AND NEW.kind <> 'AgentCallbackJob' AND NEW.kind <> 'AgentNotifyJob' AND NEW.kind <> 'AgentMessageJob'
      AND NEW.kind <> 'ContextNeedToolJob' AND NEW.kind <> 'SessionTurn' AND NEW.kind <> 'ProgrammaticJob'
    OR NEW.arguments <> '' AND (NOT json_valid(NEW.arguments) OR json_type(NEW.arguments) <> 'object')
    OR NEW.facts <> '' AND (NOT json_valid(NEW.facts) OR json_type(NEW.facts) <> 'object')
    THEN RAISE(ABORT, 'assent: value')
  WHEN NEW.parent <> '' AND NOT EXISTS (SELECT 1 FROM job WHERE session = NEW.session AND id = NEW.parent)
    THEN RAISE(ABORT, 'assent: no job')
  WHEN NEW.parent <> '' AND NOT EXISTS (SELECT 1 FROM job WHERE session = NEW.session AND id = NEW.parent
      AND kind IN ('SessionTurn', 'ProgrammaticJob'))
    THEN RAISE(ABORT, 'assent: geometry')
  WHEN EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.parent AND name = 'completed')
    THEN RAISE(ABORT, 'assent: completed')
  WHEN EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.parent AND name = 'cancelled')
    THEN RAISE(ABORT, 'assent: cancelled')
END; END;

CREATE TRIGGER field_law BEFORE INSERT ON field BEGIN SELECT CASE
  WHEN NOT EXISTS (SELECT 1 FROM head WHERE NEW.rev = rev + 1 AND (NEW.tx = NEW.rev OR NEW.tx = tx AND tx > 0))
    OR length(NEW.hash) IS NOT 32 OR NEW.seen < 0 OR NEW.seen >= NEW.tx
    THEN RAISE(ABORT, 'assent: order')

  -- Names, and who may write them (law §2).
  WHEN NEW.name <> 'policyResult' AND NEW.name <> 'policyMessage' AND NEW.name <> 'paths' AND NEW.name <> 'effects' AND NEW.name <> 'explanation'
      AND NEW.name <> 'judgeResult' AND NEW.name <> 'judgement' AND NEW.name <> 'approved' AND NEW.name <> 'approvalComment' AND NEW.name <> 'orchestrationResult'
      AND NEW.name <> 'licenseReason' AND NEW.name <> 'bodyStarted' AND NEW.name <> 'cancelled' AND NEW.name <> 'outcomeJson' AND NEW.name <> 'completed'
    AND NOT (substr(NEW.name, 1, 10) = 'judgeFail/' AND CAST(substr(NEW.name, 11) AS INTEGER) > 0
      AND CAST(CAST(substr(NEW.name, 11) AS INTEGER) AS TEXT) = substr(NEW.name, 11))
    THEN RAISE(ABORT, 'assent: name')
  WHEN NEW.name IN ('approved', 'approvalComment') AND NEW.writer NOT GLOB 'human:?*'
    OR NEW.name NOT IN ('approved', 'approvalComment') AND NEW.writer NOT GLOB 'host:?*'
    THEN RAISE(ABORT, 'assent: role')

  -- What they are written on: leaves have votes, sequences have none (law §8).
  WHEN NOT EXISTS (SELECT 1 FROM job WHERE session = NEW.session AND id = NEW.job) THEN RAISE(ABORT, 'assent: no job')
  WHEN NEW.name <> 'cancelled' AND NEW.name <> 'outcomeJson' AND NEW.name <> 'completed' AND EXISTS (SELECT 1 FROM job
      WHERE session = NEW.session AND id = NEW.job AND kind IN ('SessionTurn', 'ProgrammaticJob'))
    THEN RAISE(ABORT, 'assent: geometry')

  -- What they hold.
  WHEN NOT json_valid(NEW.value) OR NOT CASE
      WHEN NEW.name = 'policyResult' THEN NEW.value = '"allow"' OR NEW.value = '"ask"' OR NEW.value = '"deny"' OR NEW.value = '"block"'
      WHEN NEW.name = 'judgeResult' THEN NEW.value IN ('"allow"', '"deny"')
      WHEN NEW.name IN ('approved', 'orchestrationResult') THEN NEW.value IN ('true', 'false')
      WHEN NEW.name = 'cancelled' OR NEW.name = 'completed' OR NEW.name = 'bodyStarted' THEN NEW.value = 'true'
      WHEN NEW.name = 'paths' THEN json_type(NEW.value) = 'array'
        AND NOT EXISTS (SELECT 1 FROM json_each(NEW.value) WHERE type <> 'text')
      WHEN NEW.name = 'effects' THEN json_type(NEW.value) = 'array'
      WHEN NEW.name = 'judgement' THEN json_type(NEW.value) = 'object'
      WHEN NEW.name IN ('explanation', 'outcomeJson') THEN json_type(NEW.value) <> 'null'
      ELSE json_type(NEW.value) = 'text' END
    THEN RAISE(ABORT, 'assent: value')

  -- completed is the host's last write, outcomeJson and completed come
  -- together and in that order (law §2). People may still comment.
  WHEN NEW.name NOT IN ('approved', 'approvalComment')
    AND EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'completed')
    THEN RAISE(ABORT, 'assent: completed')
  WHEN EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = NEW.name)
    THEN RAISE(ABORT, 'assent: written')
  WHEN NEW.name <> 'approved' AND NEW.name <> 'approvalComment' AND NEW.name <> 'completed'
    AND EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'outcomeJson')
    THEN RAISE(ABORT, 'assent: completed')
  WHEN NEW.name = 'completed'
    AND NOT EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'outcomeJson')
    THEN RAISE(ABORT, 'assent: apart')

  -- What the floor explains comes with its result, and so does who gave a vote.
  WHEN (NEW.name = 'policyMessage' OR NEW.name = 'paths' OR NEW.name = 'effects' OR NEW.name = 'explanation')
    AND NOT EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'policyResult' AND tx = NEW.tx)
    THEN RAISE(ABORT, 'assent: apart')
  WHEN NEW.name = 'judgement'
    AND NOT EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'judgeResult' AND tx = NEW.tx)
    THEN RAISE(ABORT, 'assent: apart')

  -- The attempts of the classifier are counted, and end with its vote.
  WHEN NEW.name GLOB 'judgeFail/*'
    AND EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'judgeResult')
    THEN RAISE(ABORT, 'assent: written')
  WHEN NEW.name GLOB 'judgeFail/*' AND NEW.name <> 'judgeFail/1'
    AND NOT EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job
      AND name = 'judgeFail/' || (CAST(substr(NEW.name, 11) AS INTEGER) - 1))
    THEN RAISE(ABORT, 'assent: name')

  -- A person's true waits for the floor and never lifts a block (law ruling 2).
  WHEN NEW.name = 'approved' AND NEW.value = 'true'
    AND NOT EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'policyResult')
    THEN RAISE(ABORT, 'assent: floor first')
  WHEN NEW.name = 'approved' AND NEW.value = 'true'
    AND EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'policyResult' AND value = '"block"')
    THEN RAISE(ABORT, 'assent: blocked')

  -- What a guard returns follows from the votes (law §4), on a view that still
  -- holds; a cancelled guard returns nothing (law ruling 4).
  WHEN NEW.name = 'orchestrationResult'
    AND EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'cancelled')
    THEN RAISE(ABORT, 'assent: cancelled')
  WHEN NEW.name = 'orchestrationResult' AND NEW.seen = 0 THEN RAISE(ABORT, 'assent: stale')
  WHEN NEW.seen > 0 AND (
       EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job
         AND name IN ('approved', 'approvalComment', 'cancelled') AND rev > NEW.seen AND tx <> NEW.tx)
    OR EXISTS (SELECT 1 FROM register WHERE session = NEW.session AND rev > NEW.seen AND tx <> NEW.tx)
    OR EXISTS (SELECT 1 FROM register WHERE session = '' AND rev > NEW.seen AND tx <> NEW.tx))
    THEN RAISE(ABORT, 'assent: stale')
  WHEN NEW.name = 'orchestrationResult' AND EXISTS (SELECT 1 FROM job WHERE session = NEW.session AND id = NEW.job
      AND (kind IN ('AgentCallJob', 'AgentCallbackJob', 'AgentNotifyJob', 'AgentMessageJob', 'ContextNeedToolJob')
        OR kind = 'SystemToolJob' AND name IN ('update_metadata', 'context_need')))
    THEN CASE NEW.value WHEN 'true' THEN NULL ELSE RAISE(ABORT, 'assent: unlicensed') END
  WHEN NEW.name = 'orchestrationResult' AND NEW.value = 'true' AND (
       EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'approved' AND value = 'false')
    OR NOT EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'policyResult'
         AND value IN ('"allow"', '"ask"', '"deny"')))
    THEN RAISE(ABORT, 'assent: unlicensed')
  WHEN NEW.name = 'orchestrationResult' AND NEW.value = 'false' AND NOT (
       EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'approved' AND value = 'false')
    OR EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'policyResult' AND value = '"block"')
    OR EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'judgeResult' AND value = '"deny"'))
    THEN RAISE(ABORT, 'assent: unlicensed')
  WHEN NEW.name = 'licenseReason'
    AND NOT EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'orchestrationResult' AND tx = NEW.tx)
    THEN RAISE(ABORT, 'assent: apart')

  -- No body without a true (law §7), none on what was cancelled.
  WHEN NEW.name = 'bodyStarted'
    AND NOT EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'orchestrationResult'
      AND value = 'true')
    THEN RAISE(ABORT, 'assent: unlicensed')
  WHEN NEW.name = 'bodyStarted'
    AND EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'cancelled')
    THEN RAISE(ABORT, 'assent: cancelled')

  -- Nothing but the guard, or cancelling, settles a leaf (law ruling 4).
  WHEN NEW.name = 'outcomeJson'
    AND NOT EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job
      AND name IN ('orchestrationResult', 'cancelled'))
    AND NOT EXISTS (SELECT 1 FROM job WHERE session = NEW.session AND id = NEW.job AND kind IN ('SessionTurn', 'ProgrammaticJob'))
    THEN RAISE(ABORT, 'assent: undecided')
END; END;

-- The modes and grants of a session or of the kernel. A grant is true, or the second
-- at which it ends. Nothing an observer
-- writes replaces the mode of an unattended session: it is auto or yolo and is
-- written once, by the host (law §6).
CREATE TRIGGER register_law BEFORE INSERT ON register BEGIN SELECT CASE
  WHEN NOT EXISTS (SELECT 1 FROM head WHERE NEW.rev = rev + 1 AND (NEW.tx = NEW.rev OR NEW.tx = tx AND tx > 0))
    OR length(NEW.hash) IS NOT 32 OR NEW.seen < 0 OR NEW.seen >= NEW.tx
    THEN RAISE(ABORT, 'assent: order')
  WHEN NOT CASE
      WHEN NEW.name = 'standingPolicy' OR NEW.name = 'autoAllow' OR NEW.name = 'readAllowlist' OR substr(NEW.name, 1, 8) = 'overlay/' THEN NEW.session <> ''
      WHEN NEW.name IN ('defaultPolicy', 'standingAutoAllow') THEN NEW.session = ''
      WHEN substr(NEW.name, 1, 5) = 'host/' THEN length(NEW.name) > 5
      ELSE NEW.name = 'autoCoverDeny' OR NEW.name = 'judgeConnection' OR NEW.name = 'judgeModel' OR NEW.name = 'judgeAskProgram' END
    THEN RAISE(ABORT, 'assent: name')
  WHEN NEW.writer NOT GLOB 'host:?*' AND (NEW.writer NOT GLOB 'human:?*' OR substr(NEW.name, 1, 5) = 'host/')
    THEN RAISE(ABORT, 'assent: role')
  WHEN NEW.session <> '' AND NOT EXISTS (SELECT 1 FROM session WHERE id = NEW.session)
    THEN RAISE(ABORT, 'assent: no session')
  WHEN substr(NEW.name, 1, 8) = 'overlay/' AND NOT EXISTS (SELECT 1 FROM job
      WHERE session = NEW.session AND id = substr(NEW.name, 9) AND kind = 'SessionTurn')
    THEN RAISE(ABORT, 'assent: no job')
  WHEN NOT json_valid(NEW.value) OR NOT CASE
      WHEN NEW.name = 'standingPolicy' OR substr(NEW.name, 1, 8) = 'overlay/' THEN NEW.value = '"manual"' OR NEW.value = '"auto"' OR NEW.value = '"yolo"'
      WHEN NEW.name = 'defaultPolicy' THEN NEW.value = '"manual"' OR NEW.value = '"auto"' OR NEW.value = '"yolo"' OR NEW.value = '""'
      WHEN NEW.name = 'autoCoverDeny' THEN NEW.value IN ('true', 'false')
      WHEN NEW.name IN ('autoAllow', 'standingAutoAllow') THEN json_type(NEW.value) = 'object'
        AND NOT EXISTS (SELECT 1 FROM json_each(NEW.value) WHERE key NOT IN ('write', 'bash', 'mcp') OR type NOT IN ('true', 'false')
          AND (type <> 'text' OR atom NOT GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]Z'
            OR atom <= '1970-01-01T00:00:00Z' OR strftime('%Y-%m-%dT%H:%M:%SZ', atom) IS NOT atom))
      WHEN NEW.name = 'readAllowlist' THEN json_type(NEW.value) = 'array'
        AND NOT EXISTS (SELECT 1 FROM json_each(NEW.value) WHERE type <> 'text' OR substr(atom, 1, 1) <> '/')
      WHEN substr(NEW.name, 1, 5) = 'host/' THEN 1
      ELSE json_type(NEW.value) = 'text' END
    THEN RAISE(ABORT, 'assent: value')
  WHEN (NEW.name = 'standingPolicy' OR substr(NEW.name, 1, 8) = 'overlay/')
    AND EXISTS (SELECT 1 FROM session WHERE id = NEW.session AND seat = 'unattended')
    AND (NEW.name <> 'standingPolicy' OR NEW.value = '"manual"' OR NEW.writer NOT GLOB 'host:?*'
      OR EXISTS (SELECT 1 FROM register WHERE session = NEW.session AND name = 'standingPolicy'))
    THEN RAISE(ABORT, 'assent: admitted')
  WHEN NEW.seen > 0 AND (
       EXISTS (SELECT 1 FROM register WHERE session = NEW.session AND rev > NEW.seen AND tx <> NEW.tx)
    OR EXISTS (SELECT 1 FROM register WHERE session = '' AND rev > NEW.seen AND tx <> NEW.tx))
    THEN RAISE(ABORT, 'assent: stale')
END; END;
