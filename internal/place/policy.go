package place

import (
	"io/fs"
	"os"
	"path/filepath"
)

// ManagedPolicy is the policy of whoever runs the machine.
const ManagedPolicy = "/etc/assent/policy.yaml"

// OperatorPolicy is [Place.PolicyFile], told by XDG_CONFIG_HOME and the home
// folder alone; "" when neither names a place.
func OperatorPolicy(configHome, home string) string {
	config, err := base(configHome, home, ".config")
	if err != nil {
		return ""
	}
	return Place{Config: config}.PolicyFile()
}

// ProjectPolicy is the policy in a workspace.
func ProjectPolicy(workspace string) string {
	return filepath.Join(workspace, ".assent", "policy.yaml")
}

// MaxPolicy is larger than any policy the floor takes, so that it says what is
// wrong.
const MaxPolicy = 8 << 20

// ReadPolicy reads a policy from a regular file.
func ReadPolicy(path string) ([]byte, error) {
	text, _, err := Read(path, MaxPolicy, "policy")
	return text, err
}

// DanglingLink is the link for which a file does not exist: the file itself or
// a folder that it is in. It is "" when nothing of the name exists. Somebody
// has put a policy there; that it cannot be found is no reason to do without.
func DanglingLink(path string) string {
	for p := path; ; p = filepath.Dir(p) {
		info, err := os.Lstat(p)
		switch {
		case err == nil && info.Mode()&fs.ModeSymlink != 0:
			if _, err := os.Stat(p); err != nil {
				return p
			}
			return ""
		case err == nil, p == filepath.Dir(p):
			return ""
		}
	}
}
