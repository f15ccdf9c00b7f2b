package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"assent/front/api/client"
	"assent/front/gateway"
)

// proxy is a proxy in front of a server of MCP tools.
type proxy struct {
	url, name, workspace, socket string
	header, headerEnv            []string
	deadline                     time.Duration
}

func newMCP() *cobra.Command {
	p := &proxy{}
	cmd := &cobra.Command{
		Use:   "mcp [flags] -- COMMAND [ARGS]",
		Short: "Stand in front of a server of MCP tools",
		Long: `Mcp is what a client starts in place of a server of MCP tools: put "assent mcp --"
before the server's command in the client's configuration, or for one that is
reached over streamable HTTP "assent mcp --url URL". Each call of a tool is then
held until the kernel has licensed it, and a call that is refused reaches no
server. So is reading a resource, as the tool read_resource with its address. All else
goes through: the lists of tools and resources as they are, prompts, what the server
asks of the client, progress and cancellation.

A tool is judged as mcp__NAME__TOOL, so one rule holds for it here, by a hook and
in the kernel; for resources a rule names NAME/read_resource. NAME is --name, or is taken from the command or the address: give
each server the name that it has in the client.

A call is held a little shorter than its client waits: 1 h for Claude Code,
9m30s for Gemini CLI, 50 s for others; --deadline says otherwise. The model is
told then that it waits, and the very same call made again gets the answer.
Where the client can show a question, its person is told that a call waits;
answering there decides nothing.

In .mcp.json of Claude Code, "mcpServers" of Gemini CLI, Cursor and others:

  "files": {"command": "assent",
            "args": ["mcp", "--name", "files", "--", "npx", "-y", "some-server", "/srv"]}

In config.toml of Codex:

  [mcp_servers.files]
  command = "assent"
  args = ["mcp", "--name", "files", "--", "npx", "-y", "some-server", "/srv"]

In opencode.json:

  "mcp": {"files": {"type": "local",
          "command": ["assent", "mcp", "--name", "files", "--", "npx", "-y", "some-server", "/srv"]}}`,
		Example: `  assent mcp --name files -- npx -y @modelcontextprotocol/server-filesystem /srv
  assent mcp --name tracker --url https://mcp.example.com/mcp --header-env 'Authorization: TRACKER_AUTH'`,
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&p.url, "url", "", "the server's `address`, for one over streamable HTTP")
	f.StringArrayVar(&p.header, "header", nil, "a `header` that every request to it carries: 'Name: value'")
	f.StringArrayVar(&p.headerEnv, "header-env", nil, "a `header` whose value is that of a variable, for keys: 'Name: VARIABLE'")
	f.StringVar(&p.name, "name", "", "the `name` by which rules and people know the server")
	f.StringVar(&p.workspace, "workspace", "", "the `folder` that calls are judged in; the present one when left out")
	f.DurationVar(&p.deadline, "deadline", 0, "the longest `time` a call is held, as 55s or 10m")
	f.StringVar(&p.socket, "socket", "", "the kernel's socket, for one that runs elsewhere: its `path`")
	return cmd
}

func (p *proxy) run(cmd *cobra.Command, args []string) error {
	server, err := p.server(cmd, args)
	if err != nil {
		return err
	}
	if p.name == "" {
		if p.name, err = serverName(p.url, args); err != nil {
			return err
		}
	}
	switch {
	case !serverNames.MatchString(p.name):
		return usagef("--name %s: want letters, digits, - and ., with single _ between them, 64 at most", oneLine(p.name, maxTarget))
	case p.deadline < 0:
		return usagef("--deadline %s is no time to wait", p.deadline)
	}
	workspace := p.workspace
	if workspace == "" {
		workspace = "."
	}
	if workspace, err = absolute(workspace); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// A client that is gone takes no answer, and that must not end the proxy before it has
	// told the kernel. To ignore the signal would have the server ignore it too.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	errOut := cmd.ErrOrStderr()
	log := func(text string) { fmt.Fprintln(errOut, "assent mcp: "+oneLine(text, maxLogged)) }
	log("the tools of this server are judged as mcp__" + p.name + "__TOOL")
	return gateway.Run(ctx, gateway.Options{
		Server: server, Name: p.name, Workspace: path.Clean(workspace), Kernel: p.kernel, Deadline: p.deadline,
		In: cmd.InOrStdin(), Out: cmd.OutOrStdout(), Log: log,
	})
}

// ownHeaders are those of the protocol.
var ownHeaders = []string{"Accept", "Content-Type", "Content-Length", "Host", "Last-Event-Id", "Transfer-Encoding", "Connection"}

func (p *proxy) server(cmd *cobra.Command, args []string) (s gateway.Server, err error) {
	switch {
	case p.url == "" && len(args) == 0:
		return s, usagef("name the server: its command after --, or --url")
	case p.url != "" && len(args) > 0:
		return s, usagef("the server is a command or --url, not both")
	case p.url == "" && len(p.header)+len(p.headerEnv) > 0:
		return s, usagef("--header and --header-env belong to --url")
	case p.url == "":
		return gateway.Program(args, cmd.ErrOrStderr()), nil
	}
	at, err := url.Parse(p.url)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return s, usagef("--url %s: want http:// or https:// and a host", oneLine(p.url, maxTarget))
	}
	header, err := headersOf(p.header, p.headerEnv)
	if err != nil {
		return s, err
	}
	return gateway.Address(p.url, header), nil
}

// headersOf reads headers, and those whose values are variables: what stands on a command
// line every process of the machine can read.
func headersOf(lines, variables []string) (http.Header, error) {
	header := make(http.Header)
	for i, line := range append(slices.Clone(lines), variables...) {
		flag := "--header"
		name, value, ok := strings.Cut(line, ":")
		name, value = http.CanonicalHeaderKey(strings.TrimSpace(name)), strings.TrimSpace(value)
		if i >= len(lines) && ok {
			flag = "--header-env"
			variable := value
			if value, ok = os.LookupEnv(variable); !ok {
				return nil, usagef("%s %s: the variable %s is not set", flag, oneLine(name, maxTarget), oneLine(variable, maxTarget))
			}
		}
		// It may hold a key, so it is not repeated.
		if !ok || !headerNames.MatchString(name) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return nil, usagef("%s: want 'Name: value' in one line", flag)
		}
		if slices.Contains(ownHeaders, name) || strings.HasPrefix(name, "Mcp-") {
			return nil, usagef("%s %s is the protocol's own", flag, name)
		}
		header.Add(name, value)
	}
	return header, nil
}

var (
	headerNames = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_|~-]+$")
	// Two strokes would end the name within a name.
	serverNames = regexp.MustCompile(`^[A-Za-z0-9.-]+(_[A-Za-z0-9.-]+)*$`)
)

// runners run another program, which is what the server is. What stands between them
// and it are options and words of theirs.
var (
	runners = []string{"npx", "bunx", "uvx", "pipx", "pnpx", "node", "bun", "deno", "python", "python3", "uv", "npm", "pnpm", "yarn"}
	theirs  = []string{"run", "dlx", "exec", "x", "tool"}
	// opaque are runners whose options have words of their own, so that nothing tells
	// where the server stands.
	opaque = []string{"docker", "podman", "sh", "bash", "zsh", "env", "ssh", "sudo", "wsl"}
)

// serverName is how a server is called that nobody named.
func serverName(address string, args []string) (string, error) {
	name := ""
	if address != "" {
		at, err := url.Parse(address)
		if err != nil {
			return "", err
		}
		name = at.Hostname()
	} else {
		name = path.Base(args[0])
		if slices.Contains(opaque, name) {
			return "", usagef("what this server is called is not told by %s; say it with --name", oneLine(name, maxTarget))
		}
		if slices.Contains(runners, name) {
			name = ""
			for _, a := range args[1:] {
				if !strings.HasPrefix(a, "-") && !slices.Contains(theirs, a) {
					name = a
					break
				}
			}
		}
		if i := strings.LastIndexByte(name, '@'); i > 0 { // its version
			name = name[:i]
		}
		name = path.Base(name)
		for _, end := range []string{".js", ".mjs", ".cjs", ".ts", ".py", ".exe"} {
			name = strings.TrimSuffix(name, end)
		}
	}
	name = strings.Map(func(r rune) rune {
		if serverNames.MatchString(string(r)) || r == '_' {
			return r
		}
		return '-'
	}, name)
	for strings.Contains(name, "__") {
		name = strings.ReplaceAll(name, "__", "_")
	}
	if name = strings.Trim(name, "_-."); name == "" || len(name) > 64 {
		return "", usagef("what this server is called is not told by its command; say it with --name")
	}
	return name, nil
}

// kernel is a client of the kernel that asks for an agent: whoever starts a proxy, what
// goes through it is an agent's.
func (p *proxy) kernel(start bool) (*client.Client, error) {
	if p.socket != "" {
		abs, err := absolute(p.socket)
		if err != nil {
			return nil, err
		}
		return client.New(abs, client.Options{Agent: true}), nil
	}
	at, err := findKernel()
	if err != nil {
		return nil, err
	}
	if err := at.Trusted(); err != nil {
		return nil, err
	}
	opts := client.Options{Agent: true, Verify: at.verify}
	if start {
		opts.Start = func(ctx context.Context) error {
			if err := at.start(ctx); err != nil {
				return errors.Join(errors.New("the kernel does not run and cannot be started"), err)
			}
			return nil
		}
	}
	return client.New(at.Socket, opts), nil
}
