package shell

import "testing"

func TestRemoteHost(t *testing.T) {
	for text, want := range map[string]string{
		"host:path": "host", "user@host:path": "host", "host:": "host", "ssh://host/x": "ssh://host/x", "https://h/x": "https://h/x",
		"path": "", "./a:b": "", "/a:b": "", "dir/a:b": "", ":x": "",
	} {
		got, is := remoteHost(text)
		if is != (want != "") || is && got != want {
			t.Errorf("remoteHost(%q) = %q, %v, want %q", text, got, is, want)
		}
	}
}

func TestGitConfiguration(t *testing.T) {
	for key, want := range map[string]string{
		"core.pager": "runs", "Core.FsMonitor": "runs", "core.hooksPath": "runs", "core.editor": "runs", "core.sshCommand": "runs", "alias.x": "runs",
		"diff.external": "runs", "diff.x.textconv": "runs", "filter.x.clean": "runs", "merge.x.driver": "runs", "credential.helper": "runs",
		"include.path": "runs", "includeIf.gitdir:x.path": "runs", "pager.log": "runs", "gpg.program": "runs", "sequence.editor": "runs",
		"remote.x.uploadpack": "runs", "protocol.ext.allow": "runs", "submodule.x.update": "runs", "url.x.insteadOf": "runs",
		"color.ui": "tame", "user.name": "tame", "core.quotePath": "tame", "diff.algorithm": "tame", "init.defaultBranch": "tame", "merge.ff": "tame",
		"log.showSignature": "runs", "gc.recentObjectsHook": "runs", "help.browser": "runs", "help.autocorrect": "tame", "fetch.bundleURI": "",
		"init.templateDir": "", "commit.template": "", "core.unheard": "", "remote.x.url": "",
	} {
		got := ""
		switch runs, tame := Executable(key), tameConfig(key); {
		case runs && tame:
			got = "both"
		case runs:
			got = "runs"
		case tame:
			got = "tame"
		}
		if got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

// What steers a program is told also where nothing but its prefix is known;
// what only turns a pager off is not.
func TestSteering(t *testing.T) {
	for name, want := range map[string]bool{
		"PATH": true, "LD_PRELOAD": true, "DYLD_INSERT_LIBRARIES": true, "GIT_SSH_COMMAND": true, "GIT_EXTERNAL_DIFF": true, "BASH_ENV": true,
		"PYTHONPATH": true, "NODE_OPTIONS": true, "npm_config_registry": true, "NPM_CONFIG_X": true, "HTTP_PROXY": true, "BASH_FUNC_ls%%": true,
		"BASH_CMDS": true, "BASH_ALIASES": true, "PS4": true, "IFS": false, "GIT_AUTHOR_NAME": false, "FOO": false, "x": false,
	} {
		if got := Steers(name); got != want {
			t.Errorf("Steers(%q) = %v", name, got)
		}
	}
	for _, c := range []struct {
		name, value string
		want        bool
	}{
		{"PAGER", "cat", true}, {"GIT_PAGER", "", true}, {"EDITOR", "true", true}, {"PAGER", "less", false}, {"PAGER", "cat x", false}, {"LD_PRELOAD", "", false},
	} {
		if got := quiets(c.name, c.value); got != c.want {
			t.Errorf("quiets(%s=%s) = %v", c.name, c.value, got)
		}
	}
}
