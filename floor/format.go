package floor

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// formatWidth is where a list or rule on one line is broken.
const formatWidth = 140

// FormatPolicy writes a policy document in the usual form: two blanks a
// level, quotes only where they are needed, one blank line at most. Comments
// and the order of everything stay, and JSON stays JSON. A document that is no
// policy is refused, and so is one that would not mean the same afterwards. The
// tests in its rules are not run.
func FormatPolicy(name string, data []byte) ([]byte, error) {
	root, problems := readDocument(name, data)
	if len(problems) > 0 {
		return nil, problems
	}
	if root.kind != mapping {
		return nil, Problems{{File: name, Line: root.line, Column: root.column, Message: "a policy is a mapping"}}
	}
	if _, err := parsePolicy(name, data, Operator, false); err != nil {
		return nil, err
	}
	if trimmed := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))); trimmed[0] == '{' {
		if _, err := readJSON(trimmed); err == nil {
			return formatJSON(name, trimmed)
		}
	}
	f := formatter{comments: commentsOf(data), blank: blankLines(data)}
	f.mapping(&root, 0)
	f.before(1 << 30)
	out := bytes.TrimLeft(f.out.Bytes(), "\n")
	again, problems := readDocument(name, out)
	if len(problems) > 0 || !sameDocument(&root, &again) || !sameComments(f.comments, commentsOf(out)) {
		return nil, Problems{{File: name, Line: 1, Column: 1, Message: "the document cannot be formatted without changing it"}}
	}
	return out, nil
}

// formatJSON writes a policy that is a JSON object.
func formatJSON(name string, data []byte) ([]byte, error) {
	out := jsontext.Value(bytes.Clone(data))
	if err := out.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, Problems{{File: name, Line: 1, Column: 1, Message: "the document cannot be formatted: " + err.Error()}}
	}
	return append(out, '\n'), nil
}

type comment struct {
	line  int
	text  string
	alone bool // nothing else is in its line
	done  bool
}

func commentsOf(data []byte) []*comment {
	var out []*comment
	last := 0
	for _, t := range lexer.Tokenize(string(data)) {
		if t.Type != token.CommentType {
			last = max(last, t.Position.Line)
			continue
		}
		out = append(out, &comment{line: t.Position.Line, text: strings.TrimRight(t.Value, " \r\n"), alone: t.Position.Line != last})
	}
	// The lexer may put a comment before a token of the same line.
	lines := strings.Split(string(data), "\n")
	for _, c := range out {
		if c.line-1 < len(lines) {
			c.alone = strings.HasPrefix(strings.TrimSpace(lines[c.line-1]), "#")
		}
	}
	return out
}

func blankLines(data []byte) map[int]bool {
	out := map[int]bool{}
	for i, l := range strings.Split(string(data), "\n") {
		if strings.TrimSpace(l) == "" {
			out[i+1] = true
		}
	}
	return out
}

func sameDocument(a, b *node) bool {
	return a.kind == b.kind && a.text == b.text && slices.EqualFunc(a.keys, b.keys, func(x, y node) bool { return sameDocument(&x, &y) }) &&
		slices.EqualFunc(a.values, b.values, func(x, y node) bool { return sameDocument(&x, &y) })
}

func sameComments(a, b []*comment) bool {
	return slices.EqualFunc(a, b, func(x, y *comment) bool { return x.text == y.text })
}

type formatter struct {
	out      bytes.Buffer
	comments []*comment
	blank    map[int]bool
	wrote    bool
}

// before writes the comments above a line, and a blank line where there was
// one.
func (f *formatter) before(line int) { f.beforeAt(line, 0) }

func (f *formatter) beforeAt(line, depth int) {
	for _, c := range f.comments {
		if c.done || c.line >= line || !c.alone {
			continue
		}
		f.gap(c.line)
		c.done = true
		f.indent(depth)
		f.out.WriteString("#" + c.text + "\n")
	}
	if line < 1<<30 {
		f.gap(line)
	}
}

func (f *formatter) gap(line int) {
	if f.wrote && f.blank[line-1] && !bytes.HasSuffix(f.out.Bytes(), []byte("\n\n")) {
		f.out.WriteByte('\n')
	}
	f.wrote = true
}

// after writes the comment behind a value that ends in that line.
func (f *formatter) after(from, to int) {
	for _, c := range f.comments {
		if !c.done && !c.alone && from <= c.line && c.line <= to {
			c.done = true
			f.out.WriteString(" #" + c.text)
			break
		}
	}
	f.out.WriteByte('\n')
}

func (f *formatter) indent(depth int) {
	for range depth {
		f.out.WriteString("  ")
	}
}

// inside reports whether comments stand between two lines, so that what is
// there cannot be put on one.
func (f *formatter) inside(from, to int) bool {
	return slices.ContainsFunc(f.comments, func(c *comment) bool { return !c.done && from <= c.line && (c.line < to || c.alone && c.line == to) })
}

func (f *formatter) mapping(n *node, depth int) {
	for i := range n.keys {
		k, v := &n.keys[i], &n.values[i]
		f.beforeAt(k.line, depth)
		f.indent(depth)
		f.entry(k, v, depth)
	}
}

// entry writes "key: value" and ends the line; the indentation is written.
func (f *formatter) entry(k, v *node, depth int) {
	f.out.WriteString(scalarText(k.text, false) + ":")
	switch v.kind {
	case nothing, broken:
		f.after(k.line, k.line)
	case scalar:
		if strings.Contains(v.text, "\n") && strings.TrimLeft(v.text, " \n") == v.text {
			f.literal(v, depth+1)
			return
		}
		f.out.WriteString(" " + scalarText(v.text, false))
		f.after(k.line, lastLine(v))
	case list, mapping:
		if text, ok := f.flow(v, 2*depth+len(k.text)+2); ok {
			f.out.WriteString(" " + text)
			f.after(k.line, lastLine(v))
			return
		}
		f.after(k.line, k.line)
		if v.kind == mapping {
			f.mapping(v, depth+1)
			return
		}
		for i := range v.values {
			f.item(&v.values[i], depth+1)
		}
	}
}

func (f *formatter) item(v *node, depth int) {
	f.beforeAt(v.line, depth)
	f.indent(depth)
	f.out.WriteString("- ")
	if v.kind == scalar || v.kind == nothing {
		if v.kind == nothing {
			f.out.WriteString("null")
		} else {
			f.out.WriteString(scalarText(v.text, false))
		}
		f.after(v.line, lastLine(v))
		return
	}
	if text, ok := f.flow(v, 2*depth+2); ok && (v.flow || v.kind == list) {
		f.out.WriteString(text)
		f.after(v.line, lastLine(v))
		return
	}
	if v.kind == list { // no rule holds a list of lists; kept for documents that are wrong
		text, _ := flowText(v)
		f.out.WriteString(text)
		f.after(v.line, lastLine(v))
		return
	}
	for i := range v.keys {
		if i > 0 {
			f.beforeAt(v.keys[i].line, depth+1)
			f.indent(depth + 1)
		}
		f.entry(&v.keys[i], &v.values[i], depth+1)
	}
}

// literal writes a text of several lines.
func (f *formatter) literal(v *node, depth int) {
	head := " |"
	if !strings.HasSuffix(v.text, "\n") {
		head += "-"
	}
	f.out.WriteString(head)
	f.after(v.line, v.line)
	for line := range strings.SplitSeq(strings.TrimSuffix(v.text, "\n"), "\n") {
		if line != "" {
			f.indent(depth)
		}
		f.out.WriteString(line + "\n")
	}
}

// flow is a list or mapping between brackets, if it was written so, or is
// empty, and no comment is in the way. A long list is broken into lines.
func (f *formatter) flow(n *node, column int) (string, bool) {
	if len(n.values) > 0 && (!n.flow || f.inside(n.line, lastLine(n))) {
		return "", false
	}
	text, ok := flowText(n)
	if !ok {
		return "", false
	}
	if column+len(text) <= formatWidth {
		return text, true
	}
	if n.kind == mapping {
		return "", false
	}
	var b strings.Builder
	b.WriteByte('[')
	at := column + 1
	for i := range n.values {
		item, _ := flowText(&n.values[i])
		if i < len(n.values)-1 {
			item += ","
		}
		if i > 0 {
			if at+1+len(item) > formatWidth {
				b.WriteString("\n" + strings.Repeat(" ", column+1))
				at = column + 1
			} else {
				b.WriteByte(' ')
				at++
			}
		}
		b.WriteString(item)
		at += len(item)
	}
	b.WriteByte(']')
	return b.String(), true
}

func flowText(n *node) (string, bool) {
	switch n.kind {
	case scalar:
		if strings.Contains(n.text, "\n") {
			return strconv.Quote(n.text), true
		}
		return scalarText(n.text, true), true
	case list:
		parts := make([]string, len(n.values))
		for i := range n.values {
			var ok bool
			if parts[i], ok = flowText(&n.values[i]); !ok {
				return "", false
			}
		}
		return "[" + strings.Join(parts, ", ") + "]", true
	case mapping:
		parts := make([]string, len(n.values))
		for i := range n.values {
			v, ok := flowText(&n.values[i])
			if !ok {
				return "", false
			}
			parts[i] = scalarText(n.keys[i].text, true) + ": " + v
		}
		return "{" + strings.Join(parts, ", ") + "}", true
	case nothing:
		return "null", true
	case broken:
	}
	return "", false
}

func lastLine(n *node) int {
	line := max(n.line, n.end)
	for i := range n.values {
		line = max(line, lastLine(&n.values[i]))
	}
	return line
}

// scalarText quotes a scalar where YAML would take it for something else.
func scalarText(s string, flow bool) string {
	if s == "" || strings.TrimSpace(s) != s {
		return strconv.Quote(s)
	}
	switch strings.ToLower(s) {
	case "null", "~", "yes", "no", "on", "off", "y", "n", ".nan", ".inf":
		return strconv.Quote(s)
	}
	if strings.IndexByte("!&*?|>@`\"'%#{}[],-:=<", s[0]) >= 0 && !(len(s) > 1 && (s[0] == '-' || s[0] == ':' || s[0] == '?') && s[1] != ' ') || s[0] == '~' && len(s) == 1 {
		return quoteYAML(s)
	}
	for i, r := range s {
		switch {
		case r == ':' && (i+1 == len(s) || s[i+1] == ' '), r == '#' && i > 0 && s[i-1] == ' ', r < 0x20:
			return quoteYAML(s)
		case flow && strings.ContainsRune("{}[],", r):
			return quoteYAML(s)
		case flow && r == ':' || flow && r == '?' && i == 0:
			return quoteYAML(s)
		}
	}
	return s
}

// quoteYAML quotes in the way that needs fewer escapes.
func quoteYAML(s string) string {
	if strings.ContainsAny(s, "\\\"") && !strings.ContainsAny(s, "\n\t'") {
		return "'" + s + "'"
	}
	return strconv.Quote(s)
}
