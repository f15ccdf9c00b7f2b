package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"

	"assent/internal/config"
	"assent/kernel"
)

// program is the file of the classifier's program, which is looked after: what is in
// it holds as soon as it is saved.
type program struct {
	home, folder string // what "~/" and a relative path begin at
	watcher      *fsnotify.Watcher
	done         sync.WaitGroup

	mu   sync.Mutex
	path string // "" for none
}

// openProgram looks after no file yet. changed is called when the file may have
// another text.
func openProgram(home, folder string, changed func()) (*program, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("look after the classifier's program: %w", err)
	}
	p := &program{home: home, folder: folder, watcher: watcher}
	p.done.Go(func() {
		for {
			select {
			case ev, ok := <-watcher.Events:
				if !ok {
					return
				}
				if p.concerns(ev.Name) {
					changed()
				}
			case _, ok := <-watcher.Errors:
				if !ok {
					return
				}
				changed() // events were lost
			}
		}
	})
	return p, nil
}

func (p *program) Close() error {
	err := p.watcher.Close()
	p.done.Wait()
	return err
}

// names are the file and what it is if it is a link. The lock is held.
func (p *program) names() []string {
	if p.path == "" {
		return nil
	}
	names := []string{p.path}
	if real, err := filepath.EvalSymlinks(p.path); err == nil && real != p.path {
		names = append(names, real)
	}
	return names
}

func (p *program) concerns(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.names() {
		if name == n || name == filepath.Dir(n) {
			return true
		}
	}
	return false
}

// read is the program that a configuration names, "" for the one that ships. One that
// cannot be read is none, and no other takes its place (law ruling 17).
func (p *program) read(named string) kernel.Program {
	if named == "" {
		p.mu.Lock()
		p.path = ""
		p.mu.Unlock()
		return kernel.Program{}
	}
	path := config.ProgramPath(named, p.home, p.folder)
	p.mu.Lock()
	p.path = path
	files := p.names()
	for _, name := range files {
		_ = p.watcher.Add(filepath.Dir(name)) // it may not be there yet
		_ = p.watcher.Add(filepath.Dir(filepath.Dir(name)))
	}
	p.mu.Unlock()
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		files = nil // all that is in it is no program
	}
	text, err := config.ReadProgram(path)
	return kernel.Program{Name: path, Text: text, Err: err, Files: files}
}
