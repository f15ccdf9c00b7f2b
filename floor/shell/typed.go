package shell

import (
	"slices"
	"strconv"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
)

// typed turns the reading of one command line into effects.
type typed struct {
	r       *reader
	cmd     *effect.Command
	ws      []word
	w       *world
	cwd     string // where the program reads its paths from
	ctx     context
	reading commands.Reading
	entry   *commands.Entry
	class   effect.Class    // when what follows tells more than the data
	code    bool            // code was given: as text, a file or a library
	shell   bool            // shell text was given and followed
	split   bool            // the inner command was told with a split text
	choice  *choice         // what is said of the names of files, once it is read
	mark    *string         // see marks
	there   bool            // see effect.There
	told    *effect.Command // the command as it was told, by this course or by one before
}

func (t *typed) all() {
	r, rd := t.r, &t.reading
	for i := range rd.Options {
		u := &rd.Options[i]
		if u.Option != nil && u.Option.Type == commands.Chdir && u.Valued {
			t.chdir(u.Value)
		}
	}
	for _, o := range rd.Operands {
		if o.Type == commands.Chdir {
			t.chdir(o.Text)
		}
	}
	tar := t.entry.Style == commands.Tar
	end := t.cwd
	for i := range rd.Options {
		u := &rd.Options[i]
		if u.Option == nil {
			t.undescribed(u)
			continue
		}
		if !u.Valued && u.Option.Type != commands.Suffix {
			continue
		}
		if tar {
			t.cwd = t.w.cwd
		}
		t.value(u.Option.Type, u.Value, t.ws[u.At].span, u.Name, t.ws[u.At])
	}
	var text []string // the words of a command line that stands in several operands
	for _, o := range rd.Operands {
		if o.Type == commands.Shell && o.Word >= 0 {
			text = append(text, o.Text)
		}
	}
	empty := false
	for _, o := range rd.Operands {
		span := t.ws[0].span
		src := word{}
		if o.Type == commands.Shell && len(text) > 1 {
			continue
		}
		if o.Word >= 0 {
			src = t.ws[o.Word]
			span = src.span
		}
		if tar {
			t.cwd = t.before(o.Word)
		}
		t.value(o.Type, o.Text, span, "", src)
		if empty && o.Type != commands.Sed { // sed -i '' PROGRAM: the suffix of BSD's -i
			t.sed(o.Text, span, "")
		}
		empty = o.Type == commands.Sed && o.Text == ""
	}
	t.cwd = end
	if len(text) > 1 {
		t.shellText(strings.Join(text, " "), spanOf(t.ws), "", word{})
	}
	for _, f := range rd.Effects {
		t.fixed(f)
	}
	t.argFiles()
	t.handed()
	for _, is := range rd.Issues {
		if t.r.lang == zsh && strings.ContainsAny(t.ws[min(is.Word, len(t.ws)-1)].text, " \t\n") {
			continue // options that bash splits, which stay one word
		}
		t.opaque(is.Why, t.ws[min(is.Word, len(t.ws)-1)].span, "", is.Coverable)
	}
	for _, in := range rd.Inner {
		if t.split && in.Option == "" && in.Module == "" {
			continue
		}
		t.inner(in)
	}
	if t.cmd.Program == "ln" || t.cmd.Program == "gln" || t.cmd.Program == "link" {
		t.link()
	}
	t.keepsBackups()
	t.unpacked()
	t.cloned()
	t.tagged()
	t.outcome()
	if shells[t.cmd.Program] {
		t.shellStdin()
	}
	asks := rd.Entry != nil && needsGit(rd.Entry, t.entry)
	if asks {
		t.git()
	}
	t.index()
	if t.cmd.Program == "podman" && t.has("--remote") {
		t.r.net(commands.Unknown, t.ws[0].span, t.cmd, "--remote") // whichever machine is set up as the one to ask
	}
	t.passedOn()
	t.found()
	if t.cmd.Program == "git" {
		t.credentials()
	}
	t.asked()
	if asks || t.cmd.Program == "git" {
		t.repository()
	}
	t.brings()
	t.obeys()
	if rd.Class == effect.Build {
		// A build reads, and runs, the tree it is started in.
		if p := r.place.Prepare(".", t.cwd); !p.Inside() {
			t.path(effect.Read, ".", t.ws[0].span, "", false, true)
		}
	}
}

// index tells the place where a package manager looks for what no word of the
// command names with an address.
func (t *typed) index() {
	if t.entry.Index == "" || t.has("--offline", "--no-index") {
		return
	}
	switch t.reading.Class {
	case effect.Fetch, effect.Install, effect.Send:
		t.r.net(t.entry.Index, t.ws[0].span, t.cmd, "")
	}
}

// argFiles tells the files whose words are further words of the command line.
func (t *typed) argFiles() {
	if !t.entry.ArgFiles {
		return
	}
	for _, i := range t.reading.Loose {
		if name, is := strings.CutPrefix(t.ws[i].text, "@"); is && name != "" {
			t.path(effect.Read, name, t.ws[i].span, "", false, false)
			t.opaque("options in a file", t.ws[i].span, "", true)
		}
	}
}

// handed tells the paths among the words that a build hands to a script or a
// runner which nobody described: they may be what is read, or run.
func (t *typed) handed() {
	if t.reading.Class != effect.Build {
		return
	}
	var ws []word
	for _, o := range t.reading.Operands {
		if o.Type == commands.Text && o.Word >= 0 && !strings.HasPrefix(o.Text, "//") { // a label of Bazel
			ws = append(ws, t.ws[o.Word])
		}
	}
	t.r.maybePaths(ws, t.cmd, t.w)
}

// passedOn tells options that a test binary gets behind the tool that builds
// it: they write where they say.
func (t *typed) passedOn() {
	if t.cmd.Program != "go" && t.cmd.Program != "cargo" {
		return
	}
	for i, x := range t.ws {
		name, value, joined := strings.Cut(strings.TrimLeft(x.text, "-"), "=")
		if !strings.HasPrefix(x.text, "-") || !strings.HasPrefix(name, "test.") && name != "logfile" {
			continue
		}
		if !joined && i+1 < len(t.ws) {
			value = t.ws[i+1].text
		}
		if name == "logfile" || strings.HasSuffix(name, "profile") || strings.HasSuffix(name, "trace") || strings.HasSuffix(name, "dir") {
			t.path(effect.Write, value, x.span, name, false, false)
		}
	}
}

// found tells what a search reads by the names it looks for: a filter that
// names a secret finds it.
func (t *typed) found() {
	name, options := t.cmd.Program, []string{"--include", "--glob", "--iglob"}
	switch name {
	case "find", "gfind", "bfs", "fd", "fdfind":
		if len(t.reading.Inner) == 0 && t.r.sink == nil {
			return
		}
		options = []string{"-name", "-iname", "--extension"}
	case "grep", "egrep", "fgrep", "rg", "rgrep", "ggrep", "gegrep", "gfgrep", "zgrep", "pcregrep", "pcre2grep", "ugrep", "ug", "ag", "ack", "ack-grep":
	case "git":
		if t.reading.Class != effect.Look || slices.Equal(t.reading.Sub, []string{"ls-files"}) && t.r.sink == nil {
			return
		}
		t.singled([]string{"."})
		return
	default:
		t.members()
		return
	}
	var under []string
	for _, o := range t.reading.Operands {
		if o.Type != commands.Text && commands.Known(o.Text) {
			under = append(under, strings.TrimSuffix(o.Text, "/"))
		}
	}
	if len(under) == 0 {
		under = []string{"."}
	}
	t.singled(under)
	for i := range t.reading.Options {
		u := &t.reading.Options[i]
		if !slices.Contains(options, u.Name) || !commands.Known(u.Value) || strings.HasPrefix(u.Value, "!") || u.Value == "" {
			continue
		}
		value := strings.TrimPrefix(u.Value, "**/")
		if u.Name == "--extension" {
			value = "*." + strings.TrimPrefix(value, ".")
		}
		for _, o := range under {
			t.r.path(pathEffect{kind: effect.Read, text: o + "/" + globs.Replace(value), span: t.ws[u.At].span, cmd: t.cmd, option: u.Name, cwd: t.cwd, at: true,
				maybe: t.cmd.Class == effect.Look && strings.HasPrefix(name, "f") && name != "fgrep" && len(t.reading.Inner) == 0, priv: t.ctx.privileged}, t.w)
		}
	}
}

// globs marks the wildcards of a pattern that a program reads.
var globs = strings.NewReplacer("*", commands.Star, "?", commands.One)

func needsGit(e, top *commands.Entry) bool { return e.NeedsGit || top.NeedsGit && e == top }

func (t *typed) chdir(to string) {
	if !commands.Known(to) || t.cwd == "" && !strings.HasPrefix(to, "/") {
		t.cwd = ""
		return
	}
	t.cwd = t.r.folder(to, t.cwd)
}

// before is the folder that the options in front of a word change into: tar
// reads its archive where it starts and each operand where it stands.
func (t *typed) before(word int) string {
	end := t.cwd
	defer func() { t.cwd = end }()
	t.cwd = t.w.cwd
	for i := range t.reading.Options {
		u := &t.reading.Options[i]
		if u.Option != nil && u.Option.Type == commands.Chdir && u.Valued && u.Word < word {
			t.chdir(u.Value)
		}
	}
	return t.cwd
}

func (t *typed) fixed(f commands.Fixed) {
	span := spanOf(t.ws)
	switch f.Kind {
	case effect.Read, effect.Write, effect.Delete:
		text := f.Target
		if strings.HasPrefix(text, "~") {
			text = t.r.place.Expand(text)
		}
		if f.Kind == effect.Write && text == "." {
			if names := t.downloads(); len(names) > 0 {
				for _, n := range names {
					t.path(effect.Write, n, span, "", false, false)
				}
				return
			}
		}
		t.path(f.Kind, text, span, "", false, false)
		if f.Kind == effect.Write {
			t.into(text, span)
		}
	case effect.Opaque:
		t.opaque(f.Target, span, f.Option, true)
	default:
		t.r.add(effect.Effect{Kind: f.Kind, Target: f.Target, Span: span, Command: t.cmd})
	}
}

// link tells the reader of a link that the text makes: what is done through it
// later is also told where it leads.
func (t *typed) link() {
	symbolic := t.has("--symbolic")
	var sources []string
	dest := "."
	for _, o := range t.reading.Operands {
		if o.Type == commands.Write {
			dest = o.Text
		} else if o.Word >= 0 {
			sources = append(sources, o.Text)
		}
	}
	for i := range t.reading.Options {
		if t.reading.Options[i].Name == "--target-directory" {
			dest = t.reading.Options[i].Value
		}
	}
	to := t.r.folder(dest, t.cwd)
	for _, s := range sources {
		inside := t.r.folder(strings.TrimRight(dest, "/")+"/"+base(s), t.cwd)
		for _, at := range []string{to, inside} {
			if at == to && to != "" && (to == t.cwd || t.r.exists(to)) {
				continue // a folder stays one: the link goes into it
			}
			from := t.cwd
			if symbolic && at != "" {
				from = at[:strings.LastIndexByte(at, '/')+1]
			}
			target := t.r.folder(s, strings.TrimSuffix(from, "/"))
			if from == "/" {
				target = t.r.folder("/"+s, "/")
			}
			if at == "" || target == "" {
				t.r.mixed = true
				t.opaque("a link that cannot be told", t.ws[0].span, "", true)
				continue
			}
			t.r.linked(at, target)
		}
	}
}

// copiesTrees reports whether a copy takes folders with all that is in them.
func (t *typed) copiesTrees() bool {
	return (t.cmd.Program == "cp" || t.cmd.Program == "gcp") && t.has("--recursive", "--archive", "-R")
}

// changesTrees reports whether a change of attributes is one of all that is in
// a folder.
func (t *typed) changesTrees() bool {
	switch t.cmd.Program {
	case "chmod", "gchmod", "chown", "gchown", "chgrp", "gchgrp", "setfacl", "chattr", "chcon":
		return t.has("--recursive", "-R")
	}
	return false
}

// undescribed follows an option that nothing is known of: a rule for the program
// may cover that, so a path or an address in its value, or in the word behind
// it, is told as what it may be.
func (t *typed) undescribed(u *commands.Use) {
	if t.reading.Entry == nil || t.reading.Class == effect.Remote { // words for another machine
		return
	}
	end := u.Word + 1
	if !u.Valued && end < len(t.ws) {
		end++
	}
	if t.reading.Entry.Lenient {
		t.keptIn(u, t.ws[u.Word:end])
		return
	}
	t.r.maybePaths(t.ws[u.Word:end], t.cmd, t.w)
}

// has reports whether one of the options is present, by its canonical name.
func (t *typed) has(names ...string) bool {
	return slices.ContainsFunc(t.reading.Options, func(u commands.Use) bool { return slices.Contains(names, u.Name) })
}

// base is the last part of a path as it is written.
func base(p string) string {
	p = strings.TrimRight(p, "/")
	return p[strings.LastIndexByte(p, '/')+1:]
}

// into tells what a copy is called that goes into a folder: the name of its
// source decides whether it is configuration.
func (t *typed) into(dest string, span effect.Span) {
	switch t.cmd.Program {
	case "cp", "mv", "ln", "install", "gcp", "gmv":
	default:
		return
	}
	var sources []string
	for _, o := range t.reading.Operands {
		if o.Word >= 0 && (o.Type == commands.Read || o.Type == commands.ReadTree || o.Type == commands.Move || o.Type == commands.Text) {
			sources = append(sources, o.Text)
		}
	}
	folder := dest == "." || dest == ".." || strings.HasSuffix(dest, "/") || strings.HasSuffix(dest, "/.") || strings.HasSuffix(dest, "/..") || len(sources) > 1 ||
		t.r.place.Facts.Dirs[t.r.folder(dest, t.cwd)] || t.has("--target-directory")
	for _, s := range sources {
		name := base(s)
		if t.has("--parents") { // with the folders it lies in
			name = strings.TrimLeft(s, "/")
		}
		if strings.Contains(name, found) || name == "." || name == ".." || name == "" {
			continue
		}
		t.r.path(pathEffect{kind: effect.Write, text: strings.TrimRight(dest, "/") + "/" + name, span: span, cmd: t.cmd, cwd: t.cwd, at: true,
			maybe: !folder, tree: t.copiesTrees(), priv: t.ctx.privileged}, t.w)
	}
}

func (t *typed) path(kind effect.Kind, text string, span effect.Span, option string, meta, tree bool) {
	names := ""
	if tree && !meta && kind == effect.Read && option == "" {
		names = strings.Join(t.chosen().names, "|")
	}
	t.r.path(pathEffect{kind: kind, text: text, span: span, cmd: t.cmd, option: option, cwd: t.cwd, at: true, meta: meta, tree: tree, names: names, there: t.there,
		priv: t.ctx.privileged || t.reading.Class == effect.Privilege}, t.w)
}

// entryRead is the entry of the subcommand that was understood, or of the program.
func (t *typed) entryRead() *commands.Entry {
	if t.reading.Entry != nil {
		return t.reading.Entry
	}
	return t.entry
}

func (t *typed) opaque(why string, span effect.Span, option string, coverable bool) {
	t.r.add(effect.Effect{Target: why, Span: span, Command: t.cmd, Option: option, Coverable: coverable, Privileged: t.ctx.privileged})
}

// changers are programs that change the files they are given and make none: of a
// name that is not there they say so.
var changers = set(`sed gsed perl chmod gchmod chown gchown chgrp gchgrp chattr chflags chcon restorecon setfacl setfattr xattr strip dos2unix unix2dos
	gofmt goimports gofumpt rustfmt prettier eslint biome black ruff isort autopep8 yapf shfmt clang-format terraform tofu stylua rubocop standardrb standard`)

// value tells the effect of one option value or operand.
func (t *typed) value(typ commands.Type, text string, span effect.Span, option string, src word) {
	r := t.r
	std := text == "-"
	switch typ {
	case commands.Flag, commands.Text, commands.Argv, commands.ArgvStdin, commands.Module, commands.Bad:
	case commands.Chdir:
		r.path(pathEffect{kind: effect.Read, text: text, span: span, cmd: t.cmd, option: option, cwd: t.w.cwd, at: true, meta: true}, t.w)
	case commands.Read, commands.ReadTree, commands.Meta, commands.MetaTree:
		if t.cmd.Program == "curl" {
			text = t.curlFile(text, span, option)
		}
		if !std {
			t.path(effect.Read, text, span, option, typ == commands.Meta || typ == commands.MetaTree, typ == commands.ReadTree || typ == commands.MetaTree)
		}
	case commands.Files:
		t.path(effect.Read, text, span, option, false, false)
		t.opaque("reads the files that a list names", span, option, true)
	case commands.Write:
		if strings.HasPrefix(text, "|") || strings.HasPrefix(text, "!") {
			t.opaque("a name that some programs run as a command", span, option, false)
		}
		if strings.HasSuffix(t.cmd.Program, "patch") && (option == "--prefix" || option == "--basename-prefix") {
			t.prefixed(text, span, option)
		}
		if (t.cmd.Program == "split" || t.cmd.Program == "gsplit" || option == "--prefix" && strings.HasSuffix(t.cmd.Program, "csplit")) && commands.Known(text) {
			text += commands.Star // and what tells the pieces apart
		}
		if !std {
			t.there = !t.copiesTrees() && src.text == text && src.matched()
			t.path(effect.Write, text, span, option, false, t.copiesTrees())
			t.there = false
			t.into(text, span)
			t.downloaded(text, span, option)
		}
	case commands.Edit:
		if !std {
			t.path(effect.Read, text, span, option, false, false)
			t.there = !commands.Globbed(text) || src.matched() || changers[t.cmd.Program]
			t.path(effect.Write, text, span, option, false, t.changesTrees())
			t.there = false
			t.repacked(text, span)
		}
	case commands.Delete:
		t.path(effect.Delete, text, span, option, false, false)
	case commands.DeleteTree:
		if t.cmd.Program == "find" {
			r.path(pathEffect{kind: effect.Delete, text: text, span: span, cmd: t.cmd, option: option, cwd: t.cwd, at: true, tree: true,
				priv: t.ctx.privileged, below: narrowed("find", &t.reading), names: strings.Join(t.chosen().names, "|")}, t.w)
			return
		}
		t.path(effect.Delete, text, span, option, false, true)
	case commands.Move:
		t.path(effect.Read, text, span, option, false, true)
		t.path(effect.Delete, text, span, option, false, true)
	case commands.URL, commands.Host:
		if t.cmd.Program == "curl" && (option == "--connect-to" || option == "--resolve") {
			t.mapped(text, span, option)
			return
		}
		t.url(text, span, option)
	case commands.RemoteRead, commands.RemoteWrite:
		if !std || t.entry.Style != commands.Tar {
			t.remote(typ, text, span, option)
		}
	case commands.Repo:
		t.repo(text, span, option)
	case commands.Program:
		t.opaque("an option that names a program to run", span, option, false)
		if strings.ContainsAny(text, " \t\n") {
			t.shellText(text, span, option, word{})
		} else {
			t.run([]word{{text, span, nil}}, option, context{noBuiltins: true})
		}
	case commands.Shell:
		t.shellText(text, span, option, src)
	case commands.Split:
		// The words that follow are the end of the command in the text.
		rest := quoted(t.ws, t.reading.Loose)
		for _, in := range t.reading.Inner {
			if in.Option == "" && in.Module == "" {
				for _, x := range t.ws[in.From:in.To] {
					rest = append(rest, quote(x.text))
				}
				t.split = true
			}
		}
		if strings.ContainsAny(text, "\\$#") {
			t.opaque("a text that is not split as a shell would", span, option, false)
		}
		if strings.HasPrefix(strings.TrimLeft(text, " \t\n"), "-") { // options of its own
			text = t.ws[0].text + " " + text
		}
		t.shellText(text+" "+strings.Join(rest, " "), span, option, word{})
	case commands.Assign:
		name, v, isAssign := strings.Cut(text, "=")
		if !isAssign {
			name, v = text, commands.Unknown
		}
		if !commands.Known(name) {
			t.opaque("an environment variable that cannot be told", span, option, false)
			return
		}
		r.pass(name, v, span, t.cmd, t.w)
	case commands.MakeArg:
		if strings.HasPrefix(text, "-") && option == "" && strings.Trim(text[1:], "jkvs0123456789-") != "" {
			t.opaque("an option for the tool that builds", span, option, true) // cmake --build . -- -f x
		}
		if name, v, isAssign := strings.Cut(text, "="); isAssign {
			name = strings.TrimRight(name, ":?+!")
			r.pass(name, v, span, t.cmd, t.w)
			if strings.ContainsAny(v, "$` /") || strings.HasPrefix(name, ".") || !commands.Known(text) {
				t.opaque("a make variable that can run commands", span, option, false)
			}
		} else if !commands.Known(text) {
			t.opaque("a make target or variable that cannot be told", span, option, false)
		} else if t.cmd.Program != "rake" {
			t.target(text, span)
		}
	case commands.Code:
		t.code = true
		t.opaque("runs code given as text", span, option, true)
		t.secretsIn(text, span)
	case commands.Library:
		t.code = true
		t.opaque("loads code", span, option, false)
		if pathLike(text) {
			t.path(effect.Read, text, span, option, false, false)
		}
	case commands.Settings:
		if commands.Known(text) && (t.entryRead().Steers(text) || t.entryRead().Steers(text+"/x")) {
			t.path(effect.Read, text, span, option, false, false)
			return
		}
		if std {
			t.stdinCode(span)
			return
		}
		t.code = true // it is not what the program would find by itself
		t.path(effect.Read, text, span, option, false, false)
		t.opaque("runs the file "+display(text), span, option, true)
	case commands.Script:
		if std {
			t.stdinCode(span)
			return
		}
		t.code = true
		t.path(effect.Read, text, span, option, false, false)
		switch {
		case t.cmd.Class == effect.Code || t.cmd.Class == effect.Build && option == "":
		case t.cmd.Class == effect.Look || t.cmd.Class == effect.Edit:
			t.opaque("runs the file "+display(text), span, option, option == "")
		default:
			t.opaque("runs the file "+display(text), span, option, true)
		}
	case commands.Sed:
		t.sed(text, span, option)
	case commands.Awk:
		t.awk(text, span, option)
	case commands.JQ:
		t.jq(text, span, option)
	case commands.SQL:
		t.sql(text, span, option)
	case commands.Config:
		t.config(text, span, option)
	case commands.Rev:
		t.rev(text, span, option)
	case commands.Out:
		t.out(text, span, option)
	case commands.OutDir:
		t.outdir(text, span, option)
	case commands.At:
		t.at(text, span, option)
		if option == "" && strings.HasPrefix(text, "@") && len(text) > 1 {
			t.opaque("options in a file", span, option, true)
		}
	case commands.Pass:
		if _, file, is := strings.Cut(":"+text, ":file:"); is {
			t.path(effect.Read, file, span, option, false, false)
		} else if !commands.Known(text) {
			t.opaque("a password that may come from a file", span, option, true)
		}
	case commands.Mount:
		t.mount(text, span, option)
	case commands.Named:
		if strings.Contains(text, "/") || strings.Contains(text, commands.Unknown) || strings.Contains(text, commands.Words) {
			t.path(effect.Read, text, span, option, false, false)
		}
	case commands.GoPackages:
		t.goPackages(effect.Read, text, span, option)
	case commands.GoEdit:
		t.goPackages(effect.Read, text, span, option)
		t.goPackages(effect.Write, text, span, option)
	case commands.Package:
		t.pack(text, span, option)
	case commands.Suffix:
		t.suffixed(text, span, option)
	default:
		t.opaque("a value of a kind that is not followed", span, option, false)
	}
}

func quoted(ws []word, at []int) []string {
	out := make([]string, 0, len(at))
	for _, i := range at {
		out = append(out, quote(ws[i].text))
	}
	return out
}

func (t *typed) run(ws []word, option string, ctx context) {
	ctx.wrappers, ctx.renamed = append(slices.Clip(t.ctx.wrappers), t.cmd.Program), t.renamed()
	ctx.privileged = ctx.privileged || t.ctx.privileged
	ctx.option = option
	t.r.simple(ws, nil, t.world(), ctx)
}

// shellText follows text that a shell is given.
func (t *typed) shellText(text string, span effect.Span, option string, src word) {
	t.shell = true
	if !commands.Known(text) {
		t.code = true
		t.opaque("runs shell text that is not known", span, option, false)
		return
	}
	w := t.world()
	t.searches(w, span)
	t.arguments(w, option)
	sp := spans{fixed: &span}
	if src.src != nil {
		if o, same := t.r.literalAt(src, text); same {
			sp = spans{offset: o}
		}
	}
	from := len(t.r.out)
	t.followText(text, w, sp, span)
	t.privileged(from)
	if !shells[t.cmd.Program] && option == "" {
		return
	}
	if t.cmd.Program == "zsh" && strings.ContainsAny(text, "$=()[]{}~^#*?") {
		t.opaque("text that zsh reads in its own way", span, option, true)
	}
	switch {
	case foreignShells[t.cmd.Program]:
		t.code = true
		t.opaque("text for a shell with another language", span, option, false)
	case t.class == "" && shells[t.cmd.Program] && !t.loads():
		t.class = effect.Wrap
	}
}

// world is where what this program runs begins: the folder it changes into and
// the environment it gives.
func (t *typed) world() *world {
	w := t.w.child(t.r.place)
	w.cwd = t.cwd
	switch t.reading.Class {
	case effect.Privilege, effect.Remote: // another user, another machine
		w.vars, w.alien = dict[variable]{}, true
		if t.reading.Class == effect.Remote {
			w.cwd = ""
		}
	}
	if t.reading.Class != effect.Wrap && t.reading.Class != effect.Privilege {
		return w
	}
	for i := range t.reading.Options {
		switch u := &t.reading.Options[i]; u.Name {
		case "--ignore-environment":
			w.bare()
		case "--unset":
			w.put(u.Value, variable{unset: true, exported: true})
		}
	}
	for _, o := range t.reading.Operands {
		if name, v, set := strings.Cut(o.Text, "="); o.Type == commands.Assign && set && commands.Known(name) {
			w.put(name, variable{text: one(v), exported: true})
		}
	}
	return w
}

// arguments gives the text of "sh -c" the words that follow it as $1, $2, ...
func (t *typed) arguments(w *world, option string) {
	w.argsLost = true
	if option != "" || !shells[t.cmd.Program] {
		return
	}
	var args []string
	for _, o := range t.reading.Operands {
		if o.Type != commands.Text {
			continue
		}
		if strings.Contains(o.Text, commands.Words) || commands.Globbed(o.Text) {
			return
		}
		args = append(args, o.Text)
	}
	if len(args) > 0 {
		w.set("0", args[0])
		args = args[1:]
	}
	w.args, w.argsLost = args, false
}

// loads reports whether an option of a shell makes it run more than its text.
func (t *typed) loads() bool {
	for i := range t.reading.Options {
		u := &t.reading.Options[i]
		if u.Option != nil && (u.Option.Type == commands.Script || u.Option.Type == commands.Library) {
			return true
		}
	}
	return false
}

// privileged marks what was told from there on where this program is run by
// another user, or runs others so.
func (t *typed) privileged(from int) {
	if t.ctx.privileged || t.reading.Class == effect.Privilege {
		t.r.privileged(from)
	}
}

// literalAt finds where a word's text stands unchanged in the source.
func (r *reader) literalAt(src word, text string) (int, bool) {
	if r.spans.fixed != nil {
		return 0, false
	}
	s, e := src.span.Start, src.span.End
	if s < 0 || e > len(r.whole) || s > e {
		return 0, false
	}
	i := strings.Index(r.whole[s:e], text)
	if i < 0 || text == "" {
		return 0, false
	}
	return s + i, true
}

// foreignShells have a language of their own.
var foreignShells = map[string]bool{"fish": true, "csh": true, "tcsh": true}

var shells = map[string]bool{"sh": true, "bash": true, "dash": true, "ash": true, "zsh": true, "ksh": true, "mksh": true, "rbash": true,
	"fish": true, "csh": true, "tcsh": true, "yash": true, "posh": true}

// shellStdin follows what a shell reads from its standard input.
func (t *typed) shellStdin() {
	if t.shell || t.code || t.reading.Class == effect.Look {
		return
	}
	for _, o := range t.reading.Operands {
		if o.Type == commands.Script {
			return
		}
	}
	t.stdinCode(spanOf(t.ws))
}

func (t *typed) stdinCode(span effect.Span) {
	t.code = true
	in := t.r.stdin
	switch {
	case in == nil:
		t.opaque("starts a shell or an interpreter that reads commands", span, "", false)
	case shells[t.cmd.Program] && !foreignShells[t.cmd.Program] && commands.Known(in.text):
		w := t.world()
		t.searches(w, span)
		w.argsLost = true
		from := len(t.r.out)
		text := in.text
		in.text, in.used = commands.Words, false
		t.followText(text, w, spans{fixed: &span}, span)
		if in.used && strings.Contains(strings.TrimRight(text, "\n"), "\n") {
			t.opaque("a script on standard input that something in it may read", span, "", false)
		}
		in.used = true
		t.privileged(from)
		if !t.loads() {
			t.class = effect.Wrap
		}
	default:
		t.opaque("runs what it reads from standard input", span, "", !shells[t.cmd.Program])
	}
}

// secretsIn looks for paths of secrets in code that is not followed.
func (t *typed) secretsIn(text string, span effect.Span) {
	for _, lit := range literals(text) {
		if strings.HasPrefix(lit, "/") || strings.HasPrefix(lit, "~/") || strings.HasPrefix(lit, ".") {
			if strings.HasPrefix(lit, "~") {
				lit = t.r.place.Expand(lit)
			}
			t.r.path(pathEffect{kind: effect.Read, text: lit, span: span, cmd: t.cmd, cwd: t.cwd, at: true, maybe: true, priv: t.ctx.privileged}, t.w)
		}
	}
}

// literals returns the quoted strings of a piece of code that may be paths.
func literals(code string) []string {
	var out []string
	for i := 0; i < len(code) && len(out) < 32; i++ {
		q := code[i]
		if q != '\'' && q != '"' {
			continue
		}
		end := strings.IndexByte(code[i+1:], q)
		if end < 0 {
			break
		}
		s := code[i+1 : i+1+end]
		i += end + 1
		if len(s) > 1 && len(s) < 200 && commands.Known(s) && !strings.ContainsAny(s, " \n\t\\(){}<>|;*?[]") && strings.ContainsAny(s, "/.") {
			out = append(out, s)
		}
	}
	return out
}

// renamed are the options, of this program and those around it, with which the
// command it runs is another one than the words say.
func (t *typed) renamed() []effect.Option {
	out := t.ctx.renamed
	for i := range t.cmd.Options {
		if t.cmd.Options[i].Renames {
			out = append(slices.Clip(out), t.cmd.Options[i])
		}
	}
	return out
}

// inner follows the command that this one runs.
func (t *typed) inner(in commands.Inner) {
	r := t.r
	ctx := context{wrappers: append(slices.Clip(t.ctx.wrappers), t.cmd.Program), renamed: t.renamed(), privileged: t.ctx.privileged, option: in.Option, noBuiltins: true}
	if t.reading.Class == effect.Privilege {
		ctx.privileged = true
	}
	w := t.world()
	if in.Module != "" {
		t.module(in, w, ctx)
		return
	}
	words := slices.Clone(t.ws[in.From:in.To])
	if len(words) == 0 {
		return
	}
	if words[0].text == "-" && (t.cmd.Program == "env" || t.cmd.Program == "genv") { // the same as -i
		w.bare()
		if words = words[1:]; len(words) == 0 {
			return
		}
	}
	if t.cmd.Program == "command" || t.cmd.Program == "builtin" {
		ctx.noBuiltins = false
	}
	switch t.cmd.Program {
	case "find", "fd", "fdfind":
		t.each(words, ctx, w, in.Option == "--exec-batch" || in.To < len(t.ws) && t.ws[in.To].text == "+")
		return
	}
	if in.Stdin {
		input := commands.Words
		if r.stdin != nil {
			input = r.stdin.text
		}
		saved := r.stdin
		if !t.has("--arg-file", "-a") {
			r.stdin = nil
		}
		for _, run := range t.fills(words, input) {
			r.simple(run, nil, w, ctx)
		}
		r.stdin = saved
		return
	}
	r.simple(words, nil, w, ctx)
}

// fills are the command lines that xargs makes of the words it is given and
// those that come from standard input.
func (t *typed) fills(words []word, input string) [][]word {
	span := spanOf(t.ws)
	per, lines, sep, stop := 0, false, "", ""
	for i := range t.reading.Options {
		u := &t.reading.Options[i]
		switch u.Name {
		case "--max-args", "-n":
			per, _ = strconv.Atoi(u.Value)
		case "--max-lines", "-L", "-l":
			lines = true
		case "--null", "-0":
			sep = nul
		case "--delimiter", "-d":
			switch sep = u.Value; {
			case sep == `\0`:
				sep = nul
			case sep == `\n`:
				sep = "\n"
			case len(sep) != 1, sep != "\n" && strings.Contains(input, found): // parts of names
				input = commands.Words
			}
		case "--eof", "-E", "-e":
			stop = u.Value
		case "--arg-file", "-a", "--max-chars", "-s", "--exit", "-x", "--process-slot-var", "-R", "-S":
			input = commands.Words
		}
	}
	if per != 1 && t.replaces() == "" && (input == someNumbers || input == anyNumbers) {
		input = commands.Words
	}
	if sep == "" && t.r.torn(input, breaks, t.cwd) || sep == "\n" && t.r.torn(input, sep, t.cwd) {
		t.opaque("a list of names that xargs takes apart; with -print0 and -0 it does not", span, "", true)
		input = commands.Words
	}
	if replace := t.replaces(); replace != "" {
		end := sep
		if end == "" {
			end = "\n"
		}
		return [][]word{fill(words, replace, input, end)}
	}
	if sep == "" {
		input = strings.TrimSuffix(input, "\n")
	}
	if sep != nul && strings.Contains(input, nul) {
		input = commands.Words
	}
	var groups [][]string
	switch {
	case strings.Contains(input, commands.Words) || strings.Contains(input, commands.Unknown) || input == "":
		// Nobody knows the words: there may be none, and there may be any.
		with := append(slices.Clone(words), word{commands.Words, span, nil})
		return [][]word{words, with}
	case sep != "":
		groups = [][]string{strings.Split(strings.TrimSuffix(input, sep), sep)}
	case strings.ContainsAny(input, `"'\`):
		return [][]word{append(slices.Clone(words), word{commands.Words, span, nil})}
	case lines:
		for l := range strings.SplitSeq(input, "\n") {
			groups = append(groups, strings.Fields(l))
		}
	default:
		groups = [][]string{strings.Fields(input)}
	}
	var out [][]word
	for _, g := range groups {
		if i := slices.Index(g, stop); stop != "" && i >= 0 {
			g = g[:i]
		}
		n := len(g)
		if per > 0 {
			n = per
		}
		for len(g) > 0 {
			run := slices.Clone(words)
			for _, f := range g[:min(n, len(g))] {
				if per != 1 {
					f = manyOf(f)
				}
				run = append(run, word{f, span, nil})
			}
			g = g[min(n, len(g)):]
			if out = append(out, run); len(out) > maxRounds {
				t.opaque("more runs than are followed", span, "", false)
				return out
			}
		}
	}
	if len(out) == 0 {
		out = [][]word{words}
	}
	return out
}

// replaces is the text in the words of xargs that stands for a line of input,
// "" where there is none.
func (t *typed) replaces() string {
	replace := ""
	for i := range t.reading.Options {
		u := &t.reading.Options[i]
		if t.cmd.Program == "xargs" && (u.Name == "--replace" || u.Name == "-I" || u.Name == "-i") {
			if replace = u.Value; replace == "" {
				replace = "{}"
			}
		}
	}
	return replace
}

// fill puts a line of standard input where the command names it.
func fill(words []word, replace, input, end string) []word {
	line := strings.TrimSuffix(input, end)
	if (input == someNumbers || input == anyNumbers) && end == "\n" {
		line = commands.Number
	}
	if strings.ContainsAny(line, "\n") || strings.Contains(line, end) || strings.Contains(line, nul) {
		line = commands.Unknown
	}
	out, _ := put(words, replace, strings.ReplaceAll(line, commands.Words, commands.Unknown))
	return out
}

// put replaces a text in the words of a command and reports whether it was
// there.
func put(words []word, replace, with string) (out []word, there bool) {
	out = slices.Clone(words)
	for i := range out {
		if strings.Contains(out[i].text, replace) {
			out[i].text = strings.ReplaceAll(out[i].text, replace, with)
			out[i].src = nil
			there = true
		}
	}
	return out, there
}

// each runs the command of find -exec for what find finds.
func (t *typed) each(words []word, ctx context, w *world, together bool) {
	begin := []string{}
	for _, o := range t.reading.Operands {
		if o.Type != commands.Text {
			begin = append(begin, o.Text)
		}
	}
	if len(begin) == 0 {
		begin = []string{"."}
	}
	if ctx.option == "-execdir" || ctx.option == "-okdir" {
		w.cwd = ""
	}
	for _, b := range begin {
		if !commands.Known(b) {
			b = commands.Unknown
		} else {
			if !strings.HasPrefix(b, "/") && t.cwd != "" {
				b = t.r.folder(b, t.cwd)
			}
			b += t.marks() + found
			if together {
				b = manyOf(b)
			}
		}
		out, named := put(words, "{}", b)
		if !named && t.cmd.Program != "find" {
			out = append(out, word{b, spanOf(words), nil})
		}
		t.r.simple(out, nil, w, ctx)
	}
}

// module follows "python -m NAME words".
func (t *typed) module(in commands.Inner, w *world, ctx context) {
	name := in.Module
	at := t.ws[max(0, in.From-1)].span
	if !commands.Known(name) || name == "" {
		t.opaque("runs a module that cannot be told", at, "-m", false)
		return
	}
	interpreter := strings.TrimRight(t.cmd.Program, "0123456789.")
	full := interpreter + ":" + name
	if t.r.know.Lookup(full) == nil {
		full = "python:" + name // the same modules, whatever runs them
	}
	if t.r.know.Lookup(full) == nil {
		t.opaque("runs the module "+name, at, "-m", true)
		return
	}
	words := append([]word{{full, at, nil}}, t.ws[in.From:in.To]...)
	t.class = effect.Wrap
	t.r.command(words, w, ctx)
}
