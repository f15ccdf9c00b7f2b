package floor

import "assent/floor/effect"

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
	for i := range v.members { // changes: {"a.go": {"type": "add"}}
		m := &v.members[i]
		if m.value.kind == '{' && !pathNames[argumentName(m.name)] && !patchNames[argumentName(m.name)] {
			r.path(arg, m.name, about{}, effect.Read, effect.Write, effect.Delete)
			r.operations(arg, &m.value)
		}
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
