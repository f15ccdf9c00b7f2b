package imports

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
	"assent/floor"
	"assent/floor/effect"
)

// File is one file of a client's configuration.
type File struct {
	Path, Text string
	// Project: it is one of the project, and not the person's own.
	Project bool
}

// Rule is one that came over.
type Rule struct {
	Section string   `json:"section"`
	Result  string   `json:"result"`
	Match   []string `json:"match"`
	Except  []string `json:"except,omitempty"`
	Message string   `json:"message,omitempty"`
	// From is the rule as the client has it, File and At say where.
	From string `json:"from"`
	File string `json:"file"`
	At   string `json:"at"`

	line int
}

// Kind says what became of a rule that is listed.
type Kind string

// The kinds. Only what is Narrower or Floored is in the policy too.
const (
	LeftOut  Kind = "left out"              // it cannot be said, or not as narrowly
	Dead     Kind = "dead"                  // the client never comes to it, or it says nothing
	Narrower Kind = "narrower"              // the policy's says less than the client's
	Floored  Kind = "the floor is stricter" // the shipped floor does not let it through all the same
)

// Note is a rule that did not come over as it was.
type Note struct {
	Kind Kind   `json:"kind"`
	Rule string `json:"rule"`
	Why  string `json:"why"`
	File string `json:"file"`
	At   string `json:"at"`
}

// Imported is what became of a client's rules.
type Imported struct {
	Files  []string `json:"files"`
	Rules  []Rule   `json:"rules"`
	Notes  []Note   `json:"notes"`
	Policy string   `json:"policy"`
}

// Readers are the clients, by the names that connect has for them.
var readers = map[string]func(*builder, []File) error{
	"claude": readClaude, "codex": readCodex, "gemini": readGemini, "opencode": readOpencode,
}

// Read makes a policy of the files of a client. Title is what people call it.
func Read(client, title string, files []File) (*Imported, error) {
	read := readers[client]
	if read == nil {
		return nil, fmt.Errorf("%q is no client that is known", client)
	}
	b := &builder{}
	if err := read(b, files); err != nil {
		return nil, err
	}
	out := &Imported{Notes: []Note{}, Rules: []Rule{}}
	for _, f := range files {
		out.Files = append(out.Files, f.Path)
	}
	return out, b.finish(out, title)
}

// builder gathers rules and what is to be said about others.
type builder struct {
	file  string
	rules []Rule
	notes []Note
	lost  []lost
	// inOrder: the client takes its first rule that matches, not its strictest.
	inOrder bool
}

// from is one rule of a client.
type from struct{ at, text string }

func (b *builder) note(kind Kind, f from, why string, args ...any) {
	b.notes = append(b.notes, Note{kind, f.text, fmt.Sprintf(why, args...), b.file, f.at})
}

// lost is a rule that restricts and did not come over, or not whole: what it may
// have taken from an allow is not known, so that no such allow comes over.
type lost struct {
	section string
	program string // "" for any
	text    string
}

// leave leaves a rule out.
func (b *builder) leave(f from, section, result, program, why string, args ...any) {
	b.note(LeftOut, f, why, args...)
	b.lose(f, section, result, program)
}

func (b *builder) lose(f from, section, result, program string) {
	if result != allow {
		program, _, _ = strings.Cut(strings.TrimSpace(program), " ")
		if strings.ContainsAny(program, "*?=\\'\"") {
			program = ""
		}
		b.lost = append(b.lost, lost{section, program, f.text})
	}
}

// forgo asks about what was allowed where a rule that is lost may have taken
// from it.
func (b *builder) forgo() {
	for i := range b.rules {
		r := &b.rules[i]
		if r.Result != allow {
			continue
		}
		for _, l := range b.lost {
			if l.section != r.Section || l.program != "" && r.Section == "run" && apart(l.program, r.Match) {
				continue
			}
			b.file = r.File
			b.note(LeftOut, from{r.At, r.From}, "%s takes from it and did not come over whole: it is asked about", l.text)
			r.Result, r.Except = ask, nil
			break
		}
	}
}

// apart reports whether patterns are about other programs than that one.
func apart(program string, match []string) bool {
	return !slices.ContainsFunc(match, func(m string) bool {
		first, _, _ := strings.Cut(m, " ")
		return first == program || strings.ContainsAny(first, "*?'\"\\") || path.Base(first) == path.Base(program)
	})
}

func (b *builder) rule(f from, section, result string, r Rule) {
	r.Section, r.Result, r.From, r.File, r.At = section, result, f.text, b.file, f.at
	b.rules = append(b.rules, r)
}

// add adds a rule, and what an allow for writing must not bring along.
func (b *builder) add(f from, section, result string, match ...string) {
	b.rule(f, section, result, Rule{Match: match})
	if section == "write" && result == allow {
		b.rule(f, "delete", ask, Rule{Match: match})
	}
}

// The results. A client's deny is a block here.
const (
	allow = "allow"
	ask   = "ask"
	block = "block"
)

var sections = []string{"run", "read", "write", "delete", "net", "mcp"}

var strictness = []string{allow, ask, block}

func stricter(a, b string) int {
	return cmp.Compare(slices.Index(strictness, a), slices.Index(strictness, b))
}

const name = "import"

// finish drops what the policy's language does not take and what would never be
// asked, and writes the policy.
func (b *builder) finish(out *Imported, title string) error {
	b.rules = slices.DeleteFunc(b.rules, func(r Rule) bool {
		b.file = r.File
		why := ""
		if _, err := floor.ParsePolicy(name, []byte(document([]Rule{r}, nil))); err != nil {
			why = reason(err)
		}
		if why != "" && r.Section != "delete" {
			program := ""
			if r.Section == "run" {
				program = r.Match[0]
			}
			b.leave(from{r.At, r.From}, r.Section, r.Result, program, "it cannot be written as a rule: %s", why)
		}
		return why != ""
	})
	b.merge()
	b.shadows()
	b.forgo()
	b.merge()
	for i := range b.notes {
		n := &b.notes[i]
		if n.Rule = safe(n.Rule); safe(n.Why) == secret {
			n.Why = "it does not come over"
		}
	}
	for i := range b.rules {
		b.rules[i].From = safe(b.rules[i].From)
	}
	out.Rules = append(out.Rules, b.rules...)
	out.Notes = append(out.Notes, b.notes...)
	out.Policy = head(title, out) + document(b.rules, nil) + tail(out.Notes)
	if _, err := floor.ParsePolicy(name, []byte(out.Policy)); err != nil {
		return fmt.Errorf("the policy that came out is none: %w", err)
	}
	return nil
}

// reason is what a policy's reader says, without the place.
func reason(err error) string {
	if ps, ok := errors.AsType[floor.Problems](err); ok && len(ps) > 0 {
		if ps[0].Hint != "" {
			return ps[0].Message + " (" + ps[0].Hint + ")"
		}
		return ps[0].Message
	}
	return err.Error()
}

// secret stands for a rule that nobody should read.
const secret = "a rule that holds what looks like a secret"

// safe is a rule as it may be written down and shown.
func safe(text string) string {
	words := strings.Map(func(r rune) rune {
		if strings.ContainsRune("()[]{}<>|&`$*?\\", r) || !strconv.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	probe := document([]Rule{{Section: "opaque", Result: ask, Match: []string{"x " + strings.TrimSpace(strings.ToValidUTF8(words, " "))}}}, nil)
	if _, err := floor.ParsePolicy(name, []byte(probe)); err != nil && strings.Contains(reason(err), "looks like") {
		return secret
	}
	return printable(text)
}

func printable(text string) string {
	plain := strings.IndexFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) < 0
	if !plain {
		text = strings.Trim(strconv.QuoteToGraphic(text), `"`)
	}
	if r := []rune(text); len(r) > longest {
		text = string(r[:longest]) + "…"
	}
	return text
}

// longest is how much of a client's rule is repeated, in characters.
const longest = 200

// merge makes one rule of those that say the same.
func (b *builder) merge() {
	seen := make(map[string]bool)
	b.rules = slices.DeleteFunc(b.rules, func(r Rule) bool {
		key := r.Section + "\x00" + r.Result + "\x00" + strings.Join(r.Match, "\x01") + "\x00" + strings.Join(r.Except, "\x01")
		old := seen[key]
		seen[key] = true
		return old
	})
	slices.SortStableFunc(b.rules, func(x, y Rule) int {
		return cmp.Or(cmp.Compare(slices.Index(sections, x.Section), slices.Index(sections, y.Section)), stricter(x.Result, y.Result))
	})
}

// shadows takes out each allow that another rule answers before, and says where
// the shipped floor is stricter than the client.
func (b *builder) shadows() {
	text := document(b.rules, func(i, line int) { b.rules[i].line = line })
	p, err := floor.ParsePolicy(name, []byte(text))
	if err != nil {
		return // finish says so
	}
	judge := floor.Floor{Operator: p}
	gone := make(map[int]bool)
	for i := range b.rules {
		r := &b.rules[i]
		if r.Result != allow {
			continue
		}
		b.file = r.File
		call, ok := sample(r)
		if !ok {
			continue
		}
		v := judge.Judge(call)
		for _, e := range v.Effects {
			if e.Result == approval.Allow || e.Result == approval.None || e.Rule == nil {
				continue
			}
			if e.Rule.Layer == floor.Operator && e.Rule.Line > 0 {
				k := slices.IndexFunc(b.rules, func(o Rule) bool { return o.line == e.Rule.Line })
				if k >= 0 && b.rules[k].Section == r.Section && b.rules[k].From != r.From {
					if b.inOrder {
						b.note(LeftOut, from{r.At, r.From}, "it cannot be taken out of %s (%s), and here the strictest decides", b.rules[k].From, b.rules[k].Result)
					} else {
						b.note(Dead, from{r.At, r.From}, "%s (%s) decides first, and is stricter", b.rules[k].From, b.rules[k].Result)
					}
					gone[i] = true
					break
				}
				continue
			}
			if e.Kind == effect.Run || e.Kind.String() == r.Section {
				b.note(Floored, from{r.At, r.From}, "%s", floored(&e))
				break
			}
		}
	}
	dead := func(section, text, at string) bool {
		for i := range gone {
			if r := &b.rules[i]; r.From == text && r.At == at && (section == r.Section || section == "delete" && r.Section == "write") {
				return true
			}
		}
		return false
	}
	drop := make(map[int]bool)
	for i, r := range b.rules {
		drop[i] = gone[i] || r.Section == "delete" && dead("delete", r.From, r.At)
	}
	kept := b.rules[:0:0]
	for i, r := range b.rules {
		if !drop[i] {
			kept = append(kept, r)
		}
	}
	b.rules = kept
}

func floored(e *floor.Judged) string {
	text := fmt.Sprintf("the shipped floor answers %s for it", e.Result)
	if e.Message != "" {
		text += ": " + strings.TrimRight(e.Message, ".")
	}
	return text
}

// sample is a call that an allow is about.
func sample(r *Rule) (floor.Call, bool) {
	m := r.Match[0]
	call := floor.Call{Workspace: "/home/user/project", Home: "/home/user"}
	object := func(name, key, value string) (floor.Call, bool) {
		quoted, err := jsontext.AppendQuote(nil, value)
		call.Name, call.Arguments = name, []byte(`{"`+key+`":`+string(quoted)+`}`)
		return call, err == nil
	}
	switch r.Section {
	case "run":
		if strings.ContainsAny(m, "*?@") {
			return call, false
		}
		if len(r.Except) == 0 {
			m += " x"
		}
		return object("Bash", "command", m)
	case "read", "write":
		file := strings.NewReplacer("**", "x", "*", "x", "?", "x", `\`, "").Replace(strings.TrimPrefix(m, "./"))
		switch {
		case strings.ContainsAny(m, "[{@$"):
			return call, false
		case m == ".":
			file = "x"
		case strings.HasPrefix(file, "~/"):
			file = call.Home + file[1:]
		}
		if !path.IsAbs(file) {
			file = path.Join(call.Workspace, file)
		}
		if r.Section == "read" {
			return object("Read", "file_path", file)
		}
		return object("Write", "file_path", file)
	case "net":
		return object("WebFetch", "url", "https://"+strings.ReplaceAll(m, "*", "x")+"/")
	case "mcp":
		server, tool, _ := strings.Cut(strings.ReplaceAll(strings.ReplaceAll(m, "?", "x"), "*", "x"), "/")
		if !strings.HasPrefix(m, "mcp__") {
			m = "mcp__" + server + "__" + cmp.Or(tool, "x")
		}
		call.Name, call.Arguments = strings.ReplaceAll(m, "*", "x"), []byte("{}")
		return call, true
	}
	return call, false
}

// document writes rules as a policy, and tells the line of each.
func document(rules []Rule, tell func(i, line int)) string {
	var b strings.Builder
	line := 1
	put := func(format string, args ...any) {
		fmt.Fprintf(&b, format+"\n", args...)
		line++
	}
	put("version: 1")
	section, result := "", ""
	for i, r := range rules {
		if r.Section != section {
			put("%s:", r.Section)
			section, result = r.Section, ""
		}
		if r.Result != result {
			put("  %s:", r.Result)
			result = r.Result
		}
		if tell != nil {
			tell(i, line)
		}
		where := ""
		if r.From != "" {
			where = "  # " + comment(r.From)
		}
		switch {
		case len(r.Match) == 1 && len(r.Except) == 0 && r.Message == "":
			put("    - %s%s", quoted(r.Match[0]), where)
		default:
			text := "match: " + list(r.Match)
			if len(r.Except) > 0 {
				text += ", except: " + list(r.Except)
			}
			if r.Message != "" {
				text += ", message: " + quotedAlways(printable(r.Message))
			}
			put("    - {%s}%s", text, where)
		}
	}
	return b.String()
}

func list(words []string) string {
	if len(words) == 1 {
		return quotedAlways(words[0])
	}
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quotedAlways(w)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// quoted is a text as YAML takes it for itself.
func quoted(s string) string {
	plain := s != "" && (s[0] == '.' || s[0] == '/' || s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z') && s[len(s)-1] != ' '
	for i := 0; i < len(s) && plain; i++ {
		c := s[i]
		plain = c == ' ' || c == '-' || c == '_' || c == '.' || c == '/' || c == '*' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
	}
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n", ".inf", ".nan":
		plain = false
	}
	if plain && strings.Trim(s, "0123456789.eE+-_") != "" {
		return s
	}
	return quotedAlways(s)
}

func quotedAlways(s string) string {
	out, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "�"))
	if err != nil {
		return `""`
	}
	return string(out)
}

// comment is a text on one line of a comment.
func comment(s string) string { return strings.ToValidUTF8(printable(s), "�") }

func head(title string, out *Imported) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# The rules of %s, as a policy of the operator. They were read from:\n", title)
	for _, f := range out.Files {
		fmt.Fprintf(&b, "#   %s\n", comment(f))
	}
	b.WriteString(`# Each rule has the client's own behind it. A rule here is about what happens to a
# command, a file or an address, whichever tool does it. What no rule names is
# answered by the shipped floor. What the client denied is blocked.
`)
	return b.String()
}

func tail(notes []Note) string {
	if len(notes) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n# What did not come over as it was. The client's own rules go on to hold there.\n")
	for _, n := range notes {
		fmt.Fprintf(&b, "#   %s: %s\n#     %s\n", n.Kind, comment(n.Rule), comment(n.Why))
	}
	return b.String()
}
