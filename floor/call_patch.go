package floor

import (
	"strings"

	"assent/floor/effect"
)

var patchNames = set("input", "patch", "patchtext", "command", "diff", "text", "content")

// patch is apply_patch: the files stand in the patch text.
func (r *reading) patch(name string, args *value) {
	seen := false
	for i := range args.members {
		m := &args.members[i]
		switch n := argumentName(m.name); {
		case n == "operation" || n == "operations" || n == "changes":
			seen = true
			r.operations(m.name, &m.value)
		case patchNames[n] && !m.value.empty():
			texts, ok := m.value.strings()
			if !ok {
				r.opaque(m.name, "the patch is no text")
				continue
			}
			seen = true
			if m.value.kind == '[' && len(texts) == 2 && texts[0] == "apply_patch" {
				texts = texts[1:]
			}
			for _, t := range texts {
				r.patchText(m.name, t)
			}
		}
	}
	for _, f := range r.paths(args, pathNames) {
		if seen && argumentName(f.arg) == "cwd" {
			continue
		}
		r.path(f.arg, f.text, about{}, effect.Read, effect.Write)
		seen = true
	}
	if !seen {
		r.opaque("", "no patch is given")
	}
}

// operations reads patches that name their kind and path as members.
func (r *reading) operations(arg string, v *value) {
	for i := range v.list {
		r.operations(arg, &v.list[i])
	}
	if v.kind != '{' {
		return
	}
	kinds := []effect.Kind{effect.Read, effect.Write}
	for i := range v.members {
		m := &v.members[i]
		if n := argumentName(m.name); n == "type" || n == "kind" {
			switch m.value.text {
			case "create_file", "add":
			case "delete_file", "delete":
				kinds = append(kinds, effect.Delete)
			case "update_file", "update":
			default:
				r.opaque(arg, "unknown kind of patch "+shown(m.value.text))
				kinds = append(kinds, effect.Delete)
			}
		}
	}
	// Its paths are found with those of the whole call; here only what a
	// deletion adds.
	for _, f := range r.paths(v, pathNames) {
		for _, k := range kinds[2:] {
			r.path(f.arg, f.text, about{}, k)
		}
	}
}

// patchText reads the headers of a patch. The readers of such text are
// lenient about blanks, so a header counts wherever a line could be one.
func (r *reading) patchText(arg, text string) {
	found := false
	last := "" // the file a "Move to" moves
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		bare := strings.TrimSpace(line)
		if path, ok := cutHeader(bare, "*** Add File:"); ok {
			r.path(arg, path, about{}, effect.Write)
			found, last = true, ""
		} else if path, ok := cutHeader(bare, "*** Update File:"); ok {
			r.path(arg, path, about{}, effect.Read, effect.Write)
			found, last = true, path
		} else if path, ok := cutHeader(bare, "*** Delete File:"); ok {
			r.path(arg, path, about{}, effect.Delete)
			found, last = true, ""
		} else if path, ok := cutHeader(bare, "*** Move to:"); ok {
			r.path(arg, path, about{}, effect.Write)
			if last != "" {
				r.path(arg, last, about{}, effect.Delete)
			} else {
				r.opaque(arg, "the patch moves an unnamed file")
			}
			found = true
		}
	}
	if !found {
		found = r.unifiedDiff(arg, text)
	}
	if !found {
		r.opaque(arg, "the patch names no file")
	}
}

// cutHeader is the path after a patch header.
func cutHeader(line, header string) (string, bool) {
	path, ok := strings.CutPrefix(line, header)
	return strings.TrimSpace(path), ok
}

// unifiedDiff reads the headers of a unified diff. Whether the leading a/ and
// b/ are stripped is up to the tool, so both readings count.
func (r *reading) unifiedDiff(arg, text string) (found bool) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for _, header := range []string{"--- ", "+++ ", "rename from ", "rename to ", "copy to "} {
			path, ok := strings.CutPrefix(line, header)
			if !ok {
				continue
			}
			path, _, _ = strings.Cut(path, "\t")
			if path == "/dev/null" {
				continue
			}
			found = true
			r.path(arg, path, about{}, effect.Read, effect.Write)
			if rest, ok := strings.CutPrefix(path, "a/"); ok && rest != "" {
				r.path(arg, rest, about{}, effect.Read, effect.Write)
			} else if rest, ok := strings.CutPrefix(path, "b/"); ok && rest != "" {
				r.path(arg, rest, about{}, effect.Read, effect.Write)
			}
		}
	}
	return found
}
