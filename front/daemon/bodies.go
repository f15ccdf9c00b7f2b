package daemon

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"assent/agent"
	"assent/approval"
	"assent/front/api/wire"
	"assent/internal/config"
	"assent/internal/peer"
	"assent/job"
	"assent/kernel"
	"assent/model"
	"assent/plexus"
	programs "assent/program"
	"assent/toolkit"
	"assent/turn"
)

// bodies are what runs in the kernel itself. They ask it about addresses that they
// come to while they run, and give it what agents say to each other.
func bodies(c config.Config, late *lateKernel, environ []string, running string) (*job.Registry, *toolkit.Kit, error) {
	registry := new(job.Registry)
	kit, err := toolkit.Register(registry, toolkit.Options{Env: handedOn(environ), Running: running, Contact: late.contact, Opens: late.opens, Agents: late, Settings: toolsOf(c)})
	if err == nil {
		err = programs.Register(registry, programs.Options{Host: late, Tools: programTools()})
	}
	return registry, kit, err
}

// turns has the turns of agents gone through here.
func turns(registry *job.Registry, late *lateKernel, document *plexus.Store, models *model.Connections, kit *toolkit.Kit) error {
	a := &agent.Agent{
		Document: document, Models: models,
		Kernel: func(ctx context.Context) (agent.Admitter, error) { return late.get(ctx) },
		Tools:  func(ctx context.Context) []turn.Tool { return toolsFor(ctx, kit) },
	}
	return registry.RegisterSequence(job.SessionTurn, turn.Name, a.Run)
}

// toolsFor are the tools that a model is told of: the host's own, and those of the
// servers that are set up, which are asked where nobody has.
func toolsFor(ctx context.Context, kit *toolkit.Kit) []turn.Tool {
	tools := turn.Tools()
	servers := kit.Servers()
	if slices.ContainsFunc(servers, func(s toolkit.Server) bool { return s.State == toolkit.Unasked }) {
		kit.Ask(ctx)
		servers = kit.Servers()
	}
	for _, s := range servers {
		for _, t := range s.Tools {
			schema := map[string]any{"type": "object"}
			if text, err := json.Marshal(t.Schema); err == nil {
				_ = json.Unmarshal(text, &schema) // one that is no object is none
			}
			told := model.Tool{Name: t.Name, Description: t.Description, Parameters: schema}
			tools = append(tools, turn.Tool{Tool: told, Kind: job.MCPTool, Changes: !approval.IsLookUp(t.Name)})
		}
	}
	return tools
}

// programTools are the host's own tools as programs call them: those that are leaves.
func programTools() (tools []job.Tool) {
	for _, t := range turn.Tools() {
		needs, _ := t.Parameters["required"].([]string)
		if !t.Kind.Sequence() {
			tools = append(tools, job.Tool{Kind: t.Kind, Name: t.Name, Needs: needs})
		}
	}
	return tools
}

// handedOn are the variables of the kernel that commands get: who it is, where
// programs are, how texts are written, and no more. Whoever started the kernel
// may have had secrets in theirs. The mark says that what runs is a body.
func handedOn(environ []string) []string {
	names := []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}
	env := []string{peer.BodyMark + "=1", "TERM=dumb"}
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if slices.Contains(names, name) || strings.HasPrefix(name, "LC_") {
			env = append(env, v)
		}
	}
	return env
}

func toolsOf(c config.Config) toolkit.Settings {
	s := toolkit.Settings{Search: c.WebSearch, MCP: make(map[string]toolkit.MCPServer)}
	for name, m := range c.MCPServers {
		server := toolkit.MCPServer{Command: m.Command, Args: m.Args, Env: m.Environ(), URL: m.URL}
		for key, value := range m.Headers {
			if server.Header == nil {
				server.Header = make(http.Header)
			}
			server.Header.Set(key, value)
		}
		s.MCP[name] = server
	}
	return s
}

// maxTold is how much of a tool's own description is told, in bytes.
const maxTold = 500

// serversOf are the servers of MCP tools as they are told. What a tool may do is
// told by its name, never by what its server says (law §3).
func serversOf(ctx context.Context, kit *toolkit.Kit, ask bool) (all []wire.ServerTools) {
	if ask {
		kit.Ask(ctx)
	}
	for _, s := range kit.Servers() {
		told := wire.ServerTools{Name: s.Name, Over: s.Over, State: s.State.String(), Why: s.Why, Tools: []wire.ServerTool{}, LeftOut: s.LeftOut}
		for _, t := range s.Tools {
			leaf := approval.Leaf{Kind: approval.MCPTool, Name: t.Name}
			tool := wire.ServerTool{Name: t.Name, Cluster: leaf.Cluster().String(), LookUp: approval.IsLookUp(t.Name), Hints: []string{}, Description: t.Description}
			if len(tool.Description) > maxTold {
				tool.Description = strings.ToValidUTF8(tool.Description[:maxTold], "") + "..."
			}
			if t.ReadOnly {
				tool.Hints = append(tool.Hints, "readOnly")
			}
			if t.Destructive {
				tool.Hints = append(tool.Hints, "destructive")
			}
			told.Tools = append(told.Tools, tool)
		}
		all = append(all, told)
	}
	return all
}

// toolLimit is how long a body may take, by the configuration of the moment when it
// begins.
type toolLimit struct{ now atomic.Int64 }

func (l *toolLimit) set(c config.Config) {
	l.now.Store(int64(cmp.Or(c.ToolTimeout, config.DefaultToolTimeout)))
}

func (l *toolLimit) of(job.Kind, string) time.Duration { return time.Duration(l.now.Load()) }

// lateKernel is the kernel, which is made after its bodies: one that goes on where an
// earlier life ended waits until it is there.
type lateKernel struct {
	made chan struct{}
	k    *kernel.Kernel // nil where none could be made
}

var (
	_ toolkit.Agents = (*lateKernel)(nil)
	_ programs.Host  = (*lateKernel)(nil)
)

func (l *lateKernel) get(ctx context.Context) (*kernel.Kernel, error) {
	select {
	case <-l.made:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if l.k == nil {
		return nil, kernel.ErrClosed
	}
	return l.k, nil
}

func (l *lateKernel) contact(ctx context.Context, call job.Call, address string) error {
	k, err := l.get(ctx)
	if err != nil {
		return err
	}
	return k.Contact(ctx, call, address)
}

func (l *lateKernel) opens(ctx context.Context, call job.Call, path string) error {
	k, err := l.get(ctx)
	if err != nil {
		return err
	}
	return k.Opens(ctx, call, path)
}

// Inside is [kernel.Kernel.Inside].
func (l *lateKernel) Inside(ctx context.Context, of job.Call, c job.Inside) (job.Settled, error) {
	k, err := l.get(ctx)
	if err != nil {
		return job.Settled{}, err
	}
	return k.Inside(ctx, of, c)
}

// Spawn is [kernel.Kernel.Spawn].
func (l *lateKernel) Spawn(ctx context.Context, call job.Call, task string) (string, error) {
	k, err := l.get(ctx)
	if err != nil {
		return "", err
	}
	return k.Spawn(ctx, call, task)
}

// Say is [kernel.Kernel.Say].
func (l *lateKernel) Say(ctx context.Context, call job.Call, to, kind, text string) error {
	k, err := l.get(ctx)
	if err != nil {
		return err
	}
	return k.Say(ctx, call, to, kind, text)
}

// Tell is [kernel.Kernel.Tell].
func (l *lateKernel) Tell(ctx context.Context, call job.Call, kind, text string) error {
	k, err := l.get(ctx)
	if err != nil {
		return err
	}
	return k.Tell(ctx, call, kind, text)
}

// Describe is [kernel.Kernel.Describe].
func (l *lateKernel) Describe(ctx context.Context, call job.Call, members map[string]string) error {
	k, err := l.get(ctx)
	if err != nil {
		return err
	}
	return k.Describe(ctx, call, members)
}
