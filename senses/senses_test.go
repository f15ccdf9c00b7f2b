package senses

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assent/approval"
	"assent/floor"

	"github.com/google/go-cmp/cmp"
)

// world makes a folder with files (text), folders ("name/") and links
// (from: "->target").
func world(t *testing.T, entries map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range entries {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if len(text) > 2 && text[:2] == "->" {
			err = os.Symlink(text[2:], p)
		} else {
			err = os.WriteFile(p, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// judged is the answer to a call in the folder "w" of a world, with one of its
// folders for the home, as somebody who looked at it judges.
func judged(f *floor.Floor, root, home, tool string, arguments map[string]string) floor.Verdict {
	text, _ := json.Marshal(arguments)
	return f.Judge(CompleteFor(f, floor.Call{Name: tool, Arguments: text, Workspace: filepath.Join(root, "w"), Home: filepath.Join(root, home)}))
}

func read(t *testing.T, root, p string) floor.Call {
	t.Helper()
	arguments, err := json.Marshal(map[string]string{"file_path": p})
	if err != nil {
		t.Fatal(err)
	}
	return floor.Call{Name: "Read", Arguments: arguments, Workspace: filepath.Join(root, "w"), Home: filepath.Join(root, "home")}
}

func TestLinks(t *testing.T) {
	root := world(t, map[string]string{
		"w/plain":     "x",
		"w/out":       "->../other",
		"w/chain":     "->out",
		"w/dangling":  "->/nowhere/at/all",
		"w/loop":      "->loop",
		"w/sub/up":    "->../../other/deep",
		"other/f":     "x",
		"other/deep/": "->x",
		"outer":       "x",
	})
	tests := []struct{ why, path, want string }{
		{"no link", "plain", root + "/w/plain"},
		{"folder link", "out/f", root + "/other/f"},
		{"link to a link", "chain/f", root + "/other/f"},
		{"dangling", "dangling", "/nowhere/at/all"},
		{"below what does not exist", "new/x", root + "/w/new/x"},
		{"loop", "loop", ""},
		{"climbing out of a link", "out/../outer", root + "/outer"},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			call := CompleteFor(new(floor.Floor), read(t, root, test.path))
			effects, _ := floor.Effects(call)
			if got := effects[0].Path.Abs; got != test.want {
				t.Errorf("%s: got %q, want %q; links %v", test.path, got, test.want, call.Facts.Links)
			}
		})
	}
}

func TestPatternsReachLinksAndOptions(t *testing.T) {
	root := world(t, map[string]string{"w/d/-rf": "", "w/d/l": "->/etc", "w/d/x": "", "w/d/e/deep": "->/etc"})
	call := CompleteFor(new(floor.Floor), floor.Call{Name: "read_many_files", Arguments: []byte(`{"paths":["d/*"]}`), Workspace: root + "/w"})
	if call.Facts.Links[root+"/w/d/l"] != "/etc" {
		t.Errorf("a link that the pattern matches was not seen: %v", call.Facts.Links)
	}
	if _, ok := call.Facts.Links[root+"/w/d/e/deep"]; ok {
		t.Errorf("a link below the pattern was looked for: %v", call.Facts.Links)
	}
	if _, ok := call.Facts.Files[root+"/w/d/-rf"]; !ok {
		t.Errorf("a name that is an option was not seen: %v", call.Facts.Files)
	}
}

// A program that reads every file of a tree reads the secrets among them; a
// searcher that leaves out hidden files does not.
func TestTrees(t *testing.T) {
	root := world(t, map[string]string{"w/.env": "", "w/sub/server.key": "", "w/main.go": "", "w/.git/token": "", "w/out": "->../other", "other/.env": ""})
	tests := []struct{ command, want string }{
		{"grep -r x .", "[/w/.env /w/sub/server.key]"},
		{"grep -r x sub", "[/w/sub/server.key]"},
		{"rg x", "[]"},
		{"rg --hidden x", "[/w/.env /w/sub/server.key]"},
		{"ls -R", "[]"},
		{"cat main.go", "[]"},
	}
	for _, test := range tests {
		t.Run(test.command, func(t *testing.T) {
			arguments, err := json.Marshal(map[string]string{"command": test.command})
			if err != nil {
				t.Fatal(err)
			}
			call := CompleteFor(new(floor.Floor), floor.Call{Name: "Bash", Arguments: arguments, Workspace: root + "/w"})
			got := []string{}
			for _, f := range slices.Sorted(maps.Keys(call.Facts.Files)) {
				got = append(got, strings.TrimPrefix(f, root))
			}
			if fmt.Sprint(got) != test.want {
				t.Errorf("%s: got %v, want %s", test.command, got, test.want)
			}
		})
	}
}

func TestGitConfig(t *testing.T) {
	root := world(t, map[string]string{
		"w/.git/config":                         "[core]\n\tfsmonitor = evil\n[include]\n\tpath = more\n",
		"w/.git/more":                           "[diff \"X\"]\n\ttextconv = cat\n",
		"w/.git/worktrees/t/commondir":          "../..\n",
		"w/.git/worktrees/t/config.worktree":    "[core]\n hooksPath = h\n",
		"w/.gitattributes":                      "* diff=X\n",
		"t/.git":                                "gitdir: ../w/.git/worktrees/t\n",
		"bare/HEAD":                             "x",
		"bare/config":                           "[core]\n\tpager = evil\n",
		"bare/objects/x":                        "",
		"plain/file":                            "",
		"w/.git/worktrees/t/gitdir-is-not-read": "",
	})
	tests := []struct {
		why, folder string
		want        map[string]string
	}{
		{"repository", "w", map[string]string{"core.fsmonitor": "evil", "diff.X.textconv": "cat"}},
		{"a folder in it", "w/sub/sub", map[string]string{"core.fsmonitor": "evil", "diff.X.textconv": "cat"}},
		{"linked worktree", "t", map[string]string{"core.fsmonitor": "evil", "diff.X.textconv": "cat", "hook:": "t/h"}},
		{"bare", "bare", map[string]string{"core.pager": "evil"}},
		{"none", "plain", map[string]string{}},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			config, files := gitConfig(filepath.Join(root, test.folder))
			for key, value := range config {
				config[key] = strings.TrimPrefix(value, root+"/")
			}
			if diff := cmp.Diff(test.want, config); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if test.folder == "w" && files[root+"/w/.gitattributes"] != "* diff=X\n" {
				t.Errorf("attributes: %v", files)
			}
		})
	}
}

func TestParseConfig(t *testing.T) {
	tests := []struct {
		why, text string
		want      []setting
	}{
		{"plain", "[core]\n\tpager = less -R\n", []setting{{"core.pager", "less -R"}}},
		{"capitals", "[CORE]\nPager=x", []setting{{"core.pager", "x"}}},
		{"subsection keeps its case", "[diff \"Wo\\\"rd\"]\ncommand = x", []setting{{`diff.Wo"rd.command`, "x"}}},
		{"old subsection", "[diff.word]\ncommand = x", []setting{{"diff.word.command", "x"}}},
		{"same line", "[core] pager = x", []setting{{"core.pager", "x"}}},
		{"comments", "# [a]\n[core] ; c\n pager = x # y\n", []setting{{"core.pager", "x"}}},
		{"quotes keep", "[core]\npager = \"a # b\" c\n", []setting{{"core.pager", "a # b c"}}},
		{"continued", "[core]\npager = a \\\n b\n", []setting{{"core.pager", "a  b"}}},
		{"escapes", `[a]` + "\n" + `b = \"\\\t`, []setting{{"a.b", "\"\\\t"}}},
		{"switch", "[core]\nbare\n", []setting{{"core.bare", "true"}}},
		{"empty", "[core]\npager =\n", []setting{{"core.pager", ""}}},
		{"CRLF", "[core]\r\npager = x\r\n", []setting{{"core.pager", "x"}}},
		{"broken head", "[core\npager = x\n", nil},
		{"nothing", "", nil},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			got := parseConfig(test.text)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(setting{})); diff != "" {
				t.Errorf("%q: (-want +got)\n%s", test.text, diff)
			}
		})
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add("[core]\n\tpager = \"x\" \\\n y ; z\n[a \"b\"] c")
	f.Fuzz(func(t *testing.T, text string) { parseConfig(text) })
}

// A command that opens what a tree holds reaches what the links in it lead to.
func TestLinksInTrees(t *testing.T) {
	root := world(t, map[string]string{
		"w/sub/out":             "->../../other",
		"w/node_modules/a/link": "->../../../other/f",
		"other/f":               "x",
		"other/more":            "->../far",
		"far/g":                 "x",
	})
	outside := func(command string) []string {
		arguments, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		call := CompleteFor(new(floor.Floor), floor.Call{Name: "Bash", Arguments: arguments, Workspace: filepath.Join(root, "w"), Home: filepath.Join(root, "home")})
		effects, _ := floor.Effects(call)
		var out []string
		for i := range effects {
			if p := effects[i].Path.Abs; !effects[i].Meta && p != "" && !strings.HasPrefix(p, root+"/w") {
				out = append(out, strings.TrimPrefix(p, root+"/"))
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	for _, test := range []struct {
		command string
		want    []string
	}{
		{"grep -r x .", nil},
		{"grep -R x .", []string{"far", "other", "other/f"}},
		{"rg -L x", []string{"far", "other", "other/f"}},
		{"rg x", nil},
		{"find . -exec cat {} +", []string{"other", "other/f"}},
		{"find . -type f -exec cat {} +", nil},
		{"cat node_modules/a/link", []string{"other/f"}},
	} {
		if diff := cmp.Diff(test.want, outside(test.command)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.command, diff)
		}
	}
}

// A pattern is looked into for names of options, whatever the program does with
// what it matches.
func TestPatternsThatMatchOptions(t *testing.T) {
	root := world(t, map[string]string{"w/--output=x": "", "w/a": "", "w/sub/b": "", "w/.git/HEAD": "ref: refs/heads/main\n"})
	for command, want := range map[string]approval.PolicyResult{
		"git log *":                           approval.Ask,
		"ls | xargs git log":                  approval.Ask,
		"ls | xargs sort":                     approval.Ask,
		"git ls-files | xargs git diff":       approval.Ask,
		"ls | while read f; do sort $f; done": approval.Ask,
		"sort $(ls)":                          approval.Ask,
		"cd sub && ls | xargs git log":        approval.Allow,
		"find . -type f | xargs sort":         approval.Allow,
		"for f in *; do git diff $f; done":    approval.Ask,
		"set -- *; git show \"$@\"":           approval.Ask,
		"git log ./*":                         approval.Allow,
		"cd sub && git log *":                 approval.Allow,
		"git log a":                           approval.Allow,
		"sort *":                              approval.Ask,
		"(cd sub && echo x); git log [-a]*":   approval.Ask,
		"f=*; git log $f":                     approval.Ask,
		"files=(*); git log \"${files[@]}\"":  approval.Ask,
	} {
		if v := judged(new(floor.Floor), root, "home", "Bash", map[string]string{"command": command}); v.Result != want {
			t.Errorf("%s: %v, want %v: %s", command, v.Result, want, v.Message)
		}
	}
}
