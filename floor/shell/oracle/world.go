// Package oracle lets real bash say what a text does. It runs a script of our
// own in a scratch world, where every program on PATH is a recorder, and
// reports as facts what was run, read, written and deleted. The tests of the
// floor then ask whether every fact was told beforehand.
//
// Programs are seen by the recorder; what bash itself and the harmless real
// programs open is seen by strace. Without strace the tree is compared before
// and after, which shows writes and deletions and no reads; [Record.Traced]
// says which it was.
//
// It is for tests only. Never give it a text that somebody else wrote: bash is
// real, and so is what a text writes by redirection.
//
// Start reading at [Kit], [World.Run] and [Fact].
package oracle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// real are the programs that go on as themselves after they were recorded:
// they wrap other programs, or do nothing but what their words say in a world
// of scratch files. Whatever could do harm when a script goes wrong (rm, mv,
// dd, anything with a network) is not among them.
var real = []string{
	"env", "xargs", "timeout", "nice", "nohup", "setsid", "stdbuf", "find", "sh", "bash",
	"cat", "head", "tail", "wc", "sort", "uniq", "tee", "tr", "cut", "rev", "paste", "comm", "join", "fold", "nl", "tac", "od",
	"sed", "awk", "grep", "egrep", "fgrep", "cmp", "diff",
	"ls", "stat", "du", "dirname", "basename", "realpath", "readlink", "mktemp", "seq", "expr", "date", "sleep",
	"mkdir", "touch", "cp", "ln", "true", "false", "test", "[", "printf", "echo",
}

// silent are further program names scripts can find.
var silent = []string{
	"rm", "rmdir", "mv", "dd", "chmod", "chown", "chgrp", "truncate", "shred", "install", "mkfifo", "unlink", "kill", "pkill",
	"git", "gh", "go", "gofmt", "make", "gcc", "cc", "cmake", "ninja",
	"node", "npm", "npx", "bunx", "bun", "yarn", "pnpm", "deno", "tsc", "python", "python3", "pip", "pip3", "uv", "pytest", "ruby", "gem",
	"perl", "php", "java", "mvn", "gradle", "cargo", "rustc",
	"curl", "wget", "ssh", "scp", "rsync", "nc", "docker", "kubectl", "helm", "terraform", "aws",
	"sudo", "doas", "su", "systemctl", "crontab", "at", "watch", "parallel", "flock", "script", "less", "more", "vim", "vi", "nano",
	"tar", "zip", "unzip", "gzip", "gunzip", "zcat", "jq", "yq", "rg", "fd", "tree", "file", "strings", "xxd", "base64", "sha256sum", "md5sum",
	"ps", "top", "df", "free", "uname", "hostname", "id", "whoami", "who", "dash", "zsh", "fish", "busybox", "gdb", "strace", "ltrace",
	"alpha", "beta", "gamma", "tool", "fails",
}

// Programs lists every name on the PATH of a world.
func Programs() []string { return append(append([]string(nil), real...), silent...) }

// Kit is what all worlds share: the recorder, the real programs and strace.
type Kit struct {
	recorder string
	real     map[string]string
	bash     string
	shells   map[string][]string // the words that start each, without files of settings
	strace   string
	// Missing says, for people, why a layer is not there; empty when all are.
	Missing string
}

// NewKit builds the recorder into dir, a folder of its own.
func NewKit(dir string) (*Kit, error) {
	k := &Kit{recorder: filepath.Join(dir, "recorder"), real: map[string]string{}}
	build := exec.Command("go", "build", "-o", k.recorder, "assent/floor/shell/oracle/recorder")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the recorder: %w\n%s", err, out)
	}
	var err error
	if k.bash, err = exec.LookPath("bash"); err != nil {
		return nil, fmt.Errorf("find bash: %w", err)
	}
	version, err := exec.Command(k.bash, "--norc", "--noprofile", "-c", "echo ${BASH_VERSINFO[0]}").Output()
	if err != nil {
		return nil, fmt.Errorf("ask bash for its version: %w", err)
	}
	if v := strings.TrimSpace(string(version)); v < "5" || len(v) > 1 {
		return nil, fmt.Errorf("bash %s at %s: the scripts are written for bash 5", v, k.bash)
	}
	for _, name := range real {
		path, err := exec.LookPath(name)
		if err != nil {
			continue // then it is silent
		}
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
		k.real[name] = path
	}
	k.real["sh"], k.real["bash"] = k.bash, k.bash
	k.shells = map[string][]string{"bash": {k.bash, "--norc", "--noprofile"}}
	for name, options := range map[string][]string{"zsh": {"-f"}, "dash": nil} {
		if path, err := exec.LookPath(name); err == nil {
			k.shells[name] = append([]string{path}, options...)
		}
	}
	k.findStrace()
	return k, nil
}

// Has reports whether a shell is there: bash always is, zsh and dash may be.
func (k *Kit) Has(shell string) bool { return k.shells[shell] != nil }

// findStrace takes strace only when it can really trace here: a container may
// have the program and forbid the system call.
func (k *Kit) findStrace() {
	path, err := exec.LookPath("strace")
	if err != nil {
		k.Missing = "strace is not installed: what scripts read is not checked, what they write is told from the tree (apt-get install strace)"
		return
	}
	if out, err := exec.Command(path, "-f", "-qq", "--seccomp-bpf", "-e", "trace=execve", "-o", os.DevNull, k.bash, "-c", ":").CombinedOutput(); err != nil {
		k.Missing = fmt.Sprintf("strace cannot trace here: what scripts read is not checked (%v: %s)", err, strings.TrimSpace(string(out)))
		return
	}
	k.strace = path
}

// World is a scratch place. One script runs in it at a time; the tree is made
// anew for each.
type World struct {
	kit *Kit
	// Root holds all of it; Work is the workspace and where scripts start.
	Root, Work, Home, Outside, Temp string
	state                           map[string]string // of the tree, nil when it must be made anew
}

// NewWorld prepares a world in dir, an empty folder.
func (k *Kit) NewWorld(dir string) (*World, error) {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	w := &World{kit: k, Root: root,
		Work: filepath.Join(root, "tree", "work"), Home: filepath.Join(root, "tree", "home"),
		Outside: filepath.Join(root, "tree", "outside"), Temp: filepath.Join(root, "tree", "tmp")}
	bin, truth := filepath.Join(root, "bin"), filepath.Join(root, "real")
	for _, d := range []string{bin, truth} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return nil, err
		}
	}
	for _, name := range Programs() {
		if err := k.plant(filepath.Join(bin, name)); err != nil {
			return nil, err
		}
	}
	for name, path := range k.real {
		if err := os.Symlink(path, filepath.Join(truth, name)); err != nil {
			return nil, err
		}
	}
	return w, w.reset()
}

// plant puts the recorder at path.
func (k *Kit) plant(path string) error {
	err := os.Link(k.recorder, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	data, err := os.ReadFile(k.recorder) // another file system
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o755)
}

// tree is what every script finds. A value that starts with "->" is a symlink,
// "!" is a recorder under that name.
var tree = map[string]string{
	"work/a.txt":              "alpha\nbeta\ngamma\n",
	"work/b.txt":              "beta\ndelta\n",
	"work/list.txt":           "a.txt\nb.txt\n",
	"work/words.txt":          "one two\nthree\n",
	"work/with space.txt":     "spaced\n",
	"work/star*file":          "literal star\n",
	"work/-dash":              "dash\n",
	"work/.hidden":            "hidden\n",
	"work/.env":               "KEY=value\n",
	"work/main.go":            "package main\n",
	"work/Makefile":           "all:\n",
	"work/f1":                 "1\n",
	"work/f2":                 "2\n",
	"work/f10":                "10\n",
	"work/lib.sh":             "alpha from-lib\nlibfn() { beta lib-function \"$@\"; }\n",
	"work/args.sh":            "alpha \"$@\"\n",
	"work/script.sh":          "#!/usr/bin/env bash\ntool script \"$@\"\n",
	"work/plain":              "tool plain \"$@\"\n",
	"work/commands.txt":       "alpha one\nbeta two\n",
	"work/sub/c.txt":          "gamma\n",
	"work/sub/deep/d.txt":     "delta\n",
	"work/sub/deep/e.md":      "# e\n",
	"work/sub/rm":             "!",
	"work/tools/mytool":       "!",
	"work/tools/ls":           "!",
	"work/link":               "->a.txt",
	"work/linkdir":            "->sub",
	"work/outlink":            "->../outside",
	"work/secretlink":         "->../home/.ssh/id_key",
	"work/chain":              "->outlink",
	"work/empty/":             "",
	"work/.git/config":        "[core]\n",
	"work/.git/hooks/sample":  "sample\n",
	"home/notes.txt":          "notes\n",
	"home/.ssh/id_key":        "key\n",
	"home/.bashrc":            "alpha bashrc\n",
	"home/.config/tool/conf":  "conf\n",
	"home/bin/hometool":       "!",
	"outside/secret.txt":      "secret\n",
	"outside/run.sh":          "gamma outside\n",
	"outside/dir/inner.txt":   "inner\n",
	"outside/dir/b/inner.txt": "inner\n",
	"tmp/":                    "",
}

// Tree tells what is in the tree of a world whose folders lie in base: the
// symlinks with what they resolve to, the files, the folders. It is what the
// floor may be told of the machine, and it needs no world.
func Tree(base string) (links map[string]string, files []string, folders []string) {
	links = map[string]string{}
	seen := map[string]bool{}
	for name, content := range tree {
		for dir := filepath.Dir(name); dir != "." && !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			folders = append(folders, filepath.Join(base, dir))
		}
		switch {
		case strings.HasSuffix(name, "/"):
		case strings.HasPrefix(content, "->"):
			links[filepath.Join(base, name)] = filepath.Join(base, follow(name))
		default:
			files = append(files, filepath.Join(base, name))
		}
	}
	return links, files, folders
}

// follow resolves a name of the tree; links lie in no folder that is a link.
func follow(name string) string {
	for strings.HasPrefix(tree[name], "->") {
		name = filepath.Join(filepath.Dir(name), tree[name][len("->"):])
	}
	return name
}

// reset makes the log and, where the last script changed it, the tree anew.
func (w *World) reset() error {
	if err := os.WriteFile(filepath.Join(w.Root, "calls.jsonl"), nil, 0o644); err != nil {
		return err
	}
	if w.state != nil {
		return nil
	}
	base := filepath.Join(w.Root, "tree")
	if err := os.RemoveAll(base); err != nil {
		return err
	}
	for name, content := range tree {
		path := filepath.Join(base, name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				return err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		var err error
		switch to, isLink := strings.CutPrefix(content, "->"); {
		case isLink:
			err = os.Symlink(to, path)
		case content == "!":
			err = w.kit.plant(path)
		case strings.HasSuffix(name, ".sh") || name == "work/plain":
			err = os.WriteFile(path, []byte(content), 0o755)
		default:
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			return err
		}
	}
	var err error
	w.state, err = w.snapshot()
	return err
}

// Expand replaces @WORK@, @HOME@, @OUT@ and @TMP@ by the world's folders.
func (w *World) Expand(text string) string {
	return Expand(text, w.Work, w.Home, w.Outside, w.Temp)
}
