package scheme

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// hosted is a machine with a procedure that says where it was called, and one that
// fails.
func hosted() (*Machine, *[]string) {
	m, said := New(Limits{}), new([]string)
	m.Define("say", 0, -1, func(_ context.Context, args []Value) (Value, error) {
		*said = append(*said, fmt.Sprintf("%s %s", m.At(), Write(List(args...))))
		return int64(len(*said)), nil
	})
	m.Define("fail", 0, -1, func(context.Context, []Value) (Value, error) {
		return nil, Raise(&Condition{Message: "no", Irritants: []Value{m.Symbol("why"), int64(1)}})
	})
	return m, said
}

// Where a call stands is told in the text of the program, whatever stands between.
func TestWhereAProcedureOfTheHostIsCalled(t *testing.T) {
	for _, test := range []struct{ why, program, want string }{
		{"by itself", "(say 1)", "[1:1 (1)]"},
		{"in a procedure", "(define (f x)\n  (+ 1 (say x)))\n(f 2)", "[2:8 (2)]"},
		{"by a procedure of the language", "(define x 1)\n\n (for-each say '(1 2))", "[3:2 (1) 3:2 (2)]"},
		{"by that, in one of the program's", "(map\n (lambda (x) (say x)) '(1))", "[2:14 (1)]"},
		{"by apply", "\n(apply say 1 '(2))", "[2:1 (1 2)]"},
		{"in a macro", "(define-syntax m (syntax-rules () ((_ x) (say x))))\n(m 3)", "[2:1 (3)]"},
		{"each once, in any place of a call", "(define (id x) x) (list (say 1) (id (say 2)) (say 3) (call/cc (lambda (k) (k (say 4)))))",
			"[1:25 (1) 1:37 (2) 1:46 (3) 1:78 (4)]"},
	} {
		t.Run(test.why, func(t *testing.T) {
			m, said := hosted()
			if _, err := m.Run(t.Context(), "p", test.program); err != nil || fmt.Sprint(*said) != test.want {
				t.Errorf("%s\ngot  %v, %v\nwant %s", test.program, *said, err, test.want)
			}
		})
	}
}

// An error of a procedure of the language stands where the program called it.
func TestErrorsStandInTheProgram(t *testing.T) {
	_, err := New(Limits{}).Run(t.Context(), "p", "(define x 1)\n\n(for-each car '(1 2))")
	if want := "p:3:1: car: argument 1 is 1, not a pair"; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestWhatAHostRaises(t *testing.T) {
	m, _ := hosted()
	v, err := m.Run(t.Context(), "p", `(guard (e ((error-object? e) (list (error-object-message e) (error-object-irritants e)))) (fail))`)
	if got, want := Write(v), `("no" (why 1))`; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	_, err = m.Run(t.Context(), "p", "\n (fail)")
	var e *Error
	if !errors.As(err, &e) || e.Error() != "p:2:2: no why 1" {
		t.Errorf("got %v", err)
	}
	if c, ok := e.Raised.(*Condition); !ok || len(c.Irritants) != 2 {
		t.Errorf("raised %v", e.Raised)
	}
}

func TestWhatIsKnown(t *testing.T) {
	m, _ := hosted()
	if _, err := m.Run(t.Context(), "p", "(define mine 1) 'word"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"say": true, "car": true, "if": true, "guard": true, "mine": true, "word": false, "never": false, "%map1": false} {
		if m.Knows(name) != want {
			t.Errorf("%s: got %v", name, !want)
		}
	}
}

// What a host gives is counted before it can be reached.
func TestWhatAHostGivesIsCounted(t *testing.T) {
	m := New(Limits{Memory: 1 << 20})
	m.Define("much", 0, 0, func(context.Context, []Value) (Value, error) {
		items := make([]Value, 1000)
		for i := range items {
			items[i] = List(Text(string(make([]byte, 1000))))
		}
		return NewVector(items...), nil
	})
	if _, err := m.Run(t.Context(), "p", "(much) 1"); !errors.Is(err, ErrMemory) {
		t.Errorf("got %v", err)
	}
}
