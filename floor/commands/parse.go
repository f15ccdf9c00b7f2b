package commands

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"assent/floor/effect"
	"assent/internal/outline"

	"github.com/goccy/go-yaml"
)

// parser reads one entry and collects everything that is wrong with it.
type parser struct {
	file string
	line int
	errs []string
}

func (p *parser) errorf(where, format string, args ...any) {
	p.errs = append(p.errs, fmt.Sprintf("%s:%d: %s: %s", p.file, p.line, where, fmt.Sprintf(format, args...)))
}

func parseEntry(file string, line int, text []byte) (*Entry, error) {
	p := &parser{file: file, line: line}
	rest, subs := splitSubcommands(text, line)
	name, v, err := one(file, line, rest)
	if err != nil {
		return nil, err
	}
	e := p.entry(name, v, nil)
	if key, ok := keyOf(string(text)); ok {
		p.bringing(e, strings.Fields(key))
	}
	for _, s := range subs {
		s.file, s.parent = file, e
		p.add(e, name, s)
	}
	p.check(name, e)
	if len(p.errs) > 0 {
		return nil, fmt.Errorf("%s", strings.Join(p.errs, "\n"))
	}
	return e, nil
}

// one reads a document that holds a single key.
func one(file string, line int, text []byte) (string, any, error) {
	doc, ok := outlined(text)
	if !ok {
		var err error
		if doc, err = read(text); err != nil {
			return "", nil, fmt.Errorf("%s:%d: %w", file, line, err)
		}
	}
	if len(doc) != 1 {
		return "", nil, fmt.Errorf("%s:%d: want one entry, have %d", file, line, len(doc))
	}
	names := strings.Fields(fmt.Sprint(doc[0].Key))
	if len(names) == 0 {
		return "", nil, fmt.Errorf("%s:%d: an entry without a name", file, line)
	}
	return names[0], doc[0].Value, nil
}

// read reads a document with the full reader.
func read(text []byte) (doc yaml.MapSlice, err error) {
	err = yaml.UnmarshalWithOptions(text, &doc, yaml.UseOrderedMap())
	return doc, err
}

// outlined reads a document that is written as all entries that ship are, with
// the small reader. ok is false for any other.
func outlined(text []byte) (yaml.MapSlice, bool) {
	n, ok := outline.Read(string(text))
	if !ok || n.Kind != outline.Mapping || !fits(&n) {
		return nil, false
	}
	return valueOf(&n, false).(yaml.MapSlice), true
}

// fits reports whether the full reader would see the same: no plain text that
// may be a number of some notation, and no key twice.
func fits(n *outline.Node) bool {
	if n.Kind == outline.Scalar {
		return n.Quoted || n.Text == "true" || n.Text == "false" || !special(n.Text)
	}
	for i := range n.Keys {
		k := &n.Keys[i]
		if k.Kind != outline.Scalar || !k.Quoted && special(k.Text) || slices.ContainsFunc(n.Keys[:i], func(o outline.Node) bool { return o.Text == k.Text }) {
			return false
		}
	}
	for i := range n.Values {
		if !fits(&n.Values[i]) {
			return false
		}
	}
	return true
}

// valueOf is a node as the full reader would give it; the entries of
// subcommands stay nodes until they are met.
func valueOf(n *outline.Node, subs bool) any {
	switch n.Kind {
	case outline.Scalar:
		if !n.Quoted && (n.Text == "true" || n.Text == "false") {
			return n.Text == "true"
		}
		return n.Text
	case outline.List:
		out := make([]any, len(n.Values))
		for i := range n.Values {
			out[i] = valueOf(&n.Values[i], false)
		}
		return out
	case outline.Mapping:
		out := make(yaml.MapSlice, len(n.Keys))
		for i := range n.Keys {
			out[i].Key = n.Keys[i].Text
			if subs {
				out[i].Value = &n.Values[i]
				continue
			}
			out[i].Value = valueOf(&n.Values[i], n.Keys[i].Text == "commands" && !n.Keys[i].Quoted)
		}
		return out
	}
	return nil
}

// special reports whether a plain text could be read as something else than
// itself: a number, a truth value, nothing.
func special(text string) bool {
	if c := text[0]; '0' <= c && c <= '9' || c == '.' || (c == '-' || c == '+') && len(text) > 1 && (text[1] >= '0' && text[1] <= '9' || text[1] == '.') {
		return !strings.ContainsAny(text, "| ") // options and lists of texts
	}
	switch strings.ToLower(text) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null", "~":
		return true
	}
	return false
}

// subcommand is an entry below a program, made when it is first met: of its
// text, or of its value where that was read with the whole program.
type subcommand struct {
	file   string
	line   int
	names  []string
	text   []byte
	value  any
	read   bool // the value is there
	parent *Entry
	once   sync.Once
	entry  *Entry
	err    error
}

func (s *subcommand) load() (*Entry, error) {
	s.once.Do(func() {
		p := &parser{file: s.file, line: s.line}
		name, v := s.names[0], s.value
		if !s.read {
			if name, v, s.err = one(s.file, s.line, s.text); s.err != nil {
				return
			}
		}
		s.entry = p.entry(name, v, s.parent)
		p.bringing(s.entry, s.names)
		if len(p.errs) > 0 {
			s.err = fmt.Errorf("%s", strings.Join(p.errs, "\n"))
		}
	})
	return s.entry, s.err
}

// splitSubcommands takes the block of subcommands out of the text of an entry
// where it is written in the plain way: "  commands:" alone on its line and a
// line at four blanks for each key. Reading a large entry whole takes longer
// than judging a hundred commands.
func splitSubcommands(text []byte, line int) (rest []byte, subs []*subcommand) {
	if bytes.Contains(text, []byte(": &")) { // anchors reach across the parts
		return text, nil
	}
	var out, cur []byte
	var s *subcommand
	in := false
	for l := range bytes.Lines(text) {
		trimmed := bytes.TrimLeft(l, " ")
		indent := len(l) - len(trimmed)
		blank := len(bytes.TrimSpace(l)) == 0 || trimmed[0] == '#'
		switch {
		case !in && string(bytes.TrimRight(l, " \r\n")) == "  commands:":
			in = true
		case !in:
			out = append(out, l...)
		case blank:
		case indent <= 2:
			in = false
			out = append(out, l...)
		case indent == 4:
			key, ok := keyOf(string(trimmed))
			if !ok {
				return text, nil // written in another way: read it whole
			}
			if s != nil {
				s.text = cur
			}
			s = &subcommand{line: line, names: strings.Fields(key)}
			subs = append(subs, s)
			cur = append([]byte(nil), trimmed...)
		case indent < 4 || s == nil:
			return text, nil
		default:
			cur = append(cur, l[4:]...)
		}
		line++
	}
	if s != nil {
		s.text = cur
	}
	if len(subs) == 0 {
		return text, nil
	}
	if len(bytes.TrimSpace(out)) == 0 {
		return text, nil
	}
	// A program with nothing but subcommands still is a mapping.
	if first, after, _ := bytes.Cut(out, []byte("\n")); len(bytes.TrimSpace(after)) == 0 && bytes.HasSuffix(bytes.TrimSpace(first), []byte(":")) {
		out = append(bytes.TrimRight(first, " \r\n"), []byte(" {}\n")...)
	}
	return out, subs
}

// add makes a subcommand known under its names.
func (p *parser) add(e *Entry, name string, s *subcommand) {
	if e.commands == nil {
		e.commands = map[string]*subcommand{}
	}
	for _, sub := range s.names {
		if strings.ContainsAny(sub, "*?[") {
			e.globs = append(e.globs, globEntry{sub, s})
			continue
		}
		if _, dup := e.commands[sub]; dup {
			p.errorf(name+".commands", "%q appears twice", sub)
		}
		e.commands[sub] = s
	}
}

// check is told of an entry that is complete.
func (p *parser) check(name string, e *Entry) {
	if e.Class == effect.Unknown && e.commands == nil && e.same == "" && e.bare == nil {
		p.errorf(name, "no class")
	}
}

func (p *parser) entry(name string, v any, parent *Entry) *Entry {
	e := &Entry{Name: name, parent: parent}
	if n, ok := v.(*outline.Node); ok {
		v = valueOf(n, false)
	}
	if parent != nil {
		e.Style = parent.Style
	}
	if class, ok := v.(string); ok { // "status: look" is short for {class: look}
		e.Class = p.class(name, class)
		e.tame, e.inert = true, true
		return e
	}
	m, ok := v.(yaml.MapSlice)
	if !ok {
		p.errorf(name, "an entry is a mapping or a class, not %T", v)
		return e
	}
	for _, item := range m { // first, what the rest builds on
		switch fmt.Sprint(item.Key) {
		case "class":
			e.Class = p.class(name, fmt.Sprint(item.Value))
		case "style":
			s, ok := styleNames[fmt.Sprint(item.Value)]
			if !ok {
				p.errorf(name, "unknown style %v", item.Value)
			}
			e.Style = s
		}
	}
	for _, item := range m {
		key := fmt.Sprint(item.Key)
		where := name + "." + key
		switch key {
		case "class", "style":
		case "options":
			e.options = p.options(where, item.Value)
		case "persistent":
			e.persistent = p.options(where, item.Value)
		case "operands":
			e.Operands = p.operands(where, item.Value)
			e.hasOperand = true
		case "when":
			list, ok := item.Value.([]any)
			if !ok {
				p.errorf(where, "want a list")
				continue
			}
			for i, a := range list {
				e.When = append(e.When, p.alternative(fmt.Sprintf("%s[%d]", where, i), a))
			}
		case "lenient":
			b, ok := item.Value.(bool)
			if !ok {
				p.errorf(where, "want true or false")
			}
			e.Lenient = b
		case "effects":
			e.Effects = p.effects(where, item.Value)
		case "needs":
			if item.Value != "git" {
				p.errorf(where, "unknown fact %v", item.Value)
			}
			e.NeedsGit = true
		case "obeys":
			e.Obeys = p.obeys(where, item.Value)
		case "brings":
			e.Brings = p.brings(where, item.Value)
		case "index":
			if parent != nil {
				p.errorf(where, "only a program has an index")
			}
			e.Index = fmt.Sprint(item.Value)
		case "argfiles":
			if e.ArgFiles = item.Value == true; parent != nil || !e.ArgFiles {
				p.errorf(where, "true, and only of a program")
			}
		case "same":
			e.same = fmt.Sprint(item.Value)
		case "commands", "bare": // below: they inherit the persistent options
		default:
			p.errorf(where, "unknown field")
		}
	}
	for _, item := range m {
		switch fmt.Sprint(item.Key) {
		case "commands":
			p.commands(e, name, item.Value)
		case "bare":
			e.bare = p.entry(name, item.Value, e)
		}
	}
	for i := range e.When {
		for _, list := range [][]anyOf{e.When[i].has, e.When[i].lacks} {
			for _, a := range list {
				for _, n := range a.names {
					if a.values != nil && e.option(n) != e.option(a.names[0]) {
						p.errorf(name+".when", "a value is compared with one option, not with %s", strings.Join(a.names, "|"))
						break
					}
					if e.option(n) == nil && e.Style != Find && e.Style != Tar && !e.Lenient {
						p.errorf(name+".when", "option %s is not among the options", n)
					}
				}
			}
		}
	}
	for i := range e.When {
		for n, o := range e.When[i].Options {
			if was := e.option(n); was == nil || (was.Type == Flag) != (o.Type == Flag) || was.Optional != o.Optional || was.Near != o.Near || was.Next != nil || o.Next != nil {
				p.errorf(name+".when", "option %s must be among the options and take a value in the same way", n)
				continue
			}
			o.Name, o.Names = e.option(n).Name, e.option(n).Names
		}
	}
	for _, options := range [...]map[string]*Option{e.options, e.persistent} {
		for _, n := range slices.Sorted(maps.Keys(options)) {
			if options[n].Type == Settings && len(e.Steering()) == 0 {
				p.errorf(name+".options", "option %s names settings, and which files are obeyed is not told", n)
			}
		}
	}
	e.tame = tame(e.options)
	for a := e; a != nil; a = a.parent {
		e.tame = e.tame && tame(a.persistent)
	}
	e.inert = e.tame && !slices.ContainsFunc(e.Operands, func(o Operand) bool { return !o.Type.Tame() })
	for i := range e.When {
		if e.When[i].turns(e) {
			e.turned, e.inert = true, false
		}
	}
	if e.commands != nil || parent != nil {
		p.check(name, e)
	}
	return e
}

// turns reports whether an option makes the command do more than its entry
// says, so that a word nobody knows matters because it may be that option.
func (a *Alternative) turns(e *Entry) bool {
	if a.has == nil && a.lacks == nil {
		return false
	}
	harmless := func(o Operand) bool { return o.Type.Tame() || o.Type == Meta || o.Type == MetaTree }
	more := a.Class != "" && a.Class != e.Class && a.Class != effect.Look || len(a.Effects) > 0 || a.Options != nil
	for _, list := range [][]Operand{a.Operands, a.Also} {
		for _, o := range list {
			more = more || !harmless(o) && !slices.ContainsFunc(e.Operands, func(was Operand) bool { return was.Type == o.Type })
		}
	}
	return more
}

func tame(m map[string]*Option) bool {
	for _, o := range m {
		for ; o != nil; o = o.Next {
			if !o.Type.Tame() {
				return false
			}
		}
	}
	return true
}

func (p *parser) commands(e *Entry, name string, v any) {
	m, ok := v.(yaml.MapSlice)
	if !ok {
		p.errorf(name+".commands", "want a mapping")
		return
	}
	e.commands = map[string]*subcommand{}
	for _, item := range m {
		names := strings.Fields(fmt.Sprint(item.Key))
		if len(names) == 0 {
			p.errorf(name+".commands", "an entry without a name")
			continue
		}
		p.add(e, name, &subcommand{file: p.file, line: p.line, names: names, value: item.Value, read: true, parent: e})
	}
}

func (p *parser) class(where, s string) effect.Class {
	c := effect.Class(s)
	if !slices.Contains(effect.Classes, c) {
		p.errorf(where, "unknown class %q", s)
	}
	return c
}

func (p *parser) options(where string, v any) map[string]*Option {
	m, ok := v.(yaml.MapSlice)
	if !ok {
		p.errorf(where, "want a mapping of type to spellings")
		return nil
	}
	out := map[string]*Option{}
	for _, item := range m {
		typ := fmt.Sprint(item.Key)
		base := strings.TrimRight(typ, "?!~^>")
		marks := typ[len(base):]
		base, more, _ := strings.Cut(base, "+")
		t, ok := typeNames[base]
		if !ok {
			p.errorf(where, "unknown type %q", typ)
			continue
		}
		further, ok := further(more)
		if !ok || more != "" && marks != "" {
			p.errorf(where, "unknown type %q", typ)
			continue
		}
		if item.Value == nil {
			continue
		}
		for group := range strings.FieldsSeq(fmt.Sprint(item.Value)) {
			names := strings.Split(group, "|")
			o := &Option{Names: names, Type: t, Optional: strings.ContainsAny(marks, "?~"), Near: strings.Contains(marks, "~"), Last: strings.Contains(marks, "!"),
				Renames: strings.Contains(marks, "^"), Elsewhere: strings.Contains(marks, ">")}
			for _, n := range names {
				if len(n) > len(o.Name) {
					o.Name = n
				}
				if len(n) < 2 && n != "-" && n != "+" || (n[0] != '-' && n[0] != '+' && n[0] != '/') {
					p.errorf(where, "%q is not an option", n)
				}
				if _, dup := out[n]; dup {
					p.errorf(where, "option %q appears twice", n)
				}
				out[n] = o
			}
			last := o
			for _, t := range further {
				last.Next = &Option{Name: o.Name, Names: names, Type: t}
				last = last.Next
			}
		}
	}
	return out
}

// further reads the types after the first of "text+read".
func further(s string) ([]Type, bool) {
	var out []Type
	for name := range strings.SplitSeq(s, "+") {
		if name == "" && s == "" {
			break
		}
		t, ok := typeNames[name]
		if !ok || t == Flag || t == Argv || t == ArgvStdin || t == Module {
			return nil, false
		}
		out = append(out, t)
	}
	return out, true
}

func (p *parser) operands(where string, v any) []Operand {
	var words []string
	switch v := v.(type) {
	case nil:
	case string:
		words = []string{v}
	case []any:
		for _, w := range v {
			words = append(words, fmt.Sprint(w))
		}
	default:
		p.errorf(where, "want a list of types")
	}
	out := make([]Operand, 0, len(words))
	variadic := 0
	for _, w := range words {
		var o Operand
		if s, ok := strings.CutSuffix(w, "..."); ok {
			o.Variadic, w = true, s
			variadic++
		}
		if s, ok := strings.CutSuffix(w, "?"); ok {
			o.Maybe, w = true, s
		}
		if i := strings.IndexByte(w, '('); i > 0 && strings.HasSuffix(w, ")") {
			o.Default, w = w[i+1:len(w)-1], w[:i]
			o.Maybe = true
		}
		t, ok := typeNames[w]
		if !ok || t == Flag {
			p.errorf(where, "unknown operand type %q", w)
			continue
		}
		o.Type = t
		out = append(out, o)
	}
	if variadic > 1 {
		// assign... argv is fine: assignments end by themselves.
		if out[0].Type != Assign {
			p.errorf(where, "more than one repeated operand")
		}
	}
	return out
}

// obeys reads the names of files that a program obeys: "none" is none of what is
// obeyed above.
func (p *parser) obeys(where string, v any) []string {
	text, ok := v.(string)
	names := strings.Fields(text)
	if !ok || len(names) == 0 {
		p.errorf(where, "want the names of files, or none")
		return nil
	}
	if len(names) == 1 && names[0] == "none" {
		return []string{}
	}
	for i, n := range names {
		switch {
		case strings.HasPrefix(n, "/") || strings.HasPrefix(n, "~") || strings.ContainsAny(n, `[]{}|\"'`) || strings.Contains(n, "//") || strings.Contains(n, "**"):
			p.errorf(where, "%q is no name of a file of a project", n)
		case strings.Trim(n, "*?./") == "":
			p.errorf(where, "%q is any file", n)
		case slices.Contains(names[:i], n):
			p.errorf(where, "%q appears twice", n)
		}
	}
	return names
}

// brings reads the names of those commands that bring files.
func (p *parser) brings(where string, v any) []string {
	text, ok := v.(string)
	names := strings.Fields(text)
	if !ok || len(names) == 0 {
		p.errorf(where, "want the names of the commands that bring files")
	}
	return names
}

// bringing checks that what is said to bring files is named by the entry.
func (p *parser) bringing(e *Entry, names []string) {
	for _, n := range e.Brings {
		if !slices.Contains(names, n) {
			p.errorf(e.Name+".brings", "%q is no name of the entry", n)
		}
	}
}

func (p *parser) effects(where string, v any) []Fixed {
	var words []string
	switch v := v.(type) {
	case string:
		words = []string{v}
	case []any:
		for _, w := range v {
			words = append(words, fmt.Sprint(w))
		}
	case yaml.MapSlice: // "effects: {write: .git}" reads the same
		for _, it := range v {
			words = append(words, fmt.Sprint(it.Key)+" "+fmt.Sprint(it.Value))
		}
	default:
		p.errorf(where, "want a list of effects")
	}
	kinds := map[string]effect.Kind{"read": effect.Read, "write": effect.Write, "delete": effect.Delete, "net": effect.Net, "env": effect.Env, "opaque": effect.Opaque}
	var out []Fixed
	for _, w := range words {
		kind, target, _ := strings.Cut(w, " ")
		k, ok := kinds[strings.TrimSuffix(kind, ":")]
		if !ok || target == "" {
			p.errorf(where, "%q is not \"KIND TARGET\"", w)
			continue
		}
		out = append(out, Fixed{Kind: k, Target: target})
	}
	return out
}

func (p *parser) alternative(where string, v any) Alternative {
	var a Alternative
	m, ok := v.(yaml.MapSlice)
	if !ok {
		p.errorf(where, "want a mapping")
		return a
	}
	for _, item := range m {
		switch key := fmt.Sprint(item.Key); key {
		case "has":
			a.has = p.anyOf(where+".has", item.Value)
		case "lacks":
			a.lacks = p.anyOf(where+".lacks", item.Value)
		case "args":
			a.argsText = fmt.Sprint(item.Value)
			a.args = p.count(where+".args", a.argsText)
		case "class":
			a.Class = p.class(where, fmt.Sprint(item.Value))
		case "operands":
			a.Operands = p.operands(where+".operands", item.Value)
			a.setsArgs = true
		case "also":
			a.Also = p.operands(where+".also", item.Value)
		case "options":
			a.Options = p.options(where+".options", item.Value)
		case "effects":
			a.Effects = p.effects(where+".effects", item.Value)
		case "brings":
			if a.Brings = item.Value == true; !a.Brings {
				p.errorf(where+".brings", "only true")
			}
		default:
			p.errorf(where, "unknown field %q", key)
		}
	}
	if a.has == nil && a.lacks == nil && a.args == nil {
		p.errorf(where, "no condition")
	}
	return a
}

func (p *parser) anyOf(where string, v any) []anyOf {
	var out []anyOf
	var items []string
	switch v := v.(type) {
	case string:
		items = []string{v}
	case []any:
		for _, w := range v {
			items = append(items, fmt.Sprint(w))
		}
	default:
		p.errorf(where, "want a spelling or a list of them")
	}
	for _, it := range items {
		var a anyOf
		// "-X|--request=GET|HEAD": spellings before the sign, values after it.
		if names, values, ok := strings.Cut(it, "~="); ok {
			a.holds, it = true, names
			a.values = strings.Split(strings.ToLower(values), "|")
		} else if names, values, ok := strings.Cut(it, "!="); ok {
			a.not, it = true, names
			a.values = strings.Split(values, "|")
		} else if names, values, ok := strings.Cut(it, "="); ok {
			it = names
			a.values = strings.Split(values, "|")
		}
		a.names = strings.Split(it, "|")
		for _, n := range a.names {
			if n == "" {
				p.errorf(where, "empty spelling in %q", it)
			}
		}
		out = append(out, a)
	}
	return out
}

func (p *parser) count(where, s string) func(int) bool {
	for _, op := range []string{">=", "<=", "==", "!=", ">", "<"} {
		rest, ok := strings.CutPrefix(s, op)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(rest))
		if err != nil {
			break
		}
		switch op {
		case ">=":
			return func(k int) bool { return k >= n }
		case "<=":
			return func(k int) bool { return k <= n }
		case "==":
			return func(k int) bool { return k == n }
		case "!=":
			return func(k int) bool { return k != n }
		case ">":
			return func(k int) bool { return k > n }
		case "<":
			return func(k int) bool { return k < n }
		}
	}
	p.errorf(where, "want a comparison such as \">=1\", have %q", s)
	return nil
}
