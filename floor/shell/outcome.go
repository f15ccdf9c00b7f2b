package shell

import (
	"path"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
)

// What a tool makes where no word of its command line says so: beside the
// source, in the folder it is started in, in a folder of a name of its own. A
// rule about that place answers it, so it is told; where it goes by what only
// the project says it may be there, and is asked about.

// outcome tells what a build makes under names that it puts together.
func (t *typed) outcome() {
	if t.reading.Class != effect.Build {
		return
	}
	switch name := strings.TrimPrefix(t.cmd.Program, "python:"); name {
	case "javac", "ecj":
		if !t.has("-d") && !t.has("-proc:only") {
			t.beside("*.class")
		}
	case "py_compile":
		t.beside("__pycache__/*.pyc")
	case "compileall":
		for _, o := range t.sources() {
			t.product(o, spanOf(t.ws), "", true)
		}
	case "dot", "neato", "twopi", "circo", "fdp", "sfdp", "patchwork", "osage":
		if t.has("-O") {
			for _, o := range t.sources() {
				t.path(effect.Write, o+"."+commands.Star, spanOf(t.ws), "-O", false, false)
			}
		}
	case "rustc":
		t.emitted()
		if !t.has("-o") && !t.has("--out-dir") {
			t.here()
		}
	case "coverage":
		t.combined()
	case "go":
		if sub := strings.Join(t.reading.Sub, " "); !t.has("-o") && (sub == "build" || sub == "test" && t.has("-c")) {
			t.here()
		}
	case "tsc", "tsgo":
		if !t.has("--noEmit") && !t.has("--outDir") && !t.has("--outFile") {
			t.project("--project")
			if src := t.sources(); len(src) > 0 {
				t.beside("*")
			} else if !t.has("--project") {
				t.here()
			}
		}
	case "cargo":
		if !t.has("--target-dir") {
			t.project("--manifest-path")
			t.here()
		}
	case "cmake":
		if !t.has("-B") && !t.has("-E") && !t.has("-P") && !t.has("--system-information") {
			t.here()
		}
	case "make", "gmake", "ninja", "samu", "meson", "mvn", "mvnw", "./mvnw", "gradle", "gradlew", "./gradlew", "ant", "sbt", "dotnet", "msbuild", "bazel", "scons", "rake", "just", "task",
		"npm", "pnpm", "yarn", "bun", "vite", "webpack", "rollup", "parcel", "next", "nuxt", "ng", "swift", "zig", "stack", "cabal", "dune", "mix", "rebar3", "nvcc", "ghc", "latexmk", "pdflatex", "xelatex", "lualatex":
		if !t.has("--just-print") && !t.has("--question") {
			t.here()
		}
	default:
		if ccs[name] || strings.HasSuffix(name, "-gcc") || strings.HasSuffix(name, "-g++") {
			t.compiled()
		}
	}
}

// ccs are the compilers that name what they make after the source, or a.out.
var ccs = set("gcc g++ cc c++ clang clang++ c89 c99 gfortran gdc emcc em++ icc icpc tcc as gas ld ld.bfd ld.gold ld.lld lld mold gold wasm-ld")

// sources are the operands that are read.
func (t *typed) sources() (out []string) {
	for _, o := range t.reading.Operands {
		if o.Word >= 0 && (o.Type == commands.Read || o.Type == commands.ReadTree) && !strings.HasPrefix(o.Text, "@") {
			out = append(out, o.Text)
		}
	}
	return out
}

// beside tells files that are made next to the sources, "*" being their names.
func (t *typed) beside(pattern string) {
	for _, o := range t.sources() {
		dir, name := path.Split(o)
		name = strings.TrimSuffix(name, path.Ext(name))
		if commands.Globbed(o) || !commands.Known(o) {
			name = commands.Star
		}
		t.product(dir+strings.ReplaceAll(pattern, "*", name), spanOf(t.ws), "", false)
	}
}

// compiled tells what a compiler makes that is not told where.
func (t *typed) compiled() {
	if t.has("-o") || t.has("--output") || t.has("-E") || t.has("-M") || t.has("-MM") || t.has("-###") {
		return
	}
	for i := range t.reading.Options {
		if u := &t.reading.Options[i]; u.Name == "-f" && u.Value == "syntax-only" {
			return
		}
	}
	span, ending := spanOf(t.ws), ""
	switch {
	case t.has("-c") || t.has("--compile"):
		ending = ".o"
	case t.has("-S") || t.has("--assemble"):
		ending = ".s"
	default:
		if len(t.sources()) > 0 {
			t.product("a.out", span, "", false)
		}
		return
	}
	for _, o := range t.sources() {
		name := base(o)
		t.product(strings.TrimSuffix(name, path.Ext(name))+ending, span, "", false)
	}
}

// emitted tells the files that kinds of output are given (--emit asm=x.s,link).
func (t *typed) emitted() {
	for i := range t.reading.Options {
		u := &t.reading.Options[i]
		if u.Name != "--emit" && u.Name != "--print" {
			continue
		}
		for kind := range strings.SplitSeq(u.Value, ",") {
			if _, file, is := strings.Cut(kind, "="); is {
				t.out(file, t.ws[u.At].span, u.Name)
			}
		}
	}
}

// combined tells the data files that coverage puts into one, and takes away.
func (t *typed) combined() {
	if strings.Join(t.reading.Sub, " ") != "combine" {
		return
	}
	span, data := spanOf(t.ws), t.option("--data-file")
	if data == "" {
		data = ".coverage"
	}
	t.r.path(pathEffect{kind: effect.Write, text: data, span: span, cmd: t.cmd, cwd: t.cwd, at: true, built: t.option("--data-file") == ""}, t.w)
	if t.has("--keep") {
		return
	}
	from := t.sources()
	for _, o := range from {
		t.path(effect.Delete, o, span, "", false, false)
		t.path(effect.Delete, strings.TrimRight(o, "/")+"/"+base(data)+"."+commands.Star, span, "", false, false)
	}
	if len(from) == 0 {
		t.r.path(pathEffect{kind: effect.Delete, text: data + "." + commands.Star, span: span, cmd: t.cmd, cwd: t.cwd, at: true, built: true}, t.w)
	}
}

// here tells that something is made in the folder that the tool works in,
// wherever below it. Where that is the workspace itself nothing is said of it.
func (t *typed) here() { t.within(".") }

// project is [typed.here] for the folder of a project that an option names.
func (t *typed) project(option string) {
	if p := t.option(option); p != "" {
		if path.Ext(p) != "" {
			p = path.Dir(p)
		}
		t.within(p)
	}
}

func (t *typed) within(dir string) {
	if p := t.r.place.Prepare(dir, t.cwd); !p.Inside() || p.Rel == "." {
		return
	}
	t.r.path(pathEffect{kind: effect.Write, text: dir, span: spanOf(t.ws), cmd: t.cmd, cwd: t.cwd, at: true, built: true, maybe: true}, t.w)
}
