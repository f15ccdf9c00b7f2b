package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assent/approval"
	"assent/floor"
	"assent/front/reach"
)

// inkOf is the colour of a result.
func inkOf(r approval.PolicyResult) ink {
	switch r {
	case approval.Allow:
		return inkAllow
	case approval.Deny:
		return inkDeny
	case approval.Block:
		return inkBlock
	case approval.Ask, approval.None:
	}
	return inkAsk
}

// maxTarget is how many columns of a text are shown where it only names
// something that is shown in full elsewhere.
const maxTarget = 60

// maxFull is how many columns of a target are shown where it is told what a
// call does. What is dangerous may stand at its end, so that end is kept.
const maxFull = 2000

// report tells a verdict to a person: the result, each effect with the rule
// that judged it, and what would have to change.
func report(f *floor.Floor, call floor.Call, v floor.Verdict, explain bool, s screen) string {
	p := s.paint
	// In the order of the text, which is not always that of the doing.
	v.Effects = slices.Clone(v.Effects)
	slices.SortStableFunc(v.Effects, func(a, b floor.Judged) int { return a.Span.Start - b.Span.Start })

	var b strings.Builder
	result := exitName(v.Result)
	b.WriteString(inkOf(v.Result).of(p, result))
	if v.Hatch && v.Result != approval.Allow {
		b.WriteString(p.faint(" (runs a package that is fetched for it: a grant does not answer this)"))
	}
	b.WriteString("\n\n")
	if explain && v.Text != "" {
		marks := make([]mark, 0, len(v.Effects))
		for i := range v.Effects {
			e := &v.Effects[i]
			marks = append(marks, mark{e.Span, fmt.Sprintf("%s %s: %s", e.Kind, oneLine(e.Target, maxTarget), exitName(e.Result)), inkOf(e.Result)})
		}
		b.WriteString(origins(v.Text, marks, s) + "\n")
	}
	table(&b, v.Effects, s)
	if v.Message != "" {
		b.WriteByte('\n')
		for line := range strings.Lines(paragraph(v.Message)) {
			hang(&b, "", strings.TrimSuffix(line, "\n"), "", s.width)
		}
	}
	if lines := changes(f, call, &v); len(lines) > 0 {
		b.WriteString("\nTo change this:\n")
		for _, l := range lines {
			hang(&b, "  ", l, "    ", s.width)
		}
	}
	return b.String()
}

// exitName is a result as it is told; what was not evaluated is asked about.
func exitName(r approval.PolicyResult) string {
	if r == approval.None {
		return approval.Ask.String()
	}
	return r.String()
}

// maxColumn is the widest target the others are lined up with.
const maxColumn = 48

// maxRows is how many effects are listed. A call with more was not written to
// be read.
const maxRows = 200

// table lists the effects, the same ones only once.
func table(b *strings.Builder, effects []floor.Judged, s screen) {
	p := s.paint
	const indent = 2 + 5 + 2 + 6 + 2 // the columns before a target
	type line struct {
		result             approval.PolicyResult
		kind, target, rule string
	}
	seen := make(map[line]bool)
	var lines []line
	width := 0
	for i := range effects {
		e := &effects[i]
		l := line{e.Result, e.Kind.String(), described(e), "no rule"}
		if e.Rule != nil {
			l.rule = ruleText(e.Rule)
		}
		if seen[l] {
			continue
		}
		seen[l] = true
		lines = append(lines, l)
		if w := columnsOf(l.target); w <= maxColumn {
			width = max(width, w)
		}
	}
	for i, l := range lines {
		if i == maxRows {
			fmt.Fprintf(b, "  and %d more\n", len(lines)-i)
			return
		}
		columns := columnsOf(l.target)
		pad := max(0, width-columns)
		head := fmt.Sprintf("  %s%s  %-6s  ", inkOf(l.result).of(p, exitName(l.result)), strings.Repeat(" ", 5-len(exitName(l.result))), l.kind)
		if s.width == 0 || indent+columns+pad+2+columnsOf(l.rule) <= s.width {
			fmt.Fprintf(b, "%s%s%s  %s\n", head, l.target, strings.Repeat(" ", pad), p.faint(l.rule))
			continue
		}
		for i, line := range wrap(l.target, s.width-indent) {
			if i > 0 {
				head = strings.Repeat(" ", indent)
			}
			fmt.Fprintf(b, "%s%s\n", head, line)
		}
		for _, line := range wrap(l.rule, s.width-indent-2) {
			fmt.Fprintf(b, "%s%s\n", strings.Repeat(" ", indent+2), p.faint(line))
		}
	}
}

// ruleText is where a rule stands and what it says.
func ruleText(r *floor.RuleRef) string {
	text := oneLine(r.Text, maxTarget)
	if r.Default {
		return text
	}
	return placeOf(r) + "  " + text
}

// placeOf is where a rule stands, as short as it can be told: by its id, or by
// the file as seen from here.
func placeOf(r *floor.RuleRef) string {
	if r == nil || r.Default || r.Layer == floor.Shipped && r.ID != "" {
		return r.Place()
	}
	if r.ID != "" {
		return r.Layer.String() + ":" + oneLine(r.ID, maxTarget)
	}
	return fmt.Sprintf("%s:%d", oneLine(shortFile(r.File), 4*maxTarget), r.Line)
}

// shortFile is a file as seen from the present folder or the home.
func shortFile(file string) string {
	if here, err := os.Getwd(); err == nil && filepath.IsAbs(file) && here != "/" && within(file, here) {
		if rel, err := filepath.Rel(here, file); err == nil {
			return rel
		}
	}
	if home := reach.Home(os.Getenv("HOME"), homeOfUser); home != "" && home != "/" && filepath.IsAbs(file) && within(file, home) {
		if rel, err := filepath.Rel(home, file); err == nil {
			return "~/" + rel
		}
	}
	return file
}

// described is the target of an effect with what sets it apart.
func described(e *floor.Judged) string {
	notes := e.Notes()
	for i, note := range notes {
		notes[i] = oneLine(middle(note, maxFull), 4*maxFull)
	}
	target := oneLine(middle(e.Target, maxFull), 4*maxFull)
	if len(notes) > 0 {
		target += " (" + strings.Join(notes, ", ") + ")"
	}
	return target
}

// paragraph writes text from a policy, its own lines kept and nothing in it
// that could steer a terminal.
func paragraph(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(draw(strings.TrimRight(line, "\r\n")).Text + "\n")
	}
	return b.String()
}

// maxRemedies is how many lines of advice are read.
const maxRemedies = 8

// changes says what would have to change for the call to be allowed: one line
// for each effect that is not. Beside a block nothing else matters.
func changes(f *floor.Floor, call floor.Call, v *floor.Verdict) (out []string) {
	seen := make(map[string]bool)
	for _, r := range f.Remedies(call, v, maxRemedies+1) {
		e := &v.Effects[r.Effect]
		line := e.Kind.String() + " " + oneLine(e.Target, maxTarget) + ": " + oneLine(r.Text(placeOf), maxFull)
		if seen[line] {
			continue
		}
		seen[line] = true
		if len(out) == maxRemedies {
			return append(out, "and more")
		}
		out = append(out, line)
	}
	return out
}
