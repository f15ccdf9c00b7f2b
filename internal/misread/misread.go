// Package misread says in plain words what is wrong with a JSON text, and where.
// It reads nothing itself: it takes the text and the error of the decoder.
//
// Start at [JSON].
package misread

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Flaw is what is wrong with a JSON text.
type Flaw struct {
	At   int    // the byte of the text where it shows
	What string // in words, without the place
}

// JSON is the flaw of a text at which the decoder failed, which began to read
// at the text's first byte. It is not ok when the error is about something else.
func JSON(text []byte, err error) (f Flaw, ok bool) {
	s, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return Flaw{len(text), open(text)}, true
		}
		return Flaw{}, false
	}
	f.At = max(0, min(int(s.ByteOffset), len(text)))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return Flaw{len(text), open(text)}, true
	}
	inText := s.Err != nil && strings.Contains(s.Err.Error(), "in string")
	for !inText && f.At < len(text) && blank(text[f.At]) {
		f.At++
	}
	if s.Err != nil && strings.Contains(s.Err.Error(), "in literal") { // it fails behind the beginning of the word
		for f.At > 0 && letter(text[f.At-1]) {
			f.At--
		}
	}
	f.What = what(text, f.At, s)
	return f, true
}

// what names the flaw by what the decoder expected and what stands there.
func what(text []byte, at int, s *jsontext.SyntacticError) string {
	said := ""
	if s.Err != nil {
		said = s.Err.Error()
	}
	expected := func(where string) bool { return strings.Contains(said, where) }
	var here rune
	if at < len(text) {
		here, _ = utf8.DecodeRune(text[at:])
	}
	switch {
	case errors.Is(s, jsontext.ErrDuplicateName):
		return fmt.Sprintf("%q stands there a second time", s.JSONPointer.LastToken())
	case expected("invalid UTF-8"):
		return "there are bytes that are no UTF-8"
	case expected("after top-level value"):
		return "something follows behind the end"
	case strings.HasPrefix(string(text[at:]), "\ufeff"):
		return "there is a byte order mark, which is invisible: save the text as UTF-8 without one"
	case surrogate(text, at):
		return `half of a surrogate pair: \ud800 to \udfff are characters only in pairs, as \ud83d\ude00`
	case expected("escape sequence"), expected("surrogate pair"):
		return `a backslash stands for itself only as \\`
	case expected("control character"):
		return `a line break or a control character in a text is written as \n, \t or \u0000`
	case here == '\'':
		return `texts and names stand in "double quotes", not in single ones`
	case here == '#' || strings.HasPrefix(string(text[at:]), "//") || strings.HasPrefix(string(text[at:]), "/*"):
		return "JSON has no comments"
	case expected("expecting ':'"):
		return "a colon is missing behind the name of a member"
	case expected("expecting ',' or '}'"):
		return "a comma is missing, or a } that closes the object"
	case expected("expecting ',' or ']'"):
		return "a comma is missing, or a ] that closes the list"
	case expected("in number"):
		return "this is no number of JSON"
	case here == ',' && closes(text[at+1:]), (here == '}' || here == ']') && before(text, at) == ',':
		return "the comma before the end is one too many"
	case here == '}', here == ']', here == ',', expected("missing value"):
		return "a value is missing"
	case errors.Is(s, jsontext.ErrNonStringName), expected("start of string"), naming(text, at):
		return `the name of a member stands in "double quotes"`
	case expected("in literal"), expected("start of value") && at < len(text) && (letter(text[at]) || here >= 0x80):
		return `a text stands in "double quotes"; without them are only numbers, true, false and null`
	case expected("start of value"):
		return fmt.Sprintf("no value begins with %q", here)
	case expected("max depth"):
		return "it is nested too deep"
	}
	return said
}

// surrogate reports whether the escaped half of a pair stands at a place.
func surrogate(text []byte, at int) bool {
	t := strings.ToLower(string(text[at:min(at+6, len(text))]))
	return len(t) == 6 && strings.HasPrefix(t, `\ud`) && t[3] >= '8' && strings.Trim(t[3:], "0123456789abcdef") == ""
}

func letter(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// closes reports whether nothing but an end follows.
func closes(rest []byte) bool {
	text := strings.TrimLeft(string(rest), " \t\r\n")
	return text != "" && (text[0] == '}' || text[0] == ']')
}

// naming reports whether the name of a member belongs at a place.
func naming(text []byte, at int) bool {
	closers, quoted := within(text[:at])
	last := before(text, at)
	return !quoted && len(closers) > 0 && closers[len(closers)-1] == '}' && (last == '{' || last == ',')
}

// before is the last byte before a place that is no blank, 0 when there is none.
func before(text []byte, at int) byte {
	rest := strings.TrimRight(string(text[:at]), " \t\r\n")
	if rest == "" {
		return 0
	}
	return rest[len(rest)-1]
}

// within tells what is open at the end of a text: the brackets that would close
// it, the innermost last, and whether a quoted text is.
func within(text []byte) (closers []byte, quoted bool) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			closers = append(closers, '}')
		case c == '[':
			closers = append(closers, ']')
		case (c == '}' || c == ']') && len(closers) > 0:
			closers = closers[:len(closers)-1]
		}
	}
	return closers, quoted
}

// open says of a text that ends too early what is missing.
func open(text []byte) string {
	closers, quoted := within(text)
	switch {
	case len(strings.TrimSpace(string(text))) == 0:
		return "it is empty"
	case quoted:
		return `it ends in the middle of a text: a " is missing`
	case len(closers) > 0:
		return fmt.Sprintf("it ends in the middle: a %c is missing", closers[len(closers)-1])
	}
	return "it ends in the middle"
}

// Kind is what a JSON value is, for people.
func Kind(k jsontext.Kind) string {
	switch k {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case '0':
		return "a number"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "this"
}

// Place says where a byte of a text is, as people count: "character 9", and
// "line 2, character 5" in a text of several lines.
func Place(text []byte, at int) string {
	at = max(0, min(at, len(text)))
	line := 1 + strings.Count(string(text[:at]), "\n")
	start := 1 + strings.LastIndexByte(string(text[:at]), '\n')
	char := 1 + utf8.RuneCount(text[start:at])
	if strings.Contains(strings.TrimRight(string(text), "\r\n"), "\n") {
		return fmt.Sprintf("line %d, character %d", line, char)
	}
	return fmt.Sprintf("character %d", char)
}

// In is the flaw with its place in the text.
func (f Flaw) In(text []byte) string { return Place(text, f.At) + ": " + f.What }
