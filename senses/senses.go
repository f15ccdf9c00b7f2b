// Package senses finds out what is true of the machine before a call is
// judged: which paths are symlinks, which files have another name that matters
// (twins.go), what the repository's git configuration says, whether the file
// system ignores case. The floor itself does no I/O; what it should know comes
// from here as facts.
//
// Senses only looks: it opens no file but git's own configuration and
// attributes, runs nothing, and follows no path further than its name. What it
// cannot look at it says so of: nothing is known of what is in there.
//
// Start reading at [CompleteFor].
package senses

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"assent/floor"
	"assent/floor/effect"
	"assent/floor/paths"
)

// The limits of what is looked at for one call.
const (
	maxRounds  = 16     // of looking and telling the effects anew
	maxEntries = 20_000 // of folders that a pattern reaches into
	maxTold    = 5_000  // files that some rule speaks of
	maxConfig  = 1 << 20
	maxPath    = 4096 // bytes of a path, for the system
)

// CompleteFor gives a call that the floor will judge the facts that matter for
// it. The call's own facts stay; what is found is added. Finding is done in
// rounds: the effects of the call name paths, looking at them may show links,
// and with those the effects name other paths, until nothing new is found.
//
// The files that the floor's policies speak of are looked for, and the folders
// that were looked through are told. They hold for that floor and no other.
func CompleteFor(f *floor.Floor, call floor.Call) floor.Call {
	l := look{
		links:  clone(call.Facts.Links),
		files:  clone(call.Facts.Files),
		looked: make(map[string]bool),
		listed: make(map[listing]int),
		trees:  make(map[string]depth),
		whole:  make(map[string]int),
		own:    f.Restricts(),
		lets:   f.Permits(),
	}
	maps.Copy(l.whole, call.Facts.Folders)
	if call.Vars == nil {
		call.Vars = Vars()
	}
	if !call.Fold {
		call.Fold = IgnoresCase(call.Workspace)
	}
	config, files := gitConfig(call.Workspace, call.Cwd)
	l.start, l.home, l.workspace, l.secrets = config, call.Home, call.Workspace, call.Facts.GitSecrets
	call.Facts.GitConfig = merged(call.Facts.GitConfig, config)
	maps.Copy(l.files, files)
	l.repositories, l.bare, l.private = maps.Clone(call.Facts.Repositories), maps.Clone(call.Facts.Bare), maps.Clone(call.Facts.Secrets)
	l.hidden, l.apart = maps.Clone(call.Facts.Hidden), !ours(call.Workspace)

	l.path(call.Workspace)
	l.path(call.Cwd)
	l.path(call.Home)
	for _, p := range climbing(call) {
		l.path(p)
	}
	call.Facts.Links = l.links
	l.speaks = f.Speaks(call)
	for range maxRounds {
		call.Facts.Links, call.Facts.Files = clone(l.links), clone(l.files)
		call.Facts.GitSecrets, call.Facts.GitRead = l.secrets, call.Facts.GitRead || l.configured
		call.Facts.Hidden = maps.Clone(l.hidden)
		call.Facts.Repositories, call.Facts.Bare, call.Facts.Secrets = maps.Clone(l.repositories), maps.Clone(l.bare), maps.Clone(l.private)
		known := l.known()
		effects, _ := floor.Effects(call)
		if !l.changes && l.lets && slices.ContainsFunc(effects, changes) {
			l.changes = true // what was looked through is looked at anew
			clear(l.trees)
			clear(l.listed)
		}
		for i := range effects {
			l.effect(&effects[i])
		}
		if l.known() == known {
			call.Facts.Folders = l.folders()
			call.Facts.Changing = l.changes
			return call
		}
	}
	// Paths without end: whatever lies there cannot be told.
	call.Facts.Untrusted = true
	return call
}

// known says how much was found.
func (l *look) known() int {
	n := len(l.links) + len(l.files) + len(l.looked) + len(l.repositories) + len(l.bare) + len(l.private) + len(l.hidden)
	for _, is := range [...]bool{l.secrets, l.configured} {
		if is {
			n++
		}
	}
	return n
}

func clone(m map[string]string) map[string]string {
	if m == nil {
		return make(map[string]string)
	}
	return maps.Clone(m)
}

// merged adds found to told; what the call was given wins.
func merged(told, found map[string]string) map[string]string {
	out := clone(found)
	maps.Copy(out, told)
	if len(out) == 0 {
		return nil
	}
	return out
}

// Vars are the variables of the environment whose values the floor uses.
func Vars() map[string]string {
	vars := make(map[string]string)
	for _, name := range []string{"TMPDIR", "USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"} {
		if v := os.Getenv(name); v != "" {
			vars[name] = v
		}
	}
	return vars
}

// IgnoresCase reports whether the file system takes a folder's name in another
// case for the same folder.
func IgnoresCase(folder string) bool {
	a, err := os.Stat(folder)
	if err != nil {
		return false
	}
	base := strings.Map(func(c rune) rune {
		if unicode.IsUpper(c) {
			return unicode.ToLower(c)
		}
		return unicode.ToUpper(c)
	}, path.Base(folder))
	if base == path.Base(folder) {
		return false
	}
	b, err := os.Stat(path.Join(path.Dir(folder), base))
	return err == nil && os.SameFile(a, b)
}

// look gathers what is found.
type look struct {
	links, files  map[string]string
	looked        map[string]bool
	listed        map[listing]int  // folders that globs choose in, how many levels of them
	trees         map[string]depth // folders of trees, for what
	whole         map[string]int   // see paths.Facts.Folders
	unread        []string         // folders that could not be read
	speaks        func(kind effect.Kind, file string, shipped bool) bool
	own           bool // a person's rules speak of names
	lets          bool // and let files be changed
	changes       bool // so many files may be changed
	repositories  map[string]map[string]string
	bare          map[string]bool
	private       map[string]bool   // configurations that were read, whether they hold credentials
	hidden        map[string]bool   // see paths.Facts.Hidden
	apart         bool              // the workspace is not of whoever looks
	start         map[string]string // the git configuration where the call starts
	home          string
	workspace     string
	twins         []twin // see twin
	sought        bool
	configured    bool // the person's own git configuration was read
	secrets       bool // see paths.Facts.GitSecrets
	entries, told int
	broken        int // names that are taken apart, see torn
}

type listing struct {
	folder string
	kind   effect.Kind
}

// depth says what is noted of a tree, from little to much.
type depth uint8

const (
	links   depth = 1 + iota // the links in it
	visible                  // and the files that a person's rules speak of, without hidden ones
	owned                    // with those too
	all                      // and the files that the shipped rules speak of
)

// effect looks at the paths of one effect.
func (l *look) effect(e *effect.Effect) {
	kind := e.Kind
	if e.Meta {
		kind = effect.Opaque // names alone
	}
	for _, p := range []string{e.Path.Abs, e.Path.Named} {
		switch {
		case p == "":
		case e.Path.Glob:
			l.glob(p, kind)
			if folder, _ := paths.GlobFolder(p); e.Tree && folder != "" {
				l.tree(folder, l.needs(e))
			}
		default:
			l.path(p)
			if e.Tree {
				l.tree(p, l.needs(e))
			}
		}
	}
	if e.Repository && e.Path.Known() && !e.Path.Glob {
		l.repository(e.Path.Abs)
	}
	if e.Kind == effect.Run && e.Command != nil && e.Command.Program == "git" && len(e.Command.Sub) > 0 && showsConfig[e.Command.Sub[0]] {
		l.credentials()
	}
	if e.Kind == effect.Read && !e.Meta && e.Path.Known() && !e.Path.Glob {
		l.holdsCredentials(e.Path.Abs)
	}
	if e.Kind == effect.Write && e.Path.Known() {
		l.steered(e.Path.Abs)
	}
	if e.Kind == effect.Run && e.Command != nil && strings.HasPrefix(e.Command.Program, "/") {
		l.path(path.Clean(e.Command.Program))
	}
}

// choosy are searchers that leave out hidden and ignored files unless an
// option says otherwise.
var choosy = map[string]bool{"rg": true, "ag": true, "ack": true, "git": true, "fd": true}

// changes reports whether an effect changes or deletes files of a tree or glob
// that are there already.
func changes(e effect.Effect) bool {
	return (e.Tree || e.Path.Glob) && (e.Kind == effect.Delete || e.Kind == effect.Write && e.There)
}

// needs is what must be known of a tree that is read or deleted.
func (l *look) needs(e *effect.Effect) depth {
	switch {
	case e.Meta:
	case l.changes && changes(*e):
		return all
	case e.Kind == effect.Read && (readsAll(e.Command) || strings.HasPrefix(path.Base("/"+e.Path.Abs), ".")): // named, a hidden folder is searched
		return all
	case e.Kind == effect.Read && l.own && e.Command != nil && e.Command.Program != "git":
		return visible
	case e.Kind == effect.Read && l.own:
		return owned
	case (e.Kind == effect.Read || e.Kind == effect.Delete) && follows(e.Command):
		return links
	case e.Kind != effect.Read && (e.Below || e.Names != ""), e.Command != nil && slices.Contains(e.Command.Wrappers, "xargs"): // a list of names was read
		return links
	}
	return 0
}

// readsAll reports whether a command that reads a tree reads every file in it.
// The search tools of clients are choosy too.
func readsAll(c *effect.Command) bool {
	if c == nil {
		return false
	}
	if !choosy[path.Base(c.Program)] {
		return true
	}
	for _, o := range []string{"--hidden", "-.", "--no-ignore", "--unrestricted", "-u", "-uu", "-uuu", "--no-ignore-vcs", "--no-index", "--untracked"} {
		if c.Has(o) {
			return true
		}
	}
	return false
}

// follows reports whether a command that works on a tree goes through the
// links in it.
func follows(c *effect.Command) bool {
	return c != nil && slices.ContainsFunc([]string{"-L", "--follow", "--dereference", "-follow", "-f", "-R"}, c.Has)
}

// visit calls visit for what is in a folder, until too many were looked at.
func (l *look) visit(folder string, visit func(p string, e os.DirEntry)) {
	entries, err := os.ReadDir(folder)
	if unseen(err) {
		l.unread = append(l.unread, folder)
		// What is another's is closed to whoever searches, too, where that is not the other.
		if l.apart || ours(folder) {
			l.hide(folder)
		}
	}
	if err != nil {
		return
	}
	for _, e := range entries {
		if l.entries++; l.entries > maxEntries {
			return
		}
		visit(strings.TrimSuffix(folder, "/")+"/"+e.Name(), e)
	}
}

// unseen reports whether an error leaves open what is there.
func unseen(err error) bool {
	return err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
}

// hide notes what could not be looked at.
func (l *look) hide(p string) {
	if l.hidden == nil {
		l.hidden = make(map[string]bool)
	}
	l.hidden[p] = true
}

// ours reports whether a folder belongs to whoever looks, who may then open it to
// itself.
func ours(folder string) bool {
	info, err := os.Lstat(folder)
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

// heavy are folders of much that is not the project's own. They are looked at
// last, when there is still room.
var heavy = map[string]bool{"node_modules": true, "target": true, ".venv": true, "venv": true, "vendor": true, "dist": true, "build": true, "__pycache__": true}

// store are the folders of git in which files are called by hashes and branches.
var store = map[string]bool{"objects": true, "refs": true, "logs": true, "lfs": true}

// tree notes what is needed of what lies below a folder: what is near before what
// is deep, so that the limit is met by what is least worth telling.
func (l *look) tree(folder string, need depth) {
	if need == 0 || l.trees[folder] >= need {
		return
	}
	todo, later := []string{folder}, []string(nil)
	for len(todo)+len(later) > 0 && l.entries <= maxEntries {
		if len(todo) == 0 {
			todo, later = later, nil
		}
		dir := todo[0]
		todo = todo[1:]
		if l.trees[dir] >= need {
			continue // with all that is below
		}
		l.trees[dir] = need
		git := strings.Contains(dir+"/", "/.git/")
		l.visit(dir, func(p string, e os.DirEntry) {
			l.torn(p, folder)
			switch name := e.Name(); {
			case need == visible && name[0] == '.' || git && store[name]:
			case e.IsDir():
				if heavy[name] || name == ".git" {
					later = append(later, p)
				} else {
					todo = append(todo, p)
				}
			case e.Type()&os.ModeSymlink != 0:
				l.link(p)
			case need > links:
				l.file(effect.Read, p, need == all)
				if need == all {
					l.holdsCredentials(p)
				}
			}
		})
	}
	if need > links {
		l.whole[folder] = paths.Whole
	}
}

// torn notes what has a name that is taken apart where lists of names are read.
func (l *look) torn(p, below string) {
	if !strings.ContainsAny(p[len(below):], " \t\n\"'\\") {
		return
	}
	if _, ok := l.files[p]; !ok && l.broken < maxTold {
		l.files[p] = ""
		l.broken++
	}
}

// file notes a file that some rule speaks of: a person's or, when asked for, a
// shipped one.
func (l *look) file(kind effect.Kind, p string, shipped bool) {
	if _, ok := l.files[p]; ok || l.told > maxTold || !l.speaks(kind, p, shipped) && !(l.changes && (l.speaks(effect.Write, p, true) || l.speaks(effect.Delete, p, true))) {
		return
	}
	l.files[p] = ""
	l.told++
}

// folders are those that were looked through.
func (l *look) folders() map[string]int {
	if l.entries > maxEntries || l.told > maxTold {
		return nil // what was seen may not be all
	}
	for _, dir := range l.unread {
		for f := range l.whole {
			if f == dir || strings.HasPrefix(dir, strings.TrimSuffix(f, "/")+"/") {
				delete(l.whole, f)
			}
		}
	}
	return l.whole
}

// path looks at a path and every folder on the way to it.
func (l *look) path(p string) {
	if p == "" || p[0] != '/' || strings.IndexByte(p, 0) >= 0 {
		return
	}
	if len(p) > maxPath {
		l.hide(p)
		return
	}
	for i := 1; i <= len(p); i++ {
		if i < len(p) && p[i] != '/' {
			continue
		}
		prefix := p[:i]
		if prefix == "/" || strings.HasSuffix(prefix, "/") || l.looked[prefix] {
			continue
		}
		l.looked[prefix] = true
		info, err := os.Lstat(prefix)
		if unseen(err) {
			l.hide(prefix)
		}
		if err != nil {
			return // what is below does not exist either
		}
		if info.Mode()&os.ModeSymlink != 0 {
			l.link(prefix)
		} else if i == len(p) {
			l.twin(p, info)
		}
	}
}

// link notes where a symlink leads, and looks there too.
func (l *look) link(p string) {
	if _, ok := l.links[p]; ok || magic(p) {
		return
	}
	target, err := os.Readlink(p)
	if unseen(err) {
		l.links[p] = "" // it leads nobody knows where
	}
	if err != nil {
		return
	}
	if !strings.HasPrefix(target, "/") {
		// Not cleaned: "link/.." is the parent of where the link leads.
		target = strings.TrimSuffix(path.Dir(p), "/") + "/" + target
	}
	l.links[p] = target
	l.path(target)
}

// magic reports whether a link means something else to every process: what
// this one sees there says nothing of the call.
func magic(p string) bool {
	return strings.HasPrefix(p, "/proc/self/") || strings.HasPrefix(p, "/proc/thread-self/") || p == "/proc/self" || p == "/proc/thread-self" ||
		strings.HasPrefix(p, "/dev/fd/") || p == "/dev/fd" || p == "/dev/stdin" || p == "/dev/stdout" || p == "/dev/stderr"
}

// glob looks at the fixed part of a pattern and into the folders it reaches:
// for links it would go through, and for names that a program would take for
// options.
func (l *look) glob(pattern string, kind effect.Kind) {
	var fixed []string
	segments := strings.Split(strings.TrimPrefix(pattern, "/"), "/")
	for len(segments) > 0 && !wild(segments[0]) {
		fixed = append(fixed, unescape(segments[0]))
		segments = segments[1:]
	}
	folder := "/" + strings.Join(fixed, "/")
	l.path(folder)
	if len(segments) > 0 {
		depth := len(segments)
		for _, s := range segments {
			if strings.Contains(s, "**") {
				depth = maxEntries
			}
		}
		l.list(folder, kind, depth)
		levels := depth
		if depth == maxEntries {
			levels = paths.Whole
		}
		l.whole[folder] = max(l.whole[folder], levels)
	}
}

// list looks at the entries of a folder, down to some depth.
func (l *look) list(folder string, kind effect.Kind, levels int) {
	key := listing{folder, kind}
	if levels <= 0 || l.listed[key] >= levels || l.entries > maxEntries {
		return
	}
	l.listed[key] = levels
	l.visit(folder, func(p string, e os.DirEntry) {
		switch {
		case e.Type()&os.ModeSymlink != 0:
			l.link(p)
		case e.IsDir():
			l.list(p, kind, levels-1)
		case kind != effect.Opaque:
			l.file(kind, p, true)
			if kind == effect.Read {
				l.holdsCredentials(p)
			}
		}
		if strings.HasPrefix(e.Name(), "-") {
			l.files[p] = ""
		}
		l.torn(p, folder)
	})
}

// wild reports whether a segment of glob text is a pattern; a backslash makes
// the next character plain.
func wild(segment string) bool {
	for i := 0; i < len(segment); i++ {
		switch segment[i] {
		case '\\':
			i++
		case '*', '?', '[', '{':
			return true
		}
	}
	return false
}

func unescape(segment string) string {
	if !strings.Contains(segment, `\`) {
		return segment
	}
	var b strings.Builder
	for i := 0; i < len(segment); i++ {
		if segment[i] == '\\' && i+1 < len(segment) {
			i++
		}
		b.WriteByte(segment[i])
	}
	return b.String()
}

// climbing finds the words of a call in which ".." follows a name: by the time
// they are effects the name before ".." is gone, and it may be a link. The
// words are cut out roughly; looking once too often does no harm.
func climbing(call floor.Call) []string {
	if len(call.Arguments) > maxConfig {
		return nil
	}
	var out []string
	text := string(call.Arguments)
	if !strings.Contains(text, "/..") {
		return nil
	}
	place := call.Place()
	words := strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune("\"'`;|&<>()=,:{}\\", c) })
	for _, w := range words {
		if !strings.Contains(w, "/..") {
			continue
		}
		w = place.Expand(w)
		if !strings.HasPrefix(w, "/") {
			w = place.Cwd + "/" + w
		}
		// Every name that is followed by "..", as written.
		for i := 0; ; {
			j := strings.Index(w[i:], "/..")
			if j < 0 {
				break
			}
			i += j
			if p := w[:i]; !strings.Contains(p, "..") {
				out = append(out, p)
			}
			i += len("/..")
		}
	}
	return out
}
