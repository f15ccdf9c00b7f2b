package doctor

import (
	"debug/buildinfo"
	"runtime/debug"
)

// build looks whether the hook is of the same build as this program.
func (x *examination) build(program string) {
	hook, err := buildinfo.ReadFile(program)
	if err != nil {
		x.say("program", Hole, x.reconnect(), "%s is no assent-hook: %v", program, err)
		return
	}
	if hook.Path != "assent/cmd/assent-hook" {
		x.say("program", Hole, x.reconnect(), "%s is another program: %s", program, hook.Path)
		return
	}
	self, err := buildinfo.ReadFile(x.Self)
	if err != nil {
		x.say("program", Unknown, "", "%s is there; of which build this program is cannot be told", program)
		return
	}
	a, b := build(hook), build(self)
	switch {
	case a == "" || b == "":
		x.say("program", Unknown, "", "%s is there; of which build it is cannot be told", program)
	case a != b:
		x.say("program", Hole, "build both anew, and "+x.reconnect(), "%s is of another build than this assent: %s, and this is %s", program, a, b)
	default:
		x.say("program", Fine, "", "%s is of the build of this assent", program)
	}
}

// build is what a build is called: its version, or its revision.
func build(info *debug.BuildInfo) string {
	name := ""
	if v := info.Main.Version; v != "" && v != "(devel)" {
		name = v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" && s.Value == "true" {
			name += " " + s.Value
		}
	}
	return name
}
