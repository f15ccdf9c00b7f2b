package floor

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"assent/approval"
)

// remediesWork applies every rule that is proposed, each alone: it must allow
// its effect, and all together the call, where each effect has a rule.
func remediesWork(t *testing.T, f *Floor, call Call, v *Verdict) {
	t.Helper()
	remedies := f.Remedies(call, v, len(v.Effects))
	var all []*Rule
	whole := v.Result != approval.Block // beside a block nothing else is told
	for _, r := range remedies {
		if r.Rule == "" {
			whole = false
			if r.Why == "" && r.Decides == nil && r.Excepts == nil {
				t.Errorf("%s: nothing is said of effect %d", call.Arguments, r.Effect)
			}
			continue
		}
		p, err := ParsePolicy("remedy", []byte(r.Rule))
		if err != nil {
			t.Errorf("%s: the proposed rule %s is none: %v", call.Arguments, r.Rule, err)
			continue
		}
		w := (&Floor{Operator: p}).Judge(call)
		if len(w.Effects) != len(v.Effects) || w.Effects[r.Effect].Result != approval.Allow {
			t.Errorf("%s: %s does not allow effect %d\n%s", call.Arguments, r.Rule, r.Effect, story(w))
		}
		all = append(all, p.Rules...)
	}
	if w := (&Floor{Operator: f.Operator.with(all)}).Judge(call); whole && w.Result != approval.Allow {
		t.Errorf("%s: all that is proposed does not allow it\n%s", call.Arguments, story(w))
	}
}

// What is proposed for the commands that are never silent works.
func TestRemediesOfTheSurface(t *testing.T) {
	file, err := os.Open("testdata/surface/loud.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	var f Floor
	for n := 0; lines.Scan(); {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		if n++; testing.Short() && n%10 != 0 {
			continue
		}
		v := f.Judge(bash(line))
		remediesWork(t, &f, bash(line), &v)
	}
}

// What is proposed, and what is not.
func TestRemedyTexts(t *testing.T) {
	for _, test := range []struct{ name, command, want string }{
		{"subcommand", "git commit -m x", "the operator's rule  run: {allow: [git commit]}  would allow it"},
		{"what is run", "python3 script.py", "the operator's rule  run: {allow: [python3 script.py]}  would allow it"},
		{"any code", "python3 -c 'print(1)'", "the operator's rule  run: {allow: [python3]}  would allow it, and let python3 run any code"},
		{"any address, said once", "curl -s https://example.com", "the operator's rule  run: {allow: [curl]}  would allow it, and let curl contact any address"},
		{"option of the rule", "git push --force", "the operator's rule  run: {allow: [git push --force]}  would allow it"},
		{"block", "cat ~/.ssh/id_rsa", `the operator's rule  read: {allow: [{match: "~/.ssh/id_rsa", except: "shipped:ssh"}]}  would allow it`},
		{"everything", "find / -name x", "no rule is proposed: one for everything below / would allow far more than this"},
		{"the home", "rm -rf ~", "no rule is proposed: one for everything below /home/user would allow far more than this"},
		{"cannot be told", "cat $X", "a person must answer: no rule can allow what cannot be told"},
		{"fixed", "assent mode yolo", "nothing lifts this: it protects assent itself"},
		{"an address that the command's rule answers", `curl -s "https://$HOST/x"`, "the operator's rule  run: {allow: [curl]}  would allow it, and let curl contact any address"},
		{"beside what cannot be told", "cat $X; git commit -m x", "a person must answer: no rule can allow what cannot be told"},
		{"beside what is too much", "find / -name x; git commit -m x", "no rule is proposed: one for everything below / would allow far more than this"},
		{"covered by the run rule", "frobnicate x", "the operator's rule  run: {allow: [frobnicate]}  would allow it"},
	} {
		v := new(Floor).Judge(bash(test.command))
		var got []string
		for _, r := range new(Floor).Remedies(bash(test.command), &v, 8) {
			got = append(got, r.Text((*RuleRef).Place))
		}
		if strings.Join(got, "\n") != test.want {
			t.Errorf("%s: %s\n got %s\nwant %s", test.name, test.command, strings.Join(got, "\n     "), test.want)
		}
	}
}

// What a person left out of a rule that allows is not proposed again, nor covered
// by what is proposed.
func TestRemediesKeepExceptions(t *testing.T) {
	for _, test := range []struct{ name, policy, command, want string }{
		{"the very thing", "run: {allow: [{match: git push, except: git push --force}]}", "git push --force",
			"the rule at p:1 leaves this out, by its except"},
		{"a beginning of it", "run: {allow: [{match: git push, except: git push origin}]}", "git push origin x", "the rule at p:1 leaves this out, by its except"},
		{"something else of the program", "run: {allow: [{match: git *, except: [git push, git commit --amend]}]}", "git commit --amend", "the rule at p:1 leaves this out, by its except"},
		{"the program by another rule", "run: {allow: [{match: npm run, except: npm run deploy}]}", "npm publish",
			"the operator's rule  run: {allow: [npm publish]}  would allow it"},
		{"wider than what is left out", "run: {allow: [{match: git commit -m, except: git commit --amend}]}", "git commit x",
			`the operator's rule  run: {allow: [{match: git commit, except: "git commit --amend"}]}  would allow it`},
		{"a negated pattern", "run: {allow: [git commit -m, '!git commit --amend']}", "git commit x",
			`the operator's rule  run: {allow: [{match: git commit, except: "git commit --amend"}]}  would allow it`},
		{"a file", "write: {allow: [{match: docs/**, except: docs/own/**}]}", "touch docs/own/x", "the rule at p:1 leaves this out, by its except"},
		{"a file, negated", "write: {allow: [docs/**, '!docs/own/**']}", "touch docs/own/x", "the rule at p:1 leaves this out, by its except"},
		{"a file elsewhere", "write: {allow: [{match: docs/**, except: docs/own/**}]}", "touch src/x", "the operator's rule  write: {allow: [src/x]}  would allow it"},
		{"a host", "net: {allow: [{match: '*.example.com', except: a.example.com}]}\nrun: {allow: [{match: curl, except: curl -o}]}", "curl https://a.example.com/",
			""},
		{"a tree around it", "write: {allow: [{match: src/**, except: src/own/**}]}", "rm -rf src", "the rule at p:1 leaves this out, by its except"},
	} {
		p, err := ParsePolicy("p", []byte(test.policy))
		if err != nil {
			t.Fatal(test.name, err)
		}
		f := &Floor{Operator: p}
		v := f.Judge(bash(test.command))
		var got []string
		for _, r := range f.Remedies(bash(test.command), &v, 8) {
			got = append(got, r.Text((*RuleRef).Place))
			if r.Rule == "" {
				continue
			}
			// With the rule that is proposed, what was left out is still not allowed.
			for _, rule := range p.Rules {
				for _, except := range rule.Except {
					q, err := ParsePolicy("q", []byte(r.Rule))
					if err != nil {
						t.Fatal(err)
					}
					if w := (&Floor{Operator: p.with(q.Rules)}).Judge(bash(except)); w.Result == approval.Allow {
						t.Errorf("%s: %s allows %s", test.name, r.Rule, except)
					}
				}
			}
		}
		if test.want != "" && strings.Join(got, "\n") != test.want {
			t.Errorf("%s: %s\n got %s\nwant %s\n%s", test.name, test.command, strings.Join(got, "\n     "), test.want, story(v))
		}
	}
}
