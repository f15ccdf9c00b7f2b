package floor

import (
	"errors"
	"path"
	"slices"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
	"assent/floor/paths"
)

// A runPattern matches commands (policy §2): the program, then subcommand
// words and operands in order as a beginning, options in any spelling and
// place.
//
//	git push --force     git -C sub push -f origin main
//	npm run test*        npm run test:unit -- -t x
//	@build               every command of that class
//	sudo systemctl       systemctl status, run by sudo
//	sudo                 allowed: a bare "sudo"; restricted: all that it runs
//	./gradlew build      only the program at that path
//	./scripts/*          the programs in that folder
//	ls -*                ls with an option; "ls -l -*": with one besides -l
type runPattern struct {
	text     string
	class    effect.Class
	any      bool // "*"
	wrappers []string
	program  wordGlob
	path     string         // the program as a path, "" when it is a name
	at       *paths.Pattern // the program as a pattern of paths, nil when it is none
	words    []runWord
	around   []runWord // the words of the wrappers
	// outer patterns answer the wrappers' own run effects. They only allow, but
	// for one that runs a module nobody described: then there is no other.
	outer, module bool
}

type runWord struct {
	wordGlob
	option bool
	value  *wordGlob // "--name=value"
	name   string    // of an option
}

// compileRun reads a run pattern. It returns several when the pattern names a
// program through a wrapper: the command that is wrapped, and the wrapper
// itself.
func compileRun(text string) ([]runPattern, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("the pattern is empty")
	}
	if i := strings.IndexByte(text, '('); i > 0 && strings.HasSuffix(text, ")") && 'A' <= text[0] && text[0] <= 'Z' {
		inner := strings.TrimSuffix(strings.TrimSuffix(text[i+1:len(text)-1], ":*"), " *")
		return nil, errors.New("this is another program's notation; write " + inner)
	}
	words, err := splitWords(text)
	if err != nil {
		return nil, err
	}
	first := words[0]
	if !first.wild && strings.HasPrefix(first.text, "@") {
		class := effect.Class(first.text[1:])
		if !slices.Contains(effect.Classes, class) {
			return nil, classError(first.text)
		}
		if len(words) > 1 {
			return nil, errors.New("a class stands alone; write the program's name to say more")
		}
		return []runPattern{{text: text, class: class}}, nil
	}
	if !first.wild && strings.Contains(first.text, "=") {
		return nil, errors.New("a pattern starts with the program; variables have their own section, env")
	}
	var at *paths.Pattern
	if first.wild && strings.Contains(first.plain(), "/") {
		pattern := first.plain()
		if word := strings.Fields(text)[0]; !strings.ContainsAny(word, "\"'\\") {
			pattern = word // with its "**"
		}
		p, err := paths.Compile(pattern)
		if err != nil {
			return nil, err
		}
		at = &p
	}
	out := runPatterns(words, nil, nil, 0)
	for i := range out {
		out[i].text = text
	}
	out[0].at = at
	return out, nil
}

type classError string

func (e classError) Error() string { return "there is no class " + string(e) }

// hint names the class that was meant, or all of them.
func (e classError) hint() string {
	var names []string
	for _, c := range effect.Classes {
		names = append(names, "@"+string(c))
	}
	if s := didYouMean(string(e), names); s != "" {
		return s
	}
	return "the classes are " + strings.Join(names, " ")
}

const maxWrapped = 8

func runPatterns(words []wordGlob, wrappers []string, around []runWord, depth int) []runPattern {
	first := words[0]
	p := runPattern{wrappers: wrappers, around: around, program: first, any: first.any() && len(words) == 1}
	if !first.wild && strings.Contains(first.text, "/") {
		p.path = path.Clean(first.text)
		if p.path[0] != '/' && p.path[0] != '~' && !strings.HasPrefix(p.path, "..") {
			p.path = "./" + p.path
		}
	}
	rest := words[1:]
	if n := len(rest); n > 0 && rest[n-1].any() {
		rest = rest[:n-1] // a pattern is a beginning anyway
	}
	p.words = runWords(rest)
	out := []runPattern{p}
	if first.wild || depth >= maxWrapped {
		return out
	}
	from, module := wrapped(words)
	if from == 0 && module == "" {
		return out
	}
	out[0].outer = true
	out[0].words = runWords(words[1:min(from, len(words))])
	inside := append(slices.Clip(wrappers), path.Base(first.text))
	around = append(slices.Clip(around), out[0].words...)
	if len(rest) == 0 && from == len(words)-1 {
		// "yarn *": what yarn runs, and its own subcommands too.
		out = append(out, p)
	}
	if module == "" {
		return append(out, runPatterns(words[from:], inside, around, depth+1)...)
	}
	interpreter := strings.TrimRight(path.Base(first.text), "0123456789.")
	know := commands.Default()
	out[0].module = know.Lookup(module) == nil && know.Lookup(interpreter+":"+module) == nil
	for _, name := range []string{module, interpreter + ":" + module} {
		out = append(out, runPattern{wrappers: inside, around: around, program: wordGlob{text: name}, words: runWords(words[from:])})
	}
	return out
}

func runWords(words []wordGlob) []runWord {
	var out []runWord
	for _, w := range words {
		r := runWord{wordGlob: w}
		if t := w.plain(); strings.HasPrefix(t, "-") && t != "-" && t != "--" {
			r.option = true
			r.name = t
			if i := strings.IndexByte(t, '='); i > 0 {
				r.name = t[:i]
				v := wordGlob{text: t[i+1:]}
				if w.wild {
					v = parseGlob(t[i+1:])
				}
				r.value = &v
			}
		} else if t == "--" && !w.wild {
			continue
		}
		out = append(out, r)
	}
	return out
}

// wrapped tells at which word of a pattern the command begins that the first
// program only runs, 0 when it runs none, or the name of the module that it
// runs as a program.
func wrapped(words []wordGlob) (from int, module string) {
	plain := make([]string, len(words))
	for i := range words {
		plain[i] = words[i].plain()
	}
	plain[0] = path.Base(words[0].text)
	if !commands.Default().MayWrap(plain) {
		return 0, ""
	}
	entry := commands.Default().Lookup(plain[0])
	if entry == nil {
		return 0, ""
	}
	plain[0] = words[0].plain()
	for _, in := range entry.Read(plain).Inner {
		switch {
		case in.Option != "" && in.Module == "":
			continue // "find -exec" names the program and an option
		case in.Module != "":
			return min(in.From, len(words)), in.Module
		case in.From > 0 && in.From < len(words):
			return in.From, ""
		}
	}
	return 0, ""
}

// names are the program names under which the pattern must be looked for; nil
// means any.
func (p *runPattern) names() []string {
	if p.class != "" || p.any || p.program.wild {
		return nil
	}
	if p.path != "" {
		return []string{path.Base(p.path)}
	}
	return []string{p.program.text}
}

// bare reports whether the pattern is a program alone.
func (p *runPattern) bare() bool { return len(p.words) == 0 }

// match reports whether the pattern matches a command. loose is for rules
// that restrict: what cannot be told counts as a match.
func (p *runPattern) match(place *paths.Place, e *effect.Effect, loose bool) bool {
	c := e.Command
	if c == nil {
		return false
	}
	if p.outer && (loose && !p.module || !p.bareWords(c)) {
		return false
	}
	switch {
	case p.class != "":
		return c.Class == p.class
	case !p.wrapped(c, loose):
		return false
	case p.any:
		return true
	case loose && p.bare() && len(p.wrappers) == 0 && !p.program.wild && slices.ContainsFunc(c.Wrappers, func(w string) bool { return programName(w) == p.program.text }):
		return true // a wrapper that is restricted restricts all that it runs
	case !p.named(place, e, loose):
		return false
	}
	return p.matchWords(c, loose)
}

// bareWords reports whether the command has no operand besides the words of
// the command that it wraps, which are not listed.
func (p *runPattern) bareWords(c *effect.Command) bool {
	return c.Class == effect.Wrap || c.Class == effect.Privilege || len(c.Operands) == 0
}

// wrapped reports whether the command was peeled from the pattern's wrappers.
func (p *runPattern) wrapped(c *effect.Command, loose bool) bool {
	at := 0
	for _, w := range p.wrappers {
		i := slices.IndexFunc(c.Wrappers[at:], func(have string) bool { return programName(have) == w })
		if i < 0 {
			return false
		}
		at += i + 1
	}
	return true
}

// programName is the base name of a program, as rules that restrict compare
// it.
func programName(p string) string {
	return strings.TrimSuffix(paths.Fold(path.Base(p)), ".exe")
}

// named reports whether the command's program is the pattern's.
func (p *runPattern) named(place *paths.Place, e *effect.Effect, loose bool) bool {
	c := e.Command
	switch {
	case p.at != nil:
		return p.inFolder(place, e, loose)
	case p.path != "":
		return p.atPath(place, e, loose)
	}
	if p.program.match(c.Program) && (loose || !strings.Contains(c.Program, "/")) {
		return true
	}
	return loose && p.program.match(programName(c.Program))
}

// atPath compares the program with a path. The file that is run decides, not
// how it is spelled: in another folder the same words name another file.
func (p *runPattern) atPath(place *paths.Place, e *effect.Effect, loose bool) bool {
	c := e.Command
	want := place.Prepare(place.Expand(p.path), place.Workspace)
	have := e.Path
	if strings.HasPrefix(c.Program, "/") {
		have = place.Prepare(c.Program, "/")
	}
	if want.Known() && have.Known() && !have.Glob {
		return want.Abs == have.Abs || loose && paths.Fold(want.Abs) == paths.Fold(have.Abs)
	}
	if !strings.Contains(c.Program, "/") {
		// A program of a system place is known by its name alone.
		return strings.HasPrefix(p.path, "/") && path.Base(p.path) == c.Program
	}
	return loose && paths.Fold(path.Base(c.Program)) == paths.Fold(path.Base(p.path))
}

// inFolder compares the file that is run with a pattern of paths. A program of
// a system place that is run by its name is none of them.
func (p *runPattern) inFolder(place *paths.Place, e *effect.Effect, loose bool) bool {
	have := e.Path
	if strings.HasPrefix(e.Command.Program, "/") {
		have = place.Prepare(e.Command.Program, "/")
	}
	if !have.Known() || have.Glob {
		return loose && strings.Contains(e.Command.Program, "/")
	}
	relation := p.at.Relate(place, have, false)
	return relation == paths.Covers || loose && relation >= paths.Overlap
}

// locate gives the run effects of programs that are run by their path the
// path, which the shell reader tells as what the command reads first.
func locate(effects []effect.Effect) []effect.Effect {
	type program struct {
		command *effect.Command
		start   int
	}
	var read map[program]effect.Path // from where the loop is on
	cloned := false
	for i := len(effects) - 1; i >= 0; i-- {
		e := &effects[i]
		at := program{e.Command, e.Span.Start}
		switch {
		case e.Kind == effect.Read && e.Option == effect.ProgramItself:
			if read == nil {
				read = map[program]effect.Path{}
			}
			read[at] = e.Path
		case e.Kind == effect.Run && !e.Path.Known() && e.Command != nil && strings.Contains(e.Command.Program, "/"):
			p, told := read[at]
			if !told {
				continue
			}
			if !cloned { // they are the caller's
				effects, cloned = slices.Clone(effects), true
			}
			effects[i].Path = p
		}
	}
	return effects
}

// matchWords compares the words after the program.
func (p *runPattern) matchWords(c *effect.Command, loose bool) bool {
	if !loose && ((p.outer || p.saysWhat(c)) && renamed(c.Options, p.words) || len(p.wrappers) > 0 && renamed(c.Renamed, p.around)) {
		return false
	}
	if !loose && p.saysSome() && elsewhere(c.Options, p.words) {
		return false
	}
	at := 0 // how many of the subcommand words and operands are used up
	total := len(c.Sub) + len(c.Operands)
	for i := 0; i < len(p.words); i++ {
		w := &p.words[i]
		if w.name == anyOption {
			if !p.others(c) && (!loose || !unknownWords(c)) {
				return false
			}
			continue
		}
		if w.option {
			o := find(c, w, loose)
			if o == nil {
				if !loose || !unknownWords(c) {
					return false
				}
				continue
			}
			if o.Valued && o.Value != "" && w.value == nil && i+1 < len(p.words) && !p.words[i+1].option && !joined(o, w) {
				next := &p.words[i+1]
				if next.match(o.Value) || loose && unknown(o.Value) {
					i++
				} else if !loose {
					return false
				}
			}
			continue
		}
		found := false
		for at < total && !found {
			text := ""
			if at < len(c.Sub) {
				text = c.Sub[at]
				found = w.match(text) || alias(c.Program, w.text) == alias(c.Program, text) && !w.wild
			} else {
				text = c.Operands[at-len(c.Sub)]
				found = w.match(text) && (loose || !unknown(text) || w.any())
			}
			found = found || loose && unknown(text)
			at++
			if !found && !(loose && !c.Described) {
				return false
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// anyOption is the word for an option that the pattern does not name otherwise.
const anyOption = "-*"

// others reports whether the command has an option that the pattern does not
// name.
func (p *runPattern) others(c *effect.Command) bool {
	return slices.ContainsFunc(c.Options, func(o effect.Option) bool { return !p.namesOption(c, &o) })
}

// saysWhat reports whether the pattern says what the program is to be given,
// beyond its subcommand.
func (p *runPattern) saysWhat(c *effect.Command) bool {
	words := 0
	for i := range p.words {
		if !p.words[i].option {
			words++
		}
	}
	return words > len(c.Sub)
}

// saysSome reports whether the pattern says anything of what the program is to do.
func (p *runPattern) saysSome() bool {
	return slices.ContainsFunc(p.words, func(w runWord) bool { return w.option || strings.Trim(w.text, "*") != "" })
}

// elsewhere reports whether an option that is not among the words of a pattern
// makes the command one about another place: "docker ps" says nothing about
// "docker -H tcp://x ps".
func elsewhere(options []effect.Option, words []runWord) bool {
	return slices.ContainsFunc(options, func(o effect.Option) bool {
		return o.Elsewhere && !slices.ContainsFunc(words, func(w runWord) bool { return w.option && has(&o, w.name) })
	})
}

// renamed reports whether an option that is not among the words of a pattern
// makes the words of a command name other things: "npx tool" says nothing
// about "npx -p other tool".
func renamed(options []effect.Option, words []runWord) bool {
	return slices.ContainsFunc(options, func(o effect.Option) bool {
		return o.Renames && !slices.ContainsFunc(words, func(w runWord) bool { return w.option && has(&o, w.name) })
	})
}

// unknown reports whether a word holds a part that cannot be told.
func unknown(s string) bool { return strings.Contains(s, "…") }

func unknownWords(c *effect.Command) bool {
	return slices.ContainsFunc(c.Operands, func(s string) bool { return s == "…" })
}

// joined reports whether the pattern already holds the option's value:
// "-n19".
func joined(o *effect.Option, w *runWord) bool {
	return len(w.name) > 2 && w.name[1] != '-' && !has(o, w.name)
}

func has(o *effect.Option, spelling string) bool {
	return o.Name == spelling || slices.Contains(o.Names, spelling)
}

func option(c *effect.Command, spelling string) *effect.Option {
	for i := range c.Options {
		if has(&c.Options[i], spelling) {
			return &c.Options[i]
		}
	}
	return nil
}

// find is the option of the command that the pattern's word means. The word
// may also be short options in one ("-rf"): then all must be there, and the
// last is returned.
func find(c *effect.Command, w *runWord, loose bool) *effect.Option {
	for i := range c.Options {
		o := &c.Options[i]
		if has(o, w.name) && (w.value == nil || w.value.match(o.Value) || loose && unknown(o.Value)) {
			return o
		}
	}
	if len(w.name) < 3 || w.name[1] == '-' || w.value != nil {
		if loose && !c.Described && len(w.name) == 2 {
			for i := range c.Options { // "-f" in "-rf" of a program nobody described
				if n := c.Options[i].Name; len(n) > 2 && n[1] != '-' && strings.IndexByte(n, w.name[1]) > 0 {
					return &c.Options[i]
				}
			}
		}
		return nil
	}
	// "-n19": an option with its value.
	if o := option(c, w.name[:2]); o != nil && o.Valued && o.Value == w.name[2:] {
		return o
	}
	var last *effect.Option
	for i := 1; i < len(w.name); i++ {
		short := runWord{name: "-" + w.name[i:i+1]}
		if last = find(c, &short, loose); last == nil {
			return nil
		}
	}
	return last
}

// namesOption reports whether the pattern names an option of the command.
func (p *runPattern) namesOption(c *effect.Command, o *effect.Option) bool {
	for i := range p.words {
		w := &p.words[i]
		if !w.option {
			continue
		}
		if has(o, w.name) {
			return true
		}
		if len(w.name) > 2 && w.name[1] != '-' && option(c, w.name) == nil {
			for j := 1; j < len(w.name); j++ {
				if has(o, "-"+w.name[j:j+1]) {
					return true
				}
			}
		}
	}
	return false
}

// namesSpelling is namesOption for an option known by one spelling.
func (p *runPattern) namesSpelling(c *effect.Command, spelling string) bool {
	if o := option(c, spelling); o != nil {
		return p.namesOption(c, o)
	}
	return slices.ContainsFunc(p.words, func(w runWord) bool { return w.option && w.name == spelling })
}

// namesProgram reports whether the pattern says which program it means.
func (p *runPattern) namesProgram() bool {
	return p.class == "" && !p.any && strings.Trim(p.program.plain(), "*?") != ""
}

// namesDeed reports whether the pattern says which of the things that its
// program does is meant: every subcommand. A program that does one thing is
// named by its name.
func (p *runPattern) namesDeed(c *effect.Command) bool {
	words := 0
	for i := range p.words {
		if !p.words[i].option {
			words++
		}
	}
	return words >= len(c.Sub)
}

// as says how a pattern of the operator stands to a shipped one that matches
// the same command: whether it names all that the shipped one names. A
// broader allow never lifts a narrower deny: "docker run" says nothing about
// --privileged. That a branch is pushed over is part of what pushing is, so the
// options that only rewrite need no naming.
func (p *runPattern) as(shipped *runPattern, c *effect.Command) bool {
	if shipped.class != "" {
		return p.class == shipped.class || p.namesProgram() && p.namesDeed(c) &&
			(shipped.class == effect.Rewrite || !slices.ContainsFunc(c.Raised, func(o string) bool { return !p.namesSpelling(c, o) }))
	}
	if !p.namesProgram() {
		return shipped.any && p.any
	}
	wrapper := len(shipped.wrappers) == 0 && shipped.bare() && programName(c.Program) != shipped.program.plain()
	if wrapper && !slices.Contains(p.wrappers, shipped.program.plain()) {
		return false
	}
	for _, w := range shipped.wrappers {
		if !slices.Contains(p.wrappers, w) {
			return false
		}
	}
	words := 0
	for i := range shipped.words {
		w := &shipped.words[i]
		if !w.option {
			words++
			continue
		}
		if o := find(c, w, true); o != nil && !p.namesOption(c, o) {
			return false
		}
	}
	for i := range p.words {
		if !p.words[i].option {
			words--
		}
	}
	return words <= 0
}

// alias is the usual name of a subcommand that has several.
func alias(program, sub string) string {
	if a := aliases[program]; a != nil {
		if name, ok := a[sub]; ok {
			return name
		}
	}
	return sub
}

var aliases = func() map[string]map[string]string {
	out := map[string]map[string]string{}
	for program, text := range map[string]string{
		"npm":   "install=i,add,in,ins,inst,isntall uninstall=un,unlink,remove,rm,r run=run-script,rum,urn test=t,tst exec=x view=v,info,show list=ls,ll,la update=up,upgrade,udpate ci=clean-install,ic init=create,innit",
		"pnpm":  "install=i add=a remove=rm,uninstall,un update=up,upgrade run=run-script list=ls,la,ll test=t exec=x",
		"yarn":  "remove=rm run=run-script",
		"bun":   "install=i add=a remove=rm x=exec",
		"cargo": "build=b check=c test=t run=r doc=d add=a remove=rm",
		"brew":  "list=ls uninstall=remove,rm upgrade=up",
		"gem":   "install=i",
		"conda": "remove=uninstall update=upgrade",
		"svn":   "checkout=co commit=ci update=up status=stat,st delete=del,remove,rm copy=cp move=mv,rename,ren list=ls",
		"hg":    "commit=ci checkout=co,update,up,upd status=st remove=rm rename=mv,move",
		"helm":  "list=ls uninstall=delete,del,un dependency=dep,dependencies",
	} {
		m := map[string]string{}
		for group := range strings.FieldsSeq(text) {
			name, others, _ := strings.Cut(group, "=")
			for o := range strings.SplitSeq(others, ",") {
				if o != "" {
					m[o] = name
				}
			}
		}
		if len(m) > 0 {
			out[program] = m
		}
	}
	return out
}()
