package gateway

import (
	"bytes"
	stdjson "encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Whatever a client writes: what goes on is read by a reader that folds the case of
// names and takes the last of two as it was read here.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"let","arguments":{"n":1.50,"m":{}},"_meta":{"progressToken":1}}}`,
		`{"jsonrpc":"2.0","id":"\u0061","method":"tools/call","params":{"name":"let","Name":"never"}}`,
		`{"jsonrpc":"2.0","id":1,"Method":"tools/call","method":"ping"}`,
		`{"jsonrpc":"2.0","id":-0,"method":"tools/call","params":{"name":"a b","ar\u0067uments":{"\u2028":"<&>"}}}`,
		`{"jsonrpc":"2.0","id":7,"result":{"a":[1]},"error":null}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"` + "\u212A" + `","params":[]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		m, err := parse([]byte(line))
		if err != nil {
			return
		}
		text := m.text()
		if bytes.ContainsAny(text, "\r\n") {
			t.Fatalf("%q goes on as more than a line: %q", line, text)
		}
		var other struct {
			ID     stdjson.RawMessage
			Method string
			Params stdjson.RawMessage
		}
		if err := stdjson.Unmarshal(text, &other); err != nil {
			t.Fatalf("%q goes on as %q: %v", line, text, err)
		}
		if other.Method != m.method || !m.reply && string(other.Params) != compact(m.params) && !(len(m.params) == 0 && other.Params == nil) {
			t.Fatalf("%q is read as %q %s by another", line, other.Method, other.Params)
		}
		if m.method != methodCall {
			return
		}
		p, err := readToolParams(m.params)
		if err != nil {
			return
		}
		judged := p.Arguments
		var call struct {
			Name      string
			Arguments stdjson.RawMessage
		}
		if err := stdjson.Unmarshal(p.forward(judged), &call); err != nil {
			t.Fatalf("%q goes on as %s: %v", line, p.forward(judged), err)
		}
		if call.Name != p.Name || string(call.Arguments) != string(judged) {
			t.Fatalf("%q is read as %q %s by another", line, call.Name, call.Arguments)
		}
	})
}

func compact(v jsontext.Value) string {
	if !bytes.ContainsAny(v, "\r\n") {
		return string(v)
	}
	v = v.Clone()
	_ = v.Compact()
	return string(v)
}

func TestAnAnswerInAStatelessProtocolSaysItsKind(t *testing.T) {
	var out bytes.Buffer
	g := &gateway{Options: Options{Out: &out}, asked: make(map[string]*request)}
	for _, row := range []struct{ protocol, want string }{
		{"2026-07-28", `"isError":true,"resultType":"complete"}}`},
		{"", `"isError":true}}`},
	} {
		q := &request{message: message{id: jsontext.Value("1"), method: methodCall}, key: "n1", call: newCall(meta{Protocol: row.protocol})}
		g.asked["n1"] = q
		if err := g.refuse(q, "no"); err != nil || !strings.HasSuffix(strings.TrimSpace(out.String()), row.want) {
			t.Errorf("%s: %s", row.protocol, &out)
		}
	}
}

func TestPatience(t *testing.T) {
	for _, row := range []struct {
		client string
		said   time.Duration
		want   time.Duration
	}{
		{"claude-code", 0, time.Hour},
		{"gemini-cli-mcp-client-files", 0, 9*time.Minute + 30*time.Second},
		{"codex-mcp-client", 0, 50 * time.Second},
		{"", 0, 50 * time.Second},
		{"claude-code", time.Minute, time.Minute},
	} {
		g := &gateway{Options: Options{Deadline: row.said}, who: who{name: row.client}}
		if got := g.patience(); got != row.want {
			t.Errorf("%s, %v: %v, want %v", row.client, row.said, got, row.want)
		}
	}
}

func TestOutcomes(t *testing.T) {
	for _, row := range []struct{ why, result, want string }{
		{"text", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, `{"ok":true,"text":"a\nb"}`},
		{"what is no text", `{"content":[{"type":"image","data":"xxxx","mimeType":"image/png"},{"type":"resource_link","uri":"file:///a"}]}`, `{"ok":true,"text":"[image image/png]\n[resource_link file:///a]"}`},
		{"a failure", `{"content":[{"type":"text","text":"a"}],"isError":true}`, `{"ok":false,"text":"a"}`},
		{"no content", `{"structuredContent":{"a":1}}`, `{"ok":true,"text":"{\"structuredContent\":{\"a\":1}}"}`},
		{"content that is none", `{"content":5}`, `{"ok":true,"text":"{\"content\":5}"}`},
		{"null", `{"content":[null]}`, `{"ok":true,"text":"[something]"}`},
		{"much", `{"content":[{"type":"text","text":"` + strings.Repeat("x", maxOutcome+5) + `"}]}`, `{"ok":true,"text":"` + strings.Repeat("x", maxOutcome) + ` [5 bytes left out]"}`},
	} {
		t.Run(row.why, func(t *testing.T) {
			if got := string(object(outcomeOf(message{result: jsontext.Value(row.result)}))); got != row.want {
				t.Errorf("%.200s\nwant %.200s", got, row.want)
			}
		})
	}
}

// A note stands at the end of the content; the rest is not touched.
func TestNotes(t *testing.T) {
	for _, row := range []struct{ why, result, want string }{
		{"after another", `{ "content" : [ {"type":"text","text":"a"} ], "n" : 1.0 }`, `{ "content" : [ {"type":"text","text":"a"} ,{"type":"text","text":"x"}], "n" : 1.0 }`},
		{"alone", `{"_meta":{"content":[]},"content":[ ]}`, `{"_meta":{"content":[]},"content":[ {"type":"text","text":"x"}]}`},
		{"no content", `{"structuredContent":{}}`, `{"structuredContent":{}}`},
		{"content that is none", `{"content":{}}`, `{"content":{}}`},
		{"no object", `[]`, `[]`},
	} {
		t.Run(row.why, func(t *testing.T) {
			if got := string(withNote(jsontext.Value(row.result), "x")); got != row.want {
				t.Errorf("%s\nwant %s", got, row.want)
			}
		})
	}
}

// What a server says unasked comes as events.
func TestEvents(t *testing.T) {
	long := strings.Repeat("y", 100<<10)
	stream := ": a comment\n\n" +
		"id: 1\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"a\"}\n\n" +
		"retry: 7\nevent: other\ndata: {}\n\n" +
		"id: 2\r\ndata:{\"jsonrpc\":\"2.0\",\"method\":\"b\",\"params\":{\"x\":\"" + long + "\"}}\r\n\r\n" +
		"id: 3\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"cut\"}\n"
	a := &address{queue: make(chan message, 10), log: func(string) {}}
	a.life = t.Context()
	last, wait := "", pause
	if !a.events(strings.NewReader(stream), &last, &wait) {
		t.Error("there was nothing")
	}
	close(a.queue)
	var got []string
	for m := range a.queue {
		got = append(got, m.method)
	}
	if strings.Join(got, " ") != "a b" || last != "2" || wait != 7*time.Millisecond {
		t.Errorf("events %v, the last %s, wait %v", got, last, wait)
	}
	a.queue = make(chan message, 10)
	if a.events(io.LimitReader(endless{}, maxMessage+1<<20), &last, &wait) || len(a.queue) > 0 {
		t.Error("an event without an end was read")
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'd'
	}
	return len(p), nil
}
