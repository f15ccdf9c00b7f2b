package agent_test

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

	"github.com/google/go-cmp/cmp"

	"assent/job"
	"assent/kernel"
	"assent/model"
	"assent/model/scripted"
	"assent/plexus"
	"assent/turn"
)

// The variables by which a test runs this program again as one life of a kernel.
const (
	lifeDir   = "ASSENT_TEST_AGENT_LIFE"
	lifeURL   = "ASSENT_TEST_AGENT_URL"
	lifePoint = "ASSENT_TEST_AGENT_POINT" // it dies at this one, 0 for none
	allRounds = "ASSENT_TEST_STORM"       // all points, and not only some
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

func newTurn(id, facts string) kernel.NewCall {
	return kernel.NewCall{Session: "s", ID: id, Kind: job.SessionTurn, Name: turn.Name, Arguments: []byte(`{"prompt":"go"}`), Facts: facts}
}

// child is a life: it has a turn gone through, and ends with it.
func child(dir string) error {
	last, err := strconv.ParseInt(os.Getenv(lifePoint), 10, 64)
	if err != nil {
		return err
	}
	var points atomic.Int64
	l, err := begin(dir, os.Getenv(lifeURL), model.OpenAI, func(string) {
		if points.Add(1) == last {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // it has not come yet
		}
	}, func(_ context.Context, call job.Call) (job.Outcome, error) {
		if call.Resumed && call.Begun { // as a command does it (law §7)
			return job.Outcome(`{"ok":false,"text":"it may have run"}`), nil
		}
		f, err := os.OpenFile(filepath.Join(dir, "ran"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		_, err = fmt.Fprintln(f, call.Job)
		return job.Text(string(call.Job)), errors.Join(err, f.Close())
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := l.kernel.CreateSession(ctx, kernel.NewSession{ID: "s", Mode: "yolo", Workspace: dir}, ada); err != nil && !errors.Is(err, plexus.ErrWritten) {
		return err
	}
	if _, err := l.kernel.Admit(ctx, newTurn("t", ""), ada); err != nil && !errors.Is(err, plexus.ErrWritten) {
		return err
	}
	if _, err := awaited(ctx, l.doc, "s", "t", plexus.Completed); err != nil {
		return err
	}
	return l.end()
}

// A life is killed at every point: before and after each write, and at each word of the
// model. The next goes on; no call runs twice, none is lost, and every question
// begins with the one before it.
func TestKilledInTheMiddleOfRounds(t *testing.T) {
	step := 1
	if os.Getenv(allRounds) == "" {
		step = 5
	}
	if testing.Short() {
		step = 17
	}
	work := func(id string) scripted.Call { return call(id, "work", `{}`) }
	point, killed := 1, 0
	for ; ; point += step {
		dir := t.TempDir()
		server := scripted.Start(t, rounds(
			scripted.Reply{Text: "First two at once.", Calls: []scripted.Call{work("a"), work("b")}},
			scripted.Reply{Text: "Then one.", Calls: []scripted.Call{work("c")}},
			scripted.Reply{Text: "All is done."},
		))
		was := false
		for _, at := range []int{point, 0} {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), lifeDir+"="+dir, lifeURL+"="+server.URL, lifePoint+"="+strconv.Itoa(at))
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
		checkLife(t, point, dir, server.Asked())
		if !was {
			break
		}
		killed++
	}
	if killed < 40/step {
		t.Errorf("only %d kills: is every write a point?", killed)
	}
	t.Logf("%d kills up to point %d", killed, point)
}

func checkLife(t *testing.T, point int, dir string, asks []scripted.Ask) {
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
	if got := snap.Fields["t"][plexus.OutcomeJSON].Value; got != `{"ok":true,"text":"All is done."}` {
		t.Errorf("point %d: the turn ended with %s", point, got)
	}
	ran, _ := os.ReadFile(filepath.Join(dir, "ran"))
	for _, id := range []string{"t.1.1", "t.1.2", "t.2.1"} {
		n := strings.Count(string(ran), id+"\n")
		outcome := snap.Fields[id][plexus.OutcomeJSON].Value
		honest := n == 1 && strings.Contains(outcome, id) || n <= 1 && strings.Contains(outcome, "may have run")
		if !honest {
			t.Errorf("point %d: %s ran %d times, and its outcome is %s", point, id, n, outcome)
		}
	}
	if len(snap.Jobs) != 4 || len(asks) < 3 || len(asks) > 4 {
		t.Errorf("point %d: %d jobs, %d questions", point, len(snap.Jobs), len(asks))
	}
	for i := 1; i < len(asks); i++ {
		before, now := tellMessages(asks[i-1:i]), tellMessages(asks[i:i+1])
		if len(now) < len(before) || !cmp.Equal(before, now[:len(before)]) {
			t.Errorf("point %d: question %d:\n%s\nand then\n%s", point, i, strings.Join(before, "\n"), strings.Join(now, "\n"))
		}
	}
}
