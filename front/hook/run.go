package hook

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/front/api/wire"
)

// maxPayload is how long a payload may be, in bytes. The kernel takes less of a
// call: a longer one is refused there with what it is too long for.
const maxPayload = 32 << 20

// Host is what a hook needs of the machine.
type Host struct {
	Stdin  io.Reader
	Getenv func(string) string
	// Socket is the kernel's, Verify says whether the user who listens there is the
	// one who should.
	Socket string
	Verify func(uid uint32) error
	// Start gets a kernel to run and returns when it answers.
	Start func(context.Context) error
	// ReadFile reads a file of a client's settings.
	ReadFile func(string) ([]byte, error)
	// Connected says whether the hook was put into that file; nil is no.
	Connected func(file string) bool
}

// ErrDeadline: the time of the hook is over, and nothing is decided.
var ErrDeadline = errors.New("nobody has answered in time")

// Run answers one payload of a client. It always has an answer: an error and a
// panic are a refusal.
func Run(ctx context.Context, d *Dialect, h Host) (reply Reply) {
	var p Payload
	defer func() {
		if r := recover(); r != nil {
			reply = refusal(fmt.Sprintf("the hook failed: %v", r))
		}
	}()
	text, err := io.ReadAll(io.LimitReader(h.Stdin, maxPayload+1))
	switch {
	case err != nil:
		return refusal("reading the client's message: " + err.Error())
	case len(text) > maxPayload:
		return refusal(fmt.Sprintf("the client's message has more than %d bytes", maxPayload))
	}
	if p, err = d.Read(text); err != nil {
		return refusal(err.Error())
	}
	s := session{Dialect: d, Host: h, p: p, line: &line{socket: h.Socket, verify: h.Verify}}
	defer s.line.close()
	switch p.Moment {
	case Before:
		return s.before(ctx)
	case Permission:
		return s.permission(ctx)
	case After, Failed:
		s.after(ctx)
	case Settings:
		return s.settings()
	case Other:
		// One that names a tool may be asking about it, in words of a client that is
		// not this one or newer than what is known of it.
		if p.Tool != "" {
			return refusal(fmt.Sprintf("%s sends the event %q about the tool %q, which is not known: is this the hook of another client?", d.Client, p.Event, p.Tool))
		}
	}
	return Reply{}
}

// session is one conversation of a hook with the kernel.
type session struct {
	*Dialect
	Host
	p    Payload
	line *line
	// beside counts the sessions of the client's id that belong to other agents: one
	// that is taken up again by another process is a new one, with nothing of theirs.
	beside int
}

// maxBeside is how many of them there may be.
const maxBeside = 16

// id makes an id of the client's: as it is where the kernel takes it, so that
// people know it again, else a hash of it. Two of them are the same only where all
// their parts are.
func id(parts ...string) string {
	text := strings.Join(parts, ".")
	plain := len(text) <= 120 && strings.Count(text, ".") == len(parts)-1 && !strings.HasPrefix(text, hashed)
	for _, c := range []byte(text) {
		plain = plain && (c == '-' || c == '_' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z')
	}
	if plain && strings.Trim(text, ".") != "" {
		return text
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hashed + hex.EncodeToString(sum[:16])
}

// hashed begins the ids that are hashes, and no other.
const hashed = "hashed-"

func (s *session) name() string {
	name := s.Name + "-" + s.p.Session
	if s.beside > 0 {
		name += "-again-" + strconv.Itoa(s.beside+1)
	}
	return name
}

func (s *session) parent() string { return id(s.name()) }

func (s *session) own() string {
	if s.p.Agent == "" {
		return s.parent()
	}
	return id(s.name(), s.p.Agent)
}

func (s *session) call() string {
	if s.p.Call == "" {
		return ""
	}
	return id(s.p.Call)
}

// ask asks the kernel, and starts one where none runs.
func (s *session) ask(ctx context.Context, method, path string, in, out any) error {
	err := s.line.ask(ctx, method, "/"+wire.Version+path, in, out)
	if errors.Is(err, errNoKernel) && s.Start != nil {
		if err := s.Start(ctx); err != nil {
			return fmt.Errorf("the kernel does not run and cannot be started: %w", err)
		}
		err = s.line.ask(ctx, method, "/"+wire.Version+path, in, out)
	}
	return err
}

func (s *session) path(rest string) string { return "/sessions/" + s.own() + rest }

// mine does something in the session of the client's id that is this agent's.
func (s *session) mine(do func() error) error {
	for {
		err := do()
		if !errors.Is(err, wire.Other) || s.beside >= maxBeside {
			return err
		}
		s.beside++
	}
}

// opened does something in the session of the call, and makes it where it is
// missing: that of a sub-agent below that of its agent.
func (s *session) opened(ctx context.Context, do func() error) error {
	err := do()
	if !errors.Is(err, wire.NoSession) {
		return err
	}
	if s.p.Agent != "" {
		if err := s.open(ctx, s.parent(), ""); err != nil {
			return err
		}
		err = s.open(ctx, s.own(), s.parent())
	} else {
		err = s.open(ctx, s.own(), "")
	}
	if err != nil {
		return err
	}
	return do()
}

func (s *session) open(ctx context.Context, id, parent string) error {
	workspace := s.p.Cwd
	for _, name := range s.Root {
		if root := s.Getenv(name); filepath.IsAbs(root) {
			workspace = root
			break
		}
	}
	err := s.ask(ctx, "POST", "/sessions", wire.NewSession{ID: id, Client: s.Client, Workspace: workspace, Parent: parent}, new(wire.Session))
	if errors.Is(err, wire.Written) { // another hook of the session was first
		return nil
	}
	return err
}

// before holds a call until it is decided.
func (s *session) before(ctx context.Context) Reply {
	receipt, err := s.licensed(ctx)
	switch {
	case errors.Is(err, ErrDeadline):
		receipt = s.left(receipt)
		switch {
		case receipt.Job == "":
			return s.broken(errors.New("the kernel has not answered in time: the call was not taken, and nobody was asked"))
		case receipt.OrchestrationResult != nil && !*receipt.OrchestrationResult:
			return s.Refuse(s.p, Why(receipt))
		}
		return s.Refuse(s.p, Ticket(receipt))
	case err != nil && ctx.Err() != nil:
		s.stopped(receipt)
		return s.broken(errors.New("the client has stopped this hook: the call is cancelled"))
	case err != nil:
		return s.broken(err)
	case receipt.OrchestrationResult != nil && *receipt.OrchestrationResult:
		if s.Asks != nil && s.Asks(s.p) { // that license answers the client's own question, once
			_ = s.ask(ctx, "POST", s.path("/jobs/"+receipt.Job+"/leave"), nil, new(wire.Wrote))
		}
		return s.Pass(s.p, Why(receipt))
	}
	return s.Refuse(s.p, Why(receipt))
}

// Parting is how long a hook may still take once its time is over or it was
// stopped.
const Parting = 2 * time.Second

// parting asks the kernel something when the hook's own time is over.
func (s *session) parting(ctx context.Context, method, path string, in, out any) error {
	return s.line.ask(ctx, method, "/"+wire.Version+s.path(path), in, out)
}

// left says that nobody waits for a call any longer, and gives what is known of it
// then: its number at least, by which a person names it.
func (s *session) left(r wire.Receipt) wire.Receipt {
	ctx, cancel := context.WithTimeout(context.Background(), Parting)
	defer cancel()
	if r.Job == "" {
		r.Job, r.Number = s.unheard(ctx, true)
	}
	var now wire.Receipt
	if r.Job == "" || s.parting(ctx, "POST", "/jobs/"+r.Job+"/leave", nil, new(wire.Wrote)) != nil ||
		s.parting(ctx, "GET", "/jobs/"+r.Job+"/receipt", nil, &now) != nil {
		return r
	}
	if now.Completed != nil { // in this very moment: it is told now
		_ = s.parting(ctx, "POST", "/jobs/"+r.Job+"/heard", nil, new(wire.Wrote))
	}
	return now
}

// stopped cancels a call that its client has given up: nobody is asked about it any
// more, and no answer waits for the next one like it.
func (s *session) stopped(r wire.Receipt) {
	ctx, cancel := context.WithTimeout(context.Background(), Parting)
	defer cancel()
	if r.Job == "" {
		r.Job, _ = s.unheard(ctx, false)
	}
	if r.Job != "" {
		_ = s.parting(ctx, "POST", "/jobs/"+r.Job+"/cancel", nil, new(wire.Wrote))
	}
}

// unheard is the call whose number has not come when the hook's time was over: the
// one with its id or, where any will do, one like it.
func (s *session) unheard(ctx context.Context, any bool) (job string, number wire.Rev) {
	var same wire.SameCalls
	if s.parting(ctx, "POST", "/same", wire.Same{Name: s.p.Tool, Arguments: s.p.Arguments, Cwd: s.p.Cwd}, &same) != nil {
		return "", 0
	}
	for _, c := range same.Calls {
		if !c.BodyStarted && (any && job == "" || c.ID == s.call()) {
			job, number = c.ID, c.Number
		}
	}
	return job, number
}

// broken is the answer when something is the matter with assent itself, in the
// one form that needs nothing of it.
func (s *session) broken(err error) Reply { return refusal(problem(err)) }

func problem(err error) string {
	var p *wire.Problem
	if errors.As(err, &p) {
		if p.Code == wire.Other {
			return "the kernel does not take the call: " + p.Error() + "; a person gives it to this one with: assent sessions give SESSION AGENT"
		}
		return "the kernel does not take the call: " + p.Error()
	}
	return err.Error()
}

// licensed admits the call, or takes the same one up again that was not answered in
// its time and is nobody's yet, and waits until it is decided. A yes is claimed: of
// two that have it one only goes on, and the other asks anew.
func (s *session) licensed(ctx context.Context) (receipt wire.Receipt, err error) {
	for {
		var held wire.Held
		err := s.mine(func() error {
			return s.opened(ctx, func() error {
				call := wire.Hold{ID: s.call(), Name: s.p.Tool, Arguments: s.p.Arguments, Facts: s.facts(), Cwd: s.p.Cwd}
				return s.ask(ctx, "POST", s.path("/hold"), call, &held)
			})
		})
		if err != nil {
			return receipt, err
		}
		receipt = held.Receipt
		if !decided(receipt) {
			if receipt, err = s.decision(ctx, receipt); err != nil {
				return receipt, err
			}
		}
		if held.Begun || receipt.OrchestrationResult == nil || !*receipt.OrchestrationResult {
			return receipt, nil
		}
		err = s.ask(ctx, "POST", s.path("/jobs/"+receipt.Job+"/begin"), nil, new(wire.Wrote))
		if !errors.Is(err, wire.Begun) {
			return receipt, err
		}
	}
}

// decided says whether nothing is waited for any more.
func decided(r wire.Receipt) bool {
	return r.OrchestrationResult != nil || r.Cancelled != nil || r.Completed != nil
}

// decision waits for what becomes of a leaf.
func (s *session) decision(ctx context.Context, receipt wire.Receipt) (wire.Receipt, error) {
	for !decided(receipt) {
		var now wire.Receipt
		if err := s.ask(ctx, "GET", s.path("/jobs/"+receipt.Job+"/receipt?wait=decided"), nil, &now); err != nil {
			return receipt, err
		}
		receipt = now
	}
	return receipt, nil
}

func (s *session) facts() jsontext.Value {
	text, err := json.Marshal(struct {
		Cwd  string `json:"cwd"`
		Call string `json:"call,omitzero"`
	}{s.p.Cwd, s.p.Call})
	if err != nil {
		return nil
	}
	return text
}

// permission answers the client's own question to its person: with yes where
// the kernel licensed that very call a moment ago, else not at all. One license
// answers one question.
func (s *session) permission(ctx context.Context) Reply {
	if s.Asks == nil || !s.Asks(s.p) {
		return Reply{}
	}
	var same wire.SameCalls
	reply := Reply{}
	s.each(func() bool {
		err := s.ask(ctx, "POST", s.path("/same"), wire.Same{Name: s.p.Tool, Arguments: s.p.Arguments, Cwd: s.p.Cwd}, &same)
		for _, c := range same.Calls {
			if c.BodyStarted && s.ask(ctx, "POST", s.path("/jobs/"+c.ID+"/heard"), nil, new(wire.Wrote)) == nil {
				reply = s.Pass(s.p, "allowed")
				return true
			}
		}
		return err != nil
	})
	return reply
}

// each looks into the sessions of the client's id, one after the other, until it has
// found what it looks for or there is none any more: what is another agent's in them
// is not told.
func (s *session) each(found func() bool) {
	for s.beside = 0; s.beside <= maxBeside && !found(); s.beside++ {
	}
}

// after tells the kernel what became of a call: the kernel holds it against what was
// licensed. It stops nothing any more, so what goes wrong is told to nobody but the
// log.
func (s *session) after(ctx context.Context) {
	report := wire.Report{ID: s.call(), Name: s.p.Tool, Arguments: s.p.Arguments, Facts: s.facts(), OK: s.p.Moment == After, Text: s.result()}
	known := false
	s.each(func() bool {
		err := s.ask(ctx, "POST", s.path("/ran"), report, new(wire.Reported))
		known = err == nil
		return !errors.Is(err, wire.NoJob)
	})
	if known {
		return
	}
	// In no session of the client's id it was ever asked for.
	s.beside, report.Unasked = 0, true
	_ = s.mine(func() error {
		return s.opened(ctx, func() error { return s.ask(ctx, "POST", s.path("/ran"), report, new(wire.Reported)) })
	})
}

// longestResult is how much of a tool's result is kept, in bytes.
const longestResult = 64 << 10

// result is what a tool gave, as text.
func (s *session) result() (text string) {
	if json.Unmarshal(s.p.Result, &text) != nil {
		text = string(s.p.Result)
	}
	if len(text) > longestResult {
		text = strings.ToValidUTF8(text[:longestResult], "") + fmt.Sprintf(" [%d bytes left out]", len(text)-longestResult)
	}
	return text
}

// settings refuses a change of the client's settings that would switch its hooks
// off.
func (s *session) settings() Reply {
	if s.p.File == "" {
		return s.Refuse(s.p, "it is not said which settings have changed")
	}
	connected := s.Connected != nil && s.Connected(s.p.File)
	text, err := s.ReadFile(s.p.File)
	if errors.Is(err, os.ErrNotExist) {
		if connected {
			return s.Refuse(s.p, s.p.File+" is gone, and with it the hook of assent")
		}
		return Reply{}
	}
	if err != nil {
		return s.Refuse(s.p, "the settings in "+s.p.File+" cannot be read: "+err.Error())
	}
	var settings map[string]jsontext.Value
	if err := json.Unmarshal(text, &settings, jsontext.AllowDuplicateNames(true)); err != nil {
		return s.Refuse(s.p, "the settings in "+s.p.File+" cannot be read: "+err.Error())
	}
	if v, ok := settings["disableAllHooks"]; ok && v.Kind() != 'f' {
		return s.Refuse(s.p, s.p.File+" switches hooks off, and with them assent")
	}
	if connected && !holdsEveryTool(settings["hooks"]) {
		return s.Refuse(s.p, s.p.File+" has the hook of assent no more, or not for every tool")
	}
	return Reply{}
}

// holdsEveryTool: among some hooks is assent's, before every tool.
func holdsEveryTool(hooks jsontext.Value) bool {
	var all struct {
		Before []struct {
			Matcher string `json:"matcher"`
			Hooks   []struct {
				Command string   `json:"command"`
				Args    []string `json:"args"`
			} `json:"hooks"`
		} `json:"PreToolUse"`
	}
	if len(hooks) == 0 || json.Unmarshal(hooks, &all) != nil {
		return false
	}
	for _, g := range all.Before {
		for _, h := range g.Hooks {
			if (g.Matcher == "*" || g.Matcher == "") && filepath.Base(h.Command) == "assent-hook" && len(h.Args) > 0 && h.Args[len(h.Args)-1] == "claude" {
				return true
			}
		}
	}
	return false
}

// Why says why a call may or may not run, to the agent and whoever looks on.
func Why(r wire.Receipt) string {
	var outcome struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(r.OutcomeJSON, &outcome)
	yes := r.OrchestrationResult != nil && *r.OrchestrationResult
	text := outcome.Text
	if yes {
		text = "allowed"
	} else if text == "" {
		text = "refused"
	}
	// What the policies ask about is no reason of a person's.
	person := r.LicenseReason != nil && *r.LicenseReason == "person-refused"
	if r.PolicyMessage != nil && *r.PolicyMessage != "" && !yes && !person {
		text += " (" + strings.TrimRight(*r.PolicyMessage, ".") + ")"
	}
	if r.ApprovalComment != nil && *r.ApprovalComment != "" {
		text += ". The person says: " + *r.ApprovalComment
	}
	return text
}

// Ticket is the refusal of a call whose time is over.
func Ticket(r wire.Receipt) string {
	name := cmp.Or(strconv.FormatInt(r.Number, 10), "0")
	if r.Number == 0 {
		name = r.Job
	}
	return "nobody has answered yet: call " + name + " still waits for a person. It has not run. Go on with something else, or stop and say so; " +
		"once the person has answered, the very same call made again within 24 hours gets that answer, once."
}

// Within gives a context that ends with [ErrDeadline].
func Within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, ErrDeadline)
}
