package daemon

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"assent/approval"
	"assent/internal/config"
	"assent/internal/peer"
	"assent/internal/place"
	"assent/kernel"
	"assent/plexus"
)

// running is a daemon of this test.
type running struct {
	t     *testing.T
	place place.Place
	parts parts
	log   *lines
	end   context.CancelFunc
	ended chan error
}

type parts struct {
	Document *plexus.Store
	Kernel   *kernel.Kernel
	Config   *config.File
}

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	b    bytes.Buffer
	more chan struct{} // closed when there is more
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
	return l.b.Write(b)
}

// until waits until the log has a text.
func (l *lines) until(t *testing.T, text string) {
	t.Helper()
	for {
		l.mu.Lock()
		found := strings.Contains(l.b.String(), text)
		if l.more == nil {
			l.more = make(chan struct{})
		}
		more := l.more
		l.mu.Unlock()
		if found {
			return
		}
		select {
		case <-more:
		case <-t.Context().Done():
			t.Fatalf("never logged: %s\n%s", text, l)
		}
	}
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func somewhere(t *testing.T) place.Place {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "assent-test-") // a path that fits a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	p, err := place.Of(place.Env{Home: home, UID: os.Geteuid()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func start(t *testing.T, p place.Place, with ...func(*Options)) *running {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	r := &running{t: t, place: p, log: new(lines), end: end, ended: make(chan error, 1)}
	ready := make(chan struct{})
	o := Options{
		Place:  p,
		opened: func(d *plexus.Store, k *kernel.Kernel, f *config.File) { r.parts = parts{d, k, f} },
		Ready:  func() { close(ready) },
		Log:    slog.New(slog.NewTextHandler(r.log, nil)),
		Follow: true,
		// Where this test was started is nobody's business.
		folder: func(peer.Body) string { return "/" },
	}
	for _, f := range with {
		f(&o)
	}
	go func() { r.ended <- Run(ctx, o) }()
	t.Cleanup(end)
	select {
	case <-ready:
	case err := <-r.ended:
		t.Fatalf("not started: %v\n%s", err, r.log)
	}
	return r
}

func (r *running) stop() {
	r.t.Helper()
	r.end()
	if err := <-r.ended; err != nil {
		r.t.Errorf("ended with %v\n%s", err, r.log)
	}
}

// presence waits for what is said of the configuration.
func (r *running) presence(holds func(string) bool) {
	r.t.Helper()
	for values := range r.parts.Document.WatchPresence(r.t.Context(), "") {
		if holds(values[ConfigError]) {
			return
		}
	}
	r.t.Fatal("never said")
}

// registers waits for a register of the kernel.
func (r *running) register(name, value string) {
	r.t.Helper()
	if latest, err := r.parts.Document.Latest(r.t.Context(), ""); err == nil && latest[name].Value == value {
		return
	}
	for rows, err := range r.parts.Document.Watch(r.t.Context(), 0, plexus.Filter{}) {
		if err != nil {
			r.t.Fatal(err)
		}
		for _, row := range rows {
			if reg, ok := row.(plexus.Register); ok && reg.Session == "" && reg.Name == name && reg.Value == value {
				return
			}
		}
	}
}

func TestRun(t *testing.T) {
	p := somewhere(t)
	r := start(t, p)
	for path, mode := range map[string]fs.FileMode{p.Socket: 0o600 | fs.ModeSocket, p.Runtime: 0o700 | fs.ModeDir, p.State: 0o700 | fs.ModeDir} {
		if info, err := os.Lstat(path); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v %v, want mode %v", path, info, err, mode)
		}
	}
	if info, err := os.Stat(p.StoreFile()); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the document: %v %v", info.Mode(), err)
	}
	// One at a time.
	err := Run(t.Context(), Options{Place: p})
	if taken, ok := errors.AsType[*place.TakenError](err); !ok || taken.PID != os.Getpid() {
		t.Errorf("a second one: %v", err)
	}
	r.stop()
	if _, err := os.Lstat(p.Socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
	if _, held, err := place.Held(p.LockFile()); held || err != nil {
		t.Errorf("the lock is left: %v %v", held, err)
	}
	start(t, p).stop() // again
}

// A client's connection that stays does not keep the daemon from ending, and
// one that was never used neither.
func TestRunEndsWithClients(t *testing.T) {
	r := start(t, somewhere(t))
	idle, err := net.Dial("unix", r.place.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	c := http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", r.place.Socket)
	}}}
	resp, err := c.Get("http://assent/v1/status")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v %v", resp, err)
	}
	resp.Body.Close()
	r.stop()
}

func TestSocketLeftOver(t *testing.T) {
	p := somewhere(t)
	if err := place.Prepare(p, os.Geteuid()); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: p.Socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	// Somebody answers: left alone.
	if err := Run(t.Context(), Options{Place: p}); !errors.Is(err, ErrSocketTaken) {
		t.Errorf("got %v, want %v", err, ErrSocketTaken)
	}
	// Killed: replaced.
	l.SetUnlinkOnClose(false)
	l.Close()
	start(t, p).stop()
	// No socket: left alone.
	if err := os.WriteFile(p.Socket, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), Options{Place: p}); err == nil || !strings.Contains(err.Error(), "is no socket") {
		t.Errorf("got %v", err)
	}
}

func TestRunRefusesFoldersOfOthers(t *testing.T) {
	p := somewhere(t)
	if err := place.Prepare(p, os.Geteuid()); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(p.State, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), Options{Place: p}); !errors.Is(err, place.ErrUntrusted) {
		t.Errorf("got %v, want %v", err, place.ErrUntrusted)
	}
}

func TestConfigurationIsHot(t *testing.T) {
	p := somewhere(t)
	if err := place.Prepare(p, os.Geteuid()); err != nil {
		t.Fatal(err)
	}
	save := func(text string) {
		t.Helper()
		if err := os.WriteFile(p.ConfigFile()+"~", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(p.ConfigFile()+"~", p.ConfigFile()); err != nil {
			t.Fatal(err)
		}
	}
	save(`{"defaultPolicy": "auto", "autoAllow": {"bash": true}}`)
	r := start(t, p)
	bash, write := plexus.Value(approval.Terms{Bash: approval.Endless}), plexus.Value(approval.Terms{Write: approval.Endless})
	r.register(plexus.StandingAutoAllow, bash)
	s, err := r.parts.Kernel.CreateSession(t.Context(), kernel.NewSession{Workspace: p.Config}, plexus.Writer{Role: plexus.Human, Name: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	if view, err := r.parts.Kernel.View(t.Context(), s.ID); err != nil || view.CurrentPolicy != approval.Auto || !view.StandingAutoAllow.Bash {
		t.Errorf("a new session: %+v %v", view, err)
	}
	// Broken: what was good stays, and it is said.
	save(`{"autoAllow": {"bash": true, "write": true}, "defaultPolicy": "plan"}`)
	r.presence(func(s string) bool { return strings.Contains(s, "config.json:1:") && strings.Contains(s, "plan") })
	if view, err := r.parts.Kernel.View(t.Context(), s.ID); err != nil || view.StandingAutoAllow != (approval.Grants{Bash: true}) {
		t.Errorf("with a broken file: %+v %v", view, err)
	}
	// Mended.
	save(`{"autoAllow": {"write": true}, "autoCoverDeny": false}`)
	r.register(plexus.StandingAutoAllow, write)
	r.register(plexus.AutoCoverDeny, plexus.False)
	r.presence(func(s string) bool { return s == "" })
	// A command's choice is in the file and in force.
	if err := r.parts.Config.Set(config.AutoAllow, approval.Terms{}); err != nil {
		t.Fatal(err)
	}
	r.register(plexus.StandingAutoAllow, plexus.Value(approval.Terms{}))
	r.stop()
	// Broken at the start: the strictest, whatever was in force before.
	save(`{"autoAllow": {"write": true}}`)
	r = start(t, p)
	r.register(plexus.StandingAutoAllow, write)
	r.stop()
	save(`{"autoAllow": {"write": true}`)
	r = start(t, p)
	if latest, err := r.parts.Document.Latest(t.Context(), ""); err != nil || latest[plexus.StandingAutoAllow].Value != plexus.Value(approval.Terms{}) {
		t.Errorf("broken at the start: %v %v", latest, err)
	}
	r.presence(func(s string) bool { return strings.Contains(s, "ends in the middle") })
	r.stop()
}

// Settings that the document does not take are tried again.
func TestSettingsAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSettings()
		ctx, end := context.WithCancel(t.Context())
		begun := time.Now()
		tried := 0
		s.put(config.State{})
		s.follow(ctx, func(context.Context, config.State) error {
			if tried++; tried < 3 {
				return errors.New("the disk is full")
			}
			end()
			return nil
		}, slog.New(slog.DiscardHandler))
		if took := time.Since(begun); tried != 3 || took != 2*again {
			t.Errorf("tried %d times in %v, want 3 in %v", tried, took, 2*again)
		}
	})
}

// Whoever looks at the kernel's output sees what becomes of calls.
func TestFollow(t *testing.T) {
	r := start(t, somewhere(t))
	defer r.stop()
	ada := plexus.Writer{Role: plexus.Human, Name: "ada"}
	write := func(rows ...plexus.Row) {
		t.Helper()
		if _, err := r.parts.Document.Apply(t.Context(), plexus.Tx{Writer: ada, Writes: rows}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := r.parts.Kernel.CreateSession(t.Context(), kernel.NewSession{ID: "s", Workspace: r.place.Config, Client: "x\x1b[31m"}, ada)
	if err != nil {
		t.Fatal(err)
	}
	r.log.until(t, "msg=session id=s")
	call := func(id, command string) {
		t.Helper()
		_, err := r.parts.Kernel.Admit(t.Context(), kernel.NewCall{
			Session: s.ID, ID: id, Name: "Bash", Arguments: []byte(`{"command":` + plexus.Text(command) + `}`),
		}, plexus.Writer{Role: plexus.Agent, Name: "hook"})
		if err != nil {
			t.Fatal(err)
		}
	}
	call("j", "unknown-program")
	r.log.until(t, `msg="not allowed by the floor alone" call=s/j tool=Bash`)
	write(plexus.Field{Session: "s", Job: "j", Name: plexus.Approved, Value: plexus.True})
	r.log.until(t, `msg="answered yes" call=s/j tool=Bash by=human:ada`)
	r.log.until(t, "msg=allowed call=s/j tool=Bash")
	call("k", "unknown-program")
	write(plexus.Field{Session: "s", Job: "k", Name: plexus.Approved, Value: plexus.False})
	r.log.until(t, `msg="answered no" call=s/k`)
	r.log.until(t, "msg=refused call=s/k")
	write(plexus.Register{Name: plexus.DefaultPolicy, Value: `"auto"`})
	r.log.until(t, "msg=set name=defaultPolicy")
}
