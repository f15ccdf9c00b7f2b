package floor

import (
	"slices"
	"strings"

	"assent/approval"
	"assent/floor/commands"
	"assent/floor/effect"
	"assent/floor/shell"
)

// serverTool is one reading of the name of an MCP server's tool.
type serverTool struct{ server, tool string }

// serverTools splits the name of an MCP tool: "server/tool",
// "mcp__server__tool" or "mcp_server_tool". The separator may occur in either
// part, so there can be several readings; ok says that the name is one of the
// spellings at all.
func serverTools(name string) (readings []serverTool, ok bool) {
	separator := "/"
	rest := name
	if r, found := strings.CutPrefix(name, "mcp__"); found {
		rest, separator = r, "__"
	} else if r, found := strings.CutPrefix(name, "mcp_"); found {
		rest, separator = r, "_"
	} else if !strings.Contains(name, "/") {
		return nil, false
	}
	return splits(rest, separator), true
}

// splits are the ways to cut a name in two at a separator.
func splits(name, separator string) (out []serverTool) {
	for i := 1; i+len(separator) < len(name); i++ {
		if name[i:i+len(separator)] == separator && (separator != "__" || name[i-1] != '_' || i == 1) {
			out = append(out, serverTool{name[:i], name[i+len(separator):]})
		}
	}
	return out
}

// mcpTool reads the call of an MCP server's tool by its name. Each reading of
// the name is an effect of its own: a rule that denies any of them holds, and
// an allow must answer all.
func (r *reading) mcpTool(name string, args *value) bool {
	readings, ok := serverTools(name)
	if !ok {
		return false
	}
	if len(readings) == 0 {
		r.opaque("", "the name "+shown(name)+" tells no server and tool")
		r.openArguments(name, args, false)
		return true
	}
	r.serverCall(readings, args)
	return true
}

// serverCall adds the call of an MCP tool and what its arguments tell.
func (r *reading) serverCall(readings []serverTool, args *value) {
	lookUp := true
	secret := false
	for _, t := range readings {
		r.command = nil
		r.add(effect.Effect{Kind: effect.MCP, Target: t.server + "/" + t.tool})
		lookUp = lookUp && approval.IsLookUp("mcp__"+t.server+"__"+t.tool)
		secret = secret || returnsSecrets(t.tool)
	}
	r.coverable = true
	defer func() { r.coverable = false }()
	if secret {
		r.opaque("", "the tool may return secrets")
	}
	r.openArguments(readings[len(readings)-1].tool, args, lookUp)
}

// guessServer adds the readings of an unknown name that could be a server and
// a tool joined by "_", as one client writes them. They only serve denies: the
// call stays opaque.
func (r *reading) guessServer(name string) {
	r.certainty = effect.Maybe
	for _, t := range splits(name, "_") {
		r.add(effect.Effect{Kind: effect.MCP, Target: t.server + "/" + t.tool})
	}
	r.certainty = effect.Sure
}

// secretWords in the name of a tool say that what it returns may be a secret.
var secretWords = set("env", "environ", "environment", "environments", "cookie", "cookies", "secret", "secrets", "token", "tokens", "credential",
	"credentials", "password", "passwords", "passwd", "localstorage", "sessionstorage", "variable", "variables", "apikey", "apikeys", "keychain",
	"kubeconfig", "evaluate", "config", "configuration", "dsn")

func returnsSecrets(tool string) bool {
	words := nameWords(tool)
	for i, w := range words {
		if secretWords[w] {
			return true
		}
		if i > 0 && (w == "string" && words[i-1] == "connection" || w == "key" && words[i-1] == "api" || w == "storage" || w == "state" && words[i-1] == "storage") {
			return true
		}
	}
	return false
}

var (
	// The last word of an argument's name tells what it holds.
	pathWords = set("path", "paths", "file", "files", "filename", "filenames", "filepath", "filepaths", "dir", "dirs", "directory", "directories", "folder",
		"folders", "dirpath", "cwd", "workdir")
	urlWords   = set("url", "urls", "uri", "uris", "href", "link", "links", "endpoint", "website", "webhook")
	hostWords  = set("host", "hostname", "hosts")
	codeWords  = set("script", "code", "sql", "function", "javascript", "js", "python", "program", "expression", "statement", "statements", "eval", "pipeline")
	shellWords = set("command", "commands", "cmd", "cmds", "commandline", "shell", "argv")
	queryWords = set("query", "queries")
	// free are the words of a tool's name with which its query is a program.
	freeWords = set("sql", "graphql", "cypher", "execute", "exec", "run", "query", "aggregate", "script", "eval")

	fromWords = set("source", "src", "from", "old", "input")
	toWords   = set("destination", "dest", "dst", "target", "to", "new", "output", "out", "save", "download")
	moveStems = set("move", "rename", "mv", "copy", "cp", "link", "symlink")
	dropStems = set("delete", "remove", "rm", "unlink", "trash", "clean", "clear", "purge", "erase", "wipe")
)

// open is the reading of arguments whose meaning only their names tell.
type openReading struct {
	r      *reading
	lookUp bool
	stem   string
	free   bool // the tool runs a query it is given
	depth  int  // of JSON within texts
}

// openArguments reads the arguments of a tool that is described nowhere. Names
// tell paths, addresses and code; a text under any other name counts when all
// of it looks like one of those.
func (r *reading) openArguments(tool string, args *value, lookUp bool) {
	words := nameWords(tool)
	o := openReading{r: r, lookUp: lookUp}
	if len(words) > 0 {
		o.stem = words[0]
	}
	o.free = slices.ContainsFunc(words, func(w string) bool { return freeWords[w] })
	o.object(args, nil, 0)
}

// maxTexts bounds how many texts of a call are looked at.
const maxTexts = 10_000

func (o *openReading) object(v *value, under []string, seen int) int {
	for i := range v.members {
		m := &v.members[i]
		o.member(m.name, under)
		seen = o.value(m.name, append(under[:len(under):len(under)], nameWords(m.name)...), &m.value, seen)
	}
	return seen
}

// value reads one value; words are those of the names it lies under.
func (o *openReading) value(arg string, words []string, v *value, seen int) int {
	if seen++; seen > maxTexts {
		if seen == maxTexts+1 {
			o.unread(arg, "the call has too many arguments to read")
		}
		return seen
	}
	last := ""
	if len(words) > 0 {
		last = words[len(words)-1]
	}
	switch v.kind {
	case '"':
		n, ok := o.nested(arg, words, v.text, seen)
		if seen = n; ok && !codeWords[last] && !shellWords[last] && !pathWords[last] && !urlWords[last] {
			return seen
		}
		o.text(arg, words, last, v.text)
	case '[':
		if shellWords[last] && len(v.list) > 0 {
			if list, ok := v.strings(); ok {
				o.commands(arg, list)
				return seen
			}
		}
		for i := range v.list {
			seen = o.value(arg, words, &v.list[i], seen)
		}
	case '{':
		if codeWords[last] || shellWords[last] {
			o.r.opaque(arg, "code is given as "+shown(arg))
		}
		seen = o.object(v, words, seen)
	}
	return seen
}

// member looks at a name that may itself be what the call is about, as in
// files: {"/etc/passwd": "text"}.
func (o *openReading) member(name string, words []string) {
	arg := shown(name)
	switch {
	case strings.Contains(name, "://"):
		o.address(arg, words, name)
	case len(words) > 0 && pathWords[words[len(words)-1]] && strings.ContainsAny(name, "/.~\\"):
		o.guess(arg, words, name)
		o.others(arg, words, name, true)
	case strings.ContainsAny(name, "/%\\"):
		o.part(arg, words, name, false)
		o.others(arg, words, name, false)
	}
}

// unread is opaque for what was not looked at to its end: no rule for the tool
// answers that.
func (o *openReading) unread(arg, why string) {
	was := o.r.coverable
	o.r.coverable = false
	o.r.opaque(arg, why)
	o.r.coverable = was
}

// nested reads a text that is JSON itself. Where the text is for people or the
// content of a file, what it holds is a guess. ok says that nothing but JSON is
// in it.
func (o *openReading) nested(arg string, words []string, text string, seen int) (n int, ok bool) {
	t := strings.TrimSpace(text)
	if t == "" || strings.IndexByte("{[\"", t[0]) < 0 {
		return seen, false
	}
	inner, flaw, err := parseArguments([]byte(t))
	if err != nil {
		return seen, false
	}
	if o.depth >= maxCalls {
		o.unread(arg, "JSON nests too deep in texts")
		return seen, false
	}
	was := o.r.certainty
	if prose(words) {
		o.r.certainty = effect.Maybe
	}
	o.depth++
	n = o.value(arg, words, &inner, seen)
	o.depth--
	o.r.certainty = was
	return n, flaw == ""
}

func (o *openReading) text(arg string, words []string, last, text string) {
	r := o.r
	if text == "" {
		return
	}
	trimmed := strings.TrimSpace(text)
	address := (strings.Contains(text, "://") || isFileURL(trimmed)) && !strings.ContainsAny(trimmed, " \n\t")
	switch {
	case shellWords[last]:
		o.commands(arg, []string{text})
	case codeWords[last] || queryWords[last] && o.free:
		r.opaque(arg, "code is given as "+shown(arg))
	case hostWords[last]:
		r.net(arg, text)
	case urlWords[last] && !pathLike(text) || address:
		o.address(arg, words, text)
	case pathWords[last] || urlWords[last] || moveStems[o.stem] && (fromWords[last] || toWords[last]):
		o.path(arg, words, text)
		o.others(arg, words, text, true)
	default:
		if pathLike(text) || fileLike(trimmed) && !prose(words) || o.odd(words, trimmed) {
			o.guess(arg, words, text)
		}
		o.others(arg, words, text, false)
	}
}

// proseWords are names of arguments whose text is for people, is searched for
// or is what a file holds: a word in it that looks like a file is none.
var proseWords = set("title", "subject", "body", "message", "description", "summary", "comment", "comments", "label", "labels", "tag", "tags", "reason", "prompt", "note", "notes",
	"query", "queries", "pattern", "regex", "search", "version", "method", "format", "language", "content", "contents", "text", "diff", "patch", "html", "markdown")

func prose(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return proseWords[w] })
}

// odd reports whether some system or client may take a text for a path that does
// not look like one.
func (o *openReading) odd(words []string, t string) bool {
	if len(t) > 512 || plainPath(t) || strings.ContainsAny(t, " \t\n\r") || strings.Contains(t, "://") {
		return false
	}
	t, _, _ = strings.Cut(t, "\x00")
	if t == "" {
		return false
	}
	if o.r.read > maxRead {
		return false
	}
	texts, _ := o.r.readings(t)
	if o.r.read > maxRead {
		o.unread("", "too many arguments may be paths")
	}
	return slices.ContainsFunc(texts, func(t string) bool { return pathLike(t) || fileLike(t) && !prose(words) })
}

// guess is a path that the text may be.
func (o *openReading) guess(arg string, words []string, text string) {
	was := o.r.certainty
	o.r.certainty = effect.Maybe
	o.path(arg, words, text)
	o.r.certainty = was
}

// maxParts bounds how many paths of a list in one text are judged.
const maxParts = 64

// others are further readings of a text: what its percent signs stand for, and
// its parts where it is a list.
func (o *openReading) others(arg string, words []string, text string, named bool) {
	decoded := text
	for range maxCalls {
		d := unescape(decoded)
		if d == decoded {
			break
		}
		decoded = d
		o.part(arg, words, strings.TrimSpace(decoded), named)
	}
	parts := strings.FieldsFunc(decoded, func(c rune) bool { return c == ',' || c == ';' || c == '\n' || c == '\r' })
	if len(parts) < 2 || !named && prose(words) {
		return
	}
	for i := range parts {
		if parts[i] = strings.TrimSpace(parts[i]); !named && strings.ContainsAny(parts[i], " \t") {
			return // sentences
		}
	}
	found := 0
	for _, p := range parts {
		if !o.part(arg, words, p, false) {
			continue
		}
		if found++; found > maxParts {
			o.unread(arg, "a list is too long to read")
			return
		}
	}
}

// part is one reading of a text, or a part of it: an address, a path, or
// neither.
func (o *openReading) part(arg string, words []string, text string, named bool) bool {
	switch {
	case text == "":
	case isFileURL(text), strings.Contains(text, "://") && !strings.ContainsAny(text, " \t\n"):
		o.address(arg, words, text)
		return true
	case named, pathLike(text), fileLike(text) && !prose(words):
		o.guess(arg, words, text)
		return true
	}
	return false
}

// fileLike reports whether all of a text looks like the name of a file or a
// path below the present folder: one word with a slash, a dot in front, or an
// ending.
func fileLike(t string) bool {
	if t == "" || len(t) > 512 || strings.ContainsAny(t, " \t\n\r\x00<>|\"'`(){}=&?#@,;") || strings.Contains(t, "://") {
		return false
	}
	if strings.ContainsAny(t, "/\\") || strings.HasPrefix(t, "id_") {
		return true
	}
	dot := strings.LastIndexByte(t, '.')
	ending := t[dot+1:]
	return dot >= 0 && ending != "" && len(ending) <= 12 && !strings.ContainsFunc(ending, func(c rune) bool { return c >= 0x80 || !isAlnum(byte(c)) })
}

func isFileURL(t string) bool { return len(t) > 5 && strings.EqualFold(t[:5], "file:") }

// address is a URL; one of a file is a path.
func (o *openReading) address(arg string, words []string, text string) {
	if p, ok := filePath(strings.TrimSpace(text)); ok {
		o.path(arg, words, p)
		return
	}
	o.r.net(arg, text)
	// Without the scheme of a network it may be a path, or the address of one.
	scheme, rest, ok := strings.Cut(text, "://")
	before, _, named := strings.Cut(text, ":")
	switch t := strings.TrimSpace(text); {
	case !ok && named && networks[strings.ToLower(strings.TrimSpace(before))]:
	case !ok && (fileLike(t) || o.odd(words, t)):
		o.guess(arg, words, t)
	case ok && !networks[strings.ToLower(strings.TrimSpace(scheme))]:
		if at := strings.IndexByte(rest, '/'); at >= 0 && at+1 < len(rest) {
			o.guess(arg, words, rest[at:])
			o.guess(arg, words, rest[at+1:])
			o.guess(arg, words, rest)
		}
	}
}

// networks are the schemes of addresses whose path lies on another machine.
var networks = set("http", "https", "ws", "wss", "ftp", "ftps", "git", "ssh", "git+ssh", "git+https", "redis", "postgres", "postgresql", "mysql", "mongodb", "mongodb+srv", "amqp", "s3", "gs", "data", "mailto", "about", "javascript", "blob", "tel", "urn", "ldap", "ldaps", "smtp", "imap")

// path is a path of which the tool's name and the argument's tell what
// becomes of it: a look-up reads it, any other tool may do both.
func (o *openReading) path(arg string, words []string, text string) {
	r := o.r
	how := about{}
	has := func(s map[string]bool) bool {
		return slices.ContainsFunc(words, func(w string) bool { return s[w] })
	}
	switch {
	case o.lookUp && !has(toWords):
		r.path(arg, text, how, effect.Read)
	case moveStems[o.stem] && has(toWords) && !has(fromWords):
		r.path(arg, text, how, effect.Write)
	case dropStems[o.stem]:
		how.tree = true
		r.path(arg, text, how, effect.Delete)
	case moveStems[o.stem] && o.stem != "copy" && o.stem != "cp" && has(fromWords):
		how.tree = true
		r.path(arg, text, how, effect.Read, effect.Delete)
	default:
		r.path(arg, text, how, effect.Read, effect.Write)
	}
}

// commands is a command for some machine, perhaps this one. What it would do
// here is told as a guess, so that a block holds.
func (o *openReading) commands(arg string, words []string) {
	r := o.r
	r.opaque(arg, "a command is given as "+shown(arg))
	texts := words
	if len(words) > 1 {
		// One command, a line of it, or many commands.
		texts = append(slices.Clone(words), strings.Join(words, "\n"), strings.Join(words, " "))
		if quoted, ok := joinWords(words); ok {
			texts = append(texts, quoted)
		}
	}
	place := *r.place
	for _, text := range texts {
		for _, e := range shell.Effects(text, &place, commands.Default()) {
			if e.Kind == effect.Opaque {
				continue // said above
			}
			e.Span, e.Arg, e.Certainty = effect.Span{}, arg, effect.Maybe
			r.effects = append(r.effects, e)
		}
	}
}

// pathLike reports whether a text is a path beyond doubt: it climbs, starts
// at home or at one of the folders every system has at its root.
func pathLike(text string) bool {
	t := strings.TrimSpace(text)
	if len(t) > maxPath || strings.ContainsAny(t, "\n\x00") {
		return false
	}
	if strings.HasPrefix(t, "~/") || t == "~" || strings.HasPrefix(t, "../") || t == ".." || strings.HasPrefix(t, "./") || strings.HasPrefix(t, `\\`) ||
		len(t) > 2 && t[1] == ':' && t[2] == '\\' {
		return true
	}
	if !strings.HasPrefix(t, "/") {
		return false
	}
	top, rest, _ := strings.Cut(t[1:], "/")
	return rootFolders[strings.ToLower(top)] && (rest != "" || !strings.Contains(t, " "))
}

var rootFolders = set("home", "users", "root", "etc", "usr", "var", "tmp", "private", "proc", "sys", "dev", "opt", "mnt", "media", "run", "boot", "srv",
	"library", "applications", "system", "volumes", "workspace", "workspaces", "app", "data")

// useServer is the call of an MCP tool that is named by arguments.
func useServer(r *reading, name string, args *value) {
	var t serverTool
	inner := value{kind: '{'}
	for i := range args.members {
		m := &args.members[i]
		switch argumentName(m.name) {
		case "servername", "server":
			if t.server != "" {
				r.opaque(m.name, "two servers are named")
			}
			t.server = m.value.text
		case "toolname", "tool":
			if t.tool != "" {
				r.opaque(m.name, "two tools are named")
			}
			t.tool = m.value.text
		case "arguments", "args", "input", "parameters":
			inner.members = append(inner.members, objectOf(&m.value).members...)
		}
	}
	if t.server == "" || t.tool == "" {
		r.opaque("", "no server and tool are named")
		r.openArguments(t.tool, &inner, false)
		return
	}
	r.serverCall([]serverTool{t}, &inner)
}

// serverResource reads a resource of an MCP server: as the look-up tool
// "read_resource" of that server.
func serverResource(r *reading, name string, args *value) {
	t := serverTool{tool: "read_resource"}
	for i := range args.members {
		if n := argumentName(args.members[i].name); n == "server" || n == "servername" {
			t.server = args.members[i].value.text
		}
	}
	if t.server == "" {
		r.opaque("", "no server is named")
	}
	r.serverCall([]serverTool{t}, args)
}
