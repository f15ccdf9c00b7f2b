package drawn

// Ink is a colour, named for what it says. Colour only ever repeats what the
// words say.
type Ink string

// The inks.
const (
	None  Ink = ""
	Faint Ink = "2"
	Bold  Ink = "1"
	Allow Ink = "32"
	Ask   Ink = "33"
	Deny  Ink = "31"
	Block Ink = "1;31"
)

// Of is a text in a colour, or as it is where nothing is coloured.
func (i Ink) Of(coloured bool, s string) string {
	if !coloured || i == None || s == "" {
		return s
	}
	return "\x1b[" + string(i) + "m" + s + "\x1b[0m"
}

// Result is the colour of a result by its name.
func Result(name string) Ink {
	switch name {
	case "allow":
		return Allow
	case "deny":
		return Deny
	case "block":
		return Block
	case "ask", "wait":
		return Ask
	}
	return Faint
}
