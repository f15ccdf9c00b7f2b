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
	commandNames = set("command", "cmd", "commands", "commandline", "script", "code", "bash", "shellcommand")
	workdirNames = set("workdir", "cwd", "workingdirectory", "workingdir", "directory", "dirpath", "dir", "cd", "path")
	environNames = set("env", "environment", "envvars", "environmentvariables")
	programNames = set("shell", "executable", "shellpath", "shelltype")
	accountNames = set("user", "runas", "username")
	typedNames   = set("stdin", "chars", "keys")
)

// shell is a tool that runs a command. The command is one text, or the words
// of one command; the folder it runs in and variables may come with it.
func (r *reading) shell(name string, args *value) {
	s := shellCall{r: r, place: *r.place}
	s.read(args)
	if !s.found {
		s.arg = "command"
		r.opaque(s.arg, "no command is given")
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
	r     *reading
	place paths.Place
	arg   string
	found bool
	user  bool
}

func (s *shellCall) read(args *value) {
	var texts []located
	var folders []located
	s.gather(args, &texts, &folders)
	s.settle(folders)
	s.found = s.found || len(texts) > 0
	for _, t := range texts {
		s.judge(t)
	}
}

// gather walks the arguments; local_shell keeps them one level down, in
// "action".
func (s *shellCall) gather(args *value, texts, folders *[]located) {
	for i := range args.members {
		m := &args.members[i]
		switch n := argumentName(m.name); {
		case n == "action" && m.value.kind == '{':
			s.gather(&m.value, texts, folders)
		case m.value.empty():
		case n == "action" && m.value.kind == '"' && m.value.text != "exec" && m.value.text != "run":
			s.r.opaque(m.name, "unknown action "+shown(m.value.text))
		case commandNames[n]:
			s.commands(m, n == "commands", texts)
		case workdirNames[n]:
			if m.value.kind != '"' {
				s.r.opaque(m.name, "the folder is no text")
				*folders = append(*folders, located{m.name, ""})
				continue
			}
			*folders = append(*folders, located{m.name, m.value.text})
		case environNames[n]:
			s.environ(m)
		case programNames[n]:
			if !plainShell(m.value.text) {
				s.r.opaque(m.name, "the command is read by "+shown(m.value.text))
			}
		case accountNames[n]:
			s.user = true
			s.r.opaque(m.name, "the command runs as another user")
		case typedNames[n] && !m.value.plain():
			s.r.opaque(m.name, "text is typed into the command")
		}
	}
}

// commands reads the value of a command argument: a text, the words of one
// command, or with many a list of texts.
func (s *shellCall) commands(m *member, many bool, texts *[]located) {
	list, ok := m.value.strings()
	switch {
	case !ok:
		s.r.opaque(m.name, "the command is no text")
		s.found = true
	case len(list) == 2 && list[0] == "apply_patch" && !many:
		s.r.patchText(m.name, list[1])
		s.found = true
	case m.value.kind == '"' || many:
		for _, t := range list {
			*texts = append(*texts, located{m.name, t})
		}
	default:
		text, ok := joinWords(list)
		if !ok {
			s.r.opaque(m.name, "the words of the command cannot be written as text")
			s.found = true
			return
		}
		*texts = append(*texts, located{m.name, text})
	}
}

// joinWords writes the words of a command as shell text that means just them.
// For a shell that is given its text, it is that text.
func joinWords(words []string) (string, bool) {
	if len(words) == 3 && plainShell(words[0]) {
		switch words[1] {
		case "-c", "-lc", "-cl", "-ic", "-ilc", "-lic":
			return words[2], true
		}
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
	s.r.add(effect.Effect{Kind: effect.Env, Target: name, Arg: arg})
	if !known || strings.IndexByte(text, 0) >= 0 {
		text = ""
	}
	switch name {
	case "HOME":
		s.place.Home = text
	case "PWD", "OLDPWD", "CDPATH", "IFS", "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS":
		if name != "PWD" {
			s.r.opaque(arg, "the variable "+name+" changes how the command is read")
		}
	default:
		vars := make(map[string]string, len(s.place.Vars)+1)
		for k, v := range s.place.Vars {
			vars[k] = v
		}
		if delete(vars, name); text != "" {
			vars[name] = text
		}
		s.place.Vars = vars
	}
}

// settle decides where the command runs. As with cd, that alone is no effect.
func (s *shellCall) settle(folders []located) {
	if len(folders) == 0 {
		return
	}
	r := s.r
	if slices.ContainsFunc(folders, func(f located) bool { return f.text != folders[0].text }) {
		r.opaque(folders[0].arg, "two arguments name two different folders")
		s.place.Cwd = ""
	} else {
		readings := r.spellings(folders[0].arg, folders[0].text)
		start := s.place.Cwd
		for i, w := range readings {
			abs := ""
			if w != "" {
				abs = r.place.Prepare(w, start).Abs
			}
			if i == 0 {
				s.place.Cwd = abs
			} else if s.place.Cwd != abs {
				s.place.Cwd = ""
			}
		}
	}
}

// judge adds the effects of one command, which is not empty. Spans point into the first one.
func (s *shellCall) judge(t located) {
	r := s.r
	place := s.place
	first := r.text == ""
	if first {
		r.text = t.text
	}
	for _, e := range shell.Effects(t.text, &place, commands.Default()) {
		if !first {
			e.Span = effect.Span{}
		}
		if e.Arg == "" {
			e.Arg = t.arg
		}
		if r.certainty == effect.Maybe {
			e.Certainty = effect.Maybe
		}
		r.effects = append(r.effects, e)
	}
}
