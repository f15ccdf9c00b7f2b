package prompt

import (
	"fmt"
	"strconv"
	"strings"

	"assent/front/api/wire"
	"assent/front/card"
	"assent/internal/drawn"
)

// Screen is what is to be seen.
type Screen struct {
	Lines []card.Line
	// Cursor is where what is typed goes, column and row from 0; Typing that there
	// is one.
	Column, Row int
	Typing      bool
}

// plainText is a text of others on one line, fit for a terminal.
func plainText(text string) string { return card.See(text, 200, drawn.None).Text(false) }

func whatOf(j wire.Job) string { return card.What(j.Arguments) }

func line(text string, ink drawn.Ink) card.Line { return card.Line{{Text: text, Ink: ink}} }

// words is a text on as many lines as it needs; its own line feeds are kept.
func (m *Machine) words(text string, ink drawn.Ink) (lines []card.Line) {
	for text := range strings.SplitSeq(text, "\n") {
		for _, part := range drawn.Wrap(text, m.width) {
			lines = append(lines, line(part, ink))
		}
	}
	return lines
}

// head are the lines above everything: the views, and a kernel that is down.
func (m *Machine) head() []card.Line {
	names := [4]string{"Card", "Queue " + strconv.Itoa(m.queue.Waiting), "History", "Sessions"}
	var tabs card.Line
	for i, name := range names {
		ink := drawn.Faint
		if view(i) == m.view {
			name, ink = "["+name+"]", drawn.Bold
		} else {
			name = " " + name + " "
		}
		tabs = append(tabs, card.Segment{Text: name, Ink: ink})
	}
	if tabs.Columns() > m.width { // the one that is seen, and what waits
		tabs = card.See(strings.Fields(names[m.view])[0]+", "+wait(m.queue.Waiting), m.width, drawn.Bold)
	}
	lines := []card.Line{tabs}
	if !m.up && m.why != "" {
		lines = append(lines, m.words("The kernel does not answer; trying again. ("+plainText(m.why)+")", drawn.Deny)...)
	}
	if m.ran != "" {
		lines = append(lines, m.words(m.ran+" Look into the history.", drawn.Block)...)
	}
	return lines
}

// room is how many lines are seen at once between the head and the foot. Below a
// card there is as much left free as any of its keys takes: what was seen of it is
// not covered by the keys that count then.
func (m *Machine) room() int {
	below := len(m.foot())
	if m.view == viewCard && m.shown != nil && m.shown.ready && (m.stage == reading || m.stage == typing || m.stage == commented) {
		most := 0
		for _, text := range []string{m.keys(), oneMoment, m.more(len(m.shown.lines)), m.answers()} {
			most = max(most, len(m.hints(text)))
		}
		below += most - len(m.hints(m.keys()))
	}
	return max(1, m.height-len(m.head())-below)
}

const oneMoment = "one moment: keys count when nothing was typed for a while"

// more are the keys while a card is not read to its end.
func (m *Machine) more(below int) string {
	if m.set.Plain {
		return "Space: go on reading"
	}
	return fmt.Sprintf("Space: more (%d lines below)   ? help", below)
}

// lay makes the lines of the card for the terminal, and sees whether its end is on
// the screen.
func (m *Machine) lay() {
	s := m.shown
	if s == nil || !s.ready {
		return
	}
	if s.lines == nil || s.old || s.width != m.width && (!m.set.Plain || s.said == 0) {
		before := s.lines
		if !m.set.Plain || s.said == 0 {
			s.width = m.width // what was said stays on lines of that width
		}
		s.lines, s.old = s.card.Lines(card.Look{Width: s.width, Plain: m.set.Plain}), false
		if !s.seen {
			s.said = alike(before, s.lines, s.said) // the rest was not said, wherever it stands now
		}
	}
	if m.set.Plain {
		s.seen = s.seen || s.said >= len(s.lines)
		return
	}
	room := m.room()
	s.room = room
	s.top = max(0, min(s.top, len(s.lines)-room))
	if m.view == viewCard && (m.stage == reading || m.stage == typing || m.stage == commented) {
		s.seen = s.seen || s.top+room >= len(s.lines)
	}
}

// alike is how many lines of those that were said are the same as they were.
func alike(before, now []card.Line, said int) int {
	for i := range min(said, len(before), len(now)) {
		if before[i].Text(false) != now[i].Text(false) {
			return i
		}
	}
	return min(said, len(now))
}

// View is the screen as it should be.
func (m *Machine) View() Screen {
	lines := m.head()
	foot := m.foot()
	room := m.room()
	var body []card.Line
	switch {
	case m.stage == helping:
		body = m.panel(helpLines)
	case m.stage == switching:
		body = m.panel(m.switchLines())
	case m.view != viewCard:
		body = m.rows(room)
	case m.stage == granting:
		body = m.panel(m.offered)
	case m.shown == nil || !m.shown.ready:
		body = m.words(m.idle(), drawn.None)
	default:
		s := m.shown
		end := min(len(s.lines), s.top+room)
		body = s.lines[min(s.top, end):end]
	}
	body = body[:min(len(body), room)]
	lines = append(lines, body...)
	for len(lines) < m.height-len(foot) {
		lines = append(lines, nil)
	}
	screen := Screen{Lines: append(lines, foot...)}
	if len(screen.Lines) > m.height {
		screen.Lines = screen.Lines[len(screen.Lines)-m.height:]
	}
	if m.stage == typing && m.view == viewCard {
		screen.Typing = true
		screen.Row = len(screen.Lines) - 2
		screen.Column = min(m.width-1, screen.Lines[max(0, screen.Row)].Columns()-m.behind())
	}
	return screen
}

// panel is what a person chooses from, each part on lines of its own.
func (m *Machine) panel(texts []string) (lines []card.Line) {
	for _, text := range texts {
		rest := strings.TrimLeft(text, " ")
		indent := min(len(text)-len(rest), max(0, m.width/4))
		for _, part := range drawn.Wrap(rest, m.width-indent) {
			lines = append(lines, line(strings.Repeat(" ", indent)+part, drawn.None))
		}
	}
	return lines
}

// idle is what is said where no card is.
func (m *Machine) idle() string {
	said := ""
	if m.closed != "" {
		said = m.closed + "\n"
	}
	switch {
	case m.shown != nil:
		return said + "Reading the call ..."
	case !m.up && m.why == "":
		return "Connecting to the kernel ..."
	case !m.up:
		return said + "What waits is shown when the kernel answers."
	case !m.known:
		return "Reading the queue ..."
	case m.queue.Waiting > 0:
		return said + fmt.Sprintf("%s; the next card comes in a moment.", wait(m.queue.Waiting))
	}
	return said + "Nothing waits for a person."
}

func wait(n int) string {
	if n == 1 {
		return "1 call waits"
	}
	return strconv.Itoa(n) + " calls wait"
}

// headline says which card is shown.
func (m *Machine) headline() string {
	s := m.shown
	switch {
	case !s.ready:
		return "Reading the call ..."
	case s.past:
		return m.nameIt(s.card.Job) + " has been decided."
	}
	return fmt.Sprintf("%s waits; %s in all.", m.nameIt(s.card.Job), wait(m.queue.Waiting))
}

// behind is how many columns of the comment stand behind the cursor, on its line.
func (m *Machine) behind() int {
	return card.See(string(m.draft.runes[m.draft.at:]), 0, drawn.None).Columns()
}

// comment is the line on which a comment is typed: what is about the cursor.
func (m *Machine) comment() card.Line {
	const name = "Comment: "
	all := card.See(m.draft.text(), 0, drawn.None).Text(false)
	room := max(8, m.width-len(name)-1)
	for drawn.Columns(all) > room { // its end is seen
		_, all, _ = cutFirst(all)
	}
	return card.Line{{Text: name, Ink: drawn.Faint}, {Text: all}}
}

func cutFirst(s string) (first, rest string, ok bool) {
	for i := range s {
		if i > 0 {
			return s[:i], s[i:], true
		}
	}
	return s, "", s != ""
}

// foot are the lines below everything: what was told, and which keys there are.
func (m *Machine) foot() []card.Line {
	var lines []card.Line
	if m.fresh && m.shown != nil { // where no card is it stands above
		lines = m.words(m.closed, drawn.Faint)
	}
	for _, note := range m.note {
		lines = append(lines, m.words(note, drawn.Ask)...)
	}
	if most := max(1, m.height/3); len(lines) > most {
		lines = lines[:most]
	}
	if m.stage == typing && m.view == viewCard {
		lines = append(lines, m.comment())
	}
	if m.stage == commented && m.view == viewCard {
		lines = append(lines, line(card.See("With the comment: "+m.draft.text(), m.width, drawn.None).Text(false), drawn.Faint))
	}
	return append(lines, m.hints(m.keys())...)
}

// hints are keys on as many lines as they need, none of them broken where there is
// room.
func (m *Machine) hints(text string) (lines []card.Line) {
	const between = "   "
	now := ""
	for _, part := range strings.Split(text, between) {
		switch {
		case now == "":
			now = part
		case drawn.Columns(now+between+part) <= m.width:
			now += between + part
		default:
			lines = append(lines, m.words(now, drawn.Faint)...)
			now = part
		}
	}
	lines = append(lines, m.words(now, drawn.Faint)...)
	return lines[:min(len(lines), max(1, m.height/3))] // something is seen above, too
}

// keys are those that count now.
func (m *Machine) keys() string {
	switch {
	case m.stage == typing && m.view == viewCard:
		text := "Enter: done   Escape: leave"
		if m.kept != "" {
			text += "   Ctrl+R: what you typed before"
		}
		return text
	case m.stage == helping:
		return "any key: back"
	case m.busy != nil:
		return "writing your answer ..."
	case !m.armed && (m.stage != reading || m.view == viewCard && m.shown != nil && m.shown.ready):
		return oneMoment
	case m.stage == switching:
		var parts []string
		for _, mode := range modes {
			key := m.modeKey(mode.name, mode.key)
			if strings.Contains(key, " ") {
				key += ":"
			}
			parts = append(parts, key+" "+mode.name)
		}
		return strings.Join(append(parts, "Escape: none"), "   ")
	case m.view == viewSessions:
		return "m mode   Tab: views   ? help   q quit"
	case m.view != viewCard:
		return "Enter: its card   Tab: views   ? help   q quit"
	case m.stage == granting:
		return "Escape: none of it"
	case m.stage == cancelling:
		return "x cancel it   any other key: no"
	case m.shown == nil || !m.shown.ready:
		text := "Tab: views   ? help   q quit"
		if m.kept != "" {
			text = "What you typed is kept for the next comment (Ctrl+R there).   " + text
		}
		return text
	case m.shown.past:
		return "Space: more   Escape: history   q quit"
	case !m.shown.card.Whole():
		return "Only its beginning is here: it cannot be answered.   n next   q quit"
	case !m.shown.seen:
		return m.more(max(1, len(m.shown.lines)-m.shown.top-m.shown.room))
	}
	return m.answers()
}

// answers are the keys of a card that was read.
func (m *Machine) answers() string {
	if m.stage == commented {
		return "a allow with it   d deny with it   Escape: change it"
	}
	parts := []string{"a allow", "d deny", "c comment"}
	if m.shown.card.Job.Leaf.Offer != "" {
		parts = append(parts, "f allow the folder "+plainText(m.shown.card.Job.Leaf.Offer))
	}
	if m.grantWhy() == "" || m.uncovers() {
		parts = append(parts, "g grant")
	}
	return strings.Join(append(parts, "m mode", "x cancel", "n next", "? help", "q quit"), "   ")
}

// rows are the lines of a list that are seen.
func (m *Machine) rows(room int) []card.Line {
	n := m.length()
	if n == 0 {
		switch {
		case m.view == viewQueue && m.up:
			return m.words("Nothing waits for a person.", drawn.None)
		case m.up:
			return m.words("There is nothing.", drawn.None)
		}
		return nil
	}
	at := min(m.at[m.view], n-1)
	top := max(0, min(at-room/2, n-room))
	var lines []card.Line
	for i := top; i < min(n, top+room); i++ {
		l := m.row(i)
		if i == at {
			l = append(card.Line{{Text: "> ", Ink: drawn.Bold}}, l...)
		} else {
			l = append(card.Line{{Text: "  "}}, l...)
		}
		lines = append(lines, l)
	}
	return lines
}

// cellOf is a text in a column of a list: so wide, or cut there, and apart from what
// follows.
func cellOf(text string, width int) string {
	text = drawn.OneLine(text, width)
	return text + strings.Repeat(" ", max(1, width+2-drawn.Columns(text)))
}

// row is one line of a list.
func (m *Machine) row(i int) card.Line {
	room := max(8, m.width-2)
	switch m.view {
	case viewQueue:
		j := m.queue.Queue[i]
		number := strconv.FormatInt(j.Stamp.Rev, 10)
		result := "-"
		if j.Leaf != nil && j.Leaf.PolicyResult != nil {
			result = *j.Leaf.PolicyResult
		}
		left := fmt.Sprintf("%-6s %-4s ", number, result)
		who := ""
		if m.width >= 60 {
			who = cellOf(j.Session, 8)
		}
		unheard := ""
		for _, n := range m.queue.Unawaited {
			if n == j.Stamp.Rev {
				unheard = " (nobody waits for it)"
			}
		}
		return append(card.Line{{Text: left, Ink: drawn.Result(result)}, {Text: who, Ink: drawn.Faint}},
			card.See(j.Name+" "+whatOf(j)+unheard, room-len(left)-drawn.Columns(who), drawn.None)...)
	case viewHistory:
		c := m.history[i]
		result, ink := c.Result, drawn.Result(c.Result)
		if c.Ran != nil {
			result, ink = "RAN", drawn.Block
		}
		left := fmt.Sprintf("%-6d ", c.Stamp.Rev) + cellOf(result, 9)
		by := c.By + ": "
		if name, ok := strings.CutPrefix(by, "human:"); ok {
			by = name
		} else if name, ok := strings.CutPrefix(by, "agent:"); ok {
			by = "agent " + name
		}
		if c.By == "" {
			by = "nobody yet: "
		}
		if c.Ran != nil {
			by = card.Ran(c.Ran.How) + ": "
		}
		return append(card.Line{{Text: left, Ink: ink}}, card.See(by+c.Name+" "+card.What(c.Arguments), room-drawn.Columns(left), drawn.None)...)
	case viewSessions:
		s := m.sessions[i]
		left := cellOf(s.ID, 8) + cellOf(s.CurrentPolicy, 6) + fmt.Sprintf("%3d ", s.Asking)
		ink := drawn.None
		if s.CurrentPolicy == "yolo" {
			ink = drawn.Deny
		}
		client := s.Client
		if client != "" {
			client += " "
		}
		return append(card.Line{{Text: left, Ink: ink}}, card.See(client+s.Workspace, room-drawn.Columns(left), drawn.None)...)
	case viewCard:
	}
	return nil
}

// switchLines are the panel of modes.
func (m *Machine) switchLines() []string {
	lines := []string{"The mode of session " + plainText(m.of) + " says who answers what the policies leave open, also of what waits now:"}
	for _, mode := range modes {
		lines = append(lines, "  "+m.modeKey(mode.name, mode.key)+": "+mode.name+", "+mode.does)
	}
	return append(lines, "What a policy blocks is blocked in each of them.")
}

// helpLines are all keys, as many as 24 lines of 40 columns take.
var helpLines = []string{
	"Keys count once a card was read to its end and nothing was typed for a moment.",
	"a  allow this call, once",
	"d  deny it",
	"c  a comment for its agent; then a or d",
	"f  allow it, and open the folder that is offered for reading in its session",
	"g  allow it and grant calls like it: asks again",
	"m  the mode of its session",
	"x  cancel it: asks again",
	"n N  next and previous call, unanswered",
	"Space, arrows, Page Up and Down, Home, End: read",
	"Tab or 1 to 4: card, queue, history, sessions",
	"Escape: back",
	"q or Ctrl+C: quit; what waits goes on waiting",
}

// sayHelp says the keys to a screen reader.
func (m *Machine) sayHelp() { m.say("%s", strings.Join(helpLines, "\n")) }

// sayCard says the next lines of the card to a screen reader, no more at once than
// the terminal has.
func (m *Machine) sayCard() {
	s := m.shown
	if !m.set.Plain || s == nil || !s.ready {
		return
	}
	m.lay()
	end := min(len(s.lines), s.said+max(4, m.height-2))
	for _, l := range s.lines[s.said:end] {
		m.line(strings.TrimRight(l.Text(false), " "))
	}
	s.said = end
	m.lay()
	if end < len(s.lines) {
		m.say("%d more lines: Space goes on.", len(s.lines)-end)
		return
	}
	m.say("End of the card.")
	if m.armed {
		m.say("Keys: %s.", strings.ReplaceAll(m.keys(), "   ", ", "))
	}
}

// sayList says the list to a screen reader: what is chosen, of how many.
func (m *Machine) sayList() {
	if !m.set.Plain || m.view == viewCard {
		return
	}
	if m.length() == 0 {
		m.say("There is nothing.")
		return
	}
	m.sayChosen()
}

func (m *Machine) sayChosen() {
	if at := m.at[m.view]; m.set.Plain && at < m.length() {
		m.say("%d of %d: %s", at+1, m.length(), strings.Join(strings.Fields(m.row(at).Text(false)), " "))
	}
}
