package floor

import (
	"fmt"
	"strings"
	"unicode"

	"assent/floor/effect"
	"assent/floor/paths"
)

// Effects tells what a call would do, whatever tool it is, and the text that
// the spans of its effects point into: the command of a shell call, "" for
// any other tool (policy §1).
//
// Every reading of the arguments counts. A tool that is not known, arguments
// that cannot be read, an argument given twice or in two spellings with two
// values, a value of the wrong type: each is an opaque effect beside whatever
// could be told, so that denies and blocks still hold and nothing of it is
// allowed by silence.
//
// The result is never empty: tools that only keep the agent's own notes are a
// run effect of class look whose program is the name of the tool.
func Effects(call Call) ([]effect.Effect, string) { return effects(&call, call.Place()) }

// Commands are the texts of bash that a call holds, each once: more than one
// where several readings of its arguments count, or where it is a batch.
func Commands(call Call) []string { return read(&call, call.Place()).commands }

// effects is Effects for a place that is made already.
func effects(call *Call, place *paths.Place) ([]effect.Effect, string) {
	r := read(call, place)
	return r.effects, r.text
}

// read reads a call.
func read(call *Call, place *paths.Place) *reading {
	r := &reading{place: place, client: call.Client}
	arguments := call.Arguments
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	v, flaw, err := parseArguments(arguments)
	if flaw != "" {
		r.opaque("", flaw)
	}
	switch {
	case err != nil: // what remains is said by the flaw
	case v.kind == '"':
		// Some clients send the arguments as text, some tools take bare text.
		if inner, flaw, err := parseArguments([]byte(v.text)); err == nil && inner.kind == '{' {
			if flaw != "" {
				r.opaque("", flaw)
			}
			v = inner
		} else {
			v = value{kind: '{', members: []member{{name: "input", value: v}}}
		}
	case v.kind == 'n':
		v = value{kind: '{'}
	case v.kind != '{':
		r.opaque("", "the arguments are not an object")
	}
	r.call(call.Name, &v)
	if len(r.effects) == 0 {
		why := "nothing is known of this call"
		if r.text != "" {
			why = "the text holds no command"
		}
		r.opaque("", why)
	}
	r.repositories()
	return r
}

// reading is one call being turned into effects.
type reading struct {
	place   *paths.Place
	client  string
	effects []effect.Effect
	// text is what the spans of effects point into.
	text string
	// commands are all the texts of bash.
	commands []string
	// nesting counts calls within calls.
	nesting int
	// read counts the texts that were read in all their ways.
	read int
	// beside is what the calls of a batch do, whichever of them runs first.
	beside []effect.Effect
	// coverable is for opaque effects of a tool that an operator's rule can
	// name: the rule answers them too.
	coverable bool
	// certainty is that of the effects being added.
	certainty effect.Certainty
	// command is the tool as a command, for the effects it causes.
	command *effect.Command
}

// maxCalls bounds calls within calls (batches).
const maxCalls = 3

// call reads one call of any tool.
func (r *reading) call(name string, args *value) {
	if kind, ok := tools[name]; ok {
		r.command = nil
		if another(r.client, name) {
			r.opaque("", shown(name)+" is no tool of "+r.client+" itself: it may be a server's")
			r.guessServer(name)
		}
		kind.read(r, name, args)
		return
	}
	if r.mcpTool(name, args) {
		return
	}
	if name == "" {
		r.opaque("", "a tool without a name")
	} else {
		r.opaque("", "unknown tool "+shown(name))
	}
	r.guessServer(name)
	r.certainty = effect.Maybe
	r.openArguments(name, args, false)
	r.certainty = effect.Sure
}

// add appends an effect.
func (r *reading) add(e effect.Effect) {
	if e.Command == nil {
		e.Command = r.command
	}
	if r.certainty == effect.Maybe {
		e.Certainty = effect.Maybe
	}
	r.effects = append(r.effects, e)
}

// opaque adds what cannot be told.
func (r *reading) opaque(arg, why string) {
	r.add(effect.Effect{Kind: effect.Opaque, Target: why, Arg: arg, Coverable: r.coverable})
}

// run adds the tool itself as a run effect of a class.
func (r *reading) run(name string, class effect.Class) {
	r.command = &effect.Command{Program: name, Class: class, Described: true}
	r.add(effect.Effect{Kind: effect.Run, Target: name})
}

// shown makes a name from outside fit for a message: short, one line.
func shown(s string) string {
	const limit = 80
	s = visible(s)
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}

// visible writes out what would steer a terminal or turn the direction of
// text, so that a message is read as it is.
func visible(s string) string {
	plain := func(c rune) bool {
		return c >= 0x20 && c < 0x7f || c >= 0xa0 && !unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp)
	}
	if strings.IndexFunc(s, func(c rune) bool { return !plain(c) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		switch {
		case plain(c):
			b.WriteRune(c)
		case c < 0x20:
			b.WriteRune(0x2400 + c) // the pictures of control characters
		case c == 0x7f:
			b.WriteRune('␡')
		default:
			fmt.Fprintf(&b, "<U+%04X>", c)
		}
	}
	return b.String()
}
