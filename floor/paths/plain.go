package paths

import (
	"strings"
	"unicode/utf8"
)

// Plain is a text with ASCII characters in the place of those that Unicode
// calls the same ones in another form (fullwidth, mathematical, circled,
// raised), and of those that some systems write for what they cannot.
func Plain(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return plain(s)
		}
	}
	return s
}

func plain(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteByte(byte(r))
		} else {
			b.WriteString(ascii(r))
		}
	}
	return b.String()
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// ascii is a character in its plain form, itself when it has none.
func ascii(r rune) string {
	at := func(from rune, of string) string { return of[r-from : r-from+1] }
	switch {
	case 0xFF01 <= r && r <= 0xFF5E:
		return string(r - 0xFEE0)
	case 0x1D400 <= r && r <= 0x1D6A3:
		k := int(r-0x1D400) % len(letters)
		return letters[k : k+1]
	case 0x1D7CE <= r && r <= 0x1D7FF:
		return string('0' + (r-0x1D7CE)%10)
	case 0x24B6 <= r && r <= 0x24E9:
		return at(0x24B6, letters)
	case 0x1F130 <= r && r <= 0x1F149:
		return at(0x1F130, letters)
	case 0x2460 <= r && r <= 0x2468:
		return string('1' + r - 0x2460)
	case 0x2080 <= r && r <= 0x2089:
		return string('0' + r - 0x2080)
	case 0x2074 <= r && r <= 0x2079:
		return string('0' + r - 0x2070)
	case 0x2000 <= r && r <= 0x200A:
		return " "
	}
	if p, ok := forms[r]; ok {
		return p
	}
	return string(r)
}

var forms = map[rune]string{
	// Blanks, dots and slashes.
	0x00A0: " ", 0x202F: " ", 0x205F: " ", 0x3000: " ", 0x2024: ".", 0x2025: "..", 0x2026: "...", 0x3002: ".", 0xFE52: ".", 0xFF61: ".",
	0x2044: "/", 0x2215: "/", 0x29F8: "/", 0x2216: `\`, 0x29F5: `\`, 0x29F9: `\`, 0xFE68: `\`, 0x00A5: `\`, 0x20A9: `\`,
	0xFE13: ":", 0xFE55: ":", 0x2236: ":", 0xA789: ":", 0xFE5F: "#", 0xFE6A: "%", 0xFE6B: "@", 0x2010: "-", 0x2011: "-", 0x2012: "-", 0x2013: "-", 0x2014: "-", 0x2212: "-", 0xFE63: "-",
	0xFE4D: "_", 0xFE4E: "_", 0xFE4F: "_", 0xFE33: "_", 0xFE34: "_", 0x203F: "_", 0x2040: "_", 0x02DC: "~", 0x223C: "~", 0x301C: "~", 0x2053: "~",
	// Raised and lowered.
	0x00AA: "a", 0x00BA: "o", 0x00B9: "1", 0x00B2: "2", 0x00B3: "3", 0x2070: "0", 0x2071: "i", 0x207F: "n",
	0x1D43: "a", 0x1D47: "b", 0x1D9C: "c", 0x1D48: "d", 0x1D49: "e", 0x1DA0: "f", 0x1D4D: "g", 0x02B0: "h", 0x2097: "l", 0x02B2: "j", 0x1D4F: "k", 0x02E1: "l", 0x1D50: "m",
	0x1D52: "o", 0x1D56: "p", 0x02B3: "r", 0x02E2: "s", 0x1D57: "t", 0x1D58: "u", 0x1D5B: "v", 0x02B7: "w", 0x02E3: "x", 0x02B8: "y", 0x1DBB: "z",
	0x1D62: "i", 0x1D63: "r", 0x1D64: "u", 0x1D65: "v", 0x2090: "a", 0x2091: "e", 0x2092: "o", 0x2093: "x", 0x2095: "h", 0x2096: "k", 0x2098: "m", 0x2099: "n", 0x209A: "p",
	0x209B: "s", 0x209C: "t", 0x2C7C: "j",
	// Letters that stand for something, and letters written as one.
	0x2102: "C", 0x210A: "g", 0x210B: "H", 0x210C: "H", 0x210D: "H", 0x210E: "h", 0x210F: "h", 0x2110: "I", 0x2111: "I", 0x2112: "L", 0x2113: "l", 0x2115: "N", 0x2119: "P",
	0x211A: "Q", 0x211B: "R", 0x211C: "R", 0x211D: "R", 0x2124: "Z", 0x2128: "Z", 0x212A: "K", 0x212C: "B", 0x212D: "C", 0x212F: "e", 0x2130: "E", 0x2131: "F", 0x2133: "M",
	0x2134: "o", 0x2139: "i", 0x2145: "D", 0x2146: "d", 0x2147: "e", 0x2148: "i", 0x2149: "j", 0x2170: "i", 0x2171: "ii", 0x2172: "iii", 0x2173: "iv", 0x2174: "v", 0x2179: "x",
	0x217C: "l", 0x217D: "c", 0x217E: "d", 0x217F: "m", 0x2160: "I", 0x2164: "V", 0x2169: "X", 0x216C: "L", 0x216D: "C", 0x216E: "D", 0x216F: "M", 0x017F: "s",
	0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st", 0x01C9: "lj", 0x01CC: "nj", 0x01F3: "dz", 0x0133: "ij",
}
