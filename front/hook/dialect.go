package hook

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Moment is when a client calls its hook.
type Moment int

// The moments. One that is not known is none that a hook is asked about.
const (
	Other      Moment = iota
	Before            // a tool is about to run
	Permission        // the client is about to ask its person
	After             // the tool has run
	Failed            // the tool has run, and failed
	Settings          // the client's own settings have changed
)

// Payload is what a client says to its hook.
type Payload struct {
	Moment    Moment
	Event     string // the client's name for it
	Session   string
	Agent     string // the sub-agent of the session, "" for the agent itself
	Call      string // the client's id of the call, "" where it has none
	Tool      string
	Arguments jsontext.Value // an object
	Cwd       string         // where the call starts
	Result    jsontext.Value // what the tool gave, or the error
	File      string         // of the settings that have changed
	Mode      string         // the client's own, such as one in which it only plans
}

// Reply is what a hook does in answer.
type Reply struct {
	Stdout, Stderr string
	Exit           int
}

// Dialect is how one client speaks to its hook and obeys it.
type Dialect struct {
	Name string
	// Client is what people call it.
	Client string
	// Deadline is when a hook answers at the latest, where nobody set another:
	// the client runs the tool when its own time is over.
	Deadline time.Duration
	// Root names variables with the folder the client works in, the best first.
	Root []string
	// Read reads a payload.
	Read func(text []byte) (Payload, error)
	// Refuse keeps a tool from running, Pass has no objection. Both are what was
	// seen to do that.
	// Asks: the client's own question about that call is the one that is licensed;
	// about any other it may ask for more, and its person answers.
	Asks   func(p Payload) bool
	Refuse func(p Payload, reason string) Reply
	Pass   func(p Payload, reason string) Reply
}

// Dialects are those of the clients that are known, by name.
var Dialects = map[string]*Dialect{"claude": &claude, "codex": &codex, "gemini": &gemini, "opencode": &opencode}

// refusal is the one form of no that every client obeys which starts its hook as
// a process. Standard error must not be empty.
func refusal(reason string) Reply {
	if reason == "" {
		reason = "refused"
	}
	return Reply{Stderr: "assent: " + reason + "\n", Exit: 2}
}

// silence has nothing to say.
func silence(Payload, string) Reply { return Reply{} }

// common are the members that three of the clients have in common.
type common struct {
	Event     string         `json:"hook_event_name"`
	Session   string         `json:"session_id"`
	Agent     string         `json:"agent_id"`
	Call      string         `json:"tool_use_id"`
	Tool      string         `json:"tool_name"`
	Arguments jsontext.Value `json:"tool_input"`
	Result    jsontext.Value `json:"tool_response"`
	Error     jsontext.Value `json:"error"`
	Cwd       string         `json:"cwd"`
	File      string         `json:"file_path"`
	Mode      string         `json:"permission_mode"`
}

// readCommon reads a payload of that form. Members nobody here knows are the
// client's own business; one that comes twice, or in another case, is none that
// could be meant.
func readCommon(text []byte, moments map[string]Moment) (Payload, error) {
	var in common
	if err := json.Unmarshal(text, &in); err != nil {
		return Payload{}, fmt.Errorf("the client's message cannot be read: %w", err)
	}
	if in.Event == "" {
		return Payload{}, errors.New("the client's message has no hook_event_name")
	}
	p := Payload{
		Moment: moments[in.Event], Event: in.Event, Session: in.Session, Agent: in.Agent, Call: in.Call, Tool: in.Tool,
		Arguments: in.Arguments, Cwd: in.Cwd, Result: in.Result, File: in.File, Mode: in.Mode,
	}
	if len(p.Result) == 0 {
		p.Result = in.Error
	}
	return p, p.complete()
}

// complete says what a call must have that a hook is asked about.
func (p *Payload) complete() error {
	switch p.Moment {
	case Other, Settings:
		return nil
	case Before, Permission, After, Failed:
	}
	switch {
	case p.Session == "":
		return errors.New("the client's message names no session")
	case p.Tool == "":
		return errors.New("the client's message names no tool")
	case p.Cwd == "":
		return errors.New("the client's message does not say in which folder it works")
	case len(p.Arguments) == 0:
		p.Arguments = jsontext.Value("{}")
	case p.Arguments.Kind() != '{':
		return errors.New("the arguments of the tool are no object")
	}
	return nil
}

// object writes JSON of members in their order.
func object(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts only: Run makes a refusal of it
	}
	return string(text) + "\n"
}
