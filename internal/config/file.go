package config

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
	"time"

	"github.com/fsnotify/fsnotify"

	"assent/internal/place"
)

// State is what a file says now.
type State struct {
	// Config is in force: what the file says, or, while it is broken, what it
	// said last. The warnings are those of a file that is not broken.
	Config Config
	// Good says that Config was read, or that there was no file; else it is the
	// zero one, for the file has been broken since it was opened.
	Good bool
	// Err says what is wrong with the file, nil for nothing.
	Err error
	// Source is another one for each text of the file, "" while it is broken: the
	// same text after that was saved anew.
	Source string
}

// File is a config.json that is looked after. Its methods may be called at once.
type File struct {
	path    string
	changed func(State)
	settle  time.Duration // how long a broken text must stand to be told

	mu    sync.Mutex // held while the file is read or written and told of
	text  []byte     // as last read; nil for no file
	state State

	watcher *fsnotify.Watcher
	done    sync.WaitGroup
}

// Open reads a file, which need not be there, and looks after it until Close.
// changed is told what the file says whenever that is something else than
// before, one after the other and never while Open runs. It must not call
// methods of the File.
//
// A file that is broken at the start gives the zero Config: the strictest.
func Open(path string, changed func(State)) (*File, error) { return open(path, changed, settle) }

// settle is how long a file must stay broken for that to be told: who saves it in
// place empties it first and writes it in pieces. It makes nothing looser, for
// what was in force stays so while a file is broken.
const settle = 200 * time.Millisecond

func open(path string, changed func(State), settle time.Duration) (*File, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("open configuration: %w", err)
	}
	f := &File{path: path, changed: changed, settle: settle, watcher: watcher}
	f.attend() // before reading, so that no change falls in between
	f.read()
	if f.text == nil && f.state.Err == nil {
		f.state = State{Good: true, Source: source(nil)}
		f.state.Config, _ = parsed(path, nil) // that there is none was nothing new, and what it means is
	}
	f.done.Go(f.listen)
	return f, nil
}

// Close ends the looking after. changed is not called after it has returned.
func (f *File) Close() error {
	err := f.watcher.Close()
	f.done.Wait()
	return err
}

// State is what the file said last.
func (f *File) State() State {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

// Reload reads the file now. Nobody needs to call it for the file to be in
// force.
func (f *File) Reload() State {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.attend()
	if f.read() {
		f.changed(f.state)
	}
	return f.state
}

// Set changes one value in the file, durably: the file holds the old text or
// the new one, whatever happens. A broken file is not touched. The state has the
// value when Set returns.
func (f *File) Set(key string, value any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	text, err := read(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("set %s: %w", key, err)
	}
	edited, err := Set(f.path, text, key, value)
	if err != nil {
		if f.read() { // whoever saves it next is to be heard, so that it is broken is told at once
			f.changed(f.state)
		}
		return fmt.Errorf("set %s: %w", key, err)
	}
	if !bytes.Equal(edited, text) {
		if err := write(f.path, edited); err != nil {
			return fmt.Errorf("set %s: %w", key, err)
		}
	}
	if f.read() {
		f.changed(f.state)
	}
	return nil
}

// read reads the file and says whether there is anything new.
func (f *File) read() bool {
	return f.take(readAny(f.path))
}

// take takes what was read, and says whether there is anything new.
func (f *File) take(text []byte, err error) bool {
	if err == nil && f.state.Err == nil && bytes.Equal(text, f.text) && (text == nil) == (f.text == nil) {
		return false
	}
	if err != nil {
		return f.broken(err)
	}
	f.text = text
	c, err := parsed(f.path, text)
	if err != nil {
		return f.broken(err)
	}
	f.state = State{Config: c, Good: true, Source: source(text)}
	return true
}

// source tells texts from one another, nil for no file.
func source(text []byte) string {
	if text == nil {
		return "none"
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Read is what a file says, which need not be there; a broken one has the zero
// Config.
func Read(path string) State {
	text, err := readAny(path)
	if err != nil {
		return State{Err: err}
	}
	c, err := parsed(path, text)
	return State{Config: c, Good: err == nil, Err: err}
}

// parsed is what a text says, nil for no file.
func parsed(path string, text []byte) (Config, error) {
	if text == nil {
		return Config{AskThrottle: DefaultAskThrottle}, nil
	}
	return Parse(path, text)
}

// readAny reads a configuration that need not be there.
func readAny(path string) ([]byte, error) {
	text, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		if link := place.DanglingLink(path); link != "" {
			return nil, fmt.Errorf("%s is a link that leads nowhere", link)
		}
		return nil, nil
	}
	return text, err
}

func (f *File) broken(err error) bool {
	if f.state.Err != nil && f.state.Err.Error() == err.Error() {
		return false
	}
	f.state.Err, f.state.Source = err, ""
	f.state.Config.Warnings = nil // their places are in a text that is gone
	return true
}

// read reads a configuration from a regular file that others cannot write.
func read(path string) ([]byte, error) {
	text, info, err := place.Read(path, maxText, "configuration")
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o002 != 0 {
		return nil, fmt.Errorf("%s: anybody may write it (mode %04o); if nobody else has: chmod o-w %s", path, info.Mode().Perm(), path)
	}
	return text, nil
}

// write replaces a file whole. A link stays a link, and the file it leads to
// is replaced; the mode stays.
func write(path string, text []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return place.Replace(path, text, mode)
}

// attend watches the folder of the file and, where the file is a link, the
// folder it leads to; and the folders above, for a folder may be replaced too.
func (f *File) attend() {
	for path := range f.names() {
		dir := filepath.Dir(path)
		_ = f.watcher.Add(dir) // it may not be there yet
		_ = f.watcher.Add(filepath.Dir(dir))
	}
}

// names are the file, and what it is if it is a link.
func (f *File) names() map[string]bool {
	names := map[string]bool{f.path: true}
	if real, err := filepath.EvalSymlinks(f.path); err == nil {
		names[real] = true
	}
	return names
}

// glance reads the file now, but a text that is broken only if it has been so
// for a while, and says whether there is such a one.
func (f *File) glance() (broken bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.attend()
	text, err := readAny(f.path)
	if err != nil {
		return true
	}
	if _, err := parsed(f.path, text); err != nil {
		return true
	}
	if f.take(text, nil) {
		f.changed(f.state)
	}
	return false
}

// listen reads the file when something happens about it, until the watcher is
// closed.
func (f *File) listen() {
	settled := time.NewTimer(f.settle)
	settled.Stop()
	defer settled.Stop()
	for {
		select {
		case ev, ok := <-f.watcher.Events:
			if !ok {
				return
			}
			for name := range f.names() {
				if ev.Name == name || ev.Name == filepath.Dir(name) {
					if settled.Stop(); f.glance() {
						settled.Reset(f.settle)
					}
					break
				}
			}
		case <-settled.C:
			f.Reload()
		case _, ok := <-f.watcher.Errors:
			if !ok {
				return
			}
			f.Reload() // events were lost
		}
	}
}
