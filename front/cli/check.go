package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"assent/approval"
	"assent/floor"
	"assent/internal/misread"
	"assent/senses"
)

// checker is `assent check`: what its flags say.
type checker struct {
	verb                 string // what it is called as
	name, arguments      string
	workspace, cwd, home string
	policy               string
	explain, asJSON      bool
	asRows, quiet        bool
	unscanned            bool // the scanner is not asked

	layers layers
}

func newCheck() *cobra.Command {
	c := &checker{verb: "check"}
	cmd := &cobra.Command{
		Use:   "check [flags] -- COMMAND",
		Short: "Judge a tool call and say why",
		Long: `Check tells what a tool call would do, effect by effect, and what the policies
say to each. Nothing is run.

A command stands after "--". One word is shell text, so quote it as a whole.
Several words are the words of one command, each taken literally: "*" and "&&"
mean nothing then.

Any other tool is named by --name, its arguments are a JSON object given by
--arguments: the object itself, @FILE, or - for standard input.

A scanner of commands that is installed (Tirith) is asked, as the kernel asks
it, unless --no-scanner says not to: its daemon takes milliseconds, its program
half a second. Where a policy says  scanner: required  a call is refused without.

Paths are looked up on this machine: symlinks, the repository's git
configuration, whether the file system ignores case. Policies are read from

  /etc/assent/policy.yaml                managed: can only make it stricter
  WORKSPACE/.assent/policy.yaml          project: can only make it stricter
  $XDG_CONFIG_HOME/assent/policy.yaml    yours (~/.config/... without it), or
                                         the file that --policy names

and what they leave open is answered by the floor that assent ships. A policy
that cannot be read is told on standard error; while it is broken, nothing is
allowed.

The exit code tells the result:

  0  allow    3  ask    4  deny    5  block
  2  the question is wrong    1  reading or writing failed

With --jsonl calls come as rows from standard input and an answer goes out for
each, in their order, as soon as it is there:

  {"id": 1, "name": "Bash", "arguments": {"command": "make"}, "workspace": "/w"}

  {"id":1,"result":"allow","cluster":"bash","hatch":false,"effects":[{"kind":"run","target":"make","result":"allow","rule":"shipped:build","span":[0,4]}],"message":""}

A row has id, name, arguments, workspace, cwd, home, policy and facts, and only
name is needed. id comes back as it is. arguments may also be JSON text. Without a workspace no
path is inside one; without a cwd a call starts in its workspace, and without
either a relative path is unknown; without a home it is /home/NAME, /Users/NAME or /root
when the workspace lies there, else unknown; TMPDIR is /tmp. policy is a policy document as an
object; without one the shipped floor answers alone, with the file of --policy
where that is given. This machine is not looked at, and no scanner asked: what is true of the
machine of the call are its facts, with the members

  symlinks           {"link": "target"}, from the workspace when relative
  files              {"path": "text"} that exist
  listed             ["folder"] of which files and symlinks tell all, at any depth
  git_config         {"core.fsmonitor": "..."} of the repository
  workspace_trusted, server_trusted              true or false
  mcp_server, mcp_tool, server_roots, readOnlyHint   of an MCP tool
  worktree_of, job_dir                           known, and of no effect

An answer has, as the one of --json:

  id        that of the row
  result    allow, ask, deny or block
  cluster   the kind of tool, which grants are about: bash, read, write, web or
            mcp (any other, an agent's own notes and questions too); null when
            no tool is named
  hatch     true when the call fetches a package to run it, as npx does
  effects   what the call does, each with its kind (run, read, write, delete,
            net, env, mcp, opaque: what cannot be told), its target, its own
            result, the rule that decided ("FILE:LINE", "shipped:ID" or
            "default") and its span: where in the text of the command it comes
            from, in bytes, null when there is no such place
  message   a sentence for the agent, "" for allow
  error     what is wrong with the row or a policy, only when something is
  text      the text that the spans count in, only with --json

Other members of a row are ignored, unless one looks like a slip of the pen;
other members of its facts are errors. A row that is wrong is answered in its
place with "error" and a result that is never "allow"; the exit code is 0 all
the same.`,
		Example: `  assent check -- 'git status && rm -rf ~'
  assent check --explain -- 'find . -name "*.o" -delete; echo "$(cat .env)"'
  assent check -- git push --force origin main
  assent check --name Write --arguments '{"file_path": ".git/hooks/pre-commit", "content": ""}'
  assent check --name mcp__files__read --arguments @call.json --json
  assent check --jsonl < calls.jsonl | jq -r .result | sort | uniq -c`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.run(cmd, args)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := cmd.Flags()
	f.StringVarP(&c.name, "name", "n", "", "the `tool`, in the spelling of its client")
	f.StringVarP(&c.arguments, "arguments", "a", "", "the tool's arguments: `JSON`, @FILE or -")
	c.placeFlags(cmd, "the agent works in", "the call starts in")
	f.StringVar(&c.home, "home", "", "the home `folder` (default: yours)")
	f.StringVarP(&c.policy, "policy", "p", "", "judge by this policy `file` instead of your own")
	f.BoolVarP(&c.explain, "explain", "e", false, "show where in the command each effect comes from")
	f.BoolVar(&c.asJSON, "json", false, "answer as one JSON object")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "say nothing on standard output: the exit code is the answer")
	f.BoolVar(&c.unscanned, "no-scanner", false, "do not ask the scanner of commands")
	f.BoolVar(&c.asRows, "jsonl", false, "judge rows of standard input")
	_ = cmd.MarkFlagDirname("home")
	_ = cmd.MarkFlagFilename("policy", "yaml", "yml", "json")
	_ = cmd.RegisterFlagCompletionFunc("name", completeTools)
	return cmd
}

func (c *checker) run(cmd *cobra.Command, args []string) error {
	warn := warnings(cmd)
	forms := 0
	for _, form := range []bool{c.explain, c.asJSON, c.asRows, c.quiet} {
		if form {
			forms++
		}
	}
	if forms > 1 {
		return usagef("--explain, --json, --jsonl and --quiet are forms of the answer: choose one")
	}
	if c.asRows {
		switch {
		case len(args) > 0:
			return usagef("with --jsonl the calls come from standard input; there is no place for a command")
		case c.name != "" || c.arguments != "" || c.workspace != "" || c.cwd != "" || c.home != "":
			return usagef("with --jsonl every row tells its own name, arguments, workspace, cwd and home")
		}
		if err := c.layers.file(c.policy, warn); err != nil {
			return err
		}
		return c.rows(cmd.InOrStdin(), cmd.OutOrStdout())
	}
	call, err := c.call(cmd.InOrStdin(), args)
	if err != nil {
		return err
	}
	if err := c.places(&call, warn); err != nil {
		return err
	}
	if err := c.layers.machine(c.policy, call, warn); err != nil {
		return err
	}
	if near := floor.NearTool(c.name); near != "" {
		warn("no tool is known by the name %q: did you mean %s?", c.name, near)
	}
	call = senses.CompleteFor(&c.layers.floor, call)
	if !c.unscanned {
		call = scanner().Add(cmd.Context(), &c.layers.floor, call)
	}
	v := c.layers.judge(call)

	out := cmd.OutOrStdout()
	switch {
	case c.quiet:
	case c.asJSON:
		_, err = out.Write(encode(answer{Answer: v.Answer(), Text: v.Text, Error: c.layers.problems()}))
	default:
		_, err = io.WriteString(out, report(&c.layers.floor, call, v, c.explain, screenOf(out)))
	}
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	if code := exitOf(v.Result); code != exitAllow {
		return verdictExit(code)
	}
	return nil
}

// exitOf is the exit code of a result. None is no answer: it is asked about.
func exitOf(r approval.PolicyResult) int {
	switch r {
	case approval.Allow:
		return exitAllow
	case approval.Deny:
		return exitDeny
	case approval.Block:
		return exitBlock
	case approval.Ask, approval.None:
	}
	return exitAsk
}

// call is the call that the command line describes.
func (c *checker) call(in io.Reader, args []string) (floor.Call, error) {
	var call floor.Call
	switch {
	case len(args) > 0 && (c.name != "" || c.arguments != ""):
		return call, usagef("give a command after \"--\" or a tool by --name, not both")
	case len(args) == 0 && c.name == "" && c.arguments != "":
		return call, usagef("--arguments needs --name")
	case len(args) == 0 && c.name == "":
		return call, usagef("nothing to %s: put a command after \"--\", as in: assent %s -- 'git status'", c.verb, c.verb)
	case len(args) > 0:
		if len(args) == 1 && strings.TrimSpace(args[0]) == "" {
			return call, usagef("the command is empty")
		}
		call.Name = "Bash" // in one word or several: one name in the log
		call.Arguments = arguments(args)
	default:
		text, err := c.argumentText(in)
		if err != nil {
			return call, err
		}
		call.Name, call.Arguments = c.name, text
	}
	return call, nil
}

// arguments writes a JSON object with the words of a command as shell text that
// means just them; a list would also be judged as the line that some clients make
// of it. Bytes that are no UTF-8 stay as they are: replaced, they
// would be another command, and the floor could not find them.
func arguments(words []string) []byte {
	b := []byte(`{"command":`)
	if len(words) > 1 {
		if line, ok := floor.Line(words); ok {
			words = []string{line}
		}
	}
	if len(words) == 1 {
		return append(quoted(b, words[0]), '}')
	}
	b = append(b, '[')
	for i, w := range words {
		if i > 0 {
			b = append(b, ',')
		}
		b = quoted(b, w)
	}
	return append(b, "]}"...)
}

// quoted appends a JSON string.
func quoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// argumentText is what --arguments names.
func (c *checker) argumentText(in io.Reader) ([]byte, error) {
	switch {
	case c.arguments == "":
		return []byte("{}"), nil
	case c.arguments == "-":
		text, err := io.ReadAll(in)
		if err != nil {
			return nil, fmt.Errorf("reading the arguments: %w", err)
		}
		return text, c.looksJSON(text)
	case strings.HasPrefix(c.arguments, "@"):
		text, err := os.ReadFile(c.arguments[1:])
		if err != nil {
			return nil, usagef("reading the arguments: %w", err)
		}
		return text, c.looksJSON(text)
	}
	return []byte(c.arguments), c.looksJSON([]byte(c.arguments))
}

// looksJSON refuses arguments that are plainly no JSON object: no client sends
// such. What is one but wrong for the tool is for the floor to judge.
func (c *checker) looksJSON(text []byte) error {
	const example = `as in: --arguments '{"command": "ls"}'`
	var v jsontext.Value
	err := json.Unmarshal(text, &v, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	switch {
	case err != nil:
		return usagef("--arguments is not JSON: %w; %s", plainJSONError(text, err), example)
	case v.Kind() != '{':
		return usagef("--arguments is %s, and must be an object; %s", misread.Kind(v.Kind()), example)
	}
	return nil
}
