-- The document of plexus on PostgreSQL (tested with 15): the same tables, indexes
-- and rules by the same names as in sqlite.sql, which says what each is for. A
-- refusal is the exception 'assent: WORD'. No program of ours connects to it yet.
--
-- Writers take the head's lock, so that there is one order of commits. Rules
-- hold also for replication (ENABLE ALWAYS). The owner of the tables can take
-- them out: whoever writes should be another role, with SELECT and INSERT alone.
-- Text that has a \u0000 in JSON is no value here.

CREATE TABLE head(
  one  bigint PRIMARY KEY,
  rev  bigint NOT NULL,
  tx   bigint NOT NULL,
  hash bytea NOT NULL
);
CREATE TABLE session(
  rev       bigint PRIMARY KEY,
  tx        bigint NOT NULL,
  id        text NOT NULL,
  seat      text NOT NULL,
  client    text NOT NULL,
  workspace text NOT NULL,
  cwd       text NOT NULL,
  home      text NOT NULL,
  parent    text NOT NULL,
  facts     text NOT NULL,
  writer    text NOT NULL,
  at        bigint NOT NULL,
  hash      bytea NOT NULL
);
CREATE TABLE job(
  rev       bigint PRIMARY KEY,
  tx        bigint NOT NULL,
  session   text NOT NULL,
  id        text NOT NULL,
  parent    text NOT NULL,
  ord       bigint NOT NULL,
  kind      text NOT NULL,
  name      text NOT NULL,
  arguments text NOT NULL,
  facts     text NOT NULL,
  writer    text NOT NULL,
  at        bigint NOT NULL,
  hash      bytea NOT NULL
);
CREATE TABLE field(
  rev     bigint PRIMARY KEY,
  tx      bigint NOT NULL,
  session text NOT NULL,
  job     text NOT NULL,
  name    text NOT NULL,
  value   text NOT NULL,
  seen    bigint NOT NULL,
  writer  text NOT NULL,
  at      bigint NOT NULL,
  hash    bytea NOT NULL
);
CREATE TABLE register(
  rev     bigint PRIMARY KEY,
  tx      bigint NOT NULL,
  session text NOT NULL,
  name    text NOT NULL,
  value   text NOT NULL,
  seen    bigint NOT NULL,
  writer  text NOT NULL,
  at      bigint NOT NULL,
  hash    bytea NOT NULL
);
CREATE TABLE unsettled(
  session text NOT NULL,
  job     text NOT NULL,
  PRIMARY KEY(session, job)
);
CREATE UNIQUE INDEX session_id ON session(id);
CREATE UNIQUE INDEX job_id ON job(session, id);
CREATE INDEX job_sequence ON job(session, id) WHERE kind IN ('SessionTurn', 'ProgrammaticJob');
CREATE UNIQUE INDEX field_once ON field(session, job, name);
CREATE UNIQUE INDEX register_name ON register(session, name, rev);
CREATE UNIQUE INDEX register_session ON register(session, rev);

INSERT INTO head VALUES (1, 0, 0, decode(repeat('00', 32), 'hex'));

CREATE FUNCTION assent_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'assent: immutable'; END $$;

-- json is a text as JSON, NULL when it is none.
CREATE FUNCTION assent_json(value text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN RETURN value::jsonb; EXCEPTION WHEN others THEN RETURN NULL; END $$;

-- end says whether a text is the second at which a grant ends.
CREATE FUNCTION assent_end(value text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN value ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$' AND value > '1970-01-01T00:00:00Z'
    AND to_char(left(value, 19)::timestamp, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') = value;
EXCEPTION WHEN others THEN RETURN false; END $$;

CREATE TRIGGER session_no_update BEFORE UPDATE ON session FOR EACH ROW EXECUTE FUNCTION assent_immutable();
ALTER TABLE session ENABLE ALWAYS TRIGGER session_no_update;
CREATE TRIGGER session_no_delete BEFORE DELETE ON session FOR EACH ROW EXECUTE FUNCTION assent_immutable();
ALTER TABLE session ENABLE ALWAYS TRIGGER session_no_delete;
CREATE TRIGGER job_no_update BEFORE UPDATE ON job FOR EACH ROW EXECUTE FUNCTION assent_immutable();
ALTER TABLE job ENABLE ALWAYS TRIGGER job_no_update;
CREATE TRIGGER job_no_delete BEFORE DELETE ON job FOR EACH ROW EXECUTE FUNCTION assent_immutable();
ALTER TABLE job ENABLE ALWAYS TRIGGER job_no_delete;
CREATE TRIGGER field_no_update BEFORE UPDATE ON field FOR EACH ROW EXECUTE FUNCTION assent_immutable();
ALTER TABLE field ENABLE ALWAYS TRIGGER field_no_update;
CREATE TRIGGER field_no_delete BEFORE DELETE ON field FOR EACH ROW EXECUTE FUNCTION assent_immutable();
ALTER TABLE field ENABLE ALWAYS TRIGGER field_no_delete;
CREATE TRIGGER register_no_update BEFORE UPDATE ON register FOR EACH ROW EXECUTE FUNCTION assent_immutable();
ALTER TABLE register ENABLE ALWAYS TRIGGER register_no_update;
CREATE TRIGGER register_no_delete BEFORE DELETE ON register FOR EACH ROW EXECUTE FUNCTION assent_immutable();
ALTER TABLE register ENABLE ALWAYS TRIGGER register_no_delete;
CREATE TRIGGER session_no_truncate BEFORE TRUNCATE ON session FOR EACH STATEMENT EXECUTE FUNCTION assent_immutable();
ALTER TABLE session ENABLE ALWAYS TRIGGER session_no_truncate;
CREATE TRIGGER job_no_truncate BEFORE TRUNCATE ON job FOR EACH STATEMENT EXECUTE FUNCTION assent_immutable();
ALTER TABLE job ENABLE ALWAYS TRIGGER job_no_truncate;
CREATE TRIGGER field_no_truncate BEFORE TRUNCATE ON field FOR EACH STATEMENT EXECUTE FUNCTION assent_immutable();
ALTER TABLE field ENABLE ALWAYS TRIGGER field_no_truncate;
CREATE TRIGGER register_no_truncate BEFORE TRUNCATE ON register FOR EACH STATEMENT EXECUTE FUNCTION assent_immutable();
ALTER TABLE register ENABLE ALWAYS TRIGGER register_no_truncate;
CREATE TRIGGER head_no_truncate BEFORE TRUNCATE ON head FOR EACH STATEMENT EXECUTE FUNCTION assent_immutable();
ALTER TABLE head ENABLE ALWAYS TRIGGER head_no_truncate;
CREATE TRIGGER unsettled_no_truncate BEFORE TRUNCATE ON unsettled FOR EACH STATEMENT EXECUTE FUNCTION assent_immutable();
ALTER TABLE unsettled ENABLE ALWAYS TRIGGER unsettled_no_truncate;
CREATE TRIGGER head_no_insert BEFORE INSERT ON head FOR EACH ROW EXECUTE FUNCTION assent_immutable();
ALTER TABLE head ENABLE ALWAYS TRIGGER head_no_insert;
CREATE TRIGGER head_no_delete BEFORE DELETE ON head FOR EACH ROW EXECUTE FUNCTION assent_immutable();
ALTER TABLE head ENABLE ALWAYS TRIGGER head_no_delete;
CREATE TRIGGER unsettled_no_update BEFORE UPDATE ON unsettled FOR EACH ROW EXECUTE FUNCTION assent_immutable();
ALTER TABLE unsettled ENABLE ALWAYS TRIGGER unsettled_no_update;

CREATE FUNCTION assent_session_law() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM head WHERE one = 1 FOR UPDATE;
  IF (NOT EXISTS (SELECT 1 FROM head WHERE NEW.rev = rev + 1 AND (NEW.tx = NEW.rev OR NEW.tx = tx AND tx > 0))
    OR length(NEW.hash) IS DISTINCT FROM 32)
  THEN RAISE EXCEPTION 'assent: order'; END IF;
  IF (NEW.writer !~ '^host:.' AND NEW.writer !~ '^human:.')
  THEN RAISE EXCEPTION 'assent: role'; END IF;
  IF (NEW.id = '' OR NEW.id COLLATE "C" ~ '[^!-~]' OR length(NEW.id) > 200)
  THEN RAISE EXCEPTION 'assent: value'; END IF;
  IF (EXISTS (SELECT 1 FROM session WHERE id = NEW.id))
  THEN RAISE EXCEPTION 'assent: written'; END IF;
  IF (NEW.seat NOT IN ('attended', 'unattended')
    OR NEW.facts <> '' AND (NOT (assent_json(NEW.facts) IS NOT NULL) OR jsonb_typeof(assent_json(NEW.facts)) <> 'object'))
  THEN RAISE EXCEPTION 'assent: value'; END IF;
  IF (NEW.parent <> '' AND NOT EXISTS (SELECT 1 FROM session WHERE id = NEW.parent))
  THEN RAISE EXCEPTION 'assent: no session'; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER session_law BEFORE INSERT ON session FOR EACH ROW EXECUTE FUNCTION assent_session_law();
ALTER TABLE session ENABLE ALWAYS TRIGGER session_law;

CREATE FUNCTION assent_job_law() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM head WHERE one = 1 FOR UPDATE;
  IF (NOT EXISTS (SELECT 1 FROM head WHERE NEW.rev = rev + 1 AND (NEW.tx = NEW.rev OR NEW.tx = tx AND tx > 0))
    OR length(NEW.hash) IS DISTINCT FROM 32)
  THEN RAISE EXCEPTION 'assent: order'; END IF;
  IF (NEW.writer !~ '^host:.' AND NEW.writer !~ '^human:.'
    AND NOT (NEW.writer ~ '^agent:.' AND NEW.kind = ''))
  THEN RAISE EXCEPTION 'assent: role'; END IF;
  IF (NOT EXISTS (SELECT 1 FROM session WHERE id = NEW.session))
  THEN RAISE EXCEPTION 'assent: no session'; END IF;
  IF (NEW.id = '' OR NEW.id COLLATE "C" ~ '[^!-~]' OR length(NEW.id) > 200)
  THEN RAISE EXCEPTION 'assent: value'; END IF;
  IF (EXISTS (SELECT 1 FROM job WHERE session = NEW.session AND id = NEW.id))
  THEN RAISE EXCEPTION 'assent: written'; END IF;
  IF (NEW.kind <> '' AND NEW.kind <> 'SystemToolJob' AND NEW.kind <> 'FileMutateToolJob' AND NEW.kind <> 'MCPToolJob'
    AND NEW.kind <> 'WebSearchToolJob' AND NEW.kind <> 'WebExtractToolJob' AND NEW.kind <> 'AgentCallJob'
    AND NEW.kind <> 'AgentCallbackJob' AND NEW.kind <> 'AgentNotifyJob' AND NEW.kind <> 'AgentMessageJob'
    AND NEW.kind <> 'ContextNeedToolJob' AND NEW.kind <> 'SessionTurn' AND NEW.kind <> 'ProgrammaticJob'
    OR NEW.arguments <> '' AND (NOT (assent_json(NEW.arguments) IS NOT NULL) OR jsonb_typeof(assent_json(NEW.arguments)) <> 'object')
    OR NEW.facts <> '' AND (NOT (assent_json(NEW.facts) IS NOT NULL) OR jsonb_typeof(assent_json(NEW.facts)) <> 'object'))
  THEN RAISE EXCEPTION 'assent: value'; END IF;
  IF (NEW.parent <> '' AND NOT EXISTS (SELECT 1 FROM job WHERE session = NEW.session AND id = NEW.parent))
  THEN RAISE EXCEPTION 'assent: no job'; END IF;
  IF (NEW.parent <> '' AND NOT EXISTS (SELECT 1 FROM job WHERE session = NEW.session AND id = NEW.parent
    AND kind IN ('SessionTurn', 'ProgrammaticJob')))
  THEN RAISE EXCEPTION 'assent: geometry'; END IF;
  IF (EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.parent AND name = 'completed'))
  THEN RAISE EXCEPTION 'assent: completed'; END IF;
  IF (EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.parent AND name = 'cancelled'))
  THEN RAISE EXCEPTION 'assent: cancelled'; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER job_law BEFORE INSERT ON job FOR EACH ROW EXECUTE FUNCTION assent_job_law();
ALTER TABLE job ENABLE ALWAYS TRIGGER job_law;

CREATE FUNCTION assent_field_law() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM head WHERE one = 1 FOR UPDATE;
  IF (NOT EXISTS (SELECT 1 FROM head WHERE NEW.rev = rev + 1 AND (NEW.tx = NEW.rev OR NEW.tx = tx AND tx > 0))
    OR length(NEW.hash) IS DISTINCT FROM 32 OR NEW.seen < 0 OR NEW.seen >= NEW.tx)
  THEN RAISE EXCEPTION 'assent: order'; END IF;
  IF (NEW.name <> 'policyResult' AND NEW.name <> 'policyMessage' AND NEW.name <> 'paths' AND NEW.name <> 'effects' AND NEW.name <> 'explanation'
    AND NEW.name <> 'judgeResult' AND NEW.name <> 'judgement' AND NEW.name <> 'approved' AND NEW.name <> 'approvalComment' AND NEW.name <> 'orchestrationResult'
    AND NEW.name <> 'licenseReason' AND NEW.name <> 'bodyStarted' AND NEW.name <> 'cancelled' AND NEW.name <> 'outcomeJson' AND NEW.name <> 'completed'
    AND NOT (substr(NEW.name, 1, 10) = 'judgeFail/' AND substr(NEW.name, 11) ~ '^[1-9][0-9]{0,17}$'))
  THEN RAISE EXCEPTION 'assent: name'; END IF;
  IF (NEW.name IN ('approved', 'approvalComment') AND NEW.writer !~ '^human:.'
    OR NEW.name NOT IN ('approved', 'approvalComment') AND NEW.writer !~ '^host:.')
  THEN RAISE EXCEPTION 'assent: role'; END IF;
  IF (NOT EXISTS (SELECT 1 FROM job WHERE session = NEW.session AND id = NEW.job))
  THEN RAISE EXCEPTION 'assent: no job'; END IF;
  IF (NEW.name <> 'cancelled' AND NEW.name <> 'outcomeJson' AND NEW.name <> 'completed' AND EXISTS (SELECT 1 FROM job
    WHERE session = NEW.session AND id = NEW.job AND kind IN ('SessionTurn', 'ProgrammaticJob')))
  THEN RAISE EXCEPTION 'assent: geometry'; END IF;
  IF (NOT (assent_json(NEW.value) IS NOT NULL) OR NOT CASE
    WHEN NEW.name = 'policyResult' THEN NEW.value = '"allow"' OR NEW.value = '"ask"' OR NEW.value = '"deny"' OR NEW.value = '"block"'
    WHEN NEW.name = 'judgeResult' THEN NEW.value IN ('"allow"', '"deny"')
    WHEN NEW.name IN ('approved', 'orchestrationResult') THEN NEW.value IN ('true', 'false')
    WHEN NEW.name = 'cancelled' OR NEW.name = 'completed' OR NEW.name = 'bodyStarted' THEN NEW.value = 'true'
    WHEN NEW.name = 'paths' THEN jsonb_typeof(assent_json(NEW.value)) = 'array'
    AND NOT jsonb_path_exists(assent_json(NEW.value), 'strict $[*] ? (@.type() <> "string")')
    WHEN NEW.name = 'effects' THEN jsonb_typeof(assent_json(NEW.value)) = 'array'
    WHEN NEW.name = 'judgement' THEN jsonb_typeof(assent_json(NEW.value)) = 'object'
    WHEN NEW.name IN ('explanation', 'outcomeJson') THEN jsonb_typeof(assent_json(NEW.value)) <> 'null'
    ELSE jsonb_typeof(assent_json(NEW.value)) = 'string' END)
  THEN RAISE EXCEPTION 'assent: value'; END IF;
  IF (NEW.name NOT IN ('approved', 'approvalComment')
    AND EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'completed'))
  THEN RAISE EXCEPTION 'assent: completed'; END IF;
  IF (EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = NEW.name))
  THEN RAISE EXCEPTION 'assent: written'; END IF;
  IF (NEW.name <> 'approved' AND NEW.name <> 'approvalComment' AND NEW.name <> 'completed'
    AND EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'outcomeJson'))
  THEN RAISE EXCEPTION 'assent: completed'; END IF;
  IF (NEW.name = 'completed'
    AND NOT EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'outcomeJson'))
  THEN RAISE EXCEPTION 'assent: apart'; END IF;
  IF ((NEW.name = 'policyMessage' OR NEW.name = 'paths' OR NEW.name = 'effects' OR NEW.name = 'explanation')
    AND NOT EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'policyResult' AND tx = NEW.tx))
  THEN RAISE EXCEPTION 'assent: apart'; END IF;
  IF (NEW.name = 'judgement'
    AND NOT EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'judgeResult' AND tx = NEW.tx))
  THEN RAISE EXCEPTION 'assent: apart'; END IF;
  IF (NEW.name LIKE 'judgeFail/%'
    AND EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'judgeResult'))
  THEN RAISE EXCEPTION 'assent: written'; END IF;
  IF (NEW.name LIKE 'judgeFail/%' AND NEW.name <> 'judgeFail/1'
    AND NOT EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job
    AND name = 'judgeFail/' || (CAST(substr(NEW.name, 11) AS bigint) - 1)))
  THEN RAISE EXCEPTION 'assent: name'; END IF;
  IF (NEW.name = 'approved' AND NEW.value = 'true'
    AND NOT EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'policyResult'))
  THEN RAISE EXCEPTION 'assent: floor first'; END IF;
  IF (NEW.name = 'approved' AND NEW.value = 'true'
    AND EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'policyResult' AND value = '"block"'))
  THEN RAISE EXCEPTION 'assent: blocked'; END IF;
  IF (NEW.name = 'orchestrationResult'
    AND EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'cancelled'))
  THEN RAISE EXCEPTION 'assent: cancelled'; END IF;
  IF (NEW.name = 'orchestrationResult' AND NEW.seen = 0)
  THEN RAISE EXCEPTION 'assent: stale'; END IF;
  IF (NEW.seen > 0 AND (
    EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job
    AND name IN ('approved', 'approvalComment', 'cancelled') AND rev > NEW.seen AND tx <> NEW.tx)
    OR EXISTS (SELECT 1 FROM register WHERE session = NEW.session AND rev > NEW.seen AND tx <> NEW.tx)
    OR EXISTS (SELECT 1 FROM register WHERE session = '' AND rev > NEW.seen AND tx <> NEW.tx)))
  THEN RAISE EXCEPTION 'assent: stale'; END IF;
  IF (NEW.name = 'orchestrationResult' AND EXISTS (SELECT 1 FROM job WHERE session = NEW.session AND id = NEW.job
    AND (kind IN ('AgentCallJob', 'AgentCallbackJob', 'AgentNotifyJob', 'AgentMessageJob', 'ContextNeedToolJob')
    OR kind = 'SystemToolJob' AND name IN ('update_metadata', 'context_need'))))
  THEN IF NEW.value <> 'true' THEN RAISE EXCEPTION 'assent: unlicensed'; END IF;
    RETURN NEW; END IF;
  IF (NEW.name = 'orchestrationResult' AND NEW.value = 'true' AND (
    EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'approved' AND value = 'false')
    OR NOT EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'policyResult'
    AND value IN ('"allow"', '"ask"', '"deny"'))))
  THEN RAISE EXCEPTION 'assent: unlicensed'; END IF;
  IF (NEW.name = 'orchestrationResult' AND NEW.value = 'false' AND NOT (
    EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'approved' AND value = 'false')
    OR EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'policyResult' AND value = '"block"')
    OR EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'judgeResult' AND value = '"deny"')))
  THEN RAISE EXCEPTION 'assent: unlicensed'; END IF;
  IF (NEW.name = 'licenseReason'
    AND NOT EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'orchestrationResult' AND tx = NEW.tx))
  THEN RAISE EXCEPTION 'assent: apart'; END IF;
  IF (NEW.name = 'bodyStarted'
    AND NOT EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'orchestrationResult'
    AND value = 'true'))
  THEN RAISE EXCEPTION 'assent: unlicensed'; END IF;
  IF (NEW.name = 'bodyStarted'
    AND EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'cancelled'))
  THEN RAISE EXCEPTION 'assent: cancelled'; END IF;
  IF (NEW.name = 'outcomeJson'
    AND NOT EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job
    AND name IN ('orchestrationResult', 'cancelled'))
    AND NOT EXISTS (SELECT 1 FROM job WHERE session = NEW.session AND id = NEW.job AND kind IN ('SessionTurn', 'ProgrammaticJob')))
  THEN RAISE EXCEPTION 'assent: undecided'; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER field_law BEFORE INSERT ON field FOR EACH ROW EXECUTE FUNCTION assent_field_law();
ALTER TABLE field ENABLE ALWAYS TRIGGER field_law;

CREATE FUNCTION assent_register_law() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM head WHERE one = 1 FOR UPDATE;
  IF (NOT EXISTS (SELECT 1 FROM head WHERE NEW.rev = rev + 1 AND (NEW.tx = NEW.rev OR NEW.tx = tx AND tx > 0))
    OR length(NEW.hash) IS DISTINCT FROM 32 OR NEW.seen < 0 OR NEW.seen >= NEW.tx)
  THEN RAISE EXCEPTION 'assent: order'; END IF;
  IF (NOT CASE
    WHEN NEW.name = 'standingPolicy' OR NEW.name = 'autoAllow' OR NEW.name = 'readAllowlist' OR substr(NEW.name, 1, 8) = 'overlay/' THEN NEW.session <> ''
    WHEN NEW.name IN ('defaultPolicy', 'standingAutoAllow') THEN NEW.session = ''
    WHEN substr(NEW.name, 1, 5) = 'host/' THEN length(NEW.name) > 5
    ELSE NEW.name = 'autoCoverDeny' OR NEW.name = 'judgeConnection' OR NEW.name = 'judgeModel' OR NEW.name = 'judgeAskProgram' END)
  THEN RAISE EXCEPTION 'assent: name'; END IF;
  IF (NEW.writer !~ '^host:.' AND (NEW.writer !~ '^human:.' OR substr(NEW.name, 1, 5) = 'host/'))
  THEN RAISE EXCEPTION 'assent: role'; END IF;
  IF (NEW.session <> '' AND NOT EXISTS (SELECT 1 FROM session WHERE id = NEW.session))
  THEN RAISE EXCEPTION 'assent: no session'; END IF;
  IF (substr(NEW.name, 1, 8) = 'overlay/' AND NOT EXISTS (SELECT 1 FROM job
    WHERE session = NEW.session AND id = substr(NEW.name, 9) AND kind = 'SessionTurn'))
  THEN RAISE EXCEPTION 'assent: no job'; END IF;
  IF (NOT (assent_json(NEW.value) IS NOT NULL) OR NOT CASE
    WHEN NEW.name = 'standingPolicy' OR substr(NEW.name, 1, 8) = 'overlay/' THEN NEW.value = '"manual"' OR NEW.value = '"auto"' OR NEW.value = '"yolo"'
    WHEN NEW.name = 'defaultPolicy' THEN NEW.value = '"manual"' OR NEW.value = '"auto"' OR NEW.value = '"yolo"' OR NEW.value = '""'
    WHEN NEW.name = 'autoCoverDeny' THEN NEW.value IN ('true', 'false')
    WHEN NEW.name IN ('autoAllow', 'standingAutoAllow') THEN jsonb_typeof(assent_json(NEW.value)) = 'object'
    AND NOT EXISTS (SELECT 1 FROM jsonb_each(assent_json(NEW.value)) WHERE key NOT IN ('write', 'bash', 'mcp') OR jsonb_typeof(value) <> 'boolean' AND NOT assent_end(value #>> '{}'))
    WHEN NEW.name = 'readAllowlist' THEN jsonb_typeof(assent_json(NEW.value)) = 'array'
    AND NOT jsonb_path_exists(assent_json(NEW.value), 'strict $[*] ? (@.type() <> "string" || !(@ starts with "/"))')
    WHEN substr(NEW.name, 1, 5) = 'host/' THEN true
    ELSE jsonb_typeof(assent_json(NEW.value)) = 'string' END)
  THEN RAISE EXCEPTION 'assent: value'; END IF;
  IF ((NEW.name = 'standingPolicy' OR substr(NEW.name, 1, 8) = 'overlay/')
    AND EXISTS (SELECT 1 FROM session WHERE id = NEW.session AND seat = 'unattended')
    AND (NEW.name <> 'standingPolicy' OR NEW.value = '"manual"' OR NEW.writer !~ '^host:.'
    OR EXISTS (SELECT 1 FROM register WHERE session = NEW.session AND name = 'standingPolicy')))
  THEN RAISE EXCEPTION 'assent: admitted'; END IF;
  IF (NEW.seen > 0 AND (
    EXISTS (SELECT 1 FROM register WHERE session = NEW.session AND rev > NEW.seen AND tx <> NEW.tx)
    OR EXISTS (SELECT 1 FROM register WHERE session = '' AND rev > NEW.seen AND tx <> NEW.tx)))
  THEN RAISE EXCEPTION 'assent: stale'; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER register_law BEFORE INSERT ON register FOR EACH ROW EXECUTE FUNCTION assent_register_law();
ALTER TABLE register ENABLE ALWAYS TRIGGER register_law;

CREATE FUNCTION assent_moves_head() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE head SET rev = NEW.rev, tx = NEW.tx, hash = NEW.hash WHERE one = 1;
  RETURN NEW;
END $$;

CREATE FUNCTION assent_head_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.one IS DISTINCT FROM OLD.one OR NEW.rev IS DISTINCT FROM OLD.rev + 1 OR NOT (
     EXISTS (SELECT 1 FROM field    WHERE rev = NEW.rev AND tx = NEW.tx AND hash = NEW.hash)
  OR EXISTS (SELECT 1 FROM job      WHERE rev = NEW.rev AND tx = NEW.tx AND hash = NEW.hash)
  OR EXISTS (SELECT 1 FROM register WHERE rev = NEW.rev AND tx = NEW.tx AND hash = NEW.hash)
  OR EXISTS (SELECT 1 FROM session  WHERE rev = NEW.rev AND tx = NEW.tx AND hash = NEW.hash)))
  THEN RAISE EXCEPTION 'assent: immutable'; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER head_follows BEFORE UPDATE ON head FOR EACH ROW EXECUTE FUNCTION assent_head_follows();
ALTER TABLE head ENABLE ALWAYS TRIGGER head_follows;

CREATE FUNCTION assent_unsettled_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NOT EXISTS (SELECT 1 FROM field WHERE session = OLD.session AND job = OLD.job AND name = 'completed'))
  THEN RAISE EXCEPTION 'assent: immutable'; END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER unsettled_no_delete BEFORE DELETE ON unsettled FOR EACH ROW EXECUTE FUNCTION assent_unsettled_stays();
ALTER TABLE unsettled ENABLE ALWAYS TRIGGER unsettled_no_delete;

CREATE FUNCTION assent_unsettled_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NOT EXISTS (SELECT 1 FROM job WHERE session = NEW.session AND id = NEW.job
    AND (kind NOT IN ('SessionTurn', 'ProgrammaticJob')
      OR EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'cancelled')))
  OR EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'completed'))
  THEN RAISE EXCEPTION 'assent: immutable'; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER unsettled_follows BEFORE INSERT ON unsettled FOR EACH ROW EXECUTE FUNCTION assent_unsettled_follows();
ALTER TABLE unsettled ENABLE ALWAYS TRIGGER unsettled_follows;

CREATE FUNCTION assent_job_unsettled() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.kind NOT IN ('SessionTurn', 'ProgrammaticJob') THEN INSERT INTO unsettled VALUES (NEW.session, NEW.id); END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION assent_field_unsettled() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.name = 'cancelled' AND EXISTS (SELECT 1 FROM job WHERE session = NEW.session AND id = NEW.job AND kind IN ('SessionTurn', 'ProgrammaticJob'))
  THEN INSERT INTO unsettled VALUES (NEW.session, NEW.job); END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION assent_field_settles() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.name = 'completed' THEN DELETE FROM unsettled WHERE session = NEW.session AND job = NEW.job; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER session_moves_head AFTER INSERT ON session FOR EACH ROW EXECUTE FUNCTION assent_moves_head();
ALTER TABLE session ENABLE ALWAYS TRIGGER session_moves_head;
CREATE TRIGGER job_moves_head AFTER INSERT ON job FOR EACH ROW EXECUTE FUNCTION assent_moves_head();
ALTER TABLE job ENABLE ALWAYS TRIGGER job_moves_head;
CREATE TRIGGER field_moves_head AFTER INSERT ON field FOR EACH ROW EXECUTE FUNCTION assent_moves_head();
ALTER TABLE field ENABLE ALWAYS TRIGGER field_moves_head;
CREATE TRIGGER register_moves_head AFTER INSERT ON register FOR EACH ROW EXECUTE FUNCTION assent_moves_head();
ALTER TABLE register ENABLE ALWAYS TRIGGER register_moves_head;
CREATE TRIGGER job_unsettled AFTER INSERT ON job FOR EACH ROW EXECUTE FUNCTION assent_job_unsettled();
ALTER TABLE job ENABLE ALWAYS TRIGGER job_unsettled;
CREATE TRIGGER field_unsettled AFTER INSERT ON field FOR EACH ROW EXECUTE FUNCTION assent_field_unsettled();
ALTER TABLE field ENABLE ALWAYS TRIGGER field_unsettled;
CREATE TRIGGER field_settles AFTER INSERT ON field FOR EACH ROW EXECUTE FUNCTION assent_field_settles();
ALTER TABLE field ENABLE ALWAYS TRIGGER field_settles;
