package approval_test

import (
	"testing"

	"assent/approval"

	"github.com/google/go-cmp/cmp"
)

func TestLexicalPath(t *testing.T) {
	placed := approval.Session{Workspace: "/home/u/work/", Home: "/home/u"}
	for _, row := range []struct {
		name, word string
		session    approval.Session
		want       approval.Path
	}{
		{"relative", "src/a.go", placed, "src/a.go"},
		{"absolute inside", "/home/u/work/src/a.go", placed, "src/a.go"},
		{"the workspace", "/home/u/work", placed, "."},
		{"the workspace, relative", "./", placed, "."},
		{"outside", "/etc/hosts", placed, "/etc/hosts"},
		{"climbs out", "../other/a", placed, "/home/u/other/a"},
		{"climbs and returns", "src/../../work/a", placed, "a"},
		{"unclean", "/etc//./hosts/", placed, "/etc/hosts"},
		{"above the root", "/../../etc", placed, "/etc"},
		{"name that only starts alike", "/home/u/work2/a", placed, "/home/u/work2/a"},
		{"home", "~/a", placed, "/home/u/a"},
		{"home in the workspace", "~/work/a", placed, "a"},
		{"brackets in a name", "/opt/app/[id]/page.tsx", placed, "/opt/app/[id]/page.tsx"},
		{"glob", "/opt/x/*.go", placed, "/opt/x/*.go"},

		{"empty", "", placed, ""},
		{"another user's home", "~root/a", placed, ""},
		{"variable", "$HOME/a", placed, ""},
		{"address", "file:///etc/hosts", placed, ""},
		{"drive", `C:/Users/x`, placed, ""},
		{"backslash", `\\server\share`, placed, ""},
		{"NUL", "/etc/hosts\x00.go", placed, ""},
		{"glob that climbs", "/opt/x/{a,../../etc}/b", placed, ""},
		{"home, unknown", "~/a", approval.Session{Workspace: "/w"}, ""},
		{"relative, no workspace", "a", approval.Session{}, ""},
		{"relative, no absolute workspace", "a", approval.Session{Workspace: "w"}, ""},
		{"absolute, no workspace", "/etc/hosts", approval.Session{}, "/etc/hosts"},
		{"the root is the workspace", "/etc/hosts", approval.Session{Workspace: "/"}, "etc/hosts"},
		{"the root itself is the workspace", "/", approval.Session{Workspace: "/"}, "."},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := approval.LexicalPath(row.word, row.session); got != row.want {
				t.Errorf("LexicalPath(%q) = %q, want %q", row.word, got, row.want)
			}
		})
	}
}

func TestLexicalPaths(t *testing.T) {
	for _, row := range []struct {
		name, tool, arguments string
		want                  []approval.Path
	}{
		{"Claude Code", "Read", `{"file_path":"/opt/a","offset":1,"limit":20}`, []approval.Path{"/opt/a"}},
		{"opencode", "read", `{"filePath":"/opt/a"}`, []approval.Path{"/opt/a"}},
		{"Gemini CLI", "read_file", `{"absolute_path":"/opt/a"}`, []approval.Path{"/opt/a"}},
		{"many", "read_many_files", `{"paths":["/opt/a","/opt/b"]}`, []approval.Path{"/opt/a", "/opt/b"}},
		{"many, nested", "read_file", `{"files":[{"path":"/opt/a"},{"path":"b"}]}`, []approval.Path{"/opt/a", "b"}},
		{"folder", "list_dir", `{"dir_path":"/opt"}`, []approval.Path{"/opt"}},
		{"Cursor", "read_file", `{"target_file":"/opt/a","explanation":"why"}`, []approval.Path{"/opt/a"}},
		{"text to search", "Grep", `{"pattern":"/etc/.*","path":"/opt/x","output_mode":"content","-n":true,"glob":"*.{go,md}"}`, []approval.Path{"/opt/x"}},
		{"names to search", "Glob", `{"pattern":"**/*.go","path":"/opt/x"}`, []approval.Path{"/opt/x"}},
		{"repeated argument", "Read", `{"file_path":"/opt/a","file_path":"/etc/shadow"}`, []approval.Path{"/opt/a", "/etc/shadow"}},
		{"two spellings", "Read", `{"file_path":"/opt/a","path":"/etc/shadow"}`, []approval.Path{"/opt/a", "/etc/shadow"}},

		{"no arguments", "Read", ``, nil},
		{"the workspace by default", "Glob", `{"pattern":"**/*.go"}`, nil},
		{"names elsewhere", "Glob", `{"pattern":"/etc/**","path":"/opt/x"}`, []approval.Path{"", "/opt/x"}},
		{"names above", "Glob", `{"pattern":"../*","path":"/opt/x"}`, []approval.Path{"", "/opt/x"}},
		{"braces hide the root", "Glob", `{"pattern":"{a,/etc/*}","path":"/opt/x"}`, []approval.Path{"", "/opt/x"}},
		{"unknown argument", "Read", `{"file_path":"/opt/a","also":".env"}`, []approval.Path{"/opt/a", ""}},
		{"path of another type", "Read", `{"file_path":7}`, []approval.Path{""}},
		{"unreadable", "Read", `{"file_path":"/opt/a"`, []approval.Path{""}},
		{"no object", "Read", `["/opt/a"]`, []approval.Path{""}},
		{"another cluster", "Write", `{"file_path":"/opt/a"}`, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			leaf := approval.Leaf{Name: row.tool, Arguments: []byte(row.arguments)}
			got := approval.LexicalPaths(leaf, approval.Session{Workspace: "/home/u/work"})
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestKnown(t *testing.T) {
	for _, row := range []struct {
		name           string
		path           approval.Path
		known, outside bool
	}{
		{"outside", "/etc/hosts", true, true},
		{"inside", "src/a.go", true, false},
		{"the workspace", ".", true, false},
		{"the root", "/", true, true},
		{"a name of two dots and more", "..a", true, false},

		{"cannot be told", "", false, false},
		{"climbs", "../a", false, false},
		{"the folder above", "..", false, false},
		{"climbs outside", "/a/../etc", false, false},
		{"not clean", "/etc/", false, false},
		{"a NUL", "/etc/\x00", false, false},
		{"a NUL at the start", "\x00etc", false, false},
		{"not UTF-8", "/etc/\xff", false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if known, outside := row.path.Known(), row.path.Outside(); known != row.known || outside != row.outside {
				t.Errorf("%q: known %v, outside %v, want %v, %v", row.path, known, outside, row.known, row.outside)
			}
		})
	}
}
