package wire

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Rev is a place in the one order of commits, from 1; 0 is before everything.
type Rev = int64

// Stamp is who wrote something, when, and as which row.
type Stamp struct {
	Rev    Rev       `json:"rev"`
	Writer string    `json:"writer"` // "human:NAME", "host:NAME", "agent:NAME"
	At     time.Time `json:"at"`
}

// You is who the server takes the caller for.
type You struct {
	Role string `json:"role"` // human, agent
	Name string `json:"name"`
	Why  string `json:"why,omitempty"` // it is that role
}

// Status is what the kernel is doing now. An agent is told who it is and the
// version.
type Status struct {
	Version string  `json:"version"`
	You     You     `json:"you"`
	Kernel  *Kernel `json:"kernel,omitempty"`
}

// Kernel is the part of [Status] that is a person's to know.
type Kernel struct {
	PID       int       `json:"pid"`
	Started   time.Time `json:"started"`
	Document  string    `json:"document"` // its file
	Config    string    `json:"config,omitempty"`
	Policy    string    `json:"policy,omitempty"` // the operator's
	Rev       Rev       `json:"rev"`
	Sessions  int       `json:"sessions"`  // that have something unsettled
	Unsettled int       `json:"unsettled"` // leaves
	Asking    int       `json:"asking"`    // leaves that need a person
	Judging   int       `json:"judging"`   // evaluations of the floor, of Slots
	Queued    int       `json:"queued"`    // evaluations that wait for a slot
	Slots     int       `json:"slots"`
	// DefaultPolicy is the mode that new sessions start in, "" when that is not
	// known.
	DefaultPolicy string   `json:"defaultPolicy,omitempty"`
	Scanner       *Scanner `json:"scanner,omitempty"`
	// Servers are the servers of MCP tools that are set up.
	Servers  []Server `json:"servers,omitempty"`
	Watchers int      `json:"watchers"`
	Looking  []Looker `json:"looking"`
	Storage  Storage  `json:"storage"`
	Presence Presence `json:"presence"`
}

// Storage is what agents have in the document, and may have.
type Storage struct {
	AgentBytes  int64          `json:"agentBytes"`     // that one agent may have
	WaitingMost int            `json:"waitingMost"`    // calls of one agent that may wait at a time
	Reserve     int64          `json:"reserve"`        // of the disk: while less is free, nothing of agents is taken
	Free        *int64         `json:"free,omitempty"` // bytes of the disk, where the system tells
	Agents      []AgentStorage `json:"agents"`         // those with the most
}

// AgentStorage is what one agent has.
type AgentStorage struct {
	Agent    string `json:"agent"`
	Bytes    int64  `json:"bytes"` // about, in its sessions
	Sessions int    `json:"sessions"`
	Empty    int    `json:"empty"`   // sessions in which nothing was ever asked
	Open     int    `json:"open"`    // calls that are not settled
	Waiting  int    `json:"waiting"` // of those, the ones that are not decided
}

// Scanner is the scanner of commands that judges beside the floor.
type Scanner struct {
	Setting string `json:"setting"` // by the policies: auto, required, off
	// State is ready, absent (none was ever found), off, or failed: then every
	// command is refused, and Why says what is wrong.
	State   string `json:"state"`
	By      string `json:"by,omitempty"` // what answers: daemon, process
	Version string `json:"version,omitempty"`
	Program string `json:"program,omitempty"`
	Socket  string `json:"socket,omitempty"`
	Why     string `json:"why,omitempty"`
}

// Server is how a server of MCP tools is, as it was when it was last asked.
type Server struct {
	Name string `json:"name"`
	Over string `json:"over"` // stdio, http
	// State is unasked, ready, or failed: then Why says what is wrong, and the next
	// call tries again.
	State string `json:"state"`
	Why   string `json:"why,omitempty"`
	Tools int    `json:"tools"` // that can be used
}

// ServerTools is a server with its tools.
type ServerTools struct {
	Name  string       `json:"name"`
	Over  string       `json:"over"`
	State string       `json:"state"`
	Why   string       `json:"why,omitempty"`
	Tools []ServerTool `json:"tools"`
	// LeftOut says which of its tools are not used, and why.
	LeftOut []string `json:"leftOut,omitempty"`
}

// ServerTool is a tool of a server. What a call of it may do is told by its name
// and its arguments, and never by what the server says.
type ServerTool struct {
	Name    string `json:"name"`    // mcp__SERVER__TOOL
	Cluster string `json:"cluster"` // mcp
	// LookUp says that the name is one of a look-up: the grant of mcp counts for no
	// other.
	LookUp bool `json:"lookUp"`
	// Hints are the server's own, and nobody has verified them.
	Hints       []string `json:"hints"`                 // readOnly, destructive
	Description string   `json:"description,omitempty"` // how it begins; the server's own too
}

// Servers are the servers of MCP tools that are set up, by name.
type Servers struct {
	Servers []ServerTools `json:"servers"`
}

// Looker is a person who looks, since when.
type Looker struct {
	Name    string    `json:"name"`
	Session string    `json:"session"` // "" for all
	Since   time.Time `json:"since"`
}

// Presence is what is true now and never stored, by key: policyError, configError, configWarning,
// documentError, unlicensedRun, progress/JOB, looking/NAME (law §7).
type Presence map[string]string

// Looking is how the keys of presence begin that say who looks: the name of a
// person follows. The value is since when, as RFC 3339 has it.
const Looking = "looking/"

// NoOperatorPolicy is the policyError of a machine where nobody wrote a policy:
// a fact, and nothing that is wrong.
const NoOperatorPolicy = "there is no operator policy; the shipped floor answers"

// The two seats (law §3).
const (
	Attended   = "attended"
	Unattended = "unattended"
)

// NewSession asks for a session. An agent has no say in mode and seat.
type NewSession struct {
	ID        string         `json:"id,omitempty"`   // made when empty
	Seat      string         `json:"seat,omitempty"` // attended when empty
	Mode      string         `json:"mode,omitempty"` // the default when empty
	Client    string         `json:"client,omitempty"`
	Workspace string         `json:"workspace"`
	Cwd       string         `json:"cwd,omitempty"`
	Home      string         `json:"home,omitempty"`
	Parent    string         `json:"parent,omitempty"`
	Facts     jsontext.Value `json:"facts,omitempty"` // an object
	// Process is the number of a process: the session belongs to the agent that it
	// is or belongs to. It is a person's to say; 0 for none.
	Process int `json:"process,omitempty"`
}

// Give gives a session to the agent that a process is or belongs to.
type Give struct {
	Process int `json:"process"` // its number
}

// Given says whom a session was given to.
type Given struct {
	Agent string `json:"agent"`
}

// Session is a session and the facts that never change.
type Session struct {
	ID        string         `json:"id"`
	Seat      string         `json:"seat"`
	Client    string         `json:"client"`
	Workspace string         `json:"workspace"`
	Cwd       string         `json:"cwd"`
	Home      string         `json:"home"`
	Parent    string         `json:"parent"`
	Facts     jsontext.Value `json:"facts"` // null for none
}

// Summary is a session in a list.
type Summary struct {
	Session
	Stamp
	CurrentPolicy string `json:"currentPolicy"`
	Unsettled     int    `json:"unsettled"` // leaves
	Asking        int    `json:"asking"`    // leaves that need a person
	// Cut is as in [Job], of the facts.
	Cut map[string]int `json:"cut,omitempty"`
}

// Sessions is a list of sessions, the newest first.
type Sessions struct {
	Rev      Rev       `json:"rev"`
	Sessions []Summary `json:"sessions"`
	More     bool      `json:"more"` // the limit left some out
}

// Grants are the clusters that may be granted (law §3).
type Grants struct {
	Write bool `json:"write"`
	Bash  bool `json:"bash"`
	MCP   bool `json:"mcp"`
}

// Grant is a grant as it was given: of a kind of calls, or of a path for reading.
type Grant struct {
	Number  Rev    `json:"number"`  // of the row that gave it
	Kind    string `json:"kind"`    // write, bash, mcp; read for a path
	Session string `json:"session"` // "" for all
	Path    string `json:"path,omitempty"`
	// By is who gave it: "human:NAME", "host:config" from config.json, and for a path
	// "host:NAME" where a person's answer opened it.
	By    string     `json:"by"`
	At    time.Time  `json:"at"`
	Until *time.Time `json:"until"` // when it ends; null until it is taken back
}

// GrantLine is a grant that holds, and what went through it.
type GrantLine struct {
	Grant
	Used *int       `json:"used"` // calls, null of a path
	Last *time.Time `json:"last"` // when the last of them was let through
}

// GrantList are the grants that hold, the oldest first.
type GrantList struct {
	Rev    Rev         `json:"rev"`
	Grants []GrantLine `json:"grants"`
}

// View is what the law reads of a session (law §3, §6).
type View struct {
	CurrentPolicy     string   `json:"currentPolicy"`
	AutoAllow         Grants   `json:"autoAllow"`
	StandingAutoAllow Grants   `json:"standingAutoAllow"`
	AutoCoverDeny     bool     `json:"autoCoverDeny"`
	ReadAllowlist     []string `json:"readAllowlist"`
}

// Document is a session with everything in it, as it stood at Rev.
type Document struct {
	Rev           Rev            `json:"rev"`
	Session       Session        `json:"session"`
	Stamp         Stamp          `json:"stamp"`
	View          View           `json:"view"`
	Waiting       int            `json:"waiting"`       // leaves that need a person
	ApprovalQueue []string       `json:"approvalQueue"` // ids of the first of them, in tree order
	Jobs          []Job          `json:"jobs"`          // some of them, by ord, then rev
	More          bool           `json:"more"`          // there are more jobs behind these
	Registers     []RegisterLine `json:"registers"`     // the revisions that hold
	MoreRegisters bool           `json:"moreRegisters"` // there are more of those
	Presence      Presence       `json:"presence"`
}

// RegisterLine is a revision of a register.
type RegisterLine struct {
	Register
	Stamp
	// Cut says how many bytes a value has that is cut, by its name.
	Cut map[string]int `json:"cut,omitempty"`
}

// Registers are revisions of the registers of a session or of the kernel, the
// oldest first.
type Registers struct {
	Rev       Rev            `json:"rev"`
	More      bool           `json:"more"` // there are more behind these
	Registers []RegisterLine `json:"registers"`
}

// NewJob asks to admit a call, or for a sequence to put calls in. An agent
// mints calls of its own, of kind "".
type NewJob struct {
	ID        string         `json:"id,omitempty"` // made when empty
	Parent    string         `json:"parent,omitempty"`
	Ord       int64          `json:"ord,omitempty"`
	Kind      string         `json:"kind,omitempty"`
	Name      string         `json:"name,omitempty"` // the tool; none for a sequence
	Arguments jsontext.Value `json:"arguments,omitempty"`
	Facts     jsontext.Value `json:"facts,omitempty"`
}

// Same describes a call whose equals are looked for.
type Same struct {
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments,omitempty"`
	Cwd       string         `json:"cwd,omitempty"` // where it starts; anywhere when empty
}

// SameCalls are the open calls of whoever asks that ask for the very same, and those
// that a person refused when nobody waited any longer, the oldest first.
type SameCalls struct {
	Calls []SameCall `json:"calls"`
}

// SameCall is one of them.
type SameCall struct {
	ID                  string `json:"id"`
	Number              Rev    `json:"number"`
	OrchestrationResult *bool  `json:"orchestrationResult"` // null while it is not decided
	BodyStarted         bool   `json:"bodyStarted"`         // somebody claimed it
	// TakeUp: whoever asks for the very same may wait for this one, claim it, or
	// have its no, instead of asking anew.
	TakeUp bool `json:"takeUp"`
}

// Hold admits a call, or takes up the very same one that was answered too late, and
// waits for a moment.
type Hold struct {
	ID        string         `json:"id,omitempty"` // as of a new job; another is chosen where it was used
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments,omitempty"`
	Facts     jsontext.Value `json:"facts,omitempty"`
	Cwd       string         `json:"cwd,omitempty"` // as of the same call
}

// Held is what became of it so far.
type Held struct {
	// Begun: it may run, and is claimed for whoever asked. Without it nothing may run
	// yet.
	Begun   bool    `json:"begun"`
	Receipt Receipt `json:"receipt"`
}

// Report says of a call of whoever asks that it ran.
type Report struct {
	ID        string         `json:"id,omitempty"` // of the call, where its client has ids
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments,omitempty"` // that it ran with
	Facts     jsontext.Value `json:"facts,omitempty"`     // as of a new job
	OK        bool           `json:"ok"`                  // it went well
	Text      string         `json:"text,omitempty"`      // what came of it
	// Unasked has it kept also where nothing is known of it.
	Unasked bool `json:"unasked,omitempty"`
}

// Reported says how the run was not licensed, "" where it was.
type Reported struct {
	How string `json:"how"`
}

// Run is a run that was not licensed so.
type Run struct {
	// How is otherwise (the call was licensed, and not with these arguments), refused,
	// cancelled, waiting (nobody had decided), unclaimed (nobody had claimed the
	// license) or unasked.
	How string    `json:"how"`
	At  time.Time `json:"at"` // when it was told
	OK  bool      `json:"ok"` // it went well
	// Arguments are those it ran with where they are not the call's; Cut is how many
	// bytes they had where they are left out for that.
	Arguments jsontext.Value `json:"arguments,omitempty"`
	Cut       int            `json:"cut,omitempty"`
	Text      string         `json:"text"` // how what came of it begins
}

// RunsRegister is the register of a session whose revisions are such runs: each names
// its job and, as "number", that one's row, if it is not the first of those written
// with it.
const RunsRegister = "host/ran"

// Job is a leaf or a sequence of the tree.
type Job struct {
	Session   string         `json:"session"`
	ID        string         `json:"id"`
	Number    Rev            `json:"number"` // of its row: no other has it, whatever ids are chosen
	Parent    string         `json:"parent"`
	Ord       int64          `json:"ord"`
	Kind      string         `json:"kind"`
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"` // an object, or null for none
	Facts     jsontext.Value `json:"facts"`     // an object, or null for none
	Stamp     Stamp          `json:"stamp"`
	// Leaf is what a leaf has beside, null for a sequence.
	Leaf *Leaf `json:"leaf"`
	// Cancelled and Completed of a sequence; those of a leaf stand in it too.
	Cancelled *bool `json:"cancelled"`
	Completed *bool `json:"completed"`
	// OutcomeJSON is what became of a sequence; that of a leaf stands in it.
	OutcomeJSON jsontext.Value `json:"outcomeJson,omitempty"`
	// Cut is how many bytes the values have of which a list has the beginning:
	// arguments, facts, or a field.
	Cut map[string]int `json:"cut,omitempty"`
}

// Leaf are the votes on a leaf and what became of it (law §2). What nobody has
// written is null.
type Leaf struct {
	PolicyResult        *string        `json:"policyResult"`
	PolicyMessage       *string        `json:"policyMessage"`
	JudgeResult         *string        `json:"judgeResult"`
	JudgeFailMessage    *string        `json:"judgeFailMessage"` // of the latest attempt
	Approved            *bool          `json:"approved"`
	ApprovalComment     *string        `json:"approvalComment"`
	OrchestrationResult *bool          `json:"orchestrationResult"`
	Cancelled           *bool          `json:"cancelled"`
	Completed           *bool          `json:"completed"`
	OutcomeJSON         jsontext.Value `json:"outcomeJson"`

	// What the floor says beside, and what became of it.
	Paths         []string       `json:"paths"`
	Effects       jsontext.Value `json:"effects"`
	Explanation   jsontext.Value `json:"explanation"`
	Judgement     jsontext.Value `json:"judgement"`     // who gave judgeResult, and why
	LicenseReason *string        `json:"licenseReason"` // the line of law §4 that decided
	BodyStarted   *bool          `json:"bodyStarted"`

	// What follows from them now (law §3, §4).
	Cluster      string `json:"cluster"`
	JudgeFails   int    `json:"judgeFails"`
	Orchestrated bool   `json:"orchestrated"`
	NeedsHuman   bool   `json:"needsHuman"`
	// Opens is what a yes without a comment opens for reading in the session
	// from then on (law §10). Told of a call that is asked for by itself.
	Opens []Opened `json:"opens,omitempty"`
	// Offer is the folder that a prompt may offer to open beside (law §10): the
	// person's keystroke alone opens it. Told like Opens.
	Offer string `json:"offer,omitempty"`
	// JudgeRetry is when the classifier is asked again after a failed attempt,
	// none where that is not planned. Told of a call that is asked for by itself.
	JudgeRetry *time.Time `json:"judgeRetry,omitempty"`
	// Judging is the attempt of the classifier that waits or runs. Told like that.
	Judging *Judging `json:"judging,omitempty"`
	// Grant is the one that let the call through. Told of a call that is asked for
	// by itself.
	Grant *Grant `json:"grant,omitempty"`

	// Ran is how it ran, where it was not licensed so. Told of a call that is asked for
	// by itself.
	Ran *Run `json:"ran,omitempty"`

	// Written says who wrote each of the fields, when.
	Written map[string]Stamp `json:"written"`
}

// Judging is an attempt of the classifier.
type Judging struct {
	Attempt int `json:"attempt"` // from 1
	// State is waits (until At), asks (since At) or unasked: there is no connection to
	// ask, and it begins when one was chosen.
	State      string     `json:"state"`
	At         *time.Time `json:"at,omitempty"`
	Connection string     `json:"connection,omitempty"` // what is asked, where it is known
	Model      string     `json:"model,omitempty"`
}

// Opened is a path that a person opens for reading.
type Opened struct {
	Path  string `json:"path"`
	Below bool   `json:"below"` // and what lies under it
}

// Receipt is what whoever minted a call may know of it: whether it may run,
// who or what decided that, what a policy and a person said to it, and what it
// became. The comment stands beside the outcome and never in it (law §7).
type Receipt struct {
	Session             string         `json:"session"`
	Job                 string         `json:"job"`
	Number              Rev            `json:"number"` // of its row: no other call has it, whatever ids are chosen
	PolicyResult        *string        `json:"policyResult"`
	PolicyMessage       *string        `json:"policyMessage"`
	ApprovalComment     *string        `json:"approvalComment"`
	NeedsHuman          bool           `json:"needsHuman"` // it waits for a person now
	OrchestrationResult *bool          `json:"orchestrationResult"`
	LicenseReason       *string        `json:"licenseReason"` // the line of law §4 that decided
	BodyStarted         *bool          `json:"bodyStarted"`
	Cancelled           *bool          `json:"cancelled"`
	CancelledBy         *string        `json:"cancelledBy"` // human or agent, where it is known
	Completed           *bool          `json:"completed"`
	OutcomeJSON         jsontext.Value `json:"outcomeJson"`
}

// Queue are leaves that need a person: of each session in tree order, sessions
// in the order they were made.
type Queue struct {
	Rev     Rev  `json:"rev"`
	Waiting int  `json:"waiting"` // how many there are, also those left out
	More    bool `json:"more"`    // there are more behind these
	// Next goes on where these end, in the order that was then; "" when there is
	// nothing behind them.
	Next  string `json:"next,omitempty"`
	Queue []Job  `json:"queue"`
	// Unawaited are the numbers of those for which nobody waits just now: their
	// asker has ended, or has yet to come back to a kernel that was started anew.
	Unawaited []Rev `json:"unawaited"`
}

// Call is how a call was decided: a line of the log.
type Call struct {
	Session   string         `json:"session"`
	Job       string         `json:"job"`
	Number    Rev            `json:"number"` // of its row
	Stamp     Stamp          `json:"stamp"`  // of its admission
	Kind      string         `json:"kind"`
	Name      string         `json:"name"`
	Cluster   string         `json:"cluster"`
	Arguments jsontext.Value `json:"arguments"`
	// Result is allow, deny, block (denied by a policy in every mode), cancelled or
	// wait.
	Result string `json:"result"`
	// Reason is the line of law §4 that decided, "" while none did.
	Reason string `json:"reason"`
	// By is who decided: a person as human:NAME, the classifier, the policy,
	// the mode.
	By string `json:"by"`
	// Grant is the one that let it through, where one did.
	Grant        *Grant         `json:"grant,omitempty"`
	Decided      *time.Time     `json:"decided"`
	PolicyResult *string        `json:"policyResult"`
	Comment      *string        `json:"approvalComment"`
	Message      *string        `json:"policyMessage"`
	Completed    *time.Time     `json:"completed"`
	Outcome      jsontext.Value `json:"outcomeJson"`
	// Ran is how it ran, where it was not licensed so.
	Ran *Run `json:"ran,omitempty"`
	// Cut is as in [Job].
	Cut map[string]int `json:"cut,omitempty"`
}

// Calls are calls, the newest first.
type Calls struct {
	Rev   Rev    `json:"rev"`
	Calls []Call `json:"calls"`
	More  bool   `json:"more"` // there are more, before the last of these
}

// Assign sets the mode of a session (law §6).
type Assign struct {
	Mode string `json:"mode"`
	// Remember makes it the mode new sessions start with.
	Remember bool `json:"remember,omitempty"`
}

// Assigned is what holds after a mode was set, and what became of the sessions below.
type Assigned struct {
	View
	Followed int      `json:"followed"` // how many sessions below are in that mode, too
	Own      []string `json:"own"`      // some of those that keep theirs
}

// Write is one of several writes that are applied all or none: of a field when
// it has a job, of a register of the session when it has none.
type Write struct {
	Job   string         `json:"job,omitempty"`
	Name  string         `json:"name"`
	Value jsontext.Value `json:"value"`
}

// Writes are applied all or none, in their order.
type Writes struct {
	// Seen is the rev of the view that they were decided on: they are refused
	// when somebody spoke since. 0 for any.
	Seen   Rev     `json:"seen,omitempty"`
	Writes []Write `json:"writes"`
}

// Wrote is where what was asked is in the document, durably.
type Wrote struct {
	Rev Rev `json:"rev"`
}

// Row is a row of the document: one of the four is set.
type Row struct {
	Rev      Rev       `json:"rev"`
	Tx       Rev       `json:"tx"` // rev of the first row written together with it
	Writer   string    `json:"writer"`
	At       time.Time `json:"at"`
	Hash     string    `json:"hash"`
	Session  *Session  `json:"session,omitempty"`
	Job      *JobRow   `json:"job,omitempty"`
	Field    *Field    `json:"field,omitempty"`
	Register *Register `json:"register,omitempty"`
	// Cut is how many bytes the values have of which a watch tells the beginning:
	// arguments, facts, value.
	Cut map[string]int `json:"cut,omitempty"`
}

// JobRow is a job as it was minted.
type JobRow struct {
	Session   string         `json:"session"`
	ID        string         `json:"id"`
	Parent    string         `json:"parent"`
	Ord       int64          `json:"ord"`
	Kind      string         `json:"kind"`
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
	Facts     jsontext.Value `json:"facts"`
}

// Field is a field of a job.
type Field struct {
	Session string         `json:"session"`
	Job     string         `json:"job"`
	Name    string         `json:"name"`
	Value   jsontext.Value `json:"value"`
	Seen    Rev            `json:"seen"`
}

// Register is a register of a session, "" for the kernel.
type Register struct {
	Session string         `json:"session"`
	Name    string         `json:"name"`
	Value   jsontext.Value `json:"value"`
	Seen    Rev            `json:"seen"`
}

// Rows are rows of the document in order.
type Rows struct {
	Rows []Row `json:"rows"`
	// Next is what to ask after for more; More says that there is.
	Next Rev  `json:"next"`
	More bool `json:"more"`
}

// Head names a row.
type Head struct {
	Rev  Rev    `json:"rev"`
	Hash string `json:"hash"`
}

// Verify names rows that were kept elsewhere and must be there.
type Verify struct {
	Heads []Head `json:"heads,omitempty"`
}

// Verified is whether the hashes of all rows follow from each other.
type Verified struct {
	OK bool `json:"ok"`
	// Head is the last row, and where it is not ok the last good one is
	// before Damage.
	Head   Head    `json:"head"`
	Damage *Damage `json:"damage,omitempty"`
}

// Damage is the first row that does not follow from the rows before it.
type Damage struct {
	Rev  Rev    `json:"rev"`
	Row  string `json:"row"` // "" when it is not there
	What string `json:"what"`
}

// The events of a watch. The id of a [EventRows] is the rev to resume after.
const (
	EventRows     = "rows"     // data: an array of [Row] that were written together
	EventPresence = "presence" // data: [PresenceOf]; no id
	EventWatching = "watching" // data: [Watching]; no id, and the first
	EventProblem  = "problem"  // data: [Problem]; no id, and the last
)

// Watching is a watch that was begun. Whoever has it looks for as long as it
// stands and every so often a sign of life comes: POST /v1/watches/WATCH.
type Watching struct {
	Watch  string  `json:"watch"`
	Within float64 `json:"within"` // seconds, in which to give the next sign
}

// PresenceOf is the presence of a session, "" for the kernel.
type PresenceOf struct {
	Session  string   `json:"session"`
	Presence Presence `json:"presence"`
}

// Pair asks for a token.
type Pair struct {
	Name string `json:"name"` // of the client that will have it
}

// Token is a paired token, but for itself.
type Token struct {
	Name string    `json:"name"`
	By   string    `json:"by"` // who paired it
	At   time.Time `json:"at"`
}

// NewToken is a token that was paired just now.
type NewToken struct {
	Token
	Secret string `json:"secret"` // told this once
}

// Tokens are those that hold.
type Tokens struct {
	Tokens []Token `json:"tokens"`
}
