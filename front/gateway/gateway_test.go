package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assent/front/api/client"
	"assent/front/gateway"
	"assent/front/hook"
)

const done = `{"content":[{"type":"text","text":"done"}],"structuredContent":{"n":1.0}}`

func answerTo(id, result string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`
}

// What goes on is what was judged, byte for byte: the kernel has the same.
func TestACallGoesOnAsItWasJudged(t *testing.T) {
	w := newWorld(t, rules)
	r := w.rig(nil)
	r.hello("tester", "{}")
	for _, row := range []struct{ why, sent, judged string }{
		{"numbers as they are written", `{"n":1.50e2,"big":12345678901234567890123,"zero":-0}`, `{"n":1.50e2,"big":12345678901234567890123,"zero":-0}`},
		{"order stays", `{"b":1,"a":{"d":2,"c":[3]}}`, `{"b":1,"a":{"d":2,"c":[3]}}`},
		{"what is between goes", `{ "a" : [ 1 , 2 ] }`, `{"a":[1,2]}`},
		{"no arguments at all", `null`, ``},
		{"none", `{}`, `{}`},
	} {
		t.Run(row.why, func(t *testing.T) {
			r.client.says(call(`7`, "let", row.sent))
			want := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"let","arguments":` + row.judged + `}}`
			if row.sent == "null" {
				want = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"let"}}`
			}
			r.server.gets(want)
			j, s := w.last()
			if got := string(j.Arguments); got != row.judged && !(got == "null" && len(row.judged) <= 2) {
				t.Errorf("the kernel judged %s", j.Arguments)
			}
			if j.Name != "mcp__srv__let" || j.Kind != "" || s.Client != "tester 1.2 (mcp srv)" || s.Workspace != w.ws {
				t.Errorf("call %s %q of %+v", j.Name, j.Kind, s)
			}
			r.server.says(answerTo(`7`, done))
			r.client.gets(answerTo(`7`, done))
			if got := outcome(w.settled(j)); got != `{"ok":true,"text":"done"}` {
				t.Errorf("the outcome is %s", got)
			}
		})
	}
	t.Run("what else belongs to it", func(t *testing.T) {
		r.client.says(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"_meta":{"progressToken":"p"},"arguments":{},"task":{"ttl":5},"name":"let"},"other":1}`)
		r.server.gets(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"let","arguments":{},"_meta":{"progressToken":"p"},"task":{"ttl":5}}}`)
		progress := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":0.5}}`
		r.server.says(progress)
		r.client.gets(progress)
		fault := `{"jsonrpc":"2.0","id":"x","error":{"code":-32602,"message":"no","data":[1]}}`
		r.server.says(fault)
		r.client.gets(fault)
		j, _ := w.last()
		if got := outcome(w.settled(j)); got != `{"ok":false,"text":"the server refused: no"}` {
			t.Errorf("the outcome is %s", got)
		}
	})
}

// Nothing of these reaches the server.
func TestWhatIsNotPassedOn(t *testing.T) {
	w := newWorld(t, rules)
	r := w.rig(nil)
	r.hello("tester", "{}")
	for _, row := range []struct{ why, sent, want string }{
		{"a policy blocks it", call(`1`, "never", `{}`), "Policy prohibits this tool use. Do not try to bypass it; if this is crucial, ask user to do it (Not here)"},
		{"a member twice", call(`2`, "let", `{"path":"a","path":"b"}`), "duplicate"},
		{"a member twice, deep", call(`3`, "let", `{"x":[{"a":1,"a":2}]}`), "duplicate"},
		{"the method twice", `{"jsonrpc":"2.0","id":4,"method":"ping","method":"tools/call","params":{"name":"let"}}`, "duplicate"},
		{"the name in another case", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"let","Name":"never"}}`, "unknown"},
		{"a parameter that is not known", `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"let","how":"fast"}}`, "unknown"},
		{"arguments that are no object", call(`7`, "let", `["a"]`), "no object"},
		{"arguments that are text", call(`8`, "let", `"{}"`), "no object"},
		{"no parameters", `{"jsonrpc":"2.0","id":9,"method":"tools/call"}`, "cannot be read"},
		{"no name", `{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{}}`, "name"},
		{"a name that is read as another", call(`11`, "l\u0435t", `{}`), "ASCII"},
		{"a name with a control character", call(`12`, `let\u001b`, `{}`), "ASCII"},
		{"a half of a pair", call(`13`, "let", `{"a":"\ud800"}`), "surrogate"},
		{"no UTF-8", call(`14`, "let", "{\"a\":\"\xff\"}"), "UTF-8"},
		{"more than the kernel takes", call(`15`, "let", `{"a":"`+strings.Repeat("x", 1<<20)+`"}`), "at most 1048576"},
		{"a method that is not known", `{"jsonrpc":"2.0","id":16,"method":"tools/execute","params":{"name":"let"}}`, "not known"},
		{"a method in another case", `{"jsonrpc":"2.0","id":17,"method":"Tools/call","params":{"name":"let"}}`, "not known"},
		{"many at once", `[` + call(`18`, "let", `{}`) + `]`, "not passed on"},
		{"no version", `{"id":19,"method":"ping"}`, "no message"},
		{"an id that readers round", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "id"},
		{"an id that is no integer", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "id"},
		{"an id that is null", `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"let"}}`, "id"},
		{"an id that is an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "id"},
		{"no JSON", `{"jsonrpc":"2.0",`, "-32700"},
		{"a name twice that is the same", `{"jsonrpc":"2.0","id":20,"method":"tools/call","params":{"name":"let","n\u0061me":"never"}}`, "duplicate"},
	} {
		t.Run(row.why, func(t *testing.T) {
			r.client.says(row.sent)
			if got := r.client.next(); !strings.Contains(got, row.want) || !strings.Contains(got, "assent: ") {
				t.Errorf("the client got %s\nwant in it %s", got, row.want)
			}
			r.quiet()
		})
	}
	for _, row := range []struct{ why, sent string }{
		{"a call without an id", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"let"}}`},
		{"a notification that is not known", `{"jsonrpc":"2.0","method":"notifications/run","params":{"name":"let"}}`},
		{"a cancellation of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`},
		{"an answer to nothing", `{"jsonrpc":"2.0","id":99,"result":{}}`},
	} {
		t.Run(row.why, func(t *testing.T) {
			r.client.says(row.sent)
			r.quiet()
		})
	}
}

// A call is held until a person has answered. What the client answers to a question of
// the proxy decides nothing.
func TestACallIsHeld(t *testing.T) {
	for _, row := range []struct {
		why, comment, want string
		yes                bool
	}{
		{"yes", "", "", true},
		{"yes, and more", "mind the \"gap\"", `{"content":[{"type":"text","text":"done"},{"type":"text","text":"assent: the person who allowed this call says: mind the \"gap\""}],"structuredContent":{"n":1.0}}`, true},
		{"no", "", "assent: User refused this tool use", false},
		{"no, and why", "not today", "assent: User refused this tool use. The person says: not today", false},
	} {
		t.Run(row.why, func(t *testing.T) {
			w := newWorld(t, rules)
			r := w.rig(nil)
			r.hello("tester", `{"elicitation":{}}`)
			r.client.says(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"put","arguments":{"a":1},"_meta":{"progressToken":5}}}`)
			j := w.waits()
			question := r.client.next()
			if !strings.Contains(question, `"method":"elicitation/create","params":{"message":"assent holds call `) || !strings.Contains(question, "decides nothing") || !strings.Contains(question, `"requestedSchema":{"type":"object","properties":{}}`) {
				t.Fatalf("the question is %s", question)
			}
			_, id, _ := strings.Cut(question, `"id":`)
			id, _, _ = strings.Cut(id, ",")
			if got := r.client.next(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5,"progress":0.000001,"message":"assent holds call `) {
				t.Errorf("the progress is %s", got)
			}
			if row.yes == (row.comment != "") {
				r.client.says(answerTo(id, `{"action":"accept","content":{}}`))
			}
			r.quiet()
			if now, err := w.person.Receipt(t.Context(), j.Session, j.ID, client.Now); err != nil || now.OrchestrationResult != nil || !now.NeedsHuman {
				t.Fatalf("it is decided: %+v, %v", now, err)
			}
			w.answer(j, row.yes, row.comment)
			if row.yes == (row.comment == "") { // nobody has closed it
				if got := r.client.next(); got != `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`,"reason":"the call waits no more"}}` {
					t.Errorf("the client got %s", got)
				}
			}
			if !row.yes {
				if got := refused(t, r.client.next()); got != row.want {
					t.Errorf("the client is told %q\nwant %q", got, row.want)
				}
				r.quiet()
				return
			}
			r.server.gets(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"put","arguments":{"a":1},"_meta":{"progressToken":5}}}`)
			r.server.says(answerTo(`1`, done))
			want := row.want
			if want == "" {
				want = done
			}
			r.client.gets(answerTo(`1`, want))
			w.settled(j)
		})
	}
}

func TestSignsOfLife(t *testing.T) {
	w := newWorld(t, rules)
	r := w.rig(func(o *gateway.Options) { o.Beat = time.Millisecond })
	r.hello("tester", `{"elicitation":{"url":{}}}`) // none that could be shown
	r.client.says(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"put","_meta":{"progressToken":"t"}}}`)
	for n := 1; n <= 3; n++ {
		got := r.client.next()
		if !strings.Contains(got, fmt.Sprintf(`"progressToken":"t","progress":%s,`, []string{"", "0.000001", "0.000002", "0.000003"}[n])) {
			t.Fatalf("sign %d is %s", n, got)
		}
	}
}

// Whoever cancels a call ends it, wherever it is on its way.
func TestCancelling(t *testing.T) {
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}`
	t.Run("the client, of a call that is held", func(t *testing.T) {
		w := newWorld(t, rules)
		r := w.rig(nil)
		r.client.says(call(`1`, "put", `{}`))
		j := w.waits()
		r.client.says(cancel)
		if got := w.settled(j); got.Cancelled == nil || outcome(got) != `{"ok":false,"text":"cancelled"}` {
			t.Errorf("the receipt is %+v", got)
		}
		r.quiet()
	})
	t.Run("the client, of a call that runs", func(t *testing.T) {
		w := newWorld(t, rules)
		r := w.rig(nil)
		r.client.says(call(`1`, "let", `{}`))
		r.server.gets(call(`1`, "let", `{}`))
		r.client.says(cancel)
		r.server.gets(cancel)
		j, _ := w.last()
		if got := w.settled(j); got.Cancelled == nil {
			t.Errorf("the receipt is %+v", got)
		}
		r.server.says(answerTo(`1`, done)) // too late: nobody hears it
		r.quiet()
		r.client.says(call(`1`, "let", `{}`)) // nor does another call of that id
		if got := r.client.next(); !strings.Contains(got, "used already") {
			t.Errorf("the client got %s", got)
		}
		r.quiet()
	})
	t.Run("the client, of something else", func(t *testing.T) {
		w := newWorld(t, rules)
		r := w.rig(nil)
		r.client.says(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"x"}}`)
		r.server.gets(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"x"}}`)
		r.client.says(cancel)
		r.server.gets(cancel)
	})
	t.Run("a person, of a call that is held", func(t *testing.T) {
		w := newWorld(t, rules)
		r := w.rig(nil)
		r.client.says(call(`1`, "put", `{}`))
		j := w.waits()
		if err := w.person.Cancel(t.Context(), j.Session, j.ID); err != nil {
			t.Fatal(err)
		}
		if got := refused(t, r.client.next()); got != "assent: a person cancelled the call; it has not run" {
			t.Errorf("the client is told %q", got)
		}
		r.quiet()
	})
	t.Run("a person, of a call that runs", func(t *testing.T) {
		w := newWorld(t, rules)
		r := w.rig(nil)
		r.client.says(call(`1`, "let", `{}`))
		r.server.gets(call(`1`, "let", `{}`))
		j, _ := w.last()
		if err := w.person.Cancel(t.Context(), j.Session, j.ID); err != nil {
			t.Fatal(err)
		}
		r.server.gets(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"cancelled by human"}}`)
		if got := refused(t, r.client.next()); !strings.HasPrefix(got, "assent: a person cancelled the call while it ran") {
			t.Errorf("the client is told %q", got)
		}
		r.server.says(answerTo(`1`, done))
		r.quiet()
	})
}

// A server says what it likes: only what it was asked is an answer.
func TestServersThatAnswerOtherwise(t *testing.T) {
	w := newWorld(t, rules)
	r := w.rig(nil)
	r.client.says(call(`1`, "put", `{}`))
	j := w.waits()
	r.server.says(answerTo(`1`, done)) // it was not asked
	r.quiet()
	w.answer(j, true, "")
	r.server.gets(call(`1`, "put", `{}`))
	r.server.says(answerTo(`"1"`, done)) // another id
	r.server.says(answerTo(`2`, done))
	r.server.says(`{"jsonrpc":"2.0","id":1.5,"result":{}}`)
	r.server.says(answerTo(`1`, done))
	r.server.says(answerTo(`1`, `{"content":[],"isError":true}`)) // twice
	r.client.gets(answerTo(`1`, done))
	r.quiet()
	if got := outcome(w.settled(j)); got != `{"ok":true,"text":"done"}` {
		t.Errorf("the outcome is %s", got)
	}
}

func TestAServerThatEnds(t *testing.T) {
	w := newWorld(t, rules)
	r := w.rig(nil)
	r.client.says(call(`1`, "put", `{}`))
	held := w.waits()
	r.client.says(call(`2`, "let", `{}`))
	r.server.gets(call(`2`, "let", `{}`))
	runs, _ := w.last()
	r.client.says(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
	r.server.gets(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
	r.server.in.Close()
	if err := <-r.done; err == nil || !strings.Contains(err.Error(), "the server has ended") {
		t.Errorf("the proxy ends with %v", err)
	}
	got := make(map[string]bool)
	for line := range r.client.out {
		switch {
		case strings.Contains(line, `"id":1,`):
			got["held "+refused(t, line)] = true
		case strings.Contains(line, `"id":2,`):
			got["runs "+refused(t, line)] = true
		default:
			got[line] = true
		}
	}
	for _, want := range []string{
		"held assent: the server has ended",
		"runs assent: the server has ended before the call was answered: it may have had its effect",
		`{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"assent: the server has ended"}}`,
	} {
		if !got[want] {
			t.Errorf("the client did not get %s\nbut %v", want, got)
		}
	}
	if r := w.settled(held); r.Cancelled == nil {
		t.Errorf("what was held is %+v", r)
	}
	if got := outcome(w.settled(runs)); got != `{"ok":false,"text":"the server has ended before the call was answered: it may have had its effect"}` {
		t.Errorf("the outcome is %s", got)
	}
}

func TestAClientThatGoes(t *testing.T) {
	w := newWorld(t, rules)
	r := w.rig(nil)
	r.client.says(call(`1`, "put", `{}`))
	held := w.waits()
	r.client.says(call(`2`, "let", `{}`))
	r.server.gets(call(`2`, "let", `{}`))
	runs, _ := w.last()
	r.client.in.Close()
	if _, more := <-r.server.out; more {
		t.Error("the server gets more")
	}
	if got := w.settled(held); got.Cancelled == nil {
		t.Errorf("what was held is %+v", got)
	}
	r.server.says(answerTo(`2`, done)) // it may still end what it began
	r.server.in.Close()
	if err := <-r.done; err != nil {
		t.Error(err)
	}
	if got := outcome(w.settled(runs)); got != `{"ok":true,"text":"done"}` {
		t.Errorf("the outcome is %s", got)
	}
}

// Without a kernel nothing goes on.
func TestNoKernel(t *testing.T) {
	t.Run("none that starts", func(t *testing.T) {
		w := newWorld(t, rules)
		w.stop()
		r := w.rig(nil)
		r.client.says(call(`1`, "let", `{}`))
		if got := refused(t, r.client.next()); !strings.Contains(got, "not running") || !strings.HasSuffix(got, "the call has not run") {
			t.Errorf("the client is told %q", got)
		}
		r.quiet()
	})
	t.Run("one that is started, each time that none is there", func(t *testing.T) {
		w := newWorld(t, rules)
		w.stop()
		var started atomic.Int32
		r := w.rig(func(o *gateway.Options) {
			o.Kernel = func(start bool) (*client.Client, error) {
				opts := client.Options{Agent: true}
				if start {
					opts.Start = func(context.Context) error {
						started.Add(1)
						w.start()
						return nil
					}
				}
				return client.New(w.socket, opts), nil
			}
		})
		for n := int32(1); n < 3; n++ {
			r.client.says(call(`1`, "let", `{}`))
			r.server.gets(call(`1`, "let", `{}`))
			r.server.says(answerTo(`1`, done))
			r.client.gets(answerTo(`1`, done))
			j, _ := w.last()
			w.settled(j)
			if got := started.Load(); got != n {
				t.Errorf("%d kernels were started, want %d", got, n)
			}
			w.stop()
		}
	})
	t.Run("one that ends while a call waits", func(t *testing.T) {
		w := newWorld(t, rules)
		r := w.rig(nil)
		r.client.says(call(`1`, "put", `{}`))
		j := w.waits()
		w.stop()
		if got := refused(t, r.client.next()); !strings.HasSuffix(got, "the call has not run") {
			t.Errorf("the client is told %q", got)
		}
		r.quiet()
		// The call is there yet, and made again it gets its answer.
		w.start()
		w.answer(j, true, "")
		r.client.says(call(`2`, "put", `{}`))
		r.server.gets(call(`2`, "put", `{}`))
		r.server.says(answerTo(`2`, done))
		r.client.gets(answerTo(`2`, done))
		if got := outcome(w.settled(j)); got != `{"ok":true,"text":"done"}` {
			t.Errorf("the outcome is %s", got)
		}
	})
	t.Run("one that takes no session here", func(t *testing.T) {
		w := newWorld(t, rules)
		r := w.rig(func(o *gateway.Options) { o.Workspace = "/" })
		r.client.says(call(`1`, "let", `{}`))
		if got := refused(t, r.client.next()); !strings.Contains(got, "whole file system") || !strings.Contains(got, "--workspace") {
			t.Errorf("the client is told %q", got)
		}
		r.quiet()
	})
}

// A call whose time is over is refused with a ticket: made again, it gets the answer
// that came since, once, and only where it is the very same.
func TestATicket(t *testing.T) {
	w := newWorld(t, rules)
	deadlines := make(chan context.CancelCauseFunc, 10)
	r := w.rig(func(o *gateway.Options) {
		gateway.Within(o, func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			deadlines <- cancel
			return ctx, func() { cancel(nil) }
		})
	})
	late := func() { (<-deadlines)(hook.ErrDeadline) }
	r.client.says(call(`1`, "put", `{"a":1}`))
	w.waits()
	late()
	if got := refused(t, r.client.next()); !strings.Contains(got, "still waits for a person") {
		t.Fatalf("the client is told %q", got)
	}
	r.quiet()
	j := w.waits()
	w.answer(j, true, "")
	if _, err := w.person.Receipt(t.Context(), j.Session, j.ID, client.Decided); err != nil {
		t.Fatal(err)
	}
	r.client.says(call(`2`, "put", `{"a":2}`)) // another
	w.waits()
	late()
	if got := refused(t, r.client.next()); !strings.Contains(got, "still waits") {
		t.Errorf("the client is told %q", got)
	}
	r.client.says(call(`3`, "put", `{"a":1}`))
	r.server.gets(call(`3`, "put", `{"a":1}`))
	r.server.says(answerTo(`3`, done))
	r.client.gets(answerTo(`3`, done))
	w.settled(j)
	<-deadlines
	other := w.waits()
	w.answer(other, false, "")
	r.client.says(call(`4`, "put", `{"a":1}`)) // a third time it asks anew
	w.waits()
	late()
	if got := refused(t, r.client.next()); !strings.Contains(got, "still waits") {
		t.Errorf("the client is told %q", got)
	}
	r.quiet()
}

// Reading a resource is judged as a tool of its server that does it, and so is being
// told of its changes.
func TestAResourceIsHeld(t *testing.T) {
	const request = `{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}`
	w := newWorld(t, "version: 1\nmcp:\n  allow: [srv/read_resource]\n")
	r := w.rig(nil)
	r.hello("tester", `{}`)
	inside := `"file://` + w.ws + `/a"`
	for _, row := range []struct{ why, method, params, judged, goes, answer string }{
		{"read", "resources/read", `{"_meta":{"a":1}, "uri":` + inside + `}`, `{"uri":` + inside + `}`, `{"uri":` + inside + `,"_meta":{"a":1}}`, `{"contents":[{"uri":"x","text":"a"}]}`},
		{"subscribe", "resources/subscribe", `{"uri":` + inside + `}`, `{"uri":` + inside + `}`, `{"uri":` + inside + `}`, `{}`},
		{"listen", "subscriptions/listen", `{"notifications":{ "resourceSubscriptions":[` + inside + `]}}`, `{"uris":[` + inside + `]}`, `{"notifications":{ "resourceSubscriptions":[` + inside + `]}}`, `{}`},
	} {
		t.Run(row.why, func(t *testing.T) {
			r.client.says(fmt.Sprintf(request, row.method, row.params))
			r.server.gets(fmt.Sprintf(request, row.method, row.goes))
			r.server.says(answerTo(`1`, row.answer))
			r.client.gets(answerTo(`1`, row.answer))
			j, _ := w.last()
			if j.Name != "mcp__srv__read_resource" || string(j.Arguments) != row.judged {
				t.Errorf("the kernel judged %s %s, want %s", j.Name, j.Arguments, row.judged)
			}
			if got := w.settled(j); got.Completed == nil || !strings.Contains(outcome(got), `"ok":true`) {
				t.Errorf("got %+v", got)
			}
		})
	}
	outside := `"file:///elsewhere/a"`
	for _, row := range []struct{ why, method, params string }{
		{"read", "resources/read", `{"uri":` + outside + `}`},
		{"subscribe", "resources/subscribe", `{"uri":` + outside + `}`},
		{"listen", "subscriptions/listen", `{"notifications":{"resourceSubscriptions":[` + inside + `,` + outside + `]}}`},
	} {
		t.Run(row.why+", a person says no", func(t *testing.T) {
			r.client.says(fmt.Sprintf(request, row.method, row.params))
			w.answer(w.waits(), false, "not that")
			if got := r.client.next(); !strings.Contains(got, `"error"`) || !strings.Contains(got, "assent: User refused this tool use. The person says: not that") {
				t.Errorf("the client got %s", got)
			}
			r.quiet()
		})
	}
	t.Run("read, a person says yes", func(t *testing.T) {
		r.client.says(fmt.Sprintf(request, "resources/read", `{"uri":`+outside+`}`))
		w.answer(w.waits(), true, "")
		r.server.gets(fmt.Sprintf(request, "resources/read", `{"uri":`+outside+`}`))
		r.server.says(answerTo(`1`, `{"contents":[]}`))
		r.client.gets(answerTo(`1`, `{"contents":[]}`))
	})
	for _, row := range []struct{ why, method, params string }{
		{"no address", "resources/read", `{}`},
		{"an address twice", "resources/read", `{"uri":` + inside + `,"uri":` + outside + `}`},
		{"another case", "resources/read", `{"uri":` + inside + `,"URI":` + outside + `}`},
		{"a parameter that is not known", "resources/subscribe", `{"uri":` + inside + `,"also":` + outside + `}`},
		{"another case, deep", "subscriptions/listen", `{"notifications":{"ResourceSubscriptions":[` + outside + `]}}`},
		{"addresses that are none", "subscriptions/listen", `{"notifications":{"resourceSubscriptions":[1]}}`},
	} {
		t.Run(row.why, func(t *testing.T) {
			r.client.says(fmt.Sprintf(request, row.method, row.params))
			if got := r.client.next(); !strings.Contains(got, "assent: ") || !strings.Contains(got, `"error"`) {
				t.Errorf("the client got %s", got)
			}
			r.quiet()
		})
	}
}

// What is not held goes both ways as it is.
func TestAllElseGoesThrough(t *testing.T) {
	w := newWorld(t, rules)
	r := w.rig(nil)
	r.hello("tester", `{"sampling":{},"roots":{"listChanged":true},"elicitation":{}}`)
	// The very bytes, of what a client of the library would have read and written anew.
	list := `{ "tools" : [{"name":"put","title":"<b>&\u2028","inputSchema":{"type":"object","$defs":{"x":1.0}},"annotations":{"readOnlyHint":true,"own":1e2},"later":null},{"name":"put"}],"nextCursor":"2" , "nextCursor":"3"}`
	for _, row := range []struct{ method, params, result string }{
		{"tools/list", `{"cursor":"1"}`, list},
		{"resources/list", ``, `{"resources":[]}`},
		{"resources/templates/list", ``, `{"resourceTemplates":[]}`},
		{"subscriptions/listen", `{"notifications":{"resourcesListChanged":true}}`, `{}`},
		{"resources/unsubscribe", `{"uri":"file:///a"}`, `{}`},
		{"prompts/list", ``, `{"prompts":[]}`},
		{"prompts/get", `{"name":"p"}`, `{"messages":[]}`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"b"}}`, `{"completion":{"values":[]}}`},
		{"logging/setLevel", `{"level":"debug"}`, `{}`},
		{"server/discover", `{"_meta":{}}`, `{"supportedVersions":[]}`},
		{"tasks/get", `{"taskId":"t"}`, `{"taskId":"t","status":"working"}`},
	} {
		t.Run(row.method, func(t *testing.T) {
			ask := `{"jsonrpc":"2.0","id":"a\u0062","method":"` + row.method + `"}`
			if row.params != "" {
				ask = `{"jsonrpc":"2.0","id":"a\u0062","method":"` + row.method + `","params":` + row.params + `}`
			}
			r.client.says(ask)
			r.server.gets(ask)
			r.server.says(answerTo(`"ab"`, row.result)) // the same id
			r.client.gets(answerTo(`"a\u0062"`, row.result))
		})
	}
	for _, method := range []string{"sampling/createMessage", "elicitation/create", "roots/list", "ping", "other/thing"} {
		t.Run("the server asks: "+method, func(t *testing.T) {
			ask := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"a":1.0}}`
			r.server.says(ask)
			r.client.gets(ask)
			r.client.says(answerTo(`1`, `{"b":2.0}`))
			r.server.gets(answerTo(`1`, `{"b":2.0}`))
		})
	}
	for _, tell := range []string{
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/own"}`,
	} {
		r.server.says(tell)
		r.client.gets(tell)
	}
	for _, tell := range []string{
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}`,
	} {
		r.client.says(tell)
		r.server.gets(tell)
	}
	t.Run("a question that the server takes back", func(t *testing.T) {
		r.server.says(`{"jsonrpc":"2.0","id":2,"method":"roots/list"}`)
		r.client.next()
		r.server.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		r.client.next()
		r.client.says(answerTo(`2`, `{}`))
		r.quiet()
	})
}

func TestBounds(t *testing.T) {
	t.Run("calls at a time", func(t *testing.T) {
		w := newWorld(t, rules)
		r := w.rig(nil)
		for n := range gateway.MaxCalls {
			id := fmt.Sprint(n)
			r.client.says(call(id, "let", `{}`))
			r.server.next()
		}
		r.client.says(call(`"more"`, "let", `{}`))
		if got := refused(t, r.client.next()); !strings.Contains(got, "64 calls are under way") {
			t.Errorf("the client is told %q", got)
		}
		r.server.says(answerTo(`5`, done))
		r.client.gets(answerTo(`5`, done))
		r.quiet()
	})
	t.Run("requests of the server", func(t *testing.T) {
		w := newWorld(t, rules)
		r := w.rig(nil)
		for n := range gateway.MaxAsked {
			r.server.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"roots/list"}`, n))
			r.client.next()
		}
		for _, id := range []string{"0", "1000"} {
			r.server.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"roots/list"}`, id))
			if got := r.server.next(); !strings.Contains(got, `"id":`+id+`,"error"`) {
				t.Errorf("the server got %s", got)
			}
		}
	})
	t.Run("a message of the client", func(t *testing.T) {
		w := newWorld(t, rules)
		r := w.rig(nil)
		go io.WriteString(r.client.in, call(`1`, "let", `{"a":"`+strings.Repeat("x", gateway.MaxMessage+1<<17)+`"}`))
		if err := <-r.done; err == nil || !strings.Contains(err.Error(), "16 MiB") {
			t.Errorf("the proxy ends with %v", err)
		}
		if got, more := <-r.server.out; more {
			t.Errorf("the server got %.100s", got)
		}
	})
	t.Run("a message of the server", func(t *testing.T) {
		w := newWorld(t, rules)
		r := w.rig(nil)
		r.client.says(call(`1`, "let", `{}`))
		r.server.gets(call(`1`, "let", `{}`))
		go io.WriteString(r.server.in, answerTo(`1`, `{"a":"`+strings.Repeat("x", gateway.MaxMessage+1<<17)+`"}`))
		if got := refused(t, r.client.next()); !strings.Contains(got, "may have had its effect") {
			t.Errorf("the client is told %q", got)
		}
		if err := <-r.done; err == nil || errors.Is(err, io.EOF) {
			t.Errorf("the proxy ends with %v", err)
		}
	})
	t.Run("half a message of the client", func(t *testing.T) {
		w := newWorld(t, rules)
		r := w.rig(nil)
		io.WriteString(r.client.in, call(`1`, "let", `{}`)) // without its end
		r.client.in.Close()
		<-r.done
		if got, more := <-r.server.out; more {
			t.Errorf("the server got %s", got)
		}
	})
}

// BenchmarkCall is a call that a policy allows, from the client to the server and back,
// with its outcome written down before the next.
func BenchmarkCall(b *testing.B) {
	w := newWorld(b, rules)
	r := w.rig(nil)
	for n := 0; b.Loop(); n++ {
		c := call(fmt.Sprint(n), "let", `{}`)
		r.client.says(c)
		r.server.gets(c)
		r.server.says(answerTo(fmt.Sprint(n), done))
		r.client.next()
	}
}
