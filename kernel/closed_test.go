package kernel

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// A life is closed at any write, while calls come, bodies run and people
// answer. The next one brings all to its end.
func TestClosedAtAnySavePoint(t *testing.T) {
	step := int64(9)
	if testing.Short() {
		step = 40
	}
	for last := int64(1); ; last += step {
		dir := t.TempDir()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		var points atomic.Int64
		reached := make(chan struct{})
		first, err := begin(dir, func(string) {
			if points.Add(1) == last {
				close(reached)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		played := make(chan error, 1)
		playing, stop := context.WithCancel(ctx)
		go func() { played <- first.play(playing) }()
		closed := false
		select {
		case <-reached:
			closed = true
		case err = <-played:
			played <- nil
		case <-ctx.Done():
			err = errors.New("it hangs")
		}
		err = errors.Join(err, first.k.Close())
		stop()
		<-played // its calls were refused, or it was done
		if err = errors.Join(err, first.doc.Close(), first.acks.Close()); err != nil {
			t.Fatalf("closed at point %d: %v", last, err)
		}

		second, err := begin(dir, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		err = second.play(ctx)
		if err := errors.Join(err, second.end()); err != nil {
			t.Errorf("closed at point %d: %v", last, err)
		}
		cancel()
		check(t, dir)
		if t.Failed() {
			t.Fatalf("closed at point %d", last)
		}
		if !closed {
			t.Logf("%d points", points.Load())
			return
		}
	}
}
