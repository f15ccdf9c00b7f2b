package shell

import (
	"slices"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
)

// Credentials reports whether a git configuration holds what a look at it
// must not show: a token or password as a value, a header, or part of an
// address.
func Credentials(config map[string]string) bool {
	for key, value := range config {
		if value != "" && (secretKey(key) || slices.ContainsFunc(strings.Split(value, "\n"), secretAddress)) {
			return true
		}
		if section, rest, _ := strings.Cut(key, "."); section == "url" && secretAddress(rest) {
			return true
		}
	}
	return false
}

// secretKey reports whether a key of git configuration, or a word of a pattern
// for keys, is about credentials themselves.
func secretKey(key string) bool {
	key = strings.ToLower(key)
	if strings.HasPrefix(key, "credential.") { // which helper, for whom
		key = key[strings.LastIndexByte(key, '.')+1:]
	}
	for _, word := range []string{"extraheader", "token", "passw", "secret", "apikey", "api-key", "oauth", "smtppass"} {
		if strings.Contains(key, word) {
			return true
		}
	}
	return false
}

// secretAddress reports whether an address carries a password, or a token where
// the user stands. "git@host" carries neither.
func secretAddress(text string) bool {
	scheme, rest, found := strings.Cut(text, "://")
	if !found || strings.Contains(scheme, " ") {
		return false
	}
	authority, _, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return false
	}
	user := authority[:at]
	const name = 20 // tokens are longer than the names of people
	return strings.Contains(user, ":") || len(user) >= name
}

// credentials raises a look at git's configuration to one at secrets, where it
// asks for them or would show some that are known to be there.
func (t *typed) credentials() {
	sub := t.reading.Sub
	if len(sub) == 0 || t.reading.Class != effect.Look && !(sub[0] == "ls-remote" && t.has("--get-url")) {
		return
	}
	shows := false  // values of several keys, or addresses
	listed := false // among them any that may be there
	switch sub[0] {
	case "var":
		listed = t.has("-l")
	case "lfs":
		shows = len(sub) > 1 && sub[1] == "env"
	case "ls-remote":
		shows = true
	case "remote":
		shows = len(sub) == 1 && t.has("--verbose") || len(sub) > 1
	case "config":
		if t.has("--name-only") {
			return
		}
		listed = t.has("--list", "--get-urlmatch", "--url") || len(sub) > 1 && sub[1] == "list"
		if t.has("--get-regexp", "--regexp") {
			shows, listed = true, listed || !slices.ContainsFunc(t.reading.Operands, plainKeys)
		}
		listed = listed && !t.has("--file", "--blob") // a file is judged by what it is
		for _, o := range t.reading.Operands {
			if secretKey(o.Text) {
				t.class = effect.Secret
				return
			}
			shows = shows || !commands.Known(o.Text) || strings.HasSuffix(strings.ToLower(o.Text), "url")
		}
	}
	f := &t.r.place.Facts
	if listed && !f.GitRead {
		t.opaque("the configuration may hold credentials, and all of it is shown", spanOf(t.ws), "", true)
	}
	if (shows || listed) && (f.GitSecrets || Credentials(f.GitConfig)) {
		t.class = effect.Secret
	}
}

// plainKeys reports whether a pattern for keys of git configuration begins with
// a section that holds no credentials, but for those that addresses carry.
func plainKeys(o commands.Arg) bool {
	rest, anchored := strings.CutPrefix(o.Text, "^")
	end := strings.IndexFunc(rest, func(c rune) bool { return c < 'a' || c > 'z' })
	if end < 0 {
		end = len(rest)
	}
	if !anchored || strings.Contains(rest, "|") || strings.HasPrefix(rest[end:], "?") || strings.HasPrefix(rest[end:], "*") {
		return false
	}
	switch rest[:end] {
	case "alias", "user", "author", "committer", "core", "branch", "remote", "submodule", "color", "diff", "merge", "push", "pull", "fetch", "init", "log", "gc", "pack", "status", "commit", "tag":
		return true
	}
	return false
}

// asked raises a look at a setting of a tool to one at secrets, where the setting
// is called like one.
func (t *typed) asked() {
	sub := t.reading.Sub
	if t.reading.Class != effect.Look || len(sub) == 0 || sub[0] != "config" && sub[0] != "c" && sub[0] != "get" {
		return
	}
	switch t.cmd.Program {
	case "npm", "pnpm", "yarn", "yarnpkg", "bun", "poetry", "bundle", "bundler", "composer", "conda", "mamba", "gh", "glab", "pulumi", "helm", "nuget":
	default:
		return
	}
	for _, o := range t.reading.Operands {
		if secretKey(o.Text) || strings.Contains(o.Text, "http-basic") {
			t.class = effect.Secret
		}
	}
}

// members tells the files of an archive that a program prints by their names:
// a secret is one there as well.
func (t *typed) members() {
	prints := false
	switch t.cmd.Program {
	case "tar", "gtar", "bsdtar", "gnutar":
		prints = t.has("--to-stdout")
	case "unzip":
		prints = t.has("-p") || t.has("-c")
	case "7z", "7za", "7zr", "7zz", "7zzs":
		prints = t.has("-so")
	case "unrar", "rar":
		prints = len(t.reading.Sub) > 0 && t.reading.Sub[0] == "p"
	case "ar", "gcc-ar", "llvm-ar":
		prints = true
	}
	if !prints {
		return
	}
	for _, o := range t.reading.Operands {
		if o.Word < 0 || !commands.Known(o.Text) || o.Text == "" || o.Type == commands.Read {
			continue
		}
		t.r.path(pathEffect{kind: effect.Read, text: globs.Replace(strings.TrimLeft(o.Text, "/")), span: t.ws[o.Word].span, cmd: t.cmd, cwd: t.cwd, at: true, priv: t.ctx.privileged}, t.w)
	}
}
