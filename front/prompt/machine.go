package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"assent/front/api/wire"
	"assent/front/card"
	"assent/internal/drawn"
)

// Times of the prompt.
const (
	// Quiet is how long nothing may have been typed before a key counts on a card
	// that is new: longer than the pauses in somebody's typing.
	Quiet = 400 * time.Millisecond
	// calm is the same where a comment was torn away from whoever types it: they
	// stop to think, and have not seen it yet.
	calm = 1500 * time.Millisecond
	// alone is how long nothing may follow a key that does something. What is pasted
	// into a terminal that does not say so comes faster.
	alone = 60 * time.Millisecond
)

// page is how many calls of the queue are read at first.
const page = 100

type view int

const (
	viewCard view = iota
	viewQueue
	viewHistory
	viewSessions
)

// stage is what a person is about to do with a card.
type stage int

const (
	reading    stage = iota
	typing           // a comment
	commented        // and the answer to it is to come
	granting         // choosing a grant
	switching        // choosing a mode
	cancelling       // asked whether they mean it
	helping
)

// shown is the card that is on the screen.
type shown struct {
	call   Call
	card   card.Card
	ready  bool   // the card is here
	whose  string // of what it was made: another one is read anew
	beside string // and what else there is about it

	lines []card.Line
	old   bool // they are of what was known before
	width int
	top   int
	room  int  // how many of them were on the screen
	seen  bool // its end was on the screen
	said  int  // lines that were said, with a screen reader

	past bool // it is looked at, and waits for nobody
}

// Machine is the prompt of one person.
type Machine struct {
	set           Settings
	width, height int

	up    bool
	why   string
	me    string
	queue wire.Queue
	known bool          // the queue was read
	read  time.Time     // when
	gone  map[Call]bool // calls that are decided, whatever an older queue says
	limit int

	asking  bool // for the queue
	stale   bool // it has changed since it was asked for
	about   bool // the card is being read
	listing bool // a list is
	relists bool // and has changed since
	going   bool // to a list that is not here yet
	anew    bool // it has changed since

	view     view
	at       [4]int // what is chosen in each list
	history  []wire.Call
	sessions []wire.Summary
	of       string // the session whose mode is switched
	shown    *shown
	stage    stage
	choice   string    // of a grant or a mode that waits for the super key
	chosen   time.Time // when, where nothing was typed before
	offered  []string  // the panel of grants
	armed    bool      // the input was quiet since the card came
	since    time.Time
	typed    time.Time     // the last input
	torn     time.Duration // that must be quiet before any key counts again
	next     time.Time     // before which no new card comes
	draft    input
	kept     string // what was typed for a card that closed
	held     *held
	busy     Order // what is being written
	note     []string
	ran      string // a call ran that was not licensed so, and nobody has looked
	closed   string // what became of the last card
	fresh    bool   // that was said, and no key was pressed since
	ended    time.Time
	unsure   Call // the last card, where it closed and nothing is decided yet

	orders []Order
	wakes  []time.Time // that were asked for and are to come
	said   strings.Builder
	echoed bool // the last line of said is not ended
}

// held is an act whose key waits to be found alone.
type held struct {
	at  time.Time
	act func()
}

// New is a prompt that knows nothing yet.
func New(set Settings) *Machine {
	return &Machine{set: defaults(set), width: 80, height: 24, limit: page}
}

func defaults(set Settings) Settings {
	if set.SuperKey == "" {
		set.SuperKey = "alt"
	}
	return set
}

func (m *Machine) do(o Order) { m.orders = append(m.orders, o) }

// wake asks for a tick, once for each time.
func (m *Machine) wake(at time.Time) {
	if !slices.ContainsFunc(m.wakes, at.Equal) {
		m.wakes = append(m.wakes, at)
		m.do(Wake{at})
	}
}

// say tells a screen reader something, on a line of its own. It is nothing without
// one.
func (m *Machine) say(format string, args ...any) {
	if !m.set.Plain {
		return
	}
	for text := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		for _, line := range drawn.Wrap(text, m.width) { // no word is cut at the edge
			m.line(line)
		}
	}
}

// line says a line as it is.
func (m *Machine) line(text string) {
	if m.echoed {
		m.said.WriteByte('\n')
	}
	m.echoed = false
	m.said.WriteString(text + "\n")
}

// echo says what was typed, on the line on which it is typed.
func (m *Machine) echo(text string) {
	if m.set.Plain {
		m.echoed = true
		m.said.WriteString(plainText(text))
	}
}

// tell shows a line below the card.
func (m *Machine) tell(format string, args ...any) {
	m.note = []string{fmt.Sprintf(format, args...)}
	m.say("%s", m.note[0])
}

// Said is the text for a screen reader that has come since it was called last.
func (m *Machine) Said() string {
	said := m.said.String()
	m.said.Reset()
	return said
}

// Step takes what happened and gives what is to be done.
func (m *Machine) Step(now time.Time, e Event) []Order {
	m.orders = nil
	m.wakes = slices.DeleteFunc(m.wakes, func(at time.Time) bool { return !at.After(now) })
	if m.held != nil {
		_, key := e.(Key)
		_, paste := e.(Paste)
		switch {
		case key || paste:
			m.held = nil
			m.disarm(now)
			m.tell("Several keys came at once, as when something is pasted: nothing was done. Press the key again, alone.")
			m.typed = now
			return m.orders
		case now.Sub(m.held.at) >= alone:
			act := m.held.act
			m.held = nil
			act()
		}
	}
	switch e := e.(type) {
	case Key:
		if !m.swallows(now, e) {
			if now.Sub(m.ended) >= Quiet {
				m.fresh = false // whoever typed could read it
			}
			m.key(now, e)
		}
		m.typed = now
		if !m.armed {
			m.wake(now.Add(Quiet))
		}
	case Paste:
		m.paste(now, e.Text)
		m.typed = now
	case Size:
		if e.Width > 0 && e.Height > 0 { // or nobody knows
			m.width, m.height = e.Width, e.Height
		}
	case Tick:
		m.ready(now)
	case Set:
		plain := m.set.Plain
		m.set = defaults(e.Settings)
		m.set.Plain = plain
	case Up:
		m.link(true, "", e.Name)
	case Down:
		m.link(false, e.Err.Error(), m.me)
	case Changed:
		m.changed(e.Rows)
	case Queue:
		m.queued(now, e)
	case Card:
		m.carded(now, e)
	case History:
		if m.failed(e.Err); e.Err == nil {
			name := func(c wire.Call) Call { return Call{c.Session, c.Job, c.Stamp.Rev} }
			m.at[viewHistory] = kept(m.history, e.Calls, m.at[viewHistory], name)
			m.history = e.Calls
		}
		m.listed()
	case Sessions:
		if m.failed(e.Err); e.Err == nil {
			m.at[viewSessions] = kept(m.sessions, e.Sessions, m.at[viewSessions], func(s wire.Summary) string { return s.ID })
			m.sessions = e.Sessions
		}
		m.listed()
	case Wrote:
		m.wrote(now, e)
	}
	m.choose(now)
	m.lay()
	return m.orders
}

// kept is where what was chosen in a list stands in the list as it is now: a row that
// comes above it must not have it be another.
func kept[T any, K comparable](was, now []T, at int, name func(T) K) int {
	if at < len(was) {
		chosen := name(was[at])
		if i := slices.IndexFunc(now, func(row T) bool { return name(row) == chosen }); i >= 0 {
			return i
		}
	}
	return max(0, min(at, len(now)-1))
}

// failed tells what could not be read. While the kernel is down that is told
// already.
func (m *Machine) failed(err error) {
	if err != nil && m.up {
		m.tell("It cannot be read: %v", err)
	}
}

func (m *Machine) link(up bool, why, me string) {
	if up && !m.up {
		m.up, m.me, m.why = true, me, ""
		m.say("The kernel answers.")
		m.asking, m.about, m.listing, m.busy = false, false, false, nil
		m.refresh()
		m.reread()
		return
	}
	if !up && (m.up || m.why != why) {
		if m.up || m.why == "" {
			m.say("The kernel does not answer: %s. Trying again.", why)
		}
		m.up, m.why = false, why
		m.asking, m.about = false, false
		if m.busy != nil {
			m.busy = nil
			m.tell("The kernel ended while the answer was sent: whether it arrived is known when it is back.")
		}
	}
}

// refresh reads the queue, once at a time.
func (m *Machine) refresh() {
	if !m.up {
		return
	}
	if m.asking {
		m.stale = true
		return
	}
	m.asking, m.stale = true, false
	m.do(GetQueue{m.limit})
	m.relist()
}

// entered says a list to a screen reader that a person has just gone to; later
// readings of it say nothing.
func (m *Machine) entered() {
	if m.going {
		m.going = false
		m.sayList()
	}
}

// relist reads the list that is seen, once at a time.
func (m *Machine) relist() {
	if m.listing {
		m.relists = true
		return
	}
	if !m.up {
		return
	}
	switch m.view {
	case viewHistory:
		m.do(GetHistory{m.at[viewHistory] + page})
	case viewSessions:
		m.do(GetSessions{})
	case viewCard, viewQueue:
		return
	}
	m.listing, m.relists = true, false
}

// listed: a list has come. What changed while it was read is read again.
func (m *Machine) listed() {
	m.listing = false
	m.entered()
	if m.relists {
		m.relist()
	}
}

// reread reads the card that is shown.
func (m *Machine) reread() {
	if m.shown == nil || !m.up {
		return
	}
	if m.about {
		m.anew = true
		return
	}
	m.about, m.anew = true, false
	m.do(GetCard{m.shown.call})
}

func (m *Machine) changed(rows []wire.Row) {
	if len(rows) == 0 {
		return
	}
	m.unlicensed(rows)
	m.refresh()
	if m.shown == nil {
		if m.unsure != (Call{}) {
			m.do(GetCard{m.unsure})
		}
		return
	}
	c := m.shown.call
	for _, r := range rows {
		if f := r.Field; f != nil && f.Session == c.Session && f.Job == c.Job {
			m.reread()
			return
		}
		if g := r.Register; g != nil && (g.Session == c.Session || g.Session == "") {
			m.reread()
			return
		}
		// Another read of the same folder may offer it.
		if f := r.Field; f != nil && f.Session == c.Session && (f.Name == "policyResult" || f.Name == "approved") {
			m.reread()
			return
		}
	}
}

// unlicensed tells of calls that ran and were not licensed so, until a person looks
// into the history.
func (m *Machine) unlicensed(rows []wire.Row) {
	for _, r := range rows {
		if r.Register == nil || r.Register.Name != wire.RunsRegister {
			continue
		}
		var run struct {
			Number wire.Rev `json:"number"`
			How    string   `json:"how"`
			Tool   string   `json:"tool"`
		}
		if json.Unmarshal(r.Register.Value, &run) != nil {
			run.How = "not told"
		}
		m.ran = plainText(fmt.Sprintf("Call %d (%s) ran %s.", cmp.Or(run.Number, r.Tx), drawn.OneLine(run.Tool, 40), card.Ran(run.How)))
		m.say("%s", m.ran)
		m.ring()
	}
}

func nameOf(j wire.Job) Call { return Call{j.Session, j.ID, j.Stamp.Rev} }

func (m *Machine) queued(now time.Time, q Queue) {
	m.asking = false
	if q.Err != nil {
		m.failed(q.Err)
	} else {
		chosen := Call{}
		if i := m.at[viewQueue]; i < len(m.queue.Queue) {
			chosen = nameOf(m.queue.Queue[i])
		}
		none := m.known && m.queue.Waiting == 0
		m.queue, m.known, m.read = q.Queue, true, now
		m.leave()
		m.heard()
		if none && m.queue.Waiting > 0 && m.view != viewCard {
			m.ring()
		}
		if i := slices.IndexFunc(m.queue.Queue, func(j wire.Job) bool { return nameOf(j) == chosen }); i >= 0 {
			m.at[viewQueue] = i
		}
		m.at[viewQueue] = min(m.at[viewQueue], max(0, len(m.queue.Queue)-1))
		if m.shown != nil && m.shown.ready && !m.shown.past && m.place(m.shown.call) < 0 {
			m.reread() // it says by whom it was answered
		}
	}
	if m.stale {
		m.refresh()
	}
}

// arriving is how long whoever asked for a call may take to come and wait for it.
const arriving = 10 * time.Second

// heard has the card say whether anybody waits for its answer.
func (m *Machine) heard() {
	if s := m.shown; s != nil && s.ready {
		none := slices.Contains(m.queue.Unawaited, s.call.Number) && m.read.Sub(s.card.Job.Stamp.At) >= arriving
		if s.card.About.Unawaited != none {
			s.card.About.Unawaited, s.old = none, true
		}
	}
}

// leave takes calls out of the queue that are known to be decided: what was asked
// for before may be answered after.
func (m *Machine) leave() {
	n := len(m.queue.Queue)
	m.queue.Queue = slices.DeleteFunc(m.queue.Queue, func(j wire.Job) bool { return m.gone[nameOf(j)] })
	m.queue.Waiting -= n - len(m.queue.Queue)
}

// place is where a call stands in the queue, -1 when it is not there.
func (m *Machine) place(c Call) int {
	return slices.IndexFunc(m.queue.Queue, func(j wire.Job) bool { return nameOf(j) == c })
}

// choose shows the first card of the queue where none is shown.
func (m *Machine) choose(now time.Time) {
	if m.shown != nil || !m.up || !m.known || m.view != viewCard {
		return
	}
	if now.Before(m.next) {
		if len(m.queue.Queue) > 0 {
			m.wake(m.next)
		}
		return
	}
	for _, j := range m.queue.Queue {
		m.show(now, nameOf(j))
		m.ring()
		return
	}
}

// ring rings the bell, where a person wants that.
func (m *Machine) ring() {
	if m.set.Bell {
		m.do(Ring{})
	}
}

// show puts a card on the screen.
func (m *Machine) show(now time.Time, c Call) {
	m.keep()
	m.shown = &shown{call: c}
	m.stage, m.choice, m.note = reading, "", nil
	m.about = false
	m.disarm(now)
	m.reread()
}

// keep keeps what was typed for a card that goes.
func (m *Machine) keep() {
	if text := m.draft.text(); strings.TrimSpace(text) != "" {
		m.kept = text
	}
	m.draft = input{}
}

// disarm has keys wait until the input was quiet.
func (m *Machine) disarm(now time.Time) {
	m.armed, m.since = false, now
	m.wake(now.Add(Quiet))
}

// ready reports whether a key counts that comes now.
func (m *Machine) ready(now time.Time) bool {
	quiet := m.since
	if m.typed.After(quiet) {
		quiet = m.typed
	}
	switch at := quiet.Add(Quiet); {
	case m.armed:
	case now.Before(at):
		m.wake(at)
	default:
		m.armed = true
		if m.shown != nil && m.shown.ready && m.shown.seen && m.view == viewCard {
			m.say("Keys: %s.", strings.ReplaceAll(m.keys(), "   ", ", "))
		}
	}
	return m.armed
}

func (m *Machine) carded(now time.Time, c Card) {
	if m.shown == nil && m.unsure == c.Call && c.Err == nil && c.Job.Leaf != nil {
		if decided(c.Job.Leaf) {
			m.unsure = Call{}
			m.closed = m.became(card.Of(c.Job, c.About))
			m.say("%s", m.closed)
		}
		return
	}
	if m.shown == nil || m.shown.call != c.Call {
		return
	}
	m.about = false
	if m.anew {
		defer m.reread()
	}
	s := m.shown
	if c.Err != nil {
		m.failed(c.Err)
		return
	}
	if nameOf(c.Job) != c.Call || c.Job.Leaf == nil {
		m.over("It is not there any more.", now, true)
		return
	}
	made := card.Of(c.Job, c.About)
	if !s.past && !c.Job.Leaf.NeedsHuman && c.Job.Leaf.PolicyResult != nil {
		if m.busy != nil {
			return // whoever is writing is about to hear of it
		}
		if !s.ready { // somebody was faster
			s.card = made
		}
		m.over(m.became(made), now, decided(c.Job.Leaf))
		return
	}
	whose := fingerprint(c.Job)
	fresh := !s.ready || s.whose != whose
	if s.ready && s.whose != whose {
		s.top, s.seen, s.said = 0, false, 0
		m.tell("The card has changed: read it again.")
		m.disarm(now)
	}
	if beside := beside(c); s.beside != beside || s.whose != whose {
		s.beside, s.old = beside, true
	}
	s.card, s.ready, s.whose = made, true, whose
	m.heard()
	m.lay()
	if fresh {
		if s.said == 0 {
			m.say("%s", m.headline())
		}
		m.disarm(now)
		m.sayCard()
	}
}

// beside is what else of a call its card shows. Large calls are not laid out anew
// for what changes nothing.
func beside(c Card) string {
	j, about := c.Job, c.About
	j.Arguments, j.Facts = nil, nil
	if j.Leaf != nil {
		l := *j.Leaf
		l.Explanation = nil
		j.Leaf = &l
	}
	year, month, day := about.Now.Date() // times of today are told without their day
	about.Now = time.Date(year, month, day, 0, 0, 0, 0, about.Now.Location())
	text, err := json.Marshal([]any{j, about}, json.Deterministic(true))
	if err != nil {
		return c.About.Now.String() // and it is laid out anew
	}
	return string(text)
}

func decided(l *wire.Leaf) bool {
	return l.Approved != nil || l.Cancelled != nil || l.OrchestrationResult != nil
}

// fingerprint is what of a call must be read again when it changes.
func fingerprint(j wire.Job) string {
	text := string(j.Arguments) + "\x00" + string(j.Facts)
	if l := j.Leaf; l != nil {
		text += "\x00" + string(l.Explanation)
		if l.PolicyResult != nil {
			text += "\x00" + *l.PolicyResult
		}
	}
	return text
}

// became says what became of a call that waits no more.
func (m *Machine) became(c card.Card) string {
	l := c.Job.Leaf
	who := func(field string) string {
		writer := l.Written[field].Writer
		if name, ok := strings.CutPrefix(writer, "human:"); ok {
			return plainText(name)
		}
		return plainText(writer)
	}
	what := m.nameIt(c.Job)
	switch {
	case l.Approved != nil && *l.Approved:
		return what + " was allowed by " + who("approved") + "."
	case l.Approved != nil:
		return what + " was refused by " + who("approved") + "."
	case l.Cancelled != nil:
		return what + " was cancelled."
	case l.OrchestrationResult != nil && *l.OrchestrationResult:
		return what + " was allowed: " + reason(l) + "."
	case l.OrchestrationResult != nil:
		return what + " was refused: " + reason(l) + "."
	}
	return what + " waits for no person any more: the mode or a grant has changed."
}

func reason(l *wire.Leaf) string {
	if l.LicenseReason == nil {
		return "nobody says why"
	}
	return card.Reason(*l.LicenseReason)
}

func (m *Machine) nameIt(j wire.Job) string {
	return plainText(fmt.Sprintf("Call %d (%s)", j.Stamp.Rev, j.Name))
}

// over closes the card that is shown, and says what became of it.
// A call that is decided never waits again.
func (m *Machine) over(what string, now time.Time, decided bool) {
	m.keep()
	if m.gone == nil {
		m.gone = make(map[Call]bool)
	}
	call := m.shown.call
	m.gone[call], m.unsure = decided, Call{}
	m.leave()
	switch m.stage {
	case reading:
	case typing:
		m.torn = calm
	case commented, granting, switching, cancelling, helping:
		m.torn = Quiet
	}
	m.shown, m.stage, m.choice, m.busy, m.held = nil, reading, "", nil, nil
	m.about = false
	if m.closed = what; !decided {
		m.unsure = call
		m.do(GetCard{call})
	}
	m.note = nil
	m.fresh, m.ended = true, now
	m.next = now.Add(m.set.Throttle)
	m.say("%s", what)
	if m.kept != "" {
		m.say("What you had typed is kept: Control R puts it into the next comment.")
	}
	m.refresh()
}

// wrote hears what became of what was written.
func (m *Machine) wrote(now time.Time, w Wrote) {
	if a, ok := w.What.(Assign); ok {
		if w.Err != nil {
			m.tell("The mode was not changed: %v", w.Err)
		} else {
			m.tell("Session %s is in mode %s.", plainText(a.Session), a.Mode)
			m.refresh()
		}
		return
	}
	if m.busy == nil || w.What != m.busy {
		return
	}
	m.busy = nil
	if m.shown == nil {
		return
	}
	switch {
	case w.Over:
		m.reread() // it says what became of it
	case w.Err != nil && !w.Refused:
		m.tell("The kernel said nothing to that (%v): whether it arrived is seen in a moment.", w.Err)
		m.disarm(now)
		m.reread()
	case w.Err != nil:
		m.tell("It was not written: %v", w.Err)
		m.disarm(now)
		m.reread()
	default:
		m.done(now, w.What)
	}
}

// quiet reports whether nothing was typed for a while.
func (m *Machine) quiet(now time.Time) bool { return now.Sub(m.typed) >= Quiet }

// swallows reports whether a key was typed for something that is not there any
// more: whoever types a comment does not see at once that its card has closed.
func (m *Machine) swallows(now time.Time, k Key) bool {
	quiet := m.ended
	if m.typed.After(quiet) {
		quiet = m.typed
	}
	if now.Sub(quiet) >= m.torn {
		m.torn = 0
	}
	return m.torn > 0 && k.Name != "ctrl+c"
}

// done says what was done.
func (m *Machine) done(now time.Time, o Order) {
	what := m.nameIt(m.shown.card.Job)
	sent := func() { m.draft = input{} }
	switch o := o.(type) {
	case Answer:
		verb := "refused"
		if o.Yes {
			verb = "allowed"
		}
		if o.Comment != "" {
			sent()
			verb += ", with a comment"
		}
		m.over("You: "+what+" "+verb+".", now, true)
	case Open:
		m.over("You: "+what+" allowed, and "+plainText(o.Folder)+" opened for reading in its session.", now, true)
	case Grant:
		where, session := "in its session", o.Call.Session
		if o.Standing {
			where, session = "in all sessions", ""
		}
		if !o.Until.IsZero() {
			where += " for an hour, until " + card.When(o.Until, now)
		}
		m.over("You: "+what+" allowed, and "+o.Cluster+" granted "+where+". To take it back:\n"+card.Revoke(o.Cluster, "", session), now, true)
	case Cancel:
		m.over("You: "+what+" cancelled.", now, true)
	case Uncover:
		m.tell("What the policies deny in this session is the classifier's from now on, and yours where it gives no answer.")
		m.stage = reading
		m.reread()
	}
}
