package hook

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// opencode has plugins instead of hooks: ours starts this program with what it
// was given, and throws unless the answer is the one that says go.
var opencode = Dialect{
	Name: "opencode", Client: "opencode",
	Deadline: 24 * time.Hour, // it has none of its own
	Read: func(text []byte) (Payload, error) {
		var in struct {
			Event     string `json:"event"`
			Directory string `json:"directory"`
			Input     struct {
				Tool    string         `json:"tool"`
				Session string         `json:"sessionID"`
				Call    string         `json:"callID"`
				Args    jsontext.Value `json:"args"`
			} `json:"input"`
			Output jsontext.Value `json:"output"`
		}
		if err := json.Unmarshal(text, &in); err != nil {
			return Payload{}, fmt.Errorf("the plugin's message cannot be read: %w", err)
		}
		p := Payload{Event: in.Event, Session: in.Input.Session, Call: in.Input.Call, Tool: in.Input.Tool, Cwd: in.Directory, Arguments: in.Input.Args}
		switch in.Event {
		case "tool.execute.before":
			var output struct {
				Args jsontext.Value `json:"args"`
			}
			if err := json.Unmarshal(in.Output, &output); err != nil {
				return Payload{}, fmt.Errorf("the plugin's message cannot be read: output: %w", err)
			}
			p.Moment, p.Arguments = Before, output.Args
		case "tool.execute.after":
			p.Moment, p.Result = After, in.Output
		}
		return p, p.complete()
	},
	Refuse: func(_ Payload, reason string) Reply { return refusal(reason) },
	Pass: func(p Payload, _ string) Reply {
		if p.Moment != Before {
			return Reply{}
		}
		return Reply{Stdout: object(struct {
			Decision string `json:"decision"`
		}{"allow"})}
	},
}
