package shell

import (
	"strings"
	"testing"
)

// What a name runs changes with the search path that a shell loses and with the
// tables of zsh, by whichever builtin or expansion either is done.
func TestNamesRunOtherwise(t *testing.T) {
	for text, want := range map[string]bool{
		"unset PATH; ls":         true,
		"unset 'PATH[0]'; ls":    true,
		"unset 'path[1]'; ls":    true,
		`unset "PATH[*]"; ls`:    true,
		"unset -v 'path[@]'; ls": true,
		"unset path; ls":         true,
		"unset -m 'PA*'; ls":     true,
		"unset -fm 'l*'; ls":     true,
		"unset -f PATH; ls":      false,
		"unset x 'y[0]'; ls":     false,
		"unset -f ls; ls":        false,

		"f() { local PATH; ls; }; f":             true,
		"f() { local path; ls; }; f":             true,
		"f() { local x PATH; ls; }; f":           true,
		"f() { typeset PATH; ls; }; f":           true,
		"f() { local -T PATH path; ls; }; f":     true,
		"f() { local -r PATH; ls; }; f":          true,
		"f() { readonly PATH; ls; }; f":          true,
		"f() { x=PATH; local $x; ls; }; f":       true,
		"f() { command local PATH; ls; }; f":     true,
		"f() { local PATH; g; }; g() { ls; }; f": true,
		"f() { local x; ls; }; f":                false,
		"f() { export PATH; ls; }; f":            false,
		"f() { declare -g PATH; ls; }; f":        false,
		"export PATH; ls":                        false,
		"readonly PATH; ls":                      false,
		"typeset -a PATH; ls":                    true,
		"declare -ga PATH; ls":                   true,
		"declare -A PATH; ls":                    true,
		"declare -x PATH; ls":                    false,

		"export -n PATH; bash -c ls":            true,
		"declare +x PATH; bash -c ls":           true,
		"env -i bash -c ls":                     true,
		"env - bash -c ls":                      true,
		"env -u PATH sh -c ls":                  true,
		"env -i A=1 timeout 1 bash -c ls":       true,
		"env -iS 'bash -c ls'":                  true,
		"nice env -i nice bash -c 'cd sub; ls'": true,
		"exec -c bash -c ls":                    true,
		"exec -cla x bash -c ls":                true,
		"env -i bash <<< ls":                    true,
		"env -u X bash -c ls":                   false,
		"env -i ls":                             false,
		"env -u PATH ls":                        false,
		"exec -c ls":                            false,
		"exec -l bash -c ls":                    false,
		"exec -a c bash -c ls":                  false,
		"bash -c ls":                            false,
		"env A=1 bash -c ls":                    false,

		"commands[ls]=./x; ls":                 true,
		"read 'commands[ls]' < a; ls":          true,
		"read -A functions <<< 'ls x'; ls":     true,
		"read -a commands <<< 'ls x'; ls":      true,
		"read -rA commands x < a; ls":          true,
		"mapfile functions < a; ls":            true,
		": ${functions[ls]:=date}; ls":         true,
		": ${functions[ls]=date}; ls":          true,
		`: "${commands[rg]:=./x}"; rg`:         true,
		`x="${commands[rg]:=./x}"; rg`:         true,
		"ls ${aliases[rg]:=./x}":               true,
		"cat <<x\n${commands[rg]:=./x}\nx\nrg": true,
		"(( n = ${commands[rg]:=5} )); rg":     true,
		"ls ${commands[rg]:-a}":                false,
		"ls ${options[1]}":                     false,
		"ls ${x[rg]:=./x}":                     false,
		"options='-l -a'; ls $options":         false,
		"read commands < a; ls":                false,
		"for commands in ls; do ls; done":      false,
	} {
		got := strings.Contains(tell(text), "programs of the present folder") || strings.Contains(tell(text), "what names run") ||
			strings.Contains(tell(text), "what a pattern matches")
		if got != want {
			t.Errorf("%s: %v, want %v\n%s", text, got, want, tell(text))
		}
	}
}
