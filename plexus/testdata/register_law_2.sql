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
        AND NOT EXISTS (SELECT 1 FROM json_each(NEW.value) WHERE key NOT IN ('write', 'bash', 'mcp') OR type NOT IN ('true', 'false'))
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
