package senses

import (
	"strings"
	"testing"

	"assent/approval"
	"assent/floor"
)

// dug are the files of a repository, with a configuration that runs a command or
// without.
func dug(entries map[string]string, dir string, runs bool) {
	config := "[core]\n\tbare = false\n"
	if runs {
		config += "\tfsmonitor = ./run\n"
	}
	entries[dir+"/HEAD"] = "ref: refs/heads/main\n"
	entries[dir+"/config"] = config
	entries[dir+"/objects/x"] = ""
	entries[dir+"/refs/x"] = ""
}

// Git obeys the configuration of whatever repository it finds from the folder on in
// which it runs.
func TestRepositoriesElsewhere(t *testing.T) {
	entries := map[string]string{
		"w/link":         "->evil",
		"w/plain/deep/x": "",
		"w/evil/deep/x":  "",
		"w/none/x":       "",
		"w/tree/.git":    "gitdir: ../evil/.git\n",
	}
	for dir, runs := range map[string]bool{"w/.git": false, "w/plain/.git": false, "w/evil/.git": true, "w/bare": true, "w/tame": false} {
		dug(entries, dir, runs)
	}
	entries["w/bare/in/.git/x"] = "" // not a repository: git goes on to w/bare
	root := world(t, entries)
	write := operator(t, "write: {allow: [\".\"]}\nrun: {allow: [git add, mv]}\n")
	tests := []struct {
		why, command string
		want         approval.PolicyResult
	}{
		{"where the call starts", "git status", approval.Allow},
		{"plain, by -C", "git -C plain status", approval.Allow},
		{"plain, below its top", "cd plain/deep && git log", approval.Allow},
		{"no repository of its own", "cd none && git log", approval.Allow},
		{"plain and bare", "git -C tame log", approval.Allow},
		{"an ordinary file beside", "echo x > plain/a.txt && git -C plain status", approval.Allow},
		{"by -C", "git -C evil status", approval.Ask},
		{"by cd", "cd evil && git status", approval.Ask},
		{"below its top", "cd evil/deep && git status", approval.Ask},
		{"by pushd", "pushd evil; git log", approval.Ask},
		{"in a variable", "d=evil; cd $d; git log", approval.Ask},
		{"by a wrapper", "env -C evil git status", approval.Ask},
		{"through a link", "cd link && git status", approval.Ask},
		{"through a link that the call makes", "ln -s evil k && cd k && git status", approval.Ask},
		{"a worktree's file", "git -C tree status", approval.Ask},
		{"bare", "git -C bare log", approval.Ask},
		{"no repository by itself, and one above", "cd bare/in && git log", approval.Ask},
		{"the second of two", "for d in plain evil; do (cd $d && git status); done", approval.Ask},
		{"an argument of a function", "f() { git -C $1 status; }; f plain; f evil", approval.Ask},
		{"more than a look-up, under a rule", "git -C evil add x", approval.Ask},
		{"a folder that is not known", `git -C "$UNKNOWN" status`, approval.Ask},
		{"a folder by a pattern", "git -C e* status", approval.Ask},
		{"made by this call", `mkdir new && echo "ref: refs/heads/x" > new/HEAD && git -C new status`, approval.Ask},
		{"copied by this call", "cp -r tame new && git -C new status", approval.Ask},
		{"moved by this call", "mv tame new && cd new && git status", approval.Ask},
		{"unpacked by this call", "tar xf a.tar && git -C a status", approval.Ask},
		{"its configuration written by this call", "echo x > tame/config && git -C tame status", approval.Ask},
		{"made where the call starts", `echo "ref: refs/heads/x" > HEAD; git status`, approval.Ask},
		{"the configuration of a bare one", "echo x > tame/config", approval.Ask},
		{"a hook of a bare one", "echo x > tame/hooks/pre-commit", approval.Ask},
		{"a file called so elsewhere", "echo x > none/config", approval.Allow},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			if v := judged(write, root, "home", "Bash", map[string]string{"command": test.command}); v.Result != test.want {
				t.Errorf("%s: %v, want %v: %s", test.command, v.Result, test.want, v.Message)
			}
		})
	}
}

// What a repository says of itself in other ways than by a command counts, and what
// runs nothing does not.
func TestWhatARepositoryRuns(t *testing.T) {
	entries := map[string]string{
		"w/husky/.husky/_/pre-commit":            "x",
		"w/renewed/.git/hooks/post-index-change": "x",
		"w/hooked/.git/hooks/pre-commit":         "x",
		"w/sample/.git/hooks/pre-commit.sample":  "x",
		"w/custom/dev/hooks/pre-commit":          "x",
		"w/sub/.git":                             "gitdir: ../.git/modules/sub\n",
		"w/super/.gitmodules":                    "[submodule \"x\"]\n\tpath = x\n",
		"w/gone/.git":                            "gitdir: ../outside/g\n",
		"w/loop/.git/config":                     "",
	}
	for _, dir := range []string{"w/.git", "w/husky/.git", "w/renewed/.git", "w/hooked/.git", "w/sample/.git", "w/custom/.git", "w/.git/modules/sub", "w/super/.git", "w/signs/.git",
		"w/credible/.git", "w/named/.git", "w/within/.git", "w/besides/.git", "w/cond/.git", "w/moved/.git", "w/wide/.git"} {
		dug(entries, dir, false)
	}
	dug(entries, "w/super/x/.git", true)
	dug(entries, "w/super2/.git", false)
	dug(entries, "w/super2/.git/modules/a/b", true)
	entries["w/husky/.git/config"] += "\thooksPath = .husky/_\n"
	entries["w/custom/.git/config"] += "\thooksPath = dev/hooks\n"
	entries["w/.git/modules/sub/config"] += "\tworktree = ../../../sub\n"
	entries["w/moved/.git/config"] += "\tworktree = /\n"
	entries["w/wide/.git/config"] += "[extensions]\n\tworktreeConfig = true\n"
	entries["w/signs/.git/config"] += "[format]\n\tpretty = %h %GG\n"
	entries["w/credible/.git/config"] += "[credential]\n\thelper = !./x\n"
	entries["w/named/.git/config"] += "[alias]\n\trepo = !./x\n"
	entries["w/within/.git/config"] += "[include]\n\tpath = more\n"
	entries["w/within/.git/more"] = "[user]\n\tname = x\n"
	entries["w/besides/.git/config"] += "[include]\n\tpath = ../gitconfig\n"
	entries["w/cond/.git/config"] += "\tfsmonitor = ./x\n[includeIf \"gitdir:/nowhere\"]\n\tpath = off\n"
	entries["w/cond/.git/off"] = "[core]\n\tfsmonitor = false\n"
	root := world(t, entries)
	f := operator(t, "write: {allow: [\".\"]}\nrun: {allow: [git commit, git fetch, git add]}\n")
	tests := []struct {
		why, command string
		want         approval.PolicyResult
	}{
		{"hooks that no look-up runs", "git -C husky status", approval.Allow},
		{"hooks of another repository", "git -C husky commit -m x", approval.Ask},
		{"a hook that a look-up runs", "git -C renewed status", approval.Ask},
		{"hooks in git's own folder, looking", "git -C hooked status", approval.Allow},
		{"hooks in git's own folder", "git -C hooked commit -m x", approval.Ask},
		{"samples are none", "git -C sample commit -m x", approval.Allow},
		{"a file where hooks are", "cd custom && echo x > dev/hooks/post-index-change; git status", approval.Ask},
		{"a submodule's own place", "cd sub && git status", approval.Allow},
		{"files elsewhere", "git -C moved status", approval.Ask},
		{"configuration of a work tree", "git -C wide status", approval.Allow},
		{"a submodule that runs something", "git -C super status", approval.Ask},
		{"a submodule in git's own folder", "git -C super2 status", approval.Ask},
		{"signatures", "git -C signs log", approval.Ask},
		{"a helper, looking", "git -C credible log", approval.Allow},
		{"a helper, fetching", "git -C credible fetch", approval.Ask},
		{"another word's alias", "git -C named log", approval.Allow},
		{"an alias for what git may not know", "git -C named repo info", approval.Ask},
		{"it includes what lies with it", "git -C within status", approval.Allow},
		{"it includes what anybody may write", "git -C besides status", approval.Ask},
		{"taken back on a condition", "git -C cond status", approval.Ask},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			if v := judged(f, root, "home", "Bash", map[string]string{"command": test.command}); v.Result != test.want {
				t.Errorf("%s: %v, want %v: %s", test.command, v.Result, test.want, v.Message)
			}
		})
	}
}

// Other tools write there as well.
func TestOtherToolsWriteIntoRepositories(t *testing.T) {
	entries := map[string]string{}
	dug(entries, "w/tame", false)
	root := world(t, entries)
	f := operator(t, "write: {allow: [\".\"]}\n")
	for file, want := range map[string]approval.PolicyResult{"tame/config": approval.Ask, "tame/hooks/pre-push": approval.Ask, "tame/description": approval.Allow} {
		if v := judged(f, root, "home", "Write", map[string]string{"file_path": file, "content": "x"}); v.Result != want || want == approval.Ask && !strings.Contains(v.Message, "git repository") {
			t.Errorf("%s: %v, want %v: %s", file, v.Result, want, v.Message)
		}
	}
}

// What git prints of its configuration is a secret where the configuration holds
// one, the person's own included.
func TestGitCredentials(t *testing.T) {
	root := world(t, map[string]string{
		"w/.git/HEAD":              "ref: refs/heads/main\n",
		"w/.git/config":            "[remote \"origin\"]\n\turl = git@example.com:x/y\n[user]\n\tname = n\n",
		"w/.git/objects/x":         "",
		"w/.git/refs/x":            "",
		"w/known/.git":             "gitdir: ../.git/known\n",
		"w/.git/known/HEAD":        "ref: refs/heads/main\n",
		"w/.git/known/objects/x":   "",
		"w/.git/known/refs/x":      "",
		"w/.git/known/config":      "[remote \"origin\"]\n\turl = https://me:hunter2hunter2@example.com/x/y\n",
		"home/plain/x":             "",
		"other/.gitconfig":         "[http \"https://example.com\"]\n\textraHeader = Authorization: Basic eDp5\n",
		"third/.config/git/config": "[url \"https://0123456789abcdef0123456789@example.com/\"]\n\tinsteadOf = x:\n",
	})
	tests := []struct {
		why, home, command string
		want               approval.PolicyResult
	}{
		{"nothing to hide", "home", "git config --list", approval.Allow},
		{"nothing to hide", "home", "git remote -v", approval.Allow},
		{"nothing to hide", "home", "git ls-remote --get-url", approval.Ask},
		{"nothing to hide", "home", "git var -l", approval.Allow},
		{"an address without a password", "home", "git remote get-url origin", approval.Allow},
		{"one plain key", "other", "git config --get user.name", approval.Allow},
		{"names alone", "other", "git config --list --name-only", approval.Allow},
		{"asked for by name", "home", "git config --get http.https://example.com.extraheader", approval.Deny},
		{"asked for by pattern", "home", "git config --get-regexp 'tok|token'", approval.Deny},
		{"the person's own header", "other", "git config -l", approval.Deny},
		{"by address", "other", "git config --get-urlmatch http https://example.com", approval.Deny},
		{"by any pattern", "other", "git config --get-regexp .", approval.Deny},
		{"the newer spelling", "other", "git config list", approval.Deny},
		{"a token in an address", "third", "git var -l", approval.Deny},
		{"the file itself", "home", "cat .git/known/config", approval.Deny},
		{"the file, by git", "home", "git config -f .git/known/config --list", approval.Deny},
		{"a file without any", "home", "cat .git/config", approval.Allow},
		{"another repository's address", "home", "git -C known remote -v", approval.Deny},
		{"another repository's address, by key", "home", "cd known && git config remote.origin.url", approval.Deny},
	}
	for _, test := range tests {
		t.Run(test.why+" "+test.command, func(t *testing.T) {
			t.Setenv("XDG_CONFIG_HOME", "")
			if v := judged(new(floor.Floor), root, test.home, "Bash", map[string]string{"command": test.command}); v.Result != test.want {
				t.Errorf("%s: %v, want %v: %s", test.command, v.Result, test.want, v.Message)
			}
		})
	}
}
