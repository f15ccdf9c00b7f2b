package shell_test

import (
	"fmt"
	"testing"

	"assent/floor/commands"
)

// texts are such as run a command where a shell takes them for the name of a
// variable, for a number or for options.
var texts = []string{
	"a[$(alpha one)]",
	"-v a[$(alpha one)] -o 1",
	"-va[$(alpha one)]",
	"1+a[$(alpha one)]",
	"-x alpha one",
	"a[$(alpha one)]=1",
}

// sources are ways by which a script comes to such a text, in x.
var sources = []string{
	"x='%s'",
	`printf '%%s\n' '%s' > out001; read -r x < out001`,
	`printf '%%s\n' '%s' > out001; x=$(cat out001)`,
	`set -- '%s'; x=$1`,
	`f() { printf '%%s' '%s'; }; x=$(f)`,
}

// sinks are places where it may become code.
var sinks = []string{
	"[ $x -gt 1 ]", "[ -n $x ]", "[ $x = b ]", "[ $x ]", `[ "$x" -gt 1 ]`, `[ "$x" = b ]`, "test $x", "test -v $x", `[ -v "$x" ]`, `[ 1 -eq "$x" ]`,
	"[[ $x -gt 1 ]]", "[[ -v $x ]]", "[[ 1 -eq $x ]]", "[[ $x == 1 ]]",
	"printf $x", `printf "$x"`, "printf '%d' $x", "printf -v $x 1", `printf '%s\n' "$x"`,
	"echo $(( x ))", "echo $(( $x ))", "(( x ))", "(( $x ))", "let x", "let $x", `let "y=$x"`, "echo ${l[x]}", "echo ${l[$x]}", "l[x]=1", "l[$x]=1", "echo ${l:x}", "echo ${y:$x:1}",
	"read $x < a.txt", "read -t $x y < a.txt", "read -n $x y < a.txt", "read -u $x y < a.txt", "mapfile $x < a.txt", "mapfile -n $x y < a.txt", "getopts a $x",
	"unset $x", `unset "$x"`, "declare $x", `export "$x"`, "typeset -i y=$x", "declare -i y; y=x", "readonly $x", "local $x", "f2() { local $x; }; f2", "f2() { local -i y=$x; }; f2",
	"shift $x", "f2() { return $x; }; f2", "(exit $x)", "for y in 1; do break $x; done", "wait $x", "wait -p $x", "jobs $x", "kill -l $x", "ulimit -n $x", "umask $x",
	"trap $x", "hash $x", "alias $x", "command $x", "exec $x", "cd $x", "set $x", "shopt $x", "type $x", "eval $x", "RANDOM=$x", "SECONDS=$x", "OPTIND=$x",
	"case $x in 1) ;; esac", "for ((y = x; y < 1; y++)); do :; done", "y=${x:=1}", "echo ${!x}", "declare -n y=$x; echo $y", "for y in $x; do :; done", "times $x", "history $x", "dirs $x", "pushd $x", "popd $x", "enable $x",
}

// TestTextThatIsCode runs such texts in such places by each shell: a command that
// ran out of one must have been told.
func TestTextThatIsCode(t *testing.T) {
	know := commands.Default()
	test := func(t *testing.T, sh string) {
		var c tally
		t.Run("scripts", func(t *testing.T) {
			n, every := 0, 47 // so that every text, way and place has its turn
			if testing.Short() {
				every = 97
			}
			for _, sink := range sinks {
				for _, text := range texts {
					for _, source := range sources {
						if n++; n%every != 0 {
							continue
						}
						t.Run(fmt.Sprint(n), func(t *testing.T) {
							t.Parallel()
							w := bash.world(t)
							checkTold(t, w, know, sh, w.Expand(fmt.Sprintf(source, text)+"\n"+sink), &c)
						})
					}
				}
			}
		})
		c.check(t, 100) // most of it can only be told to be doubtful
	}
	t.Run("bash", func(t *testing.T) { test(t, "bash") })
	by(t, test)
}
