package commands

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"assent/floor/effect"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// What the command lines of tool chains do. testdata/tools.txt tells the class
// of each; for the classes that policies leave silent, "!" says that the line
// also holds something that is judged on its own, and its absence that it does
// not: a missing "!" in an answer is a hole, one too many a needless question.
func TestTools(t *testing.T) {
	f, err := os.Open("testdata/tools.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	k := Default()
	lines := bufio.NewScanner(f)
	n := 0
	for at := 1; lines.Scan(); at++ {
		want, line, ok := strings.Cut(lines.Text(), " ")
		if !ok || strings.HasPrefix(want, "#") {
			continue
		}
		line = strings.TrimSpace(line)
		words, err := fields(line)
		if err != nil {
			t.Fatalf("tools.txt:%d: %v", at, err)
		}
		e := k.Lookup(words[0])
		if e == nil {
			t.Errorf("tools.txt:%d: %s is not described", at, words[0])
			continue
		}
		n++
		if got := answer(e.Read(words)); got != want {
			t.Errorf("tools.txt:%d: %s\n\tgot %s, want %s", at, line, got, want)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if n < 300 {
		t.Errorf("%d lines were read, want at least 300", n)
	}
}

func fields(line string) ([]string, error) {
	var words []string
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, err
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return nil, fmt.Errorf("%s: not one simple command", line)
	}
	for _, a := range call.Args {
		w, err := expand.Literal(nil, a)
		if err != nil {
			return nil, err
		}
		words = append(words, w)
	}
	return words, nil
}

// answer is the class of a reading, with "!" as TestTools explains it.
func answer(r Reading) string {
	class := string(r.Class)
	switch r.Class {
	case effect.Look, effect.Build, effect.Wrap:
	case effect.Unknown:
		return "unknown"
	default:
		return class
	}
	loud := len(r.Issues) > 0
	for _, u := range r.Options {
		loud = loud || u.Option != nil && noisy(u.Option.Type)
	}
	for _, a := range r.Operands {
		loud = loud || noisy(a.Type)
	}
	for _, e := range r.Effects {
		loud = loud || e.Kind == effect.Opaque
	}
	if loud {
		class += "!"
	}
	return class
}

// noisy reports whether a value of the type is judged as more than a path.
func noisy(t Type) bool {
	switch t {
	case Program, Shell, Split, Code, Script, Library, Files, URL, Host, Config, DeleteTree, Delete, Move:
		return true
	}
	return false
}
