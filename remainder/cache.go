package remainder

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
)

// Key is what a vote is remembered by: the cluster and the payload (law §9, ruling
// 18). It holds a little more than those, so that a vote answers nothing else than
// what was asked: what the floor said, where the call starts, and the arguments that
// change what it does; for files what becomes of which, and not what is written. "" is
// a call of which no vote is remembered.
func (c Call) Key() string {
	payload := []string{c.Cluster.String(), c.Floor.String()}
	switch c.Cluster {
	case approval.Bash:
		arguments, ok := canonical(c.Arguments, "description", "timeout")
		if !ok {
			return ""
		}
		payload = append(payload, c.Name, c.Cwd, arguments)
	case approval.Read, approval.Write:
		what := c.payload()
		if what == "" {
			return ""
		}
		payload = append(payload, what)
	case approval.MCP, approval.Web:
		arguments, ok := canonical(c.Arguments)
		if !ok {
			return ""
		}
		payload = append(payload, c.Name, arguments)
	case approval.Comm:
		return ""
	}
	text, err := json.Marshal(payload)
	if err != nil {
		return ""
	}
	return string(text)
}

// canonical is a JSON object in its one spelling, without some of its members.
func canonical(arguments []byte, without ...string) (string, bool) {
	if strings.TrimSpace(string(arguments)) == "" {
		return "{}", true
	}
	var members map[string]jsontext.Value
	if json.Unmarshal(arguments, &members) != nil || members == nil {
		return "", false
	}
	for _, name := range without {
		delete(members, name)
	}
	text, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return "", false
	}
	// Numbers keep their digits: 2^53 and the number after it are two.
	v := jsontext.Value(text)
	if v.Format(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false), jsontext.ReorderRawObjects(true), jsontext.PreserveRawStrings(false)) != nil {
		return "", false
	}
	return string(v), true
}

// Cache are the votes of one session that a program gave in this process. The zero
// value is empty. It is for one goroutine.
type Cache struct {
	sum   string
	votes map[string]Vote
}

// maxVotes is how many votes of a session are remembered.
const maxVotes = 1000

// Vote is the vote that a program gave before, and whether it gave one. Votes of
// another program are forgotten.
func (c *Cache) Vote(p *Program, key string) (vote Vote, ok bool) {
	c.of(p)
	if key == "" {
		return Vote{}, false
	}
	vote, ok = c.votes[key]
	vote.Remembered = ok
	return vote, ok
}

// Keep remembers a vote of a program.
func (c *Cache) Keep(p *Program, key string, vote Vote) {
	c.of(p)
	if key == "" || vote.Result == approval.NoVote {
		return
	}
	if c.votes == nil || len(c.votes) >= maxVotes {
		c.votes = make(map[string]Vote)
	}
	c.votes[key] = vote
}

func (c *Cache) of(p *Program) {
	if c.sum != p.Sum {
		c.sum, c.votes = p.Sum, nil
	}
}
