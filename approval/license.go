package approval

// License is the side a guard takes (law §4). The zero value waits.
type License uint8

// The three sides.
const (
	Wait License = iota
	DenySide
	AllowSide
)

var licenseNames = [...]string{"wait", "deny", "allow"}

// String is the side's name on the wire.
func (l License) String() string {
	if int(l) < len(licenseNames) {
		return licenseNames[l]
	}
	return licenseNames[Wait]
}

// MarshalText writes the name on the wire.
func (l License) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Reason is the line of the law that decided a license. The zero value is
// that none did.
type Reason uint8

// The lines of law §4, in order; the first is row 0 of law ruling 1.
const (
	NothingDecides Reason = iota
	Communication
	PersonAllowed
	PersonRefused
	FloorBlocked
	ReadAllowlisted
	FloorAllowed
	YoloMode
	GrantSkips
	ClassifierAllowed
	ClassifierDenied
)

var reasonTexts = [...]string{
	NothingDecides:    "nothing decides yet",
	Communication:     "communication of the host itself",
	PersonAllowed:     "a person allowed it",
	PersonRefused:     "a person refused it",
	FloorBlocked:      "the floor blocks it",
	ReadAllowlisted:   "a person let this session read there",
	FloorAllowed:      "the floor allows it",
	YoloMode:          "mode yolo allows what the floor leaves open",
	GrantSkips:        "the cluster is granted",
	ClassifierAllowed: "the classifier allowed it",
	ClassifierDenied:  "the classifier denied it",
}

// String says the reason in words.
func (r Reason) String() string {
	if int(r) < len(reasonTexts) {
		return reasonTexts[r]
	}
	return reasonTexts[NothingDecides]
}

var reasonNames = [...]string{
	NothingDecides:    "",
	Communication:     "communication",
	PersonAllowed:     "person-allowed",
	PersonRefused:     "person-refused",
	FloorBlocked:      "floor-blocked",
	ReadAllowlisted:   "read-allowlisted",
	FloorAllowed:      "floor-allowed",
	YoloMode:          "yolo",
	GrantSkips:        "granted",
	ClassifierAllowed: "classifier-allowed",
	ClassifierDenied:  "classifier-denied",
}

// Name is the reason as a document keeps it, and "" for [NothingDecides].
func (r Reason) Name() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return ""
}

// LicenseDecision reads the votes in the order of law §4; the first line that
// holds decides, and none means wait. Row 0 goes before: communication of the
// host is allowed whatever the votes (law ruling 1).
//
// It reads the votes only. That nothing starts on a leaf that is cancelled,
// completed or orchestrated is [Leaf.Open]; that a person's true cannot stand
// on a leaf that is blocked or not evaluated is [Leaf.WriteApproved] (law
// ruling 2).
func LicenseDecision(leaf Leaf, session Session) (License, Reason) {
	switch {
	case leaf.Cluster() == Comm:
		return AllowSide, Communication
	case leaf.Approved == Yes:
		return AllowSide, PersonAllowed
	case leaf.Approved == No:
		return DenySide, PersonRefused
	case leaf.PolicyResult == Block:
		return DenySide, FloorBlocked
	case Allowlisted(leaf, session):
		return AllowSide, ReadAllowlisted
	case leaf.PolicyResult == Allow:
		return AllowSide, FloorAllowed
	case session.CurrentPolicy == Yolo && leaf.PolicyResult.Remainder():
		return AllowSide, YoloMode
	case AutoAllowSkip(leaf, session):
		return AllowSide, GrantSkips
	case AutoRemainder(leaf, session) == None:
		return Wait, NothingDecides
	}
	switch leaf.JudgeResult {
	case JudgeAllow:
		return AllowSide, ClassifierAllowed
	case JudgeDeny:
		return DenySide, ClassifierDenied
	case NoVote:
	}
	return Wait, NothingDecides
}
