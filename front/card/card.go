package card

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/front/api/wire"
	"assent/internal/drawn"
)

// About is what belongs to a call beside itself.
type About struct {
	// Session is the one the call was made in, with its mode; nil when it is not
	// known.
	Session *wire.Summary
	// Parents are the sessions that it comes from, the nearest first: who started
	// an agent that started this one.
	Parents []wire.Summary
	// Under are the turns and programs that hold the call, the nearest first.
	Under []wire.Job
	// Task is what the session was started for, in the words of the agent that did; ""
	// for one that no agent started.
	Task string
	// Unawaited says that nobody waits for the answer: whoever asked may have ended.
	Unawaited bool
	// Now is what times are told from, and in whose zone.
	Now time.Time
}

// Card is a call as a person sees it.
type Card struct {
	Job   wire.Job
	About About

	said explanation
}

// explanation is what the floor keeps with a call.
type explanation struct {
	Hatch      bool     `json:"hatch"`
	Incomplete bool     `json:"incomplete"`
	Effects    []Effect `json:"effects"`
	More       int      `json:"more"`
	Preview    struct {
		Text string `json:"text"`
	} `json:"preview"`
}

// Effect is one thing that the call would do, and what was said to it.
type Effect struct {
	Kind   string   `json:"kind"`
	Target string   `json:"target"`
	Result string   `json:"result"`
	Rule   string   `json:"rule"`  // its place, "default" for none
	Says   string   `json:"says"`  // the rule as it is written, or what holds without one
	Notes  []string `json:"notes"` // such as "and all below"
	Scan   bool     `json:"scan"`  // the scanner found it
	// Decides says that it is what the policies' message is about.
	Decides bool `json:"decides"`
}

// Of is the card of a call.
func Of(job wire.Job, about About) Card {
	c := Card{Job: job, About: about}
	if job.Leaf != nil {
		_ = json.Unmarshal(job.Leaf.Explanation, &c.said) // one of another form says nothing
	}
	return c
}

// Whole reports whether all of the call is here: lists have the beginnings of
// long values, and nobody may answer one of them.
func (c Card) Whole() bool { return len(c.Job.Cut) == 0 }

// Hatch reports whether the call runs a package that is fetched for it: no grant
// is offered for such a call (law ruling 15).
func (c Card) Hatch() bool { return c.said.Hatch }

// Effects are what the call would do, as far as the floor kept it.
func (c Card) Effects() []Effect { return c.said.Effects }

// Look is how a card is shown.
type Look struct {
	// Width is how many columns a line has, 0 for as many as it takes.
	Width int
	// Plain is for a screen reader: one thing after the other, in words, and
	// nothing that is only drawn.
	Plain bool
}

// page is a card being written.
type page struct {
	Look
	lines []Line
}

// Lines is the card, every line as wide as there is room or less. What made the
// policies ask comes early, so that it is seen at once: a call that takes more than
// a few lines stands below it.
func (c Card) Lines(look Look) []Line {
	p, message, call := &page{Look: look}, &page{Look: look}, &page{Look: look}
	c.title(p)
	c.message(message)
	c.call(call)
	if len(message.lines) <= briefly {
		p.then(message)
	}
	if len(call.lines) <= brief {
		p.blank()
		p.then(call)
	}
	c.floor(p)
	if len(message.lines) > briefly {
		p.heading("What they say of it")
		p.then(message)
	}
	if len(call.lines) > brief {
		p.blank()
		p.then(call)
	}
	c.change(p)
	c.besides(p)
	c.who(p)
	c.classifier(p)
	c.votes(p)
	c.opens(p)
	return p.lines
}

// How many lines may stand above what made the policies ask, of the call and of
// their message: it is on the first screen of a terminal of 24 lines then.
const brief, briefly = 6, 4

// then writes what is on another page.
func (p *page) then(other *page) { p.lines = append(p.lines, other.lines...) }

func (p *page) blank() {
	if !p.Plain && len(p.lines) > 0 {
		p.lines = append(p.lines, nil)
	}
}

func (p *page) heading(text string) {
	p.blank()
	if p.Plain {
		text += "."
	}
	p.words("", 0, []Segment{{text, drawn.Bold, false}})
}

// words writes what the card says behind a beginning, its further lines as far
// from the left as they are told.
func (p *page) words(first string, indent int, segments []Segment) {
	p.hang(first, indent, segments, true)
}

// label is how wide the names at the left are.
const label = 12

// row writes a thing and its name.
func (p *page) row(name string, segments ...Segment) {
	switch {
	case p.Plain && name != "":
		p.hang(name+": ", 0, segments, true)
	case p.Plain:
		p.hang("", 0, segments, true)
	default:
		p.hang(name+strings.Repeat(" ", max(1, label-columns(name))), label, segments, true)
	}
}

// hang writes something behind a beginning of the card's own, its further lines
// behind so many blanks.
func (p *page) hang(first string, indent int, segments []Segment, words bool) {
	if p.Plain {
		p.spoken(first, segments, words)
		return
	}
	room, more := 0, 0
	if p.Width > 0 {
		indent = min(indent, p.Width/3)
		first = cutTo(first, p.Width/3)
		room = p.Width - max(indent, columns(first))
		more = p.Width - columns(first) - room
	}
	for i, part := range foldFirst(segments, room, more, words) {
		head := first
		if i > 0 {
			head = strings.Repeat(" ", indent)
		}
		line := Line{}
		if head != "" {
			line = Line{{head, drawn.Faint, true}}
		}
		p.lines = append(p.lines, append(line, part...))
	}
}

// on stands before what goes on from the line above, where that is of a call: there
// it could look like a line of the card.
const on = "goes on: "

// spoken writes what hang does where nothing is drawn: no word is cut at the edge,
// where one can be had whole.
func (p *page) spoken(first string, segments []Segment, words bool) {
	room, head := p.Width, ""
	if !words {
		head = on
	}
	if room > 0 {
		room = max(room-len(head), 8)
	}
	for i, part := range fold(append([]Segment{{first, drawn.Faint, false}}, segments...), room, true) {
		if i > 0 && head != "" {
			part = append([]Segment{{head, drawn.Faint, false}}, part...)
		}
		p.lines = append(p.lines, part)
	}
}

// block writes lines of a call behind a gutter, with their numbers: nothing in them
// can look like a line of the card. what names them where nothing is drawn.
func (p *page) block(what string, lines [][]Segment) {
	digits := len(strconv.Itoa(len(lines)))
	for i, line := range lines {
		number := strconv.Itoa(i + 1)
		if p.Plain {
			p.hang(what+" "+number+": ", 0, line, false)
			continue
		}
		pad := strings.Repeat(" ", digits-len(number))
		room := 0
		if p.Width > 0 {
			room = p.Width - digits - 5
		}
		for k, part := range fold(line, room, false) {
			head := "  " + pad + number + " │ "
			if k > 0 {
				head = "  " + strings.Repeat(" ", digits) + " ┆ "
			}
			p.lines = append(p.lines, append(Line{{head, drawn.Faint, false}}, part...))
		}
	}
}

func say(text string) Segment { return Segment{text, drawn.None, false} }

// seen is a text of a call on one line of the card.
func (p *page) seen(text string, ink drawn.Ink) []Segment {
	return see(text, style{ink: ink, edges: true, plain: p.Plain})
}

func (c Card) title(p *page) {
	state, ink := c.State()
	number := ""
	if c.Job.Stamp.Rev > 0 {
		number = "call " + strconv.FormatInt(c.Job.Stamp.Rev, 10) + ": "
	}
	line := []Segment{say(number)}
	line = append(line, p.seen(c.Job.Name, drawn.Bold)...)
	kind := c.cluster()
	if c.Job.Kind != "" {
		kind = c.Job.Kind + ", " + kind
	}
	line = append(line, Segment{" (", drawn.Faint, false})
	line = append(line, p.seen(kind, drawn.Faint)...)
	line = append(line, Segment{")", drawn.Faint, false})
	p.words("", 2, line)
	p.words("", 0, []Segment{{state, ink, false}})
	if l := c.Job.Leaf; c.About.Unawaited && l != nil && l.NeedsHuman {
		p.words("", 0, []Segment{say("Nobody waits for the answer just now: whoever asked may have ended.")})
	}
	if !c.Whole() {
		p.words("", 0, []Segment{{"This is only the beginning of it.", drawn.Deny, false}})
	}
}

// message is what the policies say of the call.
func (c Card) message(p *page) {
	if l := c.Job.Leaf; l != nil && l.PolicyMessage != nil {
		for _, text := range linesOf(*l.PolicyMessage) {
			p.words("", 0, p.seen(text, drawn.None))
		}
	}
}

func (c Card) cluster() string {
	if c.Job.Leaf == nil {
		return "sequence"
	}
	return c.Job.Leaf.Cluster
}

// State is how it stands with the call, in a few words.
func (c Card) State() (string, drawn.Ink) {
	l := c.Job.Leaf
	switch {
	case l == nil && c.Job.Completed != nil, l != nil && l.Completed != nil && l.OrchestrationResult == nil && l.Cancelled == nil:
		return "It has ended.", drawn.Faint
	case l == nil:
		return "It is under way.", drawn.None
	case l.Cancelled != nil:
		return "It was cancelled.", drawn.Faint
	case l.OrchestrationResult != nil && *l.OrchestrationResult:
		return "It was allowed.", drawn.Allow
	case l.OrchestrationResult != nil:
		return "It was refused.", drawn.Deny
	case l.NeedsHuman:
		return "It waits for a person.", drawn.Ask
	case l.PolicyResult == nil:
		return "The policies have not answered yet.", drawn.None
	case l.Approved != nil:
		return "A person has answered it.", drawn.None
	}
	return "It waits, and not for a person.", drawn.None
}

// who says who asks, from where, and by whose leave.
func (c Card) who(p *page) {
	p.heading("Who asks")
	asker := c.writer(p, c.Job.Stamp.Writer)
	if s := c.About.Session; s != nil && s.Client != "" {
		asker = append(asker, say(" of "))
		asker = append(asker, p.seen(s.Client, drawn.None)...)
	}
	p.row("by", append(asker, say(c.when(c.Job.Stamp.At)))...)
	for i, job := range c.About.Under {
		name := "in"
		if i > 0 {
			name = "within"
		}
		line := p.seen(strings.TrimSpace(job.Kind+" "+job.Name)+" "+job.ID, drawn.None)
		number, text := 0, ""
		if i == 0 {
			number, text = c.stands(job)
		}
		if number > 0 {
			line = append(line, say(", line "+strconv.Itoa(number)))
		}
		p.row(name, line...)
		if text != "" {
			p.row("", p.seen(text, drawn.Faint)...)
		}
	}
	session := p.seen(c.Job.Session, drawn.None)
	s := c.About.Session
	if s != nil {
		session = append(session, say(", "+s.Seat+", in mode "), Segment{s.CurrentPolicy, modeInk(s.CurrentPolicy), false})
	}
	p.row("session", session...)
	for _, parent := range c.About.Parents {
		line := append(p.seen(parent.ID, drawn.None), say(" of "))
		line = append(line, c.writer(p, parent.Stamp.Writer)...)
		if parent.Client != "" {
			line = append(line, say(", "))
			line = append(line, p.seen(parent.Client, drawn.None)...)
		}
		p.row("started by", line...)
	}
	if c.About.Task != "" {
		p.row("task", p.seen(drawn.Middle(c.About.Task, mostTask), drawn.None)...)
	}
	if s == nil {
		p.row("folder", say("not known"))
		return
	}
	folder := cmp.Or(c.startsIn(), s.Cwd, s.Workspace)
	p.row("folder", p.seen(folder, drawn.Bold)...)
	if s.Workspace != folder {
		p.row("workspace", p.seen(s.Workspace, drawn.None)...)
	}
}

// How much of a task and of a line of a program is told, in bytes.
const mostTask, mostStands = 400, 200

// stands is where in the text of a program the call stands that made it, and what stands
// in that line; 0 where that is not known. An agent may say anything of its calls: what
// the host says of those it makes counts.
func (c Card) stands(program wire.Job) (line int, text string) {
	var at struct {
		Line int `json:"line"`
	}
	var of struct {
		Expr string `json:"expr"`
	}
	if !strings.HasPrefix(c.Job.Stamp.Writer, "host:") || program.Kind != "ProgrammaticJob" || program.ID != c.Job.Parent ||
		json.Unmarshal(c.Job.Facts, &at) != nil || at.Line < 1 || json.Unmarshal(program.Arguments, &of) != nil {
		return 0, ""
	}
	lines := strings.Split(of.Expr, "\n")
	if at.Line > len(lines) {
		return 0, ""
	}
	return at.Line, drawn.Middle(strings.TrimSpace(lines[at.Line-1]), mostStands)
}

// startsIn is the folder that a call starts in, where its client says so.
func (c Card) startsIn() string {
	var facts struct {
		Cwd string `json:"cwd"`
	}
	if json.Unmarshal(c.Job.Facts, &facts) != nil {
		return ""
	}
	return facts.Cwd
}

func modeInk(mode string) drawn.Ink {
	if mode == "yolo" {
		return drawn.Deny
	}
	return drawn.None
}

// writer is who wrote something, for people.
func (c Card) writer(p *page, text string) []Segment {
	role, name, _ := strings.Cut(text, ":")
	switch role {
	case "human":
		return p.seen(name, drawn.None)
	case "agent":
		return append([]Segment{say("agent ")}, p.seen(name, drawn.None)...)
	}
	return []Segment{say("the kernel")}
}

// when is when something was, behind what it was.
func (c Card) when(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return ", " + When(at, c.About.Now)
}

// When is a time for people, as short as it can be told on that day.
func When(at, now time.Time) string {
	at = at.In(now.Location())
	if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return at.Format(time.TimeOnly)
	}
	return at.Format("2006-01-02 15:04:05")
}

// floor says what the policies said to each effect, and what the scanner found.
func (c Card) floor(p *page) {
	l := c.Job.Leaf
	if l == nil {
		return
	}
	p.heading("What it would do, and what the policies say")
	if l.PolicyResult == nil {
		p.words("", 0, []Segment{say("not known yet")})
		return
	}
	p.row("policies", Segment{*l.PolicyResult, drawn.Result(*l.PolicyResult), false})
	// What made them say so comes first; the rest is in the order of the call.
	effects := slices.Clone(c.said.Effects)
	weight := func(e Effect) int {
		switch {
		case e.Decides:
			return 0
		case e.Result == *l.PolicyResult:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(effects, func(a, b Effect) int { return cmp.Compare(weight(a), weight(b)) })
	byScan := slices.IndexFunc(effects, func(e Effect) bool { return e.Scan })
	if byScan == 0 {
		c.scanner(p, effects)
	}
	told := make(map[string]bool)
	for _, e := range effects {
		e.Decides = false
		key := fmt.Sprint(e)
		if e.Scan || told[key] {
			continue
		}
		told[key] = true
		c.effect(p, e)
	}
	if c.said.More > 0 {
		p.words("", 0, []Segment{{fmt.Sprintf("and %d more, which the kernel does not keep", c.said.More), drawn.Deny, false}})
	}
	if c.said.Hatch {
		p.words("", 0, []Segment{{"It runs a package that is fetched for it: no grant answers that.", drawn.Ask, false}})
	}
	if byScan > 0 {
		p.heading("What the scanner found")
		c.scanner(p, effects)
	}
}

// scanner says what the scanner found.
func (c Card) scanner(p *page, effects []Effect) {
	for _, e := range effects {
		if e.Scan {
			c.effect(p, e)
		}
	}
	if c.said.Incomplete {
		p.words("", 0, []Segment{say("Nothing else speaks against it.")})
	}
}

// effect is one thing that it would do: the answer, the thing, and below it the
// rule.
func (c Card) effect(p *page, e Effect) {
	target := p.seen(e.Target, drawn.None)
	if len(e.Notes) > 0 {
		target = append(target, say(" ("))
		target = append(target, p.seen(strings.Join(e.Notes, ", "), drawn.None)...)
		target = append(target, say(")"))
	}
	rule := p.seen(e.Says, drawn.Faint)
	if e.Rule != "" && e.Rule != "default" {
		place := p.seen(e.Rule, drawn.Faint)
		if e.Says != "" {
			place = append(place, Segment{"  ", drawn.Faint, false})
		}
		rule = append(place, rule...)
	} else if e.Says == "" {
		rule = []Segment{{"no rule", drawn.Faint, false}}
	}
	if p.Plain {
		line := []Segment{say(cell(e.Result) + ": " + cell(e.Kind) + " ")}
		by := ", by "
		if e.Rule == "" || e.Rule == "default" {
			by = ": "
		}
		line = append(append(line, target...), say(by))
		p.words("", 0, append(line, rule...))
		return
	}
	head := Segment{fmt.Sprintf("%-6s", cell(e.Result)), drawn.Result(e.Result), true}
	p.words("  ", 15, append([]Segment{head, {fmt.Sprintf("%-7s", cell(e.Kind)), drawn.None, true}}, target...))
	p.words("        ", 10, rule)
}

// cell is a word of the floor's own.
func cell(s string) string { return drawn.OneLine(s, 8) }

// classifier says how it stands with the classifier.
func (c Card) classifier(p *page) {
	l := c.Job.Leaf
	if l == nil || l.JudgeResult == nil && l.JudgeFailMessage == nil && l.Judging == nil {
		return
	}
	p.heading("The classifier")
	defer c.judging(p)
	if l.JudgeResult != nil {
		p.row("vote", append([]Segment{{*l.JudgeResult, drawn.Result(*l.JudgeResult), false}}, say(c.written("judgeResult")))...)
		c.judgement(p)
	}
	if l.JudgeFailMessage == nil {
		return
	}
	times := "1 attempt has failed"
	if l.JudgeFails > 1 {
		times = fmt.Sprintf("%d attempts have failed", l.JudgeFails)
	}
	p.row("attempts", say(times+c.written(fmt.Sprintf("judgeFail/%d", l.JudgeFails))))
	p.row("because", p.seen(*l.JudgeFailMessage, drawn.None)...)
	switch {
	case l.Judging != nil:
	case l.JudgeRetry != nil:
		p.row("next", say("attempt "+strconv.Itoa(l.JudgeFails+1)+" at "+When(*l.JudgeRetry, c.About.Now)))
	case l.NeedsHuman:
		p.row("next", say("no attempt is planned"))
	}
}

// judgement says who voted, and why.
func (c Card) judgement(p *page) {
	var by struct {
		Program     string   `json:"program"`
		Connection  string   `json:"connection"`
		Model       string   `json:"model"`
		Reason      string   `json:"reason"`
		Uncertainty *float64 `json:"uncertainty"`
		Severity    *float64 `json:"severity"`
		Remembered  bool     `json:"remembered"`
	}
	if text := c.Job.Leaf.Judgement; len(text) == 0 || json.Unmarshal(text, &by) != nil {
		return
	}
	who := by.Model + " on " + by.Connection
	if by.Connection == "" {
		who = "the program " + by.Program + " itself"
	}
	if by.Uncertainty != nil && by.Severity != nil {
		who += fmt.Sprintf(" (uncertainty %v, severity %v)", *by.Uncertainty, *by.Severity)
	}
	if by.Remembered {
		who += ", to the same call before"
	}
	p.row("by", p.seen(who, drawn.None)...)
	if by.Reason != "" {
		p.row("says", p.seen(by.Reason, drawn.None)...)
	}
}

// judging is the attempt that waits or runs.
func (c Card) judging(p *page) {
	j := c.Job.Leaf.Judging
	if j == nil {
		return
	}
	what := "attempt " + strconv.Itoa(j.Attempt)
	var asked []Segment
	if j.Connection != "" {
		asked = append(append([]Segment{say(", of ")}, p.seen(j.Model, drawn.None)...), say(" on "))
		asked = append(asked, p.seen(j.Connection, drawn.None)...)
	}
	switch {
	case j.State == "asks" && j.At != nil:
		p.row("now", append([]Segment{say(what + " asks since " + When(*j.At, c.About.Now))}, asked...)...)
	case j.State == "waits" && j.At != nil:
		p.row("next", append([]Segment{say(what + " at " + When(*j.At, c.About.Now))}, asked...)...)
	default:
		p.row("next", say(what+", as soon as a connection for the classifier is chosen"))
	}
}

// written is when a field was written, and by whom where that was a person.
func (c Card) written(field string) string {
	stamp, ok := c.Job.Leaf.Written[field]
	if !ok {
		return ""
	}
	when := strings.TrimPrefix(c.when(stamp.At), ", ")
	writer := stamp.Writer
	if _, asked, ok := strings.Cut(writer, " for "); ok && strings.HasPrefix(writer, "host:") {
		writer = asked // who asked the kernel for it, such as to cancel
	}
	if role, name, _ := strings.Cut(writer, ":"); role == "human" {
		when = drawn.OneLine(name, 60) + ", " + when
	} else if role == "agent" {
		when = "agent " + drawn.OneLine(name, 60) + ", " + when
	}
	return " (" + when + ")"
}

// votes say what was answered and what became of it.
func (c Card) votes(p *page) {
	l := c.Job.Leaf
	if l == nil && len(c.Job.OutcomeJSON) > 0 {
		p.heading("What became of it")
		p.row("outcome", p.seen(outcome(c.Job.OutcomeJSON), drawn.None)...)
	}
	if l == nil || l.Approved == nil && l.ApprovalComment == nil && l.OrchestrationResult == nil && l.Cancelled == nil && l.Completed == nil && l.Ran == nil {
		return
	}
	p.heading("What became of it")
	yes := func(b bool, y, n string) Segment {
		if b {
			return Segment{y, drawn.Allow, false}
		}
		return Segment{n, drawn.Deny, false}
	}
	if l.Approved != nil {
		p.row("answer", yes(*l.Approved, "yes", "no"), say(c.written("approved")))
	}
	if l.ApprovalComment != nil {
		p.row("comment", append(p.seen(*l.ApprovalComment, drawn.None), say(c.written("approvalComment")))...)
	}
	if l.OrchestrationResult != nil {
		p.row("decided", yes(*l.OrchestrationResult, "allowed", "refused"), say(reason(l)+c.written("orchestrationResult")))
		if l.Grant != nil {
			p.row("through", c.grant(p, *l.Grant)...)
		}
	}
	if l.BodyStarted != nil {
		p.row("begun", say("yes"+c.written("bodyStarted")))
	}
	if l.Cancelled != nil {
		p.row("cancelled", say("yes"+c.written("cancelled")))
	}
	if r := l.Ran; r != nil {
		how := Ran(r.How)
		if !r.OK {
			how += ", and failed"
		}
		p.row("it ran", Segment{how, drawn.Block, false}, say(" ("+strings.TrimPrefix(c.when(r.At), ", ")+")"))
		switch {
		case len(r.Arguments) > 0:
			p.row("with", p.seen(string(r.Arguments), drawn.None)...)
		case r.Cut > 0:
			p.row("with", say(fmt.Sprintf("others, of %d bytes", r.Cut)))
		}
		if r.Text != "" {
			p.row("gave", p.seen(r.Text, drawn.None)...)
		}
	}
	if l.Completed != nil {
		p.row("outcome", append(p.seen(outcome(l.OutcomeJSON), drawn.None), say(c.written("completed")))...)
	}
}

// grant is the grant that let a call through.
func (c Card) grant(p *page, g wire.Grant) []Segment {
	line := []Segment{say(fmt.Sprintf("grant %d of %s, by ", g.Number, g.Kind))}
	line = append(line, c.writer(p, g.By)...)
	line = append(line, say(c.when(g.At)))
	if g.Session == "" {
		line = append(line, say(", for all sessions"))
	}
	if g.Until != nil {
		line = append(line, say(", until "+When(*g.Until, c.About.Now)))
	}
	return line
}

// reason is the line of the law that decided, in words.
func reason(l *wire.Leaf) string {
	if l.LicenseReason == nil {
		return ""
	}
	return ": " + Reason(*l.LicenseReason)
}

// outcome is what an outcome says, or all of it where it says more than that.
func outcome(text jsontext.Value) string {
	var said struct {
		OK   bool    `json:"ok"`
		Text *string `json:"text"`
		Code string  `json:"code"`
	}
	if json.Unmarshal(text, &said, json.RejectUnknownMembers(true)) != nil || said.Text == nil {
		return string(text)
	}
	return *said.Text
}

// opens says what a yes opens from then on, and which folder it may open too.
func (c Card) opens(p *page) {
	l := c.Job.Leaf
	if l == nil || !l.NeedsHuman || len(l.Opens) == 0 && l.Offer == "" {
		return
	}
	p.heading("What a yes opens for reading in this session from then on")
	for _, o := range l.Opens {
		line := p.seen(o.Path, drawn.None)
		if o.Below {
			line = append(line, say(" and what is under it"))
		}
		p.row("", line...)
	}
	if l.Offer != "" {
		p.row("or all of", append(p.seen(l.Offer, drawn.Bold), say(", if you say so"))...)
	}
}
