package remainder

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
)

// Scope is a cut of the evidence: how much of a session a model gets to see (law §9). The zero value is the
// narrowest, with which an attempt begins.
type Scope uint8

// The cuts. Each holds the one before it.
const (
	Privileged  Scope = iota // what the user said, and the call
	PriorTurn                // and what the agent answered last
	Quarantined              // and what earlier tools gave
)

var cuts = [...]string{Privileged: "privileged", PriorTurn: "prior-turn", Quarantined: "quarantined"}

// String is the name by which a model asks for the cut.
func (c Scope) String() string {
	if int(c) < len(cuts) {
		return cuts[c]
	}
	return cuts[Privileged]
}

// Wider are the names of the cuts that hold more than this one.
func (c Scope) Wider() []string { return cuts[min(int(c)+1, len(cuts)):] }

// ScopeNamed is the cut of a name.
func ScopeNamed(name string) (Scope, bool) {
	for c, n := range cuts {
		if n == name {
			return Scope(c), true
		}
	}
	return Privileged, false
}

// Call is what is decided about.
type Call struct {
	Cluster   approval.Cluster
	Name      string
	Arguments []byte // a JSON object, "" for none
	Floor     approval.PolicyResult
	// Message is what the floor says to the call, with what a scanner found.
	Message string
	// Kind tells more about the call where there is more to tell (law §11, ruling
	// 16): incomplete of a command, create, change, delete or build-steering of a
	// write. "" for nothing.
	Kind string
	// Workspace is the folder of the session, Cwd where the call starts, "" where
	// that is not known.
	Workspace, Cwd string
	// Paths are the prepared paths of a read or a write, "" for one that cannot be
	// told.
	Paths []approval.Path
	// Effects is all that the floor found that the call does, nil where that is not
	// known whole.
	Effects    []Effect
	Unattended bool
}

// CallOf is the call of a leaf in a session.
func CallOf(leaf approval.Leaf, session approval.Session) Call {
	return Call{
		Cluster: leaf.Cluster(), Name: leaf.Name, Arguments: leaf.Arguments, Floor: leaf.PolicyResult, Message: leaf.PolicyMessage.Value,
		Workspace: session.Workspace, Paths: leaf.Paths, Unattended: !session.Looking(),
	}
}

// Evidence is what a session holds about a call, as its host assembled it. A host
// leaves empty what does not belong to the cut.
type Evidence struct {
	// User is what the user said: in the turn of the call and the turns before it
	// that it goes on from, the oldest first. Nobody else can have written it.
	User []string `json:"user"`
	// Expression is the program that makes the call, where nobody looks on and there
	// is no word of a user.
	Expression string `json:"expression"`
	// Response is what the agent answered last.
	Response string `json:"response"`
	// Results are what earlier tools gave, the oldest first.
	Results []Result `json:"results"`
}

// Result is what a tool gave.
type Result struct {
	Tool string `json:"tool"`
	Text string `json:"text"`
}

// Gather gives the evidence of a cut.
type Gather func(context.Context, Scope) (Evidence, error)

// Within is the evidence that belongs to a cut.
func (e Evidence) Within(c Scope) Evidence {
	if c < Quarantined {
		e.Results = nil
	}
	if c < PriorTurn {
		e.Response = ""
	}
	return e
}

// The most that a model is shown, in bytes: of one text of a kind, and of all of
// that kind. What the user said last, and what came last, goes before.
const (
	maxCall     = 100 << 10
	maxValue    = 4 << 10 // of a write, where the call is longer
	maxUser     = 32 << 10
	maxUsers    = 96 << 10
	maxResponse = 16 << 10
	maxResult   = 8 << 10
	maxResults  = 64 << 10
)

// bounded is the evidence as it is shown.
func (e Evidence) bounded() Evidence {
	out := Evidence{Expression: clip(e.Expression, maxUser), Response: clip(e.Response, maxResponse)}
	room, left := maxUsers, 0
	for i := len(e.User) - 1; i >= 0; i-- {
		text := clip(e.User[i], maxUser)
		if room -= len(text); room < 0 {
			left = i + 1
			break
		}
		out.User = append(out.User, text)
	}
	if left > 0 {
		out.User = append(out.User, fmt.Sprintf("[%d earlier messages are left out]", left))
	}
	room, left = maxResults, 0
	for i := len(e.Results) - 1; i >= 0; i-- {
		r := Result{clip(e.Results[i].Tool, 200), clip(e.Results[i].Text, maxResult)}
		if room -= len(r.Text) + len(r.Tool); room < 0 {
			left = i + 1
			break
		}
		out.Results = append(out.Results, r)
	}
	if left > 0 {
		out.Results = append(out.Results, Result{"", fmt.Sprintf("[%d earlier results are left out]", left)})
	}
	reverse(out.User)
	reverse(out.Results)
	return out
}

func reverse[T any](s []T) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}

// clip is a text of so many bytes at most, the beginning and the end of it, which
// says what is left out.
func clip(text string, most int) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if len(text) <= most {
		return text
	}
	head, tail := most*2/3, most/3
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	from := len(text) - tail
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return fmt.Sprintf("%s [%d bytes left out] %s", text[:head], from-head, text[from:])
}

// arguments are those of the call as they are shown. What a write contains decides
// nothing (law ruling 14), so a long one is shown in part where all that it does is
// told beside; any other call is shown whole or not judged.
func (c Call) arguments() (string, error) {
	text := strings.ToValidUTF8(string(c.Arguments), string(utf8.RuneError))
	if text == "" {
		text = "{}"
	}
	if len(text) <= maxCall {
		return text, nil
	}
	if c.Cluster != approval.Write || c.told() == "" {
		return "", fmt.Errorf("the call has %d bytes of arguments, and a model is shown %d at most", len(text), maxCall)
	}
	var v any
	if err := json.Unmarshal(c.Arguments, &v, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); err != nil {
		return clip(text, maxCall), nil
	}
	short, err := json.Marshal(clipped(v), json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return clip(text, maxCall), nil
	}
	return clip(string(short), maxCall), nil
}

// clipped is a value with its long texts cut.
func clipped(v any) any {
	switch v := v.(type) {
	case string:
		return clip(v, maxValue)
	case []any:
		for i := range v {
			v[i] = clipped(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = clipped(v[k])
		}
	}
	return v
}
