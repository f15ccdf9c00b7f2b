package scheme

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The programs under testdata test themselves.
func TestPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/*.scm")
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			m := New(Limits{})
			m.Output = &out
			if _, err := m.Run(context.Background(), file, string(text)); err != nil {
				t.Error(err)
			}
			if !strings.Contains(out.String(), " 0 failed") || strings.Contains(out.String(), "0 passed") {
				t.Error(out.String())
			}
		})
	}
}

// The test library of testdata must be able to fail.
func TestFailuresAreTold(t *testing.T) {
	var out strings.Builder
	m := New(Limits{})
	m.Output = &out
	_, err := m.Run(context.Background(), "test", `(import (chibi test)) (test-begin "t") (test 1 2) (test 1 (car 2)) (test-error 1) (car 3) (test 4 4) (test-end)`)
	if err != nil {
		t.Fatal(err)
	}
	if want := "1 passed, 4 failed"; !strings.Contains(out.String(), want) {
		t.Errorf("got %q, want %q in it", out.String(), want)
	}
}

// Errors say where, in the text of the program, and what.
func TestErrors(t *testing.T) {
	tests := []struct{ why, program, want string }{
		{"a name", "(define a 1)\n  (+ a b)", "p:2:3: b is not defined"},
		{"a primitive", "(define (f x)\n  (vector-ref x 9))\n(f (vector 1))", "p:2:3: vector-ref: there is no item 9 in a vector of 1"},
		{"a call", "(define (f x) x)\n (f)", "p:2:2: f takes 1 argument, not 0"},
		{"no procedure", "\n(1 2)", "p:2:1: 1 is no procedure"},
		{"an end that is missing", "(a\n (b)", "p:1:1: the list that begins here has no end"},
		{"a ) too many", "1\n )", "p:2:3: a ) without its ("},
		{"a text without end", "\"abc", "p:1:1: the \" that begins here has no end"},
		{"a form", "(if)", "p:1:1: if: something is missing"},
		{"a form in a form", "(define (f)\n  (let ((a)) 1))", "p:2:3: let: (a) is no name with a value"},
		{"raised", "(raise 'oops)", "p:1:1: raised: oops"},
		{"error", `(error "too many:" 3 "x")`, `p:1:1: too many: 3 "x"`},
		{"a macro", "(define-syntax m (syntax-rules () ((_ a) a)))\n(m 1 2)", "p:2:1: no rule of the macro fits (m 1 2)"},
		{"a word out of place", "(list (define x 1))", "p:1:7: define: a definition cannot stand here"},
		{"no library", "(import (srfi 1))", "p:1:1: import: there is no library (srfi 1) here"},
		{"no files", `(open-input-file "/etc/passwd")`, `p:1:1: open-input-file: programs here have no files "/etc/passwd"`},
		{"what the host says", "(host)", "p:1:1: the host refuses"},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			m := New(Limits{})
			m.Define("host", 0, 0, func(context.Context, []Value) (Value, error) { return nil, errors.New("the host refuses") })
			v, err := m.Run(context.Background(), "p", test.program)
			if err == nil {
				t.Fatalf("gives %s", Write(v))
			}
			if err.Error() != test.want {
				t.Errorf("got  %s\nwant %s", err, test.want)
			}
		})
	}
}

func TestHost(t *testing.T) {
	m := New(Limits{})
	m.Define("join", 0, -1, func(_ context.Context, args []Value) (Value, error) {
		var parts []string
		for _, a := range args {
			parts = append(parts, Display(a))
		}
		return Text(strings.Join(parts, "-")), nil
	})
	m.Define("fail", 0, 0, func(context.Context, []Value) (Value, error) { return nil, errors.New("it failed") })
	m.Define("end", 0, 0, func(context.Context, []Value) (Value, error) { return nil, Fatal(errors.New("it is over")) })
	v, err := m.Run(context.Background(), "p", `(define (twice x) (* x 2)) (list (join 1 "a" 'b) (guard (e (#t (error-object-message e))) (fail)))`)
	if got, want := Write(v), `("1-a-b" "it failed")`; err != nil || got != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	twice, ok := m.Global("twice")
	if !ok {
		t.Fatal("twice is not defined")
	}
	if v, err := m.Call(context.Background(), twice, int64(21)); err != nil || v != int64(42) {
		t.Errorf("got %v, %v; want 42", v, err)
	}
	if _, err := m.Run(context.Background(), "p", `(guard (e (#t 'caught)) (end))`); err == nil || !strings.Contains(err.Error(), "it is over") {
		t.Errorf("got %v: a fatal error was caught", err)
	}
}

// The public conformance tests of R7RS, where a copy is at hand. The cases
// that fail are those of complex numbers, of files and of the environment.
func TestConformance(t *testing.T) {
	file := os.Getenv("R7RS_TESTS")
	if file == "" {
		t.Skip("R7RS_TESTS does not name a copy of r7rs-tests.scm")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	m := New(Limits{})
	m.Output = &out
	_, err = m.Run(context.Background(), "r7rs-tests.scm", string(text))
	t.Log(out.String())
	if err != nil {
		t.Error(err)
	}
}

func BenchmarkFib(b *testing.B) {
	m := New(Limits{Steps: 1 << 60})
	if _, err := m.Run(context.Background(), "p", `(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))`); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := m.Run(context.Background(), "p", `(fib 20)`); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New(Limits{})
	}
}
