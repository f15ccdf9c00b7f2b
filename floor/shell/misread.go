package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// misread says why bash reads a text otherwise than the parser does, "" where
// both agree as far as is known.
func misread(text string, f *syntax.File) (why string) {
	if strings.Contains(text, "\\\\\\`") {
		return "backquotes within backquotes within backquotes"
	}
	if !strings.Contains(text, "<<") {
		return ""
	}
	return misreadHeredocs(text, f)
}

// misreadHeredocs is misread for here-documents alone.
func misreadHeredocs(text string, f *syntax.File) (why string) {
	syntax.Walk(f, func(n syntax.Node) bool {
		if rd, is := n.(*syntax.Redirect); is && why == "" && (rd.Op == syntax.Hdoc || rd.Op == syntax.DashHdoc) {
			why = misreadHeredoc(text, rd)
		}
		return why == ""
	})
	return why
}

// misreadHeredoc compares where a here-document ends with where it ends for
// bash, which looks for its last line before it looks at anything in it.
func misreadHeredoc(text string, rd *syntax.Redirect) string {
	end, quoted, fine := delimiter(rd.Word)
	if !fine {
		return "a here-document whose last line cannot be told"
	}
	if rd.Hdoc == nil || len(rd.Hdoc.Parts) == 0 {
		return ""
	}
	from, to := int(rd.Hdoc.Pos().Offset()), int(rd.Hdoc.End().Offset())
	if from > to || to > len(text) {
		return "a here-document that cannot be found in the text"
	}
	at := from
	for at < len(text) {
		line, next := heredocLine(text, at, quoted)
		if rd.Op == syntax.DashHdoc {
			line = strings.TrimLeft(line, "\t")
		}
		if line == end {
			if to == at || to == min(next-1, len(text)) { // the parser counts the last line in where the text ends
				return ""
			}
			break
		}
		at = next
	}
	if at >= len(text) && to == len(text) {
		return ""
	}
	return "a here-document that ends elsewhere than it seems to"
}

// heredocLine is the line of a here-document that begins there, and where the
// next one does. Unless the word is quoted, a backslash at the end of a line
// joins it with the next.
func heredocLine(text string, at int, quoted bool) (line string, next int) {
	var b strings.Builder
	for {
		part, _, more := strings.Cut(text[at:], "\n")
		at += len(part) + 1
		if slashes := len(part) - len(strings.TrimRight(part, "\\")); quoted || !more || slashes%2 == 0 {
			b.WriteString(part)
			return b.String(), at
		}
		b.WriteString(part[:len(part)-1])
	}
}

// delimiter is the last line that the word of a here-document asks for.
func delimiter(word *syntax.Word) (end string, quoted, fine bool) {
	var b strings.Builder
	for _, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			quoted = quoted || strings.IndexByte(p.Value, '\\') >= 0
			b.WriteString(unescape(p.Value))
		case *syntax.SglQuoted:
			quoted = true
			if p.Dollar {
				return "", true, false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			quoted = true
			for _, q := range p.Parts {
				lit, is := q.(*syntax.Lit)
				if !is || p.Dollar || strings.IndexByte(lit.Value, '\\') >= 0 {
					return "", true, false
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", quoted, false
		}
	}
	return b.String(), quoted, true
}
