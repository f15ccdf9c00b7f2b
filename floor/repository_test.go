package floor

import (
	"encoding/json"
	"testing"

	"assent/approval"
	"assent/floor/paths"
)

// Where nobody looked, what is known to lie in a folder and its name tell of
// another repository.
func TestForeignRepositories(t *testing.T) {
	known := paths.Facts{Files: map[string]string{"/home/you/p/lib/.git/config": "", "/home/you/p/store/HEAD": "", "/home/you/p/src/a.go": ""}}
	tests := []struct {
		why, command string
		facts        paths.Facts
		want         approval.PolicyResult
	}{
		{"an ordinary folder", "cd src && git status", paths.Facts{}, approval.Allow},
		{"files of its own, none of git's", "cd src && git status", known, approval.Allow},
		{"somebody else's code", "git -C vendor/x log", paths.Facts{}, approval.Ask},
		{"a bare repository by its name", "git -C mirror.git log", paths.Facts{}, approval.Ask},
		{"a repository is known to be there", "cd lib/deep && git status", known, approval.Ask},
		{"a bare one is known to be there", "git -C store log", known, approval.Ask},
		{"looked at, and plain", "git -C vendor/x log", paths.Facts{Repositories: map[string]map[string]string{"/home/you/p/vendor/x": {"core.bare": "false"}}}, approval.Allow},
		{"it fetches what is missing, from an address", "git log", paths.Facts{GitConfig: map[string]string{"remote.o.promisor": "true", "remote.o.url": "https://example.com/x"}}, approval.Allow},
		{"it fetches what is missing, by a command", "git log", paths.Facts{GitConfig: map[string]string{"remote.o.promisor": "true", "remote.o.uploadpack": "./x"}}, approval.Ask},
		{"it fetches what is missing, by a helper", "git log", paths.Facts{GitConfig: map[string]string{"remote.o.partialclonefilter": "blob:none", "remote.o.url": "ext::sh -c x"}}, approval.Ask},
		{"it fetches only when asked to", "git log", paths.Facts{GitConfig: map[string]string{"remote.o.uploadpack": "./x"}}, approval.Allow},
		{"a password in an address", "git remote -v", paths.Facts{GitConfig: map[string]string{"remote.o.url": "https://me:pass@example.com/x"}}, approval.Deny},
		{"all of the configuration, unseen", "git config --list", paths.Facts{}, approval.Ask},
		{"all of the variables, unseen", "git var -l", paths.Facts{}, approval.Ask},
		{"any keys, unseen", "git config --get-regexp '.*'", paths.Facts{}, approval.Ask},
		{"keys of a section that holds headers", "git config --get-regexp '^http'", paths.Facts{}, approval.Ask},
		{"the newer spelling of any keys", "git config get --all --regexp '.*'", paths.Facts{}, approval.Ask},
		{"by address, unseen", "git config --get-urlmatch http https://example.com", paths.Facts{}, approval.Ask},
		{"keys of a plain section", "git config --get-regexp '^remote.*url'", paths.Facts{}, approval.Allow},
		{"a token of another tool", "yarn config get npmAuthToken", paths.Facts{}, approval.Deny},
		{"a setting of another tool", "yarn config get npmRegistryServer", paths.Facts{}, approval.Allow},
		{"a token of a publisher", "poetry config pypi-token.pypi", paths.Facts{}, approval.Deny},
		{"all settings, tokens among them", "pnpm config list", paths.Facts{}, approval.Deny},
		{"all of the configuration, seen", "git config -l", paths.Facts{GitRead: true}, approval.Allow},
		{"one plain key", "git config user.name", paths.Facts{}, approval.Allow},
		{"addresses, unseen", "git remote -v", paths.Facts{}, approval.Allow},
		{"a variable that names the pager", "git --config-env=core.pager=cat log", paths.Facts{}, approval.Ask},
		{"no pager", "git -c core.pager=cat log", paths.Facts{}, approval.Allow},
		{"signatures by option", "git log --format=%GG", paths.Facts{}, approval.Ask},
		{"signatures by pretty", "git log --pretty='format:%h %G?'", paths.Facts{}, approval.Ask},
		{"signatures by setting", "git -c format.pretty=%GS log", paths.Facts{}, approval.Ask},
		{"signatures always", "git -c log.showSignature=true log", paths.Facts{}, approval.Ask},
		{"signatures of tags", "git for-each-ref --format='%(signature:grade)'", paths.Facts{}, approval.Ask},
		{"another format", "git log --format='%h %an %s'", paths.Facts{}, approval.Allow},
		{"a secret out of an archive", "git archive HEAD | tar xf - -O .env", paths.Facts{}, approval.Deny},
		{"a secret out of an archive by unzip", "unzip -p x.zip 'config/.env*'", paths.Facts{}, approval.Deny},
		{"another file out of an archive", "tar xOf x.tar src/main.go", paths.Facts{}, approval.Allow},
		{"looked at, and it runs something", "git -C src log", paths.Facts{Repositories: map[string]map[string]string{"/home/you/p/src": {"core.fsmonitor": "./x"}}}, approval.Ask},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			arguments, _ := json.Marshal(map[string]string{"command": test.command})
			call := Call{Name: "Bash", Arguments: arguments, Workspace: "/home/you/p", Cwd: "/home/you/p", Home: "/home/you", Facts: test.facts}
			if v := new(Floor).Judge(call); v.Result != test.want {
				t.Errorf("%s: %v, want %v: %s", test.command, v.Result, test.want, v.Message)
			}
		})
	}
}
