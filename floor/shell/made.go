package shell

import (
	"path"
	"slices"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
)

// Names that a program puts together: of a name it is given or makes up, and
// of what an option or a variable puts before or behind it. The whole name
// decides what is written (.mcp.jso and n), so the parts are never told alone.

// suffixed tells what is written under the names that end in a suffix: backup
// copies, pieces, temporary files, patches.
func (t *typed) suffixed(suffix string, span effect.Span, option string) {
	if suffix == "" {
		return
	}
	stems, ending := t.stems(), ""
	switch {
	case strings.HasSuffix(t.cmd.Program, "csplit"):
		suffix = counted(suffix)
	case t.cmd.Program == "git" && strings.Join(t.cmd.Sub, " ") == "bugreport":
		suffix, ending = counted(suffix), ".txt"
	case t.cmd.Program == "git" && strings.Join(t.cmd.Sub, " ") == "diagnose":
		suffix, ending = counted(suffix), ".zip"
	case strings.HasPrefix(t.cmd.Program, "sphinx-") || strings.HasPrefix(t.cmd.Program, "python:sphinx"):
		suffix = "." + suffix
	}
	if strings.Contains(suffix, "/") || !commands.Known(strings.ReplaceAll(suffix, commands.Star, "")) {
		t.path(effect.Write, strings.ReplaceAll(suffix, "*", "x"), span, option, false, false)
		t.opaque("a part of a name that leads elsewhere", span, option, false)
	}
	for _, stem := range stems {
		name := stem + suffix
		if strings.Contains(suffix, "*") && !strings.Contains(suffix, commands.Star) { // sed: the name of the file
			i := strings.LastIndexByte(stem, '/') + 1
			name = stem[:i] + strings.ReplaceAll(suffix, "*", stem[i:])
		}
		t.path(effect.Write, name+ending, span, option, false, false)
	}
}

// counted is the format of a name with what tells the names apart left open.
func counted(format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		for i++; i < len(format) && strings.IndexByte("0123456789#'-+. ", format[i]) >= 0; i++ {
		}
		b.WriteString(commands.Star)
	}
	return b.String()
}

// stems are the names to which the suffix is put.
func (t *typed) stems() []string {
	in := func(dir, name string) string {
		if dir == "" {
			return name
		}
		return strings.TrimRight(dir, "/") + "/" + name
	}
	dir := t.option("--output-directory", "--output-dir")
	switch name, sub := t.cmd.Program, strings.Join(t.cmd.Sub, " "); {
	case strings.HasSuffix(name, "csplit"):
		if prefix := t.option("--prefix"); prefix != "" {
			return []string{prefix}
		}
		return []string{"xx"}
	case name == "git" && sub == "format-patch":
		return []string{in(dir, "0001-subject")}
	case name == "git" && sub == "bugreport":
		return []string{in(dir, "git-bugreport-")}
	case name == "git" && sub == "diagnose":
		return []string{in(dir, "git-diagnostics-")}
	case strings.HasSuffix(name, "mktemp"):
		if len(t.reading.Operands) > 0 {
			return t.written()
		}
		if dir := t.option("-p", "--tmpdir"); dir != "" {
			return []string{in(dir, "tmp.XXXXXXXXXX")}
		}
		return nil // beside the other temporary files
	case strings.HasPrefix(name, "sphinx-") || strings.HasPrefix(name, "python:sphinx"):
		return []string{in(dir, "modules")}
	}
	return t.written()
}

// option is the last value of one of the options, by its canonical name.
func (t *typed) option(names ...string) string {
	value := ""
	for i := range t.reading.Options {
		u := &t.reading.Options[i]
		for _, n := range names {
			if u.Name == n && u.Valued {
				value = u.Value
			}
		}
	}
	return value
}

// written are the names under which the program writes what its operands name;
// what goes into a folder as what it is called there, too.
func (t *typed) written() []string {
	var out, dests, sources []string
	for _, o := range t.reading.Operands {
		switch o.Type {
		case commands.Edit:
			out = append(out, o.Text)
		case commands.Write, commands.RemoteWrite:
			dests = append(dests, o.Text)
		case commands.Read, commands.ReadTree, commands.Move, commands.RemoteRead:
			if o.Word >= 0 {
				sources = append(sources, o.Text)
			}
		}
	}
	if dir := t.option("--target-directory"); dir != "" {
		dests = append(dests, dir)
	}
	for _, f := range t.reading.Effects {
		if f.Kind == effect.Write && (t.cmd.Program == "ln" || t.cmd.Program == "gln") {
			dests = append(dests, f.Target)
		}
	}
	for _, d := range dests {
		out = append(out, d)
		if strings.Contains(d, commands.Temp) || !commands.Known(d) {
			continue
		}
		for _, s := range sources {
			name := base(s)
			if name == "" || name == "." || name == ".." || strings.HasSuffix(s, "/") || t.copiesTrees() || t.cmd.Program == "rsync" && t.has("--recursive", "--archive") {
				name = commands.Star // and what is in it
			}
			out = append(out, strings.TrimRight(d, "/")+"/"+name)
		}
	}
	return out
}

// backups are programs that keep what they overwrite under a name that a
// variable may end.
var backups = map[string]bool{"cp": true, "mv": true, "ln": true, "install": true, "patch": true, "gcp": true, "gmv": true, "gln": true, "ginstall": true, "gpatch": true,
	"tar": true, "gtar": true, "indent": true, "gindent": true}

// keepsBackups tells the copies that a program makes of what it overwrites when
// no option says how they are called.
func (t *typed) keepsBackups() {
	patches := strings.HasSuffix(t.cmd.Program, "patch") || strings.HasSuffix(t.cmd.Program, "indent")
	if !backups[t.cmd.Program] || t.has("--suffix") || !patches && !t.has("--backup", "-b") {
		return
	}
	for i := range t.reading.Options {
		if u := &t.reading.Options[i]; u.Name == "--backup" && (u.Value == "none" || u.Value == "off") {
			return
		}
	}
	span := spanOf(t.ws)
	if v, known := t.r.lookup("SIMPLE_BACKUP_SUFFIX", t.w); known && !v.unset && v.text != "" {
		t.suffixed(v.text, span, "SIMPLE_BACKUP_SUFFIX")
	}
}

// prefixed tells what is written under the names of files that an option puts
// something before (patch -B, -Y): the whole path, or its last part.
func (t *typed) prefixed(prefix string, span effect.Span, option string) {
	names := t.written()
	if len(names) == 0 {
		names = []string{commands.Star} // the patch names it
	}
	for _, n := range names {
		name := prefix + n
		if option == "--basename-prefix" {
			name = path.Join(path.Dir(n), prefix+base(n))
		}
		t.path(effect.Write, name, span, option, false, false)
	}
}

// unpacked tells the files of an archive that the words name, where they go.
func (t *typed) unpacked() {
	if !slices.ContainsFunc(t.reading.Effects, func(f commands.Fixed) bool { return f.Target == "the archive names its files" }) {
		return
	}
	dir := t.option("-d", "-o", "--one-top-level", "-output-directory")
	flat := t.has("-j", "--strip-components", "--strip-path") || slices.Equal(t.reading.Sub, []string{"e"})
	end := t.cwd
	for _, o := range t.reading.Operands {
		name := strings.TrimLeft(o.Text, "/")
		if o.Type != commands.Text || o.Word < 0 || name == "" || !commands.Known(name) || strings.HasPrefix(name, "-") {
			continue
		}
		if t.entry.Style == commands.Tar {
			t.cwd = t.before(o.Word)
		}
		names := []string{name}
		if flat {
			names = append(names, base(name))
		}
		for _, n := range names {
			if dir != "" {
				n = strings.TrimRight(dir, "/") + "/" + n
			}
			t.path(effect.Write, globs.Replace(n), t.ws[o.Word].span, "", false, false)
		}
		t.cwd = end
	}
}

// cloned tells what a folder is called that is named after where it comes from.
func (t *typed) cloned() {
	switch sub := strings.Join(t.reading.Sub, " "); t.cmd.Program + " " + sub {
	case "sftp ":
		t.copied()
		return
	case "git clone", "hg clone", "chg clone", "gh repo clone", "gh gist clone", "glab repo clone", "jj git clone", "git submodule add", "bzr branch", "brz branch":
	default:
		return
	}
	var from []string
	for _, o := range t.reading.Operands {
		if o.Word >= 0 {
			from = append(from, o.Text)
		}
	}
	if len(from) != 1 {
		return
	}
	name := strings.TrimSuffix(strings.TrimRight(from[0], "/"), "/.git")
	name = strings.TrimSuffix(name[strings.LastIndexAny(name, "/:")+1:], ".git")
	if name == "" || name == "." || name == ".." {
		return
	}
	t.path(effect.Write, name, spanOf(t.ws), "", false, false)
}

// copied tells the file that sftp HOST:FILE fetches.
func (t *typed) copied() {
	from, to := "", "."
	for _, o := range t.reading.Operands {
		switch o.Type {
		case commands.Host:
			from = o.Text
		case commands.Write:
			to = o.Text
		}
	}
	host, file, has := strings.Cut(strings.TrimPrefix(from, "sftp://"), ":")
	if strings.HasPrefix(from, "sftp://") {
		host, file, has = strings.Cut(strings.TrimPrefix(from, "sftp://"), "/")
	}
	if name := base(file); has && host != "" && name != "" {
		t.path(effect.Write, strings.TrimRight(to, "/")+"/"+name, spanOf(t.ws), "", false, false)
	}
}

// tagged tells what exiftool does beside looking: a word that gives a tag a value
// rewrites the files, and may take the value from a file, or give the file
// another name.
func (t *typed) tagged() {
	if t.cmd.Program != "exiftool" {
		return
	}
	for i, x := range t.ws[1:] {
		tag, value, sets := strings.Cut(strings.TrimPrefix(x.text, "-"), "=")
		if j := strings.IndexAny(tag, "<>"); j >= 0 && !sets {
			tag, sets, value = tag[:j], true, ""
		}
		if !strings.HasPrefix(x.text, "-") || !sets || i > 0 && (t.ws[i].text == "-d" || t.ws[i].text == "-p" || t.ws[i].text == "-if") {
			continue
		}
		switch name := strings.ToLower(strings.TrimRight(tag, "+-^#<>")); name {
		case "charset", "ext", "lang", "api", "sep":
			continue
		case "csv", "json", "j":
			t.path(effect.Read, value, x.span, tag, false, false)
		case "filename", "directory", "testname", "hardlink", "symlink":
			t.path(effect.Write, value, x.span, tag, false, false)
			t.opaque("gives files another name", x.span, tag, false)
		}
		if strings.HasSuffix(tag, "<") {
			t.path(effect.Read, value, x.span, tag, false, false)
		}
		t.class = effect.Edit
	}
	if t.class != effect.Edit {
		return
	}
	for _, o := range t.reading.Operands {
		if o.Word >= 0 {
			t.path(effect.Write, o.Text, t.ws[o.Word].span, "", false, false)
			t.path(effect.Write, o.Text+"_original", t.ws[o.Word].span, "", false, false)
		}
	}
}
