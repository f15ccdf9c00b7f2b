package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/front/daemon"
	"assent/internal/config"
	"assent/internal/place"
)

// kernelStatus is what `status --json` says.
type kernelStatus struct {
	Running bool `json:"running"`
	// Holder is the process that holds the lock, also while it does not answer.
	Holder int    `json:"holder,omitempty"`
	Socket string `json:"socket"`
	Log    string `json:"log,omitempty"`
	Config string `json:"config"`
	Policy string `json:"policy"`
	Client string `json:"client"` // the version of this program
	// Error says why a kernel that is there did not answer, or what it answered
	// instead.
	Error string `json:"error,omitempty"`
	// Refused says that it answered, and refused to.
	Refused bool `json:"refused,omitempty"`

	// Settings are what is wrong with config.json and what is not as it may seem,
	// while no kernel tells of it.
	Settings []string `json:"settings,omitempty"`
	// SettingsRefused says that config.json is refused and so not in force, whoever
	// tells of it.
	SettingsRefused bool `json:"settingsRefused,omitempty"`

	wire.Status `json:",inline"`
	// Scanner is that of this machine, when no kernel tells of its own.
	Scanner *wire.Scanner `json:"scanner,omitempty"`
}

func newStatus() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say whether the kernel runs, and what it does",
		Long: `Say whether the kernel runs, where its things are, what it does, and what is
wrong with its settings and policies. An agent is told the first two. It starts
nothing. The exit code is 0 when the kernel answers and 1 when it does not.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := findKernel()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), 10*time.Second)
			defer cancel()
			s := at.status(ctx)
			if s.Kernel == nil && !s.Running && !at.Shared {
				s.Scanner = scannerUnasked(ctx, s.Policy)
				s.Settings, s.SettingsRefused = settingsTroubles(s.Config)
			}
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), s)
			} else {
				err = s.print(cmd.OutOrStdout(), time.Now())
			}
			if err == nil && !s.Running {
				err = verdictExit(exitFailed)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON object")
	return cmd
}

// status asks the kernel, if there is one.
func (at kernelAt) status(ctx context.Context) kernelStatus {
	s := kernelStatus{Socket: at.Socket, Config: at.ConfigFile(), Policy: at.PolicyFile(), Client: version()}
	if at.Shared {
		s.Config, s.Policy = "", ""
	} else {
		s.Log = at.LogFile()
		if pid, held, err := place.Held(at.LockFile()); err != nil {
			s.Error = err.Error()
		} else if held {
			s.Holder = pid
		}
	}
	err := at.Trusted()
	var word string
	if err == nil {
		word, err = token()
	}
	if err == nil {
		c := client.New(at.Socket, client.Options{Token: word, Verify: at.verify})
		defer c.Close()
		err = listening(ctx, at.Socket, new(atomic.Bool), func(ctx context.Context) (err error) {
			s.Status, err = c.Status(ctx)
			return err
		})
	}
	switch {
	case err == nil:
		s.Running, s.Error = true, ""
		s.told()
	case errors.Is(err, client.ErrNoDaemon):
		if s.Holder != 0 {
			s.Error = fmt.Sprintf("process %d holds the lock and does not answer (it may be starting or ending)", s.Holder)
			if err := daemon.Elsewhere(at.Place, s.Holder); err != nil {
				s.Error = err.Error()
			}
		}
	case isSilent(err):
		s.Error = hinted(err).Error()
	default:
		s.Error = err.Error()
		_, s.Refused = errors.AsType[*wire.Problem](err)
	}
	return s
}

// told takes the files that the kernel reads, where it says which: those follow
// from its environment, which need not be that of whoever asks.
func (s *kernelStatus) told() {
	if s.Kernel == nil {
		return
	}
	for _, file := range []struct {
		mine *string
		its  string
	}{{&s.Config, s.Kernel.Config}, {&s.Policy, s.Kernel.Policy}} {
		if file.its != "" {
			*file.mine = file.its
		}
	}
	s.SettingsRefused = s.Kernel.Presence[daemon.ConfigError] != ""
}

func (s kernelStatus) print(w io.Writer, now time.Time) error {
	var b strings.Builder
	row := func(name, text string) {
		if text == "" {
			return
		}
		for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(&b, "  %-9s %s\n", name, oneLine(line, maxLogged))
		}
	}
	switch {
	case s.Refused:
		fmt.Fprintf(&b, "The kernel refuses to answer.\n")
		row("error", s.Error)
	case !s.Running && s.Error != "":
		fmt.Fprintf(&b, "The kernel does not answer.\n")
		row("error", s.Error)
	case !s.Running:
		fmt.Fprintf(&b, "The kernel is not running. \"assent up\" runs it.\n")
	default:
		fmt.Fprintf(&b, "The kernel is running")
		var more []string
		if s.Holder != 0 {
			more = append(more, fmt.Sprintf("process %d", s.Holder))
		}
		if s.Kernel != nil {
			more = append(more, "for "+span(now.Sub(s.Kernel.Started)))
		}
		if len(more) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(more, ", "))
		}
		fmt.Fprintf(&b, ".\n")
		row("version", s.Version)
		if s.Version != s.Client {
			row("", fmt.Sprintf("this program is %s: \"assent down\" and \"assent up\" make them the same", s.Client))
		}
		if s.You.Role != "" {
			row("you are", fmt.Sprintf("%s (%s)", s.You.Role, s.You.Name))
			row("", s.You.Why)
		}
		if s.Kernel == nil {
			row("withheld", "what waits and what is wrong with settings, policies and disk: people are told that, from a terminal of their own")
		}
	}
	if k := s.Kernel; k != nil {
		row("waiting", fmt.Sprintf("%s for a person, of %s in %s", count(k.Asking, "call"), count(k.Unsettled, "open call"), count(k.Sessions, "session")))
		if k.DefaultPolicy != "" {
			row("mode", k.DefaultPolicy+" for new sessions")
		}
		row("looking", whoLooks(k.Looking, now))
		if k.Judging+k.Queued > 0 {
			row("judging", fmt.Sprintf("%d of %d at a time, %d queued", k.Judging, k.Slots, k.Queued))
		}
		row("document", tilde(k.Document))
		for _, line := range storageLines(k.Storage) {
			row(line[0], line[1])
		}
		for _, key := range sortedKeys(k.Presence) {
			switch {
			case k.Presence[key] == wire.NoOperatorPolicy:
				s.Policy = cmp.Or(s.Policy, "none") + " (not there: the shipped floor answers)"
			case strings.HasPrefix(key, wire.Looking): // told above
			case troubles[key] != "":
				row(troubles[key], k.Presence[key])
			}
		}
	}
	for _, trouble := range s.Settings {
		row(troubles[daemon.ConfigError], trouble)
	}
	scanner := s.Scanner
	if s.Kernel != nil {
		scanner = s.Kernel.Scanner
	}
	if scanner != nil {
		name := "scanner"
		if scanner.State == "failed" {
			name = "! scanner"
		}
		row(name, scannerLine(scanner))
	}
	if s.Kernel != nil {
		for i, at := range s.Kernel.Servers {
			name := ""
			if i == 0 {
				name = "servers"
			}
			row(cmp.Or(name, " "), serverLine(at))
		}
	}
	row("socket", tilde(s.Socket))
	if s.SettingsRefused {
		s.Config = tilde(s.Config) + " (refused: not in force)"
	}
	for _, file := range []struct{ name, path string }{{"settings", s.Config}, {"policy", s.Policy}, {"log", s.Log}} {
		if file.path != "" {
			row(file.name, tilde(file.path))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// storageLines say what agents have of the document and what keeps them from having
// more, by name of the row.
func storageLines(s wire.Storage) (lines [][2]string) {
	if s.Free != nil && *s.Free < s.Reserve {
		lines = append(lines, [2]string{"! disk", fmt.Sprintf(
			"%s are free: below %s nothing of agents is taken; make room (diskReserveMegabytes in config.json)", size(*s.Free), size(s.Reserve))})
	}
	for _, a := range s.Agents {
		if s.WaitingMost > 0 && a.Waiting >= s.WaitingMost {
			lines = append(lines, [2]string{"! waiting", fmt.Sprintf(
				"%s of %s wait, the most: it is refused what is more until some are answered or cancelled (assent queue)", count(a.Waiting, "call"), a.Agent)})
		}
	}
	for i, a := range s.Agents {
		name := "stored"
		if a.Bytes >= s.AgentBytes/10*9 {
			name = "! stored"
		} else if i > 0 {
			break // they are in order
		}
		text := fmt.Sprintf("%s of %s by %s, in %s", size(a.Bytes), size(s.AgentBytes), a.Agent, count(a.Sessions, "session"))
		if name == "stored" {
			text += ", the most of all agents"
		} else {
			text += ": it is refused what is more (agentMegabytes in config.json)"
		}
		lines = append(lines, [2]string{name, text})
	}
	return lines
}

// size is a number of bytes as one would say it.
func size(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

// whoLooks says who looks at what, a line each.
func whoLooks(people []wire.Looker, now time.Time) string {
	if len(people) == 0 {
		return "nobody"
	}
	var ids []string
	for _, p := range people {
		if p.Session != "" {
			ids = append(ids, p.Session)
		}
	}
	short := shortIDs(ids)
	lines := make([]string, len(people))
	for i, p := range people {
		at := "all sessions"
		if p.Session != "" {
			at = "session " + short[p.Session]
		}
		lines[i] = fmt.Sprintf("%s, at %s, for %s", oneLine(p.Name, maxTarget), at, span(max(0, now.Sub(p.Since))))
	}
	return strings.Join(lines, "\n")
}

// troubles are the keys of presence that tell of something wrong, in words that
// fit a column.
var troubles = map[string]string{
	daemon.ConfigError:   "! config",
	daemon.ConfigWarning: "! config",
	daemon.StartError:    "! start",
	"policyError":        "! policy",
	"unlicensedRun":      "! ran",
	"documentError":      "! document",
}

// settingsTroubles are what is wrong with a config.json, and what it says that
// was read as something else; and whether it is refused.
func settingsTroubles(path string) (troubles []string, refused bool) {
	if path == "" {
		return nil, false
	}
	s := config.Read(path)
	if s.Err != nil {
		return []string{s.Err.Error()}, true
	}
	return s.Config.Warnings, false
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// span is a length of time as one would say it.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d/time.Minute))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d/time.Hour), int(d%time.Hour/time.Minute))
	}
	return fmt.Sprintf("%d days", int(d/(24*time.Hour)))
}
