package toolkit

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// How much is compared line by line: looking for the lines that two texts share
// takes a second a MiB, and a person who is asked waits for it.
const (
	wholeDiff  = 128 << 10 // both texts together, as they are
	windowDiff = 512 << 10 // what differs of longer ones
)

// unified is the change of a text as a unified diff: empty when nothing changes.
// Of long texts only what lies between their common beginning and end is compared.
func unified(oldName string, before []byte, newName string, after []byte) string {
	if bytes.Equal(before, after) {
		return ""
	}
	if len(before)+len(after) <= wholeDiff {
		return string(diff.Diff(oldName, before, newName, after))
	}
	return windowed(oldName, before, newName, after)
}

// windowed compares what lies between the common beginning and end.
func windowed(oldName string, before []byte, newName string, after []byte) string {
	for lines := around + 1; ; lines *= 2 {
		from, to := window(before, after, lines)
		a, b := before[from:len(before)-to], after[from:len(after)-to]
		if len(a)+len(b) > windowDiff {
			return fmt.Sprintf("diff %s %s\n--- %s\n+++ %s\n[too much changes to be shown: %d bytes become %d, from line %d on]\n",
				oldName, newName, oldName, newName, len(a), len(b), bytes.Count(before[:from], []byte("\n"))+1)
		}
		text := string(diff.Diff(oldName, a, newName, b))
		// Among lines that repeat, a change may be told at the end of what was looked at:
		// it would be taken for the end of the file.
		if leading, trailing := contexts(text); (leading >= around || from == 0) && (trailing >= around || to == 0) {
			return shifted(text, bytes.Count(before[:from], []byte("\n")))
		}
	}
}

// contexts is how many lines stand before the first change of a diff and behind the
// last one.
func contexts(text string) (leading, trailing int) {
	_, hunks, _ := strings.Cut(text, "\n@@ ")
	begun := false
	for i, line := range strings.Split(strings.TrimSuffix(hunks, "\n"), "\n") {
		switch {
		case i == 0 || strings.HasPrefix(line, "\\"): // the rest of the head; no line's end
		case strings.HasPrefix(line, " "):
			trailing++
		default:
			if !begun {
				begun, leading = true, trailing
			}
			trailing = 0
		}
	}
	return leading, trailing
}

// around is how many lines around a change a unified diff shows.
const around = 3

// window is how many bytes at their beginning and at their end two texts share, in
// whole lines, but for so many around what differs.
func window(a, b []byte, lines int) (from, to int) {
	most := min(len(a), len(b))
	for from < most && a[from] == b[from] {
		from++
	}
	for range lines {
		if from == 0 {
			break
		}
		from = bytes.LastIndexByte(a[:max(from-1, 0)], '\n') + 1
	}
	most -= from
	for to < most && a[len(a)-1-to] == b[len(b)-1-to] {
		to++
	}
	for range lines {
		next := bytes.IndexByte(a[len(a)-to:], '\n')
		if next < 0 {
			return from, 0
		}
		to -= next + 1
	}
	return from, to
}

// shifted is a diff whose lines are so many lines further down.
func shifted(text string, by int) string {
	if by == 0 {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		var words []string
		if rest, ok := strings.CutPrefix(line, "@@ "); ok {
			words = strings.Fields(rest)
		}
		if len(words) != 3 { // lines of the texts begin otherwise
			continue
		}
		lines[i] = "@@ " + moved(words[0], by) + " " + moved(words[1], by) + " @@\n"
	}
	return strings.Join(lines, "")
}

// moved is "-1,3" or "+1,3" further down.
func moved(lines string, by int) string {
	at, count, ok := strings.Cut(lines[1:], ",")
	n, err := strconv.Atoi(at)
	if err != nil {
		return lines
	}
	out := lines[:1] + strconv.Itoa(n+by)
	if ok {
		out += "," + count
	}
	return out
}
