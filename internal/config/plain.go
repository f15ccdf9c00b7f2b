package config

// plain replaces what JSON has not, comments and a comma after the last
// member, by blanks, so that every byte keeps its place. An open comment is
// left for the parser to stumble over, and told by its place.
func plain(text []byte) (out []byte, open int) {
	out = append([]byte(nil), text...)
	comma := -1 // a comma after which nothing came yet
	for i := 0; i < len(out); {
		switch c := out[i]; {
		case c == '"':
			comma = -1
			i = afterString(out, i)
		case c == '/' && i+1 < len(out) && out[i+1] == '/':
			for ; i < len(out) && out[i] != '\n'; i++ {
				blank(out, i)
			}
		case c == '/' && i+1 < len(out) && out[i+1] == '*':
			end := afterComment(out, i)
			if end < 0 {
				return out, i
			}
			for ; i < end; i++ {
				blank(out, i)
			}
		case c == ',':
			comma = i
			i++
		case (c == '}' || c == ']') && comma >= 0:
			if !leading(out, comma) {
				out[comma] = ' '
			}
			comma = -1
			i++
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		default:
			comma = -1
			i++
		}
	}
	return out, -1
}

// leading says whether no value stands before a comma: then it ends none and
// is an error.
func leading(text []byte, comma int) bool {
	for i := comma - 1; i >= 0; i-- {
		switch text[i] {
		case ' ', '\t', '\n', '\r':
		case '{', '[', ',', ':':
			return true
		default:
			return false
		}
	}
	return true
}

func blank(text []byte, i int) {
	if text[i] != '\n' && text[i] != '\r' {
		text[i] = ' '
	}
}

// afterString is where a string that begins at i has ended, or the end of the
// text.
func afterString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// afterComment is where a comment in stars has ended, -1 when it does not.
func afterComment(text []byte, i int) int {
	for i += 2; i+1 < len(text); i++ {
		if text[i] == '*' && text[i+1] == '/' {
			return i + 2
		}
	}
	return -1
}
