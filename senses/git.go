package senses

import (
	"errors"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"

	"assent/floor"
	"assent/internal/place"
)

// maxIncludes bounds how many files a git configuration may include.
const maxIncludes = 20

// repository notes what git would obey in a folder.
func (l *look) repository(folder string) {
	if _, done := l.repositories[folder]; done {
		return
	}
	config, files := gitConfig(folder)
	if l.repositories == nil {
		l.repositories = make(map[string]map[string]string)
	}
	l.repositories[folder] = config
	maps.Copy(l.files, files)
}

// showsConfig are the commands of git that print configuration.
var showsConfig = map[string]bool{"config": true, "remote": true, "var": true, "ls-remote": true, "lfs": true}

// credentials looks for credentials in all configuration that git would show, the
// person's own and the machine's among it. Their values are not kept.
func (l *look) credentials() {
	if !l.configured {
		l.configured = true
		config := maps.Clone(l.start)
		files := []string{"/etc/gitconfig"}
		if l.home != "" {
			files = append(files, path.Join(l.home, ".gitconfig"), path.Join(l.home, ".config/git/config"))
		}
		if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
			files = append(files, path.Join(dir, "git/config"))
		}
		if file := os.Getenv("GIT_CONFIG_GLOBAL"); file != "" {
			files = append(files, file)
		}
		budget := maxIncludes + len(files)
		for _, p := range files {
			readConfig(p, config, &budget)
		}
		l.secrets = l.secrets || floor.GitCredentials(config)
	}
	for _, config := range l.repositories {
		l.secrets = l.secrets || floor.GitCredentials(config)
	}
}

// holdsCredentials notes a git configuration that is read, by itself or with a
// folder, and holds credentials.
func (l *look) holdsCredentials(file string) {
	if path.Base(file) != "config" && path.Base(file) != "config.worktree" {
		return
	}
	if _, done := l.private[file]; done {
		return
	}
	if l.private == nil {
		l.private = make(map[string]bool)
	}
	config := make(map[string]string)
	budget := maxIncludes
	if strings.Contains(file, "/.git/") || exists(path.Join(path.Dir(file), "HEAD")) {
		readConfig(file, config, &budget)
	}
	l.private[file] = floor.GitCredentials(config)
}

// steered notes the repositories without ".git" on the way to a file that is
// written.
func (l *look) steered(file string) {
	for dir := path.Dir(file); dir != "/" && dir != "."; dir = path.Dir(dir) {
		if l.bare[dir] || !exists(path.Join(dir, "HEAD")) || !holds(dir) {
			continue
		}
		if l.bare == nil {
			l.bare = make(map[string]bool)
		}
		l.bare[dir] = true
	}
}

// gitConfig reads the configuration that the repositories at some folders carry
// with them, and the attributes that name their drivers. Git is not run: with
// such a configuration it could run something itself. Keys are lower case but
// for the subsection: "diff.Word.textconv".
func gitConfig(folders ...string) (config, files map[string]string) {
	config, files = make(map[string]string), make(map[string]string)
	seen := make(map[string]bool)
	for _, folder := range folders {
		for _, r := range repositories(real(folder)) { // git looks up from there
			if seen[r.dir] {
				continue
			}
			seen[r.dir] = true
			shared := r.dir
			text, err := small(path.Join(r.dir, "commondir"))
			switch {
			case err == nil:
				shared = resolve(r.dir, strings.TrimSpace(text))
			case unseen(err):
				put(config, "include.path", r.dir)
			}
			own := r.read(shared)
			r.hooks(shared, own)
			for key, value := range own {
				put(config, key, value)
			}
			inner, all := modules(r, shared)
			for _, m := range inner { // git looks into them on its way
				for key, value := range m.read(m.dir) {
					put(config, key, value)
				}
			}
			if !all {
				put(config, "include.path", "of submodules that are not all known")
			}
			for _, p := range []string{path.Join(r.top, ".gitattributes"), path.Join(shared, "info", "attributes")} {
				text, err := small(p)
				switch {
				case err == nil:
					files[p] = text
				case unseen(err):
					put(config, "include.path", p) // drivers that nobody knows
				}
			}
		}
	}
	return config, files
}

// found is a repository: its top folder, and where git keeps its own.
type found struct{ top, dir string }

// read is what the configuration of a repository says, but for what says nothing
// more once it was read.
func (r found) read(shared string) map[string]string {
	config := make(map[string]string)
	budget := maxIncludes
	for _, p := range []string{path.Join(shared, "config"), path.Join(r.dir, "config.worktree")} {
		if info, err := os.Stat(p); unseen(err) || err == nil && (!info.Mode().IsRegular() || info.Size() > maxConfig) {
			config["include.path"] = p // it holds what is not read
		}
		readConfig(p, config, &budget)
	}
	if budget < 0 {
		config["include.path"] = "more than are followed"
	}
	delete(config, "extensions.worktreeconfig")
	if tree := config["core.worktree"]; tree != "" && real(resolve(r.dir, tree)) == real(r.top) {
		delete(config, "core.worktree") // where it is anyway
	}
	return config
}

// real is a path without links, as far as it exists.
func real(p string) string {
	if to, err := filepath.EvalSymlinks(p); err == nil {
		return to
	}
	return path.Clean(p)
}

// hooks notes the hooks that would run: those in the folder that the
// configuration names, which then says nothing more, or in git's own.
func (r found) hooks(shared string, config map[string]string) {
	folder := path.Join(shared, "hooks")
	if named := config["core.hookspath"]; named != "" {
		if strings.ContainsAny(named, "\n~%") {
			return // not known; the setting stays
		}
		folder = resolve(r.top, named)
		delete(config, "core.hookspath")
		config[floor.GitHook] = folder
	}
	entries, err := os.ReadDir(folder)
	if unseen(err) {
		put(config, "include.path", folder) // hooks that nobody knows
	}
	for _, e := range entries {
		if name := e.Name(); !e.IsDir() && !strings.HasSuffix(name, ".sample") && !strings.Contains(name, ".") && name != "_" {
			config[floor.GitHook+name] = path.Join(folder, name)
		}
	}
}

// maxModules bounds how many submodules are looked at.
const maxModules = 200

// modules are the submodules of a repository, and theirs: those it keeps itself,
// and what lies where it says that one is, in .gitmodules or in the index. It is
// not ok when there may be more.
func modules(r found, shared string) (out []found, ok bool) {
	ok = true
	todo := []string{path.Join(shared, "modules")}
	for budget := 10 * maxModules; len(todo) > 0; {
		dir := todo[0]
		todo = todo[1:]
		if exists(path.Join(dir, "HEAD")) {
			if len(out) == maxModules {
				return out, false
			}
			out = append(out, found{moduleTop(dir), dir})
			todo = append(todo, path.Join(dir, "modules"))
			continue
		}
		entries, err := os.ReadDir(dir)
		ok = ok && !unseen(err)
		for _, e := range entries {
			if budget--; budget < 0 {
				return out, false
			}
			if e.IsDir() {
				todo = append(todo, path.Join(dir, e.Name()))
			}
		}
	}
	seen := map[string]bool{real(r.dir): true}
	for _, m := range out {
		seen[real(m.dir)] = true
	}
	for i := -1; i < len(out); i++ {
		in := r
		if i >= 0 {
			in = out[i]
		}
		links, all := gitlinks(in.dir)
		ok = ok && all
		text, err := small(path.Join(in.top, ".gitmodules"))
		ok = ok && !unseen(err)
		for _, s := range parseConfig(text) {
			if strings.HasSuffix(s.key, ".path") {
				links = append(links, s.value)
			}
		}
		for _, link := range links {
			if !filepath.IsLocal(link) {
				continue
			}
			top := path.Join(in.top, link)
			dir, _ := dotGit(top)
			if dir == "" || seen[real(dir)] {
				continue
			}
			if len(out) == maxModules {
				return out, false
			}
			seen[real(dir)] = true
			out = append(out, found{top, dir})
		}
	}
	return out, ok
}

// moduleTop is where a submodule says that its files are.
func moduleTop(dir string) string {
	text, _ := readSmall(path.Join(dir, "config"))
	for _, s := range parseConfig(text) {
		if s.key == "core.worktree" {
			return resolve(dir, s.value)
		}
	}
	return dir
}

// dotGit is the folder that ".git" in a folder is or names, as a file; "" when it
// is neither.
func dotGit(top string) (dir string, named bool) {
	dot := path.Join(top, ".git")
	info, err := os.Stat(dot)
	switch {
	case unseen(err):
		return dot, true // git may see one
	case err != nil:
	case info.IsDir():
		return dot, false
	default:
		text, err := small(dot)
		if unseen(err) {
			return dot, true
		}
		if to, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir:"); ok {
			return resolve(top, strings.TrimSpace(to)), true
		}
	}
	return "", false
}

// repositories finds the repository that git takes for a folder's. What looks
// like one and may not be good enough for git comes before it: then git goes on
// to the folders above.
func repositories(folder string) (out []found) {
	if !path.IsAbs(folder) {
		return nil
	}
	for top := path.Clean(folder); ; top = path.Dir(top) {
		if dir, named := dotGit(top); dir != "" {
			out = append(out, found{top, dir})
			if named || whole(dir) {
				return out
			}
		}
		// A bare repository is its own top.
		if exists(path.Join(top, "HEAD")) && holds(top) {
			out = append(out, found{top, top})
			if whole(top) {
				return out
			}
		}
		if top == "/" {
			return out
		}
	}
}

// holds reports whether a folder has anything of a repository besides HEAD.
func holds(dir string) bool {
	return exists(path.Join(dir, "objects")) || exists(path.Join(dir, "refs")) || exists(path.Join(dir, "commondir"))
}

// whole reports whether git is sure to take a folder for a repository's own.
func whole(dir string) bool {
	head, ok := readSmall(path.Join(dir, "HEAD"))
	if ref, named := strings.CutPrefix(head, "ref:"); !ok || named && !strings.HasPrefix(strings.TrimLeft(ref, " \t"), "refs/") || !named && !hash(head) {
		return false
	}
	return exists(path.Join(dir, "commondir")) || exists(path.Join(dir, "objects")) && exists(path.Join(dir, "refs"))
}

// hash reports whether a text begins as the name of a commit does.
func hash(text string) bool {
	const digits = 40
	return len(text) >= digits && strings.Trim(text[:digits], "0123456789abcdef") == ""
}

func exists(p string) bool {
	_, err := os.Stat(p)
	return err == nil
}

func resolve(base, p string) string {
	if path.IsAbs(p) {
		return path.Clean(p)
	}
	return path.Join(base, p)
}

// readSmall reads a regular file of a sensible size.
func readSmall(p string) (string, bool) {
	text, err := small(p)
	return text, err == nil
}

func small(p string) (string, error) {
	f, _, err := place.Open(p)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig))
	return string(text), err
}

// readConfig adds the settings of one file and of those it includes. Whether
// the condition of an include holds is git's to know; here it always does.
func readConfig(p string, config map[string]string, budget *int) {
	if *budget--; *budget < 0 {
		return
	}
	text, err := small(p)
	if errors.Is(err, place.ErrIrregular) || unseen(err) {
		put(config, "include.path", p) // git may find something else there
	}
	if err != nil {
		return
	}
	for _, s := range parseConfig(text) {
		if s.key != "include.path" && !(strings.HasPrefix(s.key, "includeif.") && strings.HasSuffix(s.key, ".path")) {
			put(config, s.key, s.value)
			continue
		}
		target := s.value
		if rest, ok := strings.CutPrefix(target, "~/"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				put(config, s.key, s.value)
				continue
			}
			target = path.Join(home, rest)
		}
		target = resolve(path.Dir(p), target)
		if strings.HasPrefix(s.value, "~") && !strings.HasPrefix(s.value, "~/") || strings.HasPrefix(s.value, "%") || !kept(path.Dir(p), target) {
			put(config, s.key, s.value) // it may say more by the time it is read
		}
		readConfig(target, config, budget)
	}
}

// kept reports whether a file that a configuration includes lies where nothing
// but git and the person writes: with it, below no work tree.
func kept(dir, target string) bool {
	return strings.HasPrefix(target, dir+"/") && strings.Contains(dir+"/", "/.git/")
}

// put adds a setting to those that were read before: some keys have many values.
func put(config map[string]string, key, value string) {
	if old := config[key]; old != "" && old != value {
		value = old + "\n" + value
	}
	config[key] = value
}

// setting is one line of a git configuration.
type setting struct{ key, value string }

// parseConfig reads the text of a git configuration: sections, subsections in
// quotes or after a dot, values with quotes, escapes, comments and continued
// lines. A name without "=" is a switch that is on.
func parseConfig(text string) (out []setting) {
	section := ""
	text = strings.TrimPrefix(text, "\ufeff")
	for text != "" {
		text = strings.TrimLeft(text, " \t\r\n")
		if text == "" {
			break
		}
		switch c := text[0]; {
		case c == '#' || c == ';':
			_, text, _ = strings.Cut(text, "\n")
		case c == '[':
			section, text = parseSection(text[1:])
		default:
			var s setting
			s, text = parseSetting(text)
			if s.key != "" && section != "" {
				s.key = section + "." + s.key
				out = append(out, s)
			}
		}
	}
	return out
}

// parseSection reads a section's head after its "[".
func parseSection(text string) (name, rest string) {
	i := strings.IndexAny(text, "\"]\n")
	if i < 0 {
		return "", ""
	}
	name = strings.ToLower(strings.TrimSpace(text[:i]))
	if text[i] == '\n' {
		return "", text[i:]
	}
	if text[i] == ']' {
		return name, text[i+1:]
	}
	var sub strings.Builder
	for i++; i < len(text) && text[i] != '"' && text[i] != '\n'; i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		sub.WriteByte(text[i])
	}
	_, rest, ok := strings.Cut(text[min(i, len(text)):], "]")
	if !ok {
		return "", ""
	}
	return name + "." + sub.String(), rest
}

// parseSetting reads one name and its value.
func parseSetting(text string) (s setting, rest string) {
	i := 0
	for i < len(text) && text[i] != '=' && text[i] != '\n' && text[i] != '#' && text[i] != ';' {
		i++
	}
	s.key = strings.ToLower(strings.TrimSpace(text[:i]))
	if i >= len(text) || text[i] != '=' {
		s.value = "true"
		_, rest, _ = strings.Cut(text[i:], "\n")
		return s, rest
	}
	var b strings.Builder
	quoted, kept := false, 0
	for i++; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\n':
			s.value = strings.TrimLeft(b.String()[:kept], " \t")
			return s, text[i+1:]
		case c == '"':
			quoted = !quoted
			kept = b.Len()
			continue
		case c == '\\' && i+1 < len(text):
			i++
			switch text[i] {
			case '\n':
				continue
			case '\r':
				if i+1 < len(text) && text[i+1] == '\n' {
					i++
					continue
				}
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			default:
				c = text[i]
			}
			b.WriteByte(c)
			kept = b.Len()
			continue
		case (c == '#' || c == ';') && !quoted:
			_, rest, _ = strings.Cut(text[i:], "\n")
			s.value = strings.TrimLeft(b.String()[:kept], " \t")
			return s, rest
		}
		b.WriteByte(c)
		if quoted || c != ' ' && c != '\t' && c != '\r' {
			kept = b.Len()
		}
	}
	s.value = strings.TrimLeft(b.String()[:kept], " \t")
	return s, ""
}

// Workspace is the folder that is taken for the workspace when nobody names
// one: the top of the repository that a folder lies in, else the folder.
func Workspace(folder string) string {
	if found := repositories(folder); len(found) > 0 && found[0].top != "/" {
		return found[0].top
	}
	return folder
}
