package floor

import (
	"strconv"
	"strings"

	"assent/floor/effect"
)

// patchText reads the headers of a patch. The readers of such text are lenient in
// different ways, so a header counts wherever a line could be one and however it
// is written; what only a lenient reader takes for one is also said.
func (r *reading) patchText(arg, text string) {
	lines := strings.FieldsFunc(text, lineEnd)
	p := patchReader{r: r, arg: arg}
	for _, line := range lines {
		p.line(line)
	}
	if strings.Contains(strings.ReplaceAll(text, "\r\n", "\n"), "\r") || strings.ContainsAny(text, "\v\f\u0085\u2028\u2029") {
		p.odd("the lines of the patch end in more than one way")
	}
	if !p.found || pairs(lines) {
		if d := (diffReader{r: r, arg: arg}); d.read(lines) {
			if p.found {
				p.odd("the patch is written in two ways")
			}
			p.found = true
		}
	}
	if !p.found {
		r.opaque(arg, "the patch names no file")
	}
	for _, why := range p.why {
		r.opaque(arg, why)
	}
}

// lineEnd reports whether some reader ends a line there.
func lineEnd(c rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", c) }

// patchReader reads the patches that begin with "*** Begin Patch".
type patchReader struct {
	r     *reading
	arg   string
	found bool
	last  string   // the file a "Move to" moves
	why   []string // what asks for a person, each once
}

func (p *patchReader) odd(why string) {
	for _, w := range p.why {
		if w == why {
			return
		}
	}
	p.why = append(p.why, why)
}

// headers are the lines of such a patch as they are written, and what follows
// them is a path.
var headers = []struct{ text, verb string }{
	{"*** Add File: ", "add"}, {"*** Update File: ", "update"}, {"*** Delete File: ", "delete"}, {"*** Move to: ", "move"},
}

// verbs are the words by which a header is known in whatever form.
var verbs = map[string]string{
	"add": "add", "create": "add", "new": "add", "write": "add", "update": "update", "modify": "update", "edit": "update", "change": "update", "replace": "update", "patch": "update",
	"delete": "delete", "remove": "delete", "move": "move", "rename": "move", "copy": "move", "moved": "move", "renamed": "move",
}

func (p *patchReader) line(line string) {
	bare := strings.TrimSpace(line)
	for _, h := range headers {
		if path, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), h.text); ok {
			p.file(h.verb, path)
			return
		}
	}
	if !strings.HasPrefix(bare, "**") {
		return
	}
	rest := strings.TrimSpace(strings.TrimLeft(bare, "*"))
	words := strings.Fields(strings.ToLower(rest))
	switch joined := strings.Join(words, " "); {
	case joined == "" || joined == "begin patch" || joined == "end patch" || joined == "end of file" || strings.HasPrefix(bare, "***************"):
		return
	case line[0] == ' ' && !strings.Contains(bare, ":"):
		return // it stands in the file
	}
	head, path, colon := strings.Cut(rest, ":")
	word := strings.FieldsFunc(strings.ToLower(head), func(c rune) bool { return c == ' ' || c == '\t' || c == '_' || c == '-' })
	if len(word) > 0 && verbs[word[0]] != "" && (colon || len(word) > 2) {
		if !colon {
			path = rest[len(words[0]):]
			if w := strings.ToLower(strings.TrimSpace(path)); strings.HasPrefix(w, "file ") || strings.HasPrefix(w, "to ") {
				_, path, _ = strings.Cut(strings.TrimSpace(path), " ")
			}
		}
		p.odd("a header of the patch is written oddly: " + shown(bare))
		p.file(verbs[word[0]], strings.TrimLeft(path, " \t"))
		return
	}
	if line[0] != ' ' {
		p.odd("a line of the patch is not understood: " + shown(bare))
	}
}

// file is what a header says of a file.
func (p *patchReader) file(verb, path string) {
	r := p.r
	p.found = true
	if strings.TrimSpace(path) == "" {
		p.odd("a header of the patch names no file")
		return
	}
	for _, arrow := range []string{" -> ", " => ", "→"} {
		if from, to, ok := strings.Cut(path, arrow); ok {
			p.odd("a header of the patch names two files")
			r.path(p.arg, strings.TrimSpace(from), about{}, effect.Read, effect.Write, effect.Delete)
			r.path(p.arg, strings.TrimSpace(to), about{}, effect.Read, effect.Write)
		}
	}
	switch verb {
	case "add":
		r.path(p.arg, path, about{}, effect.Write)
		p.last = ""
	case "update":
		r.path(p.arg, path, about{}, effect.Read, effect.Write)
		p.last = path
	case "delete":
		r.path(p.arg, path, about{}, effect.Delete)
		p.last = ""
	case "move":
		r.path(p.arg, path, about{}, effect.Write)
		if p.last == "" {
			p.odd("the patch moves an unnamed file")
			return
		}
		r.path(p.arg, p.last, about{}, effect.Delete)
	}
}

// pairs reports whether two lines after each other could begin a unified diff. One
// of them alone may be a line that is taken away, or put in.
func pairs(lines []string) bool {
	for i, line := range lines {
		if strings.HasPrefix(line, "diff --git ") || i > 0 && strings.HasPrefix(line, "+++ ") && strings.HasPrefix(lines[i-1], "--- ") {
			return true
		}
	}
	return false
}

// diffReader reads the headers of diffs: unified ones, with context, and of git.
type diffReader struct {
	r     *reading
	arg   string
	found bool
	old   string
}

func (d *diffReader) read(lines []string) bool {
	for _, line := range lines {
		line = strings.TrimLeft(line, " \t") // patch takes whole diffs that stand further in
		if names, ok := strings.CutPrefix(line, "diff --git "); ok {
			d.both(names)
			continue
		}
		for _, h := range []struct {
			text string
			kind effect.Kind // that reading and writing joins
		}{
			{"--- ", effect.Write}, {"+++ ", effect.Write}, {"*** ", effect.Write}, {"Index: ", effect.Write}, {"rename from ", effect.Delete}, {"rename to ", effect.Write},
			{"copy from ", effect.Write}, {"copy to ", effect.Write},
		} {
			name, ok := strings.CutPrefix(line, h.text)
			if !ok {
				continue
			}
			d.name(name, h.text, h.kind)
		}
		if strings.HasSuffix(strings.TrimSpace(line), " 120000") {
			d.r.opaque(d.arg, "the patch makes a link")
		}
	}
	return d.found
}

// both are the two names of a diff of git, between which a blank stands.
func (d *diffReader) both(names string) {
	at := strings.Index(names, " b/")
	if at < 0 {
		at = len(names) / 2
	}
	d.name(names[:at], "", effect.Write)
	d.name(strings.TrimSpace(names[at:]), "", effect.Write)
	if strings.Count(names, " b/") > 1 {
		d.r.opaque(d.arg, "the names of the patch cannot be told apart")
	}
}

// name is one name in a header.
func (d *diffReader) name(text, header string, kind effect.Kind) {
	name, _, _ := strings.Cut(text, "\t")
	if strings.HasPrefix(name, `"`) {
		if plain, err := strconv.Unquote(strings.TrimSpace(name)); err == nil {
			name = plain
		}
	}
	if header == "*** " && (name == "" || name[0] >= '0' && name[0] <= '9' || strings.HasPrefix(name, "Begin Patch") || strings.HasPrefix(name, "End ")) {
		return // lines, or a patch of another kind
	}
	if strings.TrimSpace(name) == "/dev/null" {
		if header == "+++ " && d.old != "" {
			d.file(d.old, effect.Delete)
		}
		return
	}
	if header == "--- " {
		d.old = name
	}
	d.found = true
	d.file(name, kind)
	if short, _, ok := strings.Cut(name, " "); ok && short != "" { // a time may follow
		was := d.r.certainty
		d.r.certainty = effect.Maybe
		d.file(short, kind)
		d.r.certainty = was
	}
}

// file adds the readings of a name. Whether the leading a/ and b/ are stripped is
// up to the tool, so both count; one that strips more is a guess.
func (d *diffReader) file(name string, kind effect.Kind) {
	kinds := []effect.Kind{effect.Read, effect.Write}
	if kind == effect.Delete {
		kinds = append(kinds, kind)
	}
	r := d.r
	r.path(d.arg, name, about{}, kinds...)
	was := r.certainty
	defer func() { r.certainty = was }()
	for n := 0; n < maxParts; n++ {
		first, rest, ok := strings.Cut(name, "/")
		if !ok || rest == "" {
			return
		}
		if n > 0 || first != "a" && first != "b" {
			r.certainty = effect.Maybe
		}
		r.path(d.arg, rest, about{}, kinds...)
		name = rest
	}
}
