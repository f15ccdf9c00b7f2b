// Package outline reads the part of YAML that the documents inside the program
// are written in: mappings and lists by indentation or in brackets, plain and
// quoted texts, comments, anchors, aliases and merge keys. It is some ten times
// as fast as a reader of all of YAML, which is what a command that judges one
// call spends most of its time on.
//
// It reads what the program ships and nothing else: a policy or any other text
// from outside goes to the full reader. Where a text uses something that is not
// known here, or anything that could be understood in two ways, [Read] says so
// and the full reader is asked; tests compare the two over everything that
// ships.
//
// Start reading at [Read].
package outline

import "strings"

// Node is a value with its place.
type Node struct {
	Kind Kind
	// Text is a scalar's text. Quoted texts are texts whatever they look like.
	Text   string
	Quoted bool
	// Keys and Values are those of a mapping, Values the items of a list. The
	// members that a merge key brings stand where the key stood, without those
	// that the mapping has itself.
	Keys, Values []Node
	// Line and Column count from one; End is the line of the closing bracket.
	Line, Column, End int
	// Flow says that it is written in brackets.
	Flow bool
}

// Kind says what a node is.
type Kind uint8

// The kinds. Nothing is a value that is left out or null.
const (
	Nothing Kind = iota
	Scalar
	List
	Mapping
)

// maxDepth bounds nesting; the documents that ship have about ten levels.
const maxDepth = 40

// Read reads a document. ok is false when the text is not in the part of YAML
// that is read here, whether or not it is YAML at all.
func Read(text string) (n Node, ok bool) {
	r := reader{text: text, line: 1}
	defer func() {
		if e := recover(); e != nil {
			if _, mine := e.(unread); !mine {
				panic(e)
			}
			n, ok = Node{}, false
		}
	}()
	if strings.ContainsAny(text, "\t\r\x00") || !strings.HasSuffix(text, "\n") {
		return Node{}, false
	}
	if !r.next() {
		return Node{}, false
	}
	n = r.block(-1, 0)
	if r.next() {
		r.give()
	}
	return n, true
}

// unread is thrown where the text leaves what is read here.
type unread struct{}

// reader walks a text.
type reader struct {
	text    string
	pos     int
	line    int
	start   int // where the line starts
	anchors map[string]Node
}

func (r *reader) give() { panic(unread{}) }

func (r *reader) column() int { return r.pos - r.start }

func (r *reader) newline() {
	r.pos++
	r.line++
	r.start = r.pos
}

// at is the byte at an offset from here, a line feed behind the end.
func (r *reader) at(offset int) byte {
	if i := r.pos + offset; i < len(r.text) {
		return r.text[i]
	}
	return '\n'
}

// blanks skips blanks, and a comment behind at least one.
func (r *reader) blanks() {
	for r.at(0) == ' ' {
		r.pos++
	}
	if r.at(0) == '#' && (r.column() == 0 || r.text[r.pos-1] == ' ') {
		for r.at(0) != '\n' {
			r.pos++
		}
	}
}

// next goes to the next thing that is said, over blanks, comments and ends of
// lines. It reports whether there is one.
func (r *reader) next() bool {
	for r.pos < len(r.text) {
		r.blanks()
		if r.pos >= len(r.text) || r.text[r.pos] != '\n' {
			break
		}
		r.newline()
	}
	return r.pos < len(r.text)
}

// node is a node that begins here.
func (r *reader) node(k Kind) Node { return Node{Kind: k, Line: r.line, Column: r.column() + 1} }

// block reads the value that begins here, the first of its line. outer is the
// indentation of what it belongs to.
func (r *reader) block(outer, depth int) Node {
	if depth > maxDepth {
		r.give()
	}
	indent := r.column()
	if indent <= outer {
		r.give()
	}
	if r.item() {
		return r.list(indent, depth)
	}
	if r.isKey() {
		return r.mapping(indent, depth)
	}
	return r.value(outer, depth, false)
}

// item reports whether an item of a list begins here.
func (r *reader) item() bool { return r.at(0) == '-' && (r.at(1) == ' ' || r.at(1) == '\n') }

// isKey reports whether "key:" begins here.
func (r *reader) isKey() bool {
	line := r.text[r.pos:]
	line = line[:strings.IndexByte(line, '\n')]
	switch line[0] {
	case '"', '\'':
		end := strings.IndexByte(line[1:], line[0])
		return end >= 0 && strings.HasPrefix(line[end+2:], ":")
	case '[', '{', '&', '*':
		return false
	}
	if i := strings.Index(line, " #"); i >= 0 {
		line = line[:i]
	}
	return strings.Contains(line, ": ") || strings.HasSuffix(line, ":")
}

func (r *reader) list(indent, depth int) Node {
	n := r.node(List)
	for r.column() == indent && r.item() {
		r.pos++
		r.blanks()
		if r.at(0) == '\n' {
			r.give()
		}
		if r.isKey() {
			n.Values = append(n.Values, r.mapping(r.column(), depth+1))
		} else {
			n.Values = append(n.Values, r.value(indent, depth+1, false))
		}
		if !r.next() {
			return n
		}
	}
	if r.column() > indent {
		r.give()
	}
	return n
}

func (r *reader) mapping(indent, depth int) Node {
	n := r.node(Mapping)
	var merged []int // where the values of merge keys stand
	for r.column() == indent && !r.item() {
		if !r.isKey() {
			r.give()
		}
		key := r.scalar(indent, false, true)
		if r.at(0) != ':' {
			r.give()
		}
		r.pos++
		v := r.member(indent, depth+1)
		if key.Text == "<<" && !key.Quoted {
			merged = append(merged, len(n.Keys))
		}
		n.Keys, n.Values = append(n.Keys, key), append(n.Values, v)
		if !r.next() {
			break
		}
	}
	if r.pos < len(r.text) && r.column() > indent {
		r.give()
	}
	return r.merge(n, merged)
}

// member reads what stands behind "key:" of a mapping by indentation.
func (r *reader) member(indent, depth int) Node {
	r.blanks()
	if r.at(0) != '\n' {
		return r.value(indent, depth, false)
	}
	return r.below(indent, depth)
}

// below reads a value that begins on a line of its own.
func (r *reader) below(indent, depth int) Node {
	nothing := r.node(Nothing)
	if !r.next() || r.column() <= indent {
		if r.pos < len(r.text) && r.column() == indent && r.item() {
			r.give()
		}
		return nothing
	}
	return r.block(indent, depth)
}

// value reads a value that begins on this line.
func (r *reader) value(indent, depth int, flow bool) Node {
	if depth > maxDepth {
		r.give()
	}
	switch r.at(0) {
	case '&':
		r.pos++
		name := r.name()
		r.blanks()
		var v Node
		if r.at(0) == '\n' && !flow {
			v = r.below(indent, depth)
		} else {
			v = r.value(indent, depth, flow)
		}
		if r.anchors == nil {
			r.anchors = map[string]Node{}
		}
		if _, again := r.anchors[name]; again {
			r.give()
		}
		r.anchors[name] = v
		return v
	case '*':
		place := r.node(Nothing)
		r.pos++
		v, known := r.anchors[r.name()]
		if !known {
			r.give()
		}
		v.Line, v.Column = place.Line, place.Column
		r.end(flow)
		return v
	case '[', '{':
		v := r.brackets(depth)
		r.end(flow)
		return v
	}
	v := r.scalar(indent, flow, false)
	r.end(flow)
	return v
}

// end checks that nothing follows a value on its line.
func (r *reader) end(flow bool) {
	if flow {
		return
	}
	r.blanks()
	if r.at(0) != '\n' {
		r.give()
	}
}

// name is the name of an anchor.
func (r *reader) name() string {
	from := r.pos
	for c := r.at(0); c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'; c = r.at(0) {
		r.pos++
	}
	if from == r.pos || strings.IndexByte(" \n,]}", r.at(0)) < 0 {
		r.give()
	}
	return r.text[from:r.pos]
}

// brackets reads a list or a mapping in brackets.
func (r *reader) brackets(depth int) Node {
	n := r.node(List)
	closing := byte(']')
	if r.at(0) == '{' {
		n.Kind, closing = Mapping, '}'
	}
	n.Flow = true
	var merged []int
	r.pos++
	for {
		r.must()
		if r.at(0) == closing {
			r.pos++
			n.End = r.line
			return r.merge(n, merged)
		}
		if n.Kind == Mapping {
			key := r.scalar(0, true, true)
			if r.at(0) != ':' || r.at(1) != ' ' {
				r.give()
			}
			r.pos++
			r.must()
			if key.Text == "<<" && !key.Quoted {
				merged = append(merged, len(n.Keys))
			}
			n.Keys = append(n.Keys, key)
		}
		if strings.IndexByte(",]}", r.at(0)) >= 0 {
			r.give()
		}
		n.Values = append(n.Values, r.value(0, depth+1, true))
		r.must()
		switch r.at(0) {
		case ',':
			r.pos++
		case closing:
		default:
			r.give()
		}
	}
}

// must is next where something has to follow.
func (r *reader) must() {
	if !r.next() {
		r.give()
	}
}

// merge puts what merge keys bring in their place. The mapping's own members
// win, and of several the first.
func (r *reader) merge(n Node, merged []int) Node {
	if len(merged) == 0 {
		return n
	}
	if len(merged) > 1 {
		r.give()
	}
	at := merged[0]
	from := n.Values[at]
	if from.Kind != Mapping {
		r.give()
	}
	own := make(map[string]bool, len(n.Keys))
	for _, k := range n.Keys {
		own[k.Text] = true
	}
	out := n
	out.Keys, out.Values = append([]Node(nil), n.Keys[:at]...), append([]Node(nil), n.Values[:at]...)
	for i, k := range from.Keys {
		if !own[k.Text] {
			out.Keys, out.Values = append(out.Keys, k), append(out.Values, from.Values[i])
		}
	}
	out.Keys, out.Values = append(out.Keys, n.Keys[at+1:]...), append(out.Values, n.Values[at+1:]...)
	return out
}
