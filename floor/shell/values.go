package shell

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
)

// addresses are those that a pattern of curl stands for: {a,b} and [1-3].
func addresses(text string) []string {
	out := []string{""}
	for text != "" {
		i := strings.IndexAny(text, "{[")
		var parts []string
		rest := ""
		if i >= 0 {
			body, after, closed := strings.Cut(text[i+1:], map[byte]string{'{': "}", '[': "]"}[text[i]])
			if !closed {
				i = -1
			} else if rest = after; text[i] == '{' {
				parts = strings.Split(body, ",")
			} else {
				parts = steps(body)
			}
		}
		if i < 0 {
			i, parts = len(text), []string{""}
		}
		var next []string
		for _, o := range out {
			for _, p := range parts {
				next = append(next, o+text[:i]+p)
			}
		}
		if len(next) > maxFields {
			return []string{commands.Unknown}
		}
		out, text = next, rest
	}
	return out
}

// steps are the values of a range of curl: "1-9", "a-z", "001-100:10".
func steps(body string) []string {
	span, by, _ := strings.Cut(body, ":")
	from, to, isRange := strings.Cut(span, "-")
	if !isRange {
		return []string{"[" + body + "]"} // an address of IPv6
	}
	step := 1
	if n, err := strconv.Atoi(by); err == nil && n > 0 {
		step = n
	}
	if len(from) == 1 && len(to) == 1 && !digits(from) {
		var out []string
		for c := int(from[0]); c <= int(to[0]); c += step {
			out = append(out, string(rune(c)))
		}
		return out
	}
	a, errA := strconv.Atoi(from)
	z, errZ := strconv.Atoi(to)
	if errA != nil || errZ != nil || z-a >= maxFields {
		return []string{commands.Unknown}
	}
	var out []string
	for ; a <= z; a += step {
		s := strconv.Itoa(a)
		for len(s) < len(from) && padded(from) {
			s = "0" + s
		}
		out = append(out, s)
	}
	return out
}

func (t *typed) url(text string, span effect.Span, option string) {
	if t.cmd.Program == "curl" && strings.ContainsAny(text, "{[") && !strings.Contains(text, "://[") {
		t.opaque("a pattern of addresses", span, option, false)
		for _, one := range addresses(text) {
			t.address(one, span, option)
		}
		return
	}
	t.address(text, span, option)
}

// address follows one URL: a file or a host.
func (t *typed) address(text string, span effect.Span, option string) {
	switch {
	case text == "" || text == "-":
		return
	case len(text) > 5 && strings.EqualFold(text[:5], "file:"):
		p := text[5:]
		if rest, isLocal := strings.CutPrefix(p, "//"); isLocal {
			p = rest
			if i := strings.IndexByte(p, '/'); i > 0 { // file://host/path
				p = p[i:]
			}
		}
		if clean, err := url.PathUnescape(p); err == nil && clean != p && strings.IndexByte(clean, 0) < 0 {
			t.path(effect.Read, clean, span, option, false, false)
		}
		t.path(effect.Read, p, span, option, false, false)
		return
	}
	t.r.net(text, span, t.cmd, option)
}

// remote follows scp and rsync operands: host:path or a local path.
func (t *typed) remote(typ commands.Type, text string, span effect.Span, option string) {
	if host, isRemote := remoteHost(text); isRemote {
		t.r.net(host, span, t.cmd, option)
		return
	}
	if typ == commands.RemoteRead && option == "" && slices.ContainsFunc(forgeHosts, func(h string) bool { return strings.HasPrefix(text, h) }) {
		t.r.net("https://"+text, span, t.cmd, option) // kustomize build github.com/a/b
	}
	if strings.HasPrefix(text, "|") {
		t.opaque("a name that some programs run as a command", span, option, false) // identify '|id'
	}
	if typ == commands.RemoteWrite {
		t.path(effect.Write, text, span, option, false, t.entry.Style != commands.Tar) // an archive is one file
		return
	}
	t.path(effect.Read, text, span, option, false, true)
}

// forgeHosts begin what some programs fetch without a protocol in front.
var forgeHosts = []string{"github.com/", "gitlab.com/", "bitbucket.org/", "codeberg.org/", "raw.githubusercontent.com/"}

// remoteHost returns the host of "[user@]host:path" and of URLs.
func remoteHost(text string) (string, bool) {
	if i := strings.Index(text, "://"); i > 0 {
		return text, !strings.HasPrefix(text, "file:")
	}
	colon := strings.IndexByte(text, ':')
	slash := strings.IndexByte(text, '/')
	if colon <= 0 || slash >= 0 && slash < colon {
		return "", false
	}
	host := text[:colon]
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	return host, true
}

func (t *typed) repo(text string, span effect.Span, option string) {
	switch {
	case strings.HasPrefix(text, "file:"):
		t.url(text, span, option)
	case strings.Contains(text, "::"):
		t.opaque("a git transport that can run a command", span, option, false)
	case !commands.Known(text):
		t.r.net(text, span, t.cmd, option)
	case strings.HasPrefix(text, ".") || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~"):
		t.path(effect.Read, text, span, option, false, true)
	default:
		if host, isRemote := remoteHost(text); isRemote {
			t.r.net(host, span, t.cmd, option)
		} else if strings.Contains(text, "/") {
			t.path(effect.Read, text, span, option, false, true)
		}
	}
}

// rev follows an operand that is a revision, "rev:path" or a path.
func (t *typed) rev(text string, span effect.Span, option string) {
	if t.pathspec(text, span, option) {
		return
	}
	switch {
	case text == "" || strings.HasPrefix(text, "^") || strings.HasPrefix(text, "@{"):
		return
	case strings.HasPrefix(text, ":/") || strings.HasPrefix(text, ":!") || strings.HasPrefix(text, ":^") || strings.HasPrefix(text, ":("):
		if strings.HasPrefix(text, ":(") {
			if _, p, closed := strings.Cut(text, ")"); closed && p != "" {
				t.path(effect.Read, p, span, option, false, true)
			}
		} else if p := text[2:]; strings.HasPrefix(text, ":/") && p != "" {
			t.r.path(pathEffect{kind: effect.Read, text: p, span: span, cmd: t.cmd, option: option, cwd: t.r.place.Workspace, at: true}, t.w)
		}
		return
	}
	if first := strings.IndexByte(text, ':'); first >= 0 {
		// What follows any of the colons may be the path (HEAD@{10:00}:x,
		// :2:x, -L:f:x).
		for i := first; i < len(text); i++ {
			p := text[i+1:]
			if text[i] != ':' || p == "" {
				continue
			}
			cwd := t.r.place.Workspace
			if strings.HasPrefix(p, ".") {
				cwd = t.cwd
			}
			t.r.path(pathEffect{kind: effect.Read, text: p, span: span, cmd: t.cmd, option: option, cwd: cwd, at: true, tree: true}, t.w)
		}
		return
	}
	if i := strings.Index(text, ".."); i > 0 && text[i-1] != '/' && !strings.Contains(text, "/..") {
		return // a range of revisions
	}
	t.path(effect.Read, text, span, option, false, true)
}

// pathspec follows an operand that chooses files by a pattern; it reports
// false for any other.
func (t *typed) pathspec(text string, span effect.Span, option string) bool {
	if t.cmd.Program != "git" || option != "" {
		return false
	}
	spec, exclude := pathspec(unmarked(text))
	at := strings.IndexAny(spec, "*?[")
	if exclude || at < 0 || strings.IndexByte(spec, 0) >= 0 || strings.HasPrefix(text, "^") || strings.Contains(text, "@{") {
		return false
	}
	folder := "."
	if i := strings.LastIndexByte(spec[:at], '/'); i >= 0 {
		folder = spec[:i+1]
	}
	top := strings.HasPrefix(text, ":/") || strings.HasPrefix(text, ":(")
	cwd := t.cwd
	if top {
		cwd = t.r.place.Workspace
	}
	t.r.path(pathEffect{kind: effect.Read, text: folder, span: span, cmd: t.cmd, option: option, cwd: cwd, at: true, tree: true, below: true,
		names: strings.Join(t.chosen().names, "|"), priv: t.ctx.privileged}, t.w)
	return true
}

// out follows a build product: one that lies and is called like one is part
// of building, anything else is an ordinary write.
func (t *typed) out(text string, span effect.Span, option string) {
	if text == "-" || text == "" {
		return
	}
	p := t.r.place.Prepare(strings.ReplaceAll(strings.ReplaceAll(text, commands.Words, commands.Unknown), commands.Number, commands.Star), t.cwd)
	if p.Inside() && p.Named == "" && product(p.Rel) {
		t.product(text, span, option, folderish(p.Rel))
		return
	}
	t.path(effect.Write, text, span, option, false, false)
}

// product reports whether a path in the tree is one that builds write: in a
// folder for what is built, or named like an object, a library or a program.
// Hidden folders and files are none: configuration lives there.
func product(rel string) bool {
	if strings.HasPrefix(rel, ".") || strings.Contains(rel, "/.") {
		return false
	}
	dir, name := "", rel
	if i := strings.LastIndexByte(rel, '/'); i >= 0 {
		dir, name = rel[:i], rel[i+1:]
	}
	for part := range strings.SplitSeq(dir, "/") {
		switch part {
		case "build", "dist", "target", "out", "bin", "obj", "_build", "cmake-build-debug", "cmake-build-release", "coverage":
			return true
		}
	}
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		switch name[i:] {
		case ".o", ".obj", ".a", ".lib", ".so", ".dylib", ".dll", ".exe", ".wasm", ".out", ".class", ".jar", ".elf", ".hex", ".bin", ".map", ".d", ".gch",
			".pch", ".pdb", ".rlib", ".rmeta", ".test", ".prof", ".pyc", ".pyd", ".gcda", ".gcno", ".ii", ".s", ".bc", ".ll", ".dwo", ".dSYM", ".tsbuildinfo":
			return true
		}
		return false
	}
	switch name {
	case "build", "dist", "target", "out", "bin", "obj", "coverage":
		return true
	case "configure", "gradlew", "mvnw", "makefile", "justfile", "install", "bootstrap", "autogen", "manage", "rebar", "go":
		return false
	}
	// Programs have plain lower-case names; Makefile and LICENSE have not.
	return name != "" && strings.ToLower(name) == name
}

// at follows text in which "@FILE" names a file to read.
func (t *typed) at(text string, span effect.Span, option string) {
	// curl's --write-out can name a file to write.
	for rest := text; ; {
		_, after, has := strings.Cut(rest, "%output{")
		if !has {
			break
		}
		name, _, _ := strings.Cut(after, "}")
		t.path(effect.Write, strings.TrimPrefix(name, ">>"), span, option, false, false)
		rest = after
	}
	for _, scheme := range []string{"file://", "fileb://"} {
		if p, isFile := strings.CutPrefix(text, scheme); isFile {
			t.path(effect.Read, p, span, option, false, false)
			return
		}
	}
	// curl's --data-urlencode, --url-query and --variable take name@file as well.
	named := strings.Contains(option, "urlencode") || option == "--url-query" || option == "--variable"
	if i := strings.IndexAny(text, "=@"); named && i > 0 && text[i] == '@' && !strings.ContainsAny(text[:i], " &") {
		t.path(effect.Read, text[i+1:], span, option, false, false)
		return
	}
	for _, lead := range []string{"@", "<"} {
		if p, isFile := strings.CutPrefix(text, lead); isFile {
			t.atFile(p, span, option)
			return
		}
	}
	if strings.Contains(text, "=") {
		for part := range strings.SplitSeq(text, "=") {
			part = strings.TrimPrefix(part, `"`) // headers="@file"
			if part != "" && (part[0] == '@' || part[0] == '<') {
				t.atFile(part[1:], span, option)
			}
		}
		return
	}
	if strings.HasPrefix(text, commands.Unknown) || strings.HasPrefix(text, commands.Words) {
		t.opaque("a value that is not known and may name a file", span, option, true)
	}
}

func (t *typed) atFile(p string, span effect.Span, option string) {
	for one := range strings.SplitSeq(p, ",") {
		one, _, _ = strings.Cut(one, ";")
		one = strings.Trim(one, `"`)
		if one == "-" || one == "" {
			continue
		}
		t.path(effect.Read, one, span, option, false, false)
	}
}

// mount follows the host part of a container's volume.
func (t *typed) mount(text string, span effect.Span, option string) {
	host, ro, tmp := "", false, false
	if strings.Contains(text, "=") && !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, ".") {
		for part := range strings.SplitSeq(text, ",") {
			k, v, _ := strings.Cut(part, "=")
			switch k {
			case "source", "src":
				host = v
			case "readonly", "ro":
				ro = v != "false"
			case "type":
				tmp = v == "tmpfs"
			}
		}
	} else {
		parts := strings.Split(text, ":")
		if len(parts) < 2 {
			return // an anonymous volume
		}
		host = parts[0]
		ro = len(parts) > 2 && strings.Contains(parts[2], "ro")
	}
	switch {
	case tmp || host == "":
		return
	case !commands.Known(host):
		t.opaque("mounts a folder that is not known", span, option, false)
	case strings.HasPrefix(host, "/") || strings.HasPrefix(host, ".") || strings.HasPrefix(host, "~"):
		if strings.HasPrefix(host, "~") {
			host = t.r.place.Expand(host)
		}
		kind := effect.Write
		if ro {
			kind = effect.Read
		}
		t.path(kind, host, span, option, false, true)
	}
}

// Executable reports whether a key of git configuration makes git run a
// command or read further configuration.
func Executable(key string) bool {
	key = strings.ToLower(key)
	section, rest, _ := strings.Cut(key, ".")
	last := key[strings.LastIndexByte(key, '.')+1:]
	switch section {
	case "core":
		switch rest {
		case "fsmonitor", "hookspath", "pager", "editor", "sshcommand", "gitproxy", "askpass", "worktree", "alternaterefscommand", "attributesfile", "excludesfile":
			return true
		}
	case "diff":
		return rest == "external" || last == "command" || last == "textconv" || rest == "tool"
	case "log":
		return rest == "showsignature"
	case "gc":
		return rest == "recentobjectshook"
	case "help":
		return rest == "browser" || rest == "htmlpath" || rest == "format"
	case "filter":
		return last == "clean" || last == "smudge" || last == "process"
	case "merge":
		return last == "driver" || rest == "tool"
	case "alias", "pager", "include", "includeif", "credential", "difftool", "mergetool", "trailer", "hook", "guitool", "man", "browser", "web",
		"uploadpack", "receive", "protocol", "url", "submodule", "instaweb", "sendemail", "imap", "extensions", "lfs", "remote", "http", "sequence", "interactive", "gpg", "tar", "fsmonitor", "maintenance":
		switch section {
		case "remote":
			return last == "push" || last == "mirror" || last == "uploadpack" || last == "receivepack" || last == "proxy" || last == "vcs" || last == "promisor"
		case "http":
			return last == "proxy" || last == "sslverify" || last == "sslcainfo" || last == "sslcert" || last == "sslkey" || last == "cookiefile" || last == "savecookies"
		case "submodule":
			return last == "update" || last == "recurse"
		case "receive":
			return last == "procreceiverefs"
		case "extensions":
			return rest == "worktreeconfig" || rest == "partialclone"
		case "trailer", "hook", "tar":
			return last == "command" || last == "cmd"
		case "pager":
			return true
		case "interactive":
			return last == "difffilter"
		case "gpg":
			return last == "program" || last == "defaultkeycommand" || last == "allowedsignersfile"
		case "uploadpack":
			return last == "packobjectshook"
		}
		return true
	}
	return false
}

// tameConfig are keys of git configuration that only change how git prints.
func tameConfig(key string) bool {
	key = strings.ToLower(key)
	section, rest, _ := strings.Cut(key, ".")
	switch section {
	case "color", "advice", "column", "status", "log", "format", "i18n", "user", "author", "committer", "init", "pack", "grep", "blame", "branch", "push",
		"fetch", "pull", "rebase", "commit", "tag", "versionsort", "help", "feature", "index", "gc", "rerere", "safe", "stash", "versioning":
		return rest != "template" && rest != "templatedir" && !strings.HasSuffix(rest, "file") && rest != "bundleuri" && !Executable(key)
	case "core":
		switch rest {
		case "quotepath", "autocrlf", "eol", "safecrlf", "filemode", "ignorecase", "precomposeunicode", "abbrev", "commentchar", "whitespace", "preloadindex", "untrackedcache", "longpaths", "symlinks", "bare":
			return true
		}
	case "diff":
		switch rest {
		case "algorithm", "renames", "context", "interhunkcontext", "mnemonicprefix", "noprefix", "colormoved", "colormovedws", "statgraphwidth", "submodule", "wserrorhighlight", "relative", "renamelimit", "indentheuristic", "ignoresubmodules", "suppressblankempty", "wordregex", "orderfile":
			return rest != "orderfile"
		}
	case "merge":
		return rest == "conflictstyle" || rest == "ff" || rest == "log" || rest == "renames" || rest == "stat" || rest == "renamelimit"
	}
	return false
}

// config follows a key of git configuration, with or without its value.
func (t *typed) config(text string, span effect.Span, option string) {
	key, value, set := strings.Cut(text, "=")
	if !commands.Known(key) {
		t.opaque("a git configuration key that is not known", span, option, false)
		return
	}
	lower := strings.ToLower(key)
	named := option == "--config-env" // the value is the name of a variable
	switch {
	case Executable(key):
		if set && !named && (quiets("PAGER", value) || value == "false" || value == "true" && lower == "core.fsmonitor") {
			return
		}
		if !set && option == "" && t.reading.Class == effect.Look {
			return // asking for the value of a key
		}
		t.opaque("the git configuration "+key+" decides what git runs", span, option, false)
	case signed(lower, value) || named && signed(lower, "%G"):
		t.opaque("the git configuration "+key+" makes git run a signature program", span, option, false)
	case tameConfig(key):
	default:
		t.opaque("the git configuration "+key+" is not known", span, option, true)
	}
}

// git demands that no configuration of the repository turns a look-up into
// execution.
func (t *typed) git() {
	f := &t.r.place.Facts
	span := spanOf(t.ws)
	if f.Untrusted {
		t.opaque("the configuration of this repository is not trusted, and git may run what it names", span, "", false)
		return
	}
	for i := range t.reading.Options {
		if u := &t.reading.Options[i]; (u.Name == "--format" || u.Name == "--pretty") && signature(u.Value) {
			t.opaque("the configured signature program runs", t.ws[u.At].span, u.Name, true)
		}
	}
	if key := Runs(f.GitConfig, t.reading.Sub); key != "" {
		t.opaque("the configuration of this repository makes git run a command ("+key+")", span, "", false)
	}
}

// harmlessValue reports whether a setting runs nothing with that value when
// something is looked up; the lines of the value are all that is set.
func harmlessValue(key, value string) bool {
	off := true
	for line := range strings.SplitSeq(value, "\n") {
		switch strings.ToLower(line) {
		case "", "false", "no", "off", "0":
		case "true", "yes", "on", "1":
			off = off && key == "core.fsmonitor"
		default:
			off = false
		}
	}
	switch {
	case off || key == "extensions.partialclone":
		return true
	case strings.HasPrefix(key, "alias.") || strings.HasPrefix(key, "credential.") || strings.HasPrefix(key, "url.") || strings.HasPrefix(key, "gc.") || strings.HasPrefix(key, "help.") ||
		strings.HasPrefix(key, "difftool.") || strings.HasPrefix(key, "mergetool.") || strings.HasPrefix(key, "lfs.") || strings.HasPrefix(key, "submodule."):
		return true // they act in other commands than look-ups
	case strings.HasPrefix(key, "remote.") || strings.HasPrefix(key, "http."):
		return true
	}
	return false
}

// HookKey begins what stands in a configuration for a hook that is there.
const HookKey = "hook:"

// Runs names a setting of a repository's configuration that makes git run a
// command when something is looked up, "" when there is none. The words are
// those of the subcommand: some are new, and an alias where git does not know them.
func Runs(config map[string]string, sub []string) string {
	fetches := false // a look-up may fetch what is missing
	for key, value := range config {
		fetches = fetches || strings.HasPrefix(key, "remote.") && (strings.HasSuffix(key, ".promisor") && value != "false" || strings.HasSuffix(key, ".partialclonefilter"))
	}
	return firstKey(config, func(key, value string) bool {
		lower := strings.ToLower(key)
		return Executable(key) && !harmlessValue(lower, value) ||
			fetches && fetching(key, value) ||
			signed(lower, value) ||
			key == HookKey+"post-index-change" || // a look-up renews the index
			len(sub) > 0 && section(lower, "alias."+sub[0])
	})
}

// RunsMore is Runs for a command that does more than look, in a repository of
// which nobody spoke: its hooks run as well, and whatever its configuration names.
func RunsMore(config map[string]string) string {
	return firstKey(config, func(key, value string) bool {
		return strings.HasPrefix(key, HookKey) && key != HookKey ||
			Executable(key) && value != "" && value != "false" && (key != "core.fsmonitor" || value != "true") && !inert(strings.ToLower(key))
	})
}

// firstKey is the first key, in order, of the settings that match; "" when none
// does.
func firstKey(config map[string]string, matches func(key, value string) bool) (first string) {
	for key, value := range config {
		if (first == "" || key < first) && matches(key, value) {
			first = key
		}
	}
	return first
}

// inert are settings that tools leave behind and that run nothing.
func inert(key string) bool {
	switch key {
	case "lfs.repositoryformatversion", "submodule.recurse", "extensions.partialclone":
		return true
	}
	return strings.HasPrefix(key, "lfs.") && strings.HasSuffix(key, ".access") || strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".promisor")
}

// section reports whether a key is that one or lies below it.
func section(key, name string) bool {
	rest, has := strings.CutPrefix(key, name)
	return has && (rest == "" || rest[0] == '.')
}

// signed reports whether a setting has git look at signatures, which a program
// does.
func signed(key, value string) bool {
	return (key == "format.pretty" || strings.HasPrefix(key, "pretty.")) && signature(value)
}

// signature reports whether a format shows what is known of a signature.
func signature(format string) bool {
	return strings.Contains(format, "%G") || strings.Contains(format, "%(signature")
}

// fetching reports whether a setting names a command that git runs when it
// fetches.
func fetching(key, value string) bool {
	last := key[strings.LastIndexByte(key, '.')+1:]
	switch section, rest, _ := strings.Cut(key, "."); section {
	case "remote":
		return last == "uploadpack" || last == "vcs" || last == "url" && strings.Contains(value, "::")
	case "url":
		return strings.Contains(rest, "::")
	case "credential":
		return last == "helper"
	}
	return false
}

// repository tells a git command that looks for its repository in another folder
// than the call starts in.
func (t *typed) repository() {
	for _, o := range t.reading.Options {
		if o.Name == "--version" || o.Name == "--help" {
			return
		}
	}
	if t.cwd == t.r.place.Cwd && t.cwd != "" {
		return
	}
	p := t.r.place.Prepare(".", t.cwd)
	t.r.path(pathEffect{kind: effect.Read, text: ".", span: t.ws[0].span, cmd: t.cmd, cwd: t.cwd, at: true, meta: p.Inside(), tree: !p.Inside(), repo: true,
		priv: t.ctx.privileged || t.reading.Class == effect.Privilege}, t.w)
}
