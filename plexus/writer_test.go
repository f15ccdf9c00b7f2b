package plexus

import "testing"

func TestWriterFor(t *testing.T) {
	host := Writer{Host, "kernel"}
	for _, asked := range []Writer{{Human, "ada"}, {Agent, "root/1.2"}, {Human, "ada for agent:x"}} {
		w := host.For(asked)
		if got, ok := w.Asked(); !ok || got != asked || w.Role != Host {
			t.Errorf("%v.For(%v).Asked() = %v, %v", host, asked, got, ok)
		}
		if back, err := ParseWriter(w.String()); err != nil || back != w {
			t.Errorf("%q is read as %v, %v", w, back, err)
		}
	}
	for _, w := range []Writer{host, {Host, "kernel for nobody"}, {Human, "kernel for human:ada"}, {}} {
		if got, ok := w.Asked(); ok {
			t.Errorf("%v.Asked() = %v, want nobody", w, got)
		}
	}
}
