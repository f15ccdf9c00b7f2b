package floor

import (
	"errors"
	"fmt"
	"strings"
)

// A wordGlob matches a whole word: "*" is any text, "?" one character. It is
// how run patterns compare words, and variables and reasons are compared.
type wordGlob struct {
	text string // without wildcards
	toks []int16
	wild bool
}

// The wildcards among the bytes of a glob.
const (
	globMany int16 = -1
	globOne  int16 = -2
)

// any reports whether the glob is "*".
func (g *wordGlob) any() bool { return g.wild && len(g.toks) == 1 && g.toks[0] == globMany }

func (g *wordGlob) match(s string) bool {
	if !g.wild {
		return g.text == s
	}
	// Only the last "*" is ever tried again: what an earlier one leaves is no
	// better for what follows.
	t, i := 0, 0
	back, from := -1, 0
	for i < len(s) {
		if t < len(g.toks) {
			switch c := g.toks[t]; {
			case c == globMany:
				back, from = t, i
				t++
				continue
			case c == globOne:
				t++
				i += runeLen(s[i:])
				continue
			case c == int16(s[i]):
				t++
				i++
				continue
			}
		}
		if back < 0 {
			return false
		}
		from++
		t, i = back+1, from
	}
	for t < len(g.toks) && g.toks[t] == globMany {
		t++
	}
	return t == len(g.toks)
}

func runeLen(s string) int {
	n := 1
	for n < len(s) && s[n]&0xC0 == 0x80 {
		n++
	}
	return n
}

// globText gathers the parts of a word.
type globText struct {
	toks []int16
	wild bool
}

func (g *globText) plain(s string) {
	for i := range len(s) {
		g.toks = append(g.toks, int16(s[i]))
	}
}

func (g *globText) many() {
	g.wild = true
	if n := len(g.toks); n == 0 || g.toks[n-1] != globMany {
		g.toks = append(g.toks, globMany)
	}
}

func (g *globText) one() {
	g.wild = true
	g.toks = append(g.toks, globOne)
}

func (g *globText) glob() wordGlob {
	w := wordGlob{toks: g.toks, wild: g.wild}
	if !g.wild {
		w.text, w.toks = w.plain(), nil
	}
	return w
}

// plain is the glob as text, for showing and for asking what a word means.
func (g *wordGlob) plain() string {
	if g.toks == nil {
		return g.text
	}
	b := make([]byte, 0, len(g.toks))
	for _, t := range g.toks {
		switch t {
		case globMany:
			b = append(b, '*')
		case globOne:
			b = append(b, '?')
		default:
			b = append(b, byte(t))
		}
	}
	return string(b)
}

var errUnclosed = errors.New("a quote has no end")

// splitWords splits a run pattern into words as a shell would, keeping which
// wildcards are active.
func splitWords(s string) ([]wordGlob, error) {
	var out []wordGlob
	var cur globText
	started := false
	end := func() {
		if started {
			out = append(out, cur.glob())
		}
		cur, started = globText{}, false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch c {
		case ' ', '\t':
			end()
			continue
		case '\'':
			j := strings.IndexByte(s[i+1:], '\'')
			if j < 0 {
				return nil, errUnclosed
			}
			cur.plain(s[i+1 : i+1+j])
			i += j + 1
		case '"':
			for i++; ; i++ {
				if i >= len(s) {
					return nil, errUnclosed
				}
				if s[i] == '"' {
					break
				}
				if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\"\\$`", s[i+1]) >= 0 {
					i++
				}
				cur.plain(s[i : i+1])
			}
		case '\\':
			if i++; i >= len(s) {
				return nil, errors.New("the pattern ends with a backslash")
			}
			cur.plain(s[i : i+1])
		case '*':
			cur.many()
		case '?':
			cur.one()
		case ';', '|', '&', '<', '>', '(', ')', '`', '\n', '\r':
			return nil, fmt.Errorf("%q means something to a shell; a run pattern is one command, quote the character if it is part of a word", c)
		case '$':
			return nil, errors.New(`"$" means something to a shell; a run pattern holds no variables, quote the character if it is part of a word`)
		default:
			cur.plain(s[i : i+1])
		}
		started = true
	}
	end()
	if len(out) == 0 {
		return nil, errors.New("the pattern is empty")
	}
	return out, nil
}

// parseGlob reads a pattern that is a single word with wildcards, in which
// only the backslash quotes.
func parseGlob(s string) wordGlob {
	var g globText
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			g.plain(s[i : i+1])
		case c == '*':
			g.many()
		case c == '?':
			g.one()
		default:
			g.plain(s[i : i+1])
		}
	}
	return g.glob()
}
