package paths

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A segment is one part of a pattern or of a glob between slashes, in the
// spelling as written and folded.
type segment struct {
	deep   bool // "**": any number of folders, none included
	plain  bool // no wildcard: the name itself
	exact  form
	folded form
	// head and tail are the plain text at the two ends of any other, folded.
	head, tail string
}

// plainSegment is a name without wildcards.
func plainSegment(name string) segment {
	return segment{plain: true, exact: form{name: name}, folded: form{name: Fold(name)}}
}

// form is a segment ready to compare.
type form struct {
	name string  // the name of a plain segment
	toks []token // of any other
}

type tokenKind uint8

const (
	tokRune  tokenKind = iota
	tokOne             // "?"
	tokMany            // "*"
	tokClass           // "[...]"
)

type token struct {
	kind  tokenKind
	r     rune
	class *class
}

// class is a bracket expression.
type class struct {
	not    bool
	ranges []rune // pairs
}

func (c *class) has(r rune) bool {
	for i := 0; i < len(c.ranges); i += 2 {
		if c.ranges[i] <= r && r <= c.ranges[i+1] {
			return !c.not
		}
	}
	return c.not
}

// hasFolded is has for a rune whose case was folded away.
func (c *class) hasFolded(r rune) bool {
	if c.not {
		return c.has(r) && c.has(unicode.ToUpper(r))
	}
	return c.has(r) || c.has(unicode.ToUpper(r))
}

var errBracket = errors.New("the bracket expression has no end")

// parseSegment reads the text between two slashes. Backslash makes the next
// character plain.
func parseSegment(text string) (segment, error) {
	switch {
	case text == "**":
		return segment{deep: true}, nil
	case !strings.ContainsAny(text, `*?[\`):
		return plainSegment(text), nil
	}
	toks := make([]token, 0, len(text))
	plain := true
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 {
			r = brokenByte(text[i])
		}
		switch {
		case r == '\\' && i+n < len(text):
			i += n
			r, n = utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && n == 1 {
				r = brokenByte(text[i])
			}
			toks = append(toks, token{r: r})
		case r == '*':
			plain = false
			if len(toks) == 0 || toks[len(toks)-1].kind != tokMany {
				toks = append(toks, token{kind: tokMany})
			}
		case r == '?':
			plain = false
			toks = append(toks, token{kind: tokOne})
		case r == '[':
			end := bracketEnd(text, i)
			if end < 0 {
				return segment{}, errBracket
			}
			c, err := parseClass(text[i+1 : end])
			if err != nil {
				return segment{}, err
			}
			plain = false
			toks = append(toks, token{kind: tokClass, class: c})
			n = end + 1 - i
		default:
			toks = append(toks, token{r: r})
		}
		i += n
	}
	if plain {
		return plainSegment(tokText(toks)), nil
	}
	s := segment{exact: form{toks: toks}, folded: form{toks: foldTokens(toks)}}
	s.head, s.tail = ends(s.folded.toks)
	return s, nil
}

// ends is the plain text in front of the first wildcard and behind the last.
func ends(toks []token) (head, tail string) {
	i := 0
	for i < len(toks) && toks[i].kind == tokRune {
		i++
	}
	j := len(toks)
	for j > i && toks[j-1].kind == tokRune {
		j--
	}
	return tokText(toks[:i]), tokText(toks[j:])
}

// brokenByte stands for a byte that is no UTF-8, outside of all characters.
func brokenByte(b byte) rune { return unicode.MaxRune + 1 + rune(b) }

// nameRunes appends the runes of a name, broken bytes apart.
func nameRunes(out []rune, s string) []rune {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			r = brokenByte(s[i])
		}
		out = append(out, r)
		i += n
	}
	return out
}

func appendRune(b []byte, r rune) []byte {
	if r > unicode.MaxRune {
		return append(b, byte(r-unicode.MaxRune-1))
	}
	return utf8.AppendRune(b, r)
}

func tokText(toks []token) string {
	b := make([]byte, 0, len(toks))
	for _, t := range toks {
		b = appendRune(b, t.r)
	}
	return string(b)
}

// foldTokens folds each run of plain characters as a whole, so that letters
// composed of several runes fold as in a name.
func foldTokens(toks []token) []token {
	if !slices.ContainsFunc(toks, token.folds) {
		return toks
	}
	var out []token
	for i := 0; i < len(toks); i++ {
		if toks[i].kind != tokRune {
			out = append(out, toks[i])
			continue
		}
		j := i
		for j < len(toks) && toks[j].kind == tokRune {
			j++
		}
		for _, r := range nameRunes(nil, Fold(tokText(toks[i:j]))) {
			out = append(out, token{r: r})
		}
		i = j - 1
	}
	return out
}

func parseClass(body string) (*class, error) {
	c := &class{}
	if body != "" && (body[0] == '!' || body[0] == '^') {
		c.not = true
		body = body[1:]
	}
	if strings.Contains(body, "[:") || strings.Contains(body, "[.") || strings.Contains(body, "[=") {
		return nil, errors.New("named character classes are not supported")
	}
	rs := nameRunes(nil, body)
	for i := 0; i < len(rs); i++ {
		lo := rs[i]
		if lo == '\\' && i+1 < len(rs) {
			i++
			lo = rs[i]
		}
		hi := lo
		if i+2 < len(rs) && rs[i+1] == '-' {
			hi = rs[i+2]
			i += 2
			if hi == '\\' && i+1 < len(rs) {
				i++
				hi = rs[i]
			}
		}
		if hi < lo {
			return nil, errors.New("the range in the bracket expression is upside down")
		}
		c.ranges = append(c.ranges, lo, hi)
	}
	return c, nil
}

// match reports whether the segment matches a name, which must be folded when
// fold is set.
func (s *segment) match(name string, fold bool) bool {
	f := &s.exact
	if fold {
		f = &s.folded
	}
	if s.deep {
		return true
	}
	if s.plain {
		return f.name == name
	}
	return matchTokens(f.toks, name, fold)
}

// matchTokens is the usual backtracking of "*" to its last occurrence only,
// which is linear in practice and never exponential.
func matchTokens(toks []token, name string, fold bool) bool {
	t, n := 0, 0
	starT, starN := -1, 0
	for n < len(name) {
		r, size := utf8.DecodeRuneInString(name[n:])
		if r == utf8.RuneError && size == 1 {
			r = brokenByte(name[n])
		}
		if t < len(toks) {
			tok := &toks[t]
			if tok.kind == tokMany {
				starT, starN = t, n
				t++
				continue
			}
			if tok.accepts(r, fold) {
				t++
				n += size
				if fold && tok.kind != tokRune {
					n += marks(name[n:])
				}
				continue
			}
		}
		if starT < 0 {
			return false
		}
		_, size = utf8.DecodeRuneInString(name[starN:])
		starN += size
		t, n = starT+1, starN
	}
	for t < len(toks) && toks[t].kind == tokMany {
		t++
	}
	return t == len(toks)
}

// marks is the length of the combining marks at the start of a folded name:
// with their letter they are one character to a person.
func marks(s string) int {
	n := 0
	for n < len(s) && s[n] >= utf8.RuneSelf {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !unicode.Is(unicode.Mn, r) {
			break
		}
		n += size
	}
	return n
}

// folds reports whether the token may be another one when folded, see [Fold].
func (t token) folds() bool {
	return t.kind == tokRune && (t.r >= utf8.RuneSelf || 'A' <= t.r && t.r <= 'Z')
}

func (t *token) accepts(r rune, fold bool) bool {
	switch t.kind {
	case tokRune:
		return t.r == r
	case tokOne, tokMany:
		return true
	case tokClass:
		if fold {
			return t.class.hasFolded(r)
		}
		return t.class.has(r)
	}
	return false
}

// shellMatch reports whether a glob segment of a command may match a name.
// As in the shell, a wildcard does not match a leading dot.
func shellMatch(glob, name string) bool {
	s, err := parseSegment(glob)
	if err != nil {
		return true
	}
	if s.deep { // "**" without globstar is "*"
		s = anyName
	}
	return !s.skipsDot(name) && (s.match(name, false) || s.match(Fold(name), true))
}

var anyName = segment{exact: form{toks: []token{{kind: tokMany}}}, folded: form{toks: []token{{kind: tokMany}}}}

// skipsDot reports whether the shell leaves name out because of its leading
// dot.
func (s *segment) skipsDot(name string) bool {
	return strings.HasPrefix(name, ".") && s.wildStart()
}

func (s *segment) wildStart() bool {
	return !s.plain && len(s.exact.toks) > 0 && s.exact.toks[0].kind != tokRune
}

// meets reports whether some name is matched by both the glob segment s of a
// command (shell rules) and the pattern segment p.
func (s *segment) meets(p *segment, fold bool) bool {
	if p.deep {
		return true
	}
	g, q := s.form(fold), p.form(fold)
	if s.plain {
		return p.match(g.name, fold)
	}
	if p.plain {
		return !s.skipsDot(q.name) && matchTokens(g.toks, q.name, fold)
	}
	// Pairs of positions that some common beginning of a name can reach. The
	// first half of the table is for the empty beginning, where the shell's
	// rule about dots still counts.
	a, b := g.toks, q.toks
	noDot := s.wildStart()
	w := len(b) + 1
	half := (len(a) + 1) * w
	var table [256]bool // enough for most
	seen := table[:]
	if 2*half > len(seen) {
		seen = make([]bool, 2*half)
	}
	var list [32]int
	todo := append(list[:0], 0)
	seen[0] = true
	push := func(k int) {
		if !seen[k] {
			seen[k] = true
			todo = append(todo, k)
		}
	}
	for len(todo) > 0 {
		k := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		from := k / half * half
		i, j := (k-from)/w, (k-from)%w
		if i == len(a) && j == len(b) && from > 0 {
			return true
		}
		if i < len(a) && a[i].kind == tokMany {
			push(from + (i+1)*w + j)
		}
		if j < len(b) && b[j].kind == tokMany {
			push(from + i*w + j + 1)
		}
		if i == len(a) || j == len(b) || !common(&a[i], &b[j], fold, noDot && from == 0) {
			continue
		}
		if a[i].kind == tokMany {
			push(half + i*w + j + 1)
		}
		if b[j].kind == tokMany {
			push(half + (i+1)*w + j)
		}
		if a[i].kind == tokMany && b[j].kind == tokMany {
			push(half + i*w + j)
		}
		push(half + (i+1)*w + j + 1)
	}
	return false
}

func (s *segment) form(fold bool) *form {
	if fold {
		return &s.folded
	}
	return &s.exact
}

// common reports whether some character is accepted by both; two classes are
// taken to share one.
func common(a, b *token, fold, noDot bool) bool {
	switch {
	case a.kind == tokRune:
		return !(noDot && a.r == '.') && b.accepts(a.r, fold)
	case b.kind == tokRune:
		return !(noDot && b.r == '.') && a.accepts(b.r, fold)
	}
	return true
}

// within reports whether every name that the glob segment s of a command
// matches is matched by the pattern segment p. It may say no too often, never
// yes.
func (s *segment) within(p *segment, fold bool) bool {
	if p.deep {
		return true
	}
	g := s.form(fold)
	if s.plain {
		return p.match(g.name, fold)
	}
	if p.plain {
		return false
	}
	a, b := g.toks, p.form(fold).toks
	// row[j] says that a[i:] is within b[j:], from the end.
	row := make([]bool, len(b)+1)
	next := make([]bool, len(b)+1)
	for i := len(a); i >= 0; i-- {
		for j := len(b); j >= 0; j-- {
			switch {
			case j == len(b):
				row[j] = i == len(a)
			case b[j].kind == tokMany:
				row[j] = row[j+1] || i < len(a) && next[j]
			case i == len(a) || a[i].kind == tokMany:
				row[j] = false
			default:
				row[j] = next[j+1] && tokenWithin(&a[i], &b[j], fold)
			}
		}
		row, next = next, row
	}
	return next[0]
}

func tokenWithin(a, b *token, fold bool) bool {
	switch a.kind {
	case tokRune:
		return b.accepts(a.r, fold)
	case tokClass:
		return b.kind == tokOne || b.kind == tokClass && a.class.not == b.class.not && slices.Equal(a.class.ranges, b.class.ranges)
	}
	return b.kind == tokOne
}

// hints reports whether the glob segment s says something of the name that
// the pattern segment p gives: it starts like it, or ends like it where the
// pattern starts with a wildcard. "s*" hints at "secrets.yaml" and "*.pem" at
// "*.pem"; "*" and "*.yaml" hint at neither.
func (s *segment) hints(p *segment) bool {
	if s.plain {
		return true
	}
	ghead, gtail := s.fixed()
	phead, ptail := p.fixed()
	if phead != "" {
		return ghead != "" && (strings.HasPrefix(ghead, phead) || strings.HasPrefix(phead, ghead))
	}
	if ptail != "" {
		literal := 0
		for _, t := range p.folded.toks {
			if t.kind == tokRune {
				literal++
			}
		}
		if literal > utf8.RuneCountInString(ptail) && strings.LastIndexByte(ptail, '.') == 0 {
			return false // "*.json" says nothing of "*credentials*.json"
		}
		extension := strings.LastIndexByte(gtail, '.') == 0 // "*.yaml" says nothing of "*-secrets.yaml"
		return gtail != "" && (strings.HasSuffix(gtail, ptail) || !extension && strings.HasSuffix(ptail, gtail))
	}
	for i := range p.folded.toks {
		if p.folded.toks[i].kind == tokRune {
			return false // "*.tfstate.*": the ends say nothing
		}
	}
	return true
}

// fixed is the plain text at the two ends of a segment, folded.
func (s *segment) fixed() (head, tail string) {
	if s.plain {
		return s.folded.name, s.folded.name
	}
	return s.head, s.tail
}

// everything reports whether the segment takes every name, or every name
// with a leading dot: it has nothing plain but that dot, and a "*".
func (s *segment) everything() bool {
	many := false
	for i, t := range s.exact.toks {
		switch t.kind {
		case tokMany:
			many = true
		case tokRune:
			if t.r != '.' || i != 0 {
				return false
			}
		case tokClass:
			if !t.class.not {
				return false
			}
		}
	}
	return many
}
