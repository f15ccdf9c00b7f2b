package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
)

// Set gives a text in which a key has another value. What stands around it,
// comments and blanks included, stays as it was written; what stood inside the
// value goes with it. A key that was not there comes after the last one. A text
// that is broken is not edited, and neither is one made broken: both are an
// [*Error].
//
// An empty text becomes a config.json with this one key.
func Set(name string, text []byte, key string, value any) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{\n}\n")
	}
	if _, err := Parse(name, text); err != nil {
		return nil, err
	}
	members, err := object(text)
	if err != nil {
		return nil, err
	}
	if g, ok := value.(approval.Terms); ok {
		if edited, ok := setGrants(text, members, key, g); ok {
			return edited, nil
		}
	}
	encoded, err := json.Marshal(value, jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true))
	if err != nil {
		return nil, fmt.Errorf("set %s in %s: %w", key, name, err)
	}
	edited := put(text, members, key, encoded)
	if _, err := Parse(name, edited); err != nil {
		return nil, err
	}
	return edited, nil
}

// setGrants edits the flags of an object that is there, so that comments in it
// stay.
func setGrants(text []byte, members []member, key string, g approval.Terms) ([]byte, bool) {
	for _, m := range members {
		if m.name != key || m.text.Kind() != '{' {
			continue
		}
		inner := text[m.value:m.end]
		for _, flag := range []struct {
			name string
			term approval.Term
		}{{"write", g.Write}, {"bash", g.Bash}, {"mcp", g.MCP}} {
			flags, err := object(inner)
			if err != nil {
				return nil, false
			}
			there := slices.ContainsFunc(flags, func(f member) bool { return f.name == flag.name })
			if flag.term == approval.Never && !there {
				continue
			}
			value, err := flag.term.MarshalJSON()
			if err != nil {
				return nil, false
			}
			inner = put(inner, flags, flag.name, value)
		}
		return splice(text, m.value, m.end, inner), true
	}
	return nil, false
}

func put(text []byte, members []member, key string, value []byte) []byte {
	for _, m := range members {
		if m.name == key {
			return splice(text, m.value, m.end, value)
		}
	}
	entry := append(append(mustQuote(key), ": "...), value...)
	if len(members) == 0 {
		out, _ := plain(text)
		open := bytes.IndexByte(out, '{') + 1
		return splice(text, open, open, append([]byte("\n  "), withBreak(entry, out[open:])...))
	}
	last := members[len(members)-1]
	first := members[0]
	between := []byte(" ")
	if line := bytes.LastIndexByte(text[:first.nameAt], '\n'); line >= 0 {
		indent := text[line:first.nameAt]
		if len(bytes.TrimSpace(indent)) == 0 {
			between = indent
		}
	}
	// A comma may stand there already. A comment behind the last value stays
	// behind it.
	at := last.end
	comma := []byte(",")
	out, _ := plain(text)
	if raw := commaAfter(text, out, last.end); raw >= 0 {
		at, comma = raw+1, nil
	}
	if end := bytes.IndexByte(text[at:], '\n'); end >= 0 && bytes.IndexByte(between, '\n') >= 0 &&
		len(bytes.TrimSpace(out[at:at+end])) == 0 {
		text = splice(text, at, at, comma)
		at += len(comma) + end
		return splice(text, at, at, append(append([]byte(nil), between...), entry...))
	}
	return splice(text, at, at, append(append(append([]byte(nil), comma...), between...), entry...))
}

// withBreak ends an entry with a new line, when none follows anyway.
func withBreak(entry, rest []byte) []byte {
	if blank := len(rest) - len(bytes.TrimLeft(rest, " \t\r")); blank < len(rest) && rest[blank] == '\n' {
		return entry
	}
	return append(entry, '\n')
}

// commaAfter is where a comma stands behind the last value, -1 for nowhere.
// It was blanked, as comments were; what is a comma in the text and a blank in
// the plain form, outside of comments, is the one.
func commaAfter(text, out []byte, from int) int {
	for i := from; i < len(text); i++ {
		switch {
		case text[i] == ',':
			return i
		case text[i] == '/' && i+1 < len(text) && text[i+1] == '/':
			end := bytes.IndexByte(text[i:], '\n')
			if end < 0 {
				return -1
			}
			i += end
		case text[i] == '/':
			if i = afterComment(text, i) - 1; i < 0 {
				return -1
			}
		case out[i] != ' ' && out[i] != '\t' && out[i] != '\n' && out[i] != '\r':
			return -1
		}
	}
	return -1
}

func splice(text []byte, from, to int, with []byte) []byte {
	out := make([]byte, 0, len(text)+len(with))
	out = append(out, text[:from]...)
	out = append(out, with...)
	return append(out, text[to:]...)
}

func mustQuote(s string) []byte {
	q, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		panic(errors.Join(errors.New("keys are plain words"), err))
	}
	return q
}
