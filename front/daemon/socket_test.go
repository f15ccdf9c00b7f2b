package daemon

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assent/front/api/client"
)

// A kernel whose socket was taken away can be reached again, and what was
// connected stays so.
func TestSocketIsMadeAgain(t *testing.T) {
	r := start(t, somewhere(t))
	defer r.stop()
	before := client.New(r.place.Socket, client.Options{})
	defer before.Close()
	ask := func(c *client.Client) error { _, err := c.Status(t.Context()); return err }
	if err := ask(before); err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{r.place.Socket, filepath.Dir(r.place.Socket)} {
		if err := os.Rename(gone, gone+".away"); err != nil { // at once
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if err := Await(ctx, r.place); err != nil {
			t.Fatalf("without %s: %v\n%s", gone, err, r.log)
		}
		cancel()
		after := client.New(r.place.Socket, client.Options{})
		if err := ask(after); err != nil {
			t.Error(err)
		}
		after.Close()
	}
	if err := ask(before); err != nil {
		t.Errorf("who was connected: %v", err)
	}
	if info, err := os.Lstat(r.place.Socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v %v", info, err)
	}
}

// A kernel in whose place something else stands ends, and leaves it there.
func TestSocketIsAnothers(t *testing.T) {
	for why, c := range map[string]struct {
		put  func(path string) error
		want string
	}{
		"a file":   {func(path string) error { return os.WriteFile(path, []byte("mine"), 0o600) }, "is no socket"},
		"a folder": {func(path string) error { return os.Mkdir(path, 0o700) }, "is no socket"},
		"another who answers": {func(path string) error {
			l, err := net.Listen("unix", path)
			if err == nil {
				t.Cleanup(func() { l.Close() })
			}
			return err
		}, ErrSocketTaken.Error()},
	} {
		r := start(t, somewhere(t))
		// Put there in one step, so that nothing is made again in between.
		beside := r.place.Socket + ".new"
		if err := c.put(beside); err != nil {
			t.Fatal(err)
		}
		if why == "a folder" {
			if err := os.Remove(r.place.Socket); err != nil {
				t.Fatal(err)
			}
		}
		err := os.Rename(beside, r.place.Socket)
		if why == "a folder" && err != nil { // it was faster
			r.end()
			<-r.ended
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := <-r.ended; err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: ended with %v", why, err)
		}
		if _, err := os.Lstat(r.place.Socket); err != nil {
			t.Errorf("%s: what was put there: %v", why, err)
		}
	}
}

// A socket that is closed is not made again.
func TestSocketClosed(t *testing.T) {
	s, err := listen(filepath.Join(t.TempDir(), "s"), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.again(func() error { return nil }); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, err := os.Lstat(s.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is there: %v", err)
	}
	if _, err := s.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept: %v", err)
	}
}
