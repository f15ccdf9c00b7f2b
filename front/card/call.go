package card

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
	"assent/internal/drawn"
)

// The names under which the tools of clients take what a card shows in a form of
// its own.
var (
	commands  = []string{"command", "cmd", "commands", "script", "chars"}
	files     = []string{"file_path", "filePath", "path", "notebook_path", "filename", "file", "target_file", "abs_path"}
	contents  = []string{"content", "contents", "file_text", "new_source", "code"}
	exchanges = [][2]string{{"old_string", "new_string"}, {"old_str", "new_str"}, {"oldText", "newText"}, {"old_text", "new_text"},
		{"oldString", "newString"}, {"search", "replace"}}
)

// call shows the arguments, nothing left out, in the order in which they came; the
// command first.
func (c Card) call(p *page) {
	p.heading("The whole call")
	if len(c.Job.Arguments) == 0 || string(c.Job.Arguments) == "null" {
		p.words("", 0, []Segment{say("It has no arguments.")})
	} else {
		p.raw(c.Job.Arguments, c.cluster() == "bash")
	}
}

// besides is what else its client says of the call.
func (c Card) besides(p *page) {
	facts := c.Job.Facts
	if len(c.About.Under) > 0 {
		if line, _ := c.stands(c.About.Under[0]); line > 0 { // said below
			facts = without(facts, "line", "column")
		}
	}
	if len(facts) > 0 && string(facts) != "null" {
		p.heading("What its client says besides")
		p.raw(facts, false)
	}
}

// without is an object without some members, nil where nothing is left.
func without(object jsontext.Value, names ...string) jsontext.Value {
	var members map[string]jsontext.Value
	if json.Unmarshal(object, &members) != nil {
		return object
	}
	for _, name := range names {
		delete(members, name)
	}
	if len(members) == 0 {
		return nil
	}
	left, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return object
	}
	return left
}

// raw shows a JSON value. One that cannot be read is shown as it is written.
func (p *page) raw(text []byte, shellTool bool) {
	v, ok := parse(text)
	if !ok {
		p.text("", string(text), nil)
		return
	}
	if v.kind == '{' {
		first := slices.IndexFunc(v.names, func(name string) bool { return slices.Contains(commands, name) })
		if first > 0 {
			name, member := v.names[first], v.members[first]
			v.names = slices.Insert(slices.Delete(v.names, first, first+1), 0, name)
			v.members = slices.Insert(slices.Delete(v.members, first, first+1), 0, member)
		}
	}
	p.value("", v, "", shellTool)
}

// value shows a value under a name. file is the one that the call is about, as far
// as it says so above.
func (p *page) value(name string, v value, file string, shellTool bool) {
	switch v.kind {
	case '{':
		p.object(name, v, file, shellTool)
	case '[':
		if len(v.members) == 0 {
			p.text(name, "[]", nil)
		}
		for i, m := range v.members {
			p.value(join(name, strconv.Itoa(i+1)), m, file, shellTool)
		}
	case '"':
		last := name[strings.LastIndex(name, between)+1:]
		last = strings.TrimPrefix(last, between[1:])
		var lang *language
		switch {
		case shellTool && slices.Contains(commands, last):
			lang = shell
		case slices.Contains(contents, last):
			lang = languageOf(file)
		}
		switch {
		case isDiff(v.text):
			p.diff(name, v.text)
		case bare(v.text):
			p.text(name, v.text, lang)
		default:
			p.text(name, `"`+v.text+`"`, nil)
		}
	default:
		p.text(name, v.text, nil)
	}
}

// between stands between the names of what holds what.
const between = " / "

func join(name, member string) string {
	if name == "" {
		return member
	}
	return name + between + member
}

func (p *page) object(name string, v value, file string, shellTool bool) {
	if len(v.members) == 0 {
		p.text(name, "{}", nil)
		return
	}
	if f, ok := v.member(files...); ok {
		file = f
	}
	var pair [2]string
	for _, e := range exchanges {
		_, before := v.member(e[0])
		_, after := v.member(e[1])
		if before && after {
			pair = e
			break
		}
	}
	for i, member := range v.names {
		switch {
		case pair[0] != "" && member == pair[0] && v.members[i].kind == '"':
			before, _ := v.member(pair[0])
			after, _ := v.member(pair[1])
			p.exchange(join(name, pair[0]+" becomes "+pair[1]), before, after, file)
		case pair[0] != "" && member == pair[1] && v.members[i].kind == '"':
		default:
			p.value(join(name, member), v.members[i], file, shellTool)
		}
	}
}

// most is how wide a name is that stands beside its value.
const most = 16

// name writes a name above what belongs to it.
func (p *page) name(name string) {
	if name != "" && !p.Plain {
		p.words("  ", 4, see(name, style{ink: drawn.Faint}))
	}
}

// text shows a text: beside its name where it is one line.
func (p *page) text(name, text string, lang *language) {
	lines := strings.Split(text, "\n")
	spans := lang.spans(text)
	if len(lines) == 1 {
		line := see(text, style{spans: spans, edges: true, plain: p.Plain})
		shown := see(name, style{ink: drawn.Faint, plain: p.Plain})
		if p.Plain {
			p.hang("argument "+Line(shown).Text(false)+": ", 0, line, false)
			return
		}
		n := Line(shown).Columns()
		if n > most || p.Width > 0 && n > p.Width/3 {
			p.name(name)
			n = 0
			shown = nil
		}
		room := 0
		if p.Width > 0 {
			room = p.Width - n - 5
		}
		for k, part := range fold(line, room, false) {
			head := append(Line{{"  ", drawn.None, true}}, shown...)
			head = append(head, Segment{" │ ", drawn.Faint, true})
			if k > 0 {
				head = Line{{strings.Repeat(" ", n+2) + " ┆ ", drawn.Faint, true}}
			}
			p.lines = append(p.lines, append(head, part...))
		}
		return
	}
	p.name(name)
	var shown [][]Segment
	empty, at := 0, 0
	for i, line := range lines {
		if line == "" && i < len(lines)-1 {
			empty++
		} else {
			shown = gap(shown, empty, p.Plain)
			empty = 0
			var here []span
			for len(spans) > 0 && spans[0].end <= at {
				spans = spans[1:]
			}
			for _, s := range spans {
				if s.start >= at+len(line) {
					break
				}
				here = append(here, span{max(0, s.start-at), s.end - at, s.ink})
			}
			shown = append(shown, see(line, style{spans: here, plain: p.Plain}))
		}
		at += len(line) + 1
	}
	if lines[len(lines)-1] == "" { // the text ends with its last line
		shown = shown[:len(shown)-1]
	}
	p.block("argument "+Line(see(name, style{plain: true})).Text(false)+", line", shown)
}

// gap shows empty lines. Many of them would push what comes behind out of sight,
// and are one that says so.
func gap(shown [][]Segment, empty int, plain bool) [][]Segment {
	if empty > mostEmpty {
		text := strconv.Itoa(empty) + " empty lines"
		if !plain {
			text = "⟨" + text + "⟩"
		}
		return append(shown, []Segment{{text, inkMark, true}})
	}
	for range empty {
		shown = append(shown, nil)
	}
	return shown
}

// diff shows a text that is a change of files.
func (p *page) diff(name, text string) {
	p.name(name)
	c := &changed{}
	var shown [][]Segment
	for _, line := range linesOf(text) {
		shown = append(shown, c.line(line, p.Plain))
	}
	p.block(named(name, "line"), shown)
}

func named(name, what string) string {
	if name == "" {
		return what
	}
	return "argument " + Line(see(name, style{plain: true})).Text(false) + ", " + what
}

// exchange shows two texts as the change from the one to the other.
func (p *page) exchange(name, before, after, file string) {
	p.name(name)
	c := &changed{file: file, lang: languageOf(file)}
	var shown [][]Segment
	for _, line := range exchange(before, after) {
		shown = append(shown, c.exchanged(line, p.Plain))
	}
	if len(shown) == 0 {
		shown = append(shown, []Segment{say("both are empty")})
	}
	p.block(named(name, "line"), shown)
}

// change shows what would be written, as the kernel found out.
func (c Card) change(p *page) {
	text := c.said.Preview.Text
	if text == "" {
		return
	}
	p.heading("What would change")
	if isDiff(text) {
		p.diff("", text)
		return
	}
	for _, line := range linesOf(text) {
		p.words("", 0, p.seen(line, drawn.None))
	}
}

// Reason is the line of the law that decided, in words.
func Reason(name string) string {
	for r := range approval.ClassifierDenied + 1 {
		if r.Name() == name && r != approval.NothingDecides {
			return r.String()
		}
	}
	return drawn.OneLine(name, 60)
}

// Ran says how a call ran that was not licensed so, behind "it ran".
func Ran(how string) string {
	switch how {
	case "otherwise":
		return "with other arguments than it was allowed with"
	case "refused":
		return "though it was refused"
	case "cancelled":
		return "though it was cancelled"
	case "waiting":
		return "before it was answered"
	case "unclaimed":
		return "before its client heard that it may"
	case "unasked":
		return "and nobody was asked about it"
	}
	return "and was not licensed so: " + drawn.OneLine(how, 60)
}
