package floor

import (
	"bytes"
	"slices"
	"strings"

	"assent/approval"
	"assent/floor/effect"
	"assent/floor/paths"

	"github.com/go-json-experiment/json/jsontext"
)

// The defaults: what holds where no rule matches (policy §2).
var (
	runUnknown       = byDefault("no rule names this command")
	runPrivileged    = byDefault("it runs as another user")
	readInside       = byDefault("no rule is about reading this")
	readOutside      = byDefault("it is outside the workspace")
	writeProduct     = byDefault("builds write there")
	writeInside      = byDefault("writing in the workspace is asked about")
	deleteInside     = byDefault("deleting in the workspace is asked about")
	writeOutside     = byDefault("it is outside the workspace")
	deleteOutside    = byDefault("it is outside the workspace")
	pathHidden       = byDefault("a folder on the way could not be looked into: there may be links in it")
	pathUnknown      = byDefault("where that is cannot be told")
	ownFile          = byDefault("it is a temporary file that this call made")
	netUnknown       = byDefault("no rule names this address")
	envUnknown       = byDefault("that steers other programs")
	mcpUnknown       = byDefault("no rule names this tool")
	opaqueUnknown    = byDefault("what cannot be told is asked about")
	opaqueDisguise   = byDefault("what cannot be told may not run as another user")
	opaqueUnconfined = byDefault("only a person takes a command out of its sandbox or gives it more rights")
	nothingKnown     = byDefault("nothing is known of this call")
)

func byDefault(text string) *RuleRef { return &RuleRef{Layer: Shipped, Default: true, Text: text} }

// judge judges every effect; the strictest result is the call's.
func (f *Floor) judge(call *Call, place *paths.Place, effects []effect.Effect, text string) Verdict {
	effects = locate(effects)
	j := judgement{floor: f, place: place, base: f.base(), effects: effects}
	j.place.Own, j.place.OwnLinks, j.place.Scanner = f.own(), f.OwnLinks, f.ScannerFiles
	v := Verdict{
		Cluster: approval.ClusterOf(call.Name),
		Text:    text,
		Effects: make([]Judged, len(effects)),
	}
	if len(place.Facts.Folders) > 0 {
		j.makers = makers(effects)
	}
	hatch := false
	for i := range effects {
		v.Effects[i].Effect = effects[i]
		j.effect(&v.Effects[i])
		hatch = hatch || runsHatch(&effects[i])
	}
	j.cover(v.Effects)
	inner := innerOf(effects)
	for i := range v.Effects {
		e := &v.Effects[i]
		v.Result = v.Result.Join(e.Result)
		v.Ruled = v.Ruled || e.ruled && e.Result != approval.Allow
		e.Message = e.message()
		if e.Kind == effect.Run && e.Command != nil && e.Command.Class == effect.Privilege {
			e.inner = inner[e.Command.Program]
		}
	}
	if v.Result == approval.None {
		v.Result = approval.Ask
		v.Effects = append(v.Effects, Judged{Result: approval.Ask, Rule: nothingKnown, Message: "Nothing is known of this call."})
	}
	v.scanned(call.Scan, f)
	for i := len(effects); i < len(v.Effects); i++ {
		v.Ruled = v.Ruled || v.Effects[i].Result != approval.Allow
	}
	v.Hatch = v.Cluster == approval.Bash && (hatch || mayHatch(call.Arguments) && approval.HatchShape(call.Name, call.Arguments))
	v.Message = v.message()
	return v
}

// innerOf are the commands that commands run which give privilege, by the programs of
// those, for saying which rule would allow both. The first of each counts.
func innerOf(effects []effect.Effect) map[string]*effect.Command {
	var by map[string]*effect.Command
	for i := range effects {
		c := effects[i].Command
		if effects[i].Kind != effect.Run || c == nil {
			continue
		}
		for _, w := range c.Wrappers {
			if by == nil {
				by = map[string]*effect.Command{}
			}
			if by[w] == nil {
				by[w] = c
			}
		}
	}
	return by
}

// own are the files that hold the policies in force.
func (f *Floor) own() []string {
	own := f.Own
	for _, p := range [...]*Policy{f.Operator, f.Managed, f.Project} {
		if p != nil && strings.HasPrefix(p.file, "/") {
			own = append(own[:len(own):len(own)], p.file)
		}
	}
	return own
}

// mayHatch reports whether the pattern of a hatch can hold at all: its words
// are there, may be spelled by escapes, or the arguments cannot be read.
func mayHatch(arguments []byte) bool {
	if bytes.Contains(arguments, []byte("npx")) || bytes.Contains(arguments, []byte("bunx")) {
		return true
	}
	for rest := arguments; ; {
		_, after, found := bytes.Cut(rest, []byte(`\u00`))
		if !found {
			break
		}
		if rest = after; len(rest) >= 2 {
			switch string(bytes.ToLower(rest[:2])) {
			case "62", "6e", "70", "75", "78": // b n p u x
				return true
			}
		}
	}
	return jsontext.Value(arguments).Kind() != '{' || !jsontext.Value(arguments).IsValid()
}

// runsHatch reports a run of npx or bunx (law ruling 11), also by the names that they
// have within npm and bun.
func runsHatch(e *effect.Effect) bool {
	if e.Kind != effect.Run || e.Command == nil {
		return false
	}
	c := e.Command
	words := append(c.Sub[:len(c.Sub):len(c.Sub)], c.Operands...)
	if len(words) == 0 {
		words = []string{""}
	}
	switch programName(c.Program) {
	case "npx", "bunx":
		return true
	case "npm":
		// npm takes a command by how it begins, where that means one alone.
		switch words[0] {
		case "exec", "exe", "x":
			return true
		case "init", "create", "innit", "ini", "inn", "inni", "cr", "cre", "crea", "creat":
			return len(words) > 1 // npm exec create-THAT
		}
	case "bun":
		switch words[0] {
		case "x":
			return true
		case "create", "c":
			return len(words) > 1
		}
	}
	return false
}

// judgement is one call being judged.
type judgement struct {
	floor *Floor
	place *paths.Place
	base  *Policy
	// effects are those of the call.
	effects []effect.Effect
	// files are the known files, once they are needed, see known.
	files *knownFiles
	// makers are the commands that may make files nobody knows.
	makers []*effect.Command
	s      subject
	// allowed are the commands that a rule of the operator allows.
	allowed []allowedCommand
}

type allowedCommand struct {
	command *effect.Command
	rule    *Rule
	pattern *runPattern
}

// effect judges one effect, and the known files that it reaches through a
// tree or a glob.
func (j *judgement) effect(d *Judged) {
	e := &d.Effect
	j.s = subject{place: j.place, e: e, at: j.place.Target(e.Path, e.Tree).Of(e.Names), listed: j.listed(e)}
	if e.Kind == effect.Net {
		a := parseAddress(e.Target)
		j.s.host = &a
	}
	j.decide(d)
	changes := e.Kind == effect.Write || e.Kind == effect.Delete
	isPath := e.Kind == effect.Read && !e.Meta || changes
	folder := changes && e.Tree
	meant := e.Product || folder && d.Result == approval.Allow && j.meant() // builds make files of many names in their folders
	within := func(d *Judged) {
		if isPath && (e.Tree || e.Path.Glob) && d.Result == approval.Allow && !j.s.listed {
			j.possible(d, meant)
		}
		if isPath && (e.Tree || e.Path.Glob) && e.Path.Known() {
			j.reach(d, folder, meant)
		}
	}
	if isPath && d.Result == approval.Allow && !e.Own && j.hidden(e) {
		d.Result, d.Rule, d.rule, d.Pattern, d.operator, d.ruled = approval.Ask, pathHidden, nil, "", false, true
		return
	}
	if d.Rule != readOutside {
		within(d)
		d.ruled = true
		return
	}
	// What would be said of it were it not for where it lies?
	apart := *d
	apart.Result = approval.Allow
	within(&apart)
	against := apart.ruled || apart.Result != approval.Allow && apart.Rule != readOutside
	within(d)
	d.ruled = against
}

// hidden reports whether the path of an effect leads through a folder that could
// not be looked into, or what it reaches lies in one.
func (j *judgement) hidden(e *effect.Effect) bool {
	for at := range j.place.Facts.Hidden {
		for _, p := range [...]string{e.Path.Abs, e.Path.Named} {
			if e.Path.Glob && p != "" {
				p, _ = paths.GlobFolder(p)
				p = strings.TrimSuffix(p, "/") + "/*"
			}
			if p == at || strings.HasPrefix(p, at+"/") || e.Tree && e.Kind == effect.Read && strings.HasPrefix(at, strings.TrimSuffix(p, "/")+"/") && p != "" {
				return true
			}
		}
	}
	return false
}

// meant reports whether a rule of the operator lets this very folder be deleted,
// and not merely all that is in some folder above it: who writes "node_modules/"
// has answered for what is in there.
func (j *judgement) meant() bool {
	e := j.s.e
	if e.Kind != effect.Delete || j.floor.Operator == nil {
		return false
	}
	folder := e.Path
	if e.Path.Glob {
		dir, _ := paths.GlobFolder(e.Path.Abs)
		folder = j.place.Prepare(dir, "/")
	}
	if !folder.Inside() || folder.Rel == "." {
		return false
	}
	above := j.place.Target(j.place.Prepare(folder.Abs+"/..", "/"), true)
	for _, r := range j.floor.Operator.match(&j.s, nil) {
		if r.Result != approval.Allow {
			continue
		}
		for _, p := range r.match.paths {
			if p.RelateTo(&j.s.at) == paths.Covers && p.RelateTo(&above) != paths.Covers {
				return true
			}
		}
	}
	return false
}

// possible asks about a tree or a glob in which something may lie that a rule
// denies or asks about. What is only read counts where a person's own rule denies
// it by its name: of the shipped rules those count that a known file meets, or no
// folder could be searched in silence. They do not count in a folder that is meant
// as a whole.
func (j *judgement) possible(d *Judged, meant bool) {
	e := &d.Effect
	kinds := [...]effect.Kind{e.Kind, effect.Write}
	n := 1
	layers := [...]*Policy{j.floor.Operator, j.floor.Managed, j.floor.Project, nil}
	changes := e.Kind != effect.Read
	var operator []*Rule
	if e.Kind == effect.Delete {
		n = 2
	}
	if changes {
		operator = j.floor.Operator.match(&j.s, nil)
		if !meant {
			layers[3] = j.base
		}
	}
	extends := j.floor.Operator == nil || j.floor.Operator.Extends
	for _, p := range layers {
		if p == nil {
			continue
		}
		for _, kind := range kinds[:n] {
			rules := p.index[kind].floating
			if changes {
				rules = p.index[kind].rules
			}
			for i, r := range rules {
				if r.Result == approval.Allow || r.spares(&j.s) {
					continue
				}
				if p == j.base && (!extends && r.Result != approval.Block || j.excepted(operator, r)) {
					continue
				}
				if pt := j.mayHold(r, i >= maxFloating); pt != nil {
					d.Result, d.Rule, d.rule, d.Pattern, d.operator = approval.Ask, r.ref, r, pt.String(), true
					d.mayHold = true
					return
				}
			}
		}
	}
}

// mayHold is a pattern of the rule that something in the tree or glob may match,
// nil where there is none. Rules beyond many are not compared: they may.
func (j *judgement) mayHold(r *Rule, beyond bool) *paths.Pattern {
	e := j.s.e
	tree := e.Tree && (e.Kind != effect.Read || !namesFiles(e.Path))
	itself := j.s.at.Itself()
	for i := range r.match.paths {
		pt := &r.match.paths[i]
		switch {
		case e.Names != "" && !pt.MayName(e.Names):
		case pt.Floating():
			// Any name may be in a tree.
			if tree && !e.Product || beyond || pt.RelateTo(&itself) == paths.Possible {
				return pt
			}
		case e.Kind != effect.Read && tree && pt.RelateTo(&j.s.at) == paths.Possible:
			return pt
		case e.Kind != effect.Read && pt.RelateTo(&itself) == paths.Possible:
			return pt
		}
	}
	return nil
}

// namesFiles reports whether a glob asks for names of one ending, as in *.md,
// which is taken to mean files and no folders.
func namesFiles(p effect.Path) bool {
	if !p.Glob {
		return false
	}
	last := p.Abs[strings.LastIndexByte(p.Abs, '/')+1:]
	ending, ok := strings.CutPrefix(last, "*.")
	return ok && ending != "" && !strings.ContainsAny(ending, `*?[]{}\\`)
}

// maxFloating bounds how many rules are compared with a glob.
const maxFloating = 256

// decide finds the result of the subject.
func (j *judgement) decide(d *Judged) {
	e := d.Effect
	s := &j.s
	path, tree := s.at.Path(), s.at.Tree()
	inside := path.Inside()
	var room [3][8]*Rule // enough for most effects
	operator := j.floor.Operator.match(s, room[0][:0])
	shipped := j.base.match(s, room[1][:0])
	if e.Kind == effect.Run && j.floor.endsItself(e.Command) {
		shipped = append(shipped, j.base.rule(answersItself)...)
	}

	// Names alone are no content: looking at ".env" is not reading it.
	lenient := e.Kind == effect.Read && e.Meta
	if lenient {
		shipped = slices.DeleteFunc(shipped, func(r *Rule) bool {
			return r.Result == approval.Deny && inside || r.Result == approval.Block && tree && !j.itself(r)
		})
		operator = slices.DeleteFunc(operator, func(r *Rule) bool {
			return r.Result >= approval.Deny && tree && !j.itself(r)
		})
	}

	if s.listed { // the files that are there answer
		operator = j.unlisted(operator)
		if e.Path.Glob {
			shipped = j.unlisted(shipped)
		}
	}
	extends := j.floor.Operator == nil || j.floor.Operator.Extends
	var guesses []*Rule
	operator, guesses = j.withoutGuesses(operator)
	shipped, guessed := j.withoutGuesses(shipped)
	for _, r := range guessed {
		if !j.lifted(operator, r) && !j.excepted(operator, r) && (extends || r.Result == approval.Block) {
			guesses = append(guesses, r)
		}
	}
	if e.Below { // some files below a folder are not the folder
		shipped = slices.DeleteFunc(shipped, (*Rule).onlyRoots)
	}

	base, rule := j.fallback(s), (*Rule)(nil)
	if extends {
		r := strictest(shipped, approval.Deny)
		if r != nil && (r.Result != approval.Allow || j.floor.Operator == nil || !j.floor.Operator.alone) {
			base, rule = ruled(r)
		}
	}
	d.shipped = base.result
	if e.Kind == effect.Run && e.Privileged && base.result < approval.Deny {
		base, rule = answer{approval.Deny, runPrivileged}, nil
		d.shipped = approval.Deny
	}
	if r := strictest(operator, approval.Block); r != nil {
		d.operator = true
		was := base
		if a, _ := ruled(r); !j.floor.Operator.stale || !was.result.Stricter(a.result) {
			base, rule = ruled(r)
		}
		if base.result < approval.Deny {
			if extends {
				var left *Rule // the first in the document
				for _, deny := range shipped {
					if deny.Result == approval.Deny && (left == nil || deny.Line < left.Line) && !j.lifted(operator, deny) {
						left = deny
					}
				}
				if left != nil {
					base, rule = ruled(left)
				}
			}
			if e.Kind == effect.Run && e.Privileged && base.result < approval.Deny && !j.namesWrapper(operator) {
				base, rule = was, nil
			}
		}
	}
	if e.Own && base.result < approval.Block && !d.operator {
		base, rule = answer{approval.Allow, ownFile}, nil
		d.shipped = approval.Allow
	}
	for _, r := range shipped {
		if r.Result != approval.Block || j.excepted(operator, r) {
			continue
		}
		a, _ := ruled(r)
		if (e.Kind == effect.Delete && !r.fixed || e.Kind == effect.Read) && tree && !j.itself(r) {
			// Nobody knows whether it is there: a person may say.
			a.result = approval.Deny
		}
		if a.result.Stricter(base.result) {
			base, rule = a, r
		}
		d.shipped = d.shipped.Join(a.result)
	}
	for _, p := range [...]*Policy{j.floor.Managed, j.floor.Project} {
		if p == nil {
			continue
		}
		more := p.match(s, room[2][:0])
		if lenient {
			more = slices.DeleteFunc(more, func(r *Rule) bool { return tree && !j.itself(r) })
		}
		if s.listed {
			more = j.unlisted(more)
		}
		more, guessed = j.withoutGuesses(more)
		guesses = append(guesses, guessed...)
		if r := strictest(more, approval.Block); r != nil && r.Result != approval.Allow {
			outside := base.ref == readOutside
			d.ruled = d.ruled || outside
			if r.Result.Stricter(base.result) || outside && r.Result == base.result {
				base, rule = ruled(r)
				d.operator = true // a person's own rule: nothing covers it
			}
		}
	}
	if e.Certainty == effect.Maybe && (base.result == approval.Deny || e.Product && base.result == approval.Block) {
		base.result = approval.Ask // a build somewhere below is no proof
	}
	if len(guesses) > 0 && base.result < approval.Ask {
		rule = guesses[0]
		base = answer{approval.Ask, rule.ref}
		d.operator = d.operator || rule.policy.layer != Shipped
	}
	d.Result, d.Rule, d.rule = base.result, base.ref, rule
	if rule != nil && base.result != approval.Allow {
		d.Pattern = rule.which(s)
	}
	if e.Kind == effect.Run && base.result == approval.Allow && d.operator {
		j.allow(s, operator)
	}
	if e.Kind == effect.MCP && base.result == approval.Allow && d.operator && rule != nil {
		j.allowed = append(j.allowed, allowedCommand{rule: rule})
	}
}

type answer struct {
	result Result
	ref    *RuleRef
}

func ruled(r *Rule) (answer, *Rule) { return answer{r.Result, r.ref}, r }

// strictest is the first of the strictest rules up to a limit, in the order of
// the document.
func strictest(rules []*Rule, limit Result) *Rule {
	var best *Rule
	for _, r := range rules {
		if r.Result <= limit && (best == nil || r.Result > best.Result || r.Result == best.Result && r.Line < best.Line) {
			best = r
		}
	}
	return best
}

// itself reports whether the rule matches the path of a tree itself and not
// only something that may be below it.
func (j *judgement) itself(r *Rule) bool {
	at := j.s.at.Itself()
	for _, p := range r.match.paths {
		if p.RelateTo(&at) >= paths.Overlap {
			return true
		}
	}
	return false
}

// onlyRoots reports whether a rule is about whole roots and nothing in them.
func (r *Rule) onlyRoots() bool {
	return !slices.ContainsFunc(r.match.paths, func(p paths.Pattern) bool { return p.Set() != "@roots" })
}

func (j *judgement) lifted(operator []*Rule, deny *Rule) bool {
	if j.floor.Operator != nil && j.floor.Operator.stale {
		return false
	}
	return slices.ContainsFunc(operator, func(r *Rule) bool { return r.lifts(deny, &j.s) })
}

// excepted reports whether a rule of the operator that matches is an
// exception to the shipped rule, by its name.
func (j *judgement) excepted(operator []*Rule, shipped *Rule) bool {
	return !shipped.fixed && slices.ContainsFunc(operator, func(r *Rule) bool { return slices.Contains(r.Lifts, shipped.ID) })
}

// namesWrapper reports whether a rule names the program that gives the
// privilege.
func (j *judgement) namesWrapper(operator []*Rule) bool {
	for _, r := range operator {
		if p := r.pattern(&j.s); p != nil && len(p.wrappers) > 0 {
			return true
		}
	}
	return false
}

// fallback is what holds where no rule matches.
func (j *judgement) fallback(s *subject) answer {
	e, path := s.e, s.at.Path()
	switch e.Kind {
	case effect.Run:
		return answer{approval.Ask, runUnknown}
	case effect.Net:
		return answer{approval.Ask, netUnknown}
	case effect.Env:
		return answer{approval.Ask, envUnknown}
	case effect.MCP:
		return answer{approval.Ask, mcpUnknown}
	case effect.Read, effect.Write, effect.Delete:
		switch {
		case !path.Known():
			return answer{approval.Ask, pathUnknown}
		case path.Inside() && e.Kind == effect.Read:
			return answer{approval.Ask, readInside}
		case path.Inside() && e.Kind != effect.Read && e.Product:
			return answer{approval.Allow, writeProduct}
		case path.Inside() && e.Kind == effect.Delete:
			return answer{approval.Ask, deleteInside}
		case path.Inside():
			return answer{approval.Ask, writeInside}
		case e.Kind == effect.Read:
			return answer{approval.Deny, readOutside}
		case e.Kind == effect.Write:
			return answer{approval.Deny, writeOutside}
		}
		return answer{approval.Deny, deleteOutside}
	case effect.Opaque:
		if e.Unconfined {
			return answer{approval.Deny, opaqueUnconfined}
		}
		if e.Privileged {
			return answer{approval.Deny, opaqueDisguise}
		}
	}
	return answer{approval.Ask, opaqueUnknown}
}

// allow remembers a command that the operator allows, for what it covers.
func (j *judgement) allow(s *subject, operator []*Rule) {
	for _, r := range operator {
		if r.Result == approval.Allow {
			if p := r.pattern(s); p != nil {
				j.allowed = append(j.allowed, allowedCommand{s.e.Command, r, p})
			}
		}
	}
}

// cover lets an operator's rule for a command answer the command's own
// effects that the shipped floor would ask about: who allows "npm install"
// has answered what npm install does. It never answers a deny or a block, what
// the shell does around the command, or what an operator's own rule asks
// about. The head of reasonable-defaults.yaml tells it to operators.
func (j *judgement) cover(effects []Judged) {
	if len(j.allowed) == 0 {
		return
	}
	servers := true
	for i := range effects {
		if e := &effects[i]; e.Kind == effect.MCP && e.Result != approval.Allow {
			servers = false
		}
	}
	allowed := map[*effect.Command][]*allowedCommand{}
	for i := range j.allowed {
		a := &j.allowed[i]
		allowed[a.command] = append(allowed[a.command], a)
	}
	for i := range effects {
		d := &effects[i]
		disguised := d.Result == approval.Deny && d.Rule == opaqueDisguise // a rule that names the wrapper answers it
		itself := d.Kind == effect.Read && d.Option == effect.ProgramItself && d.rule == nil && d.Result == approval.Deny
		if d.Result != approval.Ask && !disguised && !itself || d.operator || d.Kind == effect.Run || d.Kind == effect.MCP {
			continue
		}
		if d.Command == nil && !(servers && d.Arg != "") {
			continue
		}
		for _, a := range allowed[d.Command] {
			if a.covers(d) {
				d.Result, d.Rule, d.rule, d.Covered = approval.Allow, a.rule.ref, a.rule, true
				break
			}
		}
	}
}

// covers reports whether the rule for the command answers the effect.
func (a *allowedCommand) covers(d *Judged) bool {
	if a.command == nil && d.Certainty == effect.Maybe && d.shipped >= approval.Deny {
		return false // of a server's tool even a guess of what the floor denies is asked about
	}
	if d.Privileged && (a.pattern == nil || len(a.pattern.wrappers) == 0) {
		return false
	}
	switch d.Kind {
	case effect.Net:
		return true
	case effect.Env:
		return d.Coverable
	case effect.Opaque:
		if d.Steered && !a.names() {
			return false
		}
		return d.Coverable && !a.otherCode(d)
	case effect.Read:
		if d.Option == effect.ProgramItself { // a rule that names the path has answered it
			return a.pattern != nil && strings.Contains(a.pattern.program.plain(), "/")
		}
		return d.Certainty == effect.Maybe
	case effect.Write, effect.Delete:
		if !d.Path.Inside() || d.File != "" {
			return false
		}
		if a.command == nil {
			return true
		}
		if len(a.command.Turned) > 0 {
			return slices.ContainsFunc(a.command.Turned, func(o string) bool { return a.pattern.namesSpelling(a.command, o) })
		}
		if a.command.Class != effect.Look {
			return true
		}
		// A look-up writes only where an option makes it.
		return d.Option != "" && a.pattern.namesSpelling(a.command, d.Option)
	}
	return false
}

// names reports whether the rule names the command, and not all of its class or
// all commands.
func (a *allowedCommand) names() bool {
	return a.pattern != nil && a.pattern.class == "" && !a.pattern.any
}

// otherCode reports whether the effect is of an option that the rule leaves
// out although it says what the program is to be given: "python3 x.py" speaks
// of x.py and not of "python3 -c '...' x.py".
func (a *allowedCommand) otherCode(d *Judged) bool {
	if d.Option == "" || a.pattern == nil || a.command == nil || a.pattern.namesSpelling(a.command, d.Option) {
		return false
	}
	return a.pattern.saysWhat(a.command)
}

// message is the rule's message, or a sentence that says what was found.
func (j *Judged) message() string {
	if j.Result == approval.Allow || j.Result == approval.None {
		return ""
	}
	if j.rule != nil && j.rule.Message != "" {
		return j.rule.Message
	}
	s := "it " + j.Sentence()
	if j.Kind == effect.Opaque {
		s = "it cannot be told what this does: " + shown(j.Target)
	}
	if j.File != "" {
		s += ", with " + shown(j.File)
	}
	why := ""
	switch {
	case j.rule != nil && j.rule.Reason != "":
		why = "; " + j.rule.Reason
	case j.Rule == writeInside || j.Rule == deleteInside || j.Kind == effect.Opaque:
	case j.Rule != nil && j.Rule.Default:
		why = "; " + j.Rule.Text
	}
	switch j.Result {
	case approval.Block:
		return "Refused: " + s + why + "."
	case approval.Deny:
		return "Needs a person: " + s + why + "."
	}
	return "Asks first: " + s + why + "."
}
