package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"assent/front/connect"
)

// hurried is the deadline with which the hook is driven where nobody answers.
const hurried = 2 * time.Second

// answers is how long a hook may take for what needs no person: it may have to
// start the kernel.
const answers = time.Minute

// scratch is where the live cases happen.
type scratch struct {
	dir, project string
	env          []string
	assent       string // the program beside the hook
}

// scratchPolicy leaves the shipped floor as it is. A scanner that is installed
// would answer as well.
const scratchPolicy = "version: 1\nscanner: off\n"

func (x *examination) scratch(program string) (s *scratch, err error) {
	s = &scratch{assent: filepath.Join(filepath.Dir(program), "assent")}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		s.assent = filepath.Join(filepath.Dir(real), "assent")
	}
	// Sockets have short paths.
	if s.dir, err = os.MkdirTemp("", "assent-doctor-"); err == nil {
		s.dir, err = filepath.EvalSymlinks(s.dir)
	}
	if err != nil {
		return nil, fmt.Errorf("making a scratch folder: %w", err)
	}
	s.project = filepath.Join(s.dir, "project")
	config := filepath.Join(s.dir, "config/assent")
	err = errors.Join(os.MkdirAll(s.project, 0o700), os.MkdirAll(config, 0o700), os.MkdirAll(filepath.Join(s.dir, "run"), 0o700),
		os.WriteFile(filepath.Join(config, "policy.yaml"), []byte(scratchPolicy), 0o600))
	// The agent that the kernel sees was started wherever doctor was.
	settings, e := json.Marshal(map[string]any{"agentFolders": []string{s.project}})
	err = errors.Join(err, e, os.WriteFile(filepath.Join(config, "config.json"), settings, 0o600))
	s.env = with(x.Environ, x.own(s.project)...)
	s.env = with(s.env, "XDG_CONFIG_HOME="+filepath.Join(s.dir, "config"), "XDG_STATE_HOME="+filepath.Join(s.dir, "state"), "XDG_RUNTIME_DIR="+filepath.Join(s.dir, "run"),
		"XDG_DATA_HOME="+filepath.Join(s.dir, "data"), "XDG_CACHE_HOME="+filepath.Join(s.dir, "cache"))
	return s, err
}

// with is an environment with other values.
func with(env []string, values ...string) []string {
	out := slices.Clone(env)
	for _, v := range values {
		name, _, _ := strings.Cut(v, "=")
		out = slices.DeleteFunc(out, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		out = append(out, v)
	}
	return out
}

// own are the variables that the client adds to its hook's environment.
func (x *examination) own(project string) []string {
	switch x.Client.Name {
	case "claude":
		return []string{"CLAUDE_PROJECT_DIR=" + project, "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=" + session, "CLAUDE_CODE_ENTRYPOINT=cli"}
	case "gemini":
		return []string{"GEMINI_PROJECT_DIR=" + project, "GEMINI_CWD=" + project, "GEMINI_SESSION_ID=" + session, "CLAUDE_PROJECT_DIR=" + project}
	}
	return nil
}

const session = "assent-doctor"

// strike ends the kernel that the hook has started, and takes everything away.
func (s *scratch) strike() error {
	ctx, cancel := context.WithTimeout(context.Background(), answers)
	defer cancel()
	var err error
	if s.begun() {
		if _, down := output(ctx, s.env, s.assent, "down"); down != nil {
			err = fmt.Errorf("ending the kernel of %s: %w", s.dir, down)
		}
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// kernel is the place of the scratch folder's kernel.
func (s *scratch) kernel() connect.Kernel {
	return connect.Kernel{
		Socket: filepath.Join(s.dir, "run/assent/assent.sock"), Config: filepath.Join(s.dir, "config/assent"), State: filepath.Join(s.dir, "state/assent"),
	}
}

// begun reports whether a kernel was started there.
func (s *scratch) begun() bool { return exists(filepath.Join(s.dir, "state/assent/kernel.lock")) }

// live drives the hook before a call.
func (x *examination) live(ctx context.Context, h found) (err error) {
	program, _ := h.Program()
	if x.Plugin() {
		program = h.Command
	}
	s, err := x.scratch(program)
	if s != nil {
		x.Scratch = s.dir
		defer func() { err = errors.Join(err, s.strike()) }()
	}
	if err != nil {
		return err
	}
	// What its command says of a place is the person's own kernel.
	var ok bool
	if h.Hook, ok = h.Hook.At(s.kernel()); !ok {
		x.say("live", Unknown, "", "its command is one that only a shell could read: it is asked nothing")
		return nil
	}
	limit := answers
	if h.Waits > 0 {
		limit = min(limit, h.Waits)
	}
	run := func(hook connect.Hook, env []string, message string) outcome {
		return x.run(ctx, hook, env, s.project, message, limit)
	}
	try := func(name string, o outcome, want effect, do string) effect {
		got := effectOf(x.Client.Name, x.closed(h.Hook), o)
		c := Check{Name: name, Result: Hole, What: fmt.Sprintf("%s: %s", got, o.said()), Effect: string(got), Do: do}
		if got == want {
			c.Result, c.Do = Fine, ""
		}
		x.Checks = append(x.Checks, c)
		return got
	}
	broken := "run the hook by hand to see what it says, and " + x.reconnect()

	// First one that needs a kernel: whatever the client's shell sets, it must be
	// the one of the scratch folder.
	o := run(h.Hook, s.env, x.shellCall("block", s.project, "rm -rf / --no-preserve-root"))
	try("must be refused", o, refused, broken)
	if !s.begun() {
		x.say("live", Unknown, "", "the hook started no kernel in the scratch folder (a profile of the shell may say where assent is): it is asked no more")
		return nil
	}
	try("its own settings", run(h.Hook, s.env, x.writeCall("settings", s.project, h.source.path)), refused, broken)
	try("must go through", run(h.Hook, s.env, x.shellCall("allow", s.project, "ls")), ran, broken)

	slow := x.shellCall("slow", s.project, "./assent-doctor-asks")
	quick, ok := h.Hurried(hurried)
	if x.Plugin() { // it gives no deadline, and the hook has one
		quick, ok = h.Hook, true
		quick.Args = append([]string{"--deadline", hurried.String()}, h.Args...)
	}
	if !ok {
		x.say("nobody answers", Unknown, "", "it has no deadline that could be exchanged for a short one")
	} else {
		o := run(quick, s.env, slow)
		if try("nobody answers", o, refused, broken) == refused && !strings.Contains(o.stderr, "still waits") {
			x.Checks[len(x.Checks)-1].Result = Hole
			x.Checks[len(x.Checks)-1].What += " (no ticket is given)"
		}
	}

	crashed := x.shellCall("crash", s.project, "./assent-doctor-asks crash")
	if o, hit := x.killed(ctx, h.Hook, s.env, s.project, crashed, syscall.SIGQUIT); hit {
		try("it crashes", o, refused, broken)
	} else {
		x.say("it crashes", Unknown, "", "the hook's process was not found")
	}
	if o, hit := x.killed(ctx, h.Hook, s.env, s.project, x.shellCall("kill", s.project, "./assent-doctor-asks kill"), syscall.SIGKILL); hit {
		if try("it is killed", o, refused, "") == ran {
			c := &x.Checks[len(x.Checks)-1]
			c.Result = Limit
			c.What += "; no setting of this client changes that"
			if x.Client.Name == "claude" {
				c.What = strings.TrimSuffix(c.What, "; no setting of this client changes that") + "; Claude Code blocks from " + blocksFrom + " on, with onFailure"
			}
		}
	} else {
		x.say("it is killed", Unknown, "", "the hook's process was not found")
	}

	// A state folder that cannot be made: no kernel can start.
	nowhere := s.kernel()
	nowhere.State = filepath.Join(os.DevNull, "none/assent")
	nowhere.Socket = filepath.Join(s.dir, "none/assent/assent.sock")
	lost, _ := h.Hook.At(nowhere)
	none := with(s.env, "XDG_STATE_HOME="+filepath.Join(os.DevNull, "none"), "XDG_RUNTIME_DIR="+filepath.Join(s.dir, "none"))
	try("no kernel", run(lost, none, x.shellCall("none", s.project, "ls")), refused, broken)
	try("a bad message", run(h.Hook, s.env, `{"hook_event_name": "`), refused, broken)
	return nil
}

// closed reports whether the client blocks where its hook fails.
func (x *examination) closed(h connect.Hook) bool {
	return x.Client.Name == "claude" && h.Block && x.Version != "" && atLeast(x.Version, blocksFrom)
}

// shellCall is the client's message before a command runs. The command is never
// run: the hook alone is given it.
func (x *examination) shellCall(id, project, command string) string {
	tool := map[string]string{"gemini": "run_shell_command", "opencode": "bash"}[x.Client.Name]
	if tool == "" {
		tool = "Bash"
	}
	return x.message(id, project, tool, map[string]any{"command": command, "description": "a question of assent doctor, which nobody runs"})
}

// writeCall is its message before a file is written.
func (x *examination) writeCall(id, project, file string) string {
	switch x.Client.Name {
	case "codex":
		return x.message(id, project, "apply_patch", map[string]any{"command": "*** Begin Patch\n*** Add File: " + file + "\n+{}\n*** End Patch\n"})
	case "gemini":
		return x.message(id, project, "write_file", map[string]any{"file_path": file, "content": "{}"})
	case "opencode":
		return x.message(id, project, "write", map[string]any{"filePath": file, "content": ""})
	}
	return x.message(id, project, "Write", map[string]any{"file_path": file, "content": "{}"})
}

func (x *examination) message(id, project, tool string, input map[string]any) string {
	id = "doctor-" + id
	var m map[string]any
	switch x.Client.Name {
	case "opencode":
		m = map[string]any{
			"event": "tool.execute.before", "directory": project,
			"input":  map[string]any{"tool": tool, "sessionID": session, "callID": id},
			"output": map[string]any{"args": input},
		}
	case "gemini":
		m = map[string]any{
			"session_id": session, "transcript_path": "", "cwd": project, "hook_event_name": "BeforeTool",
			"timestamp": time.Now().UTC().Format(time.RFC3339), "tool_name": tool, "tool_input": input,
		}
	default:
		m = map[string]any{
			"session_id": session, "transcript_path": "", "cwd": project, "hook_event_name": "PreToolUse",
			"permission_mode": "default", "tool_name": tool, "tool_input": input, "tool_use_id": id,
		}
		if x.Client.Name == "codex" {
			m["turn_id"], m["model"] = "doctor", "none"
		} else {
			m["prompt_id"], m["effort"] = "doctor", map[string]string{"level": "low"}
		}
	}
	text, err := json.Marshal(m, json.Deterministic(true))
	if err != nil {
		panic(err) // texts only
	}
	return string(text) + "\n"
}
