package card

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// value is a JSON value with its texts decoded: what the call means and not how it
// is spelled.
type value struct {
	kind    jsontext.Kind
	text    string // of a text, or another scalar as it is written
	names   []string
	members []value // of an object or an array
}

// parse reads a JSON value; false where it is none.
func parse(raw []byte) (value, bool) {
	d := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	v, err := next(d)
	return v, err == nil
}

func next(d *jsontext.Decoder) (v value, err error) {
	t, err := d.ReadToken()
	if err != nil {
		return v, err
	}
	v.kind = t.Kind()
	switch v.kind {
	case '{', '[':
		end := jsontext.Kind('}')
		if v.kind == '[' {
			end = ']'
		}
		for d.PeekKind() != end {
			if v.kind == '{' {
				name, err := d.ReadToken()
				if err != nil {
					return v, err
				}
				v.names = append(v.names, name.String())
			}
			m, err := next(d)
			if err != nil {
				return v, err
			}
			v.members = append(v.members, m)
		}
		_, err = d.ReadToken()
	default:
		v.text = t.String()
	}
	return v, err
}

// member is the text of a member, "" and false where there is none.
func (v value) member(names ...string) (string, bool) {
	for _, name := range names {
		for i, n := range v.names {
			if n == name && v.members[i].kind == '"' {
				return v.members[i].text, true
			}
		}
	}
	return "", false
}

// bare reports whether a text can stand without quotes and be taken for nothing
// else.
func bare(text string) bool {
	if text == "" || text == "true" || text == "false" || text == "null" || strings.HasPrefix(text, `"`) {
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	return err != nil
}
