package api

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"assent/front/api/wire"
	"assent/plexus"
)

const lease = 45 * time.Second

// eyes is a machine with what it published, at a time that only the test moves.
type eyes struct {
	looking
	start, now time.Time
	ids        map[string]string // of the watches, by what a script calls them
	shown      map[string]string // "SESSION NAME" to since when
}

func newEyes() *eyes {
	e := &eyes{start: time.Unix(1e9, 0).UTC(), ids: make(map[string]string), shown: make(map[string]string)}
	e.now = e.start
	e.looking = looking{lease: lease, publish: func(session, key, value string) {
		key = session + " " + strings.TrimPrefix(key, "looking/")
		if value == "" {
			delete(e.shown, key)
			return
		}
		since, err := time.Parse(time.RFC3339Nano, value)
		if err != nil {
			panic(err)
		}
		e.shown[key] = since.Sub(e.start).String()
	}}
	return e
}

func human(name string) plexus.Writer { return plexus.Writer{Role: plexus.Human, Name: name} }

// play does a line of a script: what happened, or what is shown then.
func (e *eyes) play(t *testing.T, line string) {
	t.Helper()
	word := strings.Fields(line)
	switch word[0] {
	case "comes": // WATCH NAME [SESSION]
		session := ""
		if len(word) > 3 {
			session = word[3]
		}
		by := human(word[2])
		if name, ok := strings.CutPrefix(word[2], "agent:"); ok {
			by = plexus.Writer{Role: plexus.Agent, Name: name}
		}
		e.ids[word[1]] = e.comes(by, session, e.now)
	case "hears": // WATCH NAME -> yes or no
		if got := fmt.Sprint(e.hears(e.ids[word[1]], human(word[2]), e.now)); got != map[string]string{"yes": "true", "no": "false"}[word[3]] {
			t.Errorf("%s: %s", line, got)
		}
	case "goes": // WATCH
		e.goes(e.ids[word[1]])
	case "after": // SPAN, and time passes unnoticed
		d, err := time.ParseDuration(word[1])
		if err != nil {
			t.Fatal(err)
		}
		e.now = e.now.Add(d)
	case "looks": // the machine is told the time
		e.passes(e.now)
	case "shown": // SESSION NAME SINCE, ... or nothing
		var got []string
		for _, key := range slices.Sorted(maps.Keys(e.shown)) {
			got = append(got, strings.TrimSpace(key+" "+e.shown[key]))
		}
		if got, want := strings.Join(got, ", "), strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "shown")); got != want {
			t.Errorf("%s\nshown %s", line, got)
		}
	default:
		t.Fatalf("what is %q?", line)
	}
}

// Who looks, in every order in which things may happen.
func TestLookingRaces(t *testing.T) {
	for why, script := range map[string]string{
		"it comes with the watch and goes with its end": `
			comes w ada s
			shown s ada 0s
			goes w
			shown`,
		"all sessions are one": `
			comes w ada
			shown ada 0s`,
		"an agent does not look": `
			comes w agent:hook s
			shown
			hears w hook no
			shown`,
		"who says nothing for the lease is away, and not before": `
			comes w ada s
			after 44s
			looks
			shown s ada 0s
			after 1s
			looks
			shown`,
		"signs of life hold it": `
			comes w ada s
			after 44s
			hears w ada yes
			after 44s
			looks
			shown s ada 0s`,
		"a late sign, which comes before the clock: away, and back from now on": `
			comes w ada s
			after 60s
			hears w ada yes
			shown s ada 1m0s`,
		"a late sign, which comes after the clock: the same": `
			comes w ada s
			after 60s
			looks
			shown
			hears w ada yes
			shown s ada 1m0s`,
		"the end before the last sign: nobody is back": `
			comes w ada s
			goes w
			hears w ada no
			shown`,
		"the end of one that is away": `
			comes w ada s
			after 60s
			looks
			goes w
			shown`,
		"one of two watches of a person dies": `
			comes one ada s
			after 5s
			comes two ada s
			shown s ada 0s
			goes one
			shown s ada 5s
			goes two
			shown`,
		"one of two is not heard: the other holds": `
			comes one ada s
			after 30s
			comes two ada s
			after 20s
			looks
			shown s ada 30s
			hears one ada yes
			shown s ada 30s`,
		"two people do not hold each other": `
			comes one ada s
			comes two bob s
			shown s ada 0s, s bob 0s
			goes one
			shown s bob 0s`,
		"a token is not its person": `
			comes one ada s
			comes two ada@phone s
			goes one
			shown s ada@phone 0s`,
		"another's sign holds nobody": `
			comes one ada s
			after 44s
			hears one bob no
			after 1s
			looks
			shown`,
		"sessions apart": `
			comes one ada s
			comes two ada t
			goes one
			shown t ada 0s`,
		"an end twice": `
			comes one ada s
			comes two ada s
			goes one
			goes one
			shown s ada 0s`,
		"a clock that goes back makes nobody older": `
			comes w ada s
			after -1h
			hears w ada yes
			looks
			after 1h
			after 44s
			looks
			shown s ada 0s
			after 1s
			looks
			shown`,
	} {
		t.Run(why, func(t *testing.T) {
			e := newEyes()
			for line := range strings.Lines(script) {
				if strings.TrimSpace(line) != "" {
					e.play(t, line)
				}
			}
		})
	}
}

// Whatever happens in whatever order: shown are the people with a watch that was
// heard within the lease, and nobody else, and what is listed is what is shown.
func TestLookingIsWhatIsHeard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type watch struct {
			name, session string
			heard         time.Time
		}
		e, open := newEyes(), map[string]*watch{}
		names, sessions := []string{"ada", "bob"}, []string{"", "s"}
		any := func() (string, *watch) {
			if len(open) == 0 {
				return "", nil
			}
			id := rapid.SampledFrom(slices.Sorted(maps.Keys(open))).Draw(t, "watch")
			return id, open[id]
		}
		t.Repeat(map[string]func(*rapid.T){
			"comes": func(t *rapid.T) {
				w := &watch{rapid.SampledFrom(names).Draw(t, "name"), rapid.SampledFrom(sessions).Draw(t, "session"), e.now}
				open[e.comes(human(w.name), w.session, e.now)] = w
			},
			"an agent comes": func(t *rapid.T) {
				if id := e.comes(plexus.Writer{Role: plexus.Agent, Name: "ada"}, "s", e.now); id != "" {
					t.Fatal("an agent looks")
				}
			},
			"hears": func(t *rapid.T) {
				id, w := any()
				by := rapid.SampledFrom(names).Draw(t, "by")
				if got, want := e.hears(id, human(by), e.now), w != nil && w.name == by; got != want {
					t.Fatalf("heard: %v, want %v", got, want)
				} else if got {
					w.heard = e.now
				}
			},
			"goes": func(t *rapid.T) {
				id, _ := any()
				e.goes(id)
				delete(open, id)
			},
			"time": func(t *rapid.T) {
				e.now = e.now.Add(time.Duration(rapid.IntRange(0, 50).Draw(t, "seconds")) * time.Second)
			},
			"": func(t *rapid.T) {
				e.passes(e.now)
				want := map[string]bool{}
				for _, w := range open {
					if e.now.Sub(w.heard) < lease {
						want[w.session+" "+w.name] = true
					}
				}
				if got := slices.Sorted(maps.Keys(e.shown)); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
					t.Fatalf("shown %q, want %v", got, want)
				}
				list := e.all()
				for _, l := range list {
					if got := e.shown[l.Session+" "+l.Name]; got != l.Since.Sub(e.start).String() {
						t.Fatalf("listed %+v, shown %q", l, got)
					}
				}
				if len(list) != len(want) || !slices.IsSortedFunc(list, func(a, b wire.Looker) int { return cmp.Compare(a.Since.UnixNano(), b.Since.UnixNano()) }) {
					t.Fatalf("listed %+v, want %v", list, want)
				}
			},
		})
	})
}

// Time passes by itself while a watch stands: within the lease and one beat
// nobody is shown who is not heard.
func TestLookingPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEyes()
		began := time.Now()
		id := e.comes(human("ada"), "s", began)
		go e.pass(t.Context(), lease/leases)
		for range 10 {
			time.Sleep(lease - time.Second)
			synctest.Wait()
			if !e.hears(id, human("ada"), time.Now()) || e.all()[0].Since != began.UTC() {
				t.Fatalf("%v: %+v", time.Since(began), e.all())
			}
		}
		time.Sleep(lease + lease/leases)
		synctest.Wait()
		if all := e.all(); len(all) != 0 {
			t.Errorf("still looking: %+v", all)
		}
	})
}
