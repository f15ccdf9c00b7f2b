package api

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"assent/front/api/wire"
	"assent/plexus"
)

// Lists have the beginnings of long values, each with a plain sign and how long
// the whole is. All of it is in the job itself, and in the rows.

// pageBytes is how large an answer gets that is a list of what agents have
// written: no more is put into it then, and it says that there is more.
const pageBytes = 4 << 20

// shorten makes a value of how the text of one begins: what was begun is ended,
// and says how many bytes the whole has. It is never more than what it stands
// for: an object stays one, with fewer members.
func shorten(begin string, whole int) jsontext.Value {
	sign := fmt.Sprintf("… (cut: %d bytes in all)", whole)
	var open []byte // what ends the containers that are open
	safe, depth := 0, 0
	comma := false // a value stands before the safe place
	text, escape, key := false, 0, false
	for i := 0; i < len(begin); i++ {
		switch c := begin[i]; {
		case text && c == '\\':
			escape = i
			i++
		case text && c == '"':
			if text = false; !key {
				safe, depth, comma = i+1, len(open), true
			}
		case text:
		case c == '"':
			// A name stands in an object after { or a comma.
			before := strings.TrimRight(begin[:i], " \t\r\n")
			key = len(open) > 0 && open[len(open)-1] == '}' && !strings.HasSuffix(before, ":")
			text, escape = true, -1
		case c == '{' || c == '[':
			open = append(open, c+2) // } and ] come two after them
			safe, depth, comma = i+1, len(open), false
		case c == '}' || c == ']':
			if len(open) == 0 {
				return signed(begin, sign)
			}
			open = open[:len(open)-1]
			safe, depth, comma = i+1, len(open), true
		case c == ',':
			safe, depth, comma = i, len(open), true
		}
	}
	var b strings.Builder
	if text && !key {
		// An escape that is cut off, or half of a pair, is left out.
		end := len(begin)
		if escape >= 0 && end-escape < len(`\ud83d\ude00`) {
			end = escape
			if i := end - len(`\ud83d`); i >= 0 && strings.HasPrefix(begin[i:], `\u`) {
				end = i
			}
		}
		b.WriteString(begin[:end] + sign + `"`)
		depth = len(open)
	} else {
		b.WriteString(begin[:safe])
		if comma && depth > 0 {
			b.WriteByte(',')
		}
		if depth > 0 && open[depth-1] == '}' {
			b.WriteString(`"…":`)
		}
		b.WriteString(`"` + sign + `"`)
	}
	for i := depth - 1; i >= 0; i-- {
		b.WriteByte(open[i])
	}
	v := jsontext.Value(b.String())
	if !v.IsValid() {
		return signed(begin, sign)
	}
	return v
}

// signed is a value of which nothing is told but how long it is.
func signed(begin, sign string) jsontext.Value {
	switch {
	case strings.HasPrefix(begin, "{"):
		return jsontext.Value(`{"…":"` + sign + `"}`)
	case strings.HasPrefix(begin, "["):
		return jsontext.Value(`["` + sign + `"]`)
	}
	return jsontext.Value(`"` + sign + `"`)
}

// shortened is a job whose texts are values again.
func shortened(snap plexus.JobSnapshot) plexus.JobSnapshot {
	for name, bytes := range snap.Bytes {
		switch name {
		case "arguments":
			snap.Job.Arguments = string(shorten(snap.Job.Arguments, bytes))
		case "facts":
			snap.Job.Facts = string(shorten(snap.Job.Facts, bytes))
		default:
			f := snap.Fields[name]
			f.Value = string(shorten(f.Value, bytes))
			snap.Fields[name] = f
		}
	}
	return snap
}

// briefOf is a job in a list.
func briefOf(snap plexus.JobSnapshot, needsHuman bool) wire.Job {
	snap = shortened(snap)
	w := jobOf(snap.Job, snap.Fields, needsHuman)
	w.Cut = snap.Bytes
	return w
}

// briefRowOf is a row as whoever watches is told of it.
func briefRowOf(row plexus.Row) wire.Row {
	var cut map[string]int
	short := func(name string, text *string) {
		if bytes := len(*text); bytes > plexus.BriefText {
			if cut == nil {
				cut = make(map[string]int)
			}
			cut[name] = bytes
			*text = string(shorten(strings.ToValidUTF8((*text)[:plexus.BriefText], ""), bytes))
		}
	}
	switch r := row.(type) {
	case plexus.Session:
		short("facts", &r.Facts)
		row = r
	case plexus.Job:
		short("arguments", &r.Arguments)
		short("facts", &r.Facts)
		row = r
	case plexus.Field:
		short("value", &r.Value)
		row = r
	case plexus.Register:
		short("value", &r.Value)
		row = r
	}
	w := rowOf(row)
	w.Cut = cut
	return w
}
