package kernel

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"assent/floor"
	"assent/internal/place"
)

// PolicyFiles are the policies of a machine, in files (policy §2).
type PolicyFiles struct {
	// Operator and Managed are paths of files, "" for none.
	Operator, Managed string
	// State is the folder where the last good text of every policy is kept,
	// "" to keep it in memory alone.
	State string
}

// Files are policies read from files each time they are asked for, so that
// what a person wrote holds for the next call whatever was noticed. Folders
// are watched, so that it is noticed.
//
// A file that is broken, or gone after it had been good, leaves the denies and
// blocks of its last good text in force, also over a restart (law ruling 7):
// that a file is missing does not say who took it away. A policy is taken away
// by writing one without rules.
type Files struct {
	files PolicyFiles
	own   []string // no call touches them, also while nothing is there

	mu     sync.Mutex             // never held while a file is read
	known  map[string]*policyFile // by path
	turn   uint64                 // counts who asked
	weight int                    // of all policies of projects in known
	asked  map[*notice]struct{}

	now     func() time.Time
	watcher *fsnotify.Watcher
	done    sync.WaitGroup
}

// maxKept is how much memory policies of projects may take, as [floor.Policy.Weight]
// tells it: three of the largest, or hundreds of usual ones. An agent makes as many
// as it likes; what is not kept is read again.
const maxKept = 32 << 20

type notice struct {
	workspace string
	f         func()
	told      [3]string // what the files said when it was told, see print
}

// policyFile is a policy as it was last read.
type policyFile struct {
	path  string
	layer floor.Layer

	turn   uint64 // under Files.mu: who asked last
	weight int    // under Files.mu: of what it keeps

	// mu is of this file alone: whoever could keep one from being read in its time
	// would keep all calls from being judged.
	mu sync.Mutex

	loaded  bool
	sum     sum           // of the text as last read, zero when it could not be
	err     error         // what is wrong with it
	policy  *floor.Policy // in force: what the text says, or what is left of the last good
	unknown bool          // it said something, and what it denied is not known

	// before is the policy from before a text that may be half of what is being
	// written, pending that text, and seen when it was seen first.
	before  *floor.Policy
	pending []byte
	seen    time.Time

	left    sum    // of the text of which the policy in force is what is left, zero where it is all of it
	good    sum    // of the last good text, zero for none
	text    []byte // the last good text, while it is not in State
	goodErr error  // why it could not be read
}

// Who saves in place writes in pieces, and the beginning of a policy is mostly a
// policy. Pieces are as long as the buffers of programs, and all of those hold whole
// blocks: a text that ends with one must stand that long to be taken for all there is.
const (
	block = 4096
	whole = 200 * time.Millisecond
)

// sum stands for a text, which is not kept.
type sum [sha256.Size]byte

// OpenPolicies starts looking after policies.
func OpenPolicies(files PolicyFiles) (*Files, error) {
	p := &Files{files: files, now: time.Now, known: make(map[string]*policyFile), asked: make(map[*notice]struct{})}
	for _, path := range []string{files.Operator, files.Managed, files.State} {
		if path != "" {
			p.own = append(p.own, path)
		}
	}
	if files.State != "" {
		if err := os.MkdirAll(files.State, 0o700); err != nil {
			return nil, fmt.Errorf("open policies: %w", err)
		}
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("open policies: %w", err)
	}
	p.watcher = watcher
	p.done.Go(p.listen)
	return p, nil
}

// Close ends the watching.
func (p *Files) Close() error {
	err := p.watcher.Close()
	p.done.Wait()
	return err
}

// Layers are the policies in force for a workspace, "" for none.
func (p *Files) Layers(workspace string) Layers {
	var l Layers
	var was [3]*floor.Policy
	l.Floor.Own = p.own
	l.Floor.Operator, was[0] = p.layer(&l, p.files.Operator, floor.Operator)
	l.Floor.Managed, was[1] = p.layer(&l, p.files.Managed, floor.Managed)
	if workspace != "" {
		l.Floor.Project, was[2] = p.layer(&l, place.ProjectPolicy(workspace), floor.Project)
	}
	if was != [3]*floor.Policy{} {
		before := l.Floor
		before.Operator, before.Managed, before.Project = cmp.Or(was[0], before.Operator), cmp.Or(was[1], before.Managed), cmp.Or(was[2], before.Project)
		l.Before = &before
	}
	return l
}

// layer is a policy in force, and the one from before while that is to be heard too.
func (p *Files) layer(l *Layers, path string, layer floor.Layer) (now, before *floor.Policy) {
	if path == "" {
		return nil, nil
	}
	f := p.file(path, layer)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read(p.files.State, p.now())
	p.keeps(f)
	if f.err != nil {
		l.Errors = append(l.Errors, fmt.Sprintf("the %s policy: %v", layer, f.err))
	}
	l.Unknown = l.Unknown || f.unknown
	l.Missing = l.Missing || layer == floor.Operator && f.policy == nil && f.err == nil
	return f.policy, f.before
}

// file is what is known of a file. That of a project is kept while somebody wants
// to be told of it: there are as many as agents name folders.
func (p *Files) file(path string, layer floor.Layer) *policyFile {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.known[path]
	if f == nil {
		f = &policyFile{path: path, layer: layer}
		if layer != floor.Project || p.files.State == "" || p.wanted(path) {
			p.known[path] = f
		}
	}
	p.turn++
	f.turn = p.turn
	return f
}

// keeps notes what a file keeps now, and forgets what nobody asked for longest where
// that is too much. Whoever reads that one just now has it all the same.
func (p *Files) keeps(f *policyFile) {
	if f.layer != floor.Project {
		return
	}
	weight := f.policy.Weight() + f.before.Weight() + len(f.text) + len(f.pending)
	if f.err != nil {
		weight += len(f.err.Error())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known[f.path] != f {
		return
	}
	p.weight += weight - f.weight
	f.weight = weight
	if p.weight <= maxKept {
		return
	}
	others := make([]*policyFile, 0, len(p.known))
	for _, other := range p.known {
		// Without State nobody would know any more what it denied.
		if other != f && other.layer == floor.Project && p.files.State != "" {
			others = append(others, other)
		}
	}
	slices.SortFunc(others, func(a, b *policyFile) int { return cmp.Compare(a.turn, b.turn) })
	for _, other := range others {
		if p.weight <= maxKept {
			return
		}
		p.drop(other.path)
	}
}

// drop forgets a file: its last good text is in State. It needs p.mu.
func (p *Files) drop(path string) {
	if f := p.known[path]; f != nil {
		p.weight -= f.weight
		delete(p.known, path)
	}
}

// wanted says whether somebody wants to be told of a project's policy.
func (p *Files) wanted(path string) bool {
	for n := range p.asked {
		if n.workspace != "" && place.ProjectPolicy(n.workspace) == path {
			return true
		}
	}
	return false
}

// errGone: a policy that had been good is not there.
var errGone = errors.New("it is gone; what it denied stays denied until there is one again (an empty one has only \"version: 1\")")

// read reads the file and, where it changed, the policy in it.
func (f *policyFile) read(state string, now time.Time) {
	if !f.loaded {
		var text []byte
		if text, f.goodErr = lastGood(state, f.path, f.layer); text != nil {
			f.good = sha256.Sum256(text)
		}
		f.loaded = true
	}
	text, saved, err := readPolicy(f.path, f.layer)
	if err != nil {
		f.before, f.pending = nil, nil // what is left of the last good text is in force
	}
	missing := errors.Is(err, fs.ErrNotExist)
	if missing {
		if link := place.DanglingLink(f.path); link != "" {
			missing, err = false, fmt.Errorf("%s is a link that leads nowhere", link)
		}
	}
	switch {
	case missing && f.good == sum{} && f.goodErr == nil:
		f.sum, f.policy, f.err, f.unknown = sum{}, nil, nil, false
	case missing:
		f.sum = sum{}
		f.fallBack(state, fmt.Errorf("%s: %w", f.path, errGone))
	case err != nil:
		f.sum = sum{}
		f.fallBack(state, fmt.Errorf("it is not in force: %w", err))
	case f.sum == sha256.Sum256(text):
		if f.pending != nil && !(fresh(saved, now) && fresh(f.seen, now)) {
			f.take(f.pending)
		}
		f.keep(state)
	default:
		f.sum = sha256.Sum256(text)
		policy, err := floor.ParseLayer(f.path, text, f.layer)
		if err != nil {
			f.before, f.pending = nil, nil
			f.fallBack(state, fmt.Errorf("it is not in force: %w", few(err)))
			return
		}
		if f.before == nil {
			f.before = f.policy
		}
		if f.before == nil && f.good != (sum{}) && f.good != f.sum {
			f.before, _ = f.lastPolicy(state) // nil where nobody knows it any more
		}
		f.policy, f.left, f.err, f.unknown = policy, sum{}, nil, false
		if f.before != nil && len(text)%block == 0 && fresh(saved, now) {
			f.pending, f.seen = text, now
			return
		}
		f.take(text)
		f.keep(state)
	}
}

// fresh says that something happened so shortly ago that more may follow; also what
// is said to happen yet.
func fresh(at, now time.Time) bool { return now.Sub(at) < whole }

// take takes a text for whole: it is the last good one.
func (f *policyFile) take(text []byte) {
	f.before, f.pending = nil, nil
	if f.good != f.sum {
		f.good, f.text = f.sum, text
	}
	f.goodErr = nil
}

// maxTold is how many bytes are told of what is wrong with a policy, but for the
// first problem: each session with the policy has them, and a text can have thousands.
const maxTold = 4 << 10

func few(err error) error {
	all, ok := errors.AsType[floor.Problems](err)
	if !ok {
		return err
	}
	var told strings.Builder
	for i, problem := range all {
		line := problem.String()
		if i > 0 && told.Len()+len(line) > maxTold {
			fmt.Fprintf(&told, "\nand %d more", len(all)-i)
			break
		}
		if i > 0 {
			told.WriteByte('\n')
		}
		told.WriteString(line)
	}
	return errors.New(told.String())
}

// readPolicy reads a policy, and when it was saved.
func readPolicy(path string, layer floor.Layer) (text []byte, saved time.Time, err error) {
	most, what := int64(place.MaxPolicy), "policy"
	if layer == floor.Project {
		most, what = floor.MaxProject, "policy of a project"
	}
	text, info, err := place.Read(path, most, what)
	if err == nil {
		saved = info.ModTime()
	}
	return text, saved, err
}

// fallBack leaves the denies and blocks of the last good text in force.
func (f *policyFile) fallBack(state string, err error) {
	was := f.policy
	f.policy, f.err, f.unknown = nil, err, true
	if f.goodErr != nil {
		f.err = fmt.Errorf("%w; its last good text: %w", err, f.goodErr)
		return
	}
	if f.good == (sum{}) {
		return
	}
	if was == nil || f.left != f.good {
		policy, goodErr := f.lastPolicy(state)
		if goodErr != nil {
			f.err = fmt.Errorf("%w; its last good text: %w", err, few(goodErr))
			return
		}
		was = policy.LastGood()
	}
	f.policy, f.left, f.unknown = was, f.good, false
	if !errors.Is(err, errGone) { // which says so
		f.err = fmt.Errorf("%w; until it is mended, what its last good text asked about, denied and blocked still is: taking the file away does not change that", err)
	}
}

// lastPolicy is what the last good text says.
func (f *policyFile) lastPolicy(state string) (*floor.Policy, error) {
	text := f.text
	if text == nil {
		var err error
		switch text, err = lastGood(state, f.path, f.layer); {
		case err != nil:
			return nil, err
		case f.good != sha256.Sum256(text):
			return nil, errors.New("somebody took it away or changed it")
		}
	}
	return floor.ParseLayer(f.path, text, f.layer) // it may be of an older version's language
}

// keep keeps the text in force as the last good one. While that cannot be done
// it is said, and tried again: after a restart its denies would be missed.
func (f *policyFile) keep(state string) {
	if f.text == nil || f.good != f.sum || f.policy == nil {
		return
	}
	f.err = nil
	if err := keepGood(state, f.path, f.layer, f.text); err != nil {
		f.err = fmt.Errorf("it is in force, but would not be remembered: %w", err)
		return
	}
	if state != "" {
		f.text = nil
	}
}

// goodFile is where the last good text of a policy is kept.
func goodFile(state, path string, layer floor.Layer) string {
	sum := sha256.Sum256([]byte(layer.String() + "\x00" + path))
	return filepath.Join(state, hex.EncodeToString(sum[:16])+".yaml")
}

func lastGood(state, path string, layer floor.Layer) ([]byte, error) {
	if state == "" {
		return nil, nil
	}
	text, err := place.ReadPolicy(goodFile(state, path, layer))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// keepGood keeps the text durably.
func keepGood(state, path string, layer floor.Layer, text []byte) error {
	if state == "" {
		return nil
	}
	return place.Replace(goodFile(state, path, layer), text, 0o600)
}

// Notify has f called when a policy of the workspace may have changed.
func (p *Files) Notify(workspace string, f func()) (stop func()) {
	n := &notice{workspace: workspace, f: f}
	p.mu.Lock()
	p.asked[n] = struct{}{}
	p.attend()
	p.mu.Unlock()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.asked, n)
		if path := place.ProjectPolicy(n.workspace); n.workspace != "" && p.files.State != "" && !p.wanted(path) {
			p.drop(path)
		}
		p.attend()
	}
}

// attend watches the folders of the files that somebody wants to be told of:
// the file's own, and the one above while that is not there.
func (p *Files) attend() {
	want := make(map[string]bool)
	add := func(path string) {
		if path == "" {
			return
		}
		dir := filepath.Dir(path)
		want[filepath.Dir(dir)] = true
		want[dir] = true
	}
	if len(p.asked) > 0 {
		add(p.files.Operator)
		add(p.files.Managed)
	}
	for n := range p.asked {
		if n.workspace != "" {
			add(place.ProjectPolicy(n.workspace))
		}
	}
	for _, dir := range p.watcher.WatchList() {
		if !want[dir] {
			_ = p.watcher.Remove(dir) // it may be gone
		}
		delete(want, dir)
	}
	for dir := range want {
		_ = p.watcher.Add(dir) // it may not be there yet
	}
}

// listen tells of changes until the watcher is closed. Whatever has come meanwhile
// is looked at once.
func (p *Files) listen() {
	for {
		names, lost := map[string]bool{}, false
		select {
		case ev, ok := <-p.watcher.Events:
			if !ok {
				return
			}
			names[ev.Name] = true
		case _, ok := <-p.watcher.Errors:
			if !ok {
				return
			}
			lost = true // events were
		}
		for more := true; more; {
			select {
			case ev, ok := <-p.watcher.Events:
				if more = ok; ok {
					names[ev.Name] = true
				}
			default:
				more = false
			}
		}
		p.changed(names, lost)
	}
}

// changed tells those whom something in those places concerns, and whose policies
// say something else than when they were told last: whoever only touches a file
// would have calls judged anew without end.
func (p *Files) changed(names map[string]bool, lost bool) {
	var concerned []*notice
	p.mu.Lock()
	p.attend() // a folder may have come
	for n := range p.asked {
		for _, path := range p.paths(n) {
			if path != "" && (lost || names[path] || names[filepath.Dir(path)]) {
				concerned = append(concerned, n)
				break
			}
		}
	}
	p.mu.Unlock()
	prints := make(map[string]string)
	var tell []func()
	for _, n := range concerned {
		now := [3]string{}
		for i, path := range p.paths(n) {
			if _, known := prints[path]; !known {
				prints[path] = print(path, [3]floor.Layer{floor.Operator, floor.Managed, floor.Project}[i])
			}
			now[i] = prints[path]
		}
		if now != n.told { // this goroutine alone has it
			n.told = now
			tell = append(tell, n.f)
		}
	}
	for _, f := range tell {
		f()
	}
}

// paths are the files of a notice.
func (p *Files) paths(n *notice) (paths [3]string) {
	paths = [3]string{p.files.Operator, p.files.Managed}
	if n.workspace != "" {
		paths[2] = place.ProjectPolicy(n.workspace)
	}
	return paths
}

// print stands for what a file says, or why it says nothing.
func print(path string, layer floor.Layer) string {
	if path == "" {
		return ""
	}
	text, _, err := readPolicy(path, layer)
	if err != nil {
		return err.Error()
	}
	sum := sha256.Sum256(text)
	return string(sum[:])
}
