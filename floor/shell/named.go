package shell

import (
	"assent/floor/commands"
	"assent/floor/effect"
)

// zshTables are the arrays by which zsh finds what a name runs.
var zshTables = map[string]bool{"commands": true, "functions": true, "aliases": true, "galiases": true, "saliases": true, "builtins": true, "nameddirs": true,
	"dis_functions": true, "dis_aliases": true, "dis_galiases": true, "dis_saliases": true, "dis_builtins": true, "options": true}

// tabled is told of an array that is given elements.
func (r *reader) tabled(name string, span effect.Span) {
	if zshTables[name] {
		r.opaque(span, "to zsh, "+name+" says what names run")
	}
}

// pathless is told of a variable that loses its value, or some of it: a shell
// with no search path looks into the present folder (bash, dash), and so it does
// with one that is empty (zsh, to which "path" is the same).
func (r *reader) pathless(name string, span effect.Span) {
	if name == "PATH" || name == "path" {
		r.opaque(span, "without a PATH, programs of the present folder run")
	}
}

// searches is told of a shell that begins without a search path. The one that
// bash then takes may end with the present folder, which has what is found
// nowhere else.
func (t *typed) searches(w *world, span effect.Span) {
	switch t.cmd.Program {
	case "bash", "sh", "rbash":
		if v, known := w.vars.get("PATH"); known && v.unset {
			t.r.pathless("PATH", span)
			w.put("PATH", variable{text: commands.Unknown, exported: true})
		}
	}
}
