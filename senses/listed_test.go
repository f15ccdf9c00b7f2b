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
	"assent/floor/paths"

	"github.com/google/go-cmp/cmp"
)

// looked is a command with what was found out for it, without the folder all of
// it lies in.
func looked(t *testing.T, f *floor.Floor, root, command string) (files []string, folders map[string]int) {
	t.Helper()
	arguments, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	call := CompleteFor(f, floor.Call{Name: "Bash", Arguments: arguments, Workspace: root + "/w"})
	for p := range call.Facts.Files {
		files = append(files, strings.TrimPrefix(p, root+"/w/"))
	}
	folders = map[string]int{}
	for p, n := range call.Facts.Folders {
		folders[strings.TrimPrefix(p, root)] = n
	}
	slices.Sort(files)
	return files, folders
}

func operator(t *testing.T, policy string) *floor.Floor {
	t.Helper()
	p, err := floor.ParseLayer("policy.yaml", []byte(policy), floor.Operator)
	if err != nil {
		t.Fatal(err)
	}
	return &floor.Floor{Operator: p}
}

func TestFoldersThatAreListed(t *testing.T) {
	root := world(t, map[string]string{
		"w/main.go": "", "w/db/a.sql": "", "w/db/.b.sql": "", "w/db/deep/c.sql": "", "w/.env": "", "w/s/id_rsa": "", "w/s/Makefile": "",
		"w/.git/HEAD": "", "w/.git/refs/heads/x.sql": "", "w/.git/modules/m/y.sql": "",
	})
	lets := operator(t, "version: 1\nwrite: {allow: ['.']}\n")
	plain, sql := new(floor.Floor), operator(t, "version: 1\nread: {deny: ['*.sql']}\n")
	const whole = paths.Whole
	tests := []struct {
		why     string
		floor   *floor.Floor
		command string
		files   []string
		folders map[string]int
	}{
		{"a tree", plain, "grep -r x .", []string{".env", "s/id_rsa"}, map[string]int{"/w": whole}},
		{"a tree of which a person says something", sql, "grep -r x .", []string{".env", ".git/modules/m/y.sql", "db/.b.sql", "db/a.sql", "db/deep/c.sql", "s/id_rsa"}, map[string]int{"/w": whole}},
		{"a searcher that leaves out what is hidden", sql, "rg x", []string{"db/a.sql", "db/deep/c.sql"}, map[string]int{"/w": whole}},
		{"one that nobody says anything to", plain, "rg x", nil, map[string]int{}},
		{"git searches what is hidden", sql, "git grep x .", []string{".git/modules/m/y.sql", "db/.b.sql", "db/a.sql", "db/deep/c.sql"}, map[string]int{"/w": whole}},
		{"a glob", sql, "cat db/*", []string{"db/.b.sql", "db/a.sql"}, map[string]int{"/w/db": 1}},
		{"a glob over folders", plain, "cat s*/*", []string{"s/id_rsa", ".env"}, map[string]int{"/w": 2}},
		{"a glob of trees", sql, "grep -r x d*", []string{".env", ".git/modules/m/y.sql", "db/.b.sql", "db/a.sql", "db/deep/c.sql", "s/id_rsa"}, map[string]int{"/w": whole}},
		{"a glob that is written", plain, "sed -i s/a/b/ s/*", []string{"s/Makefile", "s/id_rsa"}, map[string]int{"/w/s": 1}},
		{"a glob of names alone", sql, "ls db/*", nil, map[string]int{"/w/db": 1}},
		{"a tree that is deleted", lets, "rm -rf s", []string{"s/Makefile", "s/id_rsa"}, map[string]int{"/w/s": whole}},
		{"one that nobody lets be deleted", plain, "rm -rf s", nil, map[string]int{}},
		{"one of which some names are written", lets, "find s -name '*.c' -exec sed -i s/a/b/ {} +", []string{"s/Makefile", "s/id_rsa"}, map[string]int{"/w/s": whole}},
		{"a tree that is read before", lets, "grep -r x s; rm -rf s", []string{"s/Makefile", "s/id_rsa"}, map[string]int{"/w/s": whole}},
		{"one whose names come from elsewhere", lets, "cp -r db s", nil, map[string]int{"/w/db": whole}},
		{"nothing is there", sql, "cat nowhere/*", nil, map[string]int{"/w/nowhere": 1}},
		{"one file", sql, "cat main.go", nil, map[string]int{}},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			files, folders := looked(t, test.floor, root, test.command)
			slices.Sort(test.files)
			if diff := cmp.Diff(test.files, files); diff != "" {
				t.Errorf("%s: files (-want +got)\n%s", test.command, diff)
			}
			if diff := cmp.Diff(test.folders, folders); diff != "" {
				t.Errorf("%s: folders (-want +got)\n%s", test.command, diff)
			}
		})
	}
}

// What is listed for a floor holds for that floor: another would take what
// was not looked for to be absent.
func TestFoldersOfThisFloor(t *testing.T) {
	root := world(t, map[string]string{"w/db/a.sql": ""})
	sql := operator(t, "version: 1\nread: {deny: ['*.sql']}\n")
	call := floor.Call{Name: "Bash", Arguments: []byte(`{"command":"grep -r x db; cat db/*"}`), Workspace: root + "/w"}
	if v := sql.Judge(CompleteFor(sql, call)); v.Result != approval.Deny {
		t.Errorf("a file that was looked for: got %v, want deny", v.Result)
	}
	call.Facts.Folders = map[string]int{"/elsewhere": paths.Whole}
	if got := CompleteFor(sql, call).Facts.Folders["/elsewhere"]; got != paths.Whole {
		t.Errorf("what the call tells of folders is gone: %v", got)
	}
}

// Names that readers of lists take apart are told, wherever a list may be read.
func TestNamesThatAreTakenApart(t *testing.T) {
	root := world(t, map[string]string{"w/src/a /etc/x.txt": "", "w/doc/it's.md": "", "w/lib/x.go": "", "w/lib/y\nz": ""})
	for command, files := range map[string][]string{
		"find src -type f | xargs cat":                 {"src/a ", "src/a /etc", "src/a /etc/x.txt"},
		"find src -name '*.o' | xargs rm":              {"src/a ", "src/a /etc", "src/a /etc/x.txt"},
		"rm $(find doc -name '*.md')":                  {"doc/it's.md"},
		"for f in doc/*; do cat $f; done":              {"doc/it's.md"},
		"find lib | while read f; do cat \"$f\"; done": {"lib/y\nz"},
		"find src": nil,
	} {
		got, _ := looked(t, new(floor.Floor), root, command)
		if diff := cmp.Diff(files, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", command, diff)
		}
	}
}

// What could not be looked at to its end is not listed.
func TestFoldersThatAreNot(t *testing.T) {
	sql := operator(t, "version: 1\nread: {deny: ['*.sql']}\n")
	t.Run("too many files of which a rule speaks", func(t *testing.T) {
		files := map[string]string{}
		for i := range maxTold + 2 {
			files[fmt.Sprintf("w/%d.sql", i)] = ""
		}
		if files, folders := looked(t, sql, world(t, files), "grep -r x ."); len(folders) > 0 || len(files) < maxTold {
			t.Errorf("got %d files and the folders %v", len(files), folders)
		}
	})
	t.Run("a folder that cannot be read", func(t *testing.T) {
		if os.Getuid() == 0 {
			t.Skip("the administrator reads every folder")
		}
		root := world(t, map[string]string{"w/a/shut/x": "", "w/b/y": ""})
		shut := filepath.Join(root, "w/a/shut")
		if err := os.Chmod(shut, 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(shut, 0o700)
		if _, folders := looked(t, sql, root, "grep -r x . b"); !maps.Equal(folders, map[string]int{"/w/b": paths.Whole}) {
			t.Errorf("got the folders %v", folders)
		}
	})
	l := look{whole: map[string]int{"/w": paths.Whole, "/w/a": 2, "/w/b": 1, "/w/ab": 1}, unread: []string{"/w/a/x"}}
	if diff := cmp.Diff(map[string]int{"/w/b": 1, "/w/ab": 1}, l.folders()); diff != "" {
		t.Errorf("a folder that could not be read (-want +got)\n%s", diff)
	}
	if (&look{whole: map[string]int{"/w": 1}, entries: maxEntries + 1}).folders() != nil {
		t.Error("folders are listed although not all entries were seen")
	}
}
