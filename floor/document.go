package floor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"assent/internal/outline"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// A node is a value of a policy document with its place, the same for YAML
// and JSON.
type node struct {
	kind         nodeKind
	line, column int
	text         string // of a scalar, and of an other: what it is
	keys         []node // of a mapping
	values       []node // of a mapping or list
	flow         bool   // written between brackets
	end          int    // the line of the closing bracket
}

type nodeKind uint8

const (
	nothing nodeKind = iota // null
	scalar                  // text, a number or a truth value, as written
	list
	mapping
	broken // what was told to be wrong already
)

func (k nodeKind) String() string {
	return [...]string{"nothing", "a text", "a list", "a mapping", "something else"}[k]
}

const (
	maxPolicy  = 4 << 20 // bytes; 10,000 rules are about 500 KB
	maxNesting = 40      // brackets and dashes within each other; a policy needs 6
)

// MaxProject is how long the policy of a project may be, in bytes, and how long all
// that the braces in its patterns stand for. It comes with the project, from
// anybody; what it says is kept and asked with every call there.
const MaxProject = 64 << 10

// maxProjectPatterns is how many patterns it may have, with those that braces stand for.
const maxProjectPatterns = 1000

// readDocument reads a policy document without knowing what belongs in it.
func readDocument(file string, data []byte) (root node, ps Problems) {
	problem := func(line, column int, message, hint string) {
		ps = append(ps, Problem{file, line, column, message, hint})
	}
	defer func() {
		// The YAML parser is not ours: whatever it trips over is a bad document.
		if r := recover(); r != nil {
			problem(1, 1, "the document cannot be read", "it is not valid YAML")
		}
	}()
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(data) > maxPolicy {
		problem(1, 1, fmt.Sprintf("the document is larger than %d bytes", maxPolicy), "")
		return root, ps
	}
	if line, column, what := badText(data); what != "" {
		problem(line, column, what, "")
		return root, ps
	}
	if len(bytes.TrimSpace(data)) == 0 {
		problem(1, 1, "the document is empty", "a policy without rules has only version: 1")
		return root, ps
	}
	if trimmed := bytes.TrimSpace(data); trimmed[0] == '{' || trimmed[0] == '[' {
		if root, err := readJSON(data); err == nil {
			return root, nil
		}
	}
	if line, column, message, hint := badShape(data); message != "" {
		problem(line, column, message, hint)
		return root, ps
	}
	f, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		problem(unreadable(data, err))
		return root, ps
	}
	c := converter{file: file}
	docs := 0
	for _, d := range f.Docs {
		if d == nil || d.Body == nil || d.Body.Type() == ast.CommentType {
			continue
		}
		if docs++; docs == 2 {
			n := c.convert(d.Body, 0)
			problem(n.line, n.column, "there is a second document", "a policy is one document")
			break
		}
		root = c.convert(d.Body, 0)
	}
	if docs == 0 {
		problem(1, 1, "the document is empty", "a policy without rules has only version: 1")
	}
	return root, append(ps, c.problems...)
}

// readShipped is readDocument for the floor that ships, whose text is known to
// be plain.
func readShipped(file string, data []byte) (node, Problems) {
	if n, ok := outline.Read(string(data)); ok {
		return outlined(&n), nil
	}
	return readDocument(file, data)
}

// outlined is a node of the small reader.
func outlined(n *outline.Node) node {
	out := node{line: n.Line, column: n.Column, text: n.Text, flow: n.Flow, end: n.End}
	switch n.Kind {
	case outline.Scalar:
		out.kind = scalar
	case outline.List:
		out.kind = list
	case outline.Mapping:
		out.kind = mapping
		if len(n.Keys) > 0 {
			out.line, out.column = n.Keys[0].Line, n.Keys[0].Column
		}
	}
	for i := range n.Keys {
		out.keys = append(out.keys, outlined(&n.Keys[i]))
	}
	for i := range n.Values {
		out.values = append(out.values, outlined(&n.Values[i]))
	}
	return out
}

// badText finds what no text may hold.
func badText(data []byte) (line, column int, what string) {
	line, column = 1, 1
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return line, column, "the document is not valid UTF-8"
		case r < 0x20 && r != '\n' && r != '\r' && r != '\t' || r == 0x7f:
			return line, column, "the document holds a control character"
		case r == '\n':
			line, column = line+1, 0
		}
		column++
		i += n
	}
	return 0, 0, ""
}

// badShape finds what YAML parsers disagree about or choke on: tabs before
// the text of a line and nesting without end.
func badShape(data []byte) (line, column int, message, hint string) {
	depth := 0
	for len(data) > 0 {
		var text []byte
		text, data, _ = bytes.Cut(data, []byte("\n"))
		line++
		dashes := 0
	indent:
		for i, c := range text {
			switch c {
			case '\t':
				if len(bytes.TrimSpace(text)) > 0 {
					return line, i + 1, "a line is indented with a tab", "YAML takes blanks only"
				}
			case '-', '?', ':':
				if dashes++; dashes > maxNesting {
					return line, i + 1, "the document is nested too deeply", ""
				}
			case ' ':
			default:
				break indent
			}
		}
		if bytes.HasPrefix(bytes.TrimSpace(text), []byte("#")) {
			continue
		}
		for i, c := range text {
			switch c {
			case '[', '{':
				if depth++; depth > maxNesting {
					return line, i + 1, "the document is nested too deeply", ""
				}
			case ']', '}':
				depth = max(0, depth-1)
			}
		}
	}
	return 0, 0, "", ""
}

type converter struct {
	file     string
	problems Problems
}

func (c *converter) problem(n ast.Node, message, hint string) node {
	line, column := position(n)
	c.problems = append(c.problems, Problem{c.file, line, column, message, hint})
	return node{kind: broken, line: line, column: column}
}

func position(n ast.Node) (line, column int) {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 1, 1
	}
	p := n.GetToken().Position
	return max(p.Line, 1), max(p.Column, 1)
}

func (c *converter) convert(n ast.Node, depth int) node {
	line, column := position(n)
	out := node{line: line, column: column}
	if depth > maxNesting {
		return c.problem(n, "the document is nested too deeply", "")
	}
	switch n := n.(type) {
	case nil:
	case *ast.NullNode:
	case *ast.StringNode:
		out.kind, out.text = scalar, n.Value
	case *ast.LiteralNode:
		out.kind, out.text = scalar, n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		out.kind, out.text = scalar, n.GetToken().Value
	case *ast.SequenceNode:
		out.kind = list
		out.flow, out.end = n.IsFlowStyle, endLine(n.End)
		for _, v := range n.Values {
			out.values = append(out.values, c.convert(v, depth+1))
		}
	case *ast.MappingNode:
		out.kind = mapping
		out.flow, out.end = n.IsFlowStyle, endLine(n.End)
		for _, v := range n.Values {
			c.pair(&out, v, depth)
		}
		if len(out.keys) > 0 {
			out.line, out.column = out.keys[0].line, out.keys[0].column
		}
	case *ast.MappingValueNode:
		out.kind = mapping
		c.pair(&out, n, depth)
		if len(out.keys) > 0 {
			out.line, out.column = out.keys[0].line, out.keys[0].column
		}
	case *ast.MappingKeyNode:
		return c.convert(n.Value, depth+1)
	case *ast.AnchorNode:
		c.problem(n, "anchors are not supported", "write the value out")
		return c.convert(n.Value, depth+1)
	case *ast.AliasNode:
		return c.problem(n, "aliases are not supported", "write the value out; quote a pattern that starts with *")
	case *ast.TagNode:
		return c.problem(n, "tags are not supported", "quote a pattern that starts with !")
	case *ast.MergeKeyNode:
		return c.problem(n, "merge keys are not supported", "write the values out")
	case *ast.CommentGroupNode:
	default:
		return c.problem(n, "this kind of YAML is not supported", "")
	}
	return out
}

func endLine(t *token.Token) int {
	if t == nil || t.Position == nil {
		return 0
	}
	return t.Position.Line
}

func (c *converter) pair(out *node, v *ast.MappingValueNode, depth int) {
	if v == nil {
		return
	}
	key := c.convert(v.Key, depth+1)
	if key.kind != scalar {
		c.problem(v.Key, "a key must be a text", "")
		return
	}
	out.keys = append(out.keys, key)
	out.values = append(out.values, c.convert(v.Value, depth+1))
}

// readJSON reads the same document from JSON. An error only means that it is
// no JSON.
func readJSON(data []byte) (node, error) {
	r := jsonReader{data: data, d: jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))}
	n, err := r.value(0)
	if err != nil {
		return node{}, err
	}
	if _, err := r.d.ReadToken(); err != io.EOF {
		return node{}, errors.New("text follows the document")
	}
	return n, nil
}

type jsonReader struct {
	data []byte
	d    *jsontext.Decoder
	// where the last place asked for was, so that finding them all is linear
	offset, line, start int
}

func (r *jsonReader) place(offset int) (line, column int) {
	for r.offset < offset && r.offset < len(r.data) {
		if r.data[r.offset] == '\n' {
			r.line++
			r.start = r.offset + 1
		}
		r.offset++
	}
	return r.line + 1, offset - r.start + 1
}

func (r *jsonReader) value(depth int) (node, error) {
	if depth > maxNesting {
		return node{}, errors.New("nested too deeply")
	}
	at := int(r.d.InputOffset())
	t, err := r.d.ReadToken()
	if err != nil {
		return node{}, err
	}
	for at < len(r.data) && strings.IndexByte(" \t\r\n,:", r.data[at]) >= 0 {
		at++
	}
	var n node
	n.line, n.column = r.place(at)
	switch t.Kind() {
	case '"', '0':
		n.kind, n.text = scalar, t.String()
	case 't':
		n.kind, n.text = scalar, "true"
	case 'f':
		n.kind, n.text = scalar, "false"
	case '{':
		n.kind = mapping
		for r.d.PeekKind() != '}' {
			key, err := r.value(depth + 1)
			if err != nil {
				return n, err
			}
			v, err := r.value(depth + 1)
			if err != nil {
				return n, err
			}
			n.keys = append(n.keys, key)
			n.values = append(n.values, v)
		}
		_, err = r.d.ReadToken()
	case '[':
		n.kind = list
		for r.d.PeekKind() != ']' {
			v, err := r.value(depth + 1)
			if err != nil {
				return n, err
			}
			n.values = append(n.values, v)
		}
		_, err = r.d.ReadToken()
	}
	return n, err
}
