package shell

import (
	"strings"

	"assent/floor/effect"
)

// followText follows a text that this program gives to a shell of its own. One
// that may be no bash is also read as such a shell reads it, where that makes
// a difference: "((a>b))" compares in bash and writes a file elsewhere.
func (t *typed) followText(text string, w *world, sp spans, span effect.Span) {
	r := t.r
	lang, aborts := r.lang, r.aborts
	if r.lang != zsh || t.cmd.Program != "zsh" {
		r.lang = bash
	}
	t.shellFlags(w)
	other := w.fork()
	r.child(text, w, sp, span)
	if !bashes[t.cmd.Program] && (lang == posix || bashOnly(text)) {
		r.lang = posix
		r.branch++
		r.child(strings.ReplaceAll(text, "&>", "& >"), other, spans{fixed: &span}, span) // which the parser does not split
		r.branch--
	}
	r.lang, r.aborts = lang, aborts
}

// bashes read what only bash reads, or have a language that is told otherwise.
var bashes = map[string]bool{"bash": true, "rbash": true, "zsh": true, "ksh": true, "ksh93": true, "mksh": true, "lksh": true, "fish": true, "csh": true, "tcsh": true}

// bashOnly reports whether a text holds what bash reads one way and a shell
// without it another way, in which it acts as well.
func bashOnly(text string) bool {
	for _, sign := range []string{"function", "$'", "&>"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	if strings.Contains(text, "[[") && strings.ContainsAny(text, "<>|&") {
		return true
	}
	for i := range len(text) - 1 {
		if text[i] == '(' && text[i+1] == '(' && (i == 0 || text[i-1] != '$') {
			return true
		}
	}
	return false
}

// missing reports whether a name that such a shell takes for a command is a
// word of bash's, or a variable that bash would count with.
func (r *reader) missing(name string, w *world) bool {
	if name == "[[" || name == "function" {
		return true
	}
	name = strings.TrimRight(name, "+-")
	_, assigned := w.vars.get(name)
	_, isFunc := w.funcs.get(name)
	return assigned && !isFunc && isName(name) && r.know.Lookup(name) == nil
}

// shellFlags applies the options that a shell is given.
func (t *typed) shellFlags(w *world) {
	if !shells[t.cmd.Program] || foreignShells[t.cmd.Program] || t.cmd.Program == "zsh" {
		return
	}
	ws := t.ws[1:]
	next := func(i *int) word {
		if *i++; *i < len(ws) {
			return ws[*i]
		}
		return word{}
	}
	for i := 0; i < len(ws); i++ {
		x := ws[i].text
		switch {
		case x == "--posix":
			t.r.shellOption("posix", true, ws[i].span, w)
		case x == "--rcfile" || x == "--init-file":
			i++
		case strings.HasPrefix(x, "--") && len(x) > 2:
		case len(x) < 2 || x == "--" || x[0] != '-' && x[0] != '+':
			return
		default:
			for _, c := range x[1:] {
				switch c {
				case 'c', 's', 'i', 'l', 'p', 'r', 'D', 'q', 'V', 'X': // not about how the text is read
				case 'o':
					if o := next(&i); o.text != "" {
						t.r.shellOption(o.text, x[0] == '-', o.span, w)
					}
				case 'O':
					o := next(&i)
					t.r.shoptOption(o.text, o.span, w)
				default:
					t.r.shellOption(shellOptions[c], x[0] == '-', ws[i].span, w)
				}
			}
		}
	}
}
