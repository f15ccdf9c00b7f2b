package api

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
	"assent/front/api/wire"
	"assent/kernel"
	"assent/plexus"
)

// object is a JSON text of the document, null for none.
func object(text string) jsontext.Value {
	if text == "" {
		return nil
	}
	return jsontext.Value(text)
}

func stampOf(s plexus.Stamp) wire.Stamp {
	return wire.Stamp{Rev: wire.Rev(s.Rev), Writer: s.Writer.String(), At: s.At}
}

func sessionOf(s plexus.Session) wire.Session {
	seat := wire.Attended
	if s.Seat == approval.Unattended {
		seat = wire.Unattended
	}
	return wire.Session{
		ID: s.ID, Seat: seat, Client: s.Client, Workspace: s.Workspace, Cwd: s.Cwd, Home: s.Home, Parent: s.Parent,
		Facts: object(s.Facts),
	}
}

func viewOf(v approval.Session) wire.View {
	allow := v.ReadAllowlist
	if allow == nil {
		allow = []string{}
	}
	return wire.View{
		CurrentPolicy: v.CurrentPolicy.String(), AutoAllow: wire.Grants(v.AutoAllow), StandingAutoAllow: wire.Grants(v.StandingAutoAllow),
		AutoCoverDeny: v.AutoCoverDeny == approval.Cover, ReadAllowlist: allow,
	}
}

// storageMost is how many agents the status names.
const storageMost = 20

func storageOf(u kernel.Used) wire.Storage {
	st := wire.Storage{AgentBytes: u.AgentBytes, WaitingMost: kernel.WaitingMost, Reserve: u.Reserve, Agents: []wire.AgentStorage{}}
	if u.FreeKnown {
		st.Free = &u.Free
	}
	for agent, has := range u.Agents {
		st.Agents = append(st.Agents, wire.AgentStorage{
			Agent: agent, Bytes: has.Bytes, Sessions: has.Sessions, Empty: has.Empty, Open: has.Open, Waiting: has.Waiting,
		})
	}
	slices.SortFunc(st.Agents, func(a, b wire.AgentStorage) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Agent, b.Agent))
	})
	st.Agents = st.Agents[:min(len(st.Agents), storageMost)]
	return st
}

func jobRowOf(j plexus.Job) wire.JobRow {
	return wire.JobRow{
		Session: j.Session, ID: j.ID, Parent: j.Parent, Ord: j.Ord, Kind: j.Kind, Name: j.Name,
		Arguments: object(j.Arguments), Facts: object(j.Facts),
	}
}

// read reads the value of a field, where it is written.
func read[T any](fields map[string]plexus.Field, name string) *T {
	f, ok := fields[name]
	if !ok {
		return nil
	}
	v := new(T)
	if json.Unmarshal([]byte(f.Value), v) != nil {
		return nil
	}
	return v
}

func value(fields map[string]plexus.Field, name string) jsontext.Value {
	return object(fields[name].Value)
}

func jobOf(j plexus.Job, fields map[string]plexus.Field, needsHuman bool) wire.Job {
	w := wire.Job{
		Session: j.Session, ID: j.ID, Number: wire.Rev(j.Rev), Parent: j.Parent, Ord: j.Ord, Kind: j.Kind, Name: j.Name,
		Arguments: object(j.Arguments), Facts: object(j.Facts), Stamp: stampOf(j.Stamp),
		Cancelled: read[bool](fields, plexus.Cancelled), Completed: read[bool](fields, plexus.Completed),
	}
	if j.Sequence() {
		w.OutcomeJSON = value(fields, plexus.OutcomeJSON)
		return w
	}
	l := &wire.Leaf{
		PolicyResult:        read[string](fields, plexus.PolicyResult),
		PolicyMessage:       read[string](fields, plexus.PolicyMessage),
		JudgeResult:         read[string](fields, plexus.JudgeResult),
		Judgement:           value(fields, plexus.Judgement),
		Approved:            read[bool](fields, plexus.Approved),
		ApprovalComment:     read[string](fields, plexus.ApprovalComment),
		OrchestrationResult: read[bool](fields, plexus.OrchestrationResult),
		Cancelled:           w.Cancelled,
		Completed:           w.Completed,
		OutcomeJSON:         value(fields, plexus.OutcomeJSON),
		Effects:             value(fields, plexus.Effects),
		Explanation:         value(fields, plexus.Explanation),
		LicenseReason:       read[string](fields, plexus.LicenseReason),
		BodyStarted:         read[bool](fields, plexus.BodyStarted),
		Cluster:             clusterOf(j),
		NeedsHuman:          needsHuman,
		Written:             make(map[string]wire.Stamp, len(fields)),
	}
	if paths := read[[]string](fields, plexus.Paths); paths != nil {
		l.Paths = *paths
	}
	l.Orchestrated = l.OrchestrationResult != nil
	for name, f := range fields {
		l.Written[name] = stampOf(f.Stamp)
		if n, ok := f.Attempt(); ok && n > l.JudgeFails {
			l.JudgeFails = n
			l.JudgeFailMessage = read[string](fields, name)
		}
	}
	w.Leaf = l
	return w
}

func clusterOf(j plexus.Job) string {
	leaf, err := j.Leaf()
	if err != nil {
		return ""
	}
	return leaf.Cluster().String()
}

func registerOf(r plexus.Register) wire.RegisterLine {
	return wire.RegisterLine{
		Register: wire.Register{Session: r.Session, Name: r.Name, Value: jsontext.Value(r.Value), Seen: wire.Rev(r.Seen)},
		Stamp:    stampOf(r.Stamp),
	}
}

// briefRegistersOf are registers in a list.
func briefRegistersOf(registers []plexus.BriefRegister) []wire.RegisterLine {
	lines := make([]wire.RegisterLine, len(registers))
	for i, r := range registers {
		if r.Bytes > 0 {
			r.Value = string(shorten(r.Value, r.Bytes))
		}
		lines[i] = registerOf(r.Register)
		if r.Bytes > 0 {
			lines[i].Cut = map[string]int{"value": r.Bytes}
		}
	}
	return lines
}

func rowOf(row plexus.Row) wire.Row {
	st := row.Stamped()
	w := wire.Row{Rev: wire.Rev(st.Rev), Tx: wire.Rev(st.Tx), Writer: st.Writer.String(), At: st.At, Hash: st.Hash.String()}
	switch r := row.(type) {
	case plexus.Session:
		s := sessionOf(r)
		w.Session = &s
	case plexus.Job:
		j := jobRowOf(r)
		w.Job = &j
	case plexus.Field:
		w.Field = &wire.Field{Session: r.Session, Job: r.Job, Name: r.Name, Value: jsontext.Value(r.Value), Seen: wire.Rev(r.Seen)}
	case plexus.Register:
		w.Register = &wire.Register{Session: r.Session, Name: r.Name, Value: jsontext.Value(r.Value), Seen: wire.Rev(r.Seen)}
	}
	return w
}

func briefRowsOf(rows []plexus.Row) []wire.Row {
	out := make([]wire.Row, len(rows))
	for i, row := range rows {
		out[i] = briefRowOf(row)
	}
	return out
}

// callOf is how a call was decided, in one line.
func callOf(snap plexus.JobSnapshot) wire.Call {
	j, fields := snap.Job, snap.Fields
	c := wire.Call{
		Session: j.Session, Job: j.ID, Number: wire.Rev(j.Rev), Stamp: stampOf(j.Stamp), Kind: j.Kind, Name: j.Name, Cluster: clusterOf(j),
		Arguments: object(j.Arguments), Result: "wait",
		PolicyResult: read[string](fields, plexus.PolicyResult),
		Comment:      read[string](fields, plexus.ApprovalComment),
		Message:      read[string](fields, plexus.PolicyMessage),
		Outcome:      value(fields, plexus.OutcomeJSON),
		Cut:          snap.Bytes,
	}
	decided := plexus.OrchestrationResult
	switch returned := read[bool](fields, plexus.OrchestrationResult); {
	case returned != nil && *returned:
		c.Result = "allow"
	case returned != nil:
		c.Result = "deny"
		if reason := read[string](fields, plexus.LicenseReason); reason != nil && *reason == approval.FloorBlocked.Name() {
			c.Result = "block"
		}
	case fields[plexus.Cancelled].Value != "":
		c.Result, decided = "cancelled", plexus.Cancelled
	}
	if f, ok := fields[decided]; ok {
		c.Decided = &f.At
	}
	if f, ok := fields[plexus.Completed]; ok {
		c.Completed = &f.At
	}
	if reason := read[string](fields, plexus.LicenseReason); reason != nil {
		c.Reason = *reason
	}
	c.By = decider(c.Reason, fields)
	if asked, ok := fields[plexus.Cancelled].Writer.Asked(); ok && c.Result == "cancelled" {
		c.By = asked.String()
	}
	return c
}

// decider is who or what a reason of the law stands for.
func decider(reason string, fields map[string]plexus.Field) string {
	switch reason {
	case approval.PersonAllowed.Name(), approval.PersonRefused.Name():
		return fields[plexus.Approved].Writer.String()
	case approval.FloorAllowed.Name(), approval.FloorBlocked.Name():
		return "policy"
	case approval.ClassifierAllowed.Name(), approval.ClassifierDenied.Name():
		return "classifier"
	case approval.YoloMode.Name():
		return "mode yolo"
	case approval.GrantSkips.Name():
		return "grant"
	case approval.ReadAllowlisted.Name():
		return "allowlist"
	case approval.Communication.Name():
		return "host"
	}
	return ""
}
