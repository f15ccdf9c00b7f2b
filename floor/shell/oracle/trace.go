package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"assent/floor/effect"
)

// traced are the system calls by which a process starts another, opens a file
// or changes a tree.
const traced = "execve,execveat,fork,vfork,clone,clone3,chdir,fchdir,open,openat,creat,truncate," +
	"unlink,unlinkat,rmdir,rename,renameat,renameat2,mkdir,mkdirat,mknod,mknodat,symlink,symlinkat,link,linkat"

// process is what is known of a traced process while the log is read.
type process struct {
	by  []string // programs executed on the way to it, outermost first
	cwd string
	// own are files it made for itself alone (O_EXCL): when it removes or
	// renames one, the file was only a step of its work.
	own map[string]bool
}

// reader turns a strace log into facts.
type reader struct {
	world   *World
	calls   map[int][]call // recorded by pid
	parents map[int]int
	procs   map[int]*process
	facts   []Fact
	started bool
}

// line is one finished system call.
type line struct {
	pid    int
	name   string
	args   []string
	result string
}

// readTrace reads the whole log of one script.
func readTrace(w *World, log string, calls []call) ([]Fact, error) {
	lines, err := finish(log)
	if err != nil {
		return nil, err
	}
	r := &reader{world: w, calls: map[int][]call{}, parents: map[int]int{}, procs: map[int]*process{}}
	for _, c := range calls {
		r.calls[c.Pid] = append(r.calls[c.Pid], c)
	}
	// A child may act before the line that tells of its birth is written.
	for _, l := range lines {
		switch l.name {
		case "fork", "vfork", "clone", "clone3":
			if child, err := strconv.Atoi(l.result); err == nil && child > 0 {
				r.parents[child] = l.pid
			}
		}
	}
	for _, l := range lines {
		r.step(l)
	}
	if !r.started {
		return nil, fmt.Errorf("the trace does not show how bash starts:\n%.2000s", log)
	}
	return r.facts, nil
}

// finish parses the lines of a log and puts the two halves of interrupted
// calls together, at the place of the second.
func finish(log string) ([]line, error) {
	var lines []line
	half := map[int]string{}
	for text := range strings.Lines(log) {
		text = strings.TrimSuffix(text, "\n")
		head, rest, ok := strings.Cut(text, " ")
		pid, err := strconv.Atoi(head)
		if !ok || err != nil {
			return nil, fmt.Errorf("trace line without a process: %q", text)
		}
		rest = strings.TrimLeft(rest, " ")
		if strings.HasPrefix(rest, "---") || strings.HasPrefix(rest, "+++") {
			continue
		}
		if strings.HasSuffix(rest, "<detached ...>") {
			continue // a side thread of the recorder, gone when it became another program
		}
		if begun, ok := strings.CutSuffix(rest, " <unfinished ...>"); ok {
			half[pid] = begun
			continue
		}
		if strings.HasPrefix(rest, "<... ") {
			_, after, _ := strings.Cut(rest, " resumed>")
			rest = half[pid] + after
			delete(half, pid)
		}
		l, ok := parseLine(rest)
		if !ok {
			return nil, fmt.Errorf("trace line not understood: %q", text)
		}
		l.pid = pid
		lines = append(lines, l)
	}
	return lines, nil
}

// parseLine reads `name(arg, arg, ...) = result`.
func parseLine(s string) (line, bool) {
	name, rest, ok := strings.Cut(s, "(")
	if !ok {
		return line{}, false
	}
	l := line{name: name}
	depth, start := 0, 0
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"':
			for i++; i < len(rest) && rest[i] != '"'; i++ {
				if rest[i] == '\\' {
					i++
				}
			}
		case c == '[' || c == '{' || c == '(':
			depth++
		case (c == ']' || c == '}' || c == ')') && depth > 0:
			depth--
		case c == ')':
			if arg := strings.TrimSpace(rest[start:i]); arg != "" {
				l.args = append(l.args, arg)
			}
			_, l.result, ok = strings.Cut(rest[i:], "= ")
			return l, ok
		case c == ',' && depth == 0:
			l.args = append(l.args, strings.TrimSpace(rest[start:i]))
			start = i + 1
		}
	}
	return line{}, false
}

// unquote reads a string as strace writes it, with the escapes of C.
func unquote(s string) string {
	s = strings.TrimSuffix(s, "...")
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	s = s[1 : len(s)-1]
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'v':
			b.WriteByte('\v')
		case 'f':
			b.WriteByte('\f')
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n := 0
			j := i
			for ; j < len(s) && j < i+3 && s[j] >= '0' && s[j] <= '7'; j++ {
				n = n*8 + int(s[j]-'0')
			}
			b.WriteByte(byte(n))
			i = j - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// list reads `["a", "b"]`.
func list(s string) []string {
	inner := strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	l, _ := parseLine("x(" + inner + ") = 0")
	words := make([]string, len(l.args))
	for i, a := range l.args {
		words[i] = unquote(a)
	}
	return words
}

func (r *reader) process(pid int) *process {
	if p := r.procs[pid]; p != nil {
		return p
	}
	p := &process{cwd: r.world.Work, own: map[string]bool{}}
	if parent, ok := r.parents[pid]; ok && parent != pid {
		from := r.process(parent)
		p.cwd, p.by = from.cwd, append([]string(nil), from.by...)
	}
	r.procs[pid] = p
	return p
}

// path makes an argument of a call absolute; at is the folder descriptor as
// strace shows it ("AT_FDCWD</x>", "3</y>") or empty.
func (p *process) path(at, arg string) string {
	name := unquote(arg)
	dir := p.cwd
	if _, shown, ok := strings.Cut(at, "<"); ok {
		dir = strings.TrimSuffix(shown, ">")
		if strings.HasPrefix(at, "AT_FDCWD") {
			p.cwd = dir
		}
	}
	if filepath.IsAbs(name) {
		return name
	}
	// Not cleaned: ".." after a symlink leads elsewhere than it looks.
	return dir + "/" + name
}

// step takes one call into account.
func (r *reader) step(l line) {
	p := r.process(l.pid)
	failed := strings.HasPrefix(l.result, "-1")
	arg := func(i int) string {
		if i < len(l.args) {
			return l.args[i]
		}
		return ""
	}
	switch l.name {
	case "execve":
		// ENOEXEC: a text file without "#!", which the shell then reads itself.
		if !failed || strings.Contains(l.result, "ENOEXEC") {
			r.execute(p, l.pid, p.path("", arg(0)), list(arg(1)), failed)
		}
		return
	case "execveat":
		if !failed {
			r.execute(p, l.pid, p.path(arg(0), arg(1)), list(arg(2)), false)
		}
		return
	}
	if failed || !r.started {
		return
	}
	switch l.name {
	case "chdir":
		p.cwd = p.path("", arg(0))
		if real, err := filepath.EvalSymlinks(p.cwd); err == nil {
			p.cwd = real
		}
	case "fchdir":
		if _, shown, ok := strings.Cut(arg(0), "<"); ok {
			p.cwd = strings.TrimSuffix(shown, ">")
		}
	case "open":
		r.open(p, p.path("", arg(0)), arg(1), l.result)
	case "openat":
		r.open(p, p.path(arg(0), arg(1)), arg(2), l.result)
	case "creat":
		r.open(p, p.path("", arg(0)), "O_WRONLY|O_CREAT|O_TRUNC", l.result)
	case "mkdir":
		r.folder(p, p.path("", arg(0)))
	case "mkdirat":
		r.folder(p, p.path(arg(0), arg(1)))
	case "truncate", "mknod":
		r.add(p, effect.Write, p.path("", arg(0)))
	case "mknodat":
		r.add(p, effect.Write, p.path(arg(0), arg(1)))
	case "symlink":
		r.add(p, effect.Write, p.path("", arg(1)))
	case "symlinkat":
		r.add(p, effect.Write, p.path(arg(1), arg(2)))
	case "link":
		r.add(p, effect.Write, p.path("", arg(1)))
	case "linkat":
		r.add(p, effect.Write, p.path(arg(2), arg(3)))
	case "unlink", "rmdir":
		r.remove(p, p.path("", arg(0)))
	case "unlinkat":
		r.remove(p, p.path(arg(0), arg(1)))
	case "rename":
		r.rename(p, p.path("", arg(0)), p.path("", arg(1)))
	case "renameat", "renameat2":
		r.rename(p, p.path(arg(0), arg(1)), p.path(arg(2), arg(3)))
	}
}

// execute notes the run of a program. The first one is the shell that was
// started for the script; a real program after its recorder is the same run.
func (r *reader) execute(p *process, pid int, path string, args []string, asScript bool) {
	if !r.started {
		r.started = true
		return
	}
	p.own = map[string]bool{}
	if filepath.Dir(filepath.Clean(path)) == filepath.Join(r.world.Root, "real") {
		return
	}
	if calls := r.calls[pid]; len(calls) > 0 && !asScript {
		p.cwd = calls[0].Cwd
		r.calls[pid] = calls[1:]
	}
	f := Fact{Kind: effect.Run, Path: filepath.Clean(path), Args: args, By: p.by}
	r.facts = append(r.facts, f)
	p.by = append(append([]string(nil), p.by...), f.Program())
}

// open notes a read, a write or both. The kernel's own name of the opened file
// is in the result.
func (r *reader) open(p *process, named, flags, result string) {
	_, shown, ok := strings.Cut(result, "<")
	path := strings.TrimSuffix(strings.TrimSuffix(shown, ">"), "(deleted)")
	if path = strings.TrimSpace(path); !ok || !filepath.IsAbs(path) {
		return // a pipe, a socket
	}
	writes := strings.Contains(flags, "O_WRONLY") || strings.Contains(flags, "O_RDWR") ||
		strings.Contains(flags, "O_CREAT") || strings.Contains(flags, "O_TRUNC")
	if strings.Contains(flags, "O_PATH") {
		return
	}
	if strings.Contains(flags, "O_EXCL") && strings.Contains(flags, "O_CREAT") {
		p.own[path] = true
	}
	info, err := os.Lstat(path)
	folder := strings.Contains(flags, "O_DIRECTORY") || err == nil && info.IsDir()
	f := Fact{Kind: effect.Read, Path: path, Named: filepath.Clean(named), By: p.by, List: folder}
	if !writes || strings.Contains(flags, "O_RDWR") {
		r.note(f)
	}
	if writes {
		f.Kind = effect.Write
		r.note(f)
	}
}

func (r *reader) remove(p *process, named string) {
	if path := entry(named); p.own[path] {
		r.forget(path)
		return
	}
	r.add(p, effect.Delete, named)
}

func (r *reader) rename(p *process, from, to string) {
	if path := entry(from); p.own[path] {
		r.forget(path)
	} else {
		r.note(Fact{Kind: effect.Delete, Path: entry(from), Named: from, By: p.by, Moved: true})
	}
	r.add(p, effect.Write, to)
}

// forget drops what was noted about a file that its maker removed.
func (r *reader) forget(path string) {
	kept := r.facts[:0]
	for _, f := range r.facts {
		if f.Kind == effect.Run || f.Path != path {
			kept = append(kept, f)
		}
	}
	r.facts = kept
}

// add notes a fact about a name itself.
func (r *reader) add(p *process, kind effect.Kind, named string) {
	r.note(Fact{Kind: kind, Path: entry(named), Named: filepath.Clean(named), By: p.by})
}

func (r *reader) folder(p *process, named string) {
	r.note(Fact{Kind: effect.Write, Path: entry(named), Named: named, By: p.by, Folder: true})
}

// entry resolves a path up to its last segment, which is the entry of a folder
// and not followed when it is a symlink.
func entry(named string) string {
	named = strings.TrimRight(named, "/")
	i := strings.LastIndexByte(named, '/')
	if i < 0 {
		return named
	}
	dir, last := named[:i+1], named[i+1:]
	if last == "." || last == ".." {
		dir, last = named, ""
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return filepath.Join(real, last)
	}
	return filepath.Clean(named)
}

// noise are places every program touches while it starts.
var noise = []string{"/lib", "/usr/lib", "/usr/share/locale", "/usr/share/zoneinfo", "/etc/ld.so", "/etc/locale", "/etc/localtime",
	"/etc/inputrc", "/etc/nsswitch.conf", "/etc/passwd", "/etc/group", "/etc/selinux", "/proc", "/sys", "/dev"}

// note keeps a fact about a file unless it is noise or known already.
func (r *reader) note(f Fact) {
	root := r.world.Root
	if under(f.Path, root) && !under(f.Path, filepath.Join(root, "tree")) {
		return
	}
	if f.Path == "/" && f.List {
		return
	}
	if !under(f.Path, root) {
		for _, n := range noise {
			if strings.HasPrefix(f.Path, n) {
				return
			}
		}
	}
	for _, g := range r.facts {
		if g.Kind == f.Kind && g.Path == f.Path && g.Named == f.Named && g.List == f.List && strings.Join(g.By, "\x00") == strings.Join(f.By, "\x00") {
			return
		}
	}
	r.facts = append(r.facts, f)
}

// under reports whether path is dir or lies under it.
func under(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}
