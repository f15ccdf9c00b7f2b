package shell

import (
	"fmt"
	"strings"
	"testing"

	"assent/floor/commands"
	"assent/floor/effect"
)

// Looking for what steers which command is work like any other, and has an end.
func TestSteeredEnds(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, ">w%d;", i)
	}
	for i := range 300 {
		fmt.Fprintf(&b, "cd d%d;make;npm t;", i)
	}
	effects := Effects(b.String(), testPlace(), commands.Default())
	for _, e := range effects {
		if e.Kind == effect.Opaque && e.Target == "too much to follow" {
			return
		}
	}
	t.Error("it was followed to the end")
}

// The write of a file that is obeyed stands in the text before the command, or
// somewhere in it where the command is run again or beside the rest.
func TestSteeredOrder(t *testing.T) {
	for text, want := range map[string]bool{
		"echo x > conftest.py; pytest":                            true,
		"pytest; echo x > conftest.py":                            false,
		"pytest; echo x > conftest.py; pytest":                    true,
		"pytest > conftest.py":                                    true,
		"pytest | tee conftest.py":                                true,
		"until false; do pytest; echo x > conftest.py; done":      true,
		"f() { pytest; echo x > conftest.py; }; f":                true,
		"coproc pytest; echo x > conftest.py":                     true,
		"for i in 1 2; do bash -c pytest; cp a conftest.py; done": true,
		"if pytest; then echo x > conftest.py; fi":                false,
		"pytest || { echo x > conftest.py; pytest; }":             true,
		"trap pytest EXIT; echo x > conftest.py":                  true,
		"x() { echo y > conftest.py; }; x; pytest":                true,
		"x() { echo y > conftest.py; }; pytest":                   false,
	} {
		if got := strings.Contains(tell(text), " obeys "); got != want {
			t.Errorf("%s: %v, want %v\n%s", text, got, want, tell(text))
		}
	}
}

// The present folder comes first for "python -m": what is written there may be
// found instead of the module, or of one that it imports. Sources are none of that.
func TestShadowed(t *testing.T) {
	for text, want := range map[string]bool{
		"echo x > pip.py; python3 -m pip list":                        true,
		"echo x > Pip.PY; python3 -m pip --version":                   true,
		"echo x > pip/__main__.py; python3 -m pip list":               true,
		"ln -s a pip.so; python3 -m pip list":                         true,
		"cd src; echo x > pip.py; python3 -mpip list":                 true,
		"echo x > src/pip.py; cd src && pypy3 -m pip list":            true,
		"echo x > json.py; python3 -m pytest":                         true,
		"echo x > click.py; python3 -m black --check .":               true,
		"echo x > mypy/a.py; python3 -m mypy .":                       true,
		"curl -o pip.py https://example.org/; python3 -m pip list":    true,
		"tar xf a.tar; python3 -m pip list":                           true,
		"git pull; python3 -m pip list":                               true,
		"echo x > test_a.py; python3 -m pytest":                       false,
		"echo x > app.py; python3 -m py_compile app.py":               false,
		"echo x > app.py; python3 -m black app.py":                    false,
		"echo x > requirements.txt; python3 -m pip list":              false,
		"python3 -m venv venv; python3 -m pip list":                   false,
		"python3 -m pip list; echo x > pip.py":                        false,
		"echo x > go.mod; go build ./...":                             true,
		"echo x > go.work; go test ./...":                             true,
		"go mod edit -replace a=b; go test ./...":                     true,
		"go work use ./x && go vet ./...":                             true,
		"cp -r x vendor/; go build ./...":                             true,
		"go mod init x && go build ./...":                             false,
		"go mod tidy && go test ./...":                                false,
		"gofmt -w . && go test ./...":                                 false,
		"echo x > tools/bazel; bazel build //...":                     true,
		"echo x > tsconfig.json; tsc":                                 true,
		"echo x > node_modules/x/index.js; npm test":                  true,
		"echo x > vendor/autoload.php; phpunit":                       true,
		"echo x > build/CMakeCache.txt; cmake --build build":          true,
		"cmake -B build && cmake --build build && make -C build test": false,
		"npm ci && npm test":                                          false,
	} {
		if got := strings.Contains(tell(text), " obeys "); got != want {
			t.Errorf("%s: %v, want %v\n%s", text, got, want, tell(text))
		}
	}
}
