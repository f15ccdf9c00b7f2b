// Package tui is the terminal of a person who is asked: it gives package prompt
// what the kernel and the keyboard say, and does what comes out of it. It decides
// nothing.
//
// An answer is a field of the document, written by the client that everybody uses
// (law §12: there is no approve call).
//
// Start reading at [Run].
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"assent/front/api/client"
	"assent/front/prompt"
)

// Options of a terminal.
type Options struct {
	// Client asks the kernel. It should start none: one that a person ended would
	// come back by itself.
	Client *client.Client
	// Settings are those at the start; Changes has later ones, until Run returns.
	Settings prompt.Settings
	Changes  <-chan prompt.Settings
	// Coloured says whether there are colours.
	Coloured bool
	In       *os.File
	Out      *os.File
}

// Run shows the prompt until the person quits, or ctx is done. The terminal is
// left as it was.
func Run(ctx context.Context, opts Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &program{ctx: ctx, opts: opts, machine: prompt.New(opts.Settings)}
	set := []tea.ProgramOption{tea.WithContext(ctx), tea.WithInput(opts.In), tea.WithOutput(opts.Out)}
	if opts.Settings.Plain {
		set = append(set, tea.WithoutRenderer())
		leave, err := raw(opts)
		if err != nil {
			return err
		}
		defer leave()
		if width, height, err := term.GetSize(opts.Out.Fd()); err == nil {
			set = append(set, tea.WithWindowSize(width, height))
		}
	}
	t := tea.NewProgram(p, set...)
	var feeding sync.WaitGroup
	feeding.Go(func() { follow(ctx, opts.Client, func(e prompt.Event) { t.Send(e) }) })
	feeding.Go(func() {
		for {
			select {
			case s := <-opts.Changes:
				t.Send(prompt.Set{Settings: s})
			case <-ctx.Done():
				return
			}
		}
	})
	_, err := t.Run()
	ended := ctx.Err() != nil
	cancel()
	feeding.Wait()
	switch {
	case errors.Is(err, tea.ErrInterrupted), ended && errors.Is(err, tea.ErrProgramKilled):
		return nil
	case err != nil:
		return fmt.Errorf("the terminal: %w", err)
	}
	return nil
}

// raw has keys come as they are pressed, where bubbletea draws nothing and leaves
// the terminal alone.
func raw(opts Options) (leave func(), err error) {
	state, err := term.MakeRaw(opts.In.Fd())
	if err != nil {
		return nil, fmt.Errorf("the terminal: %w", err)
	}
	brackets := os.Getenv("TERM") != "dumb"
	if brackets {
		_, _ = io.WriteString(opts.Out, ansi.SetModeBracketedPaste)
	}
	return func() {
		if brackets {
			_, _ = io.WriteString(opts.Out, ansi.ResetModeBracketedPaste)
		}
		_, _ = io.WriteString(opts.Out, "\r\n")
		_ = term.Restore(opts.In.Fd(), state)
	}, nil
}

// program is the prompt as bubbletea runs it.
type program struct {
	ctx     context.Context
	opts    Options
	machine *prompt.Machine
	queue   time.Time // when the queue is read next, at the earliest
}

func (p *program) Init() tea.Cmd { return nil }

// Update takes what bubbletea says.
func (p *program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var e prompt.Event
	switch msg := msg.(type) {
	case prompt.Event:
		e = msg
	case tea.KeyPressMsg:
		e = keyOf(msg.Key())
	case tea.PasteMsg:
		e = prompt.Paste{Text: msg.Content}
	case tea.WindowSizeMsg:
		e = prompt.Size{Width: msg.Width, Height: msg.Height}
	default:
		return p, nil
	}
	now := time.Now()
	var todo []tea.Cmd
	for _, o := range p.machine.Step(now, e) {
		todo = append(todo, p.command(now, o))
	}
	if said := p.machine.Said(); said != "" {
		// The terminal is raw: a line feed alone does not go to its beginning.
		_, _ = io.WriteString(p.opts.Out, strings.ReplaceAll(said, "\n", "\r\n"))
	}
	return p, tea.Batch(todo...)
}

// keyOf is a key by what it writes, or by its name.
func keyOf(k tea.Key) prompt.Key {
	name := k.Keystroke()
	if k.Text != "" && k.Text != " " && k.Mod&^(tea.ModShift|tea.ModCapsLock|tea.ModNumLock) == 0 {
		name = k.Text
	}
	if k.Mod&(tea.ModCtrl|tea.ModAlt|tea.ModMeta|tea.ModHyper|tea.ModSuper) != 0 {
		k.Text = ""
	}
	return prompt.Key{Name: name, Text: k.Text, Repeat: k.IsRepeat}
}

// View draws the screen.
func (p *program) View() tea.View {
	s := p.machine.View()
	var b strings.Builder
	for i, l := range s.Lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.Text(p.opts.Coloured))
	}
	v := tea.NewView(b.String())
	v.AltScreen = true
	if s.Typing {
		v.Cursor = tea.NewCursor(s.Column, s.Row)
	}
	return v
}

// command is an order as bubbletea does it.
func (p *program) command(now time.Time, o prompt.Order) tea.Cmd {
	switch o := o.(type) {
	case prompt.Wake:
		return tea.Tick(o.At.Sub(now), func(time.Time) tea.Msg { return prompt.Tick{} })
	case prompt.Quit:
		return tea.Quit
	case prompt.Ring:
		if p.opts.Settings.Plain { // nothing else writes there
			_, _ = io.WriteString(p.opts.Out, "\a")
			return nil
		}
		return tea.Raw("\a")
	case prompt.Suspend:
		if p.opts.Settings.Plain {
			return nil // the terminal would stay raw
		}
		return tea.Suspend
	}
	wait := time.Duration(0)
	if _, ok := o.(prompt.GetQueue); ok {
		wait = p.queue.Sub(now)
		p.queue = now.Add(max(0, wait) + apart)
	}
	return func() tea.Msg {
		if wait > 0 {
			timer := time.NewTimer(wait)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-p.ctx.Done():
			}
		}
		ctx, cancel := context.WithTimeout(p.ctx, patience)
		defer cancel()
		return do(ctx, p.opts.Client, o)
	}
}

// apart is how long lies between two readings of the queue: agents that do much at
// once have it read a few times a second, and not for each row.
const apart = 100 * time.Millisecond

// patience is how long the kernel may take to answer.
const patience = 30 * time.Second
