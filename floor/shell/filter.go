package shell

import (
	"regexp"
	"slices"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
)

// A search reads, or hands on, only the files whose names its options choose.
// That is told twice: the tree that is read says which names are meant
// (effect.Names), so that files known to be there count only when they are
// chosen; and a choice that singles out names of secrets tells them as what
// may be read, for where nothing is known of the files.

// choice is what the words of a search say of the names that it finds.
type choice struct {
	names  []string                 // globs of which one fits each file, none when nothing is said
	picks  []func(name string) bool // each chooses files by a name, as they stand in the text
	folder []string                 // where each of them looks: a folder below the operand
	spans  []effect.Span
	hidden bool // names that begin with a dot are looked at
}

func (c *choice) pick(match func(string) bool, folder string, span effect.Span) {
	c.picks = append(c.picks, match)
	c.folder = append(c.folder, folder)
	c.spans = append(c.spans, span)
}

// chosen reads what a search says of names.
func (t *typed) chosen() choice {
	if t.choice != nil {
		return *t.choice
	}
	c := choice{hidden: true}
	switch t.cmd.Program {
	case "find", "gfind", "bfs":
		t.findChoice(&c)
	case "fd", "fdfind":
		t.fdChoice(&c)
	case "grep", "egrep", "fgrep", "ggrep", "gegrep", "gfgrep", "rgrep", "zgrep", "pcregrep", "pcre2grep", "ugrep", "ug", "rg":
		t.globChoice(&c, "--include", "--glob", "--iglob")
	case "ag", "ack", "ack-grep":
		for i := range t.reading.Options {
			if u := &t.reading.Options[i]; (u.Name == "--file-search-regex" || u.Name == "-G" || u.Name == "-g") && u.Valued {
				c.pick(regexMatch(u.Value), "", t.ws[u.At].span)
			}
		}
	case "git":
		t.gitChoice(&c)
	}
	t.choice = &c
	return c
}

// globChoice reads options whose values are globs: one of them fits.
func (t *typed) globChoice(c *choice, options ...string) {
	all := true
	for i := range t.reading.Options {
		u := &t.reading.Options[i]
		if !slices.Contains(options, u.Name) || strings.HasPrefix(u.Value, "!") {
			continue
		}
		all = c.glob(u.Value, t.ws[u.At].span) && all
	}
	if !all {
		c.names = nil
	}
}

// glob adds a glob, and reports whether what it says of names could be told.
func (c *choice) glob(pattern string, span effect.Span) bool {
	plain := unmarked(pattern)
	if strings.IndexByte(plain, 0) >= 0 {
		return false
	}
	fine := true
	for _, one := range spread(plain) {
		dir, name := "", one
		if i := strings.LastIndexByte(one, '/'); i >= 0 {
			dir, name = one[:i], one[i+1:]
		}
		if j := strings.IndexAny(dir, "*?["); j >= 0 {
			dir = dir[:max(0, strings.LastIndexByte(dir[:j], '/'))]
		}
		c.pick(globMatch(name), strings.Trim(dir, "/"), span)
		if n, ok := nameGlob(name); ok {
			c.names = append(c.names, n)
		} else {
			fine = false
		}
	}
	return fine
}

// findChoice reads the tests of find. Names are known when each of the
// alternatives has a test of the name.
func (t *typed) findChoice(c *choice) {
	is := func(texts ...string) func(word) bool {
		return func(x word) bool { return slices.Contains(texts, x.text) }
	}
	negates := is("!", "-not")
	negated := func(i int) bool { return i > 0 && negates(t.ws[i-1]) }
	grouped := slices.ContainsFunc(t.ws, is("("))
	vague := slices.ContainsFunc(t.ws, is(",")) || grouped && slices.ContainsFunc(t.ws, negates)
	type alternative struct {
		names []string
		acts  bool
		first bool // before a test of the name
	}
	alternatives := []alternative{{}}
	for i := range t.reading.Options {
		u := &t.reading.Options[i]
		last := &alternatives[len(alternatives)-1]
		span := t.ws[min(u.At, len(t.ws)-1)].span
		switch u.Name {
		case "-o", "-or":
			alternatives = append(alternatives, alternative{})
		case "-exec", "-execdir", "-ok", "-okdir", "-print", "-print0", "-printf", "-ls", "-delete", "-fprint", "-fls", "-fprintf", "-fprint0":
			last.acts, last.first = true, last.first || len(last.names) == 0
		case "-name", "-iname":
			if negated(u.Word) {
				continue
			}
			var one choice
			one.glob(u.Value, span)
			c.pick(globMatch(unmarked(u.Value)), "", span)
			if len(one.names) == 1 {
				last.names = one.names
			}
		case "-path", "-ipath", "-wholename", "-iwholename":
			if !negated(u.Word) {
				match := globMatch(unmarked(u.Value))
				c.pick(func(name string) bool { return match("./"+name) || match("x/"+name) }, "", span)
			}
		case "-regex", "-iregex":
			if !negated(u.Word) {
				match := regexMatch("^(" + u.Value + ")$")
				c.pick(func(name string) bool { return match("./"+name) || match("x/"+name) }, "", span)
			}
		}
	}
	acts := !grouped && slices.ContainsFunc(alternatives, func(a alternative) bool { return a.acts })
	for _, a := range alternatives {
		switch {
		case acts && !a.acts:
		case len(a.names) == 0 || a.first:
			vague = true
		default:
			c.names = append(c.names, a.names...)
		}
	}
	if vague {
		c.names = nil
	}
}

// fdChoice reads the pattern and the extensions of fd.
func (t *typed) fdChoice(c *choice) {
	c.hidden = t.has("--hidden", "--unrestricted", "-u", "-uu")
	for i := range t.reading.Options {
		if u := &t.reading.Options[i]; u.Name == "--extension" && commands.Known(u.Value) {
			glob := "*." + strings.TrimPrefix(u.Value, ".")
			c.pick(globMatch(glob), "", t.ws[u.At].span)
			if n, ok := nameGlob(glob); ok {
				c.names = append(c.names, n)
			}
		}
	}
	for _, o := range t.reading.Operands {
		if o.Type != commands.Text || o.Word < 0 || o.Text == "" {
			continue
		}
		span := t.ws[o.Word].span
		switch text := unmarked(o.Text); {
		case t.has("--glob"):
			c.pick(globMatch(text), "", span)
			if n, ok := nameGlob(text); ok && len(c.names) == 0 && !t.has("--full-path") {
				c.names = []string{n}
			}
		case t.has("--fixed-strings"):
			c.pick(func(name string) bool { return strings.Contains(name, text) }, "", span)
		default:
			c.pick(regexMatch(text), "", span)
		}
	}
}

// gitChoice reads the pathspecs of git, of which one fits: "*" stands for "/"
// as well there.
func (t *typed) gitChoice(c *choice) {
	all := true
	for _, o := range t.reading.Operands {
		if o.Word < 0 {
			continue
		}
		switch o.Type {
		case commands.Rev, commands.Meta, commands.MetaTree, commands.Read, commands.ReadTree:
			spec, exclude := pathspec(unmarked(o.Text))
			if exclude || !strings.ContainsAny(spec, "*?[") {
				all = all && exclude
				continue
			}
			all = c.glob(spec, t.ws[o.Word].span) && all
		}
	}
	if !all {
		c.names = nil
	}
}

// pathspec takes the magic off a pathspec of git.
func pathspec(text string) (spec string, exclude bool) {
	switch {
	case strings.HasPrefix(text, ":("):
		magic, rest, _ := strings.Cut(text[2:], ")")
		for m := range strings.SplitSeq(magic, ",") {
			exclude = exclude || m == "exclude"
		}
		return rest, exclude
	case strings.HasPrefix(text, ":"):
		for text = text[1:]; text != "" && strings.IndexByte("/!^", text[0]) >= 0; text = text[1:] {
			exclude = exclude || text[0] != '/'
		}
		return strings.TrimPrefix(text, ":"), exclude
	}
	return text, false
}

// singled tells the names of secrets that a search singles out.
func (t *typed) singled(under []string) {
	c := t.chosen()
	for i, match := range c.picks {
		if slices.ContainsFunc(ordinary, match) {
			continue // it says nothing of secrets
		}
		for _, kind := range secretNames {
			k := slices.IndexFunc(kind, func(name string) bool { return (c.hidden || name[0] != '.') && match(name) })
			if k < 0 {
				continue
			}
			name := kind[k]
			for _, u := range under {
				if c.folder[i] != "" {
					u += "/" + c.folder[i]
				}
				t.r.path(pathEffect{kind: effect.Read, text: u + "/" + name, span: c.spans[i], cmd: t.cmd, cwd: t.cwd, at: true, maybe: true, priv: t.ctx.privileged}, t.w)
			}
		}
	}
}

// secretNames are what files with secrets are called, by kind: one of a kind is
// enough to tell.
var secretNames = [][]string{
	{".env", ".env.local", ".env.production", ".env.development", ".env.staging", ".env.test"}, {"prod.env"}, {".envrc"},
	{"id_rsa", "id_ed25519", "id_ecdsa", "id_dsa"}, {"server.pem"}, {"server.key", "master.key"}, {"cert.p12"}, {"cert.pfx"}, {"release.jks"}, {"debug.keystore"},
	{"secrets.yaml", "secrets.json", "secret.yml"}, {".secrets"}, {"credentials", "credentials.json"}, {"service-account.json"}, {"client_secret.json"}, {"token.json"}, {"auth.json"},
	{".npmrc"}, {".pypirc"}, {".netrc"}, {".pgpass"}, {".htpasswd"}, {".git-credentials"}, {".dockercfg"}, {".vault-token"},
	{"terraform.tfstate"}, {"prod.tfvars"}, {"kubeconfig"}, {"passwords.kdbx"}, {"passwords.txt"}, {"wallet.dat"},
}

// ordinary are names of files in every other project: what fits one of them
// does not look for secrets.
var ordinary = []string{"main.go", "index.ts", "app.tsx", "util.js", "setup.py", "src", "lib.rs", "README.md", "package.json", "tsconfig.json", "config.yaml", "ci.yml", "pyproject.toml", "notes.txt", "data.csv",
	"a.txt", "b.c", "x.h", "Makefile", "Dockerfile", "LICENSE", "test.sh", "go.mod", "yarn.lock", "style.css", "index.html", "Main.java", "schema.sql", "build.xml", "main.tf"}

// unmarked drops the marks of wildcards: the program reads the pattern as it
// stands.
func unmarked(pattern string) string { return marksOfGlobs.Replace(pattern) }

var marksOfGlobs = strings.NewReplacer(commands.Star, "*", commands.One, "?", commands.Set, "[")

// spread spells out the braces of a glob, or gives it back where it has none
// or too many.
func spread(glob string) []string {
	open := strings.IndexByte(glob, '{')
	end := strings.IndexByte(glob, '}')
	if open < 0 || end < open || strings.Contains(glob[open+1:end], "{") {
		return []string{glob}
	}
	var out []string
	for part := range strings.SplitSeq(glob[open+1:end], ",") {
		out = append(out, spread(glob[:open]+part+glob[end+1:])...)
		if len(out) > maxFields {
			return []string{glob}
		}
	}
	return out
}

// nameGlob is a glob for a name in plain letters, "*" and "?"; it may match
// more than it should. ok is false where it says nothing.
func nameGlob(name string) (glob string, ok bool) {
	var b strings.Builder
	says := false
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '*' || c == '?':
			b.WriteByte(c)
		case c == '[':
			n := bracket(name[i:])
			if n == 0 {
				return "", false
			}
			b.WriteByte('?')
			i += n - 1
		case c == '.' || c == '-' || c == '_' || c == '+' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z':
			b.WriteByte(c)
			says = true
		default:
			return "", false
		}
	}
	return b.String(), says
}

// globMatch matches names as find and git do: wildcards fit a leading dot and
// a slash, and case does not count. The names are plain ASCII in one line.
func globMatch(glob string) func(string) bool {
	if simpleGlob(glob) {
		return func(name string) bool { return fits(glob, name) }
	}
	return regexMatch(globRegex(glob))
}

// simpleGlob reports whether a glob is of ASCII characters, "*" and "?" alone.
func simpleGlob(glob string) bool {
	const most = 256 // more is no name
	for i := range len(glob) {
		if c := glob[i]; c < ' ' || c > '~' || c == '[' || c == '\\' {
			return false
		}
	}
	return len(glob) <= most
}

// fits matches a name with a simple glob.
func fits(glob, name string) bool {
	g, n := 0, 0
	star, from := -1, 0 // the last "*", and where what it takes ends
	for n < len(name) {
		switch {
		case g < len(glob) && glob[g] == '*':
			star, from = g, n
			g++
		case g < len(glob) && (glob[g] == '?' || lower(glob[g]) == lower(name[n])):
			g++
			n++
		case star >= 0:
			from++
			g, n = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(glob[g:], "*") == ""
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// globRegex is a glob as a regular expression.
func globRegex(glob string) string {
	var b strings.Builder
	b.WriteString("^")
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteByte('.')
		case '[':
			if n := bracket(glob[i:]); n > 0 {
				body := glob[i+1 : i+n-1]
				if strings.HasPrefix(body, "!") {
					body = "^" + body[1:]
				}
				b.WriteString("[" + strings.ReplaceAll(body, `\`, `\\`) + "]")
				i += n - 1
			} else {
				b.WriteString(`\[`)
			}
		case '\\':
			if i+1 < len(glob) {
				i++
			}
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return b.String() + "$"
}

// regexMatch matches by a regular expression. One that cannot be read singles
// out everything but what is ordinary: nobody knows.
func regexMatch(text string) func(string) bool {
	const most = 1000 // bytes: longer ones are no names
	if len(text) < most && strings.IndexByte(text, 0) < 0 {
		if re, err := regexp.Compile("(?i)" + text); err == nil {
			return re.MatchString
		}
	}
	return func(name string) bool { return !slices.Contains(ordinary, name) }
}
