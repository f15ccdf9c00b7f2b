package daemon

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"assent/approval"
	"assent/front/api"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/internal/config"
	"assent/internal/peer"
	"assent/internal/place"
	"assent/kernel"
	"assent/plexus"
)

// Whoever descends from the kernel, as this test does from the one it runs, is
// an agent, is called so, and is known once it has asked.
func TestBelowTheKernel(t *testing.T) {
	if !peer.Supported {
		t.Skip("everybody is an agent here")
	}
	p := somewhere(t)
	if err := place.Prepare(p, os.Geteuid()); err != nil {
		t.Fatal(err)
	}
	secret := pairedToken(t, p)
	r := start(t, p)
	defer r.stop()
	c := client.New(r.place.Socket, client.Options{Agent: true})
	defer c.Close()
	st, err := c.Status(t.Context())
	if err != nil || st.You.Role != "agent" || !strings.Contains(st.You.Name, "/") || st.Kernel != nil {
		t.Fatalf("status: %+v %v", st, err)
	}
	s, err := c.CreateSession(t.Context(), wire.NewSession{Workspace: r.place.State})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Admit(t.Context(), s.ID, wire.NewJob{ID: "j", Name: "Bash", Arguments: []byte(`{"command":"true"}`)}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(r.log.String(), "an agent is known"); n != 1 {
		t.Errorf("an agent became known %d times:\n%s", n, r.log)
	}
	if _, err := c.Answer(t.Context(), s.ID, "j", true, ""); err == nil {
		t.Error("an agent answered itself")
	}
	if !strings.Contains(st.You.Why, "descends from the kernel") {
		t.Errorf("why it is an agent: %q", st.You.Why)
	}
	// A token outweighs nothing that shows an agent.
	phone := client.New(r.place.Socket, client.Options{Token: secret})
	defer phone.Close()
	if st, err := phone.Status(t.Context()); err != nil || st.You.Role != "agent" {
		t.Errorf("with a token: %+v, %v", st, err)
	}
	// A token that is not paired is none.
	token := client.New(r.place.Socket, client.Options{Token: "x"})
	defer token.Close()
	if _, err := token.Status(t.Context()); err == nil || !strings.Contains(err.Error(), errToken.Error()) {
		t.Errorf("a token: %v", err)
	}
}

// pairedToken pairs a token before the kernel of a place runs.
func pairedToken(t *testing.T, p place.Place) string {
	t.Helper()
	document, err := plexus.Open(p.StoreFile(), plexus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer document.Close()
	tokens, err := api.OpenTokens(t.Context(), document)
	if err != nil {
		t.Fatal(err)
	}
	made, err := tokens.Pair(t.Context(), "phone", plexus.Writer{Role: plexus.Human, Name: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	return made.Secret
}

func TestWriter(t *testing.T) {
	c := &callers{gate: peer.NewGate(nil, false), names: map[uint32]string{7: "ada"}, log: slog.New(slog.DiscardHandler)}
	facts := peer.Facts{UID: 7, Whole: true, Lineage: []peer.Ancestor{{Process: peer.Process{PID: 9, Start: 5}, UID: 7}}}
	for why, row := range map[string]struct {
		who  peer.Caller
		want plexus.Writer
		err  string
	}{
		"a-person":     {peer.Caller{Role: peer.Human, Facts: facts}, plexus.Writer{Role: plexus.Human, Name: "ada"}, ""},
		"by-a-token":   {peer.Caller{Role: peer.Human, Why: peer.ByToken, Facts: facts}, plexus.Writer{Role: plexus.Human, Name: "ada@phone"}, ""},
		"an-agent":     {peer.Caller{Role: peer.Agent, Facts: facts}, plexus.Writer{Role: plexus.Agent, Name: "ada/9.5"}, ""},
		"gone":         {peer.Caller{Role: peer.Agent, Facts: peer.Facts{UID: 7}}, plexus.Writer{}, "has ended"},
		"another-user": {peer.Caller{}, plexus.Writer{}, "another user"},
		"no-such-role": {peer.Caller{Role: 9, Facts: facts}, plexus.Writer{}, "refused"},
	} {
		got, err := c.writer(row.who, "phone")
		if row.err == "" && (err != nil || got != row.want) || row.err != "" && (err == nil || !strings.Contains(err.Error(), row.err)) {
			t.Errorf("%s: got %v, %v, want %v %s", why, got, err, row.want, row.err)
		}
	}
}

// A connection speaks for the process that made it and for none that gets its
// number.
func TestHeld(t *testing.T) {
	if !peer.Supported {
		t.Skip("everybody is an agent here")
	}
	person := func(start uint64) peer.Caller {
		f := peer.Facts{UID: 7, Whole: true}
		if start > 0 {
			f.Lineage = []peer.Ancestor{{Process: peer.Process{PID: 9, Start: start}, UID: 7}}
		}
		return peer.Caller{Role: peer.Human, Facts: f}
	}
	c := &callers{gate: peer.NewGate(nil, false), names: map[uint32]string{7: "ada"}, log: slog.New(slog.DiscardHandler)}
	for why, row := range map[string]struct {
		first, then peer.Caller
		err         error
	}{
		"the-same":           {person(5), person(5), nil},
		"another-of-its-pid": {person(5), person(6), errHanded},
		"gone":               {person(5), person(0), errHanded},
		"gone-at-once":       {person(0), person(6), errHanded},
	} {
		now := row.first
		caller := c.held(func(peer.Token) peer.Caller { return now })
		now = row.then
		if by, err := caller(api.Claim{}); err != row.err || err == nil && by.Name != "ada" {
			t.Errorf("%s: got %v, %v, want %v", why, by, err, row.err)
		}
	}
}

func TestKeep(t *testing.T) {
	path := t.TempDir() + "/config.json"
	if err := os.WriteFile(path, []byte("{\n  // mine\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := config.Open(path, func(config.State) {})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	mode, grants, cover := approval.Auto, approval.Terms{MCP: approval.Endless}, approval.Classify
	if err := keep(file, api.Standing{DefaultPolicy: &mode, StandingAutoAllow: &grants, AutoCoverDeny: &cover}); err != nil {
		t.Fatal(err)
	}
	s := file.State()
	if s.Err != nil || s.Config.DefaultPolicy != mode || s.Config.AutoAllow != grants || s.Config.AutoCoverDeny != cover {
		t.Errorf("kept: %+v", s)
	}
	if err := keep(file, api.Standing{}); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := keep(file, api.Standing{DefaultPolicy: &mode}); err == nil || !strings.Contains(err.Error(), "it is in force, but") {
		t.Errorf("a broken file: %v", err)
	}
}

// Who carries the mark of an agent, or asks for one, is known from then on with
// the terminal it is in, whatever it asks: what it starts there without its marks
// is no person. Without a terminal it would be half a desktop.
func TestNoted(t *testing.T) {
	if !peer.Supported {
		t.Skip("everybody is an agent here")
	}
	self, err := peer.Self()
	if err != nil {
		t.Fatal(err)
	}
	for why, row := range map[string]struct {
		role     peer.Role
		why      peer.Why
		claim    api.Claim
		terminal int
		known    bool
		full     bool // the disk: it is known and not written down
	}{
		"a-mark":           {peer.Agent, peer.Marks, api.Claim{}, 34817, true, false},
		"by-its-word":      {peer.Human, peer.OwnTerminal, api.Claim{Agent: true}, 34817, true, false},
		"no-room":          {peer.Agent, peer.Marks, api.Claim{}, 34817, true, true},
		"no-proof":         {peer.Agent, peer.NoProof, api.Claim{}, 34817, false, false},
		"a-person":         {peer.Human, peer.OwnTerminal, api.Claim{}, 34817, false, false},
		"without-terminal": {peer.Agent, peer.Marks, api.Claim{}, 0, false, false},
	} {
		var kept atomic.Int32
		c := &callers{gate: peer.NewGate(nil, false), log: slog.New(slog.DiscardHandler), keep: func(context.Context) error { kept.Add(1); return nil }, room: func() error {
			if row.full {
				return kernel.ErrReserve
			}
			return nil
		}}
		facts := peer.Facts{UID: 7, Whole: true, Lineage: []peer.Ancestor{{Process: self, UID: 7, Session: self.PID, Terminal: row.terminal}}}
		caller := c.held(func(peer.Token) peer.Caller { return peer.Caller{Role: row.role, Why: row.why, Facts: facts} })
		for range 2 {
			if _, err := caller(row.claim); err != nil {
				t.Errorf("%s: %v", why, err)
			}
		}
		c.noting.Wait()
		if known := len(c.gate.Known().Bodies) > 0; known != row.known || (kept.Load() == 1) != (row.known && !row.full) {
			t.Errorf("%s: known %v, written down %d times; want %v", why, known, kept.Load(), row.known)
		}
	}
}
