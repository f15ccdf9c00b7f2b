package kernel

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"assent/plexus"
	"assent/session"
)

// The machine and the document spell every name alike: neither imports the
// other, and a name that only one of them knows would be a vote that is never
// read.
func TestNamesAreThoseOfTheDocument(t *testing.T) {
	document := texts(t, "../plexus/names.go")
	for name, value := range texts(t, "../plexus/row.go") {
		document[name] = value
	}
	machine := texts(t, "../session/row.go")
	if len(machine) < 20 {
		t.Errorf("only %d names were found", len(machine))
	}
	for name, value := range machine {
		switch name {
		case "JudgeFail": // the rest of the name follows
			if got := session.JudgeFail + "7"; got != plexus.JudgeFail(7) {
				t.Errorf("an attempt is %q here and %q in the document", got, plexus.JudgeFail(7))
			}
		case "Overlay":
			if got := session.Overlay + "t"; got != plexus.Overlay("t") {
				t.Errorf("an overlay is %q here and %q in the document", got, plexus.Overlay("t"))
			}
		default:
			if got, ok := document[name]; !ok || got != value {
				t.Errorf("%s is %q here and %q in the document", name, value, got)
			}
		}
	}
}

// texts are the constants of a file that are texts, by name.
func texts(t *testing.T, file string) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string)
	for _, decl := range f.Decls {
		g, ok := decl.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			for i, value := range v.Values {
				if lit, ok := value.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					found[v.Names[i].Name] = text
				}
			}
		}
	}
	return found
}
