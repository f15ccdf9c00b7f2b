package paths

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Fold is a name in the form in which a deny or block rule compares it: two
// names that some file system takes for the same one have the same form. Case
// and the way an accented letter is composed do not count, and characters
// nobody can see are left out. A name in plain lower-case ASCII comes back as
// it is.
func Fold(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return foldSlow(s, i)
		}
	}
	return s
}

// FoldPath is Fold of each part of a path.
func FoldPath(abs string) string {
	for i := 0; i < len(abs); i++ {
		if abs[i] >= utf8.RuneSelf {
			parts := strings.Split(abs, "/")
			for i := range parts {
				parts[i] = Fold(parts[i])
			}
			return strings.Join(parts, "/")
		}
	}
	return Fold(abs)
}

func foldSlow(s string, from int) string {
	for i := from; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return foldRunes(s)
		}
	}
	return strings.ToLower(s)
}

func foldRunes(s string) string {
	if !utf8.ValidString(s) {
		// Keep broken bytes as they are: they stand for themselves.
		var b strings.Builder
		for s != "" {
			r, n := utf8.DecodeRuneInString(s)
			if r == utf8.RuneError && n == 1 {
				b.WriteByte(s[0])
			} else {
				b.WriteString(foldRunes(s[:n]))
			}
			s = s[n:]
		}
		return b.String()
	}
	out := make([]rune, 0, len(s))
	for _, r := range s {
		if !invisible(r) {
			out = decompose(out, r)
		}
	}
	// Equal texts may list the marks of one letter in different orders.
	for i := 0; i < len(out); i++ {
		if !unicode.Is(unicode.Mn, out[i]) {
			continue
		}
		j := i + 1
		for j < len(out) && unicode.Is(unicode.Mn, out[j]) {
			j++
		}
		slices.Sort(out[i:j])
		i = j
	}
	return string(out)
}

// lower maps every spelling of a letter in any case to one rune.
func lower(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// invisible reports characters that leave no trace on a screen: format and
// control characters, fillers and variation selectors.
func invisible(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return false
	case r == 0x00AD, r == 0x034F, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x3164, r == 0xFFA0:
		return true
	case 0x180B <= r && r <= 0x180F, 0xFE00 <= r && r <= 0xFE0F, 0xE0000 <= r && r <= 0xE0FFF:
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Cc)
}

// decompositions maps a composed character to its base and mark.
var decompositions = sync.OnceValue(func() map[rune][2]rune {
	m := make(map[rune][2]rune, 1100)
	for _, c := range compositions {
		var base rune
		for i, r := range []rune(c.pairs) {
			if i%2 == 0 {
				base = r
			} else {
				m[r] = [2]rune{base, c.mark}
			}
		}
	}
	return m
})

const (
	hangul  = 0xAC00 // first composed syllable
	leadJ   = 0x1100
	vowelJ  = 0x1161
	tailJ   = 0x11A7
	vowels  = 21
	tails   = 28
	hangulN = 19 * vowels * tails
)

// decompose appends r, lower-cased and taken apart, to out.
func decompose(out []rune, r rune) []rune {
	if r < utf8.RuneSelf {
		return append(out, lower(r))
	}
	if s := r - hangul; 0 <= s && s < hangulN {
		out = append(out, leadJ+s/(vowels*tails), vowelJ+s%(vowels*tails)/tails)
		if t := s % tails; t != 0 {
			out = append(out, tailJ+t)
		}
		return out
	}
	if d, ok := decompositions()[r]; ok {
		out = decompose(out, d[0])
		if d[1] != 0 {
			out = decompose(out, d[1])
		}
		return out
	}
	if l := lower(r); l != r {
		return decompose(out, l)
	}
	return append(out, r)
}
