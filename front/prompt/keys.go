package prompt

import (
	"fmt"
	"strings"
	"time"

	"assent/approval"
	"assent/front/api/wire"
)

// key takes a key.
func (m *Machine) key(now time.Time, k Key) {
	switch k.Name {
	case "ctrl+c":
		m.do(Quit{})
		return
	case "ctrl+z":
		m.do(Suspend{})
		return
	}
	if m.stage == typing {
		m.typing(now, k)
		return
	}
	if m.stage == helping {
		m.stage = reading
		m.disarm(now)
		return
	}
	switch k.Name {
	case "tab", "shift+tab":
		step := 1
		if k.Name != "tab" {
			step = 3
		}
		m.go_(now, (m.view+view(step))%4)
		return
	case "1", "2", "3", "4":
		if m.stage == reading {
			m.go_(now, view(k.Name[0]-'1'))
			return
		}
	case "q":
		if m.stage == reading { // what follows it is read by the person's shell
			m.lone(now, k, func() { m.do(Quit{}) })
			return
		}
	case "?":
		m.stage = helping
		m.sayHelp()
		return
	case "esc":
		m.back(now)
		return
	}
	switch {
	case m.stage == switching:
		m.switchMode(now, k)
	case m.view != viewCard:
		m.list(now, k)
	case m.shown != nil && m.shown.ready:
		m.card(now, k)
	}
}

// go_ goes to another view.
func (m *Machine) go_(now time.Time, to view) {
	m.view, m.note = to, nil
	if m.stage != commented {
		m.stage, m.choice = reading, ""
	}
	m.disarm(now)
	switch to {
	case viewHistory:
		m.ran = ""
		m.say("History.")
		m.listing, m.going = false, true
		m.relist()
	case viewSessions:
		m.say("Sessions.")
		m.listing, m.going = false, true
		m.relist()
	case viewQueue:
		m.say("Queue.")
		m.sayList()
	case viewCard:
		if m.shown != nil && m.shown.past {
			m.shown = nil // what waits comes first
		}
		if m.shown == nil {
			m.say("Card. %s", m.idle())
		} else {
			m.say("Card. %s", m.headline())
		}
	}
	if !m.up {
		m.orders = nil
	}
}

// back leaves what was begun.
func (m *Machine) back(now time.Time) {
	switch {
	case m.stage == commented:
		m.stage = typing
		m.say("Comment: %s", plainText(m.draft.text()))
	case m.stage != reading:
		m.stage, m.choice = reading, ""
		m.disarm(now)
		m.say("Left.")
	case m.view != viewCard:
		m.go_(now, viewCard)
	case m.shown != nil && m.shown.past:
		m.shown = nil
		m.go_(now, viewHistory)
	}
	m.note = nil
}

// act does something that is written, once its key was found alone.
func (m *Machine) act(now time.Time, k Key, act func()) {
	switch {
	case m.busy != nil:
		m.tell("One moment: the last answer is being written.")
	case !m.up:
		m.tell("Nothing was done: the kernel does not answer.")
	default:
		m.lone(now, k, act)
	}
}

// chose makes a choice that waits for its confirmation.
func (m *Machine) chose(now time.Time, key string) {
	m.choice = key
	if m.quiet(now) {
		m.chosen = now
	}
}

// lone does something where nothing was typed before its key, and nothing follows
// it: the first key of a text is no answer, and neither is the last.
func (m *Machine) lone(now time.Time, k Key, act func()) {
	switch {
	case k.Repeat:
	case !m.quiet(now) && !(m.chosen.Equal(m.typed) && m.sure(k, m.choice)):
		m.disarm(now)
		m.tell("That key came too close behind another one: nothing was done. Press it again, alone.")
	default:
		m.held = &held{now, act}
		m.wake(now.Add(alone))
	}
}

// write orders something to be written.
func (m *Machine) write(o Order) {
	m.busy = o
	m.do(o)
}

// card takes a key on a card.
func (m *Machine) card(now time.Time, k Key) {
	if !m.ready(now) {
		return // typed for something else
	}
	s := m.shown
	if m.stage == cancelling { // any other key is a no, one that scrolls too
		m.stage = reading
		if k.Name == "x" {
			m.act(now, k, func() { m.write(Cancel{s.call}) })
		} else {
			m.tell("It was not cancelled.")
		}
		return
	}
	if m.scroll(k.Name) {
		return
	}
	switch k.Name {
	case "n", "N":
		if m.stage == reading {
			m.turn(now, k.Name == "n")
		}
		return
	}
	if s.past {
		return
	}
	if m.stage == granting {
		m.grant(now, k)
		return
	}
	comment := ""
	if m.stage == commented {
		comment = strings.TrimSpace(m.draft.text())
	}
	switch k.Name {
	default: // a text is typed
		m.disarm(now)
	case "a", "d":
		if m.unread() {
			return
		}
		yes := k.Name == "a"
		m.act(now, k, func() { m.write(Answer{s.call, yes, comment}) })
	case "f":
		switch offer := s.card.Job.Leaf.Offer; {
		case m.stage == commented:
			m.tell("With a comment nothing is opened: a allows, d denies.")
		case offer == "":
			m.tell("No folder is offered for this call.")
		case !m.unread():
			m.act(now, k, func() { m.write(Open{s.call, offer}) })
		}
	case "c":
		m.stage = typing
		m.note = nil
		m.say("Comment. Enter ends it, Escape leaves it. %s", plainText(m.draft.text()))
	case "g":
		if m.stage == commented {
			m.tell("A grant has no comment: a allows, d denies.")
			return
		}
		m.offerGrant(now)
	case "m":
		m.switchOf(now, s.call.Session)
	case "x":
		m.stage = cancelling
		m.disarm(now)
		m.tell("Cancel this call? Its agent is told so. x cancels it, any other key does not.")
	}
}

// unread says that the card was not read to its end.
func (m *Machine) unread() bool {
	switch {
	case !m.shown.card.Whole():
		m.tell("Only the beginning of this call is here: it cannot be answered.")
	case !m.shown.seen:
		m.tell("There is more of it: read to the end first (space).")
	default:
		return false
	}
	return true
}

// typing takes a key of a comment.
func (m *Machine) typing(now time.Time, k Key) {
	switch k.Name {
	case "enter":
		if strings.TrimSpace(m.draft.text()) == "" {
			m.stage = reading
		} else {
			m.stage = commented
			m.say("Comment: %s. a allows with it, d denies with it, Escape changes it.", plainText(m.draft.text()))
		}
		m.typed = now
		m.disarm(now) // what follows may be the rest of a paste
	case "esc":
		m.stage = reading
		m.disarm(now)
		if m.draft.text() != "" {
			m.tell("The comment is kept; c goes on with it.")
		}
	case "ctrl+r":
		if m.kept != "" {
			m.draft.put(m.kept)
			m.kept = ""
			m.say("%s", plainText(m.draft.text()))
		}
	default:
		was := m.draft.text()
		switch {
		case !m.draft.key(k):
		case k.Text != "" && m.draft.at == len(m.draft.runes):
			m.echo(k.Text)
		case m.draft.text() != was:
			m.say("Comment: %s", plainText(m.draft.text()))
		}
	}
}

// paste takes a text that was pasted: into a comment, and nowhere else.
func (m *Machine) paste(now time.Time, text string) {
	if m.stage == typing {
		m.draft.put(text)
		m.say("%s", plainText(m.draft.text()))
		return
	}
	m.disarm(now)
	m.tell("Pasting answers nothing. c begins a comment, into which you can paste.")
}

// scroll moves through the card.
func (m *Machine) scroll(name string) bool {
	s := m.shown
	if m.set.Plain {
		switch name {
		case "space", "pgdown", "down", "j", "enter":
			m.sayCard()
			return true
		case "home", "r":
			s.said = 0
			m.sayCard()
			return true
		case "end":
			for !s.seen {
				m.sayCard()
			}
			return true
		}
		return false
	}
	page := max(1, m.room()-1)
	switch name {
	case "down", "j", "enter":
		s.top++
	case "up", "k":
		s.top--
	case "space", "pgdown", "ctrl+f":
		s.top += page
	case "pgup", "ctrl+b", "b":
		s.top -= page
	case "home":
		s.top = 0
	case "end", "G":
		s.top = len(s.lines)
	default:
		return false
	}
	m.note = nil
	m.lay()
	return true
}

// turn shows the next card of the queue, or the one before, without an answer.
func (m *Machine) turn(now time.Time, forward bool) {
	n := len(m.queue.Queue)
	if n == 0 {
		return
	}
	i := m.place(m.shown.call)
	switch {
	case i < 0:
		i = 0
	case forward:
		i = (i + 1) % n
	default:
		i = (i + n - 1) % n
	}
	if c := nameOf(m.queue.Queue[i]); c != m.shown.call {
		m.show(now, c)
	} else {
		m.tell("No other call waits.")
	}
}

// list takes a key in a list.
func (m *Machine) list(now time.Time, k Key) {
	at := &m.at[m.view]
	n := m.length()
	page := max(1, m.height-4)
	switch k.Name {
	case "down", "j":
		*at++
	case "up", "k":
		*at--
	case "pgdown", "space", "ctrl+f":
		*at += page
	case "pgup", "b", "ctrl+b":
		*at -= page
	case "home":
		*at = 0
	case "end", "G":
		*at = n - 1
	case "enter":
		m.open(now)
		return
	case "m":
		if m.view == viewSessions && *at < n {
			m.switchOf(now, m.sessions[*at].ID)
		}
		return
	default:
		return
	}
	*at = max(0, min(*at, n-1))
	if m.view == viewQueue && m.queue.More && *at >= n-page {
		m.limit += page + len(m.queue.Queue)
		m.refresh()
	}
	m.sayChosen()
}

func (m *Machine) length() int {
	switch m.view {
	case viewQueue:
		return len(m.queue.Queue)
	case viewHistory:
		return len(m.history)
	case viewSessions:
		return len(m.sessions)
	case viewCard:
	}
	return 0
}

// open shows the card of what is chosen in a list.
func (m *Machine) open(now time.Time) {
	at := m.at[m.view]
	if at >= m.length() {
		return
	}
	switch m.view {
	case viewQueue:
		c := nameOf(m.queue.Queue[at])
		m.view = viewCard
		if m.shown == nil || m.shown.call != c {
			m.show(now, c)
		}
		m.disarm(now)
	case viewHistory:
		h := m.history[at]
		m.view = viewCard
		m.show(now, Call{h.Session, h.Job, h.Stamp.Rev})
		m.shown.past = h.Result != "wait"
	case viewSessions, viewCard:
	}
}

// modes are those that a session may be in (law §1).
var modes = []struct{ key, name, does string }{
	{"m", "manual", "a person answers what the policies leave open"},
	{"a", "auto", "grants answer, then the classifier where there is one, and a person the rest"},
	{"y", "yolo", "nobody is asked: what no policy blocks is allowed"},
}

func (m *Machine) switchOf(now time.Time, session string) {
	m.stage, m.of, m.choice, m.note = switching, session, "", nil
	m.disarm(now)
	m.say("Mode of session %s. %s", plainText(session), strings.Join(m.switchLines(), ". "))
}

// switchMode takes a key that chooses a mode. The one that asks nobody needs the
// super key.
func (m *Machine) switchMode(now time.Time, k Key) {
	if !m.ready(now) {
		return
	}
	for _, mode := range modes {
		sure := m.sure(k, mode.key)
		if k.Name != mode.key && !sure {
			continue
		}
		if mode.name == "yolo" && !sure {
			m.chose(now, mode.key)
			key := m.super(mode.key)
			if !m.holds() {
				key = "now " + plainText(m.set.SuperKey)
			}
			m.tell("yolo asks nobody, also for what waits now: %s confirms it.", key)
			return
		}
		of := m.of
		m.act(now, k, func() {
			m.stage, m.choice = reading, ""
			m.do(Assign{of, mode.name})
		})
		return
	}
}

// modeKey is how a mode is chosen.
func (m *Machine) modeKey(name, key string) string {
	if name == "yolo" {
		return m.super(key)
	}
	return key
}

// sure reports whether a key confirms a choice: the super key held with the
// choice's own, or where it is a key of its own that key behind the choice.
func (m *Machine) sure(k Key, choice string) bool {
	if m.holds() {
		return k.Name == m.set.SuperKey+"+"+choice || m.set.SuperKey == "shift" && k.Text == strings.ToUpper(choice)
	}
	return m.choice == choice && k.Name == m.set.SuperKey
}

// holds reports whether the super key is one that is held while another is pressed.
func (m *Machine) holds() bool {
	switch m.set.SuperKey {
	case "alt", "ctrl", "shift", "super", "meta", "hyper":
		return true
	}
	return false
}

// super is how a choice is confirmed, for people.
func (m *Machine) super(choice string) string {
	key := plainText(m.set.SuperKey)
	if m.holds() {
		return key + "+" + choice
	}
	return "first " + choice + ", then " + key
}

// grantWhy says why no grant is offered for the card, "" where one is (law ruling
// 15).
func (m *Machine) grantWhy() string {
	s := m.shown
	j := s.card.Job
	switch l := j.Leaf; {
	case s.card.Hatch() || l.Cluster == "bash" && approval.HatchShape(j.Name, j.Arguments):
		return "No grant is offered for npx and bunx, under whatever name."
	case l.Cluster == "mcp" && !approval.IsLookUp(j.Name):
		return "No grant answers tools that change something."
	case l.Cluster == "read":
		return "Reading is not granted by kinds: a yes opens what is read, and f the folder where one is offered."
	case l.Cluster != "write" && l.Cluster != "bash" && l.Cluster != "mcp":
		return "Calls of this kind cannot be granted."
	}
	return ""
}

// uncovers reports whether the classifier may be left what the floor denies.
func (m *Machine) uncovers() bool {
	s := m.shown
	l := s.card.Job.Leaf
	return m.mode() == "auto" && l.PolicyResult != nil && *l.PolicyResult == "deny" && l.Cluster != "write" && m.grantHatchless()
}

func (m *Machine) grantHatchless() bool {
	j := m.shown.card.Job
	return !m.shown.card.Hatch() && !(j.Leaf.Cluster == "bash" && approval.HatchShape(j.Name, j.Arguments))
}

// mode is that of the card's session.
func (m *Machine) mode() string {
	if s := m.shown.card.About.Session; s != nil {
		return s.CurrentPolicy
	}
	return ""
}

func (m *Machine) offerGrant(now time.Time) {
	if why := m.grantWhy(); why != "" && !m.uncovers() {
		m.tell("%s", why)
		return
	}
	if m.unread() {
		return
	}
	m.stage, m.choice, m.note = granting, "", nil
	m.offered = m.grantLines()
	m.disarm(now)
	m.say("%s", strings.Join(m.offered, "\n"))
}

// choices of a grant: their keys, and what each is.
type choice struct {
	key, text string
	order     func(now time.Time) Order
}

func (m *Machine) choices() (all []choice) {
	s := m.shown
	cluster := s.card.Job.Leaf.Cluster
	if m.grantWhy() == "" {
		all = append(all,
			choice{"s", "grant it in this session", func(time.Time) Order { return Grant{Call: s.call, Cluster: cluster} }},
			choice{"h", "grant it in this session for an hour", func(now time.Time) Order {
				return Grant{Call: s.call, Cluster: cluster, Until: now.Add(time.Hour).Truncate(time.Second)}
			}},
			choice{"w", "grant it in all sessions, also in new ones", func(time.Time) Order { return Grant{Call: s.call, Cluster: cluster, Standing: true} }})
	}
	if m.uncovers() {
		all = append(all, choice{"o", "leave what a policy denies in this session to the classifier first, and to a person where it gives no answer (autoCoverDeny off)", func(time.Time) Order { return Uncover{s.call} }})
	}
	return all
}

// grant takes a key of the panel of grants.
func (m *Machine) grant(now time.Time, k Key) {
	for _, c := range m.choices() {
		if m.sure(k, c.key) {
			m.act(now, k, func() { m.write(c.order(now)) })
			return
		}
		if k.Name == c.key {
			m.chose(now, c.key)
			if m.holds() {
				m.tell("To %s: %s.", c.text, m.super(c.key))
			} else {
				m.tell("To %s: now %s.", c.text, plainText(m.set.SuperKey))
			}
			return
		}
	}
}

// kinds are the clusters that can be granted, in words, with two things that a
// grant of each does not allow.
var kinds = map[string]struct {
	all string
	not [2]string
}{
	"write": {"every change of a file that the policies only ask about", [2]string{"what a policy denies or blocks, such as .git/hooks or .env", "changes outside the workspace"}},
	"bash":  {"every shell command that the policies only ask about", [2]string{"what a policy denies or blocks, such as rm -rf ~ or cat .env", "npx and bunx; it does allow the others that run what they fetch, such as curl piped into sh"}},
	"mcp":   {"every look-up by a tool of a server that the policies only ask about", [2]string{"tools that change something", "what a policy denies or blocks"}},
}

// grantLines are the panel of grants: what each key does, what that allows besides,
// and two things that it does not.
func (m *Machine) grantLines() []string {
	var lines []string
	if m.grantWhy() == "" {
		cluster := m.shown.card.Job.Leaf.Cluster
		kind := kinds[cluster]
		first := "A grant of " + cluster + " allows this call, and from then on in mode auto, without asking:"
		if l := m.shown.card.Job.Leaf; l.PolicyResult != nil && *l.PolicyResult == "deny" {
			first = "Your yes allows this call, which no grant does; a grant of " + cluster + " allows from then on in mode auto, without asking:"
		}
		lines = append(lines, first, "  "+kind.all)
		var also []string
		for _, j := range m.queue.Queue {
			if nameOf(j) != m.shown.call && j.Leaf != nil && j.Leaf.Cluster == cluster && j.Leaf.PolicyResult != nil && *j.Leaf.PolicyResult == "ask" &&
				j.Session == m.shown.call.Session && !approval.HatchShape(j.Name, j.Arguments) && (cluster != "mcp" || approval.IsLookUp(j.Name)) {
				also = append(also, m.what(j))
			}
		}
		for _, text := range also[:min(2, len(also))] {
			lines = append(lines, "  of those that wait now: "+text)
		}
		if len(also) > 2 {
			lines = append(lines, fmt.Sprintf("  and %d more that wait now", len(also)-2))
		}
		lines = append(lines, "It does not allow:", "  "+m.example(cluster, kind.not[0]), "  "+kind.not[1])
		if mode := m.mode(); mode != "auto" && mode != "" {
			lines = append(lines, "This session is in mode "+mode+": there a grant answers nothing until the mode is auto (m).")
		}
	}
	for _, c := range m.choices() {
		lines = append(lines, m.super(c.key)+": "+c.text)
	}
	return append(lines, "Escape: none of it")
}

// example is a call that waits and that a grant would not allow, or else what such
// calls are.
func (m *Machine) example(cluster, else_ string) string {
	for _, j := range m.queue.Queue {
		if nameOf(j) != m.shown.call && j.Leaf != nil && j.Leaf.Cluster == cluster && j.Leaf.PolicyResult != nil && *j.Leaf.PolicyResult == "deny" {
			return "what a policy denies, such as " + m.what(j)
		}
	}
	return else_
}

// what is a call in a few words.
func (m *Machine) what(j wire.Job) string {
	return plainText(fmt.Sprintf("call %d, %s %s", j.Stamp.Rev, j.Name, whatOf(j)))
}
