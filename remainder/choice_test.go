package remainder

import (
	"context"
	"errors"
	"testing"

	"assent/approval"
)

// set are connections with the model of their own setting.
type set map[string]string

func (s set) Setting(name string) (string, bool) { model, ok := s[name]; return model, ok }

func (s set) Connect(context.Context, string, string) (Model, error) { return nil, errors.New("none") }

func TestChoices(t *testing.T) {
	all := set{"a": "a-own", "b": "b-own", "bare": ""}
	for _, test := range []struct {
		why  string
		of   Choices
		want Choice
		err  bool
	}{
		{"nothing is chosen", Choices{}, Choice{}, true},
		{"the session's first", Choices{Session: Choice{"a", "m1"}, Kernel: Choice{"b", "m2"}, Chat: Choice{"b", "m3"}}, Choice{"a", "m1"}, false},
		{"then the kernel's", Choices{Kernel: Choice{"b", "m2"}, Chat: Choice{"a", "m3"}}, Choice{"b", "m2"}, false},
		{"then the connection's own model", Choices{Kernel: Choice{Connection: "b"}, Chat: Choice{"b", "m3"}}, Choice{"b", "b-own"}, false},
		{"then the session's own", Choices{Chat: Choice{"bare", "m3"}}, Choice{"bare", "m3"}, false},
		{"the connection's setting goes before the session's own model", Choices{Chat: Choice{"a", "m3"}}, Choice{"a", "a-own"}, false},
		{"a model for whatever connection", Choices{Session: Choice{Model: "m1"}, Kernel: Choice{Connection: "b"}}, Choice{"b", "m1"}, false},
		{"a model of another connection is none of it", Choices{Session: Choice{Connection: "a"}, Kernel: Choice{"b", "m2"}}, Choice{"a", "a-own"}, false},
		{"no model", Choices{Session: Choice{Connection: "bare"}, Kernel: Choice{"b", "m2"}}, Choice{Connection: "bare"}, true},
		{"a connection that there is not", Choices{Session: Choice{"c", "m"}, Kernel: Choice{"b", "m2"}}, Choice{Connection: "c"}, true},
	} {
		t.Run(test.why, func(t *testing.T) {
			got, err := test.of.Choose(all)
			if (err != nil) != test.err || !test.err && got != test.want || test.err && CauseOf(err) != Unconnected {
				t.Errorf("%+v, %v; want %+v", got, err, test.want)
			}
		})
	}
	if _, err := (Choices{Kernel: Choice{"a", "m"}}).Choose(nil); CauseOf(err) != Unconnected {
		t.Error(err)
	}
}

func TestKeys(t *testing.T) {
	call := func(cluster approval.Cluster, name, arguments string, paths ...approval.Path) Call {
		c := Call{Cluster: cluster, Name: name, Arguments: []byte(arguments), Floor: approval.Ask, Cwd: "/w", Paths: paths}
		for _, p := range paths {
			c.Effects = append(c.Effects, Effect{Kind: cluster.String(), Target: string(p)})
		}
		return c
	}
	with := func(c Call, f func(*Call)) Call { f(&c); return c }
	patch := func(kind string) Call {
		c := call(approval.Write, "apply_patch", `{"input":"one"}`, "/x", "/y")
		c.Effects = []Effect{{Kind: kind, Target: "/x"}}
		return c
	}
	moved := func(from, to string) []Effect {
		return []Effect{{Kind: "delete", Target: from}, {Kind: "write", Target: to}}
	}
	ls := call(approval.Bash, "Bash", `{"command":"ls"}`)
	same := []struct {
		why  string
		a, b Call
		want bool
	}{
		{"the same command", ls, call(approval.Bash, "Bash", `{ "description":"look", "timeout": 5, "command":"ls"}`), true},
		{"another command", ls, call(approval.Bash, "Bash", `{"command":"ls -l"}`), false},
		{"in another folder", ls, with(ls, func(c *Call) { c.Cwd = "/v" }), false},
		{"after another answer of the floor", ls, with(ls, func(c *Call) { c.Floor = approval.Deny }), false},
		{"with more rights", ls, call(approval.Bash, "Bash", `{"command":"ls","dangerouslyDisableSandbox":true}`), false},
		{"another cluster", ls, call(approval.MCP, "Bash", `{"command":"ls"}`), false},
		{"the same read", call(approval.Read, "Read", `{"a":1}`, "/x"), call(approval.Read, "Read", `{ "a":1}`, "/x"), true},
		{"a read with other arguments", call(approval.Read, "LS", `{"path":"/x"}`, "/x"), call(approval.Read, "LS", `{"path":"/x","recursive":true}`, "/x"), false},
		{"a file that is changed, and removed", patch("write"), patch("delete"), false},
		{"a file that is moved, and the way back", with(patch("write"), func(c *Call) { c.Effects = moved("/x", "/y") }), with(patch("write"), func(c *Call) { c.Effects = moved("/y", "/x") }), false},
		{"another change of a file", patch("write"), with(patch("write"), func(c *Call) { c.Arguments = []byte(`{"input":"another"}`) }), true},
		{"a write that says more than what it writes", call(approval.Write, "Write", `{"content":"a"}`, "/x"), call(approval.Write, "Write", `{"content":"a","host":"prod"}`, "/x"), false},
		{"a write under another rule", patch("write"), with(patch("write"), func(c *Call) { c.Effects[0].Rule = new("p.yaml:3") }), false},
		{"another path", call(approval.Read, "Read", `{}`, "/x"), call(approval.Read, "Read", `{}`, "/y"), false},
		{"one path more", call(approval.Read, "Read", `{}`, "/x"), call(approval.Read, "Read", `{}`, "/x", "/y"), false},
		{"what a write contains", call(approval.Write, "Write", `{"content":"a"}`, "/x"), call(approval.Write, "Write", `{"content":"b"}`, "/x"), true},
		{"a write and a removal", call(approval.Write, "write_file", `{}`, "/x"), call(approval.Write, "delete_file", `{}`, "/x"), false},
		{"arguments of a server's tool in another order", call(approval.MCP, "mcp__a__b", `{"a":1,"b":2}`), call(approval.MCP, "mcp__a__b", `{"b":2, "a":1}`), true},
		{"other arguments", call(approval.MCP, "mcp__a__b", `{"id":9007199254740992}`), call(approval.MCP, "mcp__a__b", `{"id":9007199254740993}`), false},
		{"a description there", call(approval.MCP, "mcp__a__b", `{"description":"a"}`), call(approval.MCP, "mcp__a__b", `{"description":"b"}`), false},
		{"the web", call(approval.Web, "WebFetch", `{"url":"https://a"}`), call(approval.Web, "WebFetch", `{"url":"https://a"}`), true},
		{"another address", call(approval.Web, "WebFetch", `{"url":"https://a"}`), call(approval.Web, "WebFetch", `{"url":"https://b"}`), false},
	}
	for _, test := range same {
		a, b := test.a.Key(), test.b.Key()
		if a == "" || (a == b) != test.want {
			t.Errorf("%s: %s and %s", test.why, a, b)
		}
	}
	for why, c := range map[string]Call{
		"communication":             call(approval.Comm, "update_metadata", `{}`),
		"a path that is not known":  call(approval.Read, "Read", `{}`, "/x", ""),
		"no path":                   call(approval.Read, "Read", `{}`),
		"what nobody knows whole":   with(call(approval.Read, "Read", `{}`, "/x"), func(c *Call) { c.Effects = nil }),
		"arguments that are none":   call(approval.Bash, "Bash", `{"command":`),
		"a name of which two stand": call(approval.Bash, "Bash", `{"command":"ls","command":"rm"}`),
	} {
		if key := c.Key(); key != "" {
			t.Errorf("%s: %s", why, key)
		}
	}
}

func TestCache(t *testing.T) {
	one, other := load(t, "allow"), load(t, "deny")
	var c Cache
	c.Keep(one, "k", Vote{Result: approval.JudgeAllow})
	c.Keep(one, "n", Vote{})
	c.Keep(one, "", Vote{Result: approval.JudgeAllow})
	for key, want := range map[string]approval.JudgeResult{"k": approval.JudgeAllow, "n": approval.NoVote, "": approval.NoVote, "x": approval.NoVote} {
		if got, ok := c.Vote(one, key); got.Result != want || ok != (want != approval.NoVote) || got.Remembered != ok {
			t.Errorf("%q: %v", key, got)
		}
	}
	if got, ok := c.Vote(other, "k"); ok {
		t.Error("the vote of another program", got)
	}
	if got, ok := c.Vote(one, "k"); ok {
		t.Error("it was dropped when the program changed, and is there", got)
	}
}
