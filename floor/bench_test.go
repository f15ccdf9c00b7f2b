package floor

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"assent/floor/effect"

	"mvdan.cc/sh/v3/syntax"
)

// benchCommands are of the kinds that agents run all day.
var benchCommands = []string{
	"git status --short && git log --oneline -5",
	"cd src && grep -rn 'TODO' . | head -20",
	"go test ./...",
	"npm run build 2>&1 | tail -40",
	"sed -n '1,200p' internal/server/main.go",
	"cat package.json | jq '.scripts'",
	"find . -name '*.go' -not -path './vendor/*' | xargs wc -l | sort -n | tail -5",
	"for f in docs/*.md; do head -3 \"$f\"; done",
	"git add -A && git commit -m 'fix: handle empty input'",
	"mkdir -p build && cp config.example.json build/config.json",
}

// manyRules is a policy with n rules that name other programs and files.
func manyRules(n int) *Policy {
	var b strings.Builder
	b.WriteString("version: 1\nrun:\n  allow:\n    - git status\n")
	for i := range n / 2 {
		fmt.Fprintf(&b, "    - tool%d build --flag%d\n", i, i)
	}
	b.WriteString("read:\n  deny:\n    - hidden.txt\n")
	for i := range n / 4 {
		fmt.Fprintf(&b, "    - ~/private%d/**\n", i)
	}
	b.WriteString("net:\n  deny:\n    - bad.example\n")
	for i := range n / 4 {
		fmt.Fprintf(&b, "    - \"*.bad%d.example\"\n", i)
	}
	p, err := ParsePolicy("bench.yaml", []byte(b.String()))
	if err != nil {
		panic(err)
	}
	return p
}

func benchCalls() []Call {
	var calls []Call
	for _, c := range benchCommands {
		arguments, _ := json.Marshal(map[string]string{"command": c})
		call := testPlace
		call.Name, call.Arguments = "Bash", arguments
		calls = append(calls, call)
	}
	return calls
}

func BenchmarkParseAlone(b *testing.B) {
	b.ReportAllocs()
	p := syntax.NewParser()
	i := 0
	for b.Loop() {
		if _, err := p.Parse(strings.NewReader(benchCommands[i%len(benchCommands)]), ""); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

func BenchmarkEffectsAlone(b *testing.B) {
	calls := benchCalls()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		Effects(calls[i%len(calls)])
		i++
	}
}

func BenchmarkPoliciesAlone(b *testing.B) {
	var f Floor
	type told struct {
		call    Call
		effects []effect.Effect
		text    string
	}
	var all []told
	for _, call := range benchCalls() {
		effects, text := Effects(call)
		all = append(all, told{call, effects, text})
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		t := &all[i%len(all)]
		f.JudgeEffects(t.call, t.effects, t.text)
		i++
	}
}

func BenchmarkJudge(b *testing.B) {
	for _, n := range []int{0, 100, 10000} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			var f Floor
			if n > 0 {
				f.Operator = manyRules(n)
			}
			calls := benchCalls()
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if v := f.Judge(calls[i%len(calls)]); v.Result == 0 {
					b.Fatal(v)
				}
				i++
			}
		})
	}
}

// BenchmarkCost tells what judging the commands takes beside parsing them
// alone. They take turns, so that whatever else the machine does hits both.
func BenchmarkCost(b *testing.B) {
	calls := benchCalls()
	parser := syntax.NewParser()
	parse := func() {
		for _, c := range benchCommands {
			if _, err := parser.Parse(strings.NewReader(c), ""); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, n := range []int{0, 100, 10000} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			var f Floor
			if n > 0 {
				f.Operator = manyRules(n)
			}
			judge := func() {
				for _, call := range calls {
					f.Judge(call)
				}
			}
			var parsed, judged time.Duration
			for b.Loop() {
				start := time.Now()
				parse()
				between := time.Now()
				judge()
				parsed, judged = parsed+between.Sub(start), judged+time.Since(between)
			}
			b.ReportMetric(float64(judged)/float64(parsed), "x-time")
			b.ReportMetric(fewestAllocations(judge)/fewestAllocations(parse), "x-allocs")
		})
	}
}

func BenchmarkParsePolicy(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parsePolicy(shippedName, reasonableDefaults, Shipped, false); err != nil {
			b.Fatal(err)
		}
	}
}

// TestCostDoesNotGrow: rules that name something else cost nothing, counted in
// what a judgement allocates, which is the same everywhere.
func TestCostDoesNotGrow(t *testing.T) {
	few, many := Floor{Operator: manyRules(100)}, Floor{Operator: manyRules(10000)}
	for i, call := range benchCalls() {
		a := fewestAllocations(func() { few.Judge(call) })
		b := fewestAllocations(func() { many.Judge(call) })
		if b > a+2 {
			t.Errorf("%s: %v allocations with 100 rules, %v with 10,000", benchCommands[i], a, b)
		}
	}
}

// fewestAllocations is what f allocates when the parser comes from the pool.
// The race detector and the collector empty the pool now and then, which an
// average would count; what f itself allocates is in the fewest as well.
func fewestAllocations(f func()) float64 {
	fewest := testing.AllocsPerRun(1, f)
	for range 30 {
		fewest = min(fewest, testing.AllocsPerRun(1, f))
	}
	return fewest
}
