package floor

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFormatPolicy(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"indentation", "version:   1\nrun:\n    allow:\n        -   go test\n        - \"npm run\"\n", "version: 1\nrun:\n  allow:\n    - go test\n    - npm run\n"},
		{"quotes", "read:\n  allow: ['.', \"~/x\", '*.md', \"!a\", \"@system\", 'a b']\n", "read:\n  allow: [., ~/x, \"*.md\", \"!a\", \"@system\", a b]\n"},
		{"comments", "# head\n\n\nversion: 1   # one\n# about run\nrun:\n      # about allow\n  allow: # here\n      - ls # look\n      # last\n# end\n",
			"# head\n\nversion: 1 # one\n# about run\nrun:\n  # about allow\n  allow: # here\n    - ls # look\n# last\n# end\n"},
		{"rules", "run:\n  deny:\n  - match: git push --force\n    message: 'No: never.'\n  - {match:   x,except: [ z ]}\n",
			"run:\n  deny:\n    - match: git push --force\n      message: \"No: never.\"\n    - {match: x, except: [z]}\n"},
		{"block-text", "run:\n  deny:\n    - match: x\n      message: |\n        one\n        two\n", "run:\n  deny:\n    - match: x\n      message: |\n        one\n        two\n"},
		{"backslash", `read: {deny: ["\\@x", 'a"b']}` + "\n", "read: {deny: [\\@x, a\"b]}\n"},
		{"json", `{"run": {"allow": ["ls", "a, b"]}, "version": 1}`, "{\n  \"run\": {\n    \"allow\": [\n      \"ls\",\n      \"a, b\"\n    ]\n  },\n  \"version\": 1\n}\n"},
		{"no-json", `{run: {allow: [ls]}}`, "run: {allow: [ls]}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := FormatPolicy("p", []byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, string(got)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			again, err := FormatPolicy("p", got)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(got), string(again)); d != "" {
				t.Errorf("formatting again changes it:\n%s", d)
			}
		})
	}
	for name, text := range map[string]string{
		"no document":      "run: [",
		"no policy":        "- a",
		"unknown key":      "rnu: {allow: ls}",
		"unknown key json": `{"rnu": {"allow": "ls"}}`,
		"bad pattern":      "run: {allow: [a | b]}",
		"no match":         "run: {allow: [{message: x}]}",
	} {
		if out, err := FormatPolicy("p", []byte(text)); err == nil {
			t.Errorf("%s: formatted as %q", name, out)
		}
	}
	if _, err := FormatPolicy("p", []byte("run: {allow: [{match: ls, test: {hit: [cat]}}]}")); err != nil {
		t.Errorf("a test that fails is no reason not to format: %v", err)
	}
}

// TestFormatShipped: the shipped floor survives formatting.
func TestFormatShipped(t *testing.T) {
	out, err := FormatPolicy(shippedName, reasonableDefaults)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parsePolicy(shippedName, out, Shipped, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Rules) != len(ShippedPolicy().Rules) {
		t.Error("rules were lost")
	}
}

func FuzzFormat(f *testing.F) {
	f.Add([]byte("# a\nrun:\n  allow: [ls] # b\n"))
	f.Add([]byte("run:\n  deny:\n    - match: x\n      message: |\n        a\n"))
	f.Add([]byte("a: {b: [c, 'd: e']}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := FormatPolicy("p", data)
		if err != nil {
			if _, ok := errors.AsType[Problems](err); !ok {
				t.Fatalf("error %v", err)
			}
			return
		}
		again, err := FormatPolicy("p", out)
		if err != nil {
			t.Fatalf("%q became %q: %v", data, out, err)
		}
		if string(again) != string(out) {
			t.Fatalf("%q became %q and then %q", data, out, again)
		}
	})
}
