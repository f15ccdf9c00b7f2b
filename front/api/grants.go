package api

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json"

	"assent/approval"
	"assent/front/api/wire"
	"assent/plexus"
)

// grantable are the clusters that can be granted (law §3).
var grantable = [...]approval.Cluster{approval.Write, approval.Bash, approval.MCP}

// grantBook is what was granted when: the revisions of the registers of grants, by
// session and "" for the kernel.
type grantBook map[string][]granting

// granting is one revision: what was granted from it on.
type granting struct {
	plexus.Stamp
	terms approval.Terms
}

func (b grantBook) add(r plexus.Register) {
	g := granting{Stamp: r.Stamp}
	if json.Unmarshal([]byte(r.Value), &g.terms, json.RejectUnknownMembers(true)) != nil {
		g.terms = approval.Terms{} // as the machine reads it
	}
	b[r.Session] = append(b[r.Session], g)
}

// as is the grant of a cluster that stood in a revision: as it was given, which may
// have been in an earlier one.
func (b grantBook) as(session string, cluster approval.Cluster, at int) wire.Grant {
	revisions := b[session]
	term := revisions[at].terms.Of(cluster)
	for at > 0 && revisions[at-1].terms.Of(cluster) == term {
		at--
	}
	g := wire.Grant{
		Number: wire.Rev(revisions[at].Rev), Kind: cluster.String(), Session: session,
		By: revisions[at].Writer.String(), At: revisions[at].At,
	}
	if end, ok := term.End(); ok {
		g.Until = &end
	}
	return g
}

// through is the grant that let a call of a session through: of those that stood in
// what was seen then, the session's own first.
func (b grantBook) through(session string, cluster approval.Cluster, license plexus.Field) *wire.Grant {
	var found *wire.Grant
	var last approval.Term
	for _, of := range []string{session, ""} {
		after, _ := slices.BinarySearchFunc(b[of], license.Seen+1, func(g granting, rev plexus.Rev) int { return cmp.Compare(g.Rev, rev) })
		if after == 0 {
			continue
		}
		term := b[of][after-1].terms.Of(cluster)
		if term == approval.Never {
			continue
		}
		g := b.as(of, cluster, after-1)
		if term.Holds(license.At) {
			return &g
		}
		// Decided on before it ended, and written with the next sync of the disk.
		if found == nil || term > last {
			found, last = &g, term
		}
	}
	return found
}

// grantBook reads what was granted in a session and in the kernel.
func (s *Server) grantBook(c *call, sessions ...string) (grantBook, error) {
	b := make(grantBook)
	for _, session := range append(sessions, "") {
		if b[session] != nil {
			continue
		}
		all, err := s.opts.Document.Revisions(c, session, grantsOf(session))
		if err != nil {
			return nil, err
		}
		for _, r := range all {
			b.add(r)
		}
	}
	return b, nil
}

// grantsOf is the register of the grants of a session, "" for the kernel's.
func grantsOf(session string) string {
	if session == "" {
		return plexus.StandingAutoAllow
	}
	return plexus.AutoAllow
}

// grantOf is the grant that let a leaf through, nil where none did.
func (s *Server) grantOf(c *call, snap plexus.JobSnapshot) (*wire.Grant, error) {
	license, ok := snap.Fields[plexus.OrchestrationResult]
	reason := read[string](snap.Fields, plexus.LicenseReason)
	if !ok || reason == nil || *reason != approval.GrantSkips.Name() {
		return nil, nil
	}
	leaf, err := snap.Job.Leaf()
	if err != nil {
		return nil, err
	}
	book, err := s.grantBook(c, snap.Job.Session)
	if err != nil {
		return nil, err
	}
	return book.through(snap.Job.Session, leaf.Cluster(), license), nil
}

// getGrants tells which grants hold, and what went through them: in all sessions,
// or in one and the kernel.
func getGrants(s *Server, c *call) error {
	head, err := s.opts.Document.Head(c)
	if err != nil {
		return err
	}
	session, one := c.query.Get("session"), c.query.Has("session")
	if one {
		if _, err := s.opts.Kernel.View(c, session); err != nil { // no such session
			return err
		}
	}
	book := make(grantBook)
	paths := make(map[string]map[string]wire.Grant) // by session and path
	err = s.opts.Document.EachRegister(c, func(r plexus.Register) {
		switch {
		case r.Name != plexus.ReadAllowlist:
			book.add(r) // of all: what went through one did not go through another
		case !one || r.Session == session:
			paths[r.Session] = pathsGiven(r, paths[r.Session])
		}
	}, plexus.AutoAllow, plexus.StandingAutoAllow, plexus.ReadAllowlist)
	if err != nil {
		return err
	}
	now := s.opts.Now()
	lines := make(map[wire.Grant]*wire.GrantLine)
	out := wire.GrantList{Rev: wire.Rev(head.Rev), Grants: []wire.GrantLine{}}
	var all []*wire.GrantLine
	first := plexus.Rev(head.Rev)
	for of, revisions := range book {
		if one && of != "" && of != session {
			continue
		}
		for _, cluster := range grantable {
			if last := len(revisions) - 1; revisions[last].terms.Of(cluster).Holds(now) {
				g := book.as(of, cluster, last)
				line := &wire.GrantLine{Grant: g, Used: new(int)}
				lines[key(g)] = line
				all = append(all, line)
				first = min(first, plexus.Rev(g.Number))
			}
		}
	}
	if len(lines) > 0 {
		uses, err := s.opts.Document.Licenses(c, first, approval.GrantSkips.Name())
		if err != nil {
			return err
		}
		for _, use := range uses {
			leaf, err := use.Job.Leaf()
			if err != nil {
				continue // nobody granted what nobody can read
			}
			g := book.through(use.Session, leaf.Cluster(), use.Field)
			if g == nil || lines[key(*g)] == nil {
				continue
			}
			line := lines[key(*g)]
			*line.Used++
			line.Last = &use.At
		}
	}
	for _, of := range paths {
		for _, g := range of {
			all = append(all, &wire.GrantLine{Grant: g})
		}
	}
	slices.SortFunc(all, func(a, b *wire.GrantLine) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Path, b.Path))
	})
	for _, line := range all {
		out.Grants = append(out.Grants, *line)
	}
	c.answer = out
	return nil
}

// key tells grants apart that were given at once.
func key(g wire.Grant) wire.Grant {
	return wire.Grant{Number: g.Number, Kind: g.Kind}
}

// pathsGiven are the paths of a list, each as it was given, which may have been
// before.
func pathsGiven(r plexus.Register, before map[string]wire.Grant) map[string]wire.Grant {
	var list []string
	if json.Unmarshal([]byte(r.Value), &list) != nil {
		return nil
	}
	now := make(map[string]wire.Grant, len(list))
	for _, path := range list {
		g, ok := before[path]
		if !ok {
			g = wire.Grant{Number: wire.Rev(r.Rev), Kind: approval.Read.String(), Session: r.Session, Path: path, By: r.Writer.String(), At: r.At}
		}
		now[path] = g
	}
	return now
}
