package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
)

// An answer comes before the next row is needed: whoever pipes row by row must
// not wait for ever.
func TestRowsStream(t *testing.T) {
	in, feed := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := new(checker).rows(in, out)
		out.CloseWithError(err)
		done <- err
	}()
	r := bufio.NewReader(answers)
	for i := range 3 {
		fmt.Fprintf(feed, `{"id":%d,"name":"TodoWrite"}`+"\n", i)
		line, err := r.ReadString('\n')
		if want := fmt.Sprintf(`{"id":%d,`, i); err != nil || !strings.HasPrefix(line, want) {
			t.Fatalf("row %d: got %q, %v", i, line, err)
		}
	}
	feed.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Rows are judged side by side and answered in their order.
func TestRowsKeepTheirOrder(t *testing.T) {
	const n = 2000
	var in, out bytes.Buffer
	for i := range n {
		// Every tenth is much more work than the others.
		text := "ls"
		if i%10 == 0 {
			text = strings.Repeat("ls; ", 200)
		}
		fmt.Fprintf(&in, `{"id":%d,"name":"Bash","arguments":{"command":%q},"workspace":"/w"}`+"\n", i, text)
	}
	if err := new(checker).rows(&in, &out); err != nil {
		t.Fatal(err)
	}
	i := 0
	for line := range strings.Lines(out.String()) {
		if want := fmt.Sprintf(`{"id":%d,`, i); !strings.HasPrefix(line, want) {
			t.Fatalf("answer %d is %.80q", i, line)
		}
		i++
	}
	if i != n {
		t.Errorf("%d answers for %d rows", i, n)
	}
}

// A long row is judged, one beyond the limit is an error, and neither stops
// the rows after it.
func TestLongRows(t *testing.T) {
	row := func(n int) string {
		return `{"name":"Write","arguments":{"file_path":"a","content":"` + strings.Repeat("x", n) + `"},"workspace":"/w"}` + "\n"
	}
	var out bytes.Buffer
	err := new(checker).rows(strings.NewReader(row(8<<20)+row(maxRow)+`{"id":3,"name":"TodoWrite"}`), &out)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 3 || strings.Contains(lines[0], `"error"`) || !strings.Contains(lines[1], `"error":"line 2: longer than`) || !strings.Contains(lines[2], `"id":3`) {
		t.Errorf("got %.2000s", out.String())
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("nobody reads") }

func TestRowsEndWhenNobodyReads(t *testing.T) {
	in := strings.Repeat(`{"name":"TodoWrite"}`+"\n", 1000)
	if err := new(checker).rows(strings.NewReader(in), brokenPipe{}); err == nil {
		t.Error("no error")
	}
}

// Whatever the line, there is one answer; a line that is wrong is never
// allowed.
func FuzzRow(f *testing.F) {
	f.Add(`{"id":1,"name":"Bash","arguments":{"command":"ls"},"workspace":"/home/user/project"}`)
	f.Add(`{"name":"Read","arguments":"{\"path\":1}","home":null,"policy":{"version":1},"facts":{"files":{"a":"b"}}}`)
	f.Add(`{"name":"mcp_a_b","facts":{"mcp_server":"a","mcp_tool":"b","server_roots":["x"]},"workspace":"/w"}`)
	c := new(checker)
	f.Fuzz(func(t *testing.T, line string) {
		a := c.row([]byte(line), 1, nil)
		if a.Error != "" && a.Result == approval.Allow || a.Result == approval.None {
			t.Fatalf("%q: %v", line, a)
		}
		var back map[string]jsontext.Value
		if err := json.Unmarshal(encode(a), &back); err != nil {
			t.Fatalf("%q: the answer is no JSON: %v", line, err)
		}
	})
}

func TestHomeOf(t *testing.T) {
	for workspace, want := range map[string]string{
		"/home/user/project": "/home/user",
		"/home/user":         "",
		"/Users/u/x/y":       "/Users/u",
		"/root/x":            "/root",
		"/srv/x":             "",
		"":                   "",
	} {
		if got := homeOf(workspace); got != want {
			t.Errorf("%s: got %q, want %q", workspace, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"polcy": "policy", "Policy": "policy", "args": "arguments", "nmae": "name", "fact": "facts",
		"must": "", "why": "", "kind": "", "source": "", "rules": "", "x": "",
	} {
		if got := nearest(name, rowMembers); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestGitKey(t *testing.T) {
	for in, want := range map[string]string{"Core.FSMonitor": "core.fsmonitor", "diff.Word.TextConv": "diff.Word.textconv", "X": "x"} {
		if got := gitKey(in); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

// The row that the help of check shows is answered as it shows.
func TestHelpShowsWhatIs(t *testing.T) {
	var lines []string
	for line := range strings.Lines(newCheck().Long) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, `{"id"`) {
			lines = append(lines, line)
		}
	}
	if len(lines) != 2 {
		t.Fatalf("got %d rows in the help, want one and its answer: %q", len(lines), lines)
	}
	var out, errOut bytes.Buffer
	if code := Run([]string{"check", "--jsonl"}, strings.NewReader(lines[0]+"\n"), &out, &errOut); code != exitAllow {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	if got := strings.TrimSpace(out.String()); got != lines[1] {
		t.Errorf("the answer is not that of the help:\n got %s\nwant %s", got, lines[1])
	}
}

// One row is one line, whatever a reader takes for the end of one, and nothing in
// it steers a terminal.
func TestRowsAreLines(t *testing.T) {
	odd := "a\u2028b\u2029c\u0085d\u009b31m\u202e\u2066\x7f\ufeff"
	row, err := json.Marshal(map[string]any{"id": odd, "name": "Read", "arguments": map[string]string{"file_path": odd}, "workspace": "/w"})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := (&checker{}).rows(bytes.NewReader(append(row, '\n')), &out); err != nil {
		t.Fatal(err)
	}
	for _, r := range strings.TrimSuffix(out.String(), "\n") {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			t.Errorf("%q stands in %q", r, out.String())
		}
	}
	var back struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(out.Bytes(), &back, json.RejectUnknownMembers(false)); err != nil || back.ID != odd {
		t.Errorf("id %q, %v, want %q", back.ID, err, odd)
	}
}
