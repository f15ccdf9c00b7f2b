package plexus

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

//go:embed schema/postgres.sql
var postgresSchema string

// made are the tables of a schema with their columns, its indexes and triggers.
func made(text string) (names []string) {
	text = regexp.MustCompile(`(?m)--.*$`).ReplaceAllString(text, "")
	for _, m := range regexp.MustCompile(`(?s)CREATE TABLE (\w+)\((.*?)\n\)`).FindAllStringSubmatch(text, -1) {
		for _, line := range strings.Split(strings.TrimSpace(m[2]), "\n") {
			line = strings.TrimSuffix(strings.Join(strings.Fields(line), " "), ",")
			name, rest, _ := strings.Cut(line, " ")
			rest = strings.NewReplacer("bigint", "INTEGER", "text", "TEXT", "bytea", "BLOB").Replace(rest)
			names = append(names, "column "+m[1]+"."+name+" "+rest)
		}
	}
	for _, m := range regexp.MustCompile(`CREATE (TRIGGER|INDEX|UNIQUE INDEX) (\w+)`).FindAllStringSubmatch(text, -1) {
		if !strings.HasSuffix(m[2], "_no_truncate") { // SQLite has none
			names = append(names, strings.ToLower(m[1])+" "+m[2])
		}
	}
	slices.Sort(names)
	return names
}

func TestBothSchemasHaveTheSame(t *testing.T) {
	if diff := cmp.Diff(made(schema), made(postgresSchema)); diff != "" {
		t.Errorf("-sqlite +postgres:\n%s", diff)
	}
}

// postgres is how to ask a server of this test, where there is one to be had.
func postgres(t *testing.T) (ask func(script string) string) {
	t.Helper()
	bins, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	psql, err := exec.LookPath("psql")
	if len(bins) == 0 || err != nil {
		t.Skip("no PostgreSQL here (package postgresql)")
	}
	bin := filepath.Dir(bins[len(bins)-1])
	dir, err := os.MkdirTemp("/tmp", "assent-pg-") // a path that fits a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	var as []string // the server does not run as root
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Skip("running as root, and there is no user postgres:", err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Skip("a folder cannot be given to the user postgres:", err)
		}
		as = []string{"setpriv", "--reuid", u.Uid, "--regid", u.Gid, "--clear-groups", "--"}
	}
	run := func(args ...string) {
		args = append(as[:len(as):len(as)], args...)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "LC_ALL=C", "HOME="+dir)
		log, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		cmd.Stdout, cmd.Stderr = log, log // a pipe would be held by the server
		if err := cmd.Run(); err != nil {
			text, _ := os.ReadFile(log.Name())
			server, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("%v: %v\n%s\n%s", args, err, text, server)
		}
	}
	data := filepath.Join(dir, "data")
	run(filepath.Join(bin, "initdb"), "-D", data, "-U", "assent", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	run(filepath.Join(bin, "pg_ctl"), "-D", data, "-l", filepath.Join(dir, "log"), "-w", "-o", "-h '' -F -k "+dir, "start")
	t.Cleanup(func() { run(filepath.Join(bin, "pg_ctl"), "-D", data, "-m", "immediate", "-w", "stop") })
	return func(script string) string {
		cmd := exec.Command(psql, "-X", "-q", "-h", dir, "-U", "assent", "-d", "postgres")
		cmd.Env = append(os.Environ(), "LC_ALL=C", "PGCLIENTENCODING=UTF8")
		cmd.Stdin = strings.NewReader(script)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("psql: %v\n%s", err, out)
		}
		return string(out)
	}
}

// What SQLite refuses and takes, PostgreSQL refuses and takes for the same
// reasons.
func TestPostgresRefusesTheSame(t *testing.T) {
	ask := postgres(t)
	s := states(t, filepath.Join(t.TempDir(), "document"))
	rows, err := s.Since(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	setup := "\\set ON_ERROR_STOP on\n" + postgresSchema
	for _, row := range rows {
		st := row.Stamped()
		setup += insertSQL("INSERT", "", row, st.Writer.String(), spot{fmt.Sprint(int64(st.Rev)), fmt.Sprint(int64(st.Tx)), `'\x` + st.Hash.String() + `'`}) + ";\n"
	}
	if out := ask(setup); strings.Contains(out, "ERROR") {
		t.Fatal(out)
	}
	const hash = `decode(repeat('ab', 32), 'hex')`
	var script strings.Builder
	type want struct {
		why string
		err error
	}
	var wants []want
	try := func(why, text string, err error) {
		fmt.Fprintf(&script, "\\warn @@%d\nBEGIN;\n%s;\nROLLBACK;\n", len(wants), text)
		wants = append(wants, want{why, err})
	}
	for _, test := range refused {
		try(test.why, insertSQL("INSERT", "", test.row, test.by, spot{hash: hash}), test.want)
		try(test.why+", if nothing is in the way", insertSQL("INSERT", "", test.row, test.by, spot{hash: hash})+" ON CONFLICT DO NOTHING", test.want)
	}
	for _, test := range taken {
		try(test.why, insertSQL("INSERT", "", test.row, test.by, spot{hash: hash}), nil)
	}
	fine := Field{Session: "s", Job: "ask", Name: Approved, Value: "true"}
	for _, at := range []spot{{rev: "1"}, {rev: "(SELECT rev + 2 FROM head)"}, {rev: "0"}, {tx: "1"}, {tx: "0"}, {hash: `'\x'`}, {hash: `decode(repeat('ab', 33), 'hex')`}} {
		if at.hash == "" {
			at.hash = hash
		}
		try(fmt.Sprintf("at %v", at), insertSQL("INSERT", "", fine, "human:a", at), ErrOrder)
	}
	for _, table := range []string{"session", "job", "field", "register", "head", "unsettled"} {
		try("deleting from "+table, "DELETE FROM "+table, ErrImmutable)
		try("emptying "+table, "TRUNCATE "+table, ErrImmutable)
	}
	for _, table := range []string{"session", "job", "field", "register", "head"} {
		try("changing "+table, "UPDATE "+table+" SET hash = "+hash, ErrImmutable)
		try("changing "+table+" as a replica", "SET LOCAL session_replication_role = replica; UPDATE "+table+" SET hash = "+hash, ErrImmutable)
	}
	try("changing unsettled", "UPDATE unsettled SET job = 'done'", ErrImmutable)
	try("another head", "INSERT INTO head VALUES (2, 0, 0, "+hash+")", ErrImmutable)
	try("what is done is unsettled", "INSERT INTO unsettled VALUES ('s', 'done')", ErrImmutable)

	said := make(map[int]string)
	for i, part := range strings.Split(ask(script.String()), "@@") {
		if number, text, ok := strings.Cut(part, "\n"); ok && i > 0 {
			n, _ := strconv.Atoi(number)
			said[n] = text
		}
	}
	for i, want := range wants {
		_, text, failed := strings.Cut(said[i], "ERROR:  ")
		line, _, _ := strings.Cut(text, "\n")
		var got error
		if failed {
			got = errors.New(line)
			if word, ok := strings.CutPrefix(line, "assent: "); ok && words[word] != nil {
				got = words[word]
			}
		}
		if !errors.Is(got, want.err) {
			t.Errorf("%s: got %v, want %v", want.why, got, want.err)
		}
	}
}
