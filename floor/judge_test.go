package floor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"assent/approval"
	"assent/floor/effect"

	"pgregory.net/rapid"
)

// bash is a call of a shell in the place where the tests of policies are.
func bash(command string) Call {
	arguments, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	call := testPlace
	call.Name, call.Arguments = "Bash", arguments
	return call
}

func TestJudge(t *testing.T) {
	const (
		allow = approval.Allow
		ask   = approval.Ask
		deny  = approval.Deny
		block = approval.Block
	)
	tests := []struct {
		name, policy, command string
		want                  Result
	}{
		// The shipped floor.
		{"look-up", "", "ls -la && git status", allow},
		{"read-outside", "", "cat /etc/passwd", deny},
		{"read-system", "", "cat /etc/os-release", allow},
		{"write-inside", "", "echo x > a.txt", ask},
		{"write-null", "", "ls > /dev/null 2>&1", allow},
		{"write-outside", "", "echo x > /tmp/a.txt", deny},
		{"delete-inside", "", "rm a.txt", ask},
		{"delete-workspace", "", "rm -rf .", block},
		{"unknown-program", "", "frobnicate", ask},
		{"secret-in-workspace", "", "cat .env", deny},
		{"secret-example", "", "cat .env.example", allow},
		{"secret-name-only", "", "ls .env", allow},
		{"private-key", "", "cat ~/.ssh/id_rsa", block},
		{"public-key", "", "cat ~/.ssh/id_rsa.pub", deny},
		{"private-key-name-only", "", "ls ~/.ssh", block},
		{"search-of-home-for-names", "", "find ~ -name '*.go'", deny},
		{"content-of-home", "", "grep -r x ~", deny},
		{"glob-without-hint", "", "grep x *", allow},
		{"glob-with-hint", "", "cat .e*", deny},
		{"hook", "", "echo x > .git/hooks/pre-commit", block},
		{"folder-with-hooks", "", "rm -rf .git", deny},
		{"makefile", "", "echo x > Makefile", deny},
		{"unknown-path", "", `cat "$UNKNOWN/x"`, ask},
		{"own-state", "", "cat ~/.config/assent/policy.yaml", block},
		{"metadata", "", "curl http://169.254.169.254/latest/meta-data/", block},
		{"loopback", "", "curl http://localhost:3000/", ask},
		{"as-another-user", "", "sudo ls", deny},

		// The operator answers first.
		{"rule", "run: {allow: [frobnicate]}", "frobnicate x", allow},
		{"strictest-in-one-file", "run: {allow: [frobnicate], deny: [frobnicate --all]}", "frobnicate --all", deny},
		{"exception", "run: {deny: {match: frobnicate, except: [frobnicate help]}, allow: [frobnicate]}", "frobnicate help", allow},
		{"path-rule-lifts-the-default", `read: {allow: ["/srv/**"]}`, "cat /srv/x", allow},
		{"path-rule-negated", `read: {allow: ["/srv/**", "!/srv/private/**"]}`, "cat /srv/private/x", deny},
		{"deny-negated", `read: {deny: ["*.md", "!README.md"]}`, "cat README.md", allow},
		{"deny-negated-other", `read: {deny: ["*.md", "!README.md"]}`, "cat OTHER.md", deny},
		{"stricter-than-shipped", "run: {deny: [ls]}", "ls", deny},
		{"deny-other-case", "read: {deny: [Secret.txt]}", "cat SECRET.TXT", deny},

		// A broader allow never lifts a narrower deny.
		{"tree-is-not-makefile", `write: {allow: ["."]}`, "echo x > Makefile", deny},
		{"tree-is-ordinary-file", `write: {allow: ["."]}`, "echo x > main.go", allow},
		{"makefile-named", `write: {allow: [Makefile]}`, "echo x > Makefile", allow},
		{"workflows-named", `write: {allow: [".github/workflows/**"]}`, "echo x > .github/workflows/ci.yml", allow},
		{"github-is-broader", `write: {allow: [".github/**"]}`, "echo x > .github/workflows/ci.yml", deny},
		{"ask-is-broader-too", `write: {ask: ["."]}`, "echo x > Makefile", deny},
		{"reading-all-is-not-env", `read: {allow: ["."]}`, "cat .env", deny},
		{"env-named", `read: {allow: [".env"]}`, "cat .env", allow},
		{"push-is-not-force", "run: {allow: [git push]}", "git push --force", deny},
		{"force-named", "run: {allow: [git push --force]}", "git push -f", allow},
		{"push", "run: {allow: [git push]}", "git push origin x", allow},
		{"everything-is-not-cloud", `run: {allow: ["*"]}`, "terraform apply", deny},
		{"cloud-program-named", "run: {allow: [terraform apply]}", "terraform apply", allow},
		{"class-named", `run: {allow: ["@cloud"]}`, "terraform apply", allow},
		{"network-is-not-private", `net: {allow: ["*"]}
run: {allow: [curl]}`, "curl http://192.168.1.1/", deny},

		// A shipped block always joins.
		{"block-joins", `read: {allow: ["~/**"]}`, "cat ~/.ssh/id_rsa", block},
		{"block-joins-named", `read: {allow: ["~/.ssh/config.d/x"]}`, "cat ~/.ssh/config.d/x", block},
		{"block-excepted", `read: {allow: {match: "~/.ssh/config.d/x", except: "shipped:ssh"}}`, "cat ~/.ssh/config.d/x", allow},
		{"block-excepted-elsewhere", `read: {allow: {match: "~/.ssh/config.d/x", except: "shipped:ssh"}}`, "cat ~/.ssh/id_rsa", block},
		{"deny-excepted", `write: {allow: {match: ".", except: "shipped:build-steering"}}`, "echo x > Makefile", allow},

		// extends: none keeps blocks and defaults.
		{"alone", "extends: none", "ls", ask},
		{"alone-block", "extends: none", "cat ~/.ssh/id_rsa", block},
		{"alone-outside", "extends: none\nrun: {allow: [cat]}", "cat /srv/x", deny},
		{"alone-no-deny", "extends: none\nrun: {allow: [cat]}\nread: {allow: [\".\"]}", "cat .env", allow},

		// Cover.
		{"cover-inline-code", "run: {allow: [python3]}", `python3 -c "print(1)"`, allow},
		{"cover-unknown-program", "run: {allow: [frobnicate]}", "frobnicate /srv/x", allow},
		{"cover-net", "run: {allow: [curl]}", "curl https://example.com/", allow},
		{"cover-net-not-private", "run: {allow: [curl]}", "curl http://192.168.1.1/", deny},
		{"cover-net-operator-asks", "run: {allow: [curl]}\nnet: {ask: [example.com]}", "curl https://example.com/", ask},
		{"cover-write-inside", "run: {allow: [mkdir, touch]}", "mkdir -p a && touch a/b", allow},
		{"cover-not-write-outside", "run: {allow: [touch]}", "touch /tmp/x", deny},
		{"cover-not-steering", "run: {allow: [touch]}", "touch Makefile", deny},
		{"cover-not-redirection", "run: {allow: [echo]}", "echo x > a.txt", ask},
		{"cover-not-look-up-option", "run: {allow: [sort]}", "sort -o x y", ask},
		{"cover-look-up-option-named", "run: {allow: [sort -o]}", "sort -o x y", allow},
		{"cover-not-find-delete", "run: {allow: [find]}", "find . -name x -delete", ask},
		{"cover-not-sed-in-place", "run: {allow: [sed]}", "sed -i s/a/b/ x", ask},
		{"cover-sed-in-place-named", "run: {allow: [sed -i]}", "sed -i s/a/b/ x", allow},
		{"cover-not-other-command", "run: {allow: [echo]}", "echo x | frobnicate", ask},
		{"cover-not-privileged", "run: {allow: [frobnicate]}", "sudo frobnicate", deny},
		{"cover-privileged-named", "run: {allow: [sudo frobnicate]}", "sudo frobnicate", allow},

		// A guess restricts and never allows.
		{"guess-read", "", "frobnicate /etc/passwd", ask},
		{"guess-block", "", "frobnicate ~/.ssh/id_rsa", block},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.policy == "" {
				tt.policy = "version: 1"
			}
			v := judgeWith(t, tt.policy, bash(tt.command))
			if v.Result != tt.want {
				t.Errorf("%s: %v, want %v\n%s", tt.command, v.Result, tt.want, story(v))
			}
		})
	}
}

// story lists what was found and what decided.
func story(v Verdict) string {
	var b strings.Builder
	for i := range v.Effects {
		e := &v.Effects[i]
		fmt.Fprintf(&b, "\t%-6s %s <- %s\n", e.Result, e.Sentence(), e.Rule)
	}
	return b.String()
}

func TestLayersOnlyRestrict(t *testing.T) {
	operator := mustParse(t, "run: {allow: [frobnicate]}\nread: {allow: [\"/srv/**\"]}", Operator)
	loose := "run: {allow: [\"*\"]}\nread: {allow: [\"/**\"]}\nwrite: {allow: [\".\"]}\nnet: {allow: [\"*\"]}"
	strict := "run: {deny: [frobnicate]}\nread: {block: [\"/srv/**\"]}"
	for _, tt := range []struct {
		command string
		managed string
		want    Result
	}{
		{"frobnicate", loose, approval.Allow},
		{"other", loose, approval.Ask},
		{"cat /etc/passwd", loose, approval.Deny},
		{"frobnicate", strict, approval.Deny},
		{"cat /srv/x", strict, approval.Block},
		{"ls", strict, approval.Allow},
	} {
		f := Floor{Operator: operator, Managed: mustParse(t, tt.managed, Managed)}
		if got := f.Judge(bash(tt.command)).Result; got != tt.want {
			t.Errorf("managed %q, %s: %v, want %v", tt.managed, tt.command, got, tt.want)
		}
		f = Floor{Operator: operator, Project: mustParse(t, tt.managed, Project)}
		if got := f.Judge(bash(tt.command)).Result; got != tt.want {
			t.Errorf("project %q, %s: %v, want %v", tt.managed, tt.command, got, tt.want)
		}
	}
}

func mustParse(t testing.TB, text string, layer Layer) *Policy {
	t.Helper()
	p, err := ParseLayer(layer.String()+".yaml", []byte(text), layer)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestLastGood(t *testing.T) {
	p := mustParse(t, "run: {allow: [frobnicate], ask: [git log, gh auth token], deny: [ls], block: [dd]}\nwrite: {allow: [\".\"], ask: [x]}\nread: {ask: [/etc/foo, secret]}", Operator)
	f := Floor{Operator: p.LastGood()}
	for command, want := range map[string]Result{
		"frobnicate":   approval.Ask,
		"ls":           approval.Deny,
		"dd":           approval.Block,
		"echo x > a":   approval.Ask,
		"git status":   approval.Allow,
		"cat /etc/foo": approval.Deny,

		// What it asked about is not allowed because the file is broken, and
		// what is denied besides stays so.
		"git log":       approval.Ask,
		"cat secret":    approval.Ask,
		"gh auth token": approval.Deny,
	} {
		if got := f.Judge(bash(command)).Result; got != want {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
	}
	alone := Floor{Operator: mustParse(t, "extends: none\nrun: {allow: [ls]}", Operator).LastGood()}
	for command, want := range map[string]Result{"ls": approval.Ask, "git status": approval.Ask, "gh auth token": approval.Deny, "cat ~/.ssh/id_rsa": approval.Block} {
		if got := alone.Judge(bash(command)).Result; got != want {
			t.Errorf("without the shipped floor, %s: %v, want %v", command, got, want)
		}
	}
	if (*Policy)(nil).LastGood() != nil {
		t.Error("there is a last good version of no policy")
	}
}

// TestOwnFilesAreBlocked: the policies in force protect themselves, wherever
// they are.
func TestOwnFilesAreBlocked(t *testing.T) {
	p, err := ParsePolicy("/srv/rules/policy.yaml", []byte("read: {allow: [\"/srv/**\"]}\nwrite: {allow: [\"/srv/**\"]}"))
	if err != nil {
		t.Fatal(err)
	}
	f := Floor{Operator: p, Own: []string{"/run/elsewhere/socket"}}
	for command, want := range map[string]Result{
		"cat /srv/rules/other":               approval.Allow,
		"cat /srv/rules/policy.yaml":         approval.Block,
		"echo x >> /srv/rules/policy.yaml":   approval.Block,
		"cp x /srv/rules/POLICY.yaml":        approval.Block,
		"rm -rf /srv/rules":                  approval.Block,
		"echo x > .assent/policy.yaml":       approval.Block,
		"cat /run/elsewhere/socket":          approval.Block,
		"assent approve 1":                   approval.Block,
		"env X=1 assent policy show":         approval.Allow,
		"echo x > ~/.local/state/assent/log": approval.Block,
	} {
		if got := f.Judge(bash(command)).Result; got != want {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
	}
}

func TestKnownFilesCount(t *testing.T) {
	call := bash("grep -rn x /srv/data && grep x sub/*")
	call.Facts.Files = map[string]string{"/srv/data/deep/.env": "", "/home/user/project/sub/server.key": "", "/home/user/project/other/a.key": ""}
	v := judgeWith(t, `read: {allow: ["/srv/**"]}`, call)
	if v.Result != approval.Deny {
		t.Fatalf("result %v, want deny\n%s", v.Result, story(v))
	}
	files := map[string]bool{}
	for i := range v.Effects {
		if f := v.Effects[i].File; f != "" {
			files[f] = true
		}
	}
	for _, f := range []string{"/srv/data/deep/.env", "/home/user/project/sub/server.key"} {
		if !files[f] {
			t.Errorf("%s is not named\n%s", f, story(v))
		}
	}
}

// TestRemedies: the rule that an explanation proposes does what it says.
func TestRemedies(t *testing.T) {
	for _, command := range []string{
		"git push -f", "git push", "frobnicate x", "npm install x", "cat .env", "cat /etc/passwd", "grep -r x /srv/y", "echo x > a.txt", "echo x > Makefile", "rm -rf build",
		"find . -delete", "curl https://example.com/", "curl http://10.0.0.1/", "PATH=/x ls", "sudo systemctl restart x", "sudo -u x frobnicate", "terraform apply",
		"python3 -c x", "cat '/srv/a b'", "cat '/srv/[x]*'", "touch 'a: b'", "sed -i s/a/b/ x", "./x.sh", "echo x > '@x'", "echo x > '!x'", "npx cowsay", "crontab x", "whoami", "kill 1",
		"rm /srv/*.txt", "docker run x", "ssh host ls", "echo x > .github/workflows/ci.yml", "git commit -m x", "git reset --hard", "make -f /srv/Makefile",
	} {
		v := judgeWith(t, "version: 1", bash(command))
		remediesWork(t, new(Floor), bash(command), &v)
	}
}

// TestLinksDoNotHideRoots: that a glob may follow a link makes its target
// unknown, not its name.
func TestLinksDoNotHideRoots(t *testing.T) {
	for command, want := range map[string]Result{
		"rm -rf /*":         approval.Block,
		"rm -rf ~/*":        approval.Block,
		"rm -rf ./*":        approval.Block,
		"cat ~/.ssh/*":      approval.Block,
		"cat *":             approval.Ask,
		"rm -rf sub/*":      approval.Ask,
		"echo x > link/a.c": approval.Deny,
	} {
		call := bash(command)
		call.Facts.Links = map[string]string{"/bin": "/usr/bin", "/home/user/x": "/srv/x", "/home/user/.ssh/y": "/srv/y", "/home/user/project/link": "/srv/z", "/home/user/project/sub/l": "/srv/l"}
		if got := judgeWith(t, "version: 1", call); got.Result != want {
			t.Errorf("%s: %v, want %v\n%s", command, got.Result, want, story(got))
		}
	}
}

// TestJudgePanics: what fails while judging is refused.
func TestJudgePanics(t *testing.T) {
	f := Floor{Base: &Policy{Rules: []*Rule{nil}}}
	f.Base.index[effect.Run].anyRun = []int{7}
	f.Base.index[effect.Run].rules = []*Rule{nil}
	v := f.Judge(bash("ls"))
	if v.Result != approval.Block || v.Message == "" || len(v.Effects) == 0 {
		t.Errorf("verdict %+v", v)
	}
}

// A program that is npx or bunx under another name is hatch; what only fetches is not.
func TestHatchByAnotherName(t *testing.T) {
	for command, want := range map[string]bool{
		"bun x foo": true, "bun x -p foo bar": true, "bun --silent x foo": true, "bun create vite": true, "bun c vite": true, "/usr/local/bin/bun x foo": true,
		"npm exec foo": true, "npm x foo": true, "npm exe foo": true, "npm --silent exec -- foo": true, "npm exec --package=a b": true, "npm exec -c 'foo'": true,
		"npm create vite": true, "npm init vite": true, "npm init": false, "npm init -y": false, "env X=1 npm x foo": true, "echo $(bun x foo)": true,
		"bun install": false, "bun run x": false, "npm run exec": false, "npm install x": false, "pnpm dlx x": false, "pip install x": false, "./npm.sh exec": false,
	} {
		arguments, _ := json.Marshal(map[string]string{"command": command})
		v := (&Floor{}).Judge(Call{Name: "Bash", Arguments: arguments, Workspace: "/work", Cwd: "/work", Home: "/home/u"})
		if v.Hatch != want {
			t.Errorf("%s: hatch %v, want %v", command, v.Hatch, want)
		}
	}
}

// TestHatchIsWhatTheLawSays: the quick look before the pattern changes
// nothing.
func TestHatchIsWhatTheLawSays(t *testing.T) {
	for _, arguments := range []string{
		`{"command": "npx x"}`, `{"command": "bunx x"}`, `{"command": "\u006epx x"}`, `{"command": "ls"}`, `{"command": "echo npx"}`, `{"command": "npxx"}`,
		`{"command": `, ``, `{}`, `[]`, `{"command": "ls", "command": "npx x"}`, `{"other": "npx"}`, "{\"command\": \"l\x00s\"}",
	} {
		var f Floor
		call := testPlace
		call.Name, call.Arguments = "Bash", []byte(arguments)
		want := approval.HatchShape("Bash", call.Arguments)
		v := f.Judge(call)
		for i := range v.Effects {
			want = want || runsHatch(&v.Effects[i].Effect)
		}
		if v.Hatch != want {
			t.Errorf("%s: hatch %v, want %v", arguments, v.Hatch, want)
		}
	}
}

// Properties.

var (
	anyCommand = rapid.SampledFrom([]string{
		"ls", "cat a.txt", "cat .env", "cat /etc/passwd", "cat ~/.ssh/id_rsa", "echo x > a.txt", "echo x > Makefile", "rm -rf build", "rm -rf ~", "git push",
		"git push -f origin x", "git commit -m x", "npm install x", "npm test", "sudo ls", "curl https://example.com/x", "curl http://10.0.0.1/", "python3 -c 'x'",
		"frobnicate /srv/x", "env A=1 frobnicate", "find . -delete", "sed -i s/a/b/ a.txt", "terraform apply", "cat *", "grep -r x .", "cat $X", "ls | xargs rm",
		"timeout 5 git push", "touch a b", "cp a /srv/b", "kill 1", "PATH=/x ls", "eval x", "ls; (",
	})
	anyRule = rapid.Custom(func(t *rapid.T) string {
		section := rapid.SampledFrom([]string{"run", "read", "write", "delete", "net", "env"}).Draw(t, "section")
		result := rapid.SampledFrom([]string{"allow", "ask", "deny", "block"}).Draw(t, "result")
		patterns := map[string][]string{
			"run":    {"ls", "cat", "git push", "git push --force", "git", "*", "@look", "@send", "sudo ls", "frobnicate", "npm install", "touch", "rm -rf", "terraform", "xargs rm"},
			"read":   {".", "*.txt", ".env", "/srv/**", "~/**", "/etc/passwd", "@outside", "**/*", "/**"},
			"write":  {".", "Makefile", "*.txt", "/srv/**", "@outside", "build/**"},
			"delete": {".", "build/**", "/**"},
			"net":    {"*", "example.com", "*.example.com", "@private", "10.0.0.0/8"},
			"env":    {"PATH", "*"},
		}
		return fmt.Sprintf(`{"%s": {"%s": [%q]}}`, section, result, rapid.SampledFrom(patterns[section]).Draw(t, "pattern"))
	})
)

// joinPolicies writes one document with the rules of several.
func joinPolicies(docs []string) string {
	all := map[string]map[string][]string{}
	for _, d := range docs {
		var one map[string]map[string][]string
		if err := json.Unmarshal([]byte(d), &one); err != nil {
			panic(err)
		}
		for s, lists := range one {
			for r, ps := range lists {
				if all[s] == nil {
					all[s] = map[string][]string{}
				}
				all[s][r] = append(all[s][r], ps...)
			}
		}
	}
	out, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return string(out)
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		parse := func(text string, layer Layer) *Policy {
			p, err := ParseLayer("p", []byte(text), layer)
			if err != nil {
				rt.Fatalf("%s: %v", text, err)
			}
			return p
		}
		rules := rapid.SliceOfN(anyRule, 0, 4).Draw(rt, "rules")
		call := bash(anyCommand.Draw(rt, "command"))
		text := joinPolicies(rules)
		base := Floor{Operator: parse(text, Operator)}
		v := base.Judge(call)

		// The strictest effect decides.
		strict := approval.None
		for i := range v.Effects {
			strict = strict.Join(v.Effects[i].Result)
			if v.Effects[i].Rule == nil || v.Effects[i].Rule.Text == "" {
				rt.Fatalf("an effect has no reason: %+v", v.Effects[i])
			}
			if v.Effects[i].Kind == effect.Opaque && v.Effects[i].Result == approval.Allow && !v.Effects[i].Covered {
				rt.Fatalf("what cannot be told is allowed: %+v", v.Effects[i])
			}
		}
		if v.Result != strict {
			rt.Fatalf("result %v, strictest effect %v", v.Result, strict)
		}

		// One more deny or block never loosens.
		extra := rapid.Custom(func(t *rapid.T) string {
			return strings.NewReplacer(`"allow"`, `"deny"`, `"ask"`, `"block"`).Replace(anyRule.Draw(t, "rule"))
		}).Draw(rt, "extra")
		more := Floor{Operator: parse(joinPolicies(append(slices.Clone(rules), extra)), Operator)}
		if w := more.Judge(call); v.Result.Stricter(w.Result) {
			rt.Fatalf("%s made it looser: %v after %v\nrules %s\n%s\nnow\n%s", extra, w.Result, v.Result, text, story(v), story(w))
		}

		// A further layer never loosens.
		layer := joinPolicies(rapid.SliceOfN(anyRule, 0, 4).Draw(rt, "layer"))
		for _, f := range []Floor{{Operator: base.Operator, Managed: parse(layer, Managed)}, {Operator: base.Operator, Project: parse(layer, Project)}} {
			if w := f.Judge(call); v.Result.Stricter(w.Result) {
				rt.Fatalf("the layer %s made it looser: %v after %v", layer, w.Result, v.Result)
			}
		}

		// What the shipped floor blocks stays blocked.
		var shipped Floor
		if s := shipped.Judge(call); s.Result == approval.Block && v.Result != approval.Block {
			rt.Fatalf("%s lifted a shipped block: %v", text, v.Result)
		}

		// The last good version of a policy only restricts.
		stale := Floor{Operator: base.Operator.LastGood()}
		if w, s := stale.Judge(call), shipped.Judge(call); s.Result.Stricter(w.Result) {
			rt.Fatalf("the last good version of %s made it looser than shipped: %v after %v", text, w.Result, s.Result)
		}
		if w := stale.Judge(call); v.Result.Stricter(w.Result) {
			rt.Fatalf("%s allows more when it is broken: %v after %v\n%s\nnow\n%s", text, w.Result, v.Result, story(v), story(w))
		}
	})
}
