//go:build unix

package toolkit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"assent/approval"
	"assent/job"

	"github.com/go-json-experiment/json"
)

// ground is a workspace with something beside it that nobody may open.
type ground struct {
	t       *testing.T
	ws, out string
}

const secret = "not for you"

func newGround(t *testing.T) ground {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := ground{t, filepath.Join(top, "ws"), filepath.Join(top, "out")}
	g.file("ws/a.txt", "one\ntwo\nthree\n")
	g.file("ws/src/main.go", "package main\n")
	g.file("out/secret", secret)
	return g
}

func (g ground) at(name string) string { return filepath.Join(filepath.Dir(g.ws), name) }

func (g ground) file(name, content string) {
	g.t.Helper()
	must(g.t, os.MkdirAll(filepath.Dir(g.at(name)), 0o755))
	must(g.t, os.WriteFile(g.at(name), []byte(content), 0o644))
}

func (g ground) content(name string) string {
	b, err := os.ReadFile(g.at(name))
	if err != nil {
		return "(" + plain(err).Error() + ")"
	}
	return string(b)
}

// call is a licensed call with these prepared paths.
func (g ground) call(name, arguments string, paths ...string) job.Call {
	c := job.Call{Kind: job.SystemTool, Name: name, Arguments: []byte(arguments), Workspace: g.ws, RealWorkspace: g.ws}
	if name == "write" || name == "edit" {
		c.Kind = job.FileMutateTool
	}
	for _, p := range paths {
		c.Paths = append(c.Paths, approval.Path(p))
	}
	return c
}

func opensAll(context.Context, job.Call, string) error { return nil }

// do runs a call as a starter would.
func do(t *testing.T, call job.Call) (out struct {
	OK   bool
	Text string
	Diff string
	More bool
	Cut  bool
	Rest map[string]any `json:",inline"`
}) {
	t.Helper()
	var r job.Registry
	if _, err := Register(&r, Options{Env: []string{"PATH=/usr/bin:/bin"}, Opens: opensAll}); err != nil {
		t.Fatal(err)
	}
	e, ok := r.Lookup(call.Kind, call.Name)
	if !ok {
		t.Fatalf("no body for %s %s", call.Kind, call.Name)
	}
	text, err := e.Body(context.Background(), call)
	must(t, err)
	must(t, json.Unmarshal(text, &out, json.MatchCaseInsensitiveNames(true)))
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What was put into the place of a judged path after the vote is met, and not
// followed.
func TestWhatIsPutInThePlaceOfAJudgedPathIsNotOpened(t *testing.T) {
	for _, row := range []struct {
		name  string
		swap  func(g ground)
		path  string
		want  string
		reads bool // reading it is refused; a write may replace nothing either
	}{
		{"a link instead of the file", func(g ground) {
			must(g.t, os.Remove(g.at("ws/a.txt")))
			must(g.t, os.Symlink(g.at("out/secret"), g.at("ws/a.txt")))
		}, "a.txt", "link", true},
		{"a link inside the workspace", func(g ground) {
			g.file("ws/.env", secret)
			must(g.t, os.Remove(g.at("ws/a.txt")))
			must(g.t, os.Symlink(".env", g.at("ws/a.txt")))
		}, "a.txt", "link", true},
		{"a link instead of a folder above", func(g ground) {
			g.file("out/src/main.go", secret)
			must(g.t, os.RemoveAll(g.at("ws/src")))
			must(g.t, os.Symlink(g.at("out/src"), g.at("ws/src")))
		}, "src/main.go", "link", true},
		{"a link instead of the workspace", func(g ground) {
			g.file("other/a.txt", secret)
			must(g.t, os.Rename(g.ws, g.at("moved")))
			must(g.t, os.Symlink(g.at("other"), g.ws))
		}, "a.txt", "link", true},
		{"a link instead of an authorized file outside", func(g ground) {
			g.file("out/known", "fine")
			must(g.t, os.Remove(g.at("out/known")))
			must(g.t, os.Symlink("secret", g.at("out/known")))
		}, "../out/known", "link", true},
		{"a pipe", func(g ground) {
			must(g.t, os.Remove(g.at("ws/a.txt")))
			must(g.t, syscall.Mkfifo(g.at("ws/a.txt"), 0o644))
		}, "a.txt", "a pipe", true},
		{"a folder", func(g ground) {
			must(g.t, os.Remove(g.at("ws/a.txt")))
			must(g.t, os.Mkdir(g.at("ws/a.txt"), 0o755))
		}, "a.txt", "folder", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := newGround(t)
			row.swap(g)
			path := row.path
			if strings.HasPrefix(path, "../") {
				path = filepath.Join(g.ws, path)
			}
			for _, call := range []job.Call{
				g.call("read", `{"path":"x"}`, path),
				g.call("grep", `{"pattern":"."}`, path),
				g.call("write", `{"path":"x","content":"mine"}`, path),
				g.call("edit", `{"path":"x","edits":[{"oldText":"o","newText":"mine","replaceAll":true}]}`, path),
			} {
				call.RealWorkspace = g.ws
				if call.Name == "grep" && row.want == "folder" {
					continue
				}
				out := do(t, call)
				if out.OK || !strings.Contains(out.Text, row.want) || strings.Contains(out.Text, secret) {
					t.Errorf("%s: %+v, want a refusal for %q", call.Name, out, row.want)
				}
			}
			for _, name := range []string{"out/secret", "ws/.env", "other/a.txt", "out/src/main.go"} {
				if got := g.content(name); strings.Contains(got, "mine") {
					t.Errorf("%s was written: %q", name, got)
				}
			}
		})
	}
}

func TestOnlyPreparedPathsAreOpened(t *testing.T) {
	g := newGround(t)
	for _, row := range []struct {
		name  string
		paths []string
		want  string
	}{
		{"what was judged, whatever the argument says", []string{"a.txt"}, "one"},
		{"no path was judged", nil, "0 paths"},
		{"two were", []string{"a.txt", "src/main.go"}, "2 paths"},
		{"one that could not be told", []string{""}, "not known"},
		{"one that climbs out", []string{"../out/secret"}, "not known"},
		{"one that is not clean", []string{"src/../a.txt"}, "not known"},
		{"the host's own processes", []string{"/proc/self/environ"}, "/proc"},
		{"a device", []string{"/dev/zero"}, "/dev"},
		{"the root", []string{"/"}, "folder"},
		{"outside, authorized", []string{g.at("out/secret")}, secret},
	} {
		t.Run(row.name, func(t *testing.T) {
			out := do(t, g.call("read", `{"path":"../out/secret"}`, row.paths...))
			if !strings.Contains(out.Text, row.want) || row.want != secret && strings.Contains(out.Text, secret) {
				t.Errorf("%+v, want %q", out, row.want)
			}
		})
	}
}

// A link is exchanged with a file as fast as can be: what is read is always
// what has the judged name, and never what the link leads to.
func TestALinkThatComesAndGoesIsNeverFollowed(t *testing.T) {
	g := newGround(t)
	g.file("ws/dir/f", "fine")
	g.file("ws/spare/f", "fine")
	g.file("out/dir/f", secret)
	dir, link, spare := g.at("ws/dir"), g.at("ws/link"), g.at("ws/other")
	must(t, os.Symlink(g.at("out/dir"), link))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			// The folder steps aside, a link takes its place, and goes again.
			_ = os.Rename(dir, spare)
			_ = os.Rename(link, dir)
			_ = os.Rename(dir, link)
			_ = os.Rename(spare, dir)
		}
	}()
	fine, refused := 0, 0
	for range 3000 {
		if out := do(t, g.call("read", `{"path":"dir/f"}`, "dir/f")); out.OK && out.Text != "fine" {
			t.Fatalf("read %q", out.Text)
		} else if out.OK {
			fine++
		} else {
			refused++
		}
		_ = do(t, g.call("write", `{"path":"dir/g","content":"mine"}`, "dir/g"))
	}
	close(stop)
	<-done
	if _, err := os.Lstat(g.at("out/dir/g")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("written outside: %v", err)
	}
	t.Logf("%d read, %d refused", fine, refused)
}
