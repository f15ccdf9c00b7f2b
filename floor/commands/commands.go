// Package commands is the command knowledge: what the words of a command line
// mean for each program the floor knows. It holds facts and no verdicts, and
// it does no I/O: the data is embedded and read entry by entry, each when its
// program is first met.
//
// The data and its schema are described in README.md beside this file. Start
// reading at [Knowledge.Lookup] and [Entry.Read].
package commands

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"

	"assent/floor/effect"
	"assent/floor/paths"
)

//go:embed data/*.yaml
var data embed.FS

// Knowledge is a set of entries, one or more names each.
type Knowledge struct {
	chunks map[string]*chunk
}

// chunk is the text of one entry, read at most once. The text of an entry that
// ships stays where it is until then: taking all of it into memory costs more
// than judging a call.
type chunk struct {
	file   string
	line   int
	text   []byte
	offset int // in the file that ships, when there is no text
	size   int
	found  sync.Once
	once   sync.Once
	entry  *Entry
	err    error
}

// source is the text of the entry.
func (c *chunk) source() []byte {
	c.found.Do(func() {
		if c.text != nil {
			return
		}
		c.text = []byte{}
		f, err := data.Open("data/" + c.file)
		if err != nil {
			return
		}
		defer f.Close()
		text := make([]byte, c.size)
		if n, _ := f.(io.ReaderAt).ReadAt(text, int64(c.offset)); n == len(text) {
			c.text = text
		}
	})
	return c.text
}

// Default returns the knowledge that ships with the program.
func Default() *Knowledge { return shipped() }

var shipped = sync.OnceValue(index)

// index finds the entries that ship, without reading them.
func index() *Knowledge {
	k := &Knowledge{chunks: make(map[string]*chunk, 3000)}
	files, err := data.ReadDir("data")
	if err != nil {
		return k // without data every program is unknown, which is never silent
	}
	var buf []byte
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			continue
		}
		buf = slices.Grow(buf[:0], int(info.Size()))[:info.Size()]
		if !readWhole(f.Name(), buf) {
			continue
		}
		// A name met twice keeps its first entry; a test refuses such data.
		_ = k.add(f.Name(), buf, false)
	}
	return k
}

// readWhole fills buf with a file that ships.
func readWhole(name string, buf []byte) bool {
	f, err := data.Open("data/" + name)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = io.ReadFull(f, buf)
	return err == nil
}

// Parse makes knowledge from one document; every entry is read at once.
func Parse(file string, text []byte) (*Knowledge, error) {
	k := &Knowledge{chunks: map[string]*chunk{}}
	if err := k.add(file, text, true); err != nil {
		return nil, err
	}
	return k, k.Check()
}

// add splits a document into entries. Every line that starts at column 0 with
// something other than a comment opens an entry. Without keep only the place of
// the text is noted.
func (k *Knowledge) add(file string, text []byte, keep bool) error {
	var errs []string
	line := 0
	var cur *chunk
	end := func(pos int) {
		if cur != nil {
			if cur.size = pos - cur.offset; keep {
				cur.text = text[cur.offset:pos]
			}
		}
	}
	for pos, next := 0, 0; pos < len(text); pos = next {
		line++
		if next = bytes.IndexByte(text[pos:], '\n'); next < 0 {
			next = len(text)
		} else {
			next += pos + 1
		}
		switch text[pos] {
		case ' ', '\t', '#', '\n', '\r':
			continue
		}
		if bytes.HasPrefix(text[pos:next], []byte("---")) {
			continue
		}
		end(pos)
		key, ok := keyOf(string(text[pos:next]))
		if ok && strings.TrimSpace(key) == "" {
			errs = append(errs, fmt.Sprintf("%s:%d: an entry without a name", file, line))
		}
		if !ok {
			errs = append(errs, fmt.Sprintf("%s:%d: a line at column 0 must be \"NAME [NAME...]:\"", file, line))
		}
		cur = &chunk{file: file, line: line, offset: pos}
		for name := range strings.FieldsSeq(key) {
			if old, dup := k.chunks[name]; dup {
				errs = append(errs, fmt.Sprintf("%s:%d: %q is described before, at %s:%d", file, line, name, old.file, old.line))
				continue
			}
			k.chunks[name] = cur
		}
	}
	end(len(text))
	if len(errs) > 0 {
		return fmt.Errorf("%s", strings.Join(errs, "\n"))
	}
	return nil
}

// keyOf returns the key of a line "key: ..." with its quotes removed.
func keyOf(line string) (string, bool) {
	if q := line[0]; q == '"' || q == '\'' {
		end := strings.IndexByte(line[1:], q)
		if end < 0 || !strings.HasPrefix(line[end+2:], ":") {
			return "", false
		}
		return line[1 : end+1], true
	}
	// The key ends at the first colon that is followed by a blank or the end,
	// so that names such as python:venv can be keys.
	for i := range len(line) {
		if line[i] == ':' && (i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '\n' || line[i+1] == '\r') {
			return line[:i], true
		}
	}
	return "", false
}

// Lookup returns the entry of a program by its base name, or nil when nothing
// is known of it. An entry that cannot be read counts as unknown.
func (k *Knowledge) Lookup(program string) *Entry {
	c := k.chunks[program]
	if c == nil {
		c = k.versioned(program)
		if c == nil {
			return nil
		}
	}
	e, err := k.load(c)
	if err != nil {
		return nil
	}
	obeys := e.Obeys
	for hops := 0; e.same != ""; hops++ {
		next := k.chunks[e.same]
		if next == nil || hops > 4 {
			return nil
		}
		if e, err = k.load(next); err != nil {
			return nil
		}
		if obeys != nil { // the same, but for what it obeys
			other := *e
			other.Obeys = obeys
			e = &other
		}
	}
	return e
}

// MayWrap reports whether the words of a command may hold another command, or
// the name of a module to run. It does not read the entry, only looks at its
// text; false is certain.
func (k *Knowledge) MayWrap(words []string) bool {
	if len(words) < 2 {
		return false
	}
	c := k.chunks[words[0]]
	if c == nil {
		if c = k.versioned(words[0]); c == nil {
			return false
		}
	}
	text := c.source()
	if bytes.Contains(text, []byte("same:")) {
		return true
	}
	named := true // the lines are about the words
	in := false
	for l := range bytes.Lines(text) {
		trimmed := bytes.TrimLeft(l, " ")
		if trimmed[0] == '\n' || trimmed[0] == '#' {
			continue
		}
		switch len(l) - len(trimmed) {
		case 0, 2:
			in = string(bytes.TrimRight(l, " \r\n")) == "  commands:"
			named = true
		case 4:
			if key, ok := keyOf(string(trimmed)); in && ok {
				named = slices.ContainsFunc(strings.Fields(key), func(name string) bool {
					return strings.ContainsAny(name, "*?[") || slices.Contains(words[1:], name)
				}) || bytes.Contains(trimmed, []byte(" &")) // others may be the same
			}
		default:
			named = named || bytes.Contains(l, []byte(": &"))
		}
		if named && (bytes.Contains(l, []byte("argv")) || typed(l, "module")) {
			return true
		}
	}
	return false
}

// typed reports whether a line may use a word as the name of a type.
func typed(line []byte, word string) bool {
	for at := 0; ; at++ {
		i := bytes.Index(line[at:], []byte(word))
		if i < 0 {
			return false
		}
		if at += i; at == 0 || strings.IndexByte(" {[,+(", line[at-1]) >= 0 {
			return true
		}
	}
}

// versioned finds the entry of a program whose name carries a version, such as
// python3.11, clang-15 or gcc-12: the name without it.
func (k *Knowledge) versioned(program string) *chunk {
	base := strings.TrimSuffix(strings.TrimRight(program, "0123456789."), "-")
	if base == program || !versions[base] && !strings.HasPrefix(base, "llvm-") {
		return nil
	}
	return k.chunks[base]
}

// versions are the programs that are installed under names with a version. Any
// other name that ends in digits is another program (ls2, sh5).
var versions = func() map[string]bool {
	m := map[string]bool{}
	for n := range strings.FieldsSeq(`
		python pythonw pip pipx pypy pydoc idle pytest py.test virtualenv ipython easy_install perl cpan prove ruby irb gem erb rake bundle bundler rspec
		php phpize php-config composer lua luac luajit luarocks node nodejs npm npx go gofmt
		gcc g++ cpp gfortran gcov gcc-ar gcc-nm gcc-ranlib cc c++ ld ld.lld ar clang clang++ clang-format clang-tidy clangd clang-cpp lld llc opt lldb
		java javac jar psql pg_dump pg_restore pg_dumpall createdb dropdb initdb postgres mysql mysqldump mariadb sqlite erl erlc elixir ghc ghci runghc cabal
		ocaml ocamlc guile tclsh wish R Rscript scala swift dotnet automake aclocal autoconf autoheader autoreconf cmake ctest cpack qmake gawk emacs
		docker-compose terraform kubectl helm ansible ansible-playbook jupyter black flake mypy ruff uv tox nox meson ninja bison flex
	`) {
		m[n] = true
	}
	return m
}()

func (k *Knowledge) load(c *chunk) (*Entry, error) {
	c.once.Do(func() { c.entry, c.err = parseEntry(c.file, c.line, c.source()) })
	return c.entry, c.err
}

// Names returns every described name, sorted.
func (k *Knowledge) Names() []string {
	names := make([]string, 0, len(k.chunks))
	for n := range k.chunks {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// Check reads every entry and returns everything that is wrong with them.
func (k *Knowledge) Check() error {
	var errs []string
	seen := map[*chunk]bool{}
	for _, n := range k.Names() {
		c := k.chunks[n]
		if !seen[c] {
			seen[c] = true
			e, err := k.load(c)
			if err == nil {
				err = e.whole()
			}
			if err != nil {
				errs = append(errs, err.Error())
				continue
			}
		}
		if c.err == nil && k.Lookup(n) == nil {
			errs = append(errs, fmt.Sprintf("%s:%d: %s: same: names no entry", c.file, c.line, n))
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("%s", strings.Join(errs, "\n"))
	}
	return nil
}

// Style says how words are told apart.
type Style uint8

// The styles of README.md.
const (
	GNU Style = iota
	POSIX
	Single
	Plain
	Find
	DD
	Tar
)

var styleNames = map[string]Style{"gnu": GNU, "posix": POSIX, "single": Single, "plain": Plain, "find": Find, "dd": DD, "tar": Tar}

// Type is what a word means: the value types of README.md. The zero value is
// Bad, which no entry holds.
type Type uint8

// The value types.
const (
	Bad Type = iota
	Flag
	Text
	Read
	ReadTree
	Meta
	MetaTree
	Write
	Edit
	Delete
	DeleteTree
	Move
	Files
	Chdir
	URL
	Host
	RemoteRead
	RemoteWrite
	Repo
	Program
	Shell
	Argv
	ArgvStdin
	Split
	Assign
	Code
	Module
	Script
	Sed
	Awk
	JQ
	SQL
	Config
	Rev
	Out
	MakeArg
	Mount
	Library
	Suffix
	At
	OutDir
	Package
	Named
	GoPackages
	GoEdit
	Pass
	Settings
)

var typeNames = map[string]Type{
	"flag": Flag, "text": Text, "read": Read, "read_tree": ReadTree, "meta": Meta, "meta_tree": MetaTree, "write": Write,
	"edit": Edit, "delete": Delete, "delete_tree": DeleteTree, "move": Move, "files": Files, "chdir": Chdir, "url": URL,
	"host": Host, "remote_read": RemoteRead, "remote_write": RemoteWrite, "repo": Repo, "program": Program, "shell": Shell,
	"argv": Argv, "argv_stdin": ArgvStdin, "split": Split, "assign": Assign, "code": Code, "module": Module,
	"script": Script, "sed": Sed, "awk": Awk, "jq": JQ, "sql": SQL, "config": Config, "rev": Rev, "out": Out,
	"makearg": MakeArg, "mount": Mount, "library": Library, "suffix": Suffix, "at": At,
	"outdir": OutDir, "package": Package, "named": Named, "gopackages": GoPackages, "goedit": GoEdit, "pass": Pass, "settings": Settings,
}

// String is the type's name in the data.
func (t Type) String() string {
	for n, v := range typeNames {
		if v == t {
			return n
		}
	}
	return "bad"
}

// Tame reports whether a value of this type has no effect.
func (t Type) Tame() bool { return t == Flag || t == Text }

// Option is one option of a program, in all of its spellings.
type Option struct {
	Name     string // the canonical spelling, the longest
	Names    []string
	Type     Type
	Optional bool // the value is taken only joined
	Near     bool // or from the next word, unless that looks like an option
	Renames  bool // with it the operands name other things than without
	Last     bool // no options after its value
	// Elsewhere says that with it the same words are about another machine, cluster or account.
	Elsewhere bool
	// Next is the meaning of a further value, for options that take several
	// words (jq --arg NAME VALUE). Every value is told with its own type.
	Next *Option
}

// Operand is the type of one or more words that are no options.
type Operand struct {
	Type     Type
	Variadic bool
	Maybe    bool
	Default  string
}

// Fixed is an effect that always happens, or always with an option.
type Fixed struct {
	Kind   effect.Kind
	Target string
	Option string
}

// Entry is what is known of a program or of one of its subcommands.
type Entry struct {
	Name     string
	Class    effect.Class
	Style    Style
	Operands []Operand
	Lenient  bool
	NeedsGit bool
	Obeys    []string // what the program obeys and may run of the project, see [Entry.Steering]
	Brings   []string // see [Entry.brings]
	Index    string   // the host that is contacted for what is fetched, installed and sent
	ArgFiles bool     // an operand @FILE stands for the words in that file
	Effects  []Fixed
	When     []Alternative

	options    map[string]*Option // by spelling
	persistent map[string]*Option // also accepted after subcommands
	parent     *Entry
	commands   map[string]*subcommand
	globs      []globEntry
	bare       *Entry
	tame       bool // no option has an effect
	inert      bool // and no operand has one
	turned     bool // an option makes the command do more
	same       string
	hasOperand bool // operands are given (an empty list means none)
}

type globEntry struct {
	glob string
	sub  *subcommand
}

// Steering returns the names of the files of a project that the program looks for
// and obeys, so that what they say may run: "*" and "?" are special in a name, one
// with "/" in it is the end of a path, and one that ends in "/" is any file in a
// folder of that name. A subcommand has those of what is above it, unless it
// tells its own.
func (e *Entry) Steering() []string {
	for ; e != nil; e = e.parent {
		if e.Obeys != nil {
			return e.Obeys
		}
	}
	return nil
}

// Steers reports whether a path is that of a file which Steering names. Case does
// not count: it does not on every file system.
func (e *Entry) Steers(file string) bool {
	return slices.ContainsFunc(e.Steering(), func(name string) bool { return steers(name, file) })
}

// SteersWithin reports whether a folder is one in which Steering looks for files of
// some or any name: who puts a folder there may put them there.
func (e *Entry) SteersWithin(folder string) bool {
	return slices.ContainsFunc(e.Steering(), func(name string) bool {
		for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name, '/') {
			if name = name[:i]; steers(name, folder) {
				return true
			}
		}
		return false
	})
}

func steers(name, file string) bool {
	if folder, is := strings.CutSuffix(name, "/"); is {
		return paths.AnyPart(folder, path.Dir(file))
	}
	for more := true; more; {
		var part, last string
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			name, part = name[:i], name[i+1:]
		} else {
			part, more = name, false
		}
		i := strings.LastIndexByte(file, '/')
		file, last = file[:max(0, i)], file[i+1:]
		if last == "" || !paths.AnyName(part, last) {
			return false
		}
	}
	return true
}

// brings reports whether the command puts files into the tree whose names no word
// tells. Of the names that share the entry, Brings has those of which it is so.
func (e *Entry) brings(name string) bool { return slices.Contains(e.Brings, name) }

// Tame reports whether no option of the entry has an effect.
func (e *Entry) Tame() bool { return e.tame }

// Alternative changes an entry where its condition holds.
type Alternative struct {
	has, lacks []anyOf
	args       func(n int) bool
	argsText   string
	Class      effect.Class
	Operands   []Operand
	setsArgs   bool
	Also       []Operand          // a second meaning of the operands, beside the first
	Options    map[string]*Option // another meaning of the values of these options
	Brings     bool               // it brings files of names that no word tells
	Effects    []Fixed
}

// anyOf is a list of spellings of which one must be present, with the values
// the option must have (with not: must not have; with holds: of which its value
// must hold one somewhere) when values are given.
type anyOf struct {
	names      []string
	values     []string
	not, holds bool
}

// sub returns the subcommand of that name. One that cannot be read counts as
// unknown.
func (e *Entry) sub(name string) *Entry {
	s := e.commands[name]
	for i := 0; s == nil && i < len(e.globs); i++ {
		if ok, err := path.Match(e.globs[i].glob, name); err == nil && ok {
			s = e.globs[i].sub
		}
	}
	if s == nil {
		return nil
	}
	entry, err := s.load()
	if err != nil {
		return nil
	}
	return entry
}

// whole reads everything below an entry and returns what is wrong with it.
func (e *Entry) whole() error {
	var errs []error
	each := func(s *subcommand) {
		sub, err := s.load()
		if err == nil {
			err = sub.whole()
		}
		errs = append(errs, err)
	}
	for _, name := range slices.Sorted(maps.Keys(e.commands)) {
		each(e.commands[name])
	}
	for _, g := range e.globs {
		each(g.sub)
	}
	return errors.Join(errs...)
}

// option finds an option by its exact spelling, in the entry and in what its
// ancestors let through.
func (e *Entry) option(spelling string) *Option {
	if o := e.options[spelling]; o != nil {
		return o
	}
	for p := e; p != nil; p = p.parent {
		if o := p.persistent[spelling]; o != nil {
			return o
		}
	}
	return nil
}

// abbreviated finds the long options that a GNU abbreviation may stand for.
// Two that differ are ambiguous.
func (e *Entry) abbreviated(prefix string) (found *Option, ambiguous bool) {
	look := func(m map[string]*Option) {
		for name, o := range m {
			if strings.HasPrefix(name, prefix) && strings.HasPrefix(name, "--") {
				if found != nil && found != o {
					ambiguous = true
				}
				found = o
			}
		}
	}
	look(e.options)
	for p := e; p != nil; p = p.parent {
		look(p.persistent)
	}
	return found, ambiguous
}
