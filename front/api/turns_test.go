package api_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"assent/front/api"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/kernel"
	"assent/plexus"
)

// peak watches how much memory is in use, until the returned function says how
// much it was at most.
func peak(t *testing.T) (most func() uint64) {
	t.Helper()
	stop := make(chan struct{})
	var highest uint64
	var done sync.WaitGroup
	done.Go(func() {
		look := time.NewTicker(2 * time.Millisecond)
		defer look.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			highest = max(highest, m.HeapInuse)
			select {
			case <-look.C:
			case <-stop:
				return
			}
		}
	})
	return func() uint64 {
		close(stop)
		done.Wait()
		return highest
	}
}

// An agent that has the most it may have is told so, by a code and in words; people
// see it in the status, and answer.
func TestAgentHasTheMost(t *testing.T) {
	w := newWorld(t, api.Options{})
	w.session("s", "manual")
	w.admit("s", "open", "other")
	w.until("s", "open", plexus.PolicyResult)
	if err := w.kernel.Configure(t.Context(), kernel.Settings{AgentBytes: 1}); err != nil {
		t.Fatal(err)
	}
	_, err := w.agent.Admit(t.Context(), "s", wire.NewJob{ID: "more", Name: "Bash"})
	if p, ok := errors.AsType[*wire.Problem](err); !ok || p.Status != 429 || !errors.Is(err, wire.Quota) || !strings.Contains(p.Detail, "agentMegabytes in config.json") {
		t.Errorf("got %v", err)
	}
	st, err := w.client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s := st.Kernel.Storage; len(s.Agents) != 1 || s.Agents[0].Agent != hook.Name || s.Agents[0].Waiting != 1 || s.Agents[0].Bytes < 100 || s.AgentBytes != 1 || s.Reserve == 0 {
		t.Errorf("the status tells %+v", s)
	}
	if _, err := w.client.Answer(t.Context(), "s", "open", false, ""); err != nil {
		t.Error(err)
	}
}

// However much an agent sends at once and asks for at once, it takes the memory
// of a few such requests.
func TestAgentsTakeLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("moves hundreds of megabytes")
	}
	nothingLeft(t)
	w := newWorld(t, api.Options{})
	w.session("s", "manual")
	w.admit("s", "open", "other")
	w.admit("s", "let", "let it")
	w.until("s", "open", plexus.PolicyResult)
	w.until("s", "let", plexus.OrchestrationResult)
	const at = 12
	outcome := []byte(`"` + strings.Repeat("y", 15<<20) + `"`)
	var mine runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&mine)
	all := func(head string, body []byte, want func(status, n int) bool) (most uint64) {
		t.Helper()
		high := peak(t)
		var each sync.WaitGroup
		for range at {
			each.Go(func() {
				conn, err := net.Dial("unix", w.socket)
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
				each.Go(func() {
					if _, err := io.WriteString(conn, head); err == nil {
						_, _ = conn.Write(body) // it may be refused unread
					}
				})
				if status, n := short(conn); !want(status, n) {
					t.Errorf("%s: %d and %d bytes", head, status, n)
				}
			})
		}
		each.Wait()
		return high()
	}
	report := func(leaf string) string {
		length := fmt.Sprintf("Content-Length: %d", len(outcome))
		return request("POST", "/v1/sessions/s/jobs/"+leaf+"/report", "", "Authorization: Bearer hook", "Content-Type: application/json", length)
	}
	const bound = 500 << 20
	most := all(report("open"), outcome, func(status, _ int) bool { return status == 409 || status == 0 })
	t.Logf("unlicensed: %d MiB", most>>20)
	if most > mine.HeapInuse+50<<20 {
		t.Errorf("reports on what is not licensed took %d MiB", most>>20)
	}
	taken := 0
	var mu sync.Mutex
	most = all(report("let"), outcome, func(status, _ int) bool {
		mu.Lock()
		defer mu.Unlock()
		if status == 200 {
			taken++
		}
		return status == 200 || status == 409 || status == 408 || status == 429 || status == 0
	})
	t.Logf("licensed: %d MiB", most>>20)
	if most > mine.HeapInuse+bound || taken != 1 {
		t.Errorf("reports took %d MiB; %d were taken", most>>20, taken)
	}
	most = all(request("GET", "/v1/sessions/s/jobs/let/receipt?wait=settled", "", "Authorization: Bearer hook"), nil, func(status, n int) bool { return status == 200 && n > 15<<20 || status == 429 })
	if most > mine.HeapInuse+bound {
		t.Errorf("receipts took %d MiB", most>>20)
	}
	t.Logf("at most %d MiB, %d before", most>>20, mine.HeapInuse>>20)
}

// short is the status of an answer and how long it is.
func short(conn net.Conn) (status, n int) {
	var head [12]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return 0, 0
	}
	_, _ = fmt.Sscanf(string(head[:]), "HTTP/1.1 %d", &status)
	rest, _ := io.Copy(io.Discard, conn)
	return status, int(rest)
}

// Who has a large request under way, and says no more, keeps nobody else from
// one; what is small needs no turn.
func TestTurnsOfAgents(t *testing.T) {
	nothingLeft(t)
	w := newWorld(t, api.Options{Limits: api.Limits{Body: time.Minute}})
	w.session("s", "manual")
	w.session("t", "manual")
	w.admit("s", "j", "let it")
	w.until("s", "j", plexus.OrchestrationResult)
	stuck := w.dial(request("POST", "/v1/sessions/s/jobs/j/report", `"begun`, "Authorization: Bearer hook", "Content-Length: 5000000"))
	settles(t, "it is being read", func() bool {
		ctx := t.Context()
		_, err := w.agent.Status(ctx)
		return err == nil
	})
	other := client.New(w.socket, client.Options{Token: "spy"})
	defer other.Close()
	if _, err := other.Admit(t.Context(), "t", wire.NewJob{ID: "k", Name: "Bash", Arguments: bash("let it")}); err != nil {
		t.Fatal(err)
	}
	w.until("t", "k", plexus.OrchestrationResult)
	if err := other.Report(t.Context(), "t", "k", []byte(`"`+strings.Repeat("x", 2<<20)+`"`)); err != nil {
		t.Errorf("another agent's: %v", err)
	}
	receipt, err := other.Receipt(t.Context(), "t", "k", client.Settled)
	if err != nil || len(receipt.OutcomeJSON) < 2<<20 {
		t.Errorf("%d bytes, %v", len(receipt.OutcomeJSON), err)
	}
	stuck.Close()
	if err := w.agent.Report(t.Context(), "s", "j", []byte(`"`+strings.Repeat("x", 2<<20)+`"`)); err != nil {
		t.Errorf("after the stuck one: %v", err)
	}
}
