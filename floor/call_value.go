package floor

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"assent/internal/misread"

	"github.com/go-json-experiment/json/jsontext"
)

// value is one JSON value of a call's arguments, kept in the order and with
// the repetitions it was written with: an agent that names an argument twice
// may mean either, so both count.
type value struct {
	kind    jsontext.Kind // as jsontext tells it: '"', '{', '[', '0', 't', 'f', 'n'
	text    string        // of a string
	list    []value       // of an array
	members []member      // of an object
}

// member is one name and value of an object.
type member struct {
	name  string
	value value
}

// maxDepth bounds how deep arguments may nest. No client's tool comes near;
// what is deeper was built to be hard to read.
const maxDepth = 100

var (
	errTooDeep  = errors.New("the arguments nest too deep")
	errTrailing = errors.New("there is text after the arguments")
)

// parseArguments reads the arguments of a call. A flaw says why they must not
// be trusted even though something could be read: a reader more lenient than
// another would see a different call. An error says that nothing could be
// read.
func parseArguments(text []byte) (v value, flaw string, err error) {
	v, err = readValue(text)
	if err == nil {
		return v, "", nil
	}
	flaw = "the arguments are not strict JSON: " + reason(text, err)
	if at := notUTF8(text); at >= 0 {
		flaw = "there are bytes that are no UTF-8 (" + misread.Place(text, at) + " of the arguments)"
	}
	v, err = readValue(text, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil && !errors.Is(err, errTrailing) {
		return value{}, flaw, err
	}
	return v, flaw, nil
}

// notUTF8 is the place of the first byte that is no UTF-8, -1 for none.
func notUTF8(text []byte) int {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size <= 1 {
			return at
		}
		at += size
	}
	return -1
}

// reason is what a reader says went wrong, in one line.
func reason(text []byte, err error) string {
	if f, ok := misread.JSON(text, err); ok {
		return f.In(text)
	}
	return err.Error()
}

// decoders that read a call to its end are used for the next: one is larger than
// what most calls hold.
var decoders = sync.Pool{New: func() any { return &decoder{json: new(jsontext.Decoder)} }}

type decoder struct {
	json *jsontext.Decoder
	from bytes.Reader
}

func readValue(text []byte, options ...jsontext.Options) (value, error) {
	pooled := decoders.Get().(*decoder)
	d := pooled.json
	pooled.from.Reset(text)
	d.Reset(&pooled.from, options...)
	v, err := next(d, 0)
	if err != nil {
		return value{}, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return v, errTrailing
	}
	pooled.from.Reset(nil)
	decoders.Put(pooled)
	return v, nil
}

// next reads the next value of d.
func next(d *jsontext.Decoder, depth int) (value, error) {
	if depth > maxDepth {
		return value{}, errTooDeep
	}
	tok, err := d.ReadToken()
	if err != nil {
		return value{}, err
	}
	v := value{kind: tok.Kind()}
	switch v.kind {
	case '"':
		v.text = tok.String()
	case '[':
		for d.PeekKind() != ']' {
			item, err := next(d, depth+1)
			if err != nil {
				return value{}, err
			}
			v.list = append(v.list, item)
		}
		_, err = d.ReadToken()
	case '{':
		for d.PeekKind() != '}' {
			name, err := d.ReadToken()
			if err != nil {
				return value{}, err
			}
			// The token is only good until the next read.
			m := member{name: strings.Clone(name.String())}
			if m.value, err = next(d, depth+1); err != nil {
				return value{}, err
			}
			v.members = append(v.members, m)
		}
		_, err = d.ReadToken()
	default: // a number, true, false or null says nothing that is judged
	}
	return v, err
}

// empty reports whether the value says nothing: null, "", [] or {}.
func (v *value) empty() bool {
	switch v.kind {
	case '"':
		return v.text == ""
	case '[':
		return len(v.list) == 0
	case '{':
		return len(v.members) == 0
	case 'n', 0:
		return true
	}
	return false
}

// plain reports whether the value is a number, true, false or null.
func (v *value) plain() bool { return v.kind != '"' && v.kind != '[' && v.kind != '{' }

// strings gives every string of a string or a list of strings. ok is false
// when there is anything else among them.
func (v *value) strings() (texts []string, ok bool) {
	switch v.kind {
	case '"':
		return []string{v.text}, true
	case '[':
		for i := range v.list {
			if v.list[i].kind != '"' {
				return nil, false
			}
			texts = append(texts, v.list[i].text)
		}
		return texts, true
	}
	return nil, false
}

// argumentName brings a name to the form the tables use, so that filePath,
// file_path, FilePath and file-path are one argument.
func argumentName(name string) string {
	plain := true
	for i := 0; i < len(name); i++ {
		if c := name[i]; c < 'a' || c > 'z' {
			plain = false
			break
		}
	}
	if plain {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '_' || c == '-' || c == '.' || c == ' ':
		case 'A' <= c && c <= 'Z':
			b.WriteByte(c | 0x20)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// nameWords splits a name into its lower-case words, written with "_", "-",
// "." or in camel case.
func nameWords(name string) []string {
	var words []string
	start := 0
	flush := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(name[start:end]))
		}
		start = end
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case !isAlnum(c):
			flush(i)
			start = i + 1
		case i > start && isUpper(c) && (!isUpper(name[i-1]) || i+1 < len(name) && isLower(name[i+1])):
			flush(i)
		}
	}
	flush(len(name))
	return words
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isAlnum(c byte) bool { return isUpper(c) || isLower(c) || '0' <= c && c <= '9' || c >= 0x80 }
