package shell

import (
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
)

// goPackages follows what the go command and the tools around it are given:
// files, folders, and patterns of packages. "./x/..." is the Go files below x.
// To the go command what does not begin like a path is a package by its name,
// which reads nothing that is not the module's; other tools look for a folder.
func (t *typed) goPackages(kind effect.Kind, text string, span effect.Span, option string) {
	local := text == "." || text == ".." || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") || strings.HasPrefix(text, "/") ||
		strings.Contains(text, "/../") || strings.HasSuffix(text, ".go")
	dir, _, below := strings.Cut(text, "...")
	switch {
	case !commands.Known(text):
		below = false
	case !local && t.cmd.Program != "go":
	case !local && kind == effect.Read:
		return
	case !local: // the packages of the tree are meant, whatever they are called
		dir, below = "./", true
	}
	if !below {
		t.path(kind, text, span, option, false, false)
		return
	}
	dir = dir[:strings.LastIndexByte(dir, '/')+1]
	if len(dir) > 1 {
		dir = strings.TrimSuffix(dir, "/")
	}
	if dir == "" {
		dir = "."
	}
	t.r.path(pathEffect{kind: kind, text: dir, span: span, cmd: t.cmd, option: option, cwd: t.cwd, at: true, tree: kind == effect.Write, names: "*.go",
		priv: t.ctx.privileged || t.reading.Class == effect.Privilege}, t.w)
}
