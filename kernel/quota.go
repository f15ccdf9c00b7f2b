package kernel

import (
	"errors"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"

	"assent/plexus"
)

// What one agent can use up is bounded, so that neither the disk nor the list of a
// person is an agent's to fill. Only what an agent begins is refused: what people
// write, what the host writes on calls that are there, cancelling and settling never
// are, so no call stays as it is for want of room.

var (
	// ErrQuota: an agent has all that one agent may have.
	ErrQuota = errors.New("the most for one agent")
	// ErrReserve: what is left of the disk is kept for people's answers and for what
	// settles calls.
	ErrReserve = errors.New("the rest of the disk is kept for answers")
)

// Bounds of one agent.
const (
	// WaitingMost is how many calls of an agent wait to be decided at a time: more
	// than any person answers.
	WaitingMost = 1000
	// OpenMost is how many are not settled at a time, with those whose client was
	// told to go on and has reported nothing since. Each is kept in memory.
	OpenMost = 10_000
	// EmptyMost is how many sessions an agent may have in which nothing was asked.
	EmptyMost = 100
)

// DefaultAgentBytes is what an agent may have in the document where nobody sets it:
// some hundred thousand calls. DefaultReserve is what stays free of the disk:
// thousands of answers, and the largest outcomes of what runs.
const (
	DefaultAgentBytes = 1 << 30
	DefaultReserve    = 256 << 20
)

// coming is what agents are about to have.
type coming struct {
	mu sync.Mutex
	of map[string]plexus.Stored
}

// allot says whether an agent may have so much more, which counts as its own until
// done is called: by then it is in the document, or will not be. Who is no agent
// may have anything.
func (k *Kernel) allot(by plexus.Writer, more plexus.Stored) (done func(), err error) {
	if by.Role != plexus.Agent {
		return func() {}, nil
	}
	if err := k.Room(); err != nil {
		return nil, err
	}
	set := k.settings()
	k.coming.mu.Lock()
	defer k.coming.mu.Unlock()
	have, whole := k.Document.Stored(by.Name)
	will := have.Plus(k.coming.of[by.Name]).Plus(more)
	switch {
	case will.Bytes > set.AgentBytes:
		return nil, fmt.Errorf("%s in the document are %w, and it has %s: a person sets agentMegabytes in config.json, or begins a new document",
			megabytes(set.AgentBytes), ErrQuota, megabytes(have.Bytes))
	case more.Waiting > 0 && will.Waiting > WaitingMost:
		return nil, fmt.Errorf("%d calls that wait are %w: a person answers or cancels some (assent queue)", WaitingMost, ErrQuota)
	case more.Open > 0 && will.Open > OpenMost:
		return nil, fmt.Errorf("%d calls that are not settled are %w: report what became of them, or cancel them", OpenMost, ErrQuota)
	case more.Empty > 0 && whole && will.Empty > EmptyMost:
		return nil, fmt.Errorf("%d sessions in which nothing was asked are %w: use one of those", EmptyMost, ErrQuota)
	}
	if k.coming.of == nil {
		k.coming.of = make(map[string]plexus.Stored)
	}
	k.coming.of[by.Name] = k.coming.of[by.Name].Plus(more)
	return func() {
		k.coming.mu.Lock()
		defer k.coming.mu.Unlock()
		left := k.coming.of[by.Name].Plus(plexus.Stored{
			Bytes: -more.Bytes, Sessions: -more.Sessions, Empty: -more.Empty, Open: -more.Open, Waiting: -more.Waiting,
		})
		if k.coming.of[by.Name] = left; left == (plexus.Stored{}) {
			delete(k.coming.of, by.Name)
		}
	}, nil
}

// Room says whether there is so much room on the disk that anything of agents is
// taken.
func (k *Kernel) Room() error {
	reserve := k.settings().Reserve
	if free, known := k.Document.Free(); known && free < reserve {
		return fmt.Errorf("%w: %s of it are free, and nothing of agents is taken below %s (diskReserveMegabytes in config.json); make room",
			ErrReserve, megabytes(free), megabytes(reserve))
	}
	return nil
}

// settings are those in force, with their defaults.
func (k *Kernel) settings() Settings {
	k.mu.Lock()
	defer k.mu.Unlock()
	set := k.set
	if set.AgentBytes <= 0 {
		set.AgentBytes = DefaultAgentBytes
	}
	if set.Reserve <= 0 {
		set.Reserve = DefaultReserve
	}
	return set
}

func megabytes(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }

// smallOutcome is how long an outcome may be that is kept whatever an agent has: a
// call that was begun is settled.
const smallOutcome = 1 << 10

// keepable is an outcome as it is kept of an agent: where it has no room for it, that
// it is left out, and whether it was good. Its client has it anyway.
func (k *Kernel) keepable(outcome string, by plexus.Writer) (kept string, done func()) {
	if len(outcome) <= smallOutcome {
		return outcome, func() {}
	}
	done, err := k.allot(by, plexus.Stored{Bytes: int64(len(outcome))})
	if err == nil {
		return outcome, done
	}
	var left struct {
		OK   *bool  `json:"ok,omitempty"`
		Text string `json:"text"`
		Code string `json:"code"`
	}
	_ = json.Unmarshal([]byte(outcome), &left) // not an object, or without that: it does not say
	left.Text, left.Code = fmt.Sprintf("[%d bytes are not kept: %v]", len(outcome), err), "not_kept"
	return plexus.Value(left), func() {}
}

// Used is what agents have, and may have.
type Used struct {
	Agents     map[string]plexus.Stored // by name
	AgentBytes int64                    // that each may have
	Reserve    int64                    // bytes of the disk that stay free of what agents begin
	Free       int64                    // that are free, where the system tells
	FreeKnown  bool
}

// Used tells what agents have now.
func (k *Kernel) Used() Used {
	set := k.settings()
	u := Used{Agents: k.Document.StoredOfAll(), AgentBytes: set.AgentBytes, Reserve: set.Reserve}
	u.Free, u.FreeKnown = k.Document.Free()
	return u
}
