package plexus

// Field names a field of a job. The list is closed; [JudgeFail] gives the
// names of the attempts.
const (
	PolicyResult        = "policyResult"        // allow, ask, deny, block; host
	PolicyMessage       = "policyMessage"       // text; host, with policyResult
	Paths               = "paths"               // texts: the prepared paths (approval.Leaf.Paths); host, with policyResult
	Effects             = "effects"             // an array: the effects the floor told; host, with policyResult
	Explanation         = "explanation"         // any JSON but null: what else the floor says; host, with policyResult
	JudgeResult         = "judgeResult"         // allow, deny; host
	Judgement           = "judgement"           // an object: who gave the vote, and why; host, with judgeResult
	Approved            = "approved"            // true, false; a person
	ApprovalComment     = "approvalComment"     // text; a person
	OrchestrationResult = "orchestrationResult" // true, false; host, needs Tx.Seen
	LicenseReason       = "licenseReason"       // text: the line of the law that decided; host, with orchestrationResult
	BodyStarted         = "bodyStarted"         // true: the body may have had effects; host
	Cancelled           = "cancelled"           // true; host
	OutcomeJSON         = "outcomeJson"         // any JSON but null; host, with completed
	Completed           = "completed"           // true; host, the last
)

// The names of registers. The list is closed.
const (
	StandingPolicy    = "standingPolicy"    // "manual", "auto", "yolo"; of a session
	AutoAllow         = "autoAllow"         // {"write":G,"bash":G,"mcp":G}, G as in [approval.Term]; of a session
	ReadAllowlist     = "readAllowlist"     // texts, absolute paths, the whole list; of a session
	DefaultPolicy     = "defaultPolicy"     // a mode or ""; of the kernel
	StandingAutoAllow = "standingAutoAllow" // as autoAllow; of the kernel
	AutoCoverDeny     = "autoCoverDeny"     // true, false; of either
	JudgeConnection   = "judgeConnection"   // text; of either
	JudgeModel        = "judgeModel"        // text; of either
	JudgeAskProgram   = "judgeAskProgram"   // text; of either
)

// Overlay is the register of a turn's overlay of the mode (law §6).
func Overlay(turn string) string { return "overlay/" + turn }

// HostRegister is a register that is the host's alone, of a session or the
// kernel, with any JSON in it.
func HostRegister(name string) string { return "host/" + name }

// SessionAgent is the register that says which agent a session belongs to: the
// one that made it or, where a person did, the one that they gave it to or else the
// first that asked in it. What stands in the session counts for that agent.
const SessionAgent = "host/agent"

// Values that fields often have.
const (
	True  = "true"
	False = "false"
)
