package kernel

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

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

	mu    sync.Mutex
	known map[string]*policyFile // by path
	asked map[*notice]struct{}

	watcher *fsnotify.Watcher
	done    sync.WaitGroup
}

type notice struct {
	workspace string
	f         func()
}

// policyFile is a policy as it was last read.
type policyFile struct {
	path  string
	layer floor.Layer

	// mu is of this file alone: whoever could keep one from being read in its time
	// would keep all calls from being judged.
	mu sync.Mutex

	loaded  bool
	text    []byte        // as last read, nil when it could not be
	err     error         // what is wrong with it
	policy  *floor.Policy // in force: what text says, or what is left of the last good
	unknown bool          // it said something, and what it denied is not known

	good    []byte // the last good text, nil for none
	goodErr error  // why it could not be read
	kept    bool   // it is in State
}

// OpenPolicies starts looking after policies.
func OpenPolicies(files PolicyFiles) (*Files, error) {
	p := &Files{files: files, known: make(map[string]*policyFile), asked: make(map[*notice]struct{})}
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
	l.Floor.Own = p.own
	l.Floor.Operator = p.layer(&l, p.files.Operator, floor.Operator)
	l.Floor.Managed = p.layer(&l, p.files.Managed, floor.Managed)
	if workspace != "" {
		l.Floor.Project = p.layer(&l, place.ProjectPolicy(workspace), floor.Project)
	}
	return l
}

func (p *Files) layer(l *Layers, path string, layer floor.Layer) *floor.Policy {
	if path == "" {
		return nil
	}
	f := p.file(path, layer)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read(p.files.State)
	if f.err != nil {
		l.Errors = append(l.Errors, fmt.Sprintf("the %s policy: %v", layer, f.err))
	}
	l.Unknown = l.Unknown || f.unknown
	l.Missing = l.Missing || layer == floor.Operator && f.policy == nil && f.err == nil
	return f.policy
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
	return f
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
func (f *policyFile) read(state string) {
	if !f.loaded {
		f.good, f.goodErr = lastGood(state, f.path, f.layer)
		f.kept = f.good != nil
		f.loaded = true
	}
	text, err := readPolicy(f.path, f.layer)
	missing := errors.Is(err, fs.ErrNotExist)
	if missing {
		if link := place.DanglingLink(f.path); link != "" {
			missing, err = false, fmt.Errorf("%s is a link that leads nowhere", link)
		}
	}
	switch {
	case missing && f.good == nil && f.goodErr == nil:
		f.text, f.policy, f.err, f.unknown = nil, nil, nil, false
	case missing:
		f.text = nil
		f.fallBack(fmt.Errorf("%s: %w", f.path, errGone))
	case err != nil:
		f.text = nil
		f.fallBack(fmt.Errorf("it is not in force: %w", err))
	case f.text != nil && bytes.Equal(f.text, text):
		f.keep(state)
	default:
		f.text = text
		policy, err := floor.ParseLayer(f.path, text, f.layer)
		if err != nil {
			f.fallBack(fmt.Errorf("it is not in force: %w", err))
			return
		}
		f.policy, f.err, f.unknown = policy, nil, false
		f.kept = f.kept && bytes.Equal(f.good, text)
		f.good, f.goodErr = text, nil
		f.keep(state)
	}
}

// maxProject is how long the policy of a project may be, in bytes: an agent can
// write one, and others wait while it is read.
const maxProject = 256 << 10

func readPolicy(path string, layer floor.Layer) ([]byte, error) {
	if layer != floor.Project {
		return place.ReadPolicy(path)
	}
	text, _, err := place.Read(path, maxProject, "policy of a project")
	return text, err
}

// fallBack leaves the denies and blocks of the last good text in force.
func (f *policyFile) fallBack(err error) {
	f.policy, f.err, f.unknown = nil, err, true
	if f.goodErr != nil {
		f.err = fmt.Errorf("%w; its last good text: %w", err, f.goodErr)
		return
	}
	if f.good == nil {
		return
	}
	policy, goodErr := floor.ParseLayer(f.path, f.good, f.layer)
	if goodErr != nil { // of an older version's language
		f.err = fmt.Errorf("%w; its last good text: %w", err, goodErr)
		return
	}
	f.policy, f.unknown = policy.LastGood(), false
	if !errors.Is(err, errGone) { // which says so
		f.err = fmt.Errorf("%w; until it is mended, what its last good text asked about, denied and blocked still is: taking the file away does not change that", err)
	}
}

// keep keeps the text in force as the last good one. While that cannot be done
// it is said, and tried again: after a restart its denies would be missed.
func (f *policyFile) keep(state string) {
	if f.kept || f.policy == nil || !bytes.Equal(f.good, f.text) {
		return
	}
	f.err = nil
	if err := keepGood(state, f.path, f.layer, f.good); err != nil {
		f.err = fmt.Errorf("it is in force, but would not be remembered: %w", err)
		return
	}
	f.kept = true
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
	n := &notice{workspace, f}
	p.mu.Lock()
	p.asked[n] = struct{}{}
	p.attend()
	p.mu.Unlock()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.asked, n)
		if path := place.ProjectPolicy(n.workspace); n.workspace != "" && p.files.State != "" && !p.wanted(path) {
			delete(p.known, path) // its last good text is in State
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

// listen tells of changes until the watcher is closed.
func (p *Files) listen() {
	for {
		select {
		case ev, ok := <-p.watcher.Events:
			if !ok {
				return
			}
			p.changed(ev.Name)
		case _, ok := <-p.watcher.Errors:
			if !ok {
				return
			}
			p.changed("") // events were lost
		}
	}
}

// changed tells those whom something in that place concerns.
func (p *Files) changed(name string) {
	var tell []func()
	p.mu.Lock()
	p.attend() // a folder may have come
	for n := range p.asked {
		for _, path := range []string{p.files.Operator, p.files.Managed, place.ProjectPolicy(n.workspace)} {
			if path != "" && (name == "" || name == path || name == filepath.Dir(path)) {
				tell = append(tell, n.f)
				break
			}
		}
	}
	p.mu.Unlock()
	for _, f := range tell {
		f()
	}
}
