package floor

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// A policy of a project comes from whoever wrote the project, and takes memory and
// time of everybody.
func TestPolicyOfAProjectIsBounded(t *testing.T) {
	const head = "version: 1\n"
	const most = maxProjectPatterns
	list := func(section, pattern string, n int) string {
		return section + ": {deny: [" + strings.Repeat(pattern+",", n) + "]}\n"
	}
	for why, row := range map[string]struct {
		text    string
		refused bool
	}{
		"as many patterns as there may be": {head + list("read", "x", most), false},
		"one pattern too many":             {head + list("read", "x", most+1), true},
		"commands":                         {head + list("run", "acme x", most+1), true},
		"hosts":                            {head + list("net", "x.example", most+1), true},
		"tools":                            {head + list("mcp", "x/*", most+1), true},
		"variables":                        {head + list("env", "x", most+1), true},
		"patterns in one rule":             {head + "read: {deny: [{match: [" + strings.Repeat("x,", most+1) + "]}]}\n", true},
		"patterns that take away":          {head + "read: {deny: [a," + strings.Repeat("'!x',", most) + "]}\n", true},
		"patterns in except":               {head + "read: {deny: [{match: a, except: [" + strings.Repeat("x,", most) + "]}]}\n", true},
		"what braces stand for":            {head + list("read", "'{a,b}{a,b}{a,b}'", most/8), false},
		"more that braces stand for":       {head + list("read", "'{a,b}{a,b}{a,b}'", most/8+1), true},
		"long texts that braces repeat":    {head + list("read", "'{a,b}{a,b}{a,b}"+strings.Repeat("x", 2000)+"'", 5), true},
		"braces in a command's path":       {head + list("run", "'*/{a,b}{a,b}{a,b}'", most/8), true},
		"as large as it may be":            {head + strings.Repeat("#", MaxProject-len(head)), false},
		"larger":                           {head + strings.Repeat("#", MaxProject-len(head)+1), true},
	} {
		if _, err := ParseLayer("policy.yaml", []byte(row.text), Project); (err != nil) != row.refused {
			t.Errorf("%s: %v", why, err)
		} else if err != nil && strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("%s: told %q", why, err)
		}
		if _, err := ParseLayer("policy.yaml", []byte(row.text), Operator); err != nil {
			t.Errorf("%s, of the operator: %v", why, err)
		}
	}
}

// The weight of a policy is what decides how many are kept.
func TestWeightIsNoLessThanWhatIsKept(t *testing.T) {
	for why, row := range map[string]struct {
		section, pattern string
		n                int
	}{
		"short":                  {"read", "x", 1000},
		"folders":                {"read", "'**/x*/y[ab]?/%d'", 1000},
		"many folders":           {"read", "'" + strings.Repeat("a/", 50) + "%d'", 500},
		"many wild folders":      {"read", "'" + strings.Repeat("*/", 50) + "%d'", 500},
		"braces and folders":     {"read", "'{a,b}/{a,b}/{a,b}/{a,b}/{a,b}/{a,b}/*?/*/*/*'", 15},
		"in the home folder":     {"read", "'~/a%d/**'", 1000},
		"commands":               {"run", "'acme push * %d'", 1000},
		"commands of many words": {"run", "'a b c d e f g h i j k l m n o p q r s t u v w x y z *'", 1000},
		"commands in commands":   {"run", "'sudo env nice timeout 5 nohup acme push %d'", 100},
		"classes":                {"run", "'@edit'", 1000},
		"hosts":                  {"net", "'*.a%d.example.com'", 1000},
		"tools":                  {"mcp", "a%d/*", 1000},
		"variables":              {"env", "'A*B%d'", 1000},
		"rules":                  {"run", "{match: 'acme p%d', message: m%d, test: {hit: acme p%d}}", 900},
	} {
		var patterns []string
		for i := range row.n {
			patterns = append(patterns, strings.ReplaceAll(row.pattern, "%d", fmt.Sprint(i)))
		}
		text := []byte("version: 1\n" + row.section + ": {deny: [" + strings.Join(patterns, ", ") + "]}\n")
		before := inUse()
		p, err := ParseLayer("policy.yaml", text, Project)
		kept := inUse() - before
		if err != nil {
			t.Errorf("%s: %v", why, err)
			continue
		}
		t.Logf("%s: %d bytes, %d KiB are kept, weighs %d KiB", why, len(text), kept>>10, p.Weight()>>10)
		if kept > int64(p.Weight()) {
			t.Errorf("%s: %d bytes are kept, and it weighs %d", why, kept, p.Weight())
		}
		if most := 2048*maxProjectPatterns + (96+8)*MaxProject; p.Weight() > most {
			t.Errorf("%s: it weighs %d, more than the largest", why, p.Weight())
		}
		runtime.KeepAlive(p)
	}
}

// inUse is how many bytes are in use.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
