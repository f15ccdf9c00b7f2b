package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"assent/approval"
	"assent/floor"
	"assent/internal/place"
)

// layers are the policies a call is judged by (policy §2).
type layers struct {
	floor floor.Floor
	// broken are the policy files that could not be used, and what is wrong with
	// each.
	broken []brokenPolicy
	// rows keeps the policies of rows: many rows share one.
	rows sync.Map // text of a policy → *rowPolicy
}

type brokenPolicy struct {
	name string
	err  error
}

// problems says what is wrong with the policies that could not be used.
func (l *layers) problems() string {
	var all []string
	for _, b := range l.broken {
		all = append(all, b.err.Error())
	}
	return strings.Join(all, "\n")
}

// A warning tells a person what is not as they may think.
type warning func(format string, args ...any)

// warnings go to standard error, fit for a terminal.
func warnings(cmd *cobra.Command) warning {
	return func(format string, args ...any) {
		fmt.Fprintf(cmd.ErrOrStderr(), "assent: warning: %s", paragraph(fmt.Sprintf(format, args...)))
	}
}

// file loads the operator's policy from a file that was named.
func (l *layers) file(name string, warn warning) error {
	if name == "" {
		return nil
	}
	text, err := place.ReadPolicy(name)
	if err != nil {
		return usagef("--policy: %w", err)
	}
	// The floor protects its policies by their absolute names; what is said of
	// this one names it as the person did.
	if abs, err := filepath.Abs(name); err == nil {
		l.floor.Own = append(l.floor.Own, abs)
	}
	l.floor.Operator = l.parse(name, text, floor.Operator, warn)
	return nil
}

// machine loads the policies that hold for a call on this machine.
func (l *layers) machine(named string, call floor.Call, warn warning) error {
	if err := l.file(named, warn); err != nil {
		return err
	}
	l.floor.Processes, l.floor.ScannerFiles = kernelProcesses(), scanner().Files()
	if at, err := findKernel(); err == nil && !at.Shared {
		troubles, _ := settingsTroubles(at.ConfigFile())
		for _, trouble := range troubles {
			warn("%s", trouble)
		}
		l.floor.Own = append(l.floor.Own, at.Config, at.State, at.Runtime, at.ConfigFile(), at.PolicyFile())
	}
	if named == "" {
		file := place.OperatorPolicy(os.Getenv("XDG_CONFIG_HOME"), call.Home)
		if file == "" {
			warn("the operator policy was not looked for: no home folder is known, and XDG_CONFIG_HOME names none")
		}
		l.floor.Operator = l.load(file, floor.Operator, warn)
	}
	l.floor.Managed = l.load(place.ManagedPolicy, floor.Managed, warn)
	project := place.ProjectPolicy(call.Workspace)
	l.floor.Project = l.load(project, floor.Project, warn)
	l.floor.OwnLinks = place.Links(l.floor.Own)
	l.floor.Own = append(place.Trails(l.floor.Own), place.Trail(project)[1:]...)
	return nil
}

// load reads a policy file that need not be there.
func (l *layers) load(name string, layer floor.Layer, warn warning) *floor.Policy {
	if name == "" {
		return nil
	}
	text, err := place.ReadPolicy(name)
	if errors.Is(err, fs.ErrNotExist) {
		link := place.DanglingLink(name)
		if link == "" {
			if other := misnamed(name); other != "" {
				warn("found %s, which is not read: did you mean %s?", other, filepath.Base(name))
			}
			return nil
		}
		err = fmt.Errorf("%s is a link to what does not exist", link)
	}
	if err != nil {
		warn("the %s policy is not in force: %v", layer, err)
		l.broken = append(l.broken, brokenPolicy{name, fmt.Errorf("%s: %w", name, err)})
		return nil
	}
	return l.parse(name, text, layer, warn)
}

// misnamed is a file beside a policy that is missing which was probably meant
// to be it: policy.yml, policy.json, Policy.yaml, polcy.yaml. It is "" when
// there is none.
func misnamed(name string) string {
	dir, base := filepath.Split(name)
	files, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, f := range files {
		stem := strings.TrimSuffix(strings.ToLower(f.Name()), filepath.Ext(f.Name()))
		if stem == "policy" || nearest(f.Name(), []string{base}) != "" {
			return filepath.Join(dir, f.Name())
		}
	}
	return ""
}

// parse reads the text of a policy. One that is wrong is left out and told.
func (l *layers) parse(name string, text []byte, layer floor.Layer, warn warning) *floor.Policy {
	p, err := floor.ParseLayer(name, text, layer)
	if err != nil {
		warn("the %s policy is not in force:\n%v", layer, err)
		l.broken = append(l.broken, brokenPolicy{name, err})
		return nil
	}
	return p
}

// judge judges a call on this machine. While a policy is broken its denies are
// not known, so nothing is allowed.
func (l *layers) judge(call floor.Call) floor.Verdict {
	v := l.floor.Judge(call)
	if len(l.broken) > 0 {
		v.Result = v.Result.Join(approval.Ask)
		v.Message = join(v.Message, "Nothing is allowed while "+l.broken[0].name+" is not in force.")
	}
	return v
}

// join puts two sentences together.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

// rowPolicy is the policy of a row, or why it has none.
type rowPolicy struct {
	floor floor.Floor
	err   error
}

// with is the floor with the policy of a row. When that is broken, the floor
// without it and the reason.
func (l *layers) with(text jsontext.Value) (*floor.Floor, error) {
	if len(text) == 0 || text.Kind() == 'n' {
		if len(l.broken) > 0 {
			return &l.floor, fmt.Errorf("%s is not in force", l.broken[0].name)
		}
		return &l.floor, nil
	}
	if p, ok := l.rows.Load(string(text)); ok {
		p := p.(*rowPolicy)
		return &p.floor, p.err
	}
	p := &rowPolicy{floor: l.floor}
	if text.Kind() != '{' {
		p.err = errors.New("policy: it is not an object")
	} else if policy, err := floor.ParsePolicy("policy", text); err != nil {
		p.err = err
	} else {
		p.floor.Operator = policy
	}
	l.rows.Store(string(text), p)
	return &p.floor, p.err
}
