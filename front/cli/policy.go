package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"assent/approval"
	"assent/floor"
	"assent/floor/effect"
	"assent/front/reach"
	"assent/internal/place"
)

// newPolicy is `assent policy`: checking, showing, explaining and formatting
// policy documents. It changes nothing but the files that fmt -w names.
func newPolicy() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Check, show, explain and format policies",
		Long: `A policy says which effects of a tool call are allowed, asked about, denied or
blocked. Yours is $XDG_CONFIG_HOME/assent/policy.yaml (~/.config/... without
it); what it leaves open is answered by the floor that assent ships:
"assent policy show --shipped".`,
		Example: `  assent policy check policy.yaml
  assent policy explain @build
  assent policy explain 'git push --force'
  assent policy fmt -w policy.yaml`,
		Args: subcommandOnly,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPolicyCheck(), newPolicyShow(), newPolicyExplain(), newPolicyFmt())
	return cmd
}

// ended ends a command with an exit code; everything is said already.
func ended(code int) error {
	if code == exitAllow {
		return nil
	}
	return verdictExit(code)
}

// isUsage reports whether the question was wrong.
func isUsage(err error) bool {
	_, ok := errors.AsType[usageError](err)
	return ok
}

// policyText reads a policy file, or standard input for "-". A file that is
// not there is a question that is wrong.
func policyText(cmd *cobra.Command, name string) ([]byte, error) {
	if name != "-" {
		text, err := place.ReadPolicy(name)
		if err != nil {
			return nil, usageError{err}
		}
		return text, nil
	}
	text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), place.MaxPolicy+1))
	if err == nil && len(text) > place.MaxPolicy {
		err = fmt.Errorf("standard input has more than %d bytes: that is no policy", place.MaxPolicy)
	}
	return text, err
}

// isFolder reports whether a pattern of paths is the name of a folder that is here.
func isFolder(pattern string) bool {
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		pattern = filepath.Join(reach.Home(os.Getenv("HOME"), homeOfUser), rest)
	}
	info, err := os.Stat(pattern)
	return err == nil && info.IsDir()
}

func newPolicyCheck() *cobra.Command {
	layer := ""
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Check policy files and run the tests in them",
		Long: `Check reads each file as a policy and runs the tests that its rules carry.
Everything that is wrong is told as FILE:LINE:COLUMN with what to write
instead, and the exit code is 1; it is 2 when a file cannot be read. What is
understood and will hardly do what was meant is told as a warning. "-" is
standard input.

Without --layer a file .assent/policy.yaml is a project's, the one in /etc/assent
the manager's, and any other the operator's.`,
		Example: "  assent policy check ~/.config/assent/policy.yaml",
		Args:    atLeastOne("name a policy file, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			l := floor.Operator
			if cmd.Flags().Changed("layer") {
				var err error
				if l, err = layerNamed(layer); err != nil {
					return err
				}
			}
			code := exitAllow
			for _, name := range args {
				text, err := policyText(cmd, name)
				l := l
				if !cmd.Flags().Changed("layer") {
					l = layerOf(name)
				}
				switch {
				case isUsage(err):
					code = exitUsage
					fmt.Fprint(cmd.ErrOrStderr(), paragraph("assent: "+err.Error()))
					continue
				case err != nil:
					return err
				}
				if name == "-" {
					name = "standard input"
				}
				p, err := floor.ParseLayer(name, text, l)
				if err != nil {
					code = max(code, exitFailed)
					fmt.Fprint(cmd.ErrOrStderr(), paragraph(err.Error()))
					continue
				}
				for _, w := range p.Warnings(isFolder) {
					fmt.Fprint(cmd.ErrOrStderr(), paragraph(fmt.Sprintf("%s:%d:%d: warning: %s", name, w.Line, w.Column, withHint(w))))
				}
				tests := 0
				for _, r := range p.Rules {
					tests += len(r.Hits) + len(r.Misses)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %s\n", oneLine(name, 4*maxTarget), count(len(p.Rules), "rule"), count(tests, "test"))
				if p.Scanner == floor.ScannerRequired {
					if scanner().Missing() {
						fmt.Fprintf(cmd.ErrOrStderr(), "assent: warning: %s: scanner: required refuses every command while no scanner is installed, and none is here\n", oneLine(name, 4*maxTarget))
					}
				}
			}
			return ended(code)
		},
	}
	cmd.Flags().StringVar(&layer, "layer", layer, "whose policy it is: the `LAYER` operator, managed or project (default: by the file's place)")
	_ = cmd.RegisterFlagCompletionFunc("layer", cobra.FixedCompletions([]string{"operator", "managed", "project"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// withHint is what a problem says, without its place.
func withHint(p floor.Problem) string {
	if p.Hint != "" {
		return p.Message + " (" + p.Hint + ")"
	}
	return p.Message
}

// layerOf tells whose policy a file is by where it lies.
func layerOf(name string) floor.Layer {
	abs, err := filepath.Abs(name)
	switch {
	case err == nil && abs == place.ManagedPolicy:
		return floor.Managed
	case err == nil && filepath.Base(abs) == "policy.yaml" && filepath.Base(filepath.Dir(abs)) == ".assent":
		return floor.Project
	}
	return floor.Operator
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func layerNamed(name string) (floor.Layer, error) {
	for _, l := range []floor.Layer{floor.Operator, floor.Managed, floor.Project} {
		if l.String() == name {
			return l, nil
		}
	}
	return 0, usagef("--layer: %q is none of operator, managed, project", name)
}

// policyPlace is where a policy is looked at: the layers in force and a call
// without a tool.
type policyPlace struct {
	workspace, policy string
	layers            layers
	call              floor.Call
}

func (p *policyPlace) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&p.workspace, "workspace", "w", "", "the `folder` the agent works in (default: the repository or folder you are in)")
	f.StringVarP(&p.policy, "policy", "p", "", "this policy `file` instead of your own")
	_ = cmd.MarkFlagDirname("workspace")
	_ = cmd.MarkFlagFilename("policy", "yaml", "yml", "json")
}

func (p *policyPlace) load(cmd *cobra.Command) error {
	c := checker{workspace: p.workspace}
	warn := warnings(cmd)
	if err := c.places(&p.call, warn); err != nil {
		return err
	}
	return p.layers.machine(p.policy, p.call, warn)
}

func newPolicyShow() *cobra.Command {
	var at policyPlace
	shipped, asJSON := false, false
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the rules in force, layer by layer",
		Long: `Show lists the rules of every layer in the order in which they answer: yours
first, then the shipped floor for what yours leave open, then a managed and the
project's policy, which only make results stricter.

With --shipped it prints the text of the shipped floor, which says why each of
its rules is there.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if shipped {
				for _, flag := range []string{"policy", "workspace"} {
					if cmd.Flags().Changed(flag) {
						return usagef("--shipped prints what ships with assent, whatever the policies are: leave out --%s", flag)
					}
				}
				if asJSON {
					return usagef("--shipped prints a text of YAML; leave out one of --shipped and --json")
				}
				_, err := cmd.OutOrStdout().Write(floor.ShippedSource())
				return err
			}
			if err := at.load(cmd); err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if asJSON {
				return writeJSON(out, toldLayers(&at.layers.floor))
			}
			_, err := io.WriteString(out, showLayers(&at.layers.floor, paintFor(out)))
			return err
		},
	}
	at.flags(cmd)
	cmd.Flags().BoolVar(&shipped, "shipped", false, "print the text of the shipped floor")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the rules as JSON")
	return cmd
}

func showLayers(f *floor.Floor, p paint) string {
	var b strings.Builder
	for i, policy := range f.Layers() {
		if i > 0 {
			b.WriteByte('\n')
		}
		note := layerNote(f, policy)
		if note != "" {
			note = ": " + note
		}
		fmt.Fprintf(&b, "%s  %s%s\n", inkBold.of(p, policy.Layer().String()), oneLine(shortFile(policy.Name), 4*maxTarget), p.faint(note))
		for _, kind := range floor.Sections() {
			head := false
			for _, r := range policy.Rules {
				if r.Kind != kind {
					continue
				}
				if !head {
					fmt.Fprintf(&b, "  %s\n", kind)
					head = true
				}
				writeRule(&b, r, p)
			}
		}
	}
	fmt.Fprintf(&b, "\n%s  %s\n", inkBold.of(p, "scanner"), scannerNote(f.Setting()))
	b.WriteString("\n" + inkBold.of(p, "where no rule matches") + "\n")
	for _, kind := range floor.Sections() {
		fmt.Fprintf(&b, "  %-6s  %s\n", kind, floor.Default(kind))
	}
	return b.String()
}

// layerNote says what holds of a layer alone, "" for nothing.
func layerNote(f *floor.Floor, policy *floor.Policy) string {
	switch {
	case policy.Layer() == floor.Shipped && !f.Extending():
		return "only its blocks are in force, by extends: none"
	case policy.Layer() == floor.Managed || policy.Layer() == floor.Project:
		return "only makes it stricter"
	}
	return ""
}

// scannerNote says how a scanner of commands takes part.
func scannerNote(s floor.Scanner) string {
	switch s {
	case floor.ScannerRequired:
		return "required: without one every command is refused"
	case floor.ScannerOff:
		return "off: never asked"
	case floor.ScannerAuto:
	}
	return "auto: asked where one is installed (\"assent status\" says)"
}

// maxPatterns is how many patterns of a rule are shown in a list of rules.
const maxPatterns = 4

func writeRule(b *strings.Builder, r *floor.Rule, p paint) {
	patterns := r.Match
	more := ""
	if len(patterns) > maxPatterns+1 {
		more = fmt.Sprintf(" and %d more", len(patterns)-maxPatterns)
		patterns = patterns[:maxPatterns]
	}
	text := make([]string, len(patterns))
	for i, t := range patterns {
		text[i] = oneLine(t, maxTarget)
	}
	result := r.Result.String()
	fmt.Fprintf(b, "    %s%s  %s%s", inkOf(r.Result).of(p, result), strings.Repeat(" ", 5-len(result)), strings.Join(text, ", "), more)
	if except := exceptOf(r); len(except) > 0 {
		fmt.Fprintf(b, ", but not %s", oneLine(strings.Join(except, ", "), 4*maxTarget))
	}
	if len(r.Lifts) > 0 {
		fmt.Fprintf(b, ", lifts shipped:%s", strings.Join(r.Lifts, ", shipped:"))
	}
	fmt.Fprintf(b, "  %s\n", p.faint(placeOf(r.Ref())))
}

// exceptOf are the patterns that are taken away from a rule, by itself and by
// the list it stands in.
func exceptOf(r *floor.Rule) []string { return slices.Concat(r.Except, r.Negated) }

func newPolicyExplain() *cobra.Command {
	var at policyPlace
	kind, asJSON := "", false
	cmd := &cobra.Command{
		Use:   "explain WORD",
		Short: "Say what a rule, class or set means, or which rules touch something",
		Long: `Explain takes one of

  @                every class and set, one a line
  @look            a class of commands, a set of paths or of hosts
  shipped:ssh      the id of a rule
  src/x, ~/x, /x   a path: which rules touch reading, writing and deleting it
  example.com      an address
  'git push -f'    a command: its effects, and which rules touch each

What a word is taken for can be said by --as.`,
		Example: `  assent policy explain @cloud
  assent policy explain shipped:build-steering
  assent policy explain .github/workflows/ci.yml
  assent policy explain 'npm install && npm test'`,
		Args: atLeastOne("name what to explain: a class such as @look, the id of a rule, a path, an address or a command"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := at.load(cmd); err != nil {
				return err
			}
			word := strings.Join(args, " ")
			switch {
			case strings.TrimSpace(word) == "":
				return usagef("there is nothing to explain: the word is empty")
			case !utf8.ValidString(word):
				return usagef("%s holds bytes that are no UTF-8: rules are text, and nothing can be told of it; \"assent check\" judges such a command", oneLine(word, maxTarget))
			}
			out := cmd.OutOrStdout()
			m, err := meaningOf(&at.layers.floor, at.call, word, kind)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(out, m.told())
			}
			_, err = io.WriteString(out, m.text(paintFor(out)))
			return err
		},
	}
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return explained(begun), cobra.ShellCompDirectiveDefault // or a path
	}
	at.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write it as JSON")
	cmd.Flags().StringVar(&kind, "as", "", "what the word is, its `KIND`: command, path, host, env or mcp")
	_ = cmd.RegisterFlagCompletionFunc("as", cobra.FixedCompletions([]string{"command", "path", "host", "env", "mcp"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// explained are the words that can be explained and are known beforehand, those
// that begin so, with a description each, for completion.
func explained(begun string) (words []string) {
	for _, name := range floor.Names() {
		if strings.HasPrefix(name, begun) {
			words = append(words, name+"\t"+floor.Explain(name)[0].Doc)
		}
	}
	for _, r := range floor.ShippedPolicy().Rules {
		if r.ID != "" && strings.HasPrefix("shipped:"+r.ID, begun) {
			words = append(words, "shipped:"+r.ID+"\t"+r.Text())
		}
	}
	return words
}

// meaning is what a word means to the policies in force.
type meaning struct {
	list     bool            // every class and set
	names    []floor.Named   // of one
	rules    []*floor.Rule   // that use it
	rule     *floor.Rule     // one by its id
	findings []floor.Finding // which rules touch something
}

// meaningOf finds out what a word means.
func meaningOf(f *floor.Floor, call floor.Call, word, as string) (m meaning, err error) {
	if as == "" && word == "@" {
		for _, name := range floor.Names() {
			m.names = append(m.names, floor.Explain(name)...)
		}
		m.list = true
		return m, nil
	}
	if as == "" && strings.HasPrefix(word, "@") {
		m.names = floor.Explain(word)
		if len(m.names) == 0 {
			hint := "; they are " + strings.Join(floor.Names(), " ")
			if near := nearest(word, floor.Names()); near != "" {
				hint = "; did you mean " + near + "?"
			}
			return m, usagef("there is no class or set %s%s", oneLine(word, maxTarget), hint)
		}
		m.rules = f.Using(word)
		return m, nil
	}
	if as == "" {
		if m.rule = f.RuleByID(word); m.rule != nil {
			return m, nil
		}
		if id, ok := strings.CutPrefix(word, "shipped:"); ok {
			hint := ""
			if near := nearest(id, shippedIDs()); near != "" {
				hint = fmt.Sprintf(" (did you mean shipped:%s?)", near)
			}
			return m, usagef("there is no shipped rule %s%s; see assent policy show", oneLine(word, maxTarget), hint)
		}
	}
	kinds, err := kindsOf(word, as)
	if err != nil {
		return m, err
	}
	for _, kind := range kinds {
		m.findings = append(m.findings, f.Findings(call, kind, word)...)
	}
	return m, nil
}

// text says it for people.
func (m meaning) text(p paint) string {
	var b strings.Builder
	switch {
	case m.list:
		listNames(&b, m.names, p)
		return b.String()
	case m.rule != nil:
		ruleInFull(&b, m.rule, p)
		return b.String()
	}
	for _, n := range m.names {
		fmt.Fprintf(&b, "%s  %s\n  %s\n", inkBold.of(p, n.Name), n.What, n.Doc)
		for _, pattern := range n.Patterns {
			fmt.Fprintf(&b, "    %s\n", pattern)
		}
	}
	if len(m.rules) > 0 {
		b.WriteString("\nRules that use it:\n")
		for _, r := range m.rules {
			fmt.Fprintf(&b, "  %-6s", r.Kind)
			writeRule(&b, r, p)
		}
	}
	for i := range m.findings {
		writeFinding(&b, &m.findings[i], p)
	}
	return b.String()
}

// shippedIDs are the names of the rules that ship.
func shippedIDs() (ids []string) {
	for _, r := range floor.ShippedPolicy().Rules {
		if r.ID != "" {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// listNames lists every class and set with what it stands for.
func listNames(b *strings.Builder, names []floor.Named, p paint) {
	what := ""
	for _, heading := range []string{"class of commands", "set of paths", "set of hosts"} {
		for _, n := range names {
			if n.What != heading {
				continue
			}
			if what != heading {
				if what != "" {
					b.WriteByte('\n')
				}
				fmt.Fprintf(b, "%s\n", inkBold.of(p, heading))
				what = heading
			}
			fmt.Fprintf(b, "  %-11s  %s\n", n.Name, n.Doc)
		}
	}
}

// kindsOf tells what a word is taken for.
func kindsOf(word, as string) ([]effect.Kind, error) {
	files := []effect.Kind{effect.Read, effect.Write, effect.Delete}
	switch as {
	case "command":
		return []effect.Kind{effect.Run}, nil
	case "path":
		return files, nil
	case "host":
		return []effect.Kind{effect.Net}, nil
	case "env":
		return []effect.Kind{effect.Env}, nil
	case "mcp":
		return []effect.Kind{effect.MCP}, nil
	case "":
	default:
		return nil, usagef("--as: %q is none of command, path, host, env, mcp", as)
	}
	switch {
	case strings.Contains(word, "://"):
		return []effect.Kind{effect.Net}, nil
	case strings.HasPrefix(word, "mcp__"):
		return []effect.Kind{effect.MCP}, nil
	case strings.ContainsAny(word, " \t\n"):
		return []effect.Kind{effect.Run}, nil
	case strings.ContainsAny(word, "/~") || strings.HasPrefix(word, "."):
		return files, nil
	case strings.Contains(word, "."):
		return append(files, effect.Net), nil // "README.md" or "example.com"
	}
	return append([]effect.Kind{effect.Run}, files...), nil
}

func writeFinding(b *strings.Builder, found *floor.Finding, p paint) {
	result := exitName(found.Result)
	fmt.Fprintf(b, "%s%s  %-6s  %s  %s\n", inkOf(found.Result).of(p, result), strings.Repeat(" ", 5-len(result)), found.Effect.Kind,
		oneLine(found.Effect.Target, maxTarget), p.faint("by "+placeOf(found.Rule)))
	if found.Rule != nil && found.Rule.Default {
		fmt.Fprintf(b, "         no rule matches: %s\n", found.Rule.Text)
	}
	for i := range found.Touching {
		t := &found.Touching[i]
		fmt.Fprintf(b, "         %-5s  %s  %s\n", t.Rule.Result, oneLine(t.Pattern, maxTarget), p.faint(placeOf(t.Rule.Ref())))
	}
}

// ruleInFull writes one rule with all that it says.
func ruleInFull(b *strings.Builder, r *floor.Rule, p paint) {
	fmt.Fprintf(b, "%s  %s %s, %s\n", inkBold.of(p, r.ID), r.Kind, inkOf(r.Result).of(p, r.Result.String()), fmt.Sprintf("%s:%d", shortFile(r.File), r.Line))
	each := func(what string, list []string) {
		for i, t := range list {
			if i > 0 {
				what = ""
			}
			fmt.Fprintf(b, "  %-8s  %s\n", what, oneLine(t, 4*maxTarget))
		}
	}
	each("matches", r.Match)
	each("but not", exceptOf(r))
	for _, id := range r.Lifts {
		each("lifts", []string{"shipped:" + id})
	}
	each("hits", r.Hits)
	each("misses", r.Misses)
	if r.Reason != "" {
		each("because", []string{r.Reason})
	}
	if r.Message != "" {
		each("says", []string{r.Message})
	}
	if r.Result == approval.Block {
		each("lifted", []string{"only by a rule of yours with  except: shipped:" + r.ID})
	}
}

func newPolicyFmt() *cobra.Command {
	write, list := false, false
	cmd := &cobra.Command{
		Use:   "fmt [flags] [FILE...]",
		Short: "Format policy files",
		Long: `Fmt prints policy files in the usual form: two blanks a level, quotes only
where they are needed. Comments and the order of rules stay, and JSON stays
JSON. Without a file it formats standard input. A file that is no policy is
refused, with what is wrong in it, and left as it is.

With -l alone the exit code is 1 when a file would change.`,
		Example: "  assent policy fmt -l -w ~/.config/assent/policy.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				if write {
					return usagef("-w needs a file")
				}
				args = []string{"-"}
			}
			code := exitAllow
			for _, name := range args {
				same, err := formatOne(cmd, name, write, list)
				switch ps := (floor.Problems)(nil); {
				case errors.As(err, &ps):
					code = max(code, exitFailed)
					fmt.Fprint(cmd.ErrOrStderr(), paragraph(err.Error()))
				case isUsage(err):
					code = exitUsage
					fmt.Fprint(cmd.ErrOrStderr(), paragraph("assent: "+err.Error()))
				case err != nil:
					return err
				case list && !write && !same:
					code = max(code, exitFailed)
				}
			}
			return ended(code)
		},
	}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "write the result back to the file")
	cmd.Flags().BoolVarP(&list, "list", "l", false, "only list the files that would change")
	return cmd
}

// formatOne formats one file, and reports whether it was in the usual form.
func formatOne(cmd *cobra.Command, name string, write, list bool) (same bool, err error) {
	text, err := policyText(cmd, name)
	if err != nil {
		return false, err
	}
	shown := name
	if name == "-" {
		shown = "standard input"
	}
	out, err := floor.FormatPolicy(shown, text)
	if err != nil {
		return false, err
	}
	same = bytes.Equal(text, out)
	if list && !same {
		fmt.Fprintln(cmd.OutOrStdout(), oneLine(shown, 4*maxTarget))
	}
	switch {
	case write && name == "-":
		return same, usagef("-w needs a file")
	case write && !same:
		info, err := os.Stat(name)
		if err != nil {
			return same, err
		}
		return same, os.WriteFile(name, out, info.Mode().Perm())
	case !write && !list:
		_, err = cmd.OutOrStdout().Write(out)
	}
	return same, err
}
