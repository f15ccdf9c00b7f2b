package floor

import (
	"strconv"
	"strings"
	"testing"

	"assent/approval"
)

// A rule that allows the tools of a server answers for what the server does by
// itself, and not for a path or an address that the call hands to it, in
// whatever form.
func TestServerToolsAllowed(t *testing.T) {
	p, err := ParsePolicy("p", []byte("version: 1\nmcp: {allow: [\"fs/*\"]}\nread: {deny: [\"**/plans.txt\"]}\nnet: {deny: [evil.example]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	f := Floor{Operator: p}
	loud := []struct{ why, arguments string }{
		{"a path", `{"path":"/etc/shadow"}`},
		{"a list", `{"paths":["a.txt","../../../etc/shadow"]}`},
		{"a list of objects", `{"items":[{"name":"a"},{"name":"/etc/shadow"}]}`},
		{"JSON in a text", `{"request":"{\"path\":\"/etc/shadow\"}"}`},
		{"JSON in JSON in a text", `{"request":"{\"inner\":\"{\\\"file\\\":\\\"/etc/shadow\\\"}\"}"}`},
		{"JSON with a name given twice", `{"request":"{\"a\":\"x\",\"a\":\"/etc/shadow\"}"}`},
		{"a JSON list in a text", `{"request":"[\"/etc/shadow\"]"}`},
		{"a JSON text in a text", `{"request":"\"/etc/shadow\""}`},
		{"a name of a member", `{"files":{"/etc/shadow":"x"}}`},
		{"a name of a member at the top", `{"/etc/shadow":true}`},
		{"a name of a member in the workspace", `{"edits":{".git/hooks/pre-commit":"x"}}`},
		{"a list with commas", `{"names":"a.txt,/etc/shadow"}`},
		{"a list with commas and blanks", `{"files":"a b.txt, /etc/shadow"}`},
		{"lines", `{"names":"a.txt\n/etc/shadow\n"}`},
		{"a long list", `{"names":"` + strings.Repeat("a,", 500) + `/etc/shadow"}`},
		{"too many arguments", `{"names":[` + strings.Repeat(`"a",`, maxTexts) + `"/etc/shadow"]}`},
		{"a list of too many paths", `{"names":"` + strings.Repeat("./a,", maxParts+1) + `b"}`},
		{"percent signs", `{"path":"..%2F..%2F..%2Fetc%2Fshadow"}`},
		{"percent signs anywhere", `{"what":"%2Fetc%2Fshadow"}`},
		{"percent signs twice", `{"what":"%252Fetc%252Fshadow"}`},
		{"percent signs that are none", `{"what":"%2Fetc/%zz/..%2Fshadow"}`},
		{"a file URL", `{"what":"file:///etc/shadow"}`},
		{"a file URL without slashes", `{"what":"file:/etc/shadow"}`},
		{"a file URL with percent signs", `{"uri":"file:///etc/sh%61dow"}`},
		{"a secret of the workspace", `{"what":".env"}`},
		{"a secret of the workspace by its id", `{"id":"config/.env"}`},
		{"a secret of home", `{"what":"~/.ssh/id_rsa"}`},
		{"what the person's rule denies", `{"what":"docs/plans.txt"}`},
		{"a hook", `{"target":".git/hooks/pre-commit"}`},
	}
	for _, c := range loud {
		if v := f.Judge(at("mcp__fs__put", c.arguments)); v.Result < approval.Ask {
			t.Errorf("%s: %s is %s", c.why, c.arguments, v.Result)
		}
	}
	quiet := []struct{ why, arguments string }{
		{"a text", `{"text":"see /etc/shadow, and .env; or not"}`},
		{"a file of the workspace", `{"path":"docs/a.md"}`},
		{"a content with paths in it", `{"path":".gitignore.md","content":"dist\n.env\n/build\n"}`},
		{"a content that is JSON", `{"path":"package.json","content":"{\"name\":\"x\",\"main\":\"./index.js\",\"files\":[\"src\"]}"}`},
		{"a version", `{"version":"1.2.3"}`},
		{"a repository", `{"repo":"owner/name","branch":"feature/x"}`},
		{"numbers", `{"count":3,"ratio":0.5,"on":true,"none":null}`},
		{"a title with a percent sign", `{"title":"100% of %20 done"}`},
		{"what is searched for", `{"query":".env"}`},
		{"a text in brackets", `{"note":"[1] see there"}`},
	}
	for _, c := range quiet {
		if v := f.Judge(at("mcp__fs__put", c.arguments)); v.Result != approval.Allow {
			t.Errorf("%s: %s is %s: %s", c.why, c.arguments, v.Result, v.Message)
		}
	}
	// A path that is named as one is denied or blocked as ever.
	for _, arguments := range []string{`{"path":"/etc/shadow"}`, `{"request":"{\"path\":\"/etc/shadow\"}"}`} {
		if v := f.Judge(at("mcp__fs__put", arguments)); v.Result < approval.Deny {
			t.Errorf("%s is %s", arguments, v.Result)
		}
	}
	deep := `"/etc/shadow"`
	for range 2 * maxCalls {
		deep = strconv.Quote("[" + deep + "]")
		if v := f.Judge(at("mcp__fs__put", `{"what":`+deep+`}`)); v.Result < approval.Ask {
			t.Errorf("JSON in texts: %s is %s", deep, v.Result)
		}
	}
}
