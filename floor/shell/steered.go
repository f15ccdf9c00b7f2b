package shell

import (
	"path"
	"slices"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
	"assent/floor/paths"
)

// A tool that builds, tests, checks or formats obeys files that it finds by their
// names, and runs what they say. Whoever lets an agent write in the tree and
// lets tools run there has them as they are in mind: that one call sets a tool
// up anew and then runs it is told beside the run, so that nothing which merely
// allows tools to run allows it in silence.
//
// It is about those files and not about sources. Tests and programs run what is
// written all the same, with the next call if not with this one, and who allows
// both has said so; a checker or a formatter runs nothing but these files.
// What a formatter changes in place is not counted either, nor what an installation
// brings: whoever allows that has let it run its own code. How files come does not
// matter: a pull, a checkout, an archive may hold any of them, see brought.go.

// obeying is a command that obeys files by their names.
type obeying struct {
	cmd   *effect.Command
	entry *commands.Entry
	span  effect.Span
	cwd   string
	priv  bool
	any   bool // what is written behind it in the text may be there before it as well
}

// obeys remembers a command that obeys files by their names.
func (t *typed) obeys() {
	e := t.entryRead()
	if name, is := strings.CutPrefix(t.cmd.Program, "python:"); is {
		e = t.r.shadowed(name, e)
	} else if e.Obeys != nil && t.has("--noEmit") && (t.cmd.Program == "tsc" || t.cmd.Program == "tsgo") {
		return // its configuration says where things go, and nothing goes anywhere
	} else if t.cmd.Class == effect.Look && !(e.Class == effect.Look && len(e.Obeys) > 0) || len(e.Steering()) == 0 {
		return
	}
	t.r.obeying = append(t.r.obeying, obeying{t.told, e, spanOf(t.ws), t.cwd, t.ctx.privileged, t.r.again > 0 || t.r.beside > 0})
}

// shadowed adds to what a module of Python obeys the files that would be found in
// the present folder instead of it, or of modules that it imports: that folder
// comes first for "python -m".
func (r *reader) shadowed(name string, e *commands.Entry) *commands.Entry {
	if s := r.shadows[e]; s != nil {
		return s
	}
	names := slices.Clone(e.Steering())
	if library := r.know.Lookup("python:json.tool"); library != nil {
		names = append(names, library.Steering()...)
	}
	first, _, _ := strings.Cut(name, ".")
	names = append(append(names, imported...), first+".*", first+"/")
	s := &commands.Entry{Obeys: names}
	if r.shadows == nil {
		r.shadows = map[*commands.Entry]*commands.Entry{}
	}
	r.shadows[e] = s
	return s
}

// imported are modules that are no part of the language and that many tools import.
var imported = strings.Fields(`sitecustomize.py usercustomize.py click.py packaging.py pathspec.py platformdirs.py pluggy.py iniconfig.py tomli.py
	typing_extensions.py mypy_extensions.py colorama.py attr.py attrs.py exceptiongroup.py pygments.py rich.py yaml.py jinja2.py requests.py urllib3.py certifi.py
	setuptools.py pkg_resources.py distutils.py wheel.py mccabe.py pyflakes.py pycodestyle.py astroid.py dill.py tomlkit.py coverage.py virtualenv.py
	filelock.py distlib.py pip.py pytest.py black.py blib2to3.py lib2to3.py docutils.py sphinx.py nodeenv.py identify.py cfgv.py`)

// steered tells the commands that obey what the text wrote before.
func (r *reader) steered() {
	if len(r.obeying) == 0 {
		return
	}
	told := r.out // what is added is not looked at
	if len(r.before) > 0 {
		told = slices.Concat(r.before, told)
	}
	runs := map[*effect.Command]int{}
	for k := len(told) - 1; k >= 0; k-- {
		if told[k].Kind == effect.Run {
			runs[told[k].Command] = k
		}
	}
	seen := map[sight]written{}
	for i := range r.obeying {
		o := &r.obeying[i]
		at, was := runs[o.cmd]
		if !was {
			continue
		}
		if o.any {
			at = len(told)
		}
		key := sight{&o.entry.Steering()[0], o.cwd, o.cmd.Program}
		first, done := seen[key]
		if !done {
			first = r.firstWritten(o, told)
			seen[key] = first
		}
		if first.at < at && first.name != "" {
			r.add(effect.Effect{Target: o.cmd.Program + " obeys " + first.name, Span: o.span, Command: o.cmd, Coverable: true, Steered: true, Privileged: o.priv})
		}
	}
}

// sight is what decides which writes concern a command: the names it obeys, where
// it looks for them, what it is.
type sight struct {
	names        *string
	cwd, program string
}

// written is the first write that concerns a command, with the place among what was
// told.
type written struct {
	at   int
	name string
}

// firstWritten finds the first write that concerns a command.
func (r *reader) firstWritten(o *obeying, told []effect.Effect) written {
	for k := range told {
		e := &told[k]
		brings := e.Kind == effect.Run && len(e.Command.Brings) > 0
		if e.Kind != effect.Write && e.Kind != effect.Opaque && !brings {
			continue
		}
		if r.compared++; r.compared > maxWork {
			r.tooMuch()
			break
		}
		if brings && r.mayBring(e.Command, o) {
			return written{k, "files that " + strings.Join(append([]string{e.Command.Program}, e.Command.Sub...), " ") + " brings in this call"}
		}
		if name := r.mayWrite(e, o, told); name != "" {
			return written{k, name + ", which this call writes"}
		}
	}
	return written{}
}

// mayWrite returns what an effect writes when that may be a file which a command
// obeys, "" when it is none.
func (r *reader) mayWrite(e *effect.Effect, o *obeying, told []effect.Effect) string {
	switch e.Kind {
	case effect.Write:
	case effect.Opaque:
		if e.Command == nil || !unpacks(e.Target) || r.elsewhere(e.Command, o, told) {
			return ""
		}
		return "what " + e.Command.Program + " unpacks"
	default:
		return ""
	}
	if e.Own || e.Product && e.Tree || !e.Path.Known() || !r.near(e.Path, o) {
		return "" // an unknown path is asked about by itself, and what a build fills is its outcome
	}
	for _, p := range [...]string{e.Path.Abs, e.Path.Named} {
		switch {
		case p == "":
		case e.Tree && e.There:
			if e.Names != "" && r.named(strings.Split(e.Names, "|"), o) {
				return display(e.Target)
			}
		case e.Tree:
			if e.Command != nil && e.Command.Program == o.cmd.Program {
				continue // its own outcome
			}
			if e.Names == "" || slices.ContainsFunc(o.entry.Steering(), func(n string) bool { return strings.ContainsAny(n, "*?/") || paths.AnyName(e.Names, n) }) {
				return "what is copied into " + display(e.Target)
			}
		case e.Path.Glob:
			dir, _ := paths.GlobFolder(p)
			if r.globs(p, paths.Within(o.cwd, dir), o) {
				return display(e.Target)
			}
		case o.entry.Steers(p) && !begins(e.Command):
			return display(path.Base(p))
		case e.Command != nil && (brings(e.Command) || moves(e.Command)) && o.entry.SteersWithin(p):
			return "what " + e.Command.Program + " puts into " + display(e.Target)
		case e.Command != nil && paths.Within(o.cwd, p) && brings(e.Command) && !r.itemized(e, told):
			return "what " + e.Command.Program + " puts into " + display(e.Target)
		}
	}
	return ""
}

// near reports whether a file may be found from where a command runs: it is in the
// workspace, or in a folder above or below. What lies elsewhere is not looked for.
func (r *reader) near(p effect.Path, o *obeying) bool {
	if p.Inside() || o.cwd == "" {
		return true
	}
	dir := path.Dir(p.Abs)
	if p.Glob {
		dir, _ = paths.GlobFolder(p.Abs)
	}
	return paths.Within(o.cwd, dir) || paths.Within(dir, o.cwd)
}

// globs reports whether a glob may stand for a file that the command obeys. One
// for all files of an ending counts where such files are looked for first: in
// the folder of the command and above.
func (r *reader) globs(glob string, above bool, o *obeying) bool {
	last := glob[strings.LastIndexByte(glob, '/')+1:]
	if broad(last) && !above {
		return false
	}
	for _, n := range o.entry.Steering() {
		pt, err := paths.Compile("**/" + strings.TrimSuffix(n, "/"))
		if err != nil || pt.Relate(r.place, effect.Path{Abs: glob, Rel: ".", Glob: true}, false) > paths.Apart {
			return true
		}
	}
	return false
}

// named reports whether one of the names that are picked out in a tree is that of
// a file which the command obeys, and says more than an ending.
func (r *reader) named(names []string, o *obeying) bool {
	return slices.ContainsFunc(names, func(g string) bool {
		return !broad(g) && slices.ContainsFunc(o.entry.Steering(), func(n string) bool {
			n = strings.TrimSuffix(n, "/")
			return paths.AnyName(g, n[strings.LastIndexByte(n, '/')+1:]) || o.entry.Steers(g)
		})
	})
}

// broad reports whether a glob stands for all names, or for all of one ending.
func broad(glob string) bool {
	rest, is := strings.CutPrefix(glob, "*")
	return is && (rest == "" || rest[0] == '.' && !strings.ContainsAny(rest[1:], ".*?["))
}

// brings reports whether a command puts files of other names into a folder that it is
// given.
func brings(c *effect.Command) bool {
	switch c.Program {
	case "cp", "gcp", "mv", "gmv", "ln", "gln", "install", "ginstall", "rsync", "scp":
		return true
	}
	return c.Class == effect.Fetch
}

// begins reports whether a command makes the file that it writes in a form of its
// own, in which nothing can be said that another would obey.
func begins(c *effect.Command) bool {
	return c != nil && c.Program == "go" && slices.Equal(c.Sub, []string{"mod", "init"})
}

// moves reports whether a command of version control gives a file or folder of the
// tree another name.
func moves(c *effect.Command) bool {
	return c.Program == "git" && slices.Equal(c.Sub, []string{"mv"})
}

// itemized reports whether the names of what a command puts into a folder are told as
// well.
func (r *reader) itemized(into *effect.Effect, told []effect.Effect) bool {
	r.compared += len(told) / 8
	return slices.ContainsFunc(told, func(e effect.Effect) bool {
		return e.Kind == effect.Write && e.Command == into.Command && e.Path.Known() && e.Path.Abs != into.Path.Abs && paths.Within(e.Path.Abs, into.Path.Abs)
	})
}

// unpacks reports whether what cannot be told of a command is which files it
// makes: the texts are those of the command knowledge.
func unpacks(why string) bool {
	return strings.Contains(why, "names its files") || strings.Contains(why, "where its files go") || why == "writes the files of an archive"
}

// elsewhere reports whether all that a command is known to write lies where the
// other does not look.
func (r *reader) elsewhere(c *effect.Command, o *obeying, told []effect.Effect) bool {
	some := false
	r.compared += len(told) / 8
	for i := range told {
		if e := &told[i]; e.Kind == effect.Write && e.Command == c {
			if some = true; !e.Path.Known() || r.near(effect.Path{Abs: e.Path.Abs + "/x", Rel: e.Path.Rel}, o) {
				return false
			}
		}
	}
	return some
}
