package senses

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assent/approval"
	"assent/floor"
)

// index is one of version 2, with an entry for each name; one that ends with "/" is
// a repository.
func index(names ...string) string {
	var b bytes.Buffer
	b.WriteString("DIRC")
	binary.Write(&b, binary.BigEndian, []uint32{2, uint32(len(names))})
	for _, name := range names {
		start := b.Len()
		mode := uint32(0o100644)
		if strings.HasSuffix(name, "/") {
			mode, name = 0o160000, strings.TrimSuffix(name, "/")
		}
		fields := [10]uint32{6: mode}
		binary.Write(&b, binary.BigEndian, fields)
		b.Write(make([]byte, 20))
		binary.Write(&b, binary.BigEndian, uint16(len(name)))
		b.WriteString(name)
		b.Write(make([]byte, 8-(b.Len()-start)%8))
	}
	b.Write(make([]byte, 20))
	return b.String()
}

// A repository below that only the index knows is one that git looks into.
func TestRepositoriesOfTheIndex(t *testing.T) {
	entries := map[string]string{}
	for dir, runs := range map[string]bool{"w/plain/.git": false, "w/plain/a": false, "w/evil/.git": false, "w/evil/b/sub/.git": true, "w/deep/.git": false, "w/deep/a/.git": false, "w/deep/a/b/.git": true,
		"w/broken/.git": false, "w/outside/.git": false, "w/unlisted/.git": false, "w/unlisted/sub/.git": true} {
		dug(entries, dir, runs)
	}
	entries["w/plain/.git/index"] = index("a/x", "b", "gone/")
	entries["w/evil/.git/index"] = index("a", "b/sub/", "c")
	entries["w/deep/.git/index"] = index("a/")
	entries["w/deep/a/.git/index"] = index("b/")
	entries["w/broken/.git/index"] = index("a/")[:80]
	entries["w/outside/.git/index"] = index("../evil/b/sub/")
	entries["w/unlisted/.git/index"] = index("a")
	root := world(t, entries)
	f := operator(t, "run: {allow: [git diff]}\n")
	for folder, want := range map[string]approval.PolicyResult{"plain": approval.Allow, "evil": approval.Ask, "deep": approval.Ask, "broken": approval.Ask, "outside": approval.Allow, "unlisted": approval.Allow} {
		for _, command := range []string{"git -C " + folder + " status", "cd " + folder + " && git diff"} {
			if v := judged(f, root, "home", "Bash", map[string]string{"command": command}); v.Result != want {
				t.Errorf("%s: %v, want %v: %s", command, v.Result, want, v.Message)
			}
		}
	}
}

// What git itself writes is understood, in every form that it has.
func TestIndexesOfGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not at hand")
	}
	for _, form := range []struct{ why, object, version, split string }{
		{"version 2", "sha1", "2", ""}, {"version 3", "sha1", "3", ""}, {"version 4", "sha1", "4", ""}, {"longer hashes", "sha256", "4", ""}, {"in two files", "sha1", "2", "--split-index"},
	} {
		t.Run(form.why, func(t *testing.T) {
			dir := t.TempDir()
			git := func(args ...string) {
				t.Helper()
				cmd := exec.Command("git", args...)
				cmd.Dir = dir
				cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Skipf("this git does not: %v: %s", err, out)
				}
			}
			git("init", "-q", "--object-format="+form.object)
			hash := strings.Repeat("1", map[string]int{"sha1": 40, "sha256": 64}[form.object])
			for _, name := range []string{"a.txt", "src/long/name.go", "src/long/name.md"} {
				git("update-index", "--add", "--cacheinfo", "100644,"+hash+","+name)
			}
			git("update-index", "--add", "--cacheinfo", "160000,"+hash+",src/long/sub")
			git("update-index", "--index-version", form.version)
			if form.version == "3" {
				git("update-index", "--skip-worktree", "a.txt")
			}
			if form.split != "" {
				git("update-index", form.split)
				git("update-index", "--add", "--cacheinfo", "160000,"+hash+",z")
			}
			links, ok := gitlinks(filepath.Join(dir, ".git"))
			want := []string{"src/long/sub"}
			if form.split != "" {
				want = append(want, "z")
			}
			slices.Sort(links)
			if !ok || !slices.Equal(links, want) {
				t.Errorf("got %q, %v, want %q", links, ok, want)
			}
		})
	}
}

// A repository's configuration with a token in it is a secret also where a whole
// tree or a pattern is read.
func TestCredentialsInTrees(t *testing.T) {
	entries := map[string]string{"w/src/a.go": "", "w/.git/x": "", "w/linked/a/b": "->../../deep/in/.git/config", "w/plain/x/config": "url = https://me:hunter2hunter2@example.com/x\n"}
	dug(entries, "w/.git", false)
	dug(entries, "w/clean/.git", false)
	dug(entries, "w/deep/in/.git", false)
	dug(entries, "w/deep/in/.git/modules/m", false)
	const token = "[remote \"origin\"]\n\turl = https://me:hunter2hunter2@example.com/x/y\n"
	entries["w/deep/in/.git/config"] += token
	entries["w/deep/in/.git/modules/m/config"] += token
	root := world(t, entries)
	for command, want := range map[string]approval.PolicyResult{
		"grep -r x src":                         approval.Allow,
		"grep -r x clean":                       approval.Allow,
		"grep -r x plain":                       approval.Allow,
		"grep -r x .":                           approval.Deny,
		"grep -r x deep":                        approval.Deny,
		"grep -rn url deep/in/.git":             approval.Deny,
		"grep -r x deep/in/.git/modules":        approval.Deny,
		"rg -uu x":                              approval.Deny,
		"rg --hidden --no-ignore x deep":        approval.Deny,
		"rg x":                                  approval.Allow,
		"rg x deep/in/.git":                     approval.Deny,
		"cd deep/in/.git && rg x":               approval.Deny,
		"rg x clean/.git":                       approval.Allow,
		"git grep x":                            approval.Allow,
		"cat deep/in/.git/c*":                   approval.Deny,
		"head -n1 deep/*/.git/config":           approval.Deny,
		"cat deep/in/.git/H*":                   approval.Allow,
		"grep -r --include='*.go' x deep":       approval.Allow,
		"grep -r --include=config x deep":       approval.Deny,
		"find deep -name config -exec cat {} +": approval.Deny,
		"ls -R deep":                            approval.Allow,
		"tar cf - deep | wc -c":                 approval.Deny,
		"cat clean/.git/config":                 approval.Allow,
	} {
		if v := judged(new(floor.Floor), root, "home", "Bash", map[string]string{"command": command}); v.Result != want {
			t.Errorf("%s: %v, want %v: %s", command, v.Result, want, v.Message)
		}
	}
	for _, tool := range []struct {
		name string
		args map[string]string
		want approval.PolicyResult
	}{
		{"Grep", map[string]string{"pattern": "x"}, approval.Allow},
		{"Grep", map[string]string{"pattern": "x", "path": "deep/in/.git"}, approval.Deny},
		{"Grep", map[string]string{"pattern": "x", "hidden": "true"}, approval.Deny},
		{"grep_search", map[string]string{"query": "x", "respect_gitignore": "false"}, approval.Deny},
		{"Grep", map[string]string{"pattern": "x", "hidden": "true", "path": "src"}, approval.Allow},
		{"read_many_files", map[string]string{"paths": "deep/in/.git"}, approval.Deny},
		{"read_many_files", map[string]string{"paths": "deep"}, approval.Deny},
		{"read_many_files", map[string]string{"paths": "src"}, approval.Allow},
		{"read_many_files", map[string]string{"paths": "linked"}, approval.Ask},
	} {
		if v := judged(new(floor.Floor), root, "home", tool.name, tool.args); v.Result != tool.want {
			t.Errorf("%s %v: %v, want %v: %s", tool.name, tool.args, v.Result, tool.want, v.Message)
		}
	}
	f := operator(t, "write: {allow: [\".\"]}\n")
	for _, file := range []string{".git/description", ".git/HEAD", ".git/info/exclude", "clean/.git/config"} {
		v := judged(f, root, "home", "Write", map[string]string{"file_path": file, "content": "x"})
		if strings.Contains(v.Message, "steers") || v.Result < map[string]approval.PolicyResult{".git/info/exclude": approval.Allow, "clean/.git/config": approval.Block}[file] {
			t.Errorf("%s: %v: %s", file, v.Result, v.Message)
		}
	}
}
