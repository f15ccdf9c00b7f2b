package place

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestOf(t *testing.T) {
	long := "/home/" + strings.Repeat("x", 100)
	for why, c := range map[string]struct {
		env  Env
		want Place
		err  error
	}{
		"home-only": {
			env: Env{Home: "/home/ada"},
			want: Place{Config: "/home/ada/.config/assent", State: "/home/ada/.local/state/assent",
				Runtime: "/home/ada/.local/state/assent/run", Socket: "/home/ada/.local/state/assent/run/assent.sock"},
		},
		"all-set": {
			env:  Env{Home: "/home/ada", ConfigHome: "/c", StateHome: "/s", RuntimeDir: "/run/user/7"},
			want: Place{Config: "/c/assent", State: "/s/assent", Runtime: "/run/user/7/assent", Socket: "/run/user/7/assent/assent.sock"},
		},
		"relative-is-unset": {
			env: Env{Home: "/home/ada", ConfigHome: "c", StateHome: "./s", RuntimeDir: "run"},
			want: Place{Config: "/home/ada/.config/assent", State: "/home/ada/.local/state/assent",
				Runtime: "/home/ada/.local/state/assent/run", Socket: "/home/ada/.local/state/assent/run/assent.sock"},
		},
		"no-home-needed":   {env: Env{ConfigHome: "/c", StateHome: "/s", RuntimeDir: "/r"}, want: Place{"/c/assent", "/s/assent", "/r/assent", "/r/assent/assent.sock"}},
		"unclean":          {env: Env{ConfigHome: "/c//x/..", StateHome: "/s/", RuntimeDir: "/r/."}, want: Place{"/c/assent", "/s/assent", "/r/assent", "/r/assent/assent.sock"}},
		"no-home":          {env: Env{ConfigHome: "/c"}, err: ErrNoHome},
		"relative-home":    {env: Env{Home: "ada"}, err: ErrNoHome},
		"socket-told":      {env: Env{Home: "/h", Socket: "/srv/a/../x.sock"}, want: Place{"/h/.config/assent", "/h/.local/state/assent", "/srv", "/srv/x.sock"}},
		"socket-relative":  {env: Env{Home: "/h", Socket: "x.sock"}, err: ErrRelative},
		"socket-told-long": {env: Env{Home: "/h", Socket: long}, err: ErrTooLong},
		"too-long": {
			env:  Env{Home: long, UID: 7},
			want: Place{long + "/.config/assent", long + "/.local/state/assent", "/tmp/assent-7-01152a545f73b06b", "/tmp/assent-7-01152a545f73b06b/assent.sock"},
		},
		"short-is-long":     {env: Env{Home: long, Short: long}, err: ErrTooLong},
		"short-is-relative": {env: Env{Home: long, Short: "tmp"}, err: ErrRelative},
	} {
		t.Run(why, func(t *testing.T) {
			got, err := Of(c.env)
			if !errors.Is(err, c.err) {
				t.Fatalf("Of(%+v): error %v, want %v", c.env, err, c.err)
			}
			if d := cmp.Diff(c.want, got); c.err == nil && d != "" {
				t.Errorf("Of(%+v): want -, got +\n%s", c.env, d)
			}
		})
	}
}

// Every environment that has places has a socket that can be bound, and two
// users or two runtime folders never share a short one.
func TestOfAlwaysFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		folder := rapid.StringMatching(`/[a-z/.]{0,150}`)
		a := Env{Home: folder.Draw(t, "home"), RuntimeDir: folder.Draw(t, "runtime"), UID: rapid.IntRange(0, 3).Draw(t, "uid")}
		b := Env{Home: a.Home, RuntimeDir: folder.Draw(t, "other"), UID: rapid.IntRange(0, 3).Draw(t, "other uid")}
		p, err := Of(a)
		if err != nil {
			t.Fatalf("Of(%+v): %v", a, err)
		}
		if len(p.Socket) > SocketLimit {
			t.Fatalf("%q has %d bytes", p.Socket, len(p.Socket))
		}
		if again, _ := Of(a); again != p {
			t.Fatalf("two answers to one question: %+v and %+v", p, again)
		}
		if q, _ := Of(b); filepath.Clean(a.RuntimeDir) != filepath.Clean(b.RuntimeDir) && q.Socket == p.Socket {
			t.Fatalf("%+v and %+v share %s", a, b, p.Socket)
		}
	})
}

func TestEnvOf(t *testing.T) {
	vars := map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": "/r", "TMPDIR": "/elsewhere"}
	got := EnvOf(func(name string) string { return vars[name] }, 7)
	want := Env{Home: "/h", ConfigHome: "/c", StateHome: "/s", RuntimeDir: "/r", UID: 7}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("want -, got +\n%s", d)
	}
}

func TestOperatorPolicy(t *testing.T) {
	for _, row := range []struct{ why, configHome, home, want string }{
		{"the variable goes first", "/c", "/home/a", "/c/assent/policy.yaml"},
		{"a relative one counts as unset", "c", "/home/a", "/home/a/.config/assent/policy.yaml"},
		{"the variable needs no home", "/c", "", "/c/assent/policy.yaml"},
		{"nothing is known", "", "", ""},
	} {
		if got := OperatorPolicy(row.configHome, row.home); got != row.want {
			t.Errorf("%s: %q, want %q", row.why, got, row.want)
		}
	}
}
