package approval

// Granted reports whether the leaf's cluster is granted, by the session or
// standing (law §3). Only write, bash and mcp can be, and of mcp only
// look-ups: a changing tool is never granted, whatever the flag says.
func Granted(leaf Leaf, session Session) bool {
	switch leaf.Cluster() {
	case Write:
		return session.AutoAllow.Write || session.StandingAutoAllow.Write
	case Bash:
		return session.AutoAllow.Bash || session.StandingAutoAllow.Bash
	case MCP:
		return (session.AutoAllow.MCP || session.StandingAutoAllow.MCP) && IsLookUp(leaf.Name)
	case Read, Web, Comm:
	}
	return false
}

// AutoAllowSkip reports whether a grant answers the floor's ask (law §3):
// mode auto, ask, granted, and not a hatch.
func AutoAllowSkip(leaf Leaf, session Session) bool {
	return session.CurrentPolicy == Auto && leaf.PolicyResult == Ask && Granted(leaf, session) && !leaf.Hatch()
}

// AutoRemainder is what mode auto has to get answered (law §3): the floor's
// ask or deny that no grant answers. It is [None] when there is nothing.
func AutoRemainder(leaf Leaf, session Session) PolicyResult {
	if session.CurrentPolicy != Auto || !leaf.PolicyResult.Remainder() || AutoAllowSkip(leaf, session) {
		return None
	}
	return leaf.PolicyResult
}

// AutoClassifierPending reports whether the remainder is the classifier's to
// answer and it has not (law §3). It is not when a person covers it: for
// writes that are not granted always, and for the floor's denials while
// somebody is looking, the cluster is not granted and autoCoverDeny is on.
func AutoClassifierPending(leaf Leaf, session Session) bool {
	remainder := AutoRemainder(leaf, session)
	if remainder == None || leaf.JudgeResult != NoVote {
		return false
	}
	granted := Granted(leaf, session)
	if leaf.Cluster() == Write && !granted {
		return false
	}
	if remainder == Deny && !granted && session.Looking() && session.AutoCoverDeny == Cover {
		return false
	}
	return true
}

// ClassifierRuns reports whether the classifier may run now: it is pending,
// the license still waits and the leaf is open (law ruling 5).
func ClassifierRuns(leaf Leaf, session Session) bool {
	if !leaf.Open() || !AutoClassifierPending(leaf, session) {
		return false
	}
	license, _ := LicenseDecision(leaf, session)
	return license == Wait
}
