package shell

import (
	"maps"
	"path"
	"slices"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
)

// nul stands for a NUL character in what a command prints.
const nul = "\x00z"

// found marks, behind a folder, any path at or below it: what find prints.
const found = "\x00f"

// only stands before it where the search had conditions: some of what is below
// and not the folder itself.
const only = "\x00o"

// pathEffect is a path that is touched, before it is prepared.
type pathEffect struct {
	kind   effect.Kind
	text   string
	span   effect.Span
	cmd    *effect.Command
	option string
	cwd    string // where it is relative to, when at is set
	at     bool
	meta   bool
	tree   bool
	maybe  bool
	priv   bool
	below  bool
	names  string // see effect.Names
	there  bool   // see effect.There
	repo   bool   // see effect.Repository
	built  bool   // see effect.Product
}

// path tells a path, under every name that the text may stand for.
func (r *reader) path(p pathEffect, w *world) {
	r.told(p, w)
	r.upward(p, w)
}

func (r *reader) told(p pathEffect, w *world) {
	if p.text == "" {
		return
	}
	if p.kind == effect.Read && !p.meta && strings.Contains(p.text, "://") && !strings.HasPrefix(p.text, "file:") {
		r.net(p.text, p.span, p.cmd, p.option) // some programs fetch it
	}
	cwd := w.cwd
	if p.at {
		cwd = p.cwd
	}
	e := effect.Effect{Kind: p.kind, Span: p.span, Command: p.cmd, Option: p.option, Meta: p.meta, Tree: p.tree, Privileged: p.priv, Below: p.below, Names: p.names, There: p.there && p.kind == effect.Write && !strings.Contains(p.text, commands.Number), Repository: p.repo, Product: p.built}
	if p.maybe {
		e.Certainty = effect.Maybe
	}
	text := strings.ReplaceAll(strings.ReplaceAll(p.text, commands.Words, commands.Unknown), commands.Number, commands.Star)
	f, rest := findings(text)
	if f.is {
		if rest != "" || strings.Contains(f.base, commands.Unknown) {
			text = commands.Unknown
		} else {
			text, e.Tree, e.Below = f.base, true, e.Below || f.some
			if f.names != "" {
				e.Names = f.names
			}
		}
	}
	if i := strings.Index(text, commands.Temp); i >= 0 {
		if i == 0 && !r.mixed && !strings.Contains(text, "..") && !strings.Contains(text, commands.Unknown) {
			e.Own, e.Target = true, "a temporary file of this call"+display(text[len(commands.Temp):])
			r.add(e)
			return
		}
		text = commands.Unknown
	}
	e.Path = r.place.Prepare(text, cwd)
	if r.through != nil {
		// The text made links: the path is also told as it is through them.
		if p := r.through.Prepare(text, cwd); p != e.Path {
			also := e
			also.Path = p
			r.tell(also, text)
		}
	}
	r.tell(e, p.text)
	if e.Tree && (e.Kind == effect.Read || e.Kind == effect.Delete) {
		r.throughLinks(e, f)
	}
}

// tell adds an effect under the name of its path, or under the text it was
// given by where the path is not known.
func (r *reader) tell(e effect.Effect, text string) {
	switch {
	case !e.Path.Known():
		e.Target = display(text)
	case e.Path.Inside():
		e.Target = e.Path.Rel
	default:
		e.Target = e.Path.Abs
	}
	r.add(e)
}

// privileged marks what was told from there on as done by another user.
func (r *reader) privileged(from int) {
	for i := from; i < len(r.out); i++ {
		r.out[i].Privileged = true
	}
}

// linked remembers a link that the text makes.
func (r *reader) linked(at, target string) {
	if at == target || strings.HasPrefix(target, at+"/") {
		return
	}
	p := *r.place
	if r.through != nil {
		p = *r.through
	}
	p.Facts.Links = maps.Clone(p.Facts.Links)
	if p.Facts.Links == nil {
		p.Facts.Links = map[string]string{}
	}
	if len(p.Facts.Links) < maxFields {
		p.Facts.Links[at] = target
	}
	r.through = &p
}

// net tells an address: a URL, "host", "host:port" or "host/port".
func (r *reader) net(target string, span effect.Span, cmd *effect.Command, option string) {
	r.add(effect.Effect{Kind: effect.Net, Target: display(target), Span: span, Command: cmd, Option: option})
}

// trusted are the folders whose programs are known by their base name.
var trusted = []string{"/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/", "/opt/homebrew/bin/",
	"/usr/local/go/bin/", "/snap/bin/", "/run/current-system/sw/bin/"}

// program returns the name by which a program is known, and whether it is run
// by a path that says nothing about what it is.
func program(name string) (base string, foreign bool) {
	if strings.IndexByte(name, '/') < 0 {
		return name, false
	}
	clean := path.Clean(name)
	for _, t := range trusted {
		if rest, isUnder := strings.CutPrefix(clean, t); isUnder && strings.IndexByte(rest, '/') < 0 {
			return rest, false
		}
	}
	return name, true
}

// command tells what an external program does with its words.
func (r *reader) command(ws []word, w *world, ctx context) {
	r.work += len(ws) / 8 // each is looked at, and shown
	if !r.step() {
		return
	}
	if len(ctx.wrappers) > maxDepth {
		r.tooMuch()
		return
	}
	span := spanOf(ws)
	name, foreign := program(ws[0].text)
	if foreign {
		r.foreign(ws, name, w, ctx)
		return
	}
	if strings.Contains(ws[0].text, "..") {
		r.opaque(ws[0].span, "a program by a path that may lead elsewhere")
	}
	entry := r.know.Lookup(name)
	if entry == nil {
		cmd := &effect.Command{Program: name, Wrappers: ctx.wrappers, Renamed: ctx.renamed}
		plainWords(cmd, ws[1:])
		r.add(effect.Effect{Kind: effect.Run, Target: r.show(ws), Span: span, Command: cmd, Privileged: ctx.privileged, Option: ctx.option})
		r.add(effect.Effect{Target: "nothing is known of the program " + display(name), Span: span, Command: cmd, Coverable: true, Privileged: ctx.privileged})
		r.maybePaths(ws[1:], cmd, w)
		r.tellSecrets(span, cmd)
		r.print(commands.Words)
		if near := strings.ToLower(strings.TrimRight(name, "0123456789.-")); near != name {
			r.maybeKnown(near, ws, w, ctx) // RM where case does not count, rm2
		}
		return
	}
	if name == "parallel" && r.parallel(ws, w, ctx) {
		return
	}
	t := &typed{r: r, ws: ws, w: w, cwd: w.cwd, ctx: ctx, entry: entry, reading: entry.Read(texts(ws))}
	reading := &t.reading
	cmd := &effect.Command{Program: name, Sub: reading.Sub, Wrappers: ctx.wrappers, Renamed: ctx.renamed, Class: reading.Class, Turned: reading.Turned, Raised: reading.Raised, Described: true}
	cmd.Options = slices.Grow(cmd.Options, len(reading.Options))
	for i := range reading.Options {
		u := &reading.Options[i]
		o := effect.Option{Name: u.Name, Value: display(u.Value), Valued: u.Valued}
		if u.Option != nil {
			o.Names, o.Renames, o.Elsewhere = u.Option.Names, u.Option.Renames, u.Option.Elsewhere
		}
		cmd.Options = append(cmd.Options, o)
	}
	cmd.Operands = slices.Grow(cmd.Operands, len(reading.Loose))
	for _, i := range reading.Loose {
		cmd.Operands = append(cmd.Operands, display(ws[i].text))
	}
	if name == "git" && slices.Equal(reading.Sub, []string{"push"}) {
		refspecs(cmd, ws[1:])
	}
	run := effect.Effect{Kind: effect.Run, Target: r.show(ws), Span: span, Command: cmd, Privileged: ctx.privileged, Option: ctx.option}
	at := r.add(run)
	t.cmd, t.told = cmd, r.out[at].Command
	t.all()
	if t.class != "" {
		cmd.Class = t.class
	}
	if was := r.out[at].Command; was != cmd && was.Class != cmd.Class { // another course does more with the same words
		r.out = append(r.out, run)
	}
	r.tellSecrets(span, cmd)
	if v, moved := w.vars.get("TMPDIR"); moved && name == "mktemp" && !v.unset && len(reading.Operands) == 0 && !r.usual(v.text, kept()["TMPDIR"], w) {
		r.path(pathEffect{kind: effect.Write, text: v.text + "/" + commands.Star, span: span, cmd: cmd, priv: ctx.privileged}, w)
		r.print(commands.Unknown)
		return
	}
	if makesLinks(name, cmd) && slices.ContainsFunc(ws, func(x word) bool { return strings.Contains(x.text, commands.Temp) }) {
		r.mixed = true
	}
	r.output(t, ws)
}

// refspecs tells what the refspecs of "git push" do beside pushing: "+x"
// forces and ":x" deletes, as the options do, and both rewrite what others have.
func refspecs(push *effect.Command, ws []word) {
	for _, x := range ws {
		switch {
		case strings.HasPrefix(x.text, "+"):
			push.Options = append(push.Options, effect.Option{Name: "--force", Names: []string{"-f", "--force"}})
		case strings.HasPrefix(x.text, ":") && len(x.text) > 1:
			push.Options = append(push.Options, effect.Option{Name: "--delete", Names: []string{"-d", "--delete"}})
		default:
			continue
		}
		push.Class = effect.Rewrite
	}
}

// makesLinks reports whether a program may leave links where it writes: what
// is done through them is not done to a temporary file.
func makesLinks(name string, cmd *effect.Command) bool {
	switch name {
	case "ln", "link", "mv", "rsync", "tar", "bsdtar", "unzip", "7z", "cpio", "git", "svn", "install":
		return true
	case "cp":
		return len(cmd.Options) > 0
	}
	return false
}

func plainWords(cmd *effect.Command, ws []word) {
	for _, x := range ws {
		if strings.HasPrefix(x.text, "-") && len(x.text) > 1 {
			n, v, valued := strings.Cut(display(x.text), "=")
			cmd.Options = append(cmd.Options, effect.Option{Name: n, Value: v, Valued: valued})
		} else {
			cmd.Operands = append(cmd.Operands, display(x.text))
		}
	}
}

// foreign tells a program that is run by its path: it is a file like any other.
func (r *reader) foreign(ws []word, name string, w *world, ctx context) {
	span := spanOf(ws)
	cmd := &effect.Command{Program: name, Wrappers: ctx.wrappers, Renamed: ctx.renamed, Class: effect.Code, Described: false}
	plainWords(cmd, ws[1:])
	r.add(effect.Effect{Kind: effect.Run, Target: r.show(ws), Span: span, Command: cmd, Privileged: ctx.privileged, Option: ctx.option})
	r.path(pathEffect{kind: effect.Read, text: name, span: ws[0].span, cmd: cmd, option: effect.ProgramItself, priv: ctx.privileged}, w)
	r.add(effect.Effect{Target: "runs a program by its path", Span: ws[0].span, Command: cmd, Coverable: true, Privileged: ctx.privileged})
	r.maybePaths(ws[1:], cmd, w)
	r.tellSecrets(span, cmd)
	r.print(commands.Words)
	r.maybeKnown(path.Base(name), ws, w, ctx)
}

// maybeKnown tells what would be written and deleted if a program nobody knows
// is the one of that name.
func (r *reader) maybeKnown(name string, ws []word, w *world, ctx context) {
	if !commands.Known(name) || r.know.Lookup(name) == nil {
		return
	}
	from := len(r.out)
	known := slices.Clone(ws)
	known[0].text = name
	r.command(known, w, ctx)
	out := r.out[:from]
	for _, e := range r.out[from:] {
		if e.Kind == effect.Write || e.Kind == effect.Delete {
			e.Certainty = effect.Maybe
			out = append(out, e)
		}
	}
	r.out, r.seen, r.indexed = out, nil, 0
}

// pathLike reports whether a word of a program nobody described may be a path.
func pathLike(s string) bool {
	if strings.HasPrefix(s, "-") {
		return false
	}
	return strings.HasPrefix(s, ".") || strings.ContainsAny(s, "/~")
}

func (r *reader) maybePaths(ws []word, cmd *effect.Command, w *world) {
	for _, x := range ws {
		t := x.text
		if strings.HasPrefix(t, "-") {
			_, v, joined := strings.Cut(t, "=")
			if !joined {
				continue
			}
			t = v
		}
		if strings.Contains(t, "://") {
			r.add(effect.Effect{Kind: effect.Net, Certainty: effect.Maybe, Target: display(t), Span: x.span, Command: cmd})
			continue
		}
		if pathLike(t) {
			r.path(pathEffect{kind: effect.Read, text: t, span: x.span, cmd: cmd, maybe: true, tree: false}, w)
		}
	}
}

// parallel follows GNU parallel with ":::" arguments: a command line for each.
func (r *reader) parallel(ws []word, w *world, ctx context) bool {
	at := slices.IndexFunc(ws, func(x word) bool { return x.text == ":::" })
	if at < 0 {
		return false
	}
	span := spanOf(ws)
	cmd := &effect.Command{Program: "parallel", Class: effect.Wrap, Described: true, Wrappers: ctx.wrappers}
	r.add(effect.Effect{Kind: effect.Run, Target: r.show(ws), Span: span, Privileged: ctx.privileged, Command: cmd})
	opaque := func(why string) {
		r.add(effect.Effect{Target: why, Span: span, Command: cmd, Privileged: ctx.privileged})
	}
	template := ws[1:at]
	for _, x := range template { // other machines, folders and files
		for _, o := range []string{"-S", "--ssh", "--slf", "--trans", "--ret", "--wd", "--work", "--base", "-M", "--con", "--env", "--pro", "--res", "--job", "-a", "--arg-file"} {
			if strings.HasPrefix(x.text, o) {
				return false
			}
		}
	}
	for len(template) > 0 && strings.HasPrefix(template[0].text, "-") {
		t := template[0].text
		template = template[1:]
		switch t {
		case "-j", "-n", "-N", "-P", "-L", "-s", "-d", "--jobs", "--max-args", "--delay", "--timeout", "--retries":
			template = template[min(1, len(template)):]
		case "-k", "--keep-order", "--bar", "--progress", "--dry-run", "--will-cite", "--no-notice", "-t", "--verbose", "-q", "--quote", "-u", "--ungroup", "--line-buffer", "--lb", "--eta", "-X", "-m", "-r", "-0":
		default:
			if len(t) < 3 || !strings.Contains("jnNPLsd", t[1:2]) {
				opaque("unknown option " + display(t))
			}
		}
	}
	base := strings.Join(texts(template), " ")
	if strings.Contains(strings.ReplaceAll(base, "{}", ""), "{") {
		opaque("a place in the command that is not followed")
	}
	for i, a := range ws[at+1:] {
		if i > maxRounds || a.text == ":::" || a.text == "::::" || a.text == ":::+" {
			opaque("arguments of parallel that are not followed")
			break
		}
		text := base + " " + quote(a.text)
		switch {
		case strings.Contains(base, "{}"):
			text = strings.ReplaceAll(base, "{}", quote(a.text))
		case base == "":
			text = a.text
		}
		from := len(r.out)
		r.child(text, w.child(r.place), spans{fixed: &span}, span)
		if ctx.privileged {
			r.privileged(from)
		}
	}
	r.print(commands.Words)
	return true
}

// output adds what a described program prints, as far as that is known.
func (r *reader) output(t *typed, ws []word) {
	if r.sink == nil {
		return
	}
	name, reading := t.cmd.Program, &t.reading
	words := texts(ws)[1:]
	switch name {
	case "mktemp":
		if len(reading.Issues) == 0 && len(reading.Operands) == 0 {
			dir := false
			for i := range reading.Options {
				n := reading.Options[i].Name
				dir = dir || n == "--tmpdir" || n == "-p" || n == "--suffix" && !commands.Known(reading.Options[i].Value)
			}
			if !dir {
				r.print(commands.Temp + "\n")
				return
			}
		}
	case "cat":
		if len(words) == 0 && r.stdin != nil {
			r.print(r.stdin.text)
			return
		}
	case "head", "tail", "sort", "uniq", "tac", "shuf":
		if r.stdin != nil && t.passes() {
			if line, same := r.stdin.paths(); same {
				r.print(line + strings.TrimPrefix(r.stdin.text, line))
				return
			}
		}
	case "basename":
		if len(words) == 1 && commands.Known(words[0]) && !strings.HasPrefix(words[0], "-") {
			r.print(path.Base(words[0]) + "\n")
			return
		}
	case "dirname":
		if len(words) == 1 && commands.Known(words[0]) && !strings.HasPrefix(words[0], "-") {
			r.print(path.Dir(words[0]) + "\n")
			return
		}
	case "nproc":
		r.print(commands.Number + "\n")
		return
	case "seq":
		r.print(t.counted(words))
		return
	case "pgrep":
		if len(reading.Issues) == 0 && !slices.ContainsFunc(reading.Options, func(u commands.Use) bool { return !numeral[u.Name] }) {
			r.print(anyNumbers)
			return
		}
	case "wc":
		if len(reading.Operands) == 0 && len(reading.Options) == 1 {
			r.print(commands.Number + "\n")
			return
		}
	case "date":
		if len(words) == 1 && (words[0] == "+%s" || words[0] == "+%Y" || words[0] == "+%Y%m%d" || words[0] == "+%Y%m%d%H%M%S" || words[0] == "+%s%N") {
			r.print(commands.Number + "\n")
			return
		}
	case "find", "fd", "fdfind", "rg", "grep", "git", "ls":
		if top := t.top(words); top != "" {
			r.print(top + "\n")
			return
		}
		if names, end, fine := t.listed(); fine {
			for _, n := range names {
				r.print(n + end)
			}
			return
		}
	case "true", "false", "sleep", "mkdir", "rm", "cp", "mv", "touch", "chmod", "ln", "cd":
		if len(reading.Issues) == 0 && len(reading.Options) == 0 {
			return
		}
	}
	r.print(commands.Words)
}

// narrowed reports whether a search has conditions, so that what it finds is
// not simply everything.
func narrowed(name string, reading *commands.Reading) bool {
	if name != "find" {
		return len(reading.Loose) > 0 || len(reading.Options) > 0
	}
	for i := range reading.Options {
		switch reading.Options[i].Name {
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-size", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin",
			"-newer", "-empty", "-user", "-group", "-perm", "-lname", "-ilname", "-inum", "-links", "-samefile":
			return true
		case "-type":
			if reading.Options[i].Value != "f" && reading.Options[i].Value != "d" && reading.Options[i].Value != "f,d" {
				return true
			}
		case "-or", "-o", "-not":
			return false // what a condition excludes is still there
		}
	}
	return false
}
