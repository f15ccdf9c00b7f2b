//go:build linux || darwin

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"

	"assent/front/api/wire"
	"assent/kernel"
	"assent/plexus"
)

// A call that ran and was not licensed so is told by watch, on the desktop, in the log
// and in the status.
func TestWhatRanUnlicensedIsTold(t *testing.T) {
	k := newPrompted(t, "manual")
	bin, told := filepath.Join(k.home, "bin"), filepath.Join(k.home, "told")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(told, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"notify-send", "osascript"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" >"+told+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w := k.watches([]string{"PATH=" + bin + ":" + os.Getenv("PATH")}, "--notify")
	k.asks("a", "Bash", `{"command":"frob"}`)
	asked := w.until("asked", "a")
	ran := func(id, arguments string) {
		t.Helper()
		report := kernel.Report{ID: id, Name: "Bash", Arguments: []byte(arguments), OK: true, Text: "RAN", Unasked: true}
		if _, err := k.kernel.RanSo(t.Context(), "s", report, plexus.Writer{Role: plexus.Agent, Name: "hook"}); err != nil {
			t.Fatal(err)
		}
	}
	ran("a", `{"command":"frob twice"}`)
	if h := w.until("ran", "a"); h.How != "waiting" || h.Tool != "Bash" || h.Number != asked.Number || string(h.Arguments) != `{"command":"frob twice"}` {
		t.Errorf("got %+v", h)
	}
	ran("b", `{"command":"ls"}`)
	if h := w.until("ran", "b"); h.How != "unasked" || h.Number <= asked.Number {
		t.Errorf("got %+v", h)
	}
	for _, want := range []string{"A call waits: Bash", "A call ran unlicensed: Bash", "A call ran unlicensed: Bash"} {
		if text, err := os.ReadFile(told); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("the notification is %q, %v; want %q", text, err, want)
		}
	}
	w.ends()

	says := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("assent", args...)
		cmd.Env = append(os.Environ(), "HOME="+k.home)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for _, row := range []struct {
		args []string
		want []string
	}{
		{[]string{"log"}, []string{"RAN UNANSWERED", "RAN UNASKED", `2 calls ran and were not licensed so; "assent show CALL" says how.`}},
		{[]string{"log", "--result", "ran", "--limit", "1"}, []string{"RAN UNASKED", "1 call ran and was not licensed so"}},
		{[]string{"show", "b"}, []string{"and nobody was asked about it", "RAN"}},
		{[]string{"status"}, []string{"! ran", "Bash ran in session s", "(unasked); see: assent log --result ran"}},
	} {
		got := says(row.args...)
		for _, want := range row.want {
			if !strings.Contains(got, want) {
				t.Errorf("%v does not say %q:\n%s", row.args, want, got)
			}
		}
	}
	var calls wire.Calls
	if err := json.Unmarshal([]byte(says("log", "--result", "ran", "--json")), &calls); err != nil || len(calls.Calls) != 2 || calls.Calls[1].Ran.How != "waiting" {
		t.Errorf("got %+v, %v", calls, err)
	}
}
