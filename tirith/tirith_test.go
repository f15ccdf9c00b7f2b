package tirith

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"assent/approval"
)

// fake is a daemon that answers as a test wants: with a text, and perhaps not at
// all until the connection ends.
type fake struct {
	*Tirith
	socket *net.UnixListener
	served sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
	asked []question
}

// serve starts a daemon that answers the known command as the scanner does, and
// everything else with f.
func serve(t *testing.T, f func(conn net.Conn, q question)) *fake {
	t.Helper()
	path := filepath.Join(short(t), "s")
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	user := uint32(os.Geteuid())
	d := &fake{socket: socket, Tirith: &Tirith{
		Socket: path, User: user, Limit: time.Minute,
		Peer: func(*net.UnixConn) (uint32, error) { return user, nil },
	}}
	d.served.Go(func() {
		for {
			conn, err := socket.Accept()
			if err != nil {
				return
			}
			d.mu.Lock()
			d.conns = append(d.conns, conn)
			d.mu.Unlock()
			d.served.Go(func() {
				defer conn.Close()
				var q question
				if json.NewDecoder(conn).Decode(&q) != nil {
					return
				}
				d.mu.Lock()
				d.asked = append(d.asked, q)
				d.mu.Unlock()
				if q.Input == known {
					io.WriteString(conn, reply("block", 1, found("curl_pipe_shell", "HIGH", "command_pattern", "")))
					return
				}
				f(conn, q)
			})
		}
	})
	t.Cleanup(d.stop)
	return d
}

func (d *fake) stop() {
	d.socket.Close()
	d.mu.Lock()
	for _, c := range d.conns {
		c.Close()
	}
	d.mu.Unlock()
	d.served.Wait()
}

// short is a folder whose path fits into the address of a socket.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "t")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// reply is an answer of the daemon.
func reply(action string, exit int, findings ...string) string {
	return fmt.Sprintf(`{"action":%q,"findings":[%s],"exit_code":%d,"bypass_honored":false,"tier_reached":3}`+"\n", action, strings.Join(findings, ","), exit)
}

func found(rule, severity, evidence, threat string) string {
	return fmt.Sprintf(`{"rule_id":%q,"severity":%q,"title":"of %s","description":"","evidence":[{"type":%q,"threat_type":%q}]}`, rule, severity, rule, evidence, threat)
}

var (
	pipe    = found("curl_pipe_shell", "HIGH", "command_pattern", "")
	plain   = found("shortened_url", "MEDIUM", "url", "")
	nested  = found("analysis_incomplete", "HIGH", "command_pattern", "")
	offline = found("analysis_incomplete", "MEDIUM", "threat_intel", "lookup_incomplete")
)

// What answers mean (law §11).
func TestAnswers(t *testing.T) {
	for _, row := range []struct {
		why, text string
		want      string // kind, result and rule of each finding, or the error
	}{
		{"nothing-found", reply("allow", 0), ""},
		{"a-block", reply("block", 1, pipe), "concrete block curl_pipe_shell"},
		{"a-warning", reply("warn", 2, plain), "concrete ask shortened_url"},
		{"a-warning-to-acknowledge", reply("warn_ack", 3, plain), "concrete ask shortened_url"},
		{"both", reply("block", 1, plain, pipe), "concrete block curl_pipe_shell, concrete ask shortened_url"},
		{"twice-the-same", reply("block", 1, pipe, pipe), "concrete block curl_pipe_shell"},
		{"a-nested-body", reply("block", 1, nested), "nested ask analysis_incomplete"},
		{"a-nested-body-and-a-warning", reply("block", 1, nested, plain), "concrete ask shortened_url, nested ask analysis_incomplete"},
		{"package-data-offline", reply("warn", 2, offline), ""},
		{"package-data-and-a-warning", reply("warn", 2, offline, plain), "concrete ask shortened_url"},
		{"package-data-that-its-policy-blocks", reply("block", 1, offline), "concrete block verdict"},
		{"package-data-of-high-severity", reply("block", 1, found("analysis_incomplete", "HIGH", "threat_intel", "lookup_incomplete")), "nested ask analysis_incomplete"},
		{"a-gap-of-another-kind", reply("warn", 2, found("analysis_incomplete", "LOW", "threat_intel", "feed_stale")), "nested ask analysis_incomplete"},
		{"a-gap-without-evidence", reply("warn", 2, `{"rule_id":"analysis_incomplete","severity":"LOW","title":"x"}`), "nested ask analysis_incomplete"},
		{"a-gap-with-two-kinds", reply("warn", 2, `{"rule_id":"analysis_incomplete","severity":"MEDIUM","title":"x","evidence":[{"type":"threat_intel","threat_type":"lookup_incomplete"},{"type":"command_pattern"}]}`), "nested ask analysis_incomplete"},
		{"for-information", reply("allow", 0, found("card", "INFO", "text", "")), ""},
		{"a-threat-that-is-known", reply("block", 1, found("malicious_package", "CRITICAL", "threat_intel", "malware")), "concrete block malicious_package"},

		{"allow-with-a-block-found", reply("allow", 0, pipe), "concrete block curl_pipe_shell"},
		{"allow-with-a-warning-found", reply("allow", 0, plain), "concrete ask shortened_url"},
		{"a-block-without-findings", reply("block", 1), "concrete block verdict"},
		{"a-warning-without-findings", reply("warn", 2), "concrete ask verdict"},
		{"a-block-that-only-warns-explain", reply("block", 1, plain), "concrete block verdict, concrete ask shortened_url"},
		{"allow-with-the-exit-of-a-block", reply("allow", 1), "concrete block verdict"},
		{"a-block-with-the-exit-of-allow", reply("block", 0), "concrete block verdict"},
		{"an-action-nobody-knows", reply("defer", 0), "concrete block verdict"},
		{"a-severity-nobody-knows", reply("allow", 0, found("new", "GRAVE", "text", "")), "concrete block new"},
		{"its-own-policy-made-more-of-it", strings.Replace(reply("block", 1, nested, plain), `"tier`, `"policy_path_used":"/p","tier`, 1),
			"concrete block verdict, concrete ask shortened_url, nested ask analysis_incomplete"},

		{"an-exit-nobody-knows", reply("allow", 9), "! it ended with 9"},
		{"an-error-beside-allow", `{"action":"allow","findings":[],"exit_code":1,"error":"invalid request","bypass_honored":false,"tier_reached":0}` + "\n", "! it says: invalid request"},
		{"bypassed", strings.Replace(reply("allow", 0), `"bypass_honored":false`, `"bypass_honored":true`, 1), "! it was told to look away"},
		{"not-looked-at", strings.Replace(reply("allow", 0), `"tier_reached":3`, `"tier_reached":0`, 1), "! it has not looked"},
		{"no-action", `{"findings":[],"exit_code":0,"bypass_honored":false,"tier_reached":1}` + "\n", "! its answer is not one"},
		{"no-findings", `{"action":"allow","exit_code":0,"bypass_honored":false,"tier_reached":1}` + "\n", "! its answer is not one"},
		{"null-findings", `{"action":"allow","findings":null,"exit_code":0,"bypass_honored":false,"tier_reached":1}` + "\n", "! its answer is not one"},
		{"no-exit", `{"action":"allow","findings":[],"bypass_honored":false,"tier_reached":1}` + "\n", "! its answer has no exit code"},
		{"an-action-twice", `{"action":"block","action":"allow","findings":[],"exit_code":0,"bypass_honored":false,"tier_reached":1}` + "\n", "! its answer cannot be read"},
		{"findings-that-are-none", `{"action":"allow","findings":{},"exit_code":0,"bypass_honored":false,"tier_reached":1}` + "\n", "! its answer cannot be read"},
		{"two-answers", reply("allow", 0) + reply("block", 1, pipe), "! its answer cannot be read: something follows it"},
		{"garbage", "hello\n", "! its answer cannot be read"},
		{"a-list", "[]\n", "! its answer cannot be read"},
		{"nothing", "", "! its answer is cut off"},
		{"cut", strings.TrimSuffix(reply("allow", 0), "\n"), "! its answer is cut off"},
		{"cut-in-the-middle", reply("block", 1, pipe)[:40] + "\n", "! its answer cannot be read"},
		{"no-text", "\xff\n", "! its answer cannot be read"},
	} {
		t.Run(row.why, func(t *testing.T) {
			d := serve(t, func(conn net.Conn, _ question) { io.WriteString(conn, row.text) })
			got := say(d.Scan(t.Context(), "x", "/"))
			if want, isError := strings.CutPrefix(row.want, "! "); isError && !strings.Contains(got, want) || !isError && got != row.want || isError != strings.HasPrefix(got, "error") {
				t.Errorf("%s\n got %q\nwant %q", row.text, got, row.want)
			}
		})
	}
}

// say is a report in few words.
func say(r Report, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	var out []string
	for _, f := range r.Findings {
		kind := "concrete"
		if f.Kind == Nested {
			kind = "nested"
		}
		out = append(out, fmt.Sprintf("%s %s %s", kind, f.Result, f.Rule))
	}
	return strings.Join(out, ", ")
}

// What the daemon is asked.
func TestQuestion(t *testing.T) {
	d := serve(t, func(conn net.Conn, _ question) { io.WriteString(conn, reply("allow", 0)) })
	for range 2 {
		if r, err := d.Scan(t.Context(), "echo '\u2028<&>'\n", "/w"); err != nil || r.By != ByDaemon {
			t.Fatal(r, err)
		}
	}
	want := question{Command: "check", Input: "echo '\u2028<&>'\n", Context: "exec", Cwd: "/w", Shell: "posix", Offline: true}
	if len(d.asked) != 3 || d.asked[0].Input != known || d.asked[1] != want || d.asked[2] != want {
		t.Errorf("asked %+v, want the known command once and then %+v twice", d.asked, want)
	}
	if r, err := d.Scan(t.Context(), " \n", "/w"); err != nil || r.By != ByNobody || len(d.asked) != 3 {
		t.Errorf("nothing to ask about: %+v, %v, asked %d times", r, err, len(d.asked))
	}
	for _, command := range []string{"a\x00b", "a\xffb", strings.Repeat("a", maxQuestion)} {
		if r, err := d.Scan(t.Context(), command, "/w"); err == nil {
			t.Errorf("%.10q: %+v", command, r)
		}
	}
}

// A daemon that hangs, whatever it has said before, ends with the time and
// leaves nothing behind.
func TestHangs(t *testing.T) {
	for why, f := range map[string]func(net.Conn){
		"silent":          func(net.Conn) {},
		"in-the-middle":   func(c net.Conn) { io.WriteString(c, `{"action":"al`) },
		"after-an-answer": func(c net.Conn) { io.WriteString(c, reply("allow", 0)) },
	} {
		t.Run(why, func(t *testing.T) {
			said := make(chan bool, 1)
			d := serve(t, func(c net.Conn, _ question) {
				f(c)
				said <- true
				io.Copy(io.Discard, c) // until it is closed
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { <-said; cancel() }()
			if r, err := d.Scan(ctx, "x", "/"); err == nil || !errors.Is(err, context.Canceled) {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
	t.Run("past-its-time", func(t *testing.T) {
		d := serve(t, func(c net.Conn, _ question) { io.Copy(io.Discard, c) })
		d.Limit = 50 * time.Millisecond
		if r, err := d.Scan(t.Context(), "x", "/"); err == nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}

// An answer without end is not read to its end.
func TestOversized(t *testing.T) {
	d := serve(t, func(c net.Conn, _ question) {
		for _, err := io.WriteString(c, `{"x":"`); err == nil; {
			_, err = io.WriteString(c, strings.Repeat("a", 1<<16))
		}
	})
	if r, err := d.Scan(t.Context(), "x", "/"); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("got %+v, %v", r, err)
	}
}

// A socket is believed only when it and who listens are the user's, before
// anything is said to it.
func TestOthers(t *testing.T) {
	for why, change := range map[string]func(*Tirith){
		"the-process-is-another-user's": func(t *Tirith) { t.Peer = func(*net.UnixConn) (uint32, error) { return t.User + 1, nil } },
		"whose-it-is-cannot-be-told":    func(t *Tirith) { t.Peer = func(*net.UnixConn) (uint32, error) { return 0, errors.New("no") } },
		"nobody-can-tell":               func(t *Tirith) { t.Peer = nil },
		"the-socket-is-another-user's":  func(t *Tirith) { t.User++; t.Peer = func(*net.UnixConn) (uint32, error) { return t.User, nil } },
		"it-is-a-file":                  func(t *Tirith) { t.Socket += ".file"; os.WriteFile(t.Socket, nil, 0o600) },
		"it-is-a-link":                  func(t *Tirith) { os.Symlink(t.Socket, t.Socket+".link"); t.Socket += ".link" },
		"it-is-not-there":               func(t *Tirith) { t.Socket += ".none" },
		"there-is-none":                 func(t *Tirith) { t.Socket = "" },
	} {
		t.Run(why, func(t *testing.T) {
			d := serve(t, func(conn net.Conn, _ question) { io.WriteString(conn, reply("allow", 0)) })
			change(d.Tirith)
			r, err := d.Scan(t.Context(), "secret", "/")
			d.stop()
			if err == nil || len(d.asked) > 0 {
				t.Errorf("got %+v, %v; it was asked %v", r, err, d.asked)
			}
		})
	}
}

// Who lets a known bad command pass is not the scanner.
func TestBlind(t *testing.T) {
	path := filepath.Join(short(t), "s")
	socket, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	go func() {
		for {
			conn, err := socket.Accept()
			if err != nil {
				return
			}
			io.WriteString(conn, reply("allow", 0))
			conn.(*net.UnixConn).CloseWrite()
			io.Copy(io.Discard, conn)
			conn.Close()
		}
	}()
	user := uint32(os.Geteuid())
	s := &Tirith{Socket: path, User: user, Peer: func(*net.UnixConn) (uint32, error) { return user, nil }}
	if r, err := s.Scan(t.Context(), "x", "/"); !errors.Is(err, errBlind) {
		t.Errorf("got %+v, %v", r, err)
	}
}

// program writes a program of the scanner that a test wants: it gets the command
// as $8. The known command is answered as the scanner does.
func program(t *testing.T, body string) *Tirith {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tirith")
	text := "#!/bin/sh\n" +
		"[ \"$*\" = \"check --json --non-interactive --offline --no-daemon -- $7\" ] || { echo \"unexpected: $*\" >&2; exit 2; }\n" +
		"if [ \"$7\" = '" + known + "' ]; then echo '" + processReply("block", pipe) + "'; exit 1; fi\n" + body
	// Written by a process of its own: a copy of the descriptor in a child that
	// another test is starting would make the program busy.
	cat := command(t, "sh", "-c", `cat > "$1" && chmod 700 "$1"`, "sh", path)
	cat.Stdin = strings.NewReader(text)
	if out, err := cat.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	return &Tirith{Program: path, Env: Environ(os.Getenv), User: uint32(os.Geteuid()), Limit: time.Minute}
}

func processReply(action string, findings ...string) string {
	return fmt.Sprintf(`{"action":%q,"findings":[%s],"bypass_honored":false,"schema_version":3,"tier_reached":3}`, action, strings.Join(findings, ","))
}

func TestProcess(t *testing.T) {
	allow := processReply("allow")
	for _, row := range []struct{ why, body, want string }{
		{"allow", "echo '" + allow + "'", ""},
		{"block", "echo '" + processReply("block", pipe) + "'; exit 1", "concrete block curl_pipe_shell"},
		{"warn", "echo '" + processReply("warn", plain) + "'; exit 2", "concrete ask shortened_url"},
		{"it-complains-beside-its-answer", "echo careful >&2; echo '" + allow + "'", ""},
		{"allow-and-the-exit-of-a-block", "echo '" + allow + "'; exit 1", "concrete block verdict"},
		{"a-block-and-the-exit-of-allow", "echo '" + processReply("block", pipe) + "'", "concrete block curl_pipe_shell"},
		{"an-exit-nobody-knows", "echo '" + allow + "'; exit 9", "! it ended with 9"},
		{"another-version", "echo '" + strings.Replace(allow, ":3,", ":4,", 1) + "'", "! of another version"},
		{"no-version", "echo '" + strings.Replace(allow, `"schema_version":3,`, "", 1) + "'", "! of another version"},
		{"a-mistake-in-the-question", "echo 'error: unexpected argument' >&2; exit 2", "! it says: error: unexpected argument"},
		{"silent", "exit 0", "! cannot be read"},
		{"garbage", "echo hello", "! cannot be read"},
		{"two-answers", "echo '" + allow + "'; echo '" + allow + "'", "! something follows it"},
		{"killed-before-it-says-anything", "kill -9 $$", "! it was ended (signal: killed)"},
		{"killed-mid-way", "printf '{\"action\":\"al'; kill -9 $$", "! it was ended (signal: killed)"},
		{"killed-when-it-had-answered", "echo '" + allow + "'; kill -9 $$", "! it was ended (signal: killed)"},
		{"without-end", "exec cat /dev/zero", "! too long"},
	} {
		t.Run(row.why, func(t *testing.T) {
			got := say(program(t, row.body).Scan(t.Context(), "x", "/"))
			if want, isError := strings.CutPrefix(row.want, "! "); isError && !strings.Contains(got, want) || !isError && got != row.want || isError != strings.HasPrefix(got, "error") {
				t.Errorf("%s\n got %q\nwant %q", row.body, got, row.want)
			}
		})
	}
}

// A process that hangs ends with the time, and what it started with it.
func TestProcessHangs(t *testing.T) {
	dir := t.TempDir()
	pids := filepath.Join(dir, "pids")
	if err := syscall.Mkfifo(pids, 0o600); err != nil {
		t.Fatal(err)
	}
	s := program(t, `cat "$PWD/never" & trap '' TERM; echo $$ $! > "$PWD/pids"; cat "$PWD/never"`)
	if err := syscall.Mkfifo(filepath.Join(dir, "never"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var leader, child int
	read := make(chan error, 1)
	go func() {
		text, err := os.ReadFile(pids)
		if err == nil {
			_, err = fmt.Sscan(string(text), &leader, &child)
		}
		read <- err
		cancel()
	}()
	if r, err := s.Scan(ctx, "x", dir); !errors.Is(err, context.Canceled) {
		t.Errorf("got %+v, %v", r, err)
	}
	if err := <-read; err != nil {
		t.Fatal(err)
	}
	gone(t, leader)
	gone(t, child)
}

// The process hears nothing of the environment that could change its answer.
func TestEnviron(t *testing.T) {
	env := Environ(func(name string) string {
		return map[string]string{"HOME": "/h", "TIRITH": "0", "TIRITH_OFFLINE": "0", "XDG_STATE_HOME": "/s", "HTTP_PROXY": "x", "LD_PRELOAD": "x"}[name]
	})
	if got := strings.Join(env, " "); got != "TIRITH_OFFLINE=1 TIRITH_LOG=0 NO_COLOR=1 HOME=/h XDG_STATE_HOME=/s" {
		t.Errorf("got %s", got)
	}
}

// The daemon is asked first, and the process where the daemon does not answer as
// it should.
func TestFallBack(t *testing.T) {
	for why, row := range map[string]struct {
		daemon string
		by     Way
	}{
		"the-daemon-answers": {reply("allow", 0), ByDaemon},
		"it-does-not":        {"hello\n", ByProcess},
		"it-says-an-error":   {`{"action":"allow","findings":[],"exit_code":1,"error":"x","bypass_honored":false,"tier_reached":0}` + "\n", ByProcess},
	} {
		t.Run(why, func(t *testing.T) {
			d := serve(t, func(c net.Conn, _ question) { io.WriteString(c, row.daemon) })
			p := program(t, "echo '"+processReply("warn", plain)+"'; exit 2")
			d.Program, d.Env = p.Program, p.Env
			r, err := d.Scan(t.Context(), "x", "/")
			if err != nil || r.By != row.by {
				t.Errorf("got %+v, %v; want it by the %s", r, err, row.by)
			}
		})
	}
}

// After whatever went wrong there are as many goroutines and open files as before.
func TestNothingStays(t *testing.T) {
	files := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("open files cannot be counted here")
		}
		return len(all)
	}
	d := serve(t, func(c net.Conn, q question) {
		switch q.Input {
		case "garbage":
			io.WriteString(c, "hello\n")
		case "cut":
			io.WriteString(c, "{")
		case "hangs":
			io.Copy(io.Discard, c)
		default:
			io.WriteString(c, reply("allow", 0))
		}
	})
	p := program(t, "case $7 in killed) kill -9 $$;; hangs) while :; do :; done;; *) echo hello; esac")
	once := func(inputs ...string) {
		for _, input := range inputs {
			ctx := t.Context()
			if input == "hangs" {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 20*time.Millisecond)
				defer cancel()
			}
			d.Scan(ctx, input, "/")
			p.Scan(ctx, input, "/")
		}
	}
	once("fine", "garbage")
	goroutines, open := runtime.NumGoroutine(), files()
	for range 3 {
		once("fine", "garbage", "cut", "hangs", "killed")
	}
	d.mu.Lock()
	for _, c := range d.conns {
		c.Close()
	}
	d.mu.Unlock()
	// What serves the last connections ends in its own time.
	deadline, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for runtime.NumGoroutine() > goroutines || files() > open {
		if deadline.Err() != nil {
			t.Fatalf("%d goroutines and %d files, before it were %d and %d", runtime.NumGoroutine(), files(), goroutines, open)
		}
		runtime.Gosched()
	}
}

// The strictest findings are kept, whatever their number.
func TestManyFindings(t *testing.T) {
	var all []string
	for i := range 1000 {
		all = append(all, found(fmt.Sprintf("w%d", i), "LOW", "url", ""))
	}
	d := serve(t, func(c net.Conn, _ question) { io.WriteString(c, reply("block", 1, append(all, pipe)...)) })
	r, err := d.Scan(t.Context(), "x", "/")
	if err != nil || len(r.Findings) != maxFindings || r.Findings[0].Result != approval.Block || r.Findings[0].Title != "of curl_pipe_shell" {
		t.Errorf("%d findings, %v: %+v", len(r.Findings), err, r)
	}
}
