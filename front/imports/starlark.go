package imports

import (
	"fmt"
	"strings"
)

// starCall is a call at the top of a file of Starlark, with plain arguments.
type starCall struct {
	name string
	line int
	args map[string]any // a text, or a list of texts and lists
}

// readCalls reads a file that is nothing but calls of functions with named
// arguments that are texts, lists, numbers and truth values.
func readCalls(text string) ([]starCall, error) {
	r := &starReader{text: text, line: 1}
	var calls []starCall
	for {
		r.space()
		if r.at == len(text) {
			return calls, nil
		}
		c := starCall{line: r.line, args: make(map[string]any)}
		if c.name = r.word(); c.name == "" {
			return nil, r.errorf("a call is wanted")
		}
		if !r.take('(') {
			return nil, r.errorf("%q is no call", c.name)
		}
		for !r.take(')') {
			name := r.word()
			if name == "" || !r.take('=') {
				return nil, r.errorf("an argument has no name")
			}
			if _, twice := c.args[name]; twice {
				return nil, r.errorf("%s is there twice", name)
			}
			v, err := r.value(0)
			if err != nil {
				return nil, err
			}
			c.args[name] = v
			if !r.take(',') && !r.peek(')') {
				return nil, r.errorf("a comma is missing")
			}
		}
		r.take(';')
		calls = append(calls, c)
	}
}

type starReader struct {
	text     string
	at, line int
}

func (r *starReader) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", r.line, fmt.Sprintf(format, args...))
}

// space passes over white space and comments.
func (r *starReader) space() {
	for ; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '\n':
			r.line++
		case ' ', '\t', '\r':
		case '#':
			end := strings.IndexByte(r.text[r.at:], '\n')
			if end < 0 {
				r.at = len(r.text)
				return
			}
			r.at += end - 1
		default:
			return
		}
	}
}

func (r *starReader) peek(c byte) bool {
	r.space()
	return r.at < len(r.text) && r.text[r.at] == c
}

func (r *starReader) take(c byte) bool {
	if !r.peek(c) {
		return false
	}
	r.at++
	return true
}

func (r *starReader) word() string {
	r.space()
	start := r.at
	for r.at < len(r.text) {
		c := r.text[r.at]
		if c != '_' && !(c|0x20 >= 'a' && c|0x20 <= 'z') && !(c >= '0' && c <= '9' && r.at > start) {
			break
		}
		r.at++
	}
	return r.text[start:r.at]
}

func (r *starReader) value(depth int) (any, error) {
	r.space()
	switch {
	case depth > 5:
		return nil, r.errorf("it is nested too deeply")
	case r.at == len(r.text):
		return nil, r.errorf("a value is missing")
	case r.text[r.at] == '"' || r.text[r.at] == '\'':
		return r.quoted()
	case r.take('['):
		list := []any{}
		for !r.take(']') {
			v, err := r.value(depth + 1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
			if !r.take(',') && !r.peek(']') {
				return nil, r.errorf("a comma is missing")
			}
		}
		return list, nil
	}
	switch w := r.word(); w {
	case "True":
		return true, nil
	case "False":
		return false, nil
	case "None":
		return nil, nil
	default:
		return nil, r.errorf("a value that is neither text nor list")
	}
}

func (r *starReader) quoted() (string, error) {
	quote := r.text[r.at]
	if strings.HasPrefix(r.text[r.at:], strings.Repeat(string(quote), 3)) {
		return "", r.errorf("a text of several lines")
	}
	var b strings.Builder
	for r.at++; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case quote:
			r.at++
			r.space()
			if r.at < len(r.text) && (r.text[r.at] == '"' || r.text[r.at] == '\'' || r.text[r.at] == '+' || r.text[r.at] == '%') {
				return "", r.errorf("a text that is put together")
			}
			return b.String(), nil
		case '\n':
			return "", r.errorf("a text does not end")
		case '\\':
			r.at++
			if r.at == len(r.text) {
				return "", r.errorf("a text does not end")
			}
			switch e := r.text[r.at]; e {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case '\\', '"', '\'':
				b.WriteByte(e)
			default:
				return "", r.errorf("\\%c is not read here", e)
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", r.errorf("a text does not end")
}
