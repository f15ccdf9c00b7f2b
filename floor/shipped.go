package floor

import (
	_ "embed"
	"sync"

	"assent/approval"
	"assent/floor/effect"
)

//go:embed reasonable-defaults.yaml
var reasonableDefaults []byte

// shippedName is how the shipped floor is called in messages.
const shippedName = "reasonable-defaults.yaml"

// ShippedPolicy is the floor that ships with the program. It can never fail
// to load: a test refuses a document that does not, and if it happened all
// the same, a floor built into the program would answer, which asks about
// everything and keeps the worst blocks (law ruling 7).
func ShippedPolicy() *Policy { return shippedOnce() }

// ShippedSource is the text of the shipped floor.
func ShippedSource() []byte { return reasonableDefaults }

var shippedOnce func() *Policy

func init() {
	shippedOnce = sync.OnceValue(func() *Policy { return loadShipped(reasonableDefaults) })
}

func loadShipped(data []byte) *Policy {
	p, err := parsePolicy(shippedName, data, Shipped, false)
	if err != nil {
		p = minimal()
	}
	for _, r := range p.Rules {
		r.fixed = r.ID == "assent" || r.ID == "assent-read" || r.ID == "assent-answers"
	}
	return p
}

type shippedID struct {
	id    string
	fixed bool
}

func shippedIDs() []shippedID {
	var out []shippedID
	for _, r := range ShippedPolicy().Rules {
		if r.ID != "" {
			out = append(out, shippedID{r.ID, r.fixed})
		}
	}
	return out
}

// minimal is the floor of last resort. It needs no document and no parser
// that could refuse it.
func minimal() *Policy {
	p := &Policy{Name: "built-in floor", Extends: true, layer: Shipped}
	add := func(kind effect.Kind, id string, patterns ...string) {
		r := &Rule{ID: id, Kind: kind, Result: approval.Block, Match: patterns, File: p.Name, policy: p}
		d := policyReader{policy: p}
		for _, text := range patterns {
			d.pattern(&node{}, text, &r.match, r)
		}
		p.Rules = append(p.Rules, r)
	}
	secrets := []string{"~/.ssh/**", "~/.aws/**", "~/.gnupg/**", "~/.kube/**", "~/.netrc", "~/.docker/config.json", "~/.config/gcloud/**", "/etc/shadow"}
	add(effect.Read, "credentials", secrets...)
	add(effect.Write, "credentials-write", secrets...)
	add(effect.Write, "configuration", "**/.git/hooks/**", "**/.vscode/**", "**/.claude/**", "**/.cursor/**", "**/.mcp.json")
	add(effect.Write, "devices", "@devices")
	add(effect.Read, "assent-read", "@assent")
	add(effect.Write, "assent", "@assent")
	add(effect.Write, "scanner", "@scanner")
	add(effect.Delete, "roots", "@roots")
	add(effect.Net, "metadata", "@metadata")
	p.build()
	return p
}
