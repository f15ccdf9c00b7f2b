package paths

import (
	"strings"
	"testing"
	"unicode"

	"assent/floor/effect"

	"github.com/google/go-cmp/cmp"
)

const (
	star  = "\x00*"
	quest = "\x00?"
	brack = "\x00["
	any   = "\x00$"
)

func place() *Place {
	return &Place{
		Workspace: "/home/user/project",
		Cwd:       "/home/user/project",
		Home:      "/home/user",
		Vars:      map[string]string{"TMPDIR": "/tmp/t", "USER": "user"},
		Facts: Facts{Links: map[string]string{
			"/home/user/project/out":      "/srv/out",
			"/home/user/project/in":       "src",
			"/home/user/project/a":        "b",
			"/home/user/project/b":        "a",
			"/home/user/project/up":       "..",
			"/srv/out/deep":               "/etc",
			"/home/user/project/lib/link": "/opt/x",
		}},
	}
}

func TestPrepare(t *testing.T) {
	const ws = "/home/user/project"
	in := func(rel string) effect.Path {
		if rel == "." {
			return effect.Path{Abs: ws, Rel: "."}
		}
		return effect.Path{Abs: ws + "/" + rel, Rel: rel}
	}
	out := func(abs string) effect.Path { return effect.Path{Abs: abs} }
	var unknown effect.Path
	tests := []struct {
		name, word, cwd string
		want            effect.Path
	}{
		{"plain", "main.go", ws, in("main.go")},
		{"folder-itself", ".", ws, in(".")},
		{"trailing-slash", "src/", ws, in("src")},
		{"doubled-slashes", "src//x///y", ws, in("src/x/y")},
		{"from-subfolder", "../main.go", ws + "/src", in("main.go")},
		{"absolute-inside", ws + "/src/../x", "/", in("x")},
		{"outside", "../other", ws, out("/home/user/other")},
		{"sibling-with-same-start", ws + "-evil/x", ws, out(ws + "-evil/x")},
		{"above-the-root", "../../../../../../etc/passwd", ws, out("/etc/passwd")},
		{"root", "//", ws, out("/")},
		{"tilde-is-a-name", "~/x", ws, in("~/x")},
		{"star-is-a-name", "a*", ws + "/d", in("d/a*")},
		{"empty", "", ws, unknown},
		{"no-cwd", "x", "", unknown},
		{"no-cwd-absolute", "/etc/hosts", "", out("/etc/hosts")},
		{"unknown-part", "src/" + any, ws, unknown},
		{"unknown-suffix", "/etc/x" + any, ws, unknown},
		{"file-url", "file:///etc/passwd", ws, unknown},
		{"file-url-upper", "FILE:/etc/passwd", ws, unknown},
		{"unc", `\\server\share`, ws, unknown},
		{"nt-device", `\??\UNC\server\share`, ws, unknown},
		{"drive", `C:\Users\x`, ws, unknown},
		{"drive-slash", "c:/Users/x", ws, unknown},
		{"backslash-dots", `src\..\..\x`, ws, unknown},

		{"link-out", "out/x", ws, effect.Path{Abs: "/srv/out/x", Named: ws + "/out/x"}},
		{"link-in", "in/x", ws, effect.Path{Abs: ws + "/src/x", Rel: "src/x", Named: ws + "/in/x"}},
		{"link-of-link", "out/deep/passwd", ws, effect.Path{Abs: "/etc/passwd", Named: ws + "/out/deep/passwd"}},
		{"link-then-dots", "out/../x", ws, effect.Path{Abs: "/srv/x", Named: ws + "/x"}},
		{"link-up", "up/other", ws, effect.Path{Abs: "/home/user/other", Named: ws + "/up/other"}},
		{"loop", "a/x", ws, unknown},
		{"cwd-is-link", "../x", ws + "/out", effect.Path{Abs: "/srv/x", Named: ws + "/x"}},

		{"proc-root", "/proc/self/root/etc/shadow", ws, effect.Path{Abs: "/etc/shadow", Named: "/proc/self/root/etc/shadow"}},
		{"proc-cwd", "/proc/self/cwd/x", ws, effect.Path{Abs: ws + "/x", Rel: "x", Named: "/proc/self/cwd/x"}},
		{"proc-task-root", "/proc/thread-self/task/7/root/etc", ws, effect.Path{Abs: "/etc", Named: "/proc/thread-self/task/7/root/etc"}},
		{"proc-other", "/proc/1/root/etc", ws, unknown},
		{"open-file", "/dev/fd/3", ws, out("/dev/fd/3")},
		{"open-folder", "/proc/self/fd/3/x", ws, unknown},
		{"open-folder-above", "/dev/fd/3/../../x", ws, unknown},
		{"proc-plain", "/proc/cpuinfo", ws, out("/proc/cpuinfo")},
		{"data-volume", "/System/Volumes/Data/etc/x", ws, effect.Path{Abs: "/etc/x", Named: "/System/Volumes/Data/etc/x"}},

		{"glob", "src/" + star + ".go", ws, effect.Path{Abs: ws + "/src/*.go", Rel: "src/*.go", Glob: true}},
		{"glob-dots-before", "../" + star, ws + "/src/d", effect.Path{Abs: ws + "/src/*", Rel: "src/*", Glob: true}},
		{"glob-outside", "../" + star, ws, effect.Path{Abs: "/home/user/*", Glob: true}},
		{"glob-over-workspace", "/home/user/" + quest + "/x", ws, effect.Path{Abs: "/home/user/?/x", Glob: true}},
		{"glob-then-dots", "src/" + star + "/../x", ws, unknown},
		{"glob-may-follow-link", star, ws, effect.Path{Named: ws + "/*", Glob: true}},
		{"glob-may-follow-link-below", "lib/" + star + "/x", ws, effect.Path{Named: ws + "/lib/*/x", Glob: true}},
		{"glob-beside-link", "lib/" + star + ".c", ws, effect.Path{Abs: ws + "/lib/*.c", Rel: "lib/*.c", Glob: true}},
		{"glob-in-link", "out/x" + star, ws, effect.Path{Abs: "/srv/out/x*", Named: ws + "/out/x*", Glob: true}},
		{"glob-escapes-names", "src/{a}*" + star, ws, effect.Path{Abs: ws + `/src/\{a\}\**`, Rel: `src/\{a\}\**`, Glob: true}},
		{"bracket", "src/" + brack + "a-c]x", ws, effect.Path{Abs: ws + "/src/[a-c]x", Rel: "src/[a-c]x", Glob: true}},
		{"bracket-not", "src/" + brack + "!a]x", ws, effect.Path{Abs: ws + "/src/[^a]x", Rel: "src/[^a]x", Glob: true}},
		{"bracket-class", "src/" + brack + "[:alpha:]]x", ws, effect.Path{Abs: ws + "/src/?x", Rel: "src/?x", Glob: true}},
		{"bracket-open", "src/" + brack + "x", ws, in("src/[x")},
		{"bracket-unknown", "src/" + brack + "a" + any + "]x", ws, unknown},
		{"glob-in-proc", "/proc/" + star + "/root/etc/shadow", ws, effect.Path{Named: "/proc/*/root/etc/shadow", Glob: true}},
		{"stray-mark", "src/\x00x", ws, unknown},
		{"glob-no-cwd", star, "", unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := place().Prepare(tt.word, tt.cwd)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("Prepare(%q, %q) (-want +got):\n%s", tt.word, tt.cwd, d)
			}
		})
	}
}

func TestPrepareFold(t *testing.T) {
	p := &Place{Workspace: "/Users/me/Work", Fold: true}
	for word, rel := range map[string]string{
		"/users/ME/work/x":         "x",
		"/Users/me/Work":           ".",
		"/users/me/work":           ".",
		"/Users/me/Workshop/x":     "",
		"/Users/me":                "",
		"/users/me/other/../WORK/": ".",
	} {
		if got := p.Prepare(word, "/").Rel; got != rel {
			t.Errorf("Prepare(%q).Rel = %q, want %q", word, got, rel)
		}
	}
}

func TestExpand(t *testing.T) {
	p := place()
	tests := []struct{ in, want string }{
		{"src/x", "src/x"},
		{"~", "/home/user"},
		{"~/x", "/home/user/x"},
		{"~root/x", any + "/x"},
		{"a~/x", "a~/x"},
		{"$HOME/x", "/home/user/x"},
		{"${PWD}/x", "/home/user/project/x"},
		{"$TMPDIR/x", "/tmp/t/x"},
		{"$NOPE/x", any + "/x"},
		{"${HOME%/*}/x", any + "/x"},
		{"${HOME", any},
		{"a$", "a$"},
		{"$1", "$1"},
		{"a\x00*b", "a" + any + "*b"},
	}
	for _, tt := range tests {
		if got := p.Expand(tt.in); got != tt.want {
			t.Errorf("Expand(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	nohome := &Place{}
	if got := nohome.Expand("~/x"); got != any+"/x" {
		t.Errorf("Expand(~/x) without a home = %q", got)
	}
}

func TestFold(t *testing.T) {
	same := [][]string{
		{".cursor", ".cUrSoR", ".CURSOR", ".cur\u200bsor", ".cursor\ufe0f", ".cur\u00adsor"},
		{"café", "cafe\u0301", "CAFE\u0301", "CAFÉ"},
		{"kelvin", "\u212Aelvin"},
		{"sſ", "ss"},
		{"각", "\u1100\u1161\u11a8"},
		{"e\u0323\u0301", "e\u0301\u0323", "ẹ\u0301"},
		{"Ω", "\u2126", "ω"},
		{"\xffa", "\xffA"},
	}
	for _, group := range same {
		for _, s := range group[1:] {
			if Fold(s) != Fold(group[0]) {
				t.Errorf("Fold(%q) = %q, Fold(%q) = %q: want the same", s, Fold(s), group[0], Fold(group[0]))
			}
		}
	}
	if Fold("a") == Fold("\u0430") {
		t.Error("a Cyrillic letter is folded to a Latin one")
	}
	if Fold("\xff") == Fold("\xfe") {
		t.Error("broken bytes are folded together")
	}
}

func TestFoldIsStable(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if 0xD800 <= r && r < 0xE000 {
			continue
		}
		s := "x" + string(r) + "y"
		f := Fold(s)
		if g := Fold(f); g != f {
			t.Fatalf("Fold(%q) = %q, again %q", s, f, g)
		}
		if u := Fold(strings.ToUpper(s)); u != f && len([]rune(strings.ToUpper(s))) == len([]rune(s)) {
			t.Fatalf("Fold(%q) = %q, in upper case %q", s, f, u)
		}
	}
}
