package paths

import (
	"errors"
	"fmt"
	"strings"
)

// Pattern is a compiled path pattern of a policy. The zero value matches
// nothing.
//
//	.              the workspace and everything in it
//	.env  *.key    a name at any depth
//	src/**         from the workspace on
//	**/x/y         at any depth
//	~/x  /x  $V/x  absolute; ~ and $V by what is known of the place
//	@system        a named set, see [Sets]
//
// "*" and "?" do not match "/", "**" is any number of folders, "[a-z]" one
// character, "{a,b}" either of the texts; a backslash makes the next
// character plain. "x/**" and "x/" match x itself too.
type Pattern struct{ c *compiled }

type compiled struct {
	text   string
	anchor anchor
	varn   string // for atVar
	alts   [][]segment
	size   int // bytes of the texts of alts
	set    *set
	// everywhere: see Pattern.Everywhere.
	everywhere bool
}

// anchor says where a pattern starts.
type anchor uint8

const (
	floating    anchor = iota // at any depth
	atWorkspace               // at the workspace
	atHome                    // "~/..."
	atRoot                    // "/..."
	atVar                     // "$NAME/..."
)

const (
	maxPattern = 4096 // bytes of one pattern
	maxAlts    = 64   // texts that its braces stand for
	maxDepth   = 60   // segments, so that a set of positions fits a word
)

// Compile reads a pattern. Errors are for people and have no position.
func Compile(pattern string) (Pattern, error) {
	c := &compiled{text: pattern}
	if err := check(pattern); err != nil {
		return Pattern{}, err
	}
	if pattern[0] == '@' {
		s, ok := sets[pattern]
		if !ok {
			return Pattern{}, fmt.Errorf("there is no set %s (write \\@ for a name that starts with @); the sets are %s", pattern, strings.Join(SetNames(), " "))
		}
		c.set = s
		return Pattern{c}, nil
	}
	texts, err := braces(pattern)
	if err != nil {
		return Pattern{}, err
	}
	for i, text := range texts {
		a, name, rest, err := splitAnchor(text)
		if err != nil {
			return Pattern{}, err
		}
		if i > 0 && (a != c.anchor || name != c.varn) {
			return Pattern{}, errors.New("the texts in braces start at different places; write two patterns")
		}
		c.anchor, c.varn = a, name
		segs, err := splitSegments(rest, a)
		if err != nil {
			return Pattern{}, err
		}
		c.alts = append(c.alts, segs)
		c.size += len(text)
	}
	return Pattern{c}, nil
}

// Size is how many texts the pattern stands for, and how many bytes they are.
func (p Pattern) Size() (texts, bytes int) {
	switch {
	case p.c == nil:
		return 0, 0
	case p.c.set != nil: // which all share
		return 1, len(p.c.text)
	}
	return len(p.c.alts), p.c.size
}

// MustCompile is Compile for patterns of our own.
func MustCompile(pattern string) Pattern {
	p, err := Compile(pattern)
	if err != nil {
		panic("paths: " + pattern + ": " + err.Error())
	}
	return p
}

func check(pattern string) error {
	switch {
	case pattern == "":
		return errors.New("the pattern is empty")
	case len(pattern) > maxPattern:
		return fmt.Errorf("the pattern is longer than %d bytes", maxPattern)
	}
	for i := 0; i < len(pattern); i++ {
		if c := pattern[i]; c < 0x20 || c == 0x7f {
			return errors.New("the pattern holds a control character")
		}
	}
	switch {
	case strings.TrimSpace(pattern) != pattern:
		return errors.New("the pattern starts or ends with a blank")
	case len(pattern) >= 3 && isLetter(pattern[0]) && pattern[1] == ':' && (pattern[2] == '\\' || pattern[2] == '/'):
		return errors.New(`drive letters are not supported; start with "/", "~/" or the workspace`)
	case strings.HasPrefix(pattern, "~") && pattern != "~" && !strings.HasPrefix(pattern, "~/"):
		return errors.New(`only "~/" is known; another user's home must be written as an absolute path`)
	case pattern[len(pattern)-1] == '\\' && (len(pattern) < 2 || pattern[len(pattern)-2] != '\\'):
		return errors.New("the pattern ends with a backslash")
	}
	return nil
}

// braces spells out "{a,b}".
func braces(s string) ([]string, error) {
	open := -1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			if end := bracketEnd(s, i); end > 0 {
				i = end
			}
		case '}':
			return nil, errors.New(`there is a "}" without "{"`)
		case '{':
			open = i
		}
		if open >= 0 {
			break
		}
	}
	if open < 0 {
		return []string{s}, nil
	}
	if strings.HasPrefix(s, "${") && open == 1 {
		// "${NAME}" is no alternative.
		end := strings.IndexByte(s, '}')
		if end < 0 {
			return nil, errors.New(`"${" has no "}"`)
		}
		tails, err := braces(s[end+1:])
		if err != nil {
			return nil, err
		}
		for i := range tails {
			tails[i] = s[:end+1] + tails[i]
		}
		return tails, nil
	}
	var parts []string
	depth, start, end := 0, open+1, -1
	for i := open; i < len(s) && end < 0; i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			if e := bracketEnd(s, i); e > 0 {
				i = e
			}
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				parts = append(parts, s[start:i])
				end = i
			}
		case ',':
			if depth == 1 {
				parts = append(parts, s[start:i])
				start = i + 1
			}
		}
	}
	if end < 0 {
		return nil, errors.New(`"{" has no "}"`)
	}
	tails, err := braces(s[end+1:])
	if err != nil {
		return nil, err
	}
	var out []string
	for _, part := range parts {
		heads, err := braces(part)
		if err != nil {
			return nil, err
		}
		for _, h := range heads {
			for _, t := range tails {
				if out = append(out, s[:open]+h+t); len(out) > maxAlts {
					return nil, fmt.Errorf("the braces stand for more than %d texts", maxAlts)
				}
			}
		}
	}
	return out, nil
}

// splitAnchor tells where a pattern starts and what follows from there.
func splitAnchor(s string) (a anchor, name, rest string, err error) {
	switch {
	case s == "":
		return 0, "", "", errors.New("the pattern is empty")
	case s == "~" || strings.HasPrefix(s, "~/"):
		return atHome, "", s[1:], nil
	case s[0] == '/':
		return atRoot, "", s, nil
	case s[0] == '$':
		name, n := varName(s[1:])
		if name == "" {
			return 0, "", "", errors.New(`"$" must be followed by the name of a variable; write \$ for the character`)
		}
		rest := s[1+n:]
		if rest != "" && rest[0] != '/' {
			return 0, "", "", errors.New(`a variable must be followed by "/"`)
		}
		switch name {
		case "HOME":
			return atHome, "", rest, nil
		case "PWD":
			return 0, "", "", errors.New(`the present folder changes; write "." for the workspace`)
		}
		return atVar, name, rest, nil
	case s == "." || strings.HasPrefix(s, "./"):
		return atWorkspace, "", s[1:], nil
	}
	body := strings.TrimRight(s, "/")
	if body == "**" || strings.HasPrefix(s, "**/") || !strings.Contains(body, "/") {
		return floating, "", s, nil
	}
	return atWorkspace, "", s, nil
}

// splitSegments compiles what follows the anchor.
func splitSegments(s string, a anchor) ([]segment, error) {
	var segs []segment
	folder := strings.HasSuffix(s, "/")
	for part := range strings.SplitSeq(s, "/") {
		switch part {
		case "", ".":
			continue
		case "..":
			return nil, errors.New(`".." is not supported; write the folder itself, from "/" or "~/"`)
		}
		if strings.Contains(part, "***") || part != "**" && strings.Contains(part, "**") {
			return nil, errors.New(`"**" must stand alone between slashes`)
		}
		if i := strings.IndexByte(part, '$'); i >= 0 && (i == 0 || part[i-1] != '\\') {
			return nil, errors.New(`a variable may only start the pattern; write \$ for the character`)
		}
		seg, err := parseSegment(part)
		if err != nil {
			return nil, err
		}
		if seg.deep && len(segs) > 0 && segs[len(segs)-1].deep {
			continue
		}
		segs = append(segs, seg)
	}
	if a == floating && (len(segs) == 0 || !segs[0].deep) {
		segs = append([]segment{{deep: true}}, segs...)
	}
	// "." and "x/" are folders with everything in them, "/" is only itself.
	whole := a == atWorkspace && len(segs) == 0
	if (whole || folder && len(segs) > 0) && (len(segs) == 0 || !segs[len(segs)-1].deep) {
		segs = append(segs, segment{deep: true})
	}
	if len(segs) > maxDepth {
		return nil, fmt.Errorf("the pattern has more than %d parts", maxDepth)
	}
	return segs, nil
}

// String is the pattern as written.
func (pt Pattern) String() string {
	if pt.c == nil {
		return ""
	}
	return pt.c.text
}

// Everywhere is the same pattern for exceptions: one that matches at any
// depth then covers paths outside the workspace too, where an allow would
// not.
func (pt Pattern) Everywhere() Pattern {
	if pt.c == nil || pt.c.set != nil {
		return pt
	}
	c := *pt.c
	c.everywhere = true
	return Pattern{&c}
}

// Set is the name of the set that the pattern stands for, "" for a pattern of
// its own.
func (pt Pattern) Set() string {
	if pt.c == nil || pt.c.set == nil {
		return ""
	}
	return pt.c.text
}

// Floating reports whether the pattern matches at any depth.
func (pt Pattern) Floating() bool {
	return pt.c != nil && pt.c.set == nil && pt.c.anchor == floating
}

// Names reports whether the pattern's last part says something of the name of
// what it matches: "src/*.lock" does, ".", "src/*" and "src/**" do not.
func (pt Pattern) Names() bool {
	if pt.c == nil || pt.c.set != nil {
		return false
	}
	for _, segs := range pt.c.alts {
		if len(segs) == 0 {
			return false
		}
		head, tail := segs[len(segs)-1].fixed()
		if strings.Trim(head+tail, ".") == "" {
			return false
		}
	}
	return true
}

// Within reports whether everything that pt matches is matched by other too,
// as far as that can be told from the patterns alone.
func (pt Pattern) Within(other Pattern) bool {
	a, b := pt.c, other.c
	if a == nil || b == nil {
		return false
	}
	if a.set != nil || b.set != nil {
		return a.set == b.set
	}
	if b.anchor != floating && (a.anchor != b.anchor || a.varn != b.varn) {
		return false
	}
	for _, as := range a.alts {
		ok := false
		for _, bs := range b.alts {
			ok = ok || segmentsWithin(as, bs)
		}
		if !ok {
			return false
		}
	}
	return true
}

// segmentsWithin reports whether every path of a is one of b; a may be a
// pattern or the glob of a command.
func segmentsWithin(a, b []segment) bool {
	// row[j] says that a[i:] is within b[j:], from the end.
	row := make([]bool, len(b)+1)
	next := make([]bool, len(b)+1)
	for i := len(a); i >= 0; i-- {
		for j := len(b); j >= 0; j-- {
			switch {
			case j == len(b):
				row[j] = i == len(a)
			case b[j].deep:
				row[j] = row[j+1] || i < len(a) && next[j]
			case i == len(a) || a[i].deep:
				row[j] = false
			default:
				row[j] = next[j+1] && a[i].within(&b[j], false)
			}
		}
		row, next = next, row
	}
	return next[0]
}
