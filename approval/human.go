package approval

// NeedsHuman reports whether a prompt asks a person about the leaf (law §4).
// It never holds beside a license: a leaf that has its answer asks nobody,
// and that includes communication, which is never asked about (law ruling 1).
//
// A prompt that appeared after a failed attempt of the classifier stays, also
// in an unattended session: a person who is there may beat the retries.
func NeedsHuman(leaf Leaf, session Session) bool {
	if !leaf.Open() || leaf.Approved != Unanswered || leaf.Cluster() == Comm || Allowlisted(leaf, session) {
		return false
	}
	switch session.CurrentPolicy {
	case Manual:
		return leaf.PolicyResult.Remainder()
	case Auto:
		return AutoRemainder(leaf, session) != None && leaf.JudgeResult == NoVote &&
			(leaf.JudgeFailMessage.Written || !AutoClassifierPending(leaf, session))
	case Yolo:
	}
	return false
}

// Persist is what a person may make last beyond the one call, from its prompt
// (law ruling 15). The zero value offers nothing.
type Persist struct {
	// Grant says that the leaf's cluster may be granted, for the session or
	// standing.
	Grant bool
	// Classify says that autoCoverDeny may be turned off.
	Classify bool
}

// MayPersist says what the prompt of a leaf may offer to make last (law
// ruling 15): a grant of its cluster where that would answer calls like this
// one, and turning autoCoverDeny off where that is why a person is asked.
// Nothing for a hatch, and nothing for a read outside the workspace: what is
// remembered of those is the path, for this session (see [MayRemember]).
// Grants act in mode auto only (law §3), so no other mode offers them.
func MayPersist(leaf Leaf, session Session) Persist {
	if session.CurrentPolicy != Auto || !NeedsHuman(leaf, session) || leaf.Hatch() {
		return Persist{}
	}
	if leaf.Cluster() == Read && !inside(leaf.Paths) {
		return Persist{}
	}
	granted := Granted(leaf, session)
	grantable := false
	switch leaf.Cluster() {
	case Write, Bash:
		grantable = true
	case MCP:
		grantable = IsLookUp(leaf.Name)
	case Read, Web, Comm:
	}
	toCover := leaf.PolicyResult == Deny && !granted && session.Looking() && session.AutoCoverDeny == Cover
	return Persist{Grant: grantable && !granted, Classify: toCover}
}
