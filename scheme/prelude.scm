; Procedures of the language that call back: written in it, so that
; continuations go through them.

(define (%any-null? lists)
  (and (pair? lists)
       (or (not (pair? (car lists))) (%any-null? (cdr lists)))))

(define (%map1 f list)
  (let loop ((rest list) (done '()))
    (if (pair? rest)
        (loop (cdr rest) (cons (f (car rest)) done))
        (reverse done))))

(define (map f list . more)
  (if (null? more)
      (%map1 f list)
      (let loop ((lists (cons list more)) (done '()))
        (if (%any-null? lists)
            (reverse done)
            (loop (%map1 cdr lists) (cons (apply f (%map1 car lists)) done))))))

(define (for-each f list . more)
  (if (null? more)
      (let loop ((rest list))
        (when (pair? rest)
          (f (car rest))
          (loop (cdr rest))))
      (let loop ((lists (cons list more)))
        (unless (%any-null? lists)
          (apply f (%map1 car lists))
          (loop (%map1 cdr lists))))))

(define (string-map f . strings)
  (list->string (apply map f (%map1 string->list strings))))

(define (string-for-each f . strings)
  (apply for-each f (%map1 string->list strings)))

(define (vector-map f . vectors)
  (list->vector (apply map f (%map1 vector->list vectors))))

(define (vector-for-each f . vectors)
  (apply for-each f (%map1 vector->list vectors)))

(define (member x list . same)
  (if (null? same)
      (%member x list)
      (let loop ((rest list))
        (cond ((not (pair? rest)) #f)
              (((car same) x (car rest)) rest)
              (else (loop (cdr rest)))))))

(define (assoc x list . same)
  (if (null? same)
      (%assoc x list)
      (let loop ((rest list))
        (cond ((not (pair? rest)) #f)
              (((car same) x (caar rest)) (car rest))
              (else (loop (cdr rest)))))))

(define (make-parameter value . converter)
  (if (null? converter)
      (%make-parameter value #f)
      (%make-parameter ((car converter) value) (car converter))))

(define (%parameterize parameters values thunk)
  (%with-parameters
   parameters
   (map (lambda (parameter value)
          (let ((convert (%converter parameter)))
            (if convert (convert value) value)))
        parameters values)
   thunk))

(define (%guard thunk handler)
  ((call/cc
    (lambda (leave)
      (with-exception-handler
       (lambda (condition)
         ((call/cc
           (lambda (back)
             (leave
              (lambda ()
                (handler condition
                         (lambda ()
                           (back (lambda () (raise-continuable condition)))))))))))
       (lambda ()
         (call-with-values thunk
           (lambda results
             (leave (lambda () (apply values results)))))))))))

(define (call-with-port port f)
  (call-with-values (lambda () (f port))
    (lambda results
      (close-port port)
      (apply values results))))

(define (call-with-output-string f)
  (let ((port (open-output-string)))
    (f port)
    (get-output-string port)))
