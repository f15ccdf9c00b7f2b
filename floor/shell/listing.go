package shell

import (
	"slices"
	"strconv"
	"strings"

	"assent/floor/commands"
)

// What a program prints is followed to whoever reads it when every line of it is
// the path of something below a folder that is known. The options with which
// that is so are listed here, and any other ends the knowledge: an option that
// is new, or that nobody thought of, may put anything into the lines.

// plainly are the options of each program with which it prints paths and
// nothing else.
var plainly = map[string]map[string]bool{
	"find": set(`-H -L -P -x -E -d -s -O0 -O1 -O2 -O3 -O4 -daystart -depth -follow -ignore_readdir_race -noignore_readdir_race -mount -xdev -noleaf -nowarn -warn
		-empty -executable -false -true -nogroup -nouser -readable -writable -a -and -o -or -not -print -print0 -prune -quit -maxdepth -mindepth
		-amin -atime -cmin -ctime -mmin -mtime -used -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -lname -ilname
		-size -type -xtype -perm -uid -gid -user -group -links -inum -fstype -newermt -newerat -newerct -newer -anewer -cnewer -samefile`),
	"fd": set(`--hidden --no-hidden --no-ignore --ignore --no-ignore-vcs --ignore-vcs --no-ignore-parent --ignore-parent --no-require-git --no-global-ignore-file
		--unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --follow --no-follow --full-path --print0 --prune -1 --one-file-system
		--and --max-depth --min-depth --exact-depth --exclude --type --extension --size --changed-within --changed-before --owner --threads --max-results --ignore-file`),
	"rg": set(`--files --files-with-matches --files-without-match --case-sensitive --ignore-case --smart-case --fixed-strings --follow --no-follow --glob --iglob
		--glob-case-insensitive --hidden --no-hidden --invert-match --line-number --no-line-number --line-regexp --word-regexp --multiline --multiline-dotall
		--no-config --no-ignore --no-ignore-dot --no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-parent --no-ignore-vcs --no-messages
		--null --one-file-system --pcre2 --sort --sortr --sort-files --text --unrestricted --max-count --max-depth --max-filesize --regexp --threads
		--type --type-add --type-not --file --ignore-file`),
	"grep": set(`--text --extended-regexp --fixed-strings --basic-regexp --perl-regexp --with-filename --no-filename --ignore-case -I
		--files-without-match --files-with-matches --line-number --dereference-recursive --recursive --no-messages --invert-match --word-regexp --line-regexp
		--null --null-data --directories --devices --regexp --file --max-count --binary-files --exclude --exclude-dir --exclude-from --include --include-dir`),
	"ls": set(`-1 --almost-all --reverse -S -t -U -v -X -c -u --group-directories-first --sort`),
	"ls-files": set(`--cached --deleted --modified --others --ignored -z --directory --no-empty-directory --deduplicate --exclude-standard --error-unmatch
		--full-name --recurse-submodules --sparse --exclude --exclude-from --exclude-per-directory`),
	"diff": set(`--name-only --cached --staged --merge-base --diff-filter --relative --no-relative -z --no-renames --find-renames --find-copies --find-copies-harder
		--ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines --ignore-submodules --no-ext-diff --no-color --ita-invisible-in-index -S -G --pickaxe-all --pickaxe-regex`),
	"git grep": set(`--text --ignore-case -I --recursive --word-regexp --invert-match -h -H --full-name --extended-regexp --basic-regexp --perl-regexp --fixed-strings
		--line-number --files-with-matches --name-only --files-without-match --null --no-color --and --or --not --all-match --cached --untracked --no-index
		--exclude-standard --no-exclude-standard --recurse-submodules -e -f --max-count --max-depth --threads`),
}

// numeral are the options with which pgrep prints numbers, one a line.
var numeral = set(`--full --exact --ignore-case --newest --oldest --inverse --parent --pgroup --group --euid --uid --session --terminal --older`)

func set(names string) map[string]bool {
	m := map[string]bool{}
	for n := range strings.FieldsSeq(names) {
		m[n] = true
	}
	return m
}

// listed returns what a program prints when all it prints are paths below the
// folders it was given: the folders, with the mark for what is found there, and
// what ends each of the paths.
//
// Names that stand alone may be those of options: the folder is looked into for
// such names, and where there is one nobody knows the words.
func (t *typed) listed() (names []string, end string, fine bool) {
	names, end, fine = t.lists()
	if fine && t.cmd.Program != "find" && slices.ContainsFunc(names, func(n string) bool { return n[0] == '.' && n[1] == 0 }) {
		if t.r.optional(t.cwd) {
			return nil, "", false
		}
		t.r.starry = append(t.r.starry, starry{commands.Star, spanOf(t.ws), t.cwd})
	}
	return names, end, fine
}

func (t *typed) lists() (names []string, end string, fine bool) {
	name, reading := t.cmd.Program, &t.reading
	if len(reading.Issues) > 0 || len(reading.Inner) > 0 {
		return nil, "", false
	}
	kind := name
	switch name {
	case "fdfind":
		kind = "fd"
	case "git":
		if len(reading.Sub) != 1 {
			return nil, "", false
		}
		if kind = reading.Sub[0]; kind == "grep" {
			kind = "git grep"
		}
	}
	for i := range reading.Options {
		u := &reading.Options[i]
		if u.Name == "--color" && u.Valued && (u.Value == "never" || u.Value == "auto") && kind != "find" {
			continue
		}
		if !plainly[kind][u.Name] {
			return nil, "", false
		}
	}
	end = "\n"
	if t.has("-print0", "--print0", "--null", "-z") {
		end = nul
	}
	switch kind {
	case "find":
		fine = !t.has("-print0") || !t.has("-print") // both ends, in turn
	case "fd":
		fine = true
	case "ls":
		fine = len(reading.Operands) == 0 || len(reading.Operands) == 1 && reading.Operands[0].Default
	case "rg":
		fine = t.has("--files", "--files-with-matches", "--files-without-match")
	case "grep":
		fine = t.has("--files-with-matches", "--files-without-match")
	case "ls-files":
		return t.tracked(end)
	case "git grep":
		if t.has("--files-with-matches", "--name-only", "--files-without-match") {
			return t.tracked(end)
		}
	case "diff":
		if t.has("--name-only") {
			return t.tracked(end)
		}
	}
	if !fine {
		return nil, "", false
	}
	mark, given := t.marks()+found, false
	for _, o := range reading.Operands {
		if o.Type == commands.Text {
			continue
		}
		given = true
		if !commands.Known(o.Text) || o.Text == "-" || strings.ContainsAny(o.Text, " \t\n") {
			return nil, "", false
		}
		names = append(names, o.Text+mark)
	}
	if !given && kind == "grep" { // its standard input
		return nil, "", false
	}
	if len(names) == 0 {
		names = []string{"." + mark}
	}
	return names, end, true
}

// tracked is what git lists: names as they are from here or from the top of the
// tree, so below here both times, where no word says otherwise.
func (t *typed) tracked(end string) (names []string, _ string, fine bool) {
	for _, o := range t.reading.Operands {
		if o.Word < 0 || o.Type == commands.Text {
			continue
		}
		spec, exclude := o.Text, false
		if strings.HasPrefix(spec, ":") {
			if spec, exclude = pathspec(spec); !exclude {
				return nil, "", false
			}
		}
		if strings.HasPrefix(spec, "/") || strings.Contains(spec, "..") && t.reading.Sub[0] != "diff" || strings.ContainsAny(unmarked(spec), " \t\n\x00") {
			return nil, "", false
		}
	}
	return []string{"." + t.marks() + found}, end, true
}

// top is the top folder of the repository that git is asked for, "" when that is
// not asked or cannot be told: only of a folder that holds ".git" as a folder is
// it known that no repository lies nearer.
func (t *typed) top(words []string) string {
	place := t.r.place
	if t.cmd.Program != "git" || !slices.Equal(words, []string{"rev-parse", "--show-toplevel"}) || t.cwd == "" || !place.Facts.Dirs[t.cwd+"/.git"] {
		return ""
	}
	for _, name := range [...]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"} {
		if _, given := place.Var(name); given {
			return ""
		}
		if _, set := t.w.vars.get(name); set {
			return ""
		}
	}
	if _, moved := place.Facts.GitConfig["core.worktree"]; moved || t.w.alien {
		return ""
	}
	return t.cwd
}

// passes reports whether a program prints whole lines of its standard input
// and nothing else.
func (t *typed) passes() bool {
	for _, o := range t.reading.Operands {
		if o.Word >= 0 {
			return false
		}
	}
	for i := range t.reading.Options {
		switch o := t.reading.Options[i].Name; o {
		case "--zero-terminated", "--lines", "-n", "--reverse", "--unique", "--version-sort", "--ignore-case", "--numeric-sort", "--head-count":
		default:
			if len(o) < 2 || !digits(o[1:]) { // head -20
				return false
			}
		}
	}
	return len(t.reading.Issues) == 0
}

// someNumbers stands for numbers, one a line, of which there is at least one, and
// anyNumbers for those of which there may be none.
const (
	someNumbers = commands.Number + "\n" + commands.Number + "\n"
	anyNumbers  = someNumbers + commands.Words + "\n"
)

// counted is what seq prints: nothing, one number, or any number of them.
func (t *typed) counted(words []string) string {
	var n [3]int
	if len(words) == 0 || len(words) > 3 {
		return anyNumbers
	}
	for i, w := range words {
		var err error
		if n[i], err = strconv.Atoi(w); err != nil {
			return anyNumbers
		}
	}
	first, step, last := 1, 1, n[0]
	switch len(words) {
	case 2:
		first, last = n[0], n[1]
	case 3:
		first, step, last = n[0], n[1], n[2]
	}
	switch {
	case step == 0:
		return anyNumbers
	case step > 0 && first > last, step < 0 && first < last:
		return ""
	case first == last:
		return commands.Number + "\n"
	}
	return someNumbers
}

// counts reports whether fields are numbers, also where nobody knows how many
// there are.
func counts(fields []string) bool {
	if len(fields) == 3 && fields[2] == commands.Words {
		fields = fields[:2]
		return fields[0] == commands.Number && fields[1] == commands.Number
	}
	return numbers(fields)
}
