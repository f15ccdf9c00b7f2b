package toolkit

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"sync"

	"assent/internal/offspring"
	"assent/job"
)

// Options are what the host lends its bodies.
type Options struct {
	// Shell is the program that reads commands, /bin/sh when empty.
	Shell string
	// Env are all the variables that commands get. The host's own are not
	// handed on by themselves.
	Env []string
	// Running is the folder in which stands what runs, so that the life after one that
	// was killed ends what that left; "" keeps nothing.
	Running string
	// Contact judges addresses that a call leads to and that were not judged
	// with it. None is contacted when it is nil.
	Contact Contact
	// Opens judges files below a folder that a search opens. None is opened when it
	// is nil.
	Opens Opens
	// Agents are where the communication of agents goes. None is possible when it is
	// nil.
	Agents Agents
	Settings
}

// Settings are what a person sets, and may change while bodies run.
type Settings struct {
	// Search is the address of a web search, with {query} where the words go;
	// "" for none.
	Search string
	// MCP are the servers of tools, by name.
	MCP map[string]MCPServer
}

// Kit is the bodies, with what they hold open.
type Kit struct {
	env  []string
	book *offspring.Book

	mu       sync.Mutex
	settings Settings
	servers  *servers
	closed   bool
	ending   sync.WaitGroup // servers that are set up no more
}

// Register says which body runs which of the host's own tools.
func Register(r *job.Registry, o Options) (*Kit, error) {
	if o.Shell == "" {
		o.Shell = "/bin/sh"
	}
	if !filepath.IsAbs(o.Shell) {
		return nil, errors.New("the shell of the tool bash needs an absolute path")
	}
	var book *offspring.Book
	if o.Running != "" {
		var err error
		if book, err = offspring.Open(o.Running); err != nil {
			return nil, err
		}
	}
	kit := &Kit{env: o.Env, book: book, settings: o.Settings, servers: newServers(o.MCP, o.Env, book)}
	pages := &web{contact: o.Contact, search: kit.search, limit: webLimit}
	agents := talk{o.Agents}
	commands := &shell{program: o.Shell, env: o.Env, book: book}
	for _, t := range []struct {
		kind job.Kind
		name string
		body job.Body
	}{
		{job.SystemTool, "bash", commands.run},
		{job.SystemTool, "read", read},
		{job.SystemTool, "list", list},
		{job.SystemTool, "glob", glob},
		{job.SystemTool, "grep", search{o.Opens}.grep},
		{job.FileMutateTool, "write", write},
		{job.FileMutateTool, "edit", editing},
		{job.WebExtractTool, "web_extract", pages.extract},
		{job.WebSearchTool, "web_search", pages.find},
		{job.SystemTool, "update_metadata", agents.describe},
		{job.SystemTool, "context_need", agents.need},
	} {
		if err := r.RegisterTool(t.kind, t.name, nil, t.body); err != nil {
			return nil, err
		}
	}
	err := errors.Join(
		r.RegisterExecutor(job.MCPTool, nil, kit.call),
		r.RegisterExecutor(job.AgentCall, nil, agents.call),
		r.RegisterExecutor(job.AgentMessage, nil, agents.message),
		r.RegisterExecutor(job.AgentCallback, nil, agents.callback),
		r.RegisterExecutor(job.AgentNotify, nil, agents.notify),
		r.RegisterExecutor(job.ContextNeedTool, nil, agents.need),
		r.RegisterPreview(job.FileMutateTool, "write", preview(writing)),
		r.RegisterPreview(job.FileMutateTool, "edit", preview(edited)),
	)
	for name, w := range clientTools {
		err = errors.Join(err, r.RegisterPreview(job.Foreign, name, w.preview))
	}
	return kit, err
}

// Set changes the settings. Servers that are set up otherwise are ended, also
// under calls that run there; it waits for none of them.
func (k *Kit) Set(s Settings) {
	k.mu.Lock()
	old := k.servers
	same := reflect.DeepEqual(s.MCP, k.settings.MCP)
	k.settings = s
	if !same && !k.closed {
		k.servers = newServers(s.MCP, k.env, k.book)
		k.ending.Go(old.close)
	}
	k.mu.Unlock()
}

func (k *Kit) search() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.settings.Search
}

func (k *Kit) now() *servers {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.servers
}

func (k *Kit) call(ctx context.Context, call job.Call) (job.Outcome, error) {
	return k.now().call(ctx, call)
}

// Servers are the servers of tools that are set up, by name, as they were when they
// were last asked.
func (k *Kit) Servers() []Server { return k.now().list() }

// Ask has every server asked which tools it has, and started for that.
func (k *Kit) Ask(ctx context.Context) { k.now().ask(ctx) }

// Close ends what is open. No body begins or runs any more.
func (k *Kit) Close() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.now().close()
	k.ending.Wait()
}
