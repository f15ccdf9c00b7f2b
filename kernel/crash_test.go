package kernel

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// The variables by which a test runs this program again as one life.
const (
	lifeDir   = "ASSENT_TEST_LIFE"        // the folder
	lifePoint = "ASSENT_TEST_LIFE_POINT"  // play the script, and die at this point
	lifeStorm = "ASSENT_TEST_LIFE_WRITES" // so many writers, until killed
	lifeOpen  = "ASSENT_TEST_LIFE_OPEN"   // open a kernel and tell of it
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

func child(dir string) error {
	if os.Getenv(lifeOpen) != "" {
		return open(dir)
	}
	if n := os.Getenv(lifeStorm); n != "" {
		writers, err := strconv.Atoi(n)
		if err != nil {
			return err
		}
		return storm(dir, writers)
	}
	last, err := strconv.ParseInt(os.Getenv(lifePoint), 10, 64)
	if err != nil {
		return err
	}
	var points atomic.Int64
	l, err := begin(dir, func(string) {
		if points.Add(1) == last {
			die()
		}
	})
	if err != nil {
		return err
	}
	if err := l.play(context.Background()); err != nil {
		return err
	}
	return l.end()
}

// die ends the process as a kill from outside would.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // it has not come yet
}

func again(t testing.TB, dir string, env ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), append(env, lifeDir+"="+dir)...)
	return cmd
}

// killed reports whether a process was killed, and fails for any other end but
// a good one.
func killed(t testing.TB, err error, stderr string) bool {
	t.Helper()
	if err == nil {
		return false
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL {
			return true
		}
	}
	t.Fatalf("a life ended with %v\n%s", err, stderr)
	return false
}

// A life is killed at every point: before and after each write. The next one
// brings all to its end.
func TestKilledAtEverySavePoint(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 7
	}
	point := 1
	for ; ; point += step {
		dir := t.TempDir()
		cmd := again(t, dir, lifePoint+"="+strconv.Itoa(point))
		out, err := cmd.CombinedOutput()
		was := killed(t, err, string(out))
		l, err := begin(dir, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		err = l.play(ctx)
		cancel()
		if err := errors.Join(err, l.end()); err != nil {
			t.Errorf("point %d: %v", point, err)
		}
		check(t, dir)
		if t.Failed() {
			t.Fatalf("killed at point %d", point)
		}
		if !was {
			break
		}
	}
	if point < 50 {
		t.Errorf("only %d points: is every write one?", point)
	}
	t.Logf("%d points", point)
}

// storm is a life with many writers at once.
func storm(dir string, writers int) error {
	l, err := begin(dir, func(string) {})
	if err != nil {
		return err
	}
	ctx := context.Background()
	const sessions = 8
	for i := range sessions {
		mode := []string{"manual", "yolo", "auto"}[i%3]
		_, _ = l.k.CreateSession(ctx, NewSession{ID: fmt.Sprint("s", i), Mode: mode, Workspace: dir}, ada)
	}
	go func() {
		if err := l.people(ctx, func() bool { return false }); err != nil {
			panic(err)
		}
	}()
	out := bufio.NewWriter(os.Stdout)
	var mu sync.Mutex
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := 0; ; i++ {
				call, by := script[rand.IntN(len(script))].call(fmt.Sprint("s", (w+i)%sessions), l.k.NewID())
				settled, err := l.admit(ctx, call, by)
				if err != nil {
					panic(err)
				}
				<-settled
				mu.Lock()
				out.WriteByte('.')
				out.Flush()
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return nil
}

// allRounds is the variable that has the long tests run whole.
const allRounds = "ASSENT_TEST_STORM"

// Lives with 64 writers are killed from outside, one after the other, over one
// document.
func TestStorm(t *testing.T) {
	rounds := 200
	switch {
	case testing.Short():
		rounds = 10
	case os.Getenv(allRounds) == "":
		rounds = 40
	}
	if rounds < 200 {
		t.Logf("%d of 200 rounds, to save time; %s=1 runs all", rounds, allRounds)
	}
	dir := t.TempDir()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	calls := 0
	var took []time.Duration
	for round := range rounds {
		start := time.Now()
		cmd := again(t, dir, lifeStorm+"=64")
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		hangs := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		n, err := io.CopyN(io.Discard, out, int64(random.IntN(150)))
		hangs.Stop()
		calls += int(n)
		_ = cmd.Process.Kill()
		if !killed(t, cmd.Wait(), "") || err != nil {
			t.Fatalf("round %d ended by itself or hung: %v", round, err)
		}
		took = append(took, time.Since(start))
	}
	l, err := begin(dir, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	left := 0
	err = l.people(ctx, func() bool { left = max(left, l.unsettled()); return l.unsettled() == 0 })
	if err := errors.Join(err, l.end()); err != nil {
		t.Errorf("%v (%d unsettled)", err, l.unsettled())
	}
	check(t, dir)
	if left == 0 {
		t.Error("the last kill came in the middle of nothing")
	}
	tenth := len(took) / 10
	slices.Sort(took[:tenth])
	slices.Sort(took[len(took)-tenth:])
	t.Logf("%d rounds, at least %d calls settled before a kill, %d leaves were left to the last life; a round took %v in the beginning and %v in the end",
		rounds, calls, left, took[tenth/2].Round(time.Millisecond), took[len(took)-tenth+tenth/2].Round(time.Millisecond))
}
