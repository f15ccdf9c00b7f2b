package peer

import "strings"

// desktop says whether a control group is where systemd keeps the service
// manager itself (init.scope) or the essential parts of a desktop
// (session.slice): what those start are a person's programs, and only the
// programs themselves can be agents.
func desktop(cgroup string) bool {
	for part := range strings.SplitSeq(cgroup, "/") {
		if part == "init.scope" || part == "session.slice" {
			return true
		}
	}
	return false
}
