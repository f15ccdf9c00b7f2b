package floor

import (
	"strings"
	"testing"

	"assent/approval"
)

func TestRunPatterns(t *testing.T) {
	const (
		never  = 0
		loose  = 1 // only for rules that restrict
		always = 2
	)
	tests := []struct {
		name, pattern, command string
		want                   int
	}{
		{"program", "ls", "ls -la src", always},
		{"program-other", "ls", "lsof", never},
		{"program-case", "ls", "LS", loose},
		{"program-in-system-place", "ls", "/bin/ls", always},
		{"program-elsewhere", "ls", "./ls", loose},
		{"program-exe", "git", "git.exe status", loose},
		{"program-glob", "go*", "gofmt x.go", always},
		{"everything", "*", "whatever x", always},
		{"path", "./gradlew build", "./gradlew build -x test", always},
		{"path-other-folder", "./gradlew", "cd sub && ./gradlew build", never},
		{"path-other-spelling", "./gradlew", "cd sub && ../gradlew build", always},
		{"path-absolute", "./gradlew", "/home/user/project/gradlew build", always},
		{"path-unknown-folder", "./gradlew", `cd "$X" && ./gradlew build`, loose},
		{"path-of-system", "/usr/bin/git status", "git status", always},
		{"path-not-name", "./gradlew build", "gradlew build", never},
		{"path-inside-folder", "./gradlew", "sub/../gradlew x", always},

		{"subcommand", "git push", "git -C sub --no-pager push origin main", always},
		{"subcommand-prefix-only", "git push", "git pushy", never},
		{"subcommand-other", "git log", "git logout", never},
		{"subcommand-alias", "npm install", "npm i left-pad", always},
		{"subcommand-alias-other-way", "npm i", "npm install", always},
		{"operand", "git push origin scratch/*", "git push origin scratch/x", always},
		{"operand-other", "git push origin scratch/*", "git push origin main", never},
		{"operand-missing", "git push origin scratch/*", "git push", never},
		{"operand-unknown", "git push origin main", "git push origin $BRANCH", loose},
		{"last-star", "make *", "make", always},
		{"last-star-more", "make *", "make -j4 all", always},
		{"word-glob", "npm run test*", "npm run test:unit -- -t x", always},
		{"word-glob-other", "npm run test*", "npm run build", never},

		{"option", "git push --force", "git push -f", always},
		{"option-cluster", "git push --force", "git push -fu origin x", always},
		{"option-anywhere", "git push --force", "git push origin x --force", always},
		{"option-abbreviated", "git push --set-upstream", "git push --set-up origin x", always},
		{"option-missing", "git push --force", "git push", never},
		{"any-option", "git push -*", "git push -f", always},
		{"any-option-none", "git push -*", "git push origin", never},
		{"any-option-but-the-named", "git push -f -*", "git push -f origin", never},
		{"any-option-and-the-named", "git push -f -*", "git push --force --no-verify", always},
		{"any-option-of-an-unknown-program", "zonk x -*", "zonk x --yes", always},
		{"any-option-perhaps", "git push -*", "git push $X", loose},
		{"option-other", "git push --force", "git push --force-with-lease", never},
		{"option-after-dashes", "git push --force", "git push origin -- --force", never},
		{"cluster-in-pattern", "rm -rf", "rm -r -f x", always},
		{"cluster-in-pattern-long", "rm -rf", "rm --force --recursive x", always},
		{"cluster-half", "rm -rf", "rm -r x", never},
		{"value", "git log -n 5", "git log -n5", always},
		{"value-other", "git log -n 5", "git log -n 6", never},
		{"value-long", "git log --max-count=5", "git log -n 5", always},
		{"code", "python3 -c", `python3 -c "print(1)"`, always},

		{"undescribed", "hdfs dfs -ls", "hdfs dfs -ls /path", always},
		{"undescribed-other", "hdfs dfs -ls", "hdfs dfs -rm /path", never},
		{"undescribed-option-late", "frob --yes", "frob x --yes", always},
		{"undescribed-words-later", "frob drop", "frob --config c drop", loose},

		{"class", "@look", "ls", always},
		{"class-other", "@look", "npm install x", never},
		{"class-build", "@build", "go test ./...", always},

		{"through-wrapper", "npm test", "env CI=1 npm test", always},
		{"through-two", "npm test", "timeout 60 nice npm test", always},
		{"wrapper-named", "sudo systemctl", "sudo systemctl status x", always},
		{"wrapper-named-absent", "sudo systemctl", "systemctl status x", never},
		{"wrapper-named-options", "sudo -u root systemctl", "sudo systemctl status", always},
		{"wrapper-bare-for-inner", "sudo", "sudo ls", always}, // see TestBareWrapper
		{"xargs", "xargs rm", "find . -name x | xargs rm", always},
		{"module", "python3 -m pytest", "python3 -m pytest -q tests", always},
		{"module-subcommand", "python3 -m pip install", "python3 -m pip install x", always},
		{"module-unknown", "python3 -m frobnicate", "python3 -m frobnicate x", always},
		{"module-other", "python3 -m frobnicate", "python3 -m pytest", never},

		{"quoted-text-is-no-command", "rm", "echo 'rm -rf /'", never},
		{"comment", "rm", "ls # rm", never},
		{"substitution", "rm", "echo $(rm x)", always},
		{"shell-c", "rm", `bash -c "rm x"`, always},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := never
			for r, value := range map[approval.PolicyResult]int{approval.Allow: always, approval.Deny: loose} {
				rule := compileRule(t, r, tt.pattern)
				if rule.wouldMatch(tt.command) {
					got = max(got, value)
				} else if value == loose && got == always {
					t.Errorf("%q allows %q and does not restrict it", tt.pattern, tt.command)
				}
			}
			if got != tt.want {
				t.Errorf("%q and %q: %d, want %d (%s)", tt.pattern, tt.command, got, tt.want, seen(compileRule(t, approval.Deny, tt.pattern), tt.command))
			}
		})
	}
}

func compileRule(t *testing.T, r approval.PolicyResult, pattern string) *Rule {
	t.Helper()
	p, err := ParsePolicy("p", []byte("run:\n  "+r.String()+":\n    - '"+strings.ReplaceAll(pattern, "'", "''")+"'\n"))
	if err != nil {
		t.Fatal(err)
	}
	return p.Rules[0]
}

// TestBareWrapper: allowing a wrapper allows nothing that it runs, restricting
// it restricts all of it.
func TestBareWrapper(t *testing.T) {
	for _, tt := range []struct {
		policy, command string
		want            Result
	}{
		{"run: {allow: [sudo]}", "sudo rm x", approval.Deny},
		{"run: {allow: [sudo]}", "sudo frobnicate", approval.Deny},
		{"run: {allow: [sudo ls]}", "sudo ls", approval.Allow},
		{"run: {allow: [sudo ls]}", "sudo rm x", approval.Deny},
		{"run: {allow: [ls]}", "sudo ls", approval.Deny},
		{"run: {allow: [env]}", "env frobnicate", approval.Ask},
		{"run: {allow: [xargs]}", "ls | xargs frobnicate", approval.Ask},
		{"run: {allow: [bash]}", "bash -c frobnicate", approval.Ask},
		{"run: {deny: [env]}", "env ls", approval.Deny},
		{"run: {deny: [xargs]}", "ls | xargs cat", approval.Deny},
		{"run: {deny: [xargs rm]}", "ls | xargs echo", approval.Allow},
		{"run: {deny: [python3 -m pip install]}", "python3 -m pip list", approval.Allow},
		{"run: {deny: [python3 -m pip install]}", "python3 -m pip install x", approval.Deny},
	} {
		if got := judgeWith(t, tt.policy, bash(tt.command)).Result; got != tt.want {
			t.Errorf("%s, %s: %v, want %v", tt.policy, tt.command, got, tt.want)
		}
	}
}

// judgeWith judges by an operator's policy.
func judgeWith(t *testing.T, policy string, call Call) Verdict {
	t.Helper()
	p, err := ParsePolicy("policy.yaml", []byte(policy))
	if err != nil {
		t.Fatalf("%s: %v", policy, err)
	}
	return (&Floor{Operator: p}).Judge(call)
}

func TestAliasesAreUsual(t *testing.T) {
	for program, m := range aliases {
		for from, to := range m {
			if _, again := m[to]; again {
				t.Errorf("%s: %s stands for %s, which is an alias too", program, from, to)
			}
		}
	}
}
