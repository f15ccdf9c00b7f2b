package floor

import "testing"

// A text that cannot be read is told in words, and a JSON object as one.
func TestUnreadable(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"list not closed", "run: [", "p:1:6: the document is not valid YAML: a ] that closes the list is missing"},
		{"list closed wrongly", "run: {allow: [a}", "p:1:16: the document is not valid YAML: a comma is missing, or a ] that closes the list"},
		{"list behind a key", "run:\n allow: - x", `p:2:9: the document is not valid YAML: a list of "- " begins on a line of its own`},
		{"quotes not closed", "run: 'x", "p:1:6: the document is not valid YAML: a text in ' quotes does not end"},
		{"escape", `run: {allow: ["\q"]}`, `p:1:17: the document is not valid YAML: in " quotes a backslash is written \\ (or put the text in ' quotes)`},
		{"key alone", "run\nread: {}", "p:1:1: the document is not valid YAML: a key stands without a colon and a value"},
		{"JSON not closed", `{"run": {"allow": ["x"]}`, "p:1:25: the document is not valid JSON: it ends in the middle: a } is missing"},
		{"JSON without a colon", "{\n  \"run\" {\"allow\": [\"x\"]}}", "p:2:9: the document is not valid JSON: a colon is missing behind the name of a member"},
		{"JSON that YAML reads", `{"run": {"allow": [x,]}}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if _, err := ParsePolicy("p", []byte(c.text)); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
			}
		})
	}
}
