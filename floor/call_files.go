package floor

import (
	"net/url"
	"strings"

	"assent/floor/effect"
)

// pathNames are the arguments of built-in tools that hold paths.
var pathNames = set("path", "paths", "filepath", "filepaths", "file", "files", "filename", "filenames", "absolutepath", "absolutefilepath", "abspath",
	"relativepath", "targetfile", "targetpath", "notebookpath", "targetnotebook", "dir", "dirpath", "directory", "directories", "directorypath", "folder",
	"folderpath", "relativeworkspacepath", "targetdirectory", "targetdirectories", "searchdirectory", "searchpath", "searchpaths", "basepath", "rootpath",
	"root", "cwd", "uri", "fileuri", "imagepath", "outputpath", "outputfile", "inputpath", "oldpath", "newpath", "sourcepath", "destinationpath", "source",
	"destination", "from", "to", "src", "dst", "dest", "location")

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// maxPath is longer than any path a kernel takes (PATH_MAX is 4096).
const maxPath = 8192

// located is a path found in the arguments.
type located struct{ arg, text string }

// paths gathers every path of the arguments, at any depth: clients wrap them
// as files: [{path: ...}] or edits: [{file_path: ...}].
func (r *reading) paths(args *value, names map[string]bool) (found []located) {
	for i := range args.members {
		m := &args.members[i]
		found = append(found, r.pathsOf(m.name, &m.value, names, names[argumentName(m.name)])...)
	}
	return found
}

func (r *reading) pathsOf(arg string, v *value, names map[string]bool, named bool) (found []located) {
	switch v.kind {
	case '"':
		if named {
			found = append(found, located{arg, v.text})
		}
	case '[':
		for i := range v.list {
			found = append(found, r.pathsOf(arg, &v.list[i], names, named)...)
		}
	case '{':
		found = r.paths(v, names)
	default:
		if named && v.kind != 'n' {
			r.opaque(arg, "the path is no text")
		}
	}
	return found
}

// single warns when two spellings of the same argument name two files: which
// of them the tool takes is its secret. All of them are judged as well.
func (r *reading) single(found []located) {
	for _, f := range found[min(1, len(found)):] {
		if f.arg != found[0].arg && f.text != found[0].text {
			r.opaque(f.arg, "two arguments name two different paths")
			return
		}
	}
}

// about is how an effect touches its path.
type about struct{ meta, tree bool }

// path adds effects of the given kinds for a path, in every reading of it.
func (r *reading) path(arg, text string, how about, kinds ...effect.Kind) {
	var seen []string
	for _, s := range r.spellings(arg, text) {
		e := effect.Effect{Arg: arg, Meta: how.meta, Tree: how.tree}
		if s != "" {
			e.Path = r.place.Prepare(s, r.place.Cwd)
		}
		seen = append(seen, e.Path.Abs)
		e.Target = targetOf(e.Path, text)
		for _, k := range kinds {
			e.Kind = k
			r.add(e)
		}
	}
	r.perhaps(arg, text, seen, how, kinds...)
}

// targetOf is how a path is shown: from the workspace when it lies inside, and
// as written when it is not known.
func targetOf(p effect.Path, written string) string {
	switch {
	case p.Rel != "":
		return p.Rel
	case p.Abs != "":
		return p.Abs
	}
	return written
}

// spellings are the paths that some tool might understand the text as, ready
// for [paths.Place.Prepare]. An empty string among them stands for a path
// that cannot be told.
func (r *reading) spellings(arg, text string) []string {
	switch {
	case text == "":
		r.opaque(arg, "the path is empty")
		return nil
	case strings.IndexByte(text, 0) >= 0:
		r.opaque(arg, "the path holds a NUL byte")
		if first, _, _ := strings.Cut(text, "\x00"); first != "" {
			return []string{"", first} // where a path ends for the system
		}
		return []string{""}
	case len(text) > maxPath || strings.ContainsAny(text, "\n\r"):
		return []string{""}
	}
	if i := strings.Index(text, "://"); i > 0 || strings.HasPrefix(strings.ToLower(text), "file:") {
		out := []string{""}
		if p, ok := filePath(text); ok {
			out = append(out, p)
		}
		return out
	}
	out := []string{text}
	if t := strings.TrimSpace(text); t != text {
		// Some tools trim what they are given.
		if t == "" {
			return []string{""}
		}
		out = append(out, t)
		text = t
	}
	home := text == "~" || text[0] == '~' && strings.IndexByte(text, '/') > 0
	if home || text[0] == '$' {
		// Some tools expand these, for others they are names.
		if x := r.place.Expand(text); x != text {
			out = append(out, x)
		}
	}
	return out
}

// filePath is the path of a "file:" URL.
func filePath(text string) (string, bool) {
	u, err := url.Parse(text)
	if err != nil || !strings.EqualFold(u.Scheme, "file") || u.Host != "" && u.Host != "localhost" {
		return "", false
	}
	if u.Opaque != "" {
		return u.Opaque, true
	}
	return u.Path, u.Path != "" && strings.IndexByte(u.Path, 0) < 0
}

// files adds effects for every path the arguments hold, or says that there is
// none.
func (r *reading) files(args *value, how about, kinds ...effect.Kind) {
	found := r.paths(args, pathNames)
	if len(found) == 0 {
		r.opaque("", "no path is given")
		return
	}
	found = append(found, r.besides(args)...)
	r.single(found)
	for _, f := range found {
		r.path(f.arg, f.text, how, kinds...)
	}
}

// besideNames end the names of arguments with which some tool of a client may work
// on another file, or in another folder.
var besideNames = set("target", "output", "out", "as", "to", "backup", "symlink", "link", "workspace", "workdir", "root", "base", "destination", "dest", "path", "paths", "file", "files", "dir",
	"directory", "folder", "newname", "oldname", "filename")

// besides are paths under names that no table has.
func (r *reading) besides(args *value) (found []located) {
	o := openReading{r: r}
	for i := range args.members {
		m := &args.members[i]
		words := nameWords(m.name)
		name := argumentName(m.name)
		if len(words) == 0 || m.value.kind != '"' || pathNames[name] || !besideNames[words[len(words)-1]] && !besideNames[name] {
			continue
		}
		if t := strings.TrimSpace(m.value.text); pathLike(t) || fileLike(t) || o.odd(nil, t) {
			found = append(found, located{m.name, m.value.text})
		}
	}
	return found
}

func readFile(r *reading, name string, args *value) {
	if name == "read_many_files" || name == "readManyFiles" {
		readMany(r, args)
		return
	}
	r.files(args, about{}, effect.Read)
}

func writeFile(r *reading, name string, args *value) { r.files(args, about{}, effect.Write) }

func editFile(r *reading, name string, args *value) {
	r.files(args, about{}, effect.Read, effect.Write)
}

func deleteFile(r *reading, name string, args *value) {
	r.files(args, about{tree: true}, effect.Delete)
}

var (
	sourceNames = set("source", "sourcepath", "src", "from", "oldpath", "oldname", "path", "filepath", "oldfilepath")
	targetNames = set("destination", "destinationpath", "dest", "dst", "target", "targetpath", "to", "newpath", "newname", "newfilepath")
)

func moveFile(r *reading, name string, args *value) {
	r.transfer(args, effect.Read, effect.Delete)
}

func copyFile(r *reading, name string, args *value) { r.transfer(args, effect.Read) }

// transfer is a move or a copy: what happens to the source is told, the
// destination is written.
func (r *reading) transfer(args *value, source ...effect.Kind) {
	from, to := r.paths(args, sourceNames), r.paths(args, targetNames)
	for _, f := range from {
		r.path(f.arg, f.text, about{tree: true}, source...)
	}
	for _, f := range to {
		r.path(f.arg, f.text, about{tree: true}, effect.Write)
	}
	if len(from) == 0 || len(to) == 0 {
		r.opaque("", "source and destination are not both given")
	}
}

// folders are the folders a listing or a search starts from; without one it
// is the present folder.
func (r *reading) folders(args *value) []located {
	found := r.paths(args, pathNames)
	kept := found[:0]
	for _, f := range found {
		if f.text != "" {
			kept = append(kept, f)
		}
	}
	if len(kept) == 0 {
		return []located{{"", "."}}
	}
	return kept
}

func listFolder(r *reading, name string, args *value) {
	how := about{meta: true, tree: name == "list"}
	for i := range args.members {
		m := &args.members[i]
		if argumentName(m.name) == "recursive" && m.value.kind != 'f' {
			how.tree = true
		}
	}
	for _, f := range r.folders(args) {
		r.path(f.arg, f.text, how, effect.Read)
	}
}

// editor is the family of editors whose "command" says what to do.
func editor(r *reading, name string, args *value) {
	var kinds []effect.Kind
	how := about{}
	seen := false
	for i := range args.members {
		m := &args.members[i]
		if argumentName(m.name) != "command" {
			continue
		}
		seen = true
		switch m.value.text {
		case "view":
			kinds = append(kinds, effect.Read)
		case "create":
			kinds = append(kinds, effect.Write)
		case "str_replace", "insert", "undo_edit", "append", "write", "edit_file", "strReplace":
			kinds = append(kinds, effect.Read, effect.Write)
		case "delete":
			kinds, how.tree = append(kinds, effect.Delete), true
		case "rename":
			moveFile(r, name, args)
			return
		default:
			r.opaque(m.name, "unknown editor command "+shown(m.value.text))
			kinds = append(kinds, effect.Read, effect.Write, effect.Delete)
		}
	}
	if !seen {
		if name == "memory" {
			// Another client's tool of this name keeps notes for later sessions.
			r.run(name, effect.Agent)
			return
		}
		r.opaque("", "no editor command is given")
		kinds = append(kinds, effect.Read, effect.Write, effect.Delete)
	}
	r.files(args, how, kinds...)
}
