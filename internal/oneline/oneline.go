// Package oneline writes JSON so that every reader sees one line, and nothing in
// it steers a terminal or turns the direction of text: what is neither a letter,
// a sign nor a blank stands as \uXXXX. It changes no value.
//
// Start at [JSON]; [Unseen] says which characters those are.
package oneline

import (
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON is a JSON text with the characters escaped that some readers take for the
// end of a line (U+2028, U+2029, U+0085) or that are not seen, see [Unseen]. Bytes
// that are no UTF-8 become U+FFFD. Outside of strings no JSON has any of them.
func JSON(text []byte) []byte {
	i := 0
	for i < len(text) && text[i] < 0x7f {
		i++
	}
	if i == len(text) {
		return text
	}
	out := append(make([]byte, 0, len(text)+len(text)/8), text[:i]...)
	for i < len(text) {
		if text[i] < 0x7f {
			out = append(out, text[i])
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		i += n
		switch {
		case !Unseen(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// Unseen reports whether a character is not seen for what it is: it has no shape,
// turns or joins what stands beside it, or looks like a blank. Those of private use
// have any shape.
func Unseen(r rune) bool {
	switch {
	case r == ' ' || 0x20 < r && r < 0x7f:
		return false
	case r == 0x2800, r == 0x1d159: // a sign without dots, a note without a head
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Zs, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
