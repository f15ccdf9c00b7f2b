package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"assent/front/api"
	"assent/front/api/client"
	"assent/front/api/wire"
	"assent/plexus"
)

func TestShorten(t *testing.T) {
	const sign = "… (cut: 99 bytes in all)"
	for _, test := range []struct{ why, begin, want string }{
		{"in a text", `{"command":"ls -l /a/very/lo`, `{"command":"ls -l /a/very/lo` + sign + `"}`},
		{"in an escape", `{"a":"x\u00`, `{"a":"x` + sign + `"}`},
		{"after a stroke", `{"a":"x\`, `{"a":"x` + sign + `"}`},
		{"in half a pair", `{"a":"x\ud83d\ude`, `{"a":"x` + sign + `"}`},
		{"in a name", `{"a":"b","lon`, `{"a":"b","…":"` + sign + `"}`},
		{"after a name", `{"a":"b","long"`, `{"a":"b","…":"` + sign + `"}`},
		{"after a colon", `{"a":"b","long": `, `{"a":"b","…":"` + sign + `"}`},
		{"after a comma", `{"a":"b",`, `{"a":"b","…":"` + sign + `"}`},
		{"in a number", `{"a":12`, `{"…":"` + sign + `"}`},
		{"in a list", `{"a":[1,2,"x`, `{"a":[1,2,"x` + sign + `"]}`},
		{"between members of a list", `[1,2`, `[1,"` + sign + `"]`},
		{"in what is nested", `{"a":{"b":[{"c":1},`, `{"a":{"b":[{"c":1},"` + sign + `"]}}`},
		{"at the beginning", `{`, `{"…":"` + sign + `"}`},
		{"a text alone", `"abc`, `"abc` + sign + `"`},
		{"a number alone", `123`, `"` + sign + `"`},
		{"a name that is the sign's", `{"…":1,"b`, `{"…":"` + sign + `"}`},
	} {
		if got := string(api.Shorten(test.begin, 99)); got != test.want {
			t.Errorf("%s: %s is %s, want %s", test.why, test.begin, got, test.want)
		}
	}
}

// Wherever a value is cut, what stands for it is one of the same kind, with the
// sign, and little longer.
func TestWhatIsCutIsAValue(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) any {
		text := rapid.SampledFrom([]string{"", "x", `"`, `\`, "…", "ä", "😀", "\x01", "a,b:{[", " "})
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return rapid.Float64().Draw(t, "number")
		case 1:
			return strings.Join(rapid.SliceOf(text).Draw(t, "text"), "")
		case 2:
			return rapid.SliceOfN(text, 0, 5).Draw(t, "list")
		case 3:
			return map[string]any{"a": rapid.SliceOfN(text, 0, 3).Draw(t, "inner"), text.Draw(t, "name"): true, "z": nil}
		}
		return []any{map[string]any{text.Draw(t, "name"): []any{1, nil, text.Draw(t, "inner")}}, false}
	})
	rapid.Check(t, func(t *rapid.T) {
		whole, err := json.Marshal(value.Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		begin := string(whole[:rapid.IntRange(1, len(whole)).Draw(t, "cut")])
		for !utf8.ValidString(begin) {
			begin = begin[:len(begin)-1]
		}
		if begin == "" {
			return
		}
		got := api.Shorten(begin, len(whole))
		var v any
		if err := json.Unmarshal(got, &v); err != nil {
			t.Fatalf("%s is %s: %v", begin, got, err)
		}
		if c := whole[0]; (c == '{' || c == '[' || c == '"') && got[0] != c {
			t.Fatalf("%s is %s", begin, got)
		}
		if !strings.Contains(string(got), fmt.Sprintf("cut: %d bytes", len(whole))) || len(got) > len(begin)+100 {
			t.Fatalf("%s is %s", begin, got)
		}
	})
}

// Lists have the beginning of what an agent wrote, however long that is, and
// say so; the call itself has all of it. What is too much for one answer comes in
// several.
func TestListsHaveTheBeginnings(t *testing.T) {
	w := newWorld(t, api.Options{})
	w.session("s", "manual")
	long := strings.Repeat("x", 100<<10)
	arguments, outcome := `{"a":"`+long+`"}`, `{"ok":true,"text":"`+long+`"}`
	const many = 30
	host := plexus.Writer{Role: plexus.Host, Name: "kernel"}
	for i := range many {
		id := fmt.Sprint("done", i)
		if _, err := w.doc.Apply(t.Context(), plexus.Tx{Writer: host, Writes: []plexus.Row{
			plexus.Job{Session: "s", ID: id, Name: "other", Arguments: arguments},
			plexus.Field{Session: "s", Job: id, Name: plexus.Cancelled, Value: plexus.True},
			plexus.Field{Session: "s", Job: id, Name: plexus.OutcomeJSON, Value: outcome},
			plexus.Field{Session: "s", Job: id, Name: plexus.Completed, Value: plexus.True},
		}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.doc.Apply(t.Context(), plexus.Tx{Writer: host, Writes: []plexus.Row{plexus.Job{Session: "s", ID: "asks", Name: "other", Arguments: arguments}}}); err != nil {
		t.Fatal(err)
	}
	w.until("s", "asks", plexus.PolicyResult)

	brief := func(what string, value []byte, cut map[string]int, name string, whole int) {
		t.Helper()
		if len(value) > plexus.BriefText+100 || cut[name] != whole || !strings.Contains(string(value), "(cut: ") {
			t.Errorf("%s: %d bytes of %s, cut %v", what, len(value), name, cut)
		}
	}
	calls, err := w.client.Calls(t.Context(), client.CallFilter{Session: "s"})
	if err != nil || len(calls.Calls) != many+1 || calls.More {
		t.Fatalf("%d calls, %v", len(calls.Calls), err)
	}
	for _, call := range calls.Calls {
		brief(call.Job, call.Arguments, call.Cut, "arguments", len(arguments))
		if call.Job != "asks" {
			brief(call.Job, call.Outcome, call.Cut, "outcomeJson", len(outcome))
		}
	}
	queue, err := w.client.Queue(t.Context(), "s")
	if err != nil || len(queue.Queue) != 1 {
		t.Fatalf("%+v, %v", queue, err)
	}
	brief("queue", queue.Queue[0].Arguments, queue.Queue[0].Cut, "arguments", len(arguments))
	doc, err := w.client.Session(t.Context(), "s")
	if err != nil || len(doc.Jobs) != many+1 {
		t.Fatalf("%d jobs, %v", len(doc.Jobs), err)
	}
	brief("session", doc.Jobs[0].Leaf.OutcomeJSON, doc.Jobs[0].Cut, "outcomeJson", len(outcome))

	job, err := w.client.Job(t.Context(), "s", "done0")
	if err != nil || string(job.Arguments) != arguments || string(job.Leaf.OutcomeJSON) != outcome || job.Cut != nil {
		t.Errorf("the call itself: cut %v, %v", job.Cut, err)
	}

	pages, rows, after := 0, 0, wire.Rev(0)
	for {
		page, err := w.client.Rows(t.Context(), after, "")
		if err != nil {
			t.Fatal(err)
		}
		bytes := 0
		for _, row := range page.Rows {
			if rows++; row.Rev != wire.Rev(rows) || row.Cut != nil {
				t.Fatalf("row %d is rev %d, cut %v", rows, row.Rev, row.Cut)
			}
			if row.Field != nil {
				bytes += len(row.Field.Value)
			}
		}
		if pages++; bytes > 5<<20 {
			t.Errorf("%d bytes in one answer", bytes)
		}
		if after = page.Next; !page.More {
			break
		}
	}
	if pages < 2 {
		t.Errorf("%d rows came in %d answers", rows, pages)
	}
	for event, err := range w.client.Watch(t.Context(), "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if len(event.Rows) == 0 || event.Rows[0].Job == nil {
			continue
		}
		brief("watch", event.Rows[0].Job.Arguments, event.Rows[0].Cut, "arguments", len(arguments))
		brief("watch", event.Rows[2].Field.Value, event.Rows[2].Cut, "value", len(outcome))
		break
	}
}

// What is too much for one answer comes in several, and the client asks for all
// of them.
func TestListsComeInSeveralAnswers(t *testing.T) {
	w := newWorld(t, api.Options{})
	w.session("s", "manual")
	const many = 700
	long := strings.Repeat("x", plexus.BriefText)
	tx := plexus.Tx{Writer: plexus.Writer{Role: plexus.Host, Name: "kernel"}}
	for i := range many {
		id := fmt.Sprint("done", i)
		tx.Writes = append(tx.Writes,
			plexus.Job{Session: "s", ID: id, Name: "other", Arguments: `{"a":"` + long + `"}`},
			plexus.Field{Session: "s", Job: id, Name: plexus.Cancelled, Value: plexus.True},
			plexus.Field{Session: "s", Job: id, Name: plexus.OutcomeJSON, Value: `"` + long + `"`},
			plexus.Field{Session: "s", Job: id, Name: plexus.Completed, Value: plexus.True})
	}
	if _, err := w.doc.Apply(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	status, body := w.raw("GET /v1/calls?limit=10000 HTTP/1.1\r\nHost: assent\r\nConnection: close\r\n\r\n")
	if status != 200 || len(body) > 6<<20 || !strings.Contains(body, `"more":true`) {
		t.Errorf("one answer: %d, %d bytes", status, len(body))
	}
	calls, err := w.client.Calls(t.Context(), client.CallFilter{Limit: 10_000})
	if err != nil || len(calls.Calls) != many || calls.More {
		t.Fatalf("%d calls, more %v, %v", len(calls.Calls), calls.More, err)
	}
	for i, call := range calls.Calls {
		if want := fmt.Sprint("done", many-1-i); call.Job != want {
			t.Fatalf("call %d is %s, want %s", i, call.Job, want)
		}
	}
}

// A session, and its registers, come in several answers too, each of some megabytes
// at most, however much there is.
func TestSessionComesInSeveralAnswers(t *testing.T) {
	w := newWorld(t, api.Options{})
	w.session("s", "manual")
	w.session("other", "manual")
	const many = 1500
	long := `"` + strings.Repeat("x", plexus.BriefText) + `"`
	host := plexus.Writer{Role: plexus.Host, Name: "kernel"}
	var want []string
	tx := plexus.Tx{Writer: host}
	for i := range many {
		id := fmt.Sprint("done", i)
		tx.Writes = append(tx.Writes,
			plexus.Job{Session: "s", ID: id, Name: "other", Ord: int64(i % 3), Arguments: `{"a":` + long + `}`},
			plexus.Field{Session: "s", Job: id, Name: plexus.Cancelled, Value: plexus.True},
			plexus.Field{Session: "s", Job: id, Name: plexus.OutcomeJSON, Value: long},
			plexus.Field{Session: "s", Job: id, Name: plexus.Completed, Value: plexus.True},
			plexus.Register{Session: "s", Name: plexus.HostRegister(fmt.Sprintf("%04d", i)), Value: `["` + strings.Repeat("y", 2*plexus.BriefText) + `"]`})
	}
	for ord := range 3 {
		for i := ord; i < many; i += 3 {
			want = append(want, fmt.Sprint("done", i))
		}
	}
	if _, err := w.doc.Apply(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	tx.Writes = nil
	for _, path := range []string{"/v1/sessions/s", "/v1/sessions/s/registers"} {
		status, body := w.raw("GET " + path + " HTTP/1.1\r\nHost: assent\r\nConnection: close\r\n\r\n")
		if status != 200 || len(body) > 7<<20 || !strings.Contains(body, `"more":true`) {
			t.Errorf("one answer of %s: %d, %d bytes", path, status, len(body))
		}
	}
	doc, err := w.client.Session(t.Context(), "s")
	if err != nil || doc.More || !doc.MoreRegisters {
		t.Fatalf("more %v, more registers %v, %v", doc.More, doc.MoreRegisters, err)
	}
	var got []string
	for _, job := range doc.Jobs {
		got = append(got, job.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d jobs, in another order", len(got))
	}
	if r := doc.Registers[0]; r.Name != "host/0000" || r.Cut["value"] != 2*plexus.BriefText+4 || len(r.Value) > plexus.BriefText+100 || len(doc.Registers) > many/2 {
		t.Errorf("%d registers, the first %s with %d bytes, cut %v", len(doc.Registers), r.Name, len(r.Value), r.Cut)
	}
	all, err := w.client.Registers(t.Context(), "s")
	if err != nil || all.More || len(all.Registers) != many+1 || len(all.Registers[many].Value) != 2*plexus.BriefText+4 || all.Registers[many].Cut != nil {
		t.Errorf("%d registers, more %v, %v", len(all.Registers), all.More, err)
	}
	page, err := w.client.SessionPage(t.Context(), "s", doc.Jobs[2].Stamp.Rev, 2)
	if err != nil || len(page.Jobs) != 2 || !page.More || page.Jobs[0].ID != want[3] || page.Jobs[1].ID != want[4] {
		t.Errorf("a page: %d jobs, %v", len(page.Jobs), err)
	}
	last, err := w.client.SessionPage(t.Context(), "s", doc.Jobs[many-1].Stamp.Rev, 2)
	if err != nil || len(last.Jobs) != 0 || last.More {
		t.Errorf("behind the last: %d jobs, %v", len(last.Jobs), err)
	}
	if _, err := w.client.SessionPage(t.Context(), "other", doc.Jobs[2].Stamp.Rev, 2); !errors.Is(err, wire.NoJob) {
		t.Errorf("after a job of another session: %v", err)
	}
}

// Of a long queue the session tells the first.
func TestSessionTellsTheFirstOfItsQueue(t *testing.T) {
	w := newWorld(t, api.Options{})
	w.session("s", "manual")
	const many = 1100
	for i := range many {
		if _, err := w.client.Admit(t.Context(), "s", wire.NewJob{ID: fmt.Sprint("c", i), Name: "Bash", Arguments: bash("other")}); err != nil {
			t.Fatal(err)
		}
	}
	w.until("s", fmt.Sprint("c", many-1), plexus.PolicyResult)
	doc, err := w.client.SessionPage(t.Context(), "s", 0, 1)
	if err != nil || doc.Waiting != many || len(doc.ApprovalQueue) != 1000 || doc.ApprovalQueue[0] != "c0" || len(doc.Jobs) != 1 || !doc.Jobs[0].Leaf.NeedsHuman {
		t.Errorf("%d wait, %d are told with %d jobs, %v", doc.Waiting, len(doc.ApprovalQueue), len(doc.Jobs), err)
	}
}
