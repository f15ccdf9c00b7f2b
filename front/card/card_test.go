package card

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"assent/front/api/wire"
	"assent/internal/oneline"
)

var update = flag.Bool("update", false, "write the golden files anew")

var now = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

func p[T any](v T) *T { return &v }

func stamp(rev int64, writer string) wire.Stamp {
	return wire.Stamp{Rev: rev, Writer: writer, At: now.Add(time.Duration(rev-100) * time.Second)}
}

// asked is a call that waits for a person.
func asked(name, cluster, arguments, explanation, message string) wire.Job {
	return wire.Job{
		Session: "1Q7KVXM2ZP4TJWNA", ID: "2Q7KVXM2ZP4TJWNA", Name: name, Stamp: stamp(42, "agent:claude-3321"), Arguments: jsontext.Value(arguments),
		Leaf: &wire.Leaf{
			PolicyResult: p("ask"), PolicyMessage: p(message), Explanation: jsontext.Value(explanation), Cluster: cluster, NeedsHuman: true,
			Written: map[string]wire.Stamp{"policyResult": stamp(43, "host:kernel")},
		},
	}
}

func about() About {
	return About{
		Session: &wire.Summary{Session: wire.Session{ID: "1Q7KVXM2ZP4TJWNA", Seat: "attended", Client: "Claude Code", Workspace: "/home/you/src/shop", Cwd: "/home/you/src/shop/web"}, CurrentPolicy: "manual"},
		Now:     now,
	}
}

// cards are those of the golden files.
func cards() map[string]Card {
	out := make(map[string]Card)
	out["command"] = Of(asked("Bash", "bash", `{"description":"Deploy","command":"# all of it\nmake deploy --stage=\"prod\" &&\n  rm -rf build/old-and-very-long-name-of-a-folder/with/another/one","timeout":120000}`,
		`{"result":"ask","cluster":"bash","hatch":false,"effects":[{"kind":"run","target":"make deploy --stage=prod","result":"ask","rule":"policy.yaml:4","says":"run ask: make deploy"},{"kind":"delete","target":"build/old-and-very-long-name-of-a-folder/with/another/one","notes":["and all below"],"result":"allow","rule":"shipped:workspace","says":"delete allow: build"}],"message":"Ask before anything goes out."}`,
		"Ask before anything goes out."), about())

	job := asked("file_write", "write", `{"path":"web/main.go","content":"package main\n\n// main is here.\nfunc main() {\n\tprintln(\"hello\")\n}\n"}`,
		`{"effects":[{"kind":"write","target":"web/main.go","result":"ask","rule":"default","says":"writing in the workspace is asked about"}],"preview":{"text":"--- a/web/main.go\n+++ b/web/main.go\n@@ -1,4 +1,6 @@\n package main\n \n-func main() {}\n+// main is here.\n+func main() {\n+\tprintln(\"hello\")\n+}\n"}}`,
		"Asks first: it writes web/main.go.")
	job.Kind = "FileMutateToolJob"
	under := about()
	under.Under = []wire.Job{{ID: "p1", Kind: "ProgrammaticJob"}, {ID: "t1", Kind: "SessionTurn"}}
	under.Parents = []wire.Summary{{Session: wire.Session{ID: "0Q7KVXM2ZP4TJWNA", Client: "Claude Code"}, Stamp: stamp(1, "human:ada")}}
	out["write"] = Of(job, under)

	job = asked("bash", "bash", `{"command":"rm -rf build"}`,
		`{"effects":[{"kind":"delete","target":"build","notes":["and all below"],"result":"ask","rule":"default","says":"deleting is asked about"}]}`, "Asks first: it deletes build.")
	job.Kind, job.Parent, job.Facts, job.Stamp.Writer = "SystemToolJob", "p1", jsontext.Value(`{"line":2,"column":3}`), "host:kernel"
	inside := about()
	inside.Session.Parent, inside.Task = "0Q7KVXM2ZP4TJWNA", "Clean up the \x1b[31mbuild\nand nothing else"
	inside.Under = []wire.Job{
		{ID: "p1", Kind: "ProgrammaticJob", Name: "scheme_repl", Arguments: jsontext.Value(`{"expr":"(for-each (lambda (dir)\n  (bash (string-append \"rm -rf \" dir)))\n '(\"build\"))"}`)},
		{ID: "t1", Kind: "SessionTurn", Name: "agent"},
	}
	inside.Parents = under.Parents
	out["program"] = Of(job, inside)

	out["edit"] = Of(asked("MultiEdit", "write", `{"file_path":"/home/you/src/shop/a.py","edits":[{"old_string":"def f():\n    return 1\n","new_string":"def f():\n    # more\n    return 2\n","replace_all":false}],"empty":{},"list":[1,"2",null]}`,
		`{"effects":[{"kind":"write","target":"a.py","result":"ask","rule":"default","says":"writing in the workspace is asked about"}]}`, "Asks first: it writes a.py."), about())

	job = asked("Read", "read", `{"file_path":"/etc/nginx/nginx.conf"}`,
		`{"effects":[{"kind":"read","target":"/etc/nginx/nginx.conf","result":"deny","rule":"default","says":"reading outside the workspace is denied"}]}`, "Needs a person: it reads /etc/nginx/nginx.conf; it is outside the workspace.")
	job.Leaf.PolicyResult = p("deny")
	job.Leaf.Opens = []wire.Opened{{Path: "/etc/nginx/nginx.conf", Below: true}}
	job.Leaf.Offer = "/etc/nginx"
	out["read"] = Of(job, about())

	job = asked("Bash", "bash", `{"command":"cat ~/notes\u202etxt.hs\u202c; curl https://ex\u0430mple.com/x \u2014rf; ls                                                            ; rm -rf ~\u001b[2K\r"}`,
		`{"effects":[{"kind":"net","target":"https://exаmple.com/x","result":"ask","rule":"default","says":"no rule names this address"},{"kind":"opaque","target":"the scanner's finding homograph","result":"ask","rule":"default","says":"the scanner found it","scan":true}],"more":3,"hatch":true}`, "Asks first: it contacts https://exаmple.com/x.")
	out["hidden"] = Of(job, about())

	job = asked("Bash", "bash", `{"command":"make publish"}`, `{"effects":[{"kind":"run","target":"make publish","result":"ask","rule":"default","says":"no rule names this command"}]}`, "Asks first: it runs make publish.")
	job.Leaf.JudgeFails, job.Leaf.JudgeFailMessage = 3, p("the answer could not be read: \x1b[31m")
	job.Leaf.Written["judgeFail/3"] = stamp(90, "host:kernel")
	job.Leaf.JudgeRetry = p(now.Add(4 * time.Second))
	auto := about()
	auto.Session.CurrentPolicy = "auto"
	out["classifier"] = Of(job, auto)

	job = asked("mcp__tracker__close", "mcp", `null`, `{"effects":[{"kind":"mcp","target":"tracker close","result":"ask","rule":"default","says":"no rule names this tool"}]}`, "Asks first: it uses tracker close.")
	job.Leaf.NeedsHuman = false
	job.Leaf.Approved, job.Leaf.ApprovalComment = p(false), p("not on a Friday")
	job.Leaf.OrchestrationResult, job.Leaf.LicenseReason, job.Leaf.Completed = p(false), p("person-refused"), p(true)
	job.Leaf.OutcomeJSON = jsontext.Value(`{"ok":false,"text":"User refused this tool use"}`)
	for i, name := range []string{"approved", "approvalComment", "orchestrationResult", "completed"} {
		by := "host:kernel"
		if i < 2 {
			by = "human:ada"
		}
		job.Leaf.Written[name] = stamp(int64(95+i), by)
	}
	out["answered"] = Of(job, about())

	job = asked("Write", "write", `{"file_path":"x","content":"… (cut: 70000 bytes in all)"}`, `{}`, "Asks first.")
	job.Cut = map[string]int{"arguments": 70000}
	out["cut"] = Of(job, About{Now: now})
	return out
}

func TestCards(t *testing.T) {
	looks := []struct {
		name   string
		look   Look
		colour bool
	}{{"40", Look{Width: 40}, false}, {"80", Look{Width: 80}, false}, {"120", Look{Width: 120}, false}, {"80-colour", Look{Width: 80}, true}, {"plain", Look{Plain: true}, false}}
	for name, c := range cards() {
		for _, l := range looks {
			t.Run(name+"-"+l.name, func(t *testing.T) {
				got := Text(c.Lines(l.look), l.colour)
				if l.colour {
					got = strings.ReplaceAll(got, "\x1b", "␛")
				}
				file := filepath.Join("testdata", name+"-"+l.name+".golden")
				if *update {
					if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
	}
}

// fit says what is wrong with what a card writes, "" for nothing.
func fit(lines []Line, most int) string {
	for _, l := range lines {
		text := l.Text(false)
		if !utf8.ValidString(text) {
			return fmt.Sprintf("%q is no UTF-8", text)
		}
		for _, r := range text {
			if oneline.Unseen(r) && r != ' ' || r < ' ' {
				return fmt.Sprintf("%q in %q", r, text)
			}
		}
		if n := ansi.StringWidth(text); most > 0 && (n > most || l.Columns() > most) {
			return fmt.Sprintf("%d columns, %d as terminals count, in %q", l.Columns(), n, text)
		}
	}
	return ""
}

// Whatever a call says, nothing of it steers a terminal, and no line is wider
// than there is room: what stands beyond would not be seen.
func FuzzCard(f *testing.F) {
	f.Add("rm -rf ~\x1b[2J\u202e", "exаmple", `{"effects":[{"kind":"run","target":"a\u200bb"}]}`, 40)
	f.Add("日本語\t\xff👩‍👩‍👧 é́́́́\U0001F1E9\U0001F1EA नमस्ते", "a\nb", `{"preview":{"text":"--- a\n+++ b\n@@ x\n-1\n+2"}}`, 61)
	f.Fuzz(func(t *testing.T, command, name, explanation string, width int) {
		width = 40 + int(uint(width)%100)
		arguments, err := jsontext.AppendQuote(nil, command)
		if err != nil {
			arguments = []byte(`"x"`)
		}
		key, err := jsontext.AppendQuote(nil, name)
		if err != nil {
			key = []byte(`"k"`)
		}
		text := fmt.Sprintf(`{"command":%s,%s:[%s,{"old_string":%s,"new_string":%s}]}`, arguments, key, arguments, arguments, key)
		job := asked(name, name, text, explanation, command)
		job.Session, job.Stamp.Writer = name, "agent:"+command
		job.Leaf.JudgeFailMessage, job.Leaf.Offer = &command, name
		c := Of(job, about())
		c.About.Session.Client, c.About.Session.Cwd = command, name
		for _, look := range []Look{{Width: width}, {Width: width, Plain: true}, {Plain: true}, {}} {
			lines := c.Lines(look)
			if wrong := fit(lines, look.Width); wrong != "" {
				t.Fatal(wrong)
			}
		}
	})
}

// All of a call is shown: what is put together again from its lines is what was
// asked.
func TestNothingIsLeftOut(t *testing.T) {
	word := strings.Repeat("0123456789", 40)
	command := "echo " + word + "\n" + strings.Repeat("x", 5000) + "\ntail"
	quoted, _ := jsontext.AppendQuote(nil, command)
	c := Of(asked("Bash", "bash", `{"command":`+string(quoted)+`}`, `{}`, ""), about())
	for _, width := range []int{40, 41, 80, 200} {
		var got strings.Builder
		for _, l := range c.Lines(Look{Width: width}) {
			text := l.Text(false)
			if before, after, ok := strings.Cut(text, " │ "); ok {
				if strings.TrimSpace(before) != "1" {
					got.WriteByte('\n')
				}
				got.WriteString(after)
			} else if _, after, ok := strings.Cut(text, " ┆ "); ok {
				got.WriteString(after)
			}
		}
		if got.String() != command {
			t.Errorf("at %d columns: %q", width, got.String())
		}
	}
}

func TestSee(t *testing.T) {
	for _, row := range []struct{ why, in, want, words string }{
		{"right-to-left", "a\u202eb", "a⟨U+202E⟩b", "a (right-to-left override, U+202E) b"},
		{"hebrew-is-bounded", "rm -rf b; \u05d1", "rm -rf b; ⟨rtl⟩\u05d1⟨/rtl⟩", "rm -rf b;  (right to left: ) \u05d1 (end of it) "},
		{"words-from-right-to-left", "\u05d0\u05b8\u05d1 1 \u0627b", "⟨rtl⟩\u05d0\u05b8\u05d1⟨/rtl⟩ 1 ⟨rtl⟩\u0627⟨/rtl⟩b", ""},
		{"a-script-nobody-mixes", "\u2d4fs -\u2d4f", "\u2d4f⟨U+2D4F like l⟩s -\u2d4f⟨U+2D4F like l⟩", ""},
		{"a-roman-number", "\u217cs", "\u217c⟨U+217C like l⟩s", ""},
		{"any-other-letter-in-a-word", "pa\u1c5ey", "pa\u1c5e⟨U+1C5E like ?⟩y", ""},
		{"lisu-canadian-coptic", "\ua4d0\ua4e1 \u1455 \u2c9f\u2ca3", "\ua4d0⟨U+A4D0 like B⟩\ua4e1⟨U+A4E1 like L⟩ \u1455⟨U+1455 like C⟩ \u2c9f⟨U+2C9F like o⟩\u2ca3⟨U+2CA3 like p⟩", ""},
		{"japanese-beside-latin", "日本語abc ไทยabc 한글abc", "日本語abc ไทยabc 한글abc", ""},
		{"escape", "\x1b[2J", "⟨U+001B⟩[2J", " (escape, U+001B) [2J"},
		{"no-text", "a\xff", "a⟨byte FF⟩", "a (byte FF, which is no text) "},
		{"cyrillic-in-latin", "pаypal", "pа⟨U+0430 like a⟩ypal", "pа (U+0430, which looks like a) ypal"},
		{"cyrillic-that-is-no-lookalike", "hеllф", "hе⟨U+0435 like e⟩llф⟨U+0444 like ?⟩", "hе (U+0435, which looks like e) llф (U+0444, which looks like ?) "},
		{"a-word-of-lookalikes", "cd сору", "cd с⟨U+0441 like c⟩о⟨U+043E like o⟩р⟨U+0440 like p⟩у⟨U+0443 like y⟩", ""},
		{"russian-is-no-deceit", "это просто слово а", "это просто слово а", "это просто слово а"},
		{"greek-is-none", "καλημέρα", "καλημέρα", ""},
		{"fullwidth", "ｒm", "ｒ⟨U+FF52 like r⟩m", ""},
		{"fullwidth-in-chinese", "你好，世界", "你好，世界", ""},
		{"slash", "a∕b", "a∕⟨U+2215 like /⟩b", ""},
		{"dash-of-an-option", "rm —rf x", "rm —⟨U+2014 like -⟩rf x", ""},
		{"dash-of-prose", "this — that", "this — that", ""},
		{"many-blanks", "a" + strings.Repeat(" ", 60) + "b", "a⟨60 blanks⟩b", "a (60 blanks) b"},
		{"blank-at-the-end", "a ", "a⟨1 blank⟩", "a (1 blank) "},
		{"signs-upon-signs", "e\u0301\u0302\u0303\u0304", "e\u0301\u0302⟨U+0303⟩⟨U+0304⟩", ""},
		{"a-sign-alone", "\u0301", "⟨U+0301⟩", ""},
		{"tag", "a\U000e0061", "a⟨U+E0061⟩", "a (tag character, U+E0061) "},
	} {
		if got := Line(see(row.in, style{edges: true})).Text(false); got != row.want {
			t.Errorf("%s: %q: got %q, want %q", row.why, row.in, got, row.want)
		}
		if got := Line(see(row.in, style{edges: true, plain: true})).Text(false); row.words != "" && got != row.words {
			t.Errorf("%s: %q: got %q, want %q", row.why, row.in, got, row.words)
		}
	}
}

// What is seen for what it is, in a list as on a card.
func TestPlainly(t *testing.T) {
	for text, want := range map[string]bool{
		"make test": true, "echo über 日本": true, "": true,
		"a  b": false, "a\tb": false, " a": false, "a\nb": false, "./a.sh р\u0430ypal": false, "./a.sh \u05d0": false, "a\u200bb": false, "a\xff": false,
	} {
		if got := Plainly(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestExchange(t *testing.T) {
	for _, row := range []struct {
		why, before, after string
		want               []string
	}{
		{"a-line", "a\nb\nc", "a\nx\nc", []string{" a", "-b", "+x", " c"}},
		{"nothing", "", "", nil},
		{"all", "", "a\n", []string{"+a"}},
		{"an-end", "a", "a\n", []string{" a", `\ its last line gets an end`}},
		{"twice-the-same", "a\na\n", "a\n", []string{" a", "-a"}},
	} {
		if diff := cmp.Diff(row.want, exchange(row.before, row.after)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", row.why, diff)
		}
	}
}

// A card of a call as large as calls may be is made in a moment.
func BenchmarkLines(b *testing.B) {
	quoted, _ := jsontext.AppendQuote(nil, strings.Repeat("some text in a line that is long enough to be broken at eighty columns, at least once\n", 10_000))
	c := Of(asked("Write", "write", `{"file_path":"x.go","content":`+string(quoted)+`}`, `{}`, ""), about())
	for b.Loop() {
		c.Lines(Look{Width: 80})
	}
}

// No character takes more columns than are counted for it: what a terminal puts
// beyond the edge is not seen.
func TestEveryCharacterHasRoom(t *testing.T) {
	wrong := 0
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		line := Line(see("a"+string(r)+"b", style{}))
		if text := line.Text(false); ansi.StringWidth(text) > line.Columns() {
			if wrong++; wrong < 20 {
				t.Errorf("%U: %q takes %d columns, and %d are counted", r, text, ansi.StringWidth(text), line.Columns())
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d in all", wrong)
	}
}

// Characters that stand together are taken for one by some terminals.
func TestCharactersTogetherHaveRoom(t *testing.T) {
	signs := []rune("a1 -日é가각\u0301\u200d\ufe0f\u20e3👩👦🏽🇩🇪नि्षالـ\u0e33\u0e49ก\u094d\u0903ᠠ\u180b❤#©⁉㊗\U000e0067\u2060")
	for _, a := range signs {
		for _, b := range signs {
			for _, c := range signs {
				line := Line(see(string([]rune{a, b, c}), style{}))
				if text := line.Text(false); ansi.StringWidth(text) > line.Columns() {
					t.Fatalf("%U: %q takes %d columns, and %d are counted", []rune{a, b, c}, text, ansi.StringWidth(text), line.Columns())
				}
			}
		}
	}
}

// What made the policies ask is on the first screen of a narrow terminal, however
// much else there is: below the line of the views and above that of the keys.
func TestWhatAskedIsSeenAtOnce(t *testing.T) {
	const room = 24 - 2
	lines := func(n int) string { return strings.Repeat("echo\\n", n) + "make deploy" }
	others := strings.Repeat(`{"kind":"run","target":"echo","result":"allow","rule":"shipped:look","says":"run allow: @look"},{"kind":"write","target":"x","result":"ask","rule":"default","says":"writing in the workspace is asked about"},`, 30)
	for _, test := range []struct{ why, command, others, message string }{
		{"short", "make deploy", "", "Asks first: it runs make deploy."},
		{"a few lines", lines(3), "", strings.Repeat("word ", 30)},
		{"a long call", lines(100), "", "Asks first: it runs make deploy."},
		{"a long message", "make deploy", "", strings.Repeat("word ", 300)},
		{"all of it is long", lines(100), others, strings.Repeat("word ", 300)},
	} {
		for _, name := range []string{"Bash", "mcp__" + strings.Repeat("long", 12)} {
			job := asked(name, "bash", `{"command":"`+test.command+`"}`,
				`{"effects":[`+test.others+`{"kind":"run","target":"make deploy","result":"ask","rule":"shipped:send","says":"run ask: @send","decides":true}]}`, test.message)
			for i, l := range Of(job, about()).Lines(Look{Width: 40}) {
				if strings.HasPrefix(l.Text(false), "  ask   run    make deploy") {
					if i >= room {
						t.Errorf("%s: it is line %d of the card", test.why, i+1)
					}
					break
				}
			}
		}
	}
}

// What an agent says of its calls is no place in a program of the host's.
func TestWhereACallStandsIsTheHostsToSay(t *testing.T) {
	program := wire.Job{ID: "p1", Kind: "ProgrammaticJob", Name: "scheme_repl", Arguments: jsontext.Value(`{"expr":"(bash \"ls\")"}`)}
	for _, test := range []struct {
		why, writer, parent, facts string
		kind                       string
		want                       int
	}{
		{"the host's", "host:kernel", "p1", `{"line":1}`, "ProgrammaticJob", 1},
		{"an agent's", "agent:x", "p1", `{"line":1}`, "ProgrammaticJob", 0},
		{"a person's", "human:ada", "p1", `{"line":1}`, "ProgrammaticJob", 0},
		{"in another", "host:kernel", "p2", `{"line":1}`, "ProgrammaticJob", 0},
		{"in a turn", "host:kernel", "p1", `{"line":1}`, "SessionTurn", 0},
		{"behind its end", "host:kernel", "p1", `{"line":2}`, "ProgrammaticJob", 0},
		{"nowhere", "host:kernel", "p1", `{}`, "ProgrammaticJob", 0},
	} {
		of := program
		of.Kind = test.kind
		c := Of(wire.Job{ID: "j", Parent: test.parent, Facts: jsontext.Value(test.facts), Stamp: stamp(1, test.writer)}, About{Under: []wire.Job{of}})
		if line, _ := c.stands(of); line != test.want {
			t.Errorf("%s: line %d, want %d", test.why, line, test.want)
		}
	}
}
