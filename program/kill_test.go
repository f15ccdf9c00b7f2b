package program_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"assent/job"
	"assent/kernel"
	"assent/plexus"
	"assent/program"
)

// The variables by which a test runs this program again as one life of a kernel.
const (
	lifeDir   = "ASSENT_TEST_PROGRAM_LIFE"
	lifePoint = "ASSENT_TEST_PROGRAM_POINT" // it dies at this one, 0 for none
	allPoints = "ASSENT_TEST_STORM"         // all points, and not only some
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(lifeDir); dir != "" {
		if err := child(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// mortal is a document before and after each write to which its process may die.
type mortal struct {
	*plexus.Store
	point func()
}

func (m mortal) Apply(ctx context.Context, tx plexus.Tx) (plexus.Rev, error) {
	m.point()
	rev, err := m.Store.Apply(ctx, tx)
	m.point()
	return rev, err
}

// steps does three things, each of which depends on the one before.
const steps = `(define (after text) (work (string-append text "+")))
(display (after (after (work ""))))
(guard (e (#t (car (error-object-irritants e)))) (work "fail"))`

// child is a life: it has a program run to its end.
func child(dir string) error {
	last, err := strconv.ParseInt(os.Getenv(lifePoint), 10, 64)
	if err != nil {
		return err
	}
	doc, err := plexus.Open(filepath.Join(dir, "document"), plexus.Options{})
	if err != nil {
		return err
	}
	var points atomic.Int64
	document := mortal{doc, func() {
		if points.Add(1) == last {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // it has not come yet
		}
	}}
	tools, life := new(job.Registry), make(late, 1)
	work := func(_ context.Context, call job.Call) (job.Outcome, error) {
		var a struct {
			Text string `json:"text"`
		}
		if call.Resumed && call.Begun { // as a command does it (law §7)
			return job.Outcome(`{"ok":true,"text":"?"}`), nil
		}
		f, err := os.OpenFile(filepath.Join(dir, "ran"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(call.Decode(&a), errOf(fmt.Fprintln(f, call.Job)), f.Close()); err != nil {
			return nil, err
		}
		if a.Text == "fail" {
			return job.Outcome(`{"ok":false,"text":"no"}`), nil
		}
		return job.Text(a.Text + string(call.Job)), nil
	}
	err = errors.Join(
		tools.RegisterTool(job.SystemTool, "work", nil, work),
		program.Register(tools, program.Options{Host: life, Tools: []job.Tool{{Kind: job.SystemTool, Name: "work", Needs: []string{"text"}}}}),
	)
	if err != nil {
		return err
	}
	k, err := kernel.Open(context.Background(), kernel.Options{Document: document, Registry: tools})
	if err != nil {
		return err
	}
	life <- k
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := k.CreateSession(ctx, kernel.NewSession{ID: "s", Mode: "yolo", Workspace: dir}, ada); err != nil && !errors.Is(err, plexus.ErrWritten) {
		return err
	}
	call := kernel.NewCall{Session: "s", ID: "p", Kind: job.ProgrammaticJob, Name: program.Name, Arguments: []byte(`{"expr":` + plexus.Text(steps) + `}`)}
	if _, err := k.Admit(ctx, call, host); err != nil && !errors.Is(err, plexus.ErrWritten) {
		return err
	}
	if _, err := k.Await(ctx, "s", "p"); err != nil {
		return err
	}
	return errors.Join(k.Close(), doc.Close())
}

func errOf(_ int, err error) error { return err }

// A life is killed at every point. The next brings the program to its end; no call runs
// twice, and what is not known of one is what its body says.
func TestKilledInTheMiddleOfAProgram(t *testing.T) {
	step := 1
	if os.Getenv(allPoints) == "" {
		step = 5
	}
	if testing.Short() {
		step = 17
	}
	point, killed := 1, 0
	for ; ; point += step {
		dir := t.TempDir()
		was := false
		for _, at := range []int{point, 0} {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), lifeDir+"="+dir, lifePoint+"="+strconv.Itoa(at))
			out, err := cmd.CombinedOutput()
			if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
				was = true
				continue
			}
			if err != nil {
				t.Fatalf("point %d: %v\n%s", point, err, out)
			}
			break
		}
		checkLife(t, point, dir)
		if !was {
			break
		}
		killed++
	}
	if killed < 30/step {
		t.Errorf("only %d kills: is every write a point?", killed)
	}
	t.Logf("%d kills up to point %d", killed, point)
}

func checkLife(t *testing.T, point int, dir string) {
	t.Helper()
	doc, err := plexus.Open(filepath.Join(dir, "document"), plexus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer doc.Close()
	snap, err := doc.Session(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	ran, _ := os.ReadFile(filepath.Join(dir, "ran"))
	lost := 0
	for i := 1; i <= 4; i++ {
		id := fmt.Sprintf("p.%d", i)
		n := strings.Count(string(ran), id+"\n")
		unknown := strings.Contains(snap.Fields[id][plexus.OutcomeJSON].Value, "?") && !strings.Contains(snap.Fields[id][plexus.OutcomeJSON].Value, id)
		if unknown {
			lost++
		}
		if n > 1 || n == 0 && !unknown {
			t.Errorf("point %d: %s ran %d times, and its outcome is %s", point, id, n, snap.Fields[id][plexus.OutcomeJSON].Value)
		}
	}
	got := snap.Fields["p"][plexus.OutcomeJSON].Value
	if want := `{"ok":true,"text":"failed","output":"p.1+p.2+p.3","calls":4}`; got != want && lost == 0 || len(snap.Jobs) != 5 || lost > 1 {
		t.Errorf("point %d: %d jobs, %d of which nothing is known, and it ended with %s", point, len(snap.Jobs), lost, got)
	}
}
