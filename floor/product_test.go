package floor

import (
	"testing"

	"assent/approval"
)

// What a build writes is not asked about under a name that builds write. A
// person's own rule about the place, and every block, holds for it all the same.
func TestProducts(t *testing.T) {
	const allow, ask, deny, block = approval.Allow, approval.Ask, approval.Deny, approval.Block
	const infra = "run: {allow: [\"@build\"]}\nwrite: {deny: [\"infra/**\", dist/keep/**]}\n"
	tests := []struct {
		name, policy, command string
		want                  Result
	}{
		{"compiler", infra, "gcc x.c -o infra/x", deny},
		{"compiler-long-option", infra, "gcc -c x.c --output=infra/x.o", deny},
		{"compiler-prototypes", infra, "gcc -c x.c -aux-info infra/x.d", deny},
		{"compiler-dump", infra, "gcc -c x.c -dumpdir infra/x", deny},
		{"compiler-dependencies", infra, "gcc -MD -MF infra/x.d -c x.c", deny},
		{"compiler-commands", infra, "clang -MJ infra/x.out -c x.c", deny},
		{"compiler-diagnostics", infra, "clang --serialize-diagnostics infra/x.out -c x.c", deny},
		{"compiler-modules", infra, "clang -fmodules-cache-path=infra/build -c x.c", deny},
		{"linker", infra, "ld -o infra/x x.o", deny},
		{"linker-map", infra, "ld -Map=infra/x.map x.o", deny},
		{"archive", infra, "ar rcs infra/x.a x.o", deny},
		{"archive-deletion", infra, "ar d infra/x.a x.o", deny},
		{"archive-index", infra, "ar s infra/x.a", deny},
		{"go-program", infra, "go build -o infra/x ./cmd", deny},
		{"go-folder", infra, "go build -o infra ./cmd", deny},
		{"go-coverage", infra, "go test -coverprofile=infra/c.out ./a", deny},
		{"go-trace", infra, "go test -trace infra/c.out ./a", deny},
		{"go-profile", infra, "go test -cpuprofile infra/c.prof ./a", deny},
		{"go-output-folder", infra, "go test -outputdir infra ./a", deny},
		{"rust-program", infra, "rustc -o infra/x x.rs", deny},
		{"rust-folder", infra, "rustc --out-dir infra x.rs", deny},
		{"java-classes", infra, "javac -d infra A.java", deny},
		{"java-headers", infra, "javac -h infra A.java", deny},
		{"java-sources", infra, "javac -s infra A.java", deny},
		{"cmake-folder", infra, "cmake -B infra/build", deny},
		{"cargo-folder", infra, "cargo build --target-dir infra/target", deny},
		{"types-folder", infra, "tsc --outDir infra/dist", deny},
		{"report", infra, "pytest --junitxml=infra/build/x.xml", deny},
		{"make-target", infra, "make infra/x", deny},
		{"below-a-folder-that-is-filled", infra, "tsc --outDir dist", deny},
		{"through-a-variable", infra, "D=infra; gcc x.c -o $D/x", deny},
		{"in-a-folder", infra, "cd infra && gcc x.c -o x", deny},
		{"a-name-nobody-knows", infra, "gcc x.c -o $X", ask},
		{"a-pattern", infra, "gcc x.c -o 'inf'*/x", deny},
		{"elsewhere", infra, "gcc x.c -o x", allow},
		{"elsewhere-in-a-folder", infra, "cmake -S . -B build", allow},
		{"beside-what-is-kept", infra, "tsc --outDir dist/js", allow},

		// Names that no word of the command line says.
		{"beside-the-source", infra, "javac infra/A.java", deny},
		{"beside-the-source-elsewhere", infra, "javac src/A.java", allow},
		{"bytecode", infra, "python -m py_compile infra/x.py", deny},
		{"bytecode-of-a-folder", infra, "python -m compileall infra", deny},
		{"bytecode-of-all", infra, "python3 -m compileall .", deny},
		{"bytecode-elsewhere", infra, "python3 -m compileall src", allow},
		{"a-program-called-a.out", infra, "cd infra && gcc x.c", deny},
		{"an-object", infra, "cd infra && gcc -c ../x.c", deny},
		{"an-object-of-a-source-there", infra, "gcc -c infra/x.c", allow},
		{"types-of-a-file", infra, "tsc infra/x.ts", deny},
		{"types-of-a-project", infra, "tsc -p infra", ask},
		{"types-checked", infra, "tsc -p infra --noEmit", allow},
		{"make-there", infra, "cd infra && make", ask},
		{"make-in", infra, "make -C infra", ask},
		{"make-says-what-it-would-do", infra, "make -n -C infra", allow},
		{"cargo-there", infra, "cd infra/a && cargo build", ask},
		{"cargo-of-a-manifest", infra, "cargo build --manifest-path infra/Cargo.toml", ask},
		{"go-there", infra, "cd infra && go build", ask},
		{"go-vet-there", infra, "cd infra && go vet", allow},
		{"make-elsewhere", infra, "cd src && make && go build && cargo build && cmake .", allow},
		{"kinds-of-output", infra, "rustc --emit=asm=infra/x.s x.rs", deny},
		{"kinds-of-output-apart", infra, "rustc --emit link,dep-info=infra/x.d x.rs", deny},
		{"kinds-of-output-outside", infra, "rustc --emit=asm=../x.s x.rs", deny},
		{"information", infra, "cmake --system-information infra/x", deny},
		{"pictures", infra, "dot -Tpng -O infra/x.dot", deny},
		{"pictures-elsewhere", infra, "dot -Tpng -O x.dot", ask},
		{"data-into-one", infra, "coverage combine infra", deny},
		{"data-into-one-file", infra, "coverage combine --data-file=infra/.coverage", deny},
		{"data-taken-away", "version: 1\n", "coverage combine a", ask},
		{"data-of-its-own", infra, "coverage combine && coverage combine --keep", allow},
		{"data-of-its-own-is-denied", "delete: {deny: [\".coverage*\"]}\n", "coverage combine", deny},

		{"person-asks", "write: {ask: [\"infra/**\"]}\n", "gcc x.c -o infra/x", ask},
		{"a-name-everywhere", "write: {deny: [\"**/keep.o\"]}\n", "gcc -c x.c -o build/keep.o", deny},
		{"a-name-everywhere-in-a-folder", "write: {deny: [\"**/keep.o\"]}\n", "tsc --outDir dist", allow},
		{"nobody-says-anything", "version: 1\n", "gcc x.c -o build/x && go build -o bin/x ./cmd && tsc --outDir dist", allow},
		{"outside", "version: 1\n", "gcc x.c -o ../x", deny},
		{"hooks", "version: 1\n", "gcc x.c -o .git/hooks/pre-commit", block},
		{"hooks-in-a-product", "version: 1\n", "go build -o build/.git/hooks/x ./c", block},
		{"settings-of-an-editor", "version: 1\n", "go build -o build/.vscode/x ./c", block},
		{"settings-of-agents", "version: 1\n", "tsc --outDir dist/.claude", block},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &Floor{Operator: mustParse(t, tt.policy, Operator)}
			if v := f.Judge(bash(tt.command)); v.Result != tt.want {
				t.Errorf("%s\ngot %v, want %v: %s", tt.command, v.Result, tt.want, v.Message)
			}
		})
	}

	// A rule of a project or an organization holds as well.
	const rule = "write: {deny: [\"infra/**\"]}\n"
	for _, f := range []*Floor{{Project: mustParse(t, rule, Project)}, {Managed: mustParse(t, rule, Managed)}} {
		if v := f.Judge(bash("gcc x.c -o infra/x")); v.Result != deny {
			t.Errorf("got %v, want deny: %s", v.Result, v.Message)
		}
	}
	// A link that leads out of the tree does so for a product too.
	out := bash("gcc x.c -o build/x")
	out.Facts.Links = map[string]string{"/home/user/project/build": "/etc"}
	if v := new(Floor).Judge(out); v.Result != deny {
		t.Errorf("a link out of the tree: got %v, want deny: %s", v.Result, v.Message)
	}
}
