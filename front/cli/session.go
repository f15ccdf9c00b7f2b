package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/plexus"
)

// sessionShown is what `sessions show --json` says. What agents wrote is text and
// nothing else.
type sessionShown struct {
	Session       wire.Session `json:"session"`
	Stamp         wire.Stamp   `json:"stamp"`
	CurrentPolicy string       `json:"currentPolicy"`
	Waiting       int          `json:"waiting"` // calls that need a person
	Agent         string       `json:"agent,omitempty"`
	// Task is what the session was started for, by a call of its parent.
	Task    *sessionTask      `json:"task,omitempty"`
	Says    map[string]string `json:"says"`    // of itself
	Started []sessionStarted  `json:"started"` // the sessions that its calls started
	Inbox   []sessionSaid     `json:"inbox"`   // what was said to it
	Notices []sessionSaid     `json:"notices"` // what it told whoever looks
}

type sessionTask struct {
	Text string `json:"text"`
	Job  string `json:"job"`
}

type sessionStarted struct {
	Session string    `json:"session"`
	Job     string    `json:"job"`
	At      time.Time `json:"at"`
}

type sessionSaid struct {
	Kind string    `json:"kind"` // message, callback, notify, context_need
	From string    `json:"from"` // the session
	Job  string    `json:"job"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

func newSessionsShow() *cobra.Command {
	d, all := &dialer{}, false
	cmd := &cobra.Command{
		Use:   "show SESSION",
		Short: "Show a session: its task, what it says of itself, and what agents said to it",
		Long: `Show says what a session is and what it was started for, which sessions its
calls started, what the agent says of it, and what agents said to each other
there. All of that was written by agents: it is text, and nothing is decided by
it. Its calls are in "assent log --session" and "assent queue --session".`,
		Example: `  assent sessions show 7GKQ
  assent sessions show 7GKQ --all --json`,
		Args:              exactlyOne("the session"),
		ValidArgsFunction: completeSessions,
		RunE: d.asking(func(cmd *cobra.Command, c *client.Client, args []string) error {
			ctx := cmd.Context()
			if args[0] == "" {
				return usagef("no session is named")
			}
			id, err := findSession(ctx, c, args[0])
			if err != nil {
				return err
			}
			page, err := c.SessionPage(ctx, id, 0, 1)
			if err != nil {
				return err
			}
			registers, err := c.Registers(ctx, id)
			if err != nil {
				return err
			}
			s := sessionOf(page, registers.Registers)
			out := cmd.OutOrStdout()
			if d.json {
				return writeJSON(out, s)
			}
			_, err = fmt.Fprint(out, s.text(time.Now(), screenOf(out), all))
			return err
		}),
	}
	d.flags(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "all that was said, not only the last")
	return cmd
}

// sessionOf is a session by the registers that hold. One that cannot be read is
// passed over: the kernel writes none.
func sessionOf(page wire.Document, registers []wire.RegisterLine) sessionShown {
	s := sessionShown{
		Session: page.Session, Stamp: page.Stamp, CurrentPolicy: page.View.CurrentPolicy, Waiting: page.Waiting,
		Says: map[string]string{}, Started: []sessionStarted{}, Inbox: []sessionSaid{}, Notices: []sessionSaid{},
	}
	last := make(map[string]int)
	for i, r := range registers {
		last[r.Name] = i
	}
	for i, r := range registers {
		if last[r.Name] != i {
			continue
		}
		read := func(v any) bool { return json.Unmarshal(r.Value, v) == nil }
		switch box, id, _ := strings.Cut(strings.TrimPrefix(r.Name, plexus.HostRegister("")), "/"); {
		case r.Name == plexus.HostRegister("task"):
			var task sessionTask
			if read(&task) {
				s.Task = &task
			}
		case r.Name == plexus.HostRegister("metadata"):
			says := make(map[string]string)
			if read(&says) {
				s.Says = says
			}
		case r.Name == plexus.SessionAgent:
			_ = read(&s.Agent)
		case !strings.HasPrefix(r.Name, plexus.HostRegister("")):
		case box == "child":
			started := sessionStarted{Session: id, At: r.At}
			if read(&started.Job) {
				s.Started = append(s.Started, started)
			}
		case box == "inbox", box == "notice":
			said := sessionSaid{}
			if !read(&said) {
				continue
			}
			said.At = r.At
			if box == "inbox" {
				s.Inbox = append(s.Inbox, said)
			} else {
				s.Notices = append(s.Notices, said)
			}
		}
	}
	return s
}

// lastSaid is how many messages are shown where not all are wanted.
const lastSaid = 10

// text is the session for people.
func (s sessionShown) text(now time.Time, on screen, all bool) string {
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			b.WriteString(on.paint.faint(name) + strings.Repeat(" ", max(1, 12-len(name))) + oneLine(text, 4*maxFull) + "\n")
		}
	}
	line("session", s.Session.ID)
	line("mode", s.CurrentPolicy)
	if s.Waiting > 0 {
		line("waiting", count(s.Waiting, "call")+" for a person")
	}
	seat := ""
	if s.Session.Seat == wire.Unattended {
		seat = " (unattended)"
	}
	line("workspace", tilde(s.Session.Workspace)+seat)
	line("client", s.Session.Client)
	line("agent", s.Agent)
	line("made", showWhen(s.Stamp.At, now))
	line("parent", s.Session.Parent)
	if s.Task != nil {
		line("task", s.Task.Text)
		line("", "(of call "+s.Task.Job+" of the parent)")
	}
	for i, name := range sortedKeys(s.Says) {
		head := ""
		if i == 0 {
			head = "says"
		}
		line(head, name+": "+s.Says[name])
	}
	for i, child := range s.Started {
		head := ""
		if i == 0 {
			head = "started"
		}
		line(head, fmt.Sprintf("%s  (by call %s, %s)", child.Session, child.Job, showWhen(child.At, now)))
	}
	box := func(name string, said []sessionSaid) {
		if len(said) == 0 {
			return
		}
		left := 0
		if !all && len(said) > lastSaid {
			left = len(said) - lastSaid
		}
		fmt.Fprintf(&b, "\n%s\n", on.paint.faint(name))
		if left > 0 {
			fmt.Fprintf(&b, "  %d before these; see --all\n", left)
		}
		for _, m := range said[left:] {
			from := ""
			if m.From != s.Session.ID {
				from = " from " + oneLine(m.From, maxTarget)
			}
			text := m.Text
			if !all {
				text = middle(text, maxFull)
			}
			fmt.Fprintf(&b, "  %s  %s%s: %s\n", showWhen(m.At, now), oneLine(m.Kind, maxTarget), from, oneLine(text, 4*maxFull))
		}
	}
	box("said to it", s.Inbox)
	box("it told whoever looks", s.Notices)
	return b.String()
}
