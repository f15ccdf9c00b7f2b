; What conformance tests are written with: each test is counted, and told of
; where it fails.

(define %passed 0)
(define %failed 0)
(define %groups '())

(define (test-begin . name)
  (set! %groups (cons (if (pair? name) (car name) "") %groups)))

(define (test-end . name)
  (when (pair? %groups)
    (set! %groups (cdr %groups))
    (when (null? %groups)
      (display %passed) (display " passed, ")
      (display %failed) (display " failed")
      (newline))))

(define (test-exit . name)
  (exit (if (= %failed 0) #t 1)))

(define (test-failure-count) %failed)

(define (%near? a b)
  (cond ((and (number? a) (number? b) (or (inexact? a) (inexact? b)))
         (or (eqv? a b) (= a b) (and (nan? (inexact a)) (nan? (inexact b)))
             (and (finite? (inexact a)) (finite? (inexact b))
                  (< (abs (- a b)) (* 1e-5 (max 1e-300 (abs a) (abs b)))))))
        ((and (pair? a) (pair? b))
         (and (%near? (car a) (car b)) (%near? (cdr a) (cdr b))))
        ((and (vector? a) (vector? b))
         (and (= (vector-length a) (vector-length b))
              (%near? (vector->list a) (vector->list b))))
        (else (equal? a b))))

(define (%same? expected got)
  (or (equal? expected got) (%near? expected got)))

(define (%passes) (set! %passed (+ %passed 1)))

(define (%fails what expected got)
  (set! %failed (+ %failed 1))
  (display "FAIL") 
  (when (pair? %groups) (display " ") (display (car %groups)))
  (display ": ") (write what)
  (display " gives ") (display got)
  (display ", not ") (display expected)
  (newline))

(define (%written x)
  (let ((out (open-output-string)))
    (write x out)
    (get-output-string out)))

(define (%told condition)
  (if (error-object? condition)
      (string-append "an error: " (error-object-message condition)
                     (apply string-append
                            (map (lambda (i) (string-append " " (%written i)))
                                 (error-object-irritants condition))))
      (string-append "raised " (%written condition))))

(define (%run what wanted thunk)
  (define (try f)
    (guard (e (#t (%fails what what (%told e)) %run))
      (f)))
  (let ((expected (try wanted)))
    (unless (eq? expected %run)
      (let ((got (try thunk)))
        (cond ((eq? got %run))
              ((%same? expected got) (%passes))
              (else (%fails what (%written expected) (%written got))))))))

(define (%run-error what thunk)
  (let ((got (guard (e (#t %run)) (thunk))))
    (if (eq? got %run)
        (%passes)
        (%fails what "an error" (%written got)))))

(define (%fails-whole what condition)
  (%fails what "to go on" (%told condition)))

(define-syntax test
  (syntax-rules ()
    ((_ expected expr) (%run 'expr (lambda () expected) (lambda () expr)))
    ((_ name expected expr) (%run 'expr (lambda () expected) (lambda () expr)))))

(define-syntax test-equal
  (syntax-rules () ((_ arg ...) (test arg ...))))

(define-syntax test-assert
  (syntax-rules ()
    ((_ expr) (%run 'expr (lambda () #t) (lambda () (and expr #t))))
    ((_ name expr) (%run 'expr (lambda () #t) (lambda () (and expr #t))))))

(define-syntax test-not
  (syntax-rules () ((_ expr) (test-assert (not expr)))))

(define-syntax test-values
  (syntax-rules ()
    ((_ expected expr)
     (%run 'expr (lambda () (call-with-values (lambda () expected) list))
           (lambda () (call-with-values (lambda () expr) list))))))

(define-syntax test-error
  (syntax-rules ()
    ((_ expr) (%run-error 'expr (lambda () expr)))
    ((_ name expr) (%run-error 'expr (lambda () expr)))))
