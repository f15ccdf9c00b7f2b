package scheme

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
)

// A program ends at its limits, whatever it does about it.
func TestLimits(t *testing.T) {
	small := Limits{Steps: 2_000_000, Depth: 10_000, Memory: 4 << 20, Output: 1000}
	tests := []struct {
		why, program string
		want         error
	}{
		{"a loop", `(let loop () (loop))`, ErrSteps},
		{"a loop that handles everything", `(let loop () (guard (e (#t (loop))) (let inner () (inner))))`, ErrSteps},
		{"a loop in a handler", `(with-exception-handler (lambda (e) (let loop () (loop))) (lambda () (raise 1)))`, ErrSteps},
		{"winding back and forth", `(let ((k #f)) (dynamic-wind (lambda () (call/cc (lambda (c) (set! k c)))) (lambda () #t) (lambda () (k 1))))`, ErrSteps},
		{"calls without end", `(define (f n) (+ 1 (f n))) (f 1)`, ErrDepth},
		{"calls without end, handled", `(define (f n) (+ 1 (guard (e (#t 1)) (f n)))) (f 1)`, ErrDepth},
		{"a list without end", `(let loop ((l '())) (loop (cons 1 l)))`, ErrMemory},
		{"a string that doubles", `(let loop ((s "ab")) (loop (string-append s s)))`, ErrMemory},
		{"a port without end", `(let ((p (open-output-string))) (let loop () (write-string "0123456789012345678901234567890123456789" p) (loop)))`, ErrMemory},
		{"a vector at once", `(make-vector 2000000000 0)`, ErrMemory},
		{"a string at once", `(make-string 2000000000)`, ErrMemory},
		{"bytes at once", `(make-bytevector 2000000000)`, ErrMemory},
		{"a list at once", `(make-list 2000000000 0)`, ErrMemory},
		{"closures that hold what they closed over", `(let loop ((f (lambda () 1))) (let ((v (make-vector 100 f))) (loop (lambda () v))))`, ErrMemory},
		{"continuations that hold frames", `(define all '()) (define (f n) (call/cc (lambda (k) (set! all (cons k all)))) (if (< n 1000) (+ 1 (f (+ n 1))) 0)) (let loop () (f 0) (loop))`, ErrMemory},
		{"names without end", `(let loop ((n 0)) (string->symbol (number->string n)) (loop (+ n 1)))`, ErrMemory},
		{"code without end", `(let loop ((l '())) (loop (cons (eval '(lambda () (list 1 2 3 4 5 6 7 8 9))) l)))`, ErrMemory},
		{"constants in code", `(let loop ((l '())) (loop (cons (eval (list 'lambda '() (list 'quote (make-vector 1000 0)))) l)))`, ErrMemory},
		{"macros without end", `(let loop ((n 0)) (eval (list 'define-syntax (string->symbol (string-append "m" (number->string n))) '(syntax-rules () ((_ a b c d e f g) (a b c d e f g))))) (loop (+ n 1)))`, ErrMemory},
		{"parameters without end", `(define p (make-parameter 1)) (define (f) (parameterize ((p 1)) (+ 1 (f)))) (f)`, ErrDepth},
		{"handlers without end", `(define (f) (with-exception-handler (lambda (e) e) (lambda () (+ 1 (f))))) (f)`, ErrDepth},
		{"a number without end", `(let loop ((n 3)) (loop (* n n)))`, nil},
		{"a power too large", `(expt 2 (expt 2 100))`, ErrMemory},
		{"a power that takes long", `(expt 3 3000000)`, nil},
		{"a macro that expands for ever", `(define-syntax m (syntax-rules () ((_ x) (m (x x))))) (m 1)`, nil},
		{"a macro that only runs for ever", `(define-syntax m (syntax-rules () ((_) (m)))) (m)`, ErrSteps},
		{"output without end", `(let loop () (display "0123456789") (loop))`, ErrOutput},
		{"a long text that is written many times", `(write (make-list 2000 (make-string 20000 #\a)) (open-output-string))`, ErrMemory},
		{"a long name that is written many times", `(write (make-list 2000 (string->symbol (make-string 20000 #\a))) (open-output-string))`, ErrMemory},
		{"long names of records", `(define t (eval (list 'define-record-type (string->symbol (make-string 20000 #\a)) '(make) 'is?))) (write (make-list 2000 (make)) (open-output-string))`, nil},
		{"bytes that are written many times", `(write (make-list 2000 (make-bytevector 20000 1)) (open-output-string))`, ErrMemory},
		{"a circle that is compared", `(define (ring) (let ((l (list 1 2 3))) (set-cdr! (cddr l) l) l)) (let loop ((i 0)) (equal? (ring) (ring)) (loop (+ i 1)))`, ErrSteps},
		{"promises without end", `(force (let loop () (delay-force (loop))))`, ErrSteps},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			m := New(small)
			v, err := m.Run(context.Background(), "test", test.program)
			if err == nil {
				t.Fatalf("gives %s", Write(v))
			}
			var e *Error
			if !errors.As(err, &e) || e.Err == nil {
				t.Fatalf("ends with %v, not at a limit", err)
			}
			if test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("ends with %v, want %v", err, test.want)
			}
		})
	}
}

// Garbage is not counted: a program may run for long in little memory.
func TestGarbageIsFree(t *testing.T) {
	tests := []struct{ why, program string }{
		{"pairs", `(let loop ((i 0)) (if (< i 300000) (begin (list 1 2 3 4) (loop (+ i 1))) 'done))`},
		{"vectors", `(let loop ((i 0)) (if (< i 3000) (begin (make-vector 1000 i) (loop (+ i 1))) 'done))`},
		{"frames and scopes", `(define (count n) (if (= n 0) 0 (+ 1 (count (- n 1))))) (let loop ((i 0)) (if (< i 100) (begin (count 1000) (loop (+ i 1))) 'done))`},
		{"closures", `(let loop ((i 0)) (if (< i 100000) (begin (lambda () i) (loop (+ i 1))) 'done))`},
		{"code", `(let loop ((i 0)) (if (< i 3000) (begin (eval '(let ((a 1)) (+ a 1))) (loop (+ i 1))) 'done))`},
		{"large numbers", `(let loop ((i 0)) (if (< i 1000) (begin (expt 7 1000) (loop (+ i 1))) 'done))`},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			v, err := New(Limits{Memory: 1 << 20}).Run(context.Background(), "test", test.program)
			if err != nil || Write(v) != "done" {
				t.Errorf("gives %v, %v", v, err)
			}
		})
	}
}

// What a program holds at its limit is about what Go holds for it.
func TestCountIsHonest(t *testing.T) {
	programs := map[string]string{
		"pairs":    `(define kept (let loop ((l '()) (i 0)) (if (< i 200000) (loop (cons i l) (+ i 1)) l)))`,
		"vectors":  `(define kept (let loop ((l '()) (i 0)) (if (< i 2000) (loop (cons (make-vector 400 i) l) (+ i 1)) l)))`,
		"closures": `(define kept (let loop ((l '()) (i 0)) (if (< i 50000) (loop (cons (lambda () i) l) (+ i 1)) l)))`,
		"strings":  `(define kept (let loop ((l '()) (i 0)) (if (< i 20000) (loop (cons (make-string 100 #\a) l) (+ i 1)) l)))`,
	}
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			m := New(Limits{})
			before := held()
			if _, err := m.Run(context.Background(), "test", program); err != nil {
				t.Fatal(err)
			}
			took := held() - before
			counted := (&tracer{m: m}).live()
			t.Logf("%d bytes are counted, Go took %d", counted, took)
			if counted < took*7/10 {
				t.Errorf("%d bytes are counted where Go took %d", counted, took)
			}
			runtime.KeepAlive(m)
		})
	}
}

func held() int64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("nobody waits any more")
	m := New(Limits{Steps: 1 << 60})
	m.Define("stop!", 0, 0, func(context.Context, []Value) (Value, error) { cancel(why); return nil, nil })
	_, err := m.Run(ctx, "test", `(guard (e (#t 'caught)) (stop!) (let loop () (loop)))`)
	if !errors.Is(err, why) {
		t.Errorf("ends with %v, want %v", err, why)
	}
	if v, err := m.Run(context.Background(), "test", `(+ 1 2)`); err != nil || v != int64(3) {
		t.Errorf("the machine is of no use afterwards: %v, %v", v, err)
	}
}

// No text makes the machine panic, hang or pass its limits.
func FuzzRun(f *testing.F) {
	for _, s := range []string{`(+ 1 2)`, `'(1 . 2)`, "`(1 ,@(list 2) #(,3))", `#0=(1 . #0#)`, `(define-syntax m (syntax-rules () ((_ (a b ...) ...) '((b ... a) ...)))) (m (1 2) (3))`,
		`(call/cc (lambda (k) (dynamic-wind (lambda () 1) (lambda () (k 2)) (lambda () 3))))`, `(guard (e ((symbol? e) (list e)) (#t => car)) (raise 'x))`,
		`(let-values (((a . b) (values 1 2))) (do ((i 0 (+ i 1))) ((= i 3) b)))`, `(parameterize ((current-output-port (open-output-string))) (write "a\x41;"))`,
		`(define-record-type p (q a) p? (a b c!))`, `(read (open-input-string "(a . b #;c)"))`, `#;#|x|# #\x41 #u8(1 2) |a b|`, `(case 1 ((1 2) => list) (else 3))`,
		`(string->number "#e1e999999999")`, `(exact 1e308)`, `(expt 1.5 1/2)`, `(define-values (a b) (values 1 2))`, `(case-lambda ((a) 1) ((a . b) 2))`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, program string) {
		m := New(Limits{Steps: 20_000, Depth: 500, Memory: 1 << 20, Output: 1000})
		var out strings.Builder
		m.Output = &out
		v, err := m.Run(context.Background(), "fuzz", program)
		if err == nil {
			Write(v)
		} else if err.Error() == "" {
			t.Error("an error says nothing")
		}
		if out.Len() > 1000 {
			t.Errorf("wrote %d bytes", out.Len())
		}
	})
}

// Who is handed a value, or an error, may write it: a small value may hold a long
// text many times.
func TestWhatIsWrittenOutsideIsBounded(t *testing.T) {
	const long = `(define s (make-string 100000 #\a)) (define n (string->symbol s)) (define b (make-bytevector 100000 1)) `
	for _, test := range []struct{ why, program string }{
		{"texts", `(make-list 2000 s)`},
		{"names", `(make-list 2000 n)`},
		{"bytes", `(make-list 2000 b)`},
		{"characters that need more to be written", `(make-list 2000 (make-string 100000 #\x1))`},
		{"conditions", `(guard (e (#t e)) (apply error s (make-list 2000 s)))`},
		{"values", `(apply values (make-list 2000 s))`},
		{"raised", `(raise (make-list 2000 s))`},
		{"an error with many parts", `(apply error "it failed" (make-list 2000 s))`},
		{"a wrong argument", `(vector-ref (make-list 150 s) 0)`},
	} {
		t.Run(test.why, func(t *testing.T) {
			v, err := New(Limits{}).Run(context.Background(), "test", long+test.program)
			texts := []string{Write(v), Display(v), brief(v)}
			if c, ok := v.(*Condition); ok {
				texts = append(texts, c.String())
			}
			if err != nil {
				texts = []string{err.Error()}
				var e *Error
				if !errors.As(err, &e) || e.Err != nil {
					t.Fatalf("ends with %v", err)
				}
				if c, ok := e.Raised.(*Condition); ok {
					texts = append(texts, c.String())
				}
			}
			for i, text := range texts {
				if len(text) > maxWritten+10 {
					t.Errorf("text %d has %d bytes", i, len(text))
				}
			}
		})
	}
}

// A text that has no room ends with a mark, and not in the middle of a character.
func TestWriteIsCut(t *testing.T) {
	for _, test := range []struct {
		v    Value
		want string
	}{
		{Text("abcdefghij"), `"abcdefg...`},
		{Text("ééééé"), `"ééé...`},
		{&Symbol{name: "abcdefghij"}, "abcdefgh..."},
		{List(int64(1), int64(22), Text("abcdef")), `(1 22 "a...`},
	} {
		if got := writeLimited(test.v, 8, false); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}
