package shell

import (
	"slices"
	"strings"

	"assent/floor/commands"
	"assent/floor/effect"
)

// sed reads a sed script: which files it reads and writes and what it runs.
func (t *typed) sed(text string, span effect.Span, option string) {
	if !commands.Known(text) {
		t.opaque("a sed script that is not known", span, option, false)
		return
	}
	s := sedScript{s: text}
	if !s.parse() {
		t.opaque("a sed script that cannot be read", span, option, false)
	}
	for _, f := range s.reads {
		t.path(effect.Read, f, span, "r", false, false)
	}
	for _, f := range s.writes {
		t.path(effect.Write, f, span, "w", false, false)
	}
	for _, c := range s.runs {
		if c == "" {
			t.opaque("sed runs what it reads as a command", span, "e", false)
		} else {
			t.opaque("sed runs a command", span, "e", false)
			t.shellText(c, span, "e", word{})
		}
	}
}

type sedScript struct {
	s      string
	i      int
	reads  []string
	writes []string
	runs   []string
}

func (s *sedScript) rest() string {
	end := strings.IndexByte(s.s[s.i:], '\n')
	if end < 0 {
		end = len(s.s) - s.i
	}
	out := s.s[s.i : s.i+end]
	s.i += end
	return strings.Trim(out, " \t")
}

func (s *sedScript) blanks(more string) {
	for s.i < len(s.s) && strings.IndexByte(" \t"+more, s.s[s.i]) >= 0 {
		s.i++
	}
}

// delimited skips to the next delimiter; in a regular expression a bracket
// expression may hold it.
func (s *sedScript) delimited(d byte, regexp bool) bool {
	for s.i < len(s.s) {
		c := s.s[s.i]
		switch {
		case c == '\\':
			s.i++
		case c == d:
			s.i++
			return true
		case c == '[' && regexp:
			if n := bracket(strings.ReplaceAll(s.s[s.i:], "/", "x")); n > 0 {
				s.i += n - 1
			}
		case c == '\n' && regexp:
			return false
		}
		s.i++
	}
	return false
}

func (s *sedScript) address() bool {
	if s.i >= len(s.s) {
		return true
	}
	switch c := s.s[s.i]; {
	case c >= '0' && c <= '9' || c == '$':
		for s.i < len(s.s) && strings.IndexByte("0123456789$~+", s.s[s.i]) >= 0 {
			s.i++
		}
	case c == '/' || c == '\\':
		d := c
		s.i++
		if c == '\\' {
			if s.i >= len(s.s) {
				return false
			}
			d = s.s[s.i]
			s.i++
		}
		if !s.delimited(d, true) {
			return false
		}
		for s.i < len(s.s) && (s.s[s.i] == 'I' || s.s[s.i] == 'M') {
			s.i++
		}
	case c == '+' || c == '~':
		s.i++
		return s.address()
	}
	return true
}

func (s *sedScript) parse() bool {
	for s.i < len(s.s) {
		s.blanks("\n;")
		if s.i >= len(s.s) {
			return true
		}
		if !s.address() {
			return false
		}
		s.blanks("")
		if s.i < len(s.s) && s.s[s.i] == ',' {
			s.i++
			s.blanks("")
			if !s.address() {
				return false
			}
			s.blanks("")
		}
		for s.i < len(s.s) && (s.s[s.i] == '!' || s.s[s.i] == ' ' || s.s[s.i] == '\t') {
			s.i++
		}
		if s.i >= len(s.s) {
			return false
		}
		c := s.s[s.i]
		s.i++
		switch c {
		case '{', '}', '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F':
		case '#':
			s.rest()
		case 'l', 'L', 'q', 'Q':
			s.blanks("")
			for s.i < len(s.s) && s.s[s.i] >= '0' && s.s[s.i] <= '9' {
				s.i++
			}
		case ':', 'b', 't', 'T', 'v':
			s.blanks("")
			end := strings.IndexAny(s.s[s.i:], "; \t\n}")
			if c == ':' {
				end = strings.IndexAny(s.s[s.i:], "; \t\n")
			}
			if end < 0 {
				end = len(s.s) - s.i
			}
			s.i += end
		case 'a', 'i', 'c':
			if s.i < len(s.s) && s.s[s.i] != '\\' && s.s[s.i] != ' ' && s.s[s.i] != '\t' {
				return false
			}
			for { // the text goes on behind a backslash at the end of a line
				line := s.i
				s.rest()
				if !strings.HasSuffix(s.s[line:s.i], "\\") || s.i >= len(s.s) {
					break
				}
				s.i++
			}
		case 'r', 'R':
			s.reads = append(s.reads, s.rest())
		case 'w', 'W':
			s.writes = append(s.writes, s.rest())
		case 'e':
			s.runs = append(s.runs, s.rest())
		case 'y':
			if s.i >= len(s.s) {
				return false
			}
			d := s.s[s.i]
			s.i++
			if !s.delimited(d, false) || !s.delimited(d, false) {
				return false
			}
		case 's':
			if s.i >= len(s.s) {
				return false
			}
			d := s.s[s.i]
			s.i++
			if d == '\n' || d == '\\' || !s.delimited(d, true) || !s.delimited(d, false) {
				return false
			}
		flags:
			for s.i < len(s.s) {
				switch f := s.s[s.i]; {
				case f == 'w':
					s.i++
					s.writes = append(s.writes, s.rest())
					break flags
				case f == 'e':
					s.i++
					s.runs = append(s.runs, "")
				case strings.IndexByte("gpIimM0123456789", f) >= 0:
					s.i++
				default:
					break flags
				}
			}
		default:
			return false
		}
		s.blanks("")
		if s.i < len(s.s) && strings.IndexByte(";\n}#{", s.s[s.i]) < 0 && c != '{' && c != '}' && c != ':' {
			return false
		}
	}
	return true
}

// awk reads an awk program: what it writes, reads and runs beyond its input.
func (t *typed) awk(text string, span effect.Span, option string) {
	if !commands.Known(text) {
		t.opaque("an awk program that is not known", span, option, false)
		return
	}
	a := awkScan{s: text}
	a.scan()
	for _, f := range a.writes {
		t.path(effect.Write, f, span, ">", false, false)
	}
	for _, f := range a.reads {
		t.path(effect.Read, f, span, "getline", false, false)
	}
	for _, c := range a.runs {
		t.opaque("awk runs a command", span, "awk", false)
		t.shellText(c, span, "system", word{})
	}
	for _, why := range a.opaque {
		t.opaque(why, span, "awk", false)
	}
}

// awkScan walks the tokens of an awk program. It need not be a parser: it looks
// for the few forms that reach outside, and what it cannot tell it says.
type awkScan struct {
	s      string
	i      int
	writes []string
	reads  []string
	runs   []string
	opaque []string
}

type awkToken struct {
	kind byte // 's' string, 'r' regular expression, 'n' name, '0' number, 'o' operator, '\n', 0 end
	text string
}

// divided reports whether a slash behind the token divides.
func (t awkToken) divided() bool {
	switch t.kind {
	case 'n', '0', 's', 'r':
		return true
	}
	return t.text == ")" || t.text == "]" || t.text == "++" || t.text == "--"
}

func (a *awkScan) next(prev awkToken) awkToken {
	for a.i < len(a.s) {
		c := a.s[a.i]
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			a.i++
		case c == '\\' && a.i+1 < len(a.s) && a.s[a.i+1] == '\n':
			a.i += 2
		case c == '#':
			for a.i < len(a.s) && a.s[a.i] != '\n' {
				a.i++
			}
		case c == '\n':
			a.i++
			return awkToken{'\n', "\n"}
		case c == '"':
			start := a.i + 1
			a.i++
			for a.i < len(a.s) && a.s[a.i] != '"' {
				if a.s[a.i] == '\\' {
					a.i++
				}
				a.i++
			}
			end := min(a.i, len(a.s))
			a.i = min(a.i+1, len(a.s))
			return awkToken{'s', a.s[min(start, end):end]}
		case c == '/' && prev.divided():
			// A division, or a regular expression behind a condition: it
			// matters where one would hide what the other shows.
			a.i++
			if in, _, closed := strings.Cut(a.s[a.i:], "/"); closed && !strings.Contains(in, "\n") && strings.ContainsAny(in, "\"#") {
				a.opaque = append(a.opaque, "an awk program that cannot be read")
			}
			return awkToken{'o', "/"}
		case c == '/':
			start := a.i
			a.i++
			for a.i < len(a.s) && a.s[a.i] != '/' && a.s[a.i] != '\n' {
				switch {
				case a.s[a.i] == '\\':
					a.i++
				case a.s[a.i] == '[':
					if n := bracket(strings.ReplaceAll(a.s[a.i:], "/", "x")); n > 0 {
						a.i += n - 1
					}
				}
				a.i++
			}
			a.i = min(a.i+1, len(a.s))
			return awkToken{'r', a.s[start:a.i]}
		case c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z':
			start := a.i
			for a.i < len(a.s) && (a.s[a.i] == '_' || a.s[a.i]|0x20 >= 'a' && a.s[a.i]|0x20 <= 'z' || a.s[a.i] >= '0' && a.s[a.i] <= '9') {
				a.i++
			}
			return awkToken{'n', a.s[start:a.i]}
		case c >= '0' && c <= '9':
			start := a.i
			for a.i < len(a.s) && (a.s[a.i] >= '0' && a.s[a.i] <= '9' || a.s[a.i] == '.') {
				a.i++
			}
			return awkToken{'0', a.s[start:a.i]}
		default:
			for _, op := range []string{"||", "&&", "|&", ">>", ">=", "<=", "==", "!=", "++", "--"} {
				if strings.HasPrefix(a.s[a.i:], op) {
					a.i += 2
					return awkToken{'o', op}
				}
			}
			a.i++
			return awkToken{'o', a.s[a.i-1 : a.i]}
		}
	}
	return awkToken{}
}

// literal returns the text of a string token that stands alone.
func awkText(t awkToken) (string, bool) {
	if t.kind != 's' || strings.IndexByte(t.text, '\\') >= 0 {
		return "", false
	}
	return t.text, true
}

func (a *awkScan) scan() {
	var toks []awkToken
	var prev awkToken
	for {
		t := a.next(prev)
		if t.kind == 0 {
			break
		}
		toks = append(toks, t)
		prev = t
		if prev.kind == 'n' {
			switch prev.text {
			case "print", "printf", "return", "in", "else", "do", "case":
				prev.kind = 'o' // a regular expression may follow
			}
		}
	}
	at := func(i int) awkToken {
		if i < 0 || i >= len(toks) {
			return awkToken{kind: '\n', text: "\n"}
		}
		return toks[i]
	}
	ends := func(t awkToken) bool {
		return t.kind == '\n' || t.text == ";" && t.kind == 'o' || t.text == "}" && t.kind == 'o'
	}
	printing, depth := false, 0
	for i, t := range toks {
		switch {
		case t.kind == 'n' && (t.text == "print" || t.text == "printf"):
			printing, depth = true, 0
		case ends(t):
			printing = false
		case t.kind == 'o' && t.text == "(":
			depth++
		case t.kind == 'o' && t.text == ")":
			depth--
		case t.kind == 'n' && t.text == "system":
			text, plain := awkText(at(i + 2))
			if at(i+1).text == "(" && plain && at(i+3).text == ")" {
				a.runs = append(a.runs, text)
			} else {
				a.opaque = append(a.opaque, "awk runs a command that cannot be told")
			}
		case t.kind == 'n' && (t.text == "ENVIRON" || t.text == "PROCINFO"):
			a.opaque = append(a.opaque, "awk reads the environment")
		case t.kind == 'n' && (t.text == "ARGV" || t.text == "ARGC"):
			a.opaque = append(a.opaque, "awk sets its own operands")
		case t.kind == 'n' && (t.text == "ARGV" || t.text == "ARGC" || t.text == "SYMTAB"):
			a.opaque = append(a.opaque, "awk chooses itself what it reads")
		case t.kind == 'n' && t.text == "extension":
			a.opaque = append(a.opaque, "awk loads code")
		case t.kind == 'o' && t.text == "@":
			a.opaque = append(a.opaque, "awk loads code or calls a function by name")
		case t.kind == 'o' && (t.text == ">" || t.text == ">>") && printing && depth <= 0:
			text, plain := awkText(at(i + 1))
			if next := at(i + 2); plain && (ends(next) || next.kind == 0) {
				a.writes = append(a.writes, text)
			} else {
				a.opaque = append(a.opaque, "awk writes a file that cannot be told")
			}
		case t.kind == 'o' && (t.text == "|" || t.text == "|&"):
			text, plain := awkText(at(i + 1))
			before, plainBefore := awkText(at(i - 1))
			switch {
			case at(i+1).text == "getline" && plainBefore && (ends(at(i-2)) || at(i-2).text == "{" || at(i-2).text == "("):
				a.runs = append(a.runs, before)
			case printing && plain && ends(at(i+2)):
				a.runs = append(a.runs, text)
			default:
				a.opaque = append(a.opaque, "awk runs a command that cannot be told")
			}
		case t.kind == 'n' && t.text == "getline":
			// The first "<" behind it names the file, unless something ends first.
			j := i + 1
			for j < len(toks) && !ends(at(j)) && at(j).text != "<" && at(j).text != "{" {
				j++
			}
			if at(j).kind != 'o' || at(j).text != "<" {
				break
			}
			after := at(j + 2)
			if text, plain := awkText(at(j + 1)); plain && (ends(after) || after.text == ")" || after.text == "<" || after.text == ">" || after.text == "==" || after.text == "&&") {
				a.reads = append(a.reads, text)
			} else {
				a.opaque = append(a.opaque, "awk reads a file that cannot be told")
			}
		}
	}
}

// jq reads a jq or yq filter: it may read the environment or load modules.
func (t *typed) jq(text string, span effect.Span, option string) {
	if !commands.Known(text) {
		t.opaque("a filter that is not known", span, option, false)
		return
	}
	for _, w := range []string{"env", "ENV", "import", "include", "load", "load_str", "strload", "str_load", "xmlload", "xml_load", "propsload", "props_load", "base64load", "base64_load", "load_xml", "load_props", "load_base64", "strenv", "envsubst", "input_filename",
		"get_search_list", "modulemeta", "eval", "system", "exec"} {
		if hasWord(text, w) {
			if w == "input_filename" || w == "modulemeta" {
				continue
			}
			if (w == "env" || w == "load" || w == "eval" || w == "system" || w == "exec" || w == "include" || w == "import") && strings.Contains(text, "."+w) && !hasWord(strings.ReplaceAll(text, "."+w, ""), w) {
				continue // a field of that name
			}
			t.opaque("a filter that reads the environment or loads files", span, "jq", false)
			return
		}
	}
}

// hasWord reports whether a name stands in text as a word of its own.
func hasWord(text, name string) bool {
	for i := 0; ; {
		j := strings.Index(text[i:], name)
		if j < 0 {
			return false
		}
		j += i
		before := j == 0 || !nameByte(text[j-1])
		after := j+len(name) == len(text) || !nameByte(text[j+len(name)])
		if before && after {
			return true
		}
		i = j + 1
	}
}

func nameByte(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

// sql tells SQL text that does more than look.
func (t *typed) sql(text string, span effect.Span, option string) {
	if !commands.Known(text) {
		t.opaque("an SQL text that is not known", span, option, true)
		return
	}
	for _, stmt := range statements(text) {
		if !lookUp(stmt) {
			t.opaque("an SQL statement that may change something or reach outside", span, "sql", true)
			return
		}
	}
}

// doubt is the word that stands in a statement for what its readers read
// differently; no look-up holds it.
const doubt = " into "

// statements splits SQL at semicolons outside of quotes and removes comments.
func statements(text string) []string {
	var out []string
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\'' || c == '"' || c == '`' || c == '[':
			end := strings.IndexByte(text[i+1:], closing(c))
			if end < 0 {
				b.WriteString(doubt)
				continue
			}
			in := text[i+1 : i+1+end]
			b.WriteString(quotedSQL(c, in, b.String()))
			i += end + 1
		case c == ']' || c == '.':
			// A name in quotes or behind another is a name, also of a function.
			b.WriteByte(' ')
			if c == '.' && strings.TrimSpace(b.String()) == "" {
				b.WriteByte('.')
			}
		case c == '\\' && strings.TrimSpace(b.String()) != "", c == '#':
			b.WriteString(doubt)
		case c == '$' && i+1 < len(text) && (text[i+1] == '$' || nameByte(text[i+1])):
			b.WriteString(doubt) // a quote of PostgreSQL, not followed
		case strings.HasPrefix(text[i:], "--"):
			if i+2 < len(text) && strings.IndexByte(" \t\r\n", text[i+2]) < 0 {
				b.WriteString(doubt) // no comment to MySQL
			}
			for i < len(text) && text[i] != '\n' {
				i++
			}
			b.WriteByte('\n')
		case strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				return append(out, "unclosed comment")
			}
			// MySQL runs what is in /*! */, PostgreSQL nests.
			if in := text[i+2 : i+2+end]; strings.HasPrefix(in, "!") || strings.Contains(in, "/*") {
				b.WriteString(doubt)
			}
			i += end + 3
			b.WriteByte(' ')
		case c == ';':
			out = append(out, b.String())
			b.Reset()
		default:
			b.WriteByte(c)
		}
	}
	return append(out, b.String())
}

func closing(quote byte) byte {
	if quote == '[' {
		return ']'
	}
	return quote
}

// quotedSQL is what stands in a statement for something in quotes: "?" for a
// text, its words for a name.
func quotedSQL(quote byte, in, before string) string {
	before = strings.ToLower(strings.TrimSpace(before))
	switch {
	case strings.Contains(in, `\`), // an escape to some, not to others
		strings.HasPrefix(before, `\`),                                     // psql runs what is in backquotes
		quote == '[' && strings.ContainsAny(in, "'\"`"),                    // a subscript or a name
		strings.HasSuffix(before, "from") && strings.ContainsAny(in, "/."), // a file to some
		strings.HasSuffix(before, "join") && strings.ContainsAny(in, "/."):
		return doubt
	case quote == '\'':
		return " ? "
	}
	return " " + strings.NewReplacer(";", " ", ".", " ", "'", " ").Replace(in) + " "
}

func lookUp(stmt string) bool {
	words := wordsOfSQL(stmt)
	if len(words) == 0 {
		return true
	}
	first := words[0]
	if first[0] == '.' || first[0] == '\\' { // commands of the client, one a line
		for line := range strings.Lines(stmt) {
			if w := wordsOfSQL(line); len(w) > 0 && (!clientLookUp(w[0]) || slices.Contains(w, "into")) {
				return false
			}
		}
		return true
	}
	switch first {
	case "select", "with", "show", "explain", "describe", "desc", "values", "pragma", "use", "table":
	default:
		return false
	}
	for _, w := range words {
		switch w {
		case "insert", "update", "delete", "drop", "alter", "create", "truncate", "grant", "revoke", "into", "outfile", "dumpfile", "copy", "call", "do", "execute", "exec",
			"attach", "detach", "vacuum", "reindex", "replace", "merge", "set", "lock", "install", "load", "export", "import":
			return false
		}
		for _, f := range []string{"load_extension", "writefile", "readfile", "edit", "load_file", "pg_read", "pg_ls", "pg_stat_file", "pg_terminate", "pg_cancel", "pg_reload", "pg_sleep", "lo_", "dblink",
			"xp_", "sp_", "sys_exec", "sys_eval", "utl_", "dbms_", "read_csv", "read_parquet", "read_json", "read_text", "read_blob", "glob", "nextval", "setval", "currval", "query_to_xml", "fts3_tokenizer", "fsdir", "zipfile", "sqlite_dbpage", "eval", "url", "s3", "file", "remote", "mysql", "postgresql", "getenv"} {
			if strings.HasPrefix(w, f) && (strings.HasSuffix(f, "_") || w == f || strings.HasPrefix(f, "pg_") || strings.HasPrefix(f, "read_") || strings.HasPrefix(f, "dblink")) && strings.Contains(stmt, "(") {
				return false
			}
		}
	}
	if first == "pragma" {
		return len(words) > 1 && lookUpPragma(words[1], strings.ContainsAny(stmt, "=("))
	}
	return true
}

func wordsOfSQL(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(" \t\r\n(),=<>+*", r) })
}

// clientLookUp reports whether a command of sqlite3 or psql only shows.
func clientLookUp(command string) bool {
	switch command {
	case ".tables", ".schema", ".headers", ".header", ".mode", ".databases", ".indexes", ".indices", ".width", ".help", ".quit", ".exit", ".timer", ".show", ".fullschema", ".dbinfo", ".stats",
		`\l`, `\l+`, `\z`, `\x`, `\conninfo`, `\timing`, `\q`:
		return true
	}
	return strings.HasPrefix(command, `\d`)
}

// lookUpPragma reports whether a pragma of SQLite, with or without a value,
// only shows.
func lookUpPragma(name string, valued bool) bool {
	switch name {
	case "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list", "foreign_key_check", "integrity_check", "quick_check":
		return true
	case "optimize", "incremental_vacuum", "wal_checkpoint", "shrink_memory":
		return false
	}
	return !valued
}
