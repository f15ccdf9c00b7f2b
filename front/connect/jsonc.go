package connect

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a value of a JSON text that may have comments and trailing commas, by
// its place in the text.
type node struct {
	kind       byte // { [ or another first byte
	start, end int
	items      []item
}

// item is a member or an element.
type item struct {
	name  string
	start int // of the name, or of the value
	value *node
	comma int // -1: none follows
}

// deepest is deeper than a configuration is.
const deepest = 100

var errComment = errors.New("a comment does not end")

type reader struct {
	text string
	at   int
}

// read finds the values of a text.
func read(text string) (*node, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("it is not UTF-8")
	}
	r := &reader{text: text}
	n, err := r.value(0)
	if err == nil {
		if err = r.space(); err == nil && r.at < len(text) {
			err = errors.New("something follows the value")
		}
	}
	if err != nil {
		line := 1 + strings.Count(text[:min(r.at, len(text))], "\n")
		return nil, fmt.Errorf("line %d: %w", line, err)
	}
	return n, nil
}

// space passes over white space and comments.
func (r *reader) space() error {
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			r.at++
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			r.at += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return errComment
			}
			r.at += end + 4
		default:
			return nil
		}
	}
	return nil
}

func (r *reader) value(depth int) (*node, error) {
	if err := r.space(); err != nil {
		return nil, err
	}
	if r.at == len(r.text) {
		return nil, errors.New("a value is missing")
	}
	if depth > deepest {
		return nil, errors.New("it is nested too deeply")
	}
	n := &node{kind: r.text[r.at], start: r.at}
	var err error
	switch n.kind {
	case '{', '[':
		err = r.items(n, depth)
	case '"':
		_, err = r.quoted()
	default:
		for r.at < len(r.text) && strings.IndexByte(",]}:/\" \t\r\n", r.text[r.at]) < 0 {
			r.at++
		}
		if v := jsontext.Value(r.text[n.start:r.at]); !v.IsValid() {
			err = fmt.Errorf("%q is no value", string(v))
		}
	}
	n.end = r.at
	return n, err
}

func (r *reader) quoted() (string, error) {
	start := r.at
	for r.at++; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '\\':
			r.at++
		case '"':
			r.at++
			text, err := jsontext.AppendUnquote(nil, r.text[start:r.at])
			return string(text), err
		}
	}
	r.at = len(r.text)
	return "", errors.New("a string does not end")
}

func (r *reader) items(n *node, depth int) error {
	closing := byte(']')
	if n.kind == '{' {
		closing = '}'
	}
	for r.at++; ; {
		if err := r.space(); err != nil {
			return err
		}
		if r.at == len(r.text) {
			return fmt.Errorf("%q is missing", closing)
		}
		if r.text[r.at] == closing {
			r.at++
			return nil
		}
		if k := len(n.items); k > 0 && n.items[k-1].comma < 0 {
			return errors.New("a comma is missing")
		}
		it := item{start: r.at, comma: -1}
		if n.kind == '{' {
			if r.text[r.at] != '"' {
				return errors.New("a name is missing")
			}
			var err error
			if it.name, err = r.quoted(); err != nil {
				return err
			}
			if err := r.space(); err != nil {
				return err
			}
			if r.at == len(r.text) || r.text[r.at] != ':' {
				return errors.New("a colon is missing")
			}
			r.at++
		}
		var err error
		if it.value, err = r.value(depth + 1); err != nil {
			return err
		}
		if err := r.space(); err != nil {
			return err
		}
		if r.at < len(r.text) && r.text[r.at] == ',' {
			it.comma = r.at
			r.at++
		}
		n.items = append(n.items, it)
	}
}

// member is the value of a name; a name that is there twice is for nobody to
// guess at.
func (n *node) member(name string) (*node, error) {
	var found *node
	for _, it := range n.items {
		if it.name == name {
			if found != nil {
				return nil, fmt.Errorf("%q is there twice", name)
			}
			found = it.value
		}
	}
	return found, nil
}

// plain is the value as JSON without comments, for looking at it.
func (n *node) plain(text string) string {
	if n.kind != '{' && n.kind != '[' {
		return text[n.start:n.end]
	}
	var b strings.Builder
	b.WriteByte(n.kind)
	for i, it := range n.items {
		if i > 0 {
			b.WriteByte(',')
		}
		if n.kind == '{' {
			name, _ := jsontext.AppendQuote(nil, it.name)
			b.Write(name)
			b.WriteByte(':')
		}
		b.WriteString(it.value.plain(text))
	}
	b.WriteByte(n.kind + 2) // the closing one of both
	return b.String()
}

// filled is where what stands in front of a place ends: a value, a comma or a
// comment, and not the white space behind it.
func filled(text string, from, to int) int {
	r := &reader{text: text[:to], at: from}
	end := from
	for r.at < to {
		if strings.IndexByte(" \t\r\n", text[r.at]) >= 0 {
			r.at++
			continue
		}
		before := r.at
		if text[r.at] == '/' {
			if r.space() != nil || r.at == before {
				return to
			}
			// The white space behind the comment was passed too.
			end = before + len(strings.TrimRight(text[before:r.at], " \t\r\n"))
			continue
		}
		r.at++
		end = r.at
	}
	return end
}

// insert puts an item behind the last one of a value.
func insert(text string, n *node, it, indent, outer, newline string) string {
	closing := n.end - 1
	if len(n.items) == 0 {
		at := filled(text, n.start+1, closing)
		if strings.Contains(text[at:closing], "\n") {
			return text[:at] + newline + indent + it + text[at:]
		}
		return text[:at] + newline + indent + it + newline + outer + text[closing:]
	}
	last := n.items[len(n.items)-1]
	if last.comma >= 0 {
		at := filled(text, last.comma+1, closing)
		tail := text[at:]
		if !strings.Contains(text[at:closing], "\n") {
			tail = newline + outer + text[closing:]
		}
		return text[:at] + newline + indent + it + "," + tail
	}
	at := filled(text, last.value.end, closing)
	tail := text[at:]
	if !strings.Contains(text[at:closing], "\n") {
		tail = newline + outer + text[closing:]
	}
	return text[:last.value.end] + "," + text[last.value.end:at] + newline + indent + it + tail
}

// remove takes an item out, and the comma that it no longer needs.
func remove(text string, n *node, i int) string {
	it := n.items[i]
	from, end := n.start+1, it.value.end
	if i > 0 {
		from = n.items[i-1].comma + 1
	}
	from = filled(text, from, it.start)
	if it.comma >= 0 {
		// A comment in front of the comma is nobody's but its own.
		end = it.comma + 1
	}
	text = text[:from] + text[end:]
	if it.comma < 0 && i > 0 {
		comma := n.items[i-1].comma
		text = text[:comma] + text[comma+1:]
	}
	return text
}

// Plain is a JSON text with comments and trailing commas as JSON without.
func Plain(text string) (string, error) {
	n, err := read(text)
	if err != nil {
		return "", err
	}
	return n.plain(text), nil
}
