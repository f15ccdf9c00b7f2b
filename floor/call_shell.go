package floor

import (
	"path"
	"slices"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
	"assent/floor/paths"
	"assent/floor/shell"

	"mvdan.cc/sh/v3/syntax"
)

var (
	commandNames = set("command", "cmd", "commands", "cmds", "commandline", "script", "code", "bash", "shellcommand", "bashcommand", "argv")
	wordsNames   = set("args", "arguments", "arg", "params", "parameters", "commandargs", "cmdargs", "extraargs", "additionalargs", "options", "flags")
	workdirNames = set("workdir", "cwd", "workingdirectory", "workingdir", "directory", "dirpath", "dir", "cd", "path")
	// These may be the folder too, or something that a client knows nothing of.
	maybeWorkdirNames = set("chdir", "folder", "basedir", "basepath", "pwd", "startdir", "targetdirectory", "targetdir", "rootdir", "projectroot", "projectdir",
		"workspacefolder", "workspaceroot", "initialcwd")
	// homeless are tools that know no argument for the folder.
	homeless     = set("Bash", "Monitor", "run_in_terminal", "runInTerminal")
	environNames = set("env", "environment", "envvars", "environmentvariables", "envs", "vars", "variables", "extraenv")
	programNames = set("shell", "executable", "shellpath", "shelltype", "interpreter", "shellprogram", "shellexecutable")
	accountNames = set("user", "runas", "username", "uid", "gid", "group", "asuser", "runasuser", "account")
	typedNames   = set("stdin", "chars", "keys", "input", "stdininput", "standardinput", "stdintext", "stdincontent")
)

// shell is a tool that runs a command. The command is one text, or the words
// of one command; the folder it runs in, variables, what it reads on standard
// input and further words may come with it. Every way to put them together is
// judged.
func (r *reading) shell(name string, args *value) {
	s := shellCall{r: r, places: []*paths.Place{r.place}, stays: homeless[name]}
	s.read(args)
	if !s.found {
		r.opaque("command", "no command is given")
	}
	if s.user {
		for i := range r.effects {
			r.effects[i].Privileged = true
		}
	}
}

// shellCall gathers what a shell tool's arguments say, then judges each
// command with all of it.
type shellCall struct {
	r *reading
	// places are where the command may run, by the readings of the folder.
	places []*paths.Place
	found  bool
	user   bool // it runs as another user
	stays  bool // it may run where the call is, whatever folder is named

	texts, folders []located
	words          []string // further words of the command
	programs       []located
	typed          []located
}

func (s *shellCall) read(args *value) {
	s.gather(args, 0)
	s.settle()
	s.found = s.found || len(s.texts) > 0
	for _, t := range s.texts {
		s.judge(t)
	}
	s.joined()
}

// gather walks the arguments; some clients keep them one level down, in
// "action", or give the command itself as an object.
func (s *shellCall) gather(args *value, depth int) {
	for i := range args.members {
		m := &args.members[i]
		switch n := argumentName(m.name); {
		case n == "action" && m.value.kind == '{' && depth < maxCalls:
			s.gather(&m.value, depth+1)
		case m.value.empty():
		case n == "action" && m.value.kind == '"' && m.value.text != "exec" && m.value.text != "run":
			s.r.opaque(m.name, "unknown action "+shown(m.value.text))
		case commandNames[n]:
			s.commands(m, n == "commands" || n == "cmds", depth)
		case wordsNames[n]:
			if m.value.kind == '{' && depth < maxCalls {
				s.gather(&m.value, depth+1) // options: {cwd: …}
			} else {
				s.further(m)
			}
		case workdirNames[n], maybeWorkdirNames[n]:
			s.stays = s.stays || maybeWorkdirNames[n]
			if m.value.kind != '"' {
				s.r.opaque(m.name, "the folder is no text")
				s.folders = append(s.folders, located{m.name, ""})
				continue
			}
			s.folders = append(s.folders, located{m.name, m.value.text})
		case environNames[n]:
			s.environ(m)
		case programNames[n]:
			if m.value.kind != '"' && m.value.plain() {
				continue // shell: true
			}
			if !plainShell(m.value.text) {
				s.r.opaque(m.name, "the command is read by "+shown(m.value.text))
				s.programs = append(s.programs, located{m.name, m.value.text})
			}
		case accountNames[n]:
			s.user = true
			s.leaves(m.name, "the command runs as another user")
		case typedNames[n] && !m.value.plain():
			s.r.opaque(m.name, "text is typed into the command")
			if texts, ok := m.value.strings(); ok {
				s.typed = append(s.typed, located{m.name, strings.Join(texts, "\n")})
			}
		default:
			s.other(m, depth)
		}
	}
}

// further are words that are put behind the command.
func (s *shellCall) further(m *member) {
	words, ok := m.value.strings()
	switch {
	case !ok && m.value.kind == '[':
		s.r.opaque(m.name, "the words of the command are no text")
	case ok:
		s.words = append(s.words, words...)
	default:
		s.r.opaque(m.name, "the command has arguments that are no words")
	}
}

// commands reads the value of a command argument: a text, the words of one
// command, with many a list of texts, or an object that holds one of these.
func (s *shellCall) commands(m *member, many bool, depth int) {
	list, ok := m.value.strings()
	switch {
	case !ok:
		s.r.opaque(m.name, "the command is no text")
		s.found = true
		if depth >= maxCalls {
			return
		}
		if m.value.kind == '{' {
			s.gather(&m.value, depth+1)
		}
		for i := range m.value.list {
			switch v := &m.value.list[i]; v.kind {
			case '{':
				s.gather(v, depth+1)
			case '"':
				s.texts = append(s.texts, located{m.name, v.text})
			}
		}
	case len(list) == 2 && list[0] == "apply_patch" && !many:
		s.r.patchText(m.name, list[1])
		s.found = true
	case m.value.kind == '"' || many:
		for _, t := range list {
			s.texts = append(s.texts, located{m.name, t})
		}
		if len(list) > 1 { // one shell may run them all
			s.texts = append(s.texts, located{m.name, strings.Join(list, "\n")})
		}
	default:
		text, ok := joinWords(list)
		if !ok {
			s.r.opaque(m.name, "the words of the command cannot be written as text")
			s.found = true
			return
		}
		s.texts = append(s.texts, located{m.name, text})
		if line := strings.Join(list, " "); line != text && !givenToShell(list) {
			s.texts = append(s.texts, located{m.name, line}) // for clients that give it to a shell
		}
	}
}

// givenToShell reports whether words are a shell with the text that it is given.
// Clients send these, and all run them as they are: with blanks between, the shell
// would get the first word of its text alone.
func givenToShell(words []string) bool {
	return len(words) == 3 && textOption(words[1]) && (plainShell(words[0]) || plainShell(strings.TrimSuffix(words[0], "zsh")+"sh"))
}

// textOption reports whether an option of a shell says that its text follows.
func textOption(option string) bool {
	switch option {
	case "-c", "-lc", "-cl", "-ic", "-ilc", "-lic":
		return true
	}
	return false
}

// maxJoined bounds how many commands are put together.
const maxJoined = 64

// joined judges the other commands that the arguments may make together: the
// command with further words, quoted or as they are, read by the program that
// is named, with the text on its standard input. What a client makes of them
// is its secret, so each counts beside the command alone.
func (s *shellCall) joined() {
	whole := s.texts
	if len(s.words) > 0 && len(s.texts) == 0 {
		whole = []located{{"args", ""}}
		s.found = true
	}
	if len(s.words) > 0 {
		with := make([]located, 0, 2*len(whole))
		for _, t := range whole {
			plain := strings.TrimSpace(t.text + " " + strings.Join(s.words, " "))
			quoted, ok := joinWords(s.words)
			if !ok {
				s.r.opaque(t.arg, "the words of the command cannot be written as text")
			} else if quoted = strings.TrimSpace(t.text + " " + quoted); quoted != plain {
				with = append(with, located{t.arg, quoted})
			}
			with = append(with, located{t.arg, plain})
		}
		for _, t := range with {
			s.judge(t)
		}
		whole = with
	}
	if len(whole) == 0 {
		for _, in := range s.typed { // perhaps it is the command
			s.judge(in)
		}
	}
	if len(whole)*(len(s.programs)+len(s.typed)) > maxJoined {
		s.r.opaque("command", "too many commands can be put together")
		return
	}
	for _, t := range whole {
		for _, p := range s.programs {
			if text, ok := joinWords([]string{p.text, "-c", t.text}); ok {
				s.judge(located{p.arg, text})
			}
		}
		for _, in := range s.typed {
			s.judge(located{in.arg, typed(t.text, in.text)})
		}
	}
}

// typed is a command that reads a text on its standard input.
func typed(command, text string) string {
	end := "END"
	for strings.Contains(text, end) {
		end += "_"
	}
	return "{ " + command + "\n} <<'" + end + "'\n" + text + "\n" + end + "\n"
}

// Line is the words of a command as shell text that means just them. It is not ok
// when no text does.
func Line(words []string) (string, bool) { return joinWords(words) }

// joinWords writes the words of a command as shell text that means just them.
// For a shell that is given its text, it is that text.
func joinWords(words []string) (string, bool) {
	if len(words) == 3 && plainShell(words[0]) && textOption(words[1]) {
		return words[2], true
	}
	var b strings.Builder
	for i, w := range words {
		q, err := syntax.Quote(w, syntax.LangBash)
		if err != nil {
			return "", false
		}
		if i == 0 && q == w && reserved(w) {
			q = "'" + w + "'"
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(q)
	}
	return b.String(), true
}

// reserved reports whether a first word would be read as something else than
// the name of a program.
func reserved(w string) bool {
	return syntax.IsKeyword(w) || strings.ContainsRune(w, '=') || w == "time" || w == "coproc"
}

// plainShell reports whether the program reads the text as the floor does.
func plainShell(program string) bool {
	switch path.Dir(program) {
	case ".":
		if strings.Contains(program, "/") {
			return false
		}
	case "/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin":
	default:
		return false
	}
	switch path.Base(program) {
	case "bash", "sh", "dash":
		return true
	}
	return false
}

// environ are variables the command is run with.
func (s *shellCall) environ(m *member) {
	if m.value.kind == '[' {
		list, ok := m.value.strings()
		if !ok {
			s.r.opaque(m.name, "the variables are no text")
		}
		for _, t := range list {
			name, text, ok := strings.Cut(t, "=")
			s.variable(m.name, name, text, ok)
		}
		return
	}
	if m.value.kind != '{' {
		s.r.opaque(m.name, "the variables are no object")
		return
	}
	for i := range m.value.members {
		v := &m.value.members[i]
		s.variable(m.name, v.name, v.value.text, v.value.kind == '"')
	}
}

func (s *shellCall) variable(arg, name, text string, known bool) {
	if !known || strings.IndexByte(text, 0) >= 0 {
		text = ""
	}
	if q, err := syntax.Quote(text, syntax.LangBash); err == nil && known && syntax.ValidName(name) {
		// As the shell would be told: what steers later programs is an effect.
		s.told(located{arg, "export " + name + "=" + q}, func(e *effect.Effect) bool { return e.Kind != effect.Run })
	} else {
		s.r.add(effect.Effect{Kind: effect.Env, Target: name, Arg: arg})
	}
	for i := range s.places {
		changed := *s.places[i]
		place := &changed
		s.places[i] = place
		switch name {
		case "HOME":
			place.Home = text
			continue
		case "PWD":
			continue
		case "OLDPWD", "CDPATH", "IFS", "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS":
			if i == 0 {
				s.r.opaque(arg, "the variable "+name+" changes how the command is read")
			}
			continue
		}
		vars := make(map[string]string, len(place.Vars)+1)
		for k, v := range place.Vars {
			vars[k] = v
		}
		if delete(vars, name); text != "" {
			vars[name] = text
		}
		place.Vars = vars
	}
}

// maxPlaces bounds in how many folders a command is judged.
const maxPlaces = 8

// settle decides where the command runs. As with cd, that alone is no effect.
// Where readings differ, the command is judged in each of the folders.
func (s *shellCall) settle() {
	if len(s.folders) == 0 {
		return
	}
	r := s.r
	first := s.folders[0]
	if slices.ContainsFunc(s.folders, func(f located) bool { return f.text != first.text }) {
		r.opaque(first.arg, "two arguments name two different folders")
	}
	base := s.places[0]
	var cwds []string
	unknown := false
	add := func(cwd string) {
		if cwd == "" {
			unknown = true
		} else if !slices.Contains(cwds, cwd) {
			cwds = append(cwds, cwd)
		}
	}
	if s.stays {
		cwds = append(cwds, base.Cwd)
	}
	for _, f := range s.folders {
		for _, w := range r.spellings(f.arg, f.text) {
			abs := ""
			if w != "" {
				abs = r.place.Prepare(w, base.Cwd).Abs
			}
			add(abs)
		}
		if plainPath(f.text) || strings.Contains(f.text, "://") || len(f.text) > maxPath {
			continue
		}
		texts, all := r.readings(f.text)
		for _, t := range texts {
			add(r.place.Prepare(t, base.Cwd).Abs)
		}
		if !all {
			add("")
		}
	}
	if len(cwds) > maxPlaces {
		r.opaque(first.arg, "too many folders are named")
		cwds = cwds[:maxPlaces]
	}
	if unknown {
		r.opaque(first.arg, "the folder in which the command runs is not known")
	}
	if len(cwds) == 0 {
		cwds = append(cwds, base.Cwd) // judged somewhere, for what it is
	}
	s.places = s.places[:0]
	for _, cwd := range cwds {
		place := *base
		place.Cwd = cwd
		s.places = append(s.places, &place)
	}
}

// judge adds the effects of one command, in every place where it may run. Spans
// point into the first one.
func (s *shellCall) judge(t located) { s.told(t, nil) }

// told is judge for those effects that are wanted.
func (s *shellCall) told(t located, want func(*effect.Effect) bool) {
	r := s.r
	first := r.text == "" && want == nil
	if first {
		r.text = t.text
	}
	if want == nil && !slices.Contains(r.commands, t.text) {
		r.commands = append(r.commands, t.text)
	}
	for _, place := range s.places {
		told := shell.After(r.beside, t.text, place, commands.Default())
		if want != nil {
			told = slices.DeleteFunc(told, func(e effect.Effect) bool { return !want(&e) })
		}
		for i := range told {
			e := &told[i]
			if !first {
				e.Span = effect.Span{}
			}
			if e.Arg == "" {
				e.Arg = t.arg
			}
			if r.certainty == effect.Maybe {
				e.Certainty = effect.Maybe
			}
		}
		if len(r.effects) == 0 {
			r.effects = told
		} else {
			r.effects = append(r.effects, told...)
		}
		if want != nil {
			return // a variable is the same everywhere
		}
	}
}
