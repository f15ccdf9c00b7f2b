package hook

import "time"

// Gemini CLI. It has no ids of calls, and its times are milliseconds. An allow
// does not spare its person the question, and one that asks hangs where nobody
// sits: to have no objection is to say nothing.
var gemini = Dialect{
	Name: "gemini", Client: "Gemini CLI",
	Deadline: 50 * time.Second, // its own default is 60,000 ms
	Root:     []string{"GEMINI_PROJECT_DIR"},
	Read: func(text []byte) (Payload, error) {
		return readCommon(text, map[string]Moment{"BeforeTool": Before, "AfterTool": After})
	},
	Refuse: func(p Payload, reason string) Reply {
		r := refusal(reason)
		if p.Moment == Before {
			r.Stdout = object(geminiReply{"deny", "assent: " + reason})
		}
		return r
	},
	Pass: silence,
}

type geminiReply struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}
