package paths

import (
	"slices"
	"strings"
)

// A set is a collection of paths with a name, for policies: what belongs to
// it is a fact, what follows from it is the policy's.
type set struct {
	name     string
	doc      string
	patterns []Pattern
	special  special
}

// special tells the sets of which the place decides what is in them.
type special uint8

const (
	ordinary     special = iota // the patterns alone
	ownFiles                    // and the files that the place names as assent's own
	scannerFiles                // and those that it names as the scanner's
	notInside                   // see outside
	rootFolders                 // see roots
)

var sets = map[string]*set{}

// SetNames lists the named sets.
func SetNames() []string {
	var names []string
	for n := range sets {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// SetDoc says in a sentence what a set is, and which patterns it is made of.
func SetDoc(name string) (doc string, patterns []Pattern, ok bool) {
	s, ok := sets[name]
	if !ok {
		return "", nil, false
	}
	return s.doc, s.patterns, true
}

func addSet(name, doc string, patterns ...string) *set {
	s := &set{name: name, doc: doc}
	for _, p := range patterns {
		s.patterns = append(s.patterns, MustCompile(p))
	}
	sets[name] = s
	return s
}

func init() {
	addSet("@null", "the devices where nothing is kept, and the call's own streams",
		"/dev/{null,zero,full,random,urandom,stdin,stdout,stderr,tty}", "/dev/fd/*", "/proc/self/fd/*")

	addSet("@system", "places of the system that hold nothing private",
		"/usr/**", "/bin/**", "/sbin/**", "/lib/**", "/lib{32,64,x32}/**", "/nix/store/**", "/gnu/store/**",
		"/opt/homebrew/**", "/home/linuxbrew/.linuxbrew/**", "/snap/**",
		"/System/Library/**", "/Library/Developer/CommandLineTools/**", "/Library/Frameworks/**",
		"/Library/Java/**", "/Applications/Xcode.app/**",
		"/proc/{cpuinfo,meminfo,loadavg,version,uptime,stat,vmstat,filesystems,partitions,diskstats,interrupts,swaps,devices,modules,cgroups}",
		"/proc/sys/kernel/{ostype,osrelease,version,pid_max,threads-max}", "/proc/sys/{vm,fs}/**", "/proc/pressure/**",
		"/proc/self/{status,limits,cgroup,stat,statm,io,mounts,mountinfo}",
		"/sys/fs/cgroup/**", "/sys/devices/system/{cpu,node,memory}/**", "/sys/class/{net,thermal,block,drm}", "/sys/block",
		"/sys/kernel/mm/transparent_hugepage/**", "/sys/module/*/version",
		"/etc/*{-,_}release", "/etc/{debian_version,issue,localtime,timezone,shells,mime.types,services,protocols,nsswitch.conf,ld.so.conf,ld.so.cache,machine-info,magic,locale.conf,locale.gen,locale.alias,bash_completion,papersize}",
		"/etc/{ld.so.conf.d,alternatives,bash_completion.d,ca-certificates,fonts,terminfo,skel}/**", "/etc/ssl/{certs/**,cert.pem,openssl.cnf}",
		"/etc/pki/{tls/certs,ca-trust}/**", "/etc/apt/{sources.list,sources.list.d/**}")

	addSet("@devices", "raw devices and kernel memory: what writes there destroys the machine",
		"/dev/{sd,hd,vd,xvd,nvme,mmcblk,disk,rdisk,loop,dm-,md,zd,nbd,ram,mtd,ubi,pmem,dasd,watchdog,bcache,drbd,rbd,i2c-,tpm,hidraw}*",
		"/dev/{sg,sr,st,nst,fd,vcs,vcsa}[0-9]*", "/dev/{mapper,disk,block,input,bus,raw,cpu}/**", "/dev/{mem,kmem,port,kmsg,nvram,uinput,efi_runtime}",
		"/proc/{sysrq-trigger,kcore,kmem}", "/sys/firmware/efi/efivars/**", "/sys/power/**", "/sys/kernel/debug/**")

	assent := addSet("@assent", "assent's own state, socket and policies",
		"~/.config/assent/**", "~/.local/{state,share,bin}/assent/**", "~/.cache/assent/**", "~/.assent/**",
		"~/Library/{Application Support,Caches,Logs}/assent/**",
		"$XDG_CONFIG_HOME/assent/**", "$XDG_STATE_HOME/assent/**", "$XDG_DATA_HOME/assent/**", "$XDG_CACHE_HOME/assent/**",
		"$XDG_RUNTIME_DIR/assent/**", "/run/assent/**", "/run/user/*/assent/**", "/var/run/assent/**", "/var/{lib,log,cache}/assent/**",
		"/etc/assent/**", "/private/etc/assent/**", "**/.assent/**")
	assent.special = ownFiles

	// Who changes these has another scanner (law §11): what it believes, its
	// daemon's socket, and its program where its installers put it.
	scanner := addSet("@scanner", "the settings, the state and the program of the scanner of commands, Tirith",
		"~/.config/tirith/**", "~/.local/{state,share}/tirith/**", "~/.cache/tirith/**", "~/Library/{Application Support,Caches,Logs}/tirith/**",
		"$XDG_CONFIG_HOME/tirith/**", "$XDG_STATE_HOME/tirith/**", "$XDG_DATA_HOME/tirith/**", "$XDG_CACHE_HOME/tirith/**",
		"/etc/tirith/**", "/private/etc/tirith/**", "~/.{local,cargo}/bin/tirith", "/usr/{local/,}bin/tirith", "/opt/homebrew/bin/tirith",
		"/home/linuxbrew/.linuxbrew/bin/tirith", "/usr/{local/,}lib/node_modules/{tirith,@sheeki03}/**", "/opt/homebrew/lib/node_modules/{tirith,@sheeki03}/**")
	scanner.special = scannerFiles

	sets["@outside"] = &set{name: "@outside", doc: "everything outside the workspace", special: notInside}
	sets["@roots"] = &set{
		name:    "@roots",
		doc:     `"/", the home folder, the workspace, every folder above them, all of their children at once ("~/*"), other people's homes and the top folders of the system`,
		special: rootFolders,
	}
}

func (s *set) relate(t *Target) Relation {
	switch s.special {
	case ownFiles:
		return max(s.with(t, t.p.Own), links(t, t.p.OwnLinks))
	case scannerFiles:
		return s.with(t, t.p.Scanner)
	case notInside:
		return outside(t)
	case rootFolders:
		return roots(t)
	}
	return s.any(t)
}

func (s *set) any(t *Target) Relation {
	r := Apart
	for _, pt := range s.patterns {
		if r = max(r, pt.RelateTo(t)); r == Covers {
			break
		}
	}
	return r
}

// with adds files and folders that the place names.
func (s *set) with(t *Target, files []string) Relation {
	r := s.any(t)
	for _, file := range files {
		if r >= Overlap || file == "" || file[0] != '/' {
			break
		}
		if t.names != "" && !AnyPart(t.names, file) {
			continue
		}
		c := compiled{anchor: atRoot, alts: [][]segment{append(plainSegments(file), segment{deep: true})}}
		r = max(r, Pattern{&c}.RelateTo(t))
		if real := t.p.real(file); real != file && r < Overlap {
			c := compiled{anchor: atRoot, alts: [][]segment{append(plainSegments(real), segment{deep: true})}}
			r = max(r, Pattern{&c}.RelateTo(t))
		}
	}
	return r
}

// links relates to links themselves, and to nothing behind them.
func links(t *Target, files []string) Relation {
	for _, file := range files {
		if t.names != "" && !AnyPart(t.names, file) {
			continue
		}
		if t.path.Glob {
			segments := plainSegments(file)
			c := compiled{anchor: atRoot, alts: [][]segment{segments}}
			parts := len(t.abs.segs)
			if named := len(t.named.segs); named > 0 {
				parts = min(parts, named)
			}
			if parts <= len(segments) && (Pattern{&c}).RelateTo(t) != Apart {
				return Overlap
			}
			continue
		}
		for _, path := range [...]string{t.path.Abs, t.path.Named} {
			if rest, ok := relative(path, file, t.p.Fold); ok && (rest == "" || t.tree) {
				return Overlap
			}
		}
	}
	return Apart
}

// outside holds for every known path that is not in the workspace.
func outside(t *Target) Relation {
	switch path := t.path; {
	case path.Rel != "":
		return Apart
	case !path.Known():
		return Overlap
	}
	if t.path.Glob {
		if wholeWorkspace.RelateTo(t) != Apart {
			return Overlap
		}
		return Covers
	}
	if _, above := relative(t.path.Abs, t.root, true); t.tree && above {
		return Overlap
	}
	return Covers
}

var wholeWorkspace = MustCompile(".")

// topFolders are the folders of the system whose loss is the machine's.
var topFolders = func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq("bin boot dev etc home lib lib32 lib64 libx32 media mnt opt proc root run sbin srv sys usr var nix snap " +
		"system library applications users volumes private cores network windows") {
		m["/"+name] = true
	}
	for name := range strings.FieldsSeq("etc var tmp") {
		m["/private/"+name] = true
	}
	for _, name := range []string{"/usr/bin", "/usr/lib", "/usr/lib64", "/usr/sbin", "/usr/local", "/usr/share", "/var/lib", "/system/library", "/system/volumes", "/system/volumes/data"} {
		m[name] = true
	}
	return m
}()

// roots holds for a folder whose deletion is a catastrophe, and for all that
// is in one ("/*").
func roots(t *Target) Relation {
	path := t.path
	if path.Glob {
		return max(rootGlob(t, &t.abs), rootGlob(t, &t.named))
	}
	if path.Known() && isRoot(t, path.Abs) || path.Named != "" && isRoot(t, path.Named) {
		return Covers
	}
	return Apart
}

func isRoot(t *Target, abs string) bool {
	if abs == "/" || topFolders[Fold(abs)] {
		return true
	}
	for _, dir := range [...]string{t.p.Home, t.p.Workspace, t.home, t.root} {
		if dir == "" {
			continue
		}
		if _, above := relative(abs, dir, true); above {
			return true
		}
	}
	// Somebody's home, also when it is not known to be this one.
	dir, name := parent(abs), abs[strings.LastIndexByte(abs, '/')+1:]
	switch Fold(dir) {
	case "/home", "/users":
		return name != ""
	}
	return false
}

// rootGlob compares a glob with the roots: one may be among its paths, or it
// may stand for all the children of one.
func rootGlob(t *Target, g *glob) Relation {
	switch {
	case g.bad:
		return Overlap
	case g.segs == nil:
		return Apart
	}
	glob, first := g.segs, 0
	var fixed strings.Builder
	for first < len(glob) && glob[first].plain {
		fixed.WriteByte('/')
		fixed.WriteString(glob[first].exact.name)
		first++
	}
	dir := fixed.String()
	if dir == "" {
		dir = "/"
	}
	all := true
	for i := first; i < len(glob); i++ {
		all = all && glob[i].everything()
	}
	if all && isRoot(t, dir) {
		return Covers
	}
	candidates := []string{t.p.Home, t.p.Workspace, t.home, t.root}
	for name := range topFolders {
		candidates = append(candidates, name)
	}
	same := func(segs []segment) bool {
		return len(segs) == len(glob) && globMeets(glob, segs, false, true) == Overlap
	}
	for _, c := range candidates {
		for c != "/" && strings.Count(c, "/") >= len(glob) { // a folder above has fewer parts
			if same(plainSegments(c)) {
				return Overlap
			}
			c = parent(c)
		}
	}
	for _, homes := range [...]string{"/home", "/users"} {
		if same(append(plainSegments(homes), anyName)) {
			return Overlap
		}
	}
	return Apart
}
