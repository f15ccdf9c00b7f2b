package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assent/approval"
	"assent/floor"
	"assent/internal/oneline"
)

// answer is what a call was judged to be, as data.
type answer struct {
	ID jsontext.Value `json:"id,omitzero"`
	floor.Answer
	Error string `json:"error,omitzero"`
	Text  string `json:"text,omitzero"`
}

// encode writes one line of JSON. Text from outside may hold anything: what is
// no UTF-8 is replaced.
func encode(v any) []byte {
	b, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		b = []byte(`{"result":"block","error":"the answer cannot be written"}`)
	}
	return append(oneline.JSON(b), '\n')
}

// rows judges the calls that come as lines. Several are judged at once; the
// answers come in the order of the rows, each as soon as those before it are
// out. A row that cannot be judged is answered in its place.
func (c *checker) rows(in io.Reader, out io.Writer) error {
	workers := max(2, runtime.GOMAXPROCS(0))
	type job struct {
		line   []byte
		number int
		err    error
		answer chan []byte
	}
	jobs := make(chan job)
	order := make(chan chan []byte, 4*workers)

	var judging sync.WaitGroup
	for range workers {
		judging.Go(func() {
			for j := range jobs {
				j.answer <- encode(c.row(j.line, j.number, j.err))
			}
		})
	}
	var readErr error
	var reading sync.WaitGroup
	stop := make(chan struct{})
	reading.Go(func() {
		defer close(order)
		defer close(jobs)
		r := bufio.NewReaderSize(in, 1<<16)
		for number := 1; ; number++ {
			line, err := readRow(r)
			if err != nil && !errors.Is(err, errLongRow) {
				if !errors.Is(err, io.EOF) {
					readErr = fmt.Errorf("reading rows: %w", err)
				}
				return
			}
			if number == 1 {
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			if err == nil && len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			j := job{line, number, err, make(chan []byte, 1)}
			select {
			case order <- j.answer:
			case <-stop:
				return
			}
			jobs <- j
		}
	})
	w := bufio.NewWriterSize(out, 1<<16)
	var writeErr error
	for a := range order {
		if writeErr != nil {
			continue // drain, so that everybody ends
		}
		_, err := w.Write(<-a)
		if err == nil && len(order) == 0 {
			err = w.Flush()
		}
		if err != nil {
			writeErr = fmt.Errorf("writing answers: %w", err)
			close(stop)
		}
	}
	reading.Wait()
	judging.Wait()
	if writeErr == nil {
		if err := w.Flush(); err != nil {
			writeErr = fmt.Errorf("writing answers: %w", err)
		}
	}
	return errors.Join(readErr, writeErr)
}

// row answers one line. Whatever is wrong with it, the answer is never allow.
func (c *checker) row(line []byte, number int, err error) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a.Answer = floor.Answer{Result: approval.Block, Effects: []floor.Told{}}
			a.Error = fmt.Sprintf("line %d: judging failed: %v", number, p)
			a.Message = a.Error
		}
	}()
	var r row
	if err == nil {
		r, err = decodeRow(line)
	}
	a.ID = r.id
	if err != nil {
		return wrong(&r, number, err)
	}
	call, err := r.call()
	if err != nil {
		return wrong(&r, number, err)
	}
	f, policyErr := c.layers.with(r.policy)
	v := f.Judge(call)
	a.Answer = v.Answer()
	if policyErr != nil {
		// The shipped floor has answered (law ruling 7), and a person should know.
		a.Error = fmt.Sprintf("line %d: %v", number, policyErr)
		a.Result = a.Result.Join(approval.Ask)
		a.Message = join(a.Message, a.Error)
	}
	return a
}

// wrong is the answer to a row that cannot be judged.
func wrong(r *row, number int, err error) answer {
	a := answer{ID: r.id, Error: fmt.Sprintf("line %d: %v", number, err)}
	a.Answer = floor.Answer{Result: approval.Ask, Effects: []floor.Told{}, Message: a.Error}
	if r.name != "" {
		cluster := approval.ClusterOf(r.name)
		a.Cluster = &cluster
	}
	return a
}

// row is one call that came as a line.
type row struct {
	id        jsontext.Value
	name      string
	arguments jsontext.Value
	workspace string
	cwd       string
	home      *string
	policy    jsontext.Value
	facts     jsontext.Value
}

// rowMembers are the members of a row.
var rowMembers = []string{"id", "name", "arguments", "workspace", "cwd", "home", "policy", "facts"}

// decodeRow reads a line. The row is as complete as it could be read, for its
// id. Members of other names belong to whoever keeps the rows and are ignored,
// except one that looks like a slip of the pen: a policy that is not applied
// because it is called "polcy" would be worse than an error.
func decodeRow(line []byte) (row, error) {
	r := row{id: jsontext.Value("null")}
	if k := jsontext.Value(line).Kind(); k != '{' && jsontext.Value(line).IsValid() {
		return r, errors.New("the row is not an object")
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(line, &members); err != nil {
		// For the id alone, more is forgiven.
		lax := []json.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
		var only struct {
			ID jsontext.Value `json:"id"`
		}
		if json.Unmarshal(line, &only, json.JoinOptions(lax...)) == nil && only.ID != nil {
			r.id = only.ID
		}
		return r, plainJSONError(line, err)
	}
	if id, ok := members["id"]; ok {
		r.id = id
	}
	_ = json.Unmarshal(members["name"], &r.name) // for the cluster of an error; read again below
	for name := range members {
		if slices.Contains(rowMembers, name) {
			continue
		}
		if near := nearest(name, rowMembers); near != "" {
			return r, fmt.Errorf("unknown member %q: did you mean %q?", name, near)
		}
	}
	text := func(name string, into *string) error {
		v, ok := members[name]
		if !ok || v.Kind() == 'n' {
			return nil
		}
		if err := json.Unmarshal(v, into); err != nil {
			return fmt.Errorf("%s is not a string", name)
		}
		return nil
	}
	var home string
	if err := errors.Join(text("name", &r.name), text("workspace", &r.workspace), text("cwd", &r.cwd), text("home", &home)); err != nil {
		return r, err
	}
	if v, ok := members["home"]; ok && v.Kind() != 'n' {
		r.home = &home
	}
	if r.name == "" {
		return r, errors.New("name: the row names no tool")
	}
	r.arguments, r.policy, r.facts = members["arguments"], members["policy"], members["facts"]
	switch r.arguments.Kind() {
	case '{':
	case '"':
		var inner string
		if err := json.Unmarshal(r.arguments, &inner); err == nil && jsontext.Value(inner).Kind() == '{' {
			r.arguments = jsontext.Value(inner)
		}
	case 'n', 0:
		r.arguments = jsontext.Value("{}")
	}
	return r, nil
}

// call is the row as a call.
func (r *row) call() (floor.Call, error) {
	call := floor.Call{Name: r.name, Arguments: r.arguments, Workspace: r.workspace, Cwd: r.cwd}
	if r.home != nil {
		call.Home = *r.home
	} else {
		call.Home = homeOf(r.workspace)
	}
	// What a row leaves out is as on most machines.
	call.Vars = map[string]string{"TMPDIR": "/tmp"}
	for _, p := range []struct {
		name string
		path *string
	}{{"workspace", &call.Workspace}, {"cwd", &call.Cwd}, {"home", &call.Home}} {
		if *p.path == "" {
			continue
		}
		if !path.IsAbs(*p.path) || strings.IndexByte(*p.path, 0) >= 0 {
			return call, fmt.Errorf("%s: %q is not an absolute path", p.name, *p.path)
		}
		*p.path = path.Clean(*p.path)
	}
	if len(r.facts) == 0 || r.facts.Kind() == 'n' {
		return call, nil
	}
	s, err := decodeSetup(r.facts)
	if err != nil {
		return call, fmt.Errorf("facts: %w", err)
	}
	if err := s.apply(&call); err != nil {
		return call, fmt.Errorf("facts: %w", err)
	}
	return call, nil
}
