package card

import (
	"path"
	"strings"
	"unicode/utf8"

	"assent/internal/drawn"
)

// maxColoured is how long a text is that is coloured as code. A longer one is
// shown as it is, and whole.
const maxColoured = 256 << 10

// language is how the texts of a family of languages are coloured: enough to tell
// comments, texts and words apart. (Libraries know more, and read hundreds of
// grammars when the program starts, also where it only judges a call.)
type language struct {
	comments   []string    // that go to the end of the line
	long       [][2]string // from and to
	quotes     string      // of texts that end on their line or not
	escapes    bool        // a backslash quotes in texts
	words      map[string]bool
	afterBlank bool // a comment begins at a word
}

func words(text string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(text) {
		m[w] = true
	}
	return m
}

var (
	shellWords = words(`if then else elif fi for while until do done case esac in function select time return exit break continue local export readonly declare eval exec source set unset trap sudo`)
	shell      = &language{comments: []string{"#"}, quotes: "\"'", escapes: true, words: shellWords, afterBlank: true}
	braces     = &language{comments: []string{"//"}, long: [][2]string{{"/*", "*/"}}, quotes: "\"'`", escapes: true, words: words(`
		package import func type struct interface map chan go defer select const var return if else for range switch case default break continue goto fallthrough nil true false
		function class extends new this let async await yield export from of in typeof instanceof void null undefined try catch finally throw delete
		public private protected static final abstract implements enum fn impl pub use mod match mut ref self trait where unsafe loop while do dyn move crate
		int long short char float double bool boolean string byte unsigned signed namespace template using virtual override include define fun val when object`)}
	hashes = &language{comments: []string{"#"}, long: [][2]string{{`"""`, `"""`}, {"'''", "'''"}}, quotes: "\"'", escapes: true, afterBlank: true, words: words(`
		def class import from as return if elif else for while in not and or is None True False try except finally raise with lambda yield pass break continue global nonlocal async await
		end do then unless module require begin rescue ensure nil true false self FROM RUN COPY ADD CMD ENTRYPOINT ENV WORKDIR EXPOSE`)}
	rules = &language{comments: []string{"--"}, quotes: "\"'", words: words(`
		select insert update delete from where and or not null create table drop alter index into values join left right inner outer on group by order having limit union primary key
		SELECT INSERT UPDATE DELETE FROM WHERE AND OR NOT NULL CREATE TABLE DROP ALTER INDEX INTO VALUES JOIN LEFT RIGHT INNER OUTER ON GROUP BY ORDER HAVING LIMIT UNION PRIMARY KEY
		local function end if then else for while do return nil true false module import data let in where type`)}
	lisp  = &language{comments: []string{";"}, quotes: "\"", escapes: true, words: words(`define lambda let letrec if cond begin set quote`)}
	plain = &language{quotes: "\"", escapes: true, words: words(`true false null`)}
)

var languages = func() map[string]*language {
	m := make(map[string]*language)
	for l, names := range map[*language]string{
		shell:  ".sh .bash .zsh .envrc .profile .bashrc .zshrc",
		braces: ".go .js .jsx .mjs .cjs .ts .tsx .java .c .h .cc .cpp .hpp .cs .rs .kt .kts .swift .scala .dart .php .proto .css .scss .less .groovy .gradle .zig .jsonc .json5",
		hashes: ".py .pyi .rb .yaml .yml .toml .pl .pm .r .jl .ex .exs .nix .tf .hcl .conf .cfg .ini .mk .cmake Makefile GNUmakefile Dockerfile Containerfile Justfile Gemfile Rakefile",
		rules:  ".sql .lua .hs .elm",
		lisp:   ".scm .el .lisp .clj .rkt",
		plain:  ".json .jsonl .ndjson",
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = l
		}
	}
	return m
}()

// languageOf is that of a file, nil for one that is not coloured.
func languageOf(file string) *language {
	name := path.Base(strings.ReplaceAll(file, `\`, "/"))
	if l := languages[name]; l != nil {
		return l
	}
	return languages[strings.ToLower(path.Ext(name))]
}

// spans are the colours of a text.
func (l *language) spans(text string) (out []span) {
	if l == nil || len(text) > maxColoured {
		return nil
	}
	add := func(from, to int, ink drawn.Ink) { out = append(out, span{from, to, ink}) }
	word := func(b byte) bool {
		return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b >= utf8.RuneSelf
	}
	for i := 0; i < len(text); {
		rest := text[i:]
		if to := l.begins(text, i); to > 0 {
			add(i, i+to, inkNote)
			i += to
			continue
		}
		c := rest[0]
		switch {
		case strings.IndexByte(l.quotes, c) >= 0:
			n := 1
			for n < len(rest) && rest[n] != c && (rest[n] != '\n' || c == '`' || l == shell) {
				if rest[n] == '\\' && l.escapes && c != '`' && n+1 < len(rest) && (l != shell || c != '\'') {
					n++
				}
				n++
			}
			n = min(n+1, len(rest))
			add(i, i+n, inkString)
			i += n
		case word(c):
			n := 1
			for n < len(rest) && word(rest[n]) {
				n++
			}
			if l.words[rest[:n]] {
				add(i, i+n, inkWord)
			}
			i += n
		default:
			i++
		}
	}
	return out
}

// begins is how long the comment is, or the long text, that begins at a place.
func (l *language) begins(text string, at int) int {
	rest := text[at:]
	for _, long := range l.long {
		if strings.HasPrefix(rest, long[0]) {
			end := strings.Index(rest[len(long[0]):], long[1])
			if end < 0 {
				return len(rest)
			}
			return len(long[0]) + end + len(long[1])
		}
	}
	for _, sign := range l.comments {
		if !strings.HasPrefix(rest, sign) || l.afterBlank && at > 0 && strings.IndexByte(" \t\n;", text[at-1]) < 0 {
			continue
		}
		if end := strings.IndexByte(rest, '\n'); end >= 0 {
			return end
		}
		return len(rest)
	}
	return 0
}
