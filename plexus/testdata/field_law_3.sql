CREATE TRIGGER field_law BEFORE INSERT ON field BEGIN SELECT CASE
  WHEN NOT EXISTS (SELECT 1 FROM head WHERE NEW.rev = rev + 1 AND (NEW.tx = NEW.rev OR NEW.tx = tx AND tx > 0))
    OR length(NEW.hash) IS NOT 32 OR NEW.seen < 0 OR NEW.seen >= NEW.tx
    THEN RAISE(ABORT, 'assent: order')

  -- Names, and who may write them (law §2).
  WHEN NEW.name <> 'policyResult' AND NEW.name <> 'policyMessage' AND NEW.name <> 'paths' AND NEW.name <> 'effects' AND NEW.name <> 'explanation'
      AND NEW.name <> 'judgeResult' AND NEW.name <> 'approved' AND NEW.name <> 'approvalComment' AND NEW.name <> 'orchestrationResult'
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

  -- What the floor explains comes with its result.
  WHEN (NEW.name = 'policyMessage' OR NEW.name = 'paths' OR NEW.name = 'effects' OR NEW.name = 'explanation')
    AND NOT EXISTS (SELECT 1 FROM field WHERE session = NEW.session AND job = NEW.job AND name = 'policyResult' AND tx = NEW.tx)
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
