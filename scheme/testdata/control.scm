; Tail calls, continuations, winding and conditions.
(import (scheme base) (chibi test))
(test-begin "control")

; a loop of a million turns needs no depth
(test 'done (let loop ((i 0)) (if (= i 300000) 'done (loop (+ i 1)))))
(test 'done (let loop ((i 0)) (cond ((= i 100000) 'done) (else (and #t (or #f (when #t (loop (+ i 1)))))))))
(test #f (letrec ((even? (lambda (n) (if (= n 0) #t (odd? (- n 1))))) (odd? (lambda (n) (if (= n 0) #f (even? (- n 1)))))) (even? 100001)))

; a continuation that is entered again sees the arguments as they were
(test '(6 7 8)
  (let ((k #f) (n 0) (seen '()))
    (let ((v (+ 1 (call/cc (lambda (c) (set! k c) 5)))))
      (set! seen (cons v seen))
      (set! n (+ n 1))
      (if (< n 3) (k (+ 5 n)) (reverse seen)))))
(test '((1 a 2) (1 b 2))
  (let ((k #f) (seen '()))
    (let ((v (list 1 (call/cc (lambda (c) (set! k c) 'a)) 2)))
      (set! seen (cons v seen))
      (if (null? (cdr seen)) (k 'b) (reverse seen)))))
; map is not disturbed by it
(test '((1 2 3) (1 20 3))
  (let ((k #f) (seen '()))
    (let ((v (map (lambda (x) (call/cc (lambda (c) (if (= x 2) (set! k c)) x))) '(1 2 3))))
      (set! seen (cons v seen))
      (if (null? (cdr seen)) (k 20) (reverse seen)))))

; generators by two continuations
(test '(1 2 3)
  (let ()
    (define (tree->generator tree)
      (define caller #f)
      (define (loop t)
        (cond ((null? t) 'skip)
              ((pair? t) (loop (car t)) (loop (cdr t)))
              (else (call/cc (lambda (rest)
                (set! resume (lambda () (rest 'go)))
                (caller t))))))
      (define resume (lambda () (loop tree) (caller '*done*)))
      (lambda () (call/cc (lambda (k) (set! caller k) (resume)))))
    (let ((g (tree->generator '((1) (2 3)))))
      (let* ((a (g)) (b (g)) (c (g))) (list a b c)))))

; winding: out by an escape, in again, nested, in order
(test '(in out in out)
  (let ((path '()) (k #f) (n 0))
    (dynamic-wind
      (lambda () (set! path (cons 'in path)))
      (lambda () (call/cc (lambda (c) (set! k c))))
      (lambda () (set! path (cons 'out path))))
    (set! n (+ n 1))
    (if (< n 2) (k 'again) (reverse path))))
(test '(a b c d x)
  (let ((path '()))
    (define (note x) (set! path (cons x path)))
    (note (call/cc (lambda (k)
      (dynamic-wind (lambda () (note 'a))
        (lambda () (dynamic-wind (lambda () (note 'b)) (lambda () (k 'x)) (lambda () (note 'c))))
        (lambda () (note 'd))))))
    (reverse path)))

; conditions
(test 'caught (guard (e (#t 'caught)) (raise 'x)))
(test 42 (with-exception-handler (lambda (c) 42) (lambda () (raise-continuable 'x))))
(test 'second (guard (e ((eq? e 'never) 'first) (else 'second)) (raise 'x)))
(test 'outer (guard (e ((symbol? e) 'outer)) (guard (e ((string? e) 'inner)) (raise 'x))))
(test '(after caught)
  (let ((path '()))
    (let ((v (guard (e (#t 'caught)) (dynamic-wind (lambda () #f) (lambda () (raise 'x)) (lambda () (set! path (cons 'after path)))))))
      (append path (list v)))))
(test #t (guard (e ((error-object? e) #t)) (vector-ref (vector 1 2) 2)))
(test #t (guard (e ((error-object? e) #t)) (car 5)))
(test #t (guard (e ((error-object? e) #t)) (undefined-thing)))
(test #t (guard (e ((error-object? e) #t)) (letrec ((a b) (b 1)) a)))
(test #t (guard (e ((error-object? e) #t)) (with-exception-handler (lambda (e) 'returns) (lambda () (raise 'x)))))
(test 'inner-handler-is-outside-itself
  (guard (e (#t e))
    (with-exception-handler (lambda (e) (raise 'inner-handler-is-outside-itself)) (lambda () (raise 'x)))))
(test-error (error "as it is" 1))
(test-error ((lambda (x) x)))
(test-error ((lambda (x) x) 1 2))
(test-error ("no procedure"))

; parameters
(define p (make-parameter 10 (lambda (x) (* x 2))))
(test '(20 6 20) (list (p) (parameterize ((p 3)) (p)) (p)))
(test 6 (let ((k #f)) (parameterize ((p 3)) (call/cc (lambda (c) (set! k c))) (p))))
(test-error (parameterize ((car 3)) 1))

; promises: a long chain takes no depth
(test 'end (let loop ((n 0)) (force (let stream ((i 0)) (delay-force (if (= i 50000) (delay 'end) (stream (+ i 1))))))))
(test 1 (let* ((n 0) (p (delay (begin (set! n (+ n 1)) n)))) (force p) (force p) n))

; several values
(test '(1 (2 3)) (let-values (((a . b) (values 1 2 3))) (list a b)))
(test '(2 1) (let ((a 1) (b 2)) (let-values (((a) (values b)) ((b) (values a))) (list a b))))
(test '(2 2) (let ((a 1) (b 2)) (let*-values (((a) (values b)) ((b) (values a))) (list a b))))
(test-error (let-values (((a b) (values 1))) a))
(test 3 (let () (define-values (a . rest) (values 1 2 3)) (+ a (cadr rest) -1)))
(test-end)
