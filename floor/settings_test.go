package floor

import (
	"testing"

	"assent/approval"
)

// A configuration that an option names and that can run code is run like any
// other file, unless it is called as the tool would find it: then it is what
// the tool obeys anyway.
func TestNamedSettings(t *testing.T) {
	const allow, ask, deny = approval.Allow, approval.Ask, approval.Deny
	for _, tt := range []struct {
		command string
		want    Result
	}{
		{"pytest -c x", ask}, {"pytest -c x.ini", ask}, {"pytest -c pytest.ini", allow}, {"pytest --cov-config=x", ask}, {"pytest --cov-config=.coveragerc", allow},
		{"coverage report --rcfile=x", ask}, {"coverage report --rcfile=.coveragerc", allow},
		{"pylint --rcfile=x src", ask}, {"pylint --rcfile=.pylintrc src", allow}, {"python -m pylint --rcfile x src", ask},
		{"mypy --config-file x src", ask}, {"mypy --config-file=mypy.ini src", allow}, {"mypy --config-file /tmp/mypy.ini src", deny},
		{"flake8 --config x", ask}, {"flake8 --append-config=x", ask}, {"flake8 --config=setup.cfg", allow},
		{"tox -c x", ask}, {"nox -f x.py", ask}, {"mkdocs build -f x.yml", ask}, {"mkdocs build -f docs/mkdocs.yml", allow},
		{"alembic -c x history", ask}, {"black --config x src", ask}, {"ruff check --config x.toml src", allow}, {"isort --check --settings-path x src", allow}, {"bandit -c x.yaml -r src", allow}, {"yamllint -c x a.yaml", allow},
		{"ansible-lint -r x", ask}, {"sqlfluff lint --config x a.sql", ask}, {"pyright --venvpath x", ask},
		{"eslint -c x.js .", ask}, {"eslint -cx.js .", ask}, {"eslint --config=x.js .", ask}, {"eslint -c eslint.config.js .", allow}, {"eslint -c ../eslint.config.js .", deny}, {"eslint -c $X .", ask},
		{"prettier --config x a.js", ask}, {"prettier --plugin x a.js", ask}, {"prettier --config .prettierrc.json a.js", allow},
		{"stylelint --config x a.css", ask}, {"jest -c x", ask}, {`jest -c '{"transform":{}}'`, ask}, {"jest -c test/jest-e2e.json", allow}, {"jest --config=jest.unit.config.ts", allow},
		{"vitest run -c x", ask}, {"vitest run -c vitest.config.mts", allow}, {"webpack -c x.js", ask}, {"webpack --config webpack.prod.js", allow}, {"vite build -c x", ask}, {"vite build --config vite.config.lib.ts", allow},
		{"rollup -c x.js", ask}, {"rollup --config x.js", ask}, {"rollup -c", allow}, {"rollup -c rollup.config.mjs", allow}, {"tsc -p x", allow},
		{"babel --config-file x src", ask}, {"babel --config-file ./babel.config.js src", allow}, {"mocha --config x", ask}, {"mocha --package x", ask}, {"ava --config x", ask}, {"nyc -c x node --version", ask},
		{"playwright test -c x", ask}, {"playwright test -c e2e/playwright.config.ts", allow}, {"cypress run -C x", ask}, {"wtr --config x", ask}, {"knip --config x", ask}, {"tsup --config x", ask},
		{"postcss --config x -o dist/a.css a.css", ask}, {"typedoc --options x", ask}, {"jsdoc -c x", ask}, {"commitlint -g x", ask}, {"lint-staged -c x", ask}, {"storybook build -c x", ask}, {"storybook build -c .storybook", allow},
		{"ng test --karma-config x", ask}, {"turbo run build --root-turbo-json x", ask}, {"deno test -c x", ask}, {"deno test --import-map x", ask}, {"deno test -c deno.jsonc", allow},
		{"node --test --env-file x", ask}, {"markdownlint-cli2 --config x.cjs a.md", ask}, {"markdownlint-cli2 --config .markdownlint.json a.md", allow},
		{"spectral lint -r x.js a.yaml", ask}, {"spectral lint -r x.yaml a.yaml", allow}, {"ajv validate -c x -s a.json -d b.json", ask},
		{"rubocop -c x", ask}, {"rubocop -r x", ask}, {"rubocop -c .rubocop_ci.yml", allow}, {"rspec -O x", ask}, {"steep check -c x", ask}, {"rake -f x", ask},
		{"phpunit -c x", ask}, {"phpunit -c phpunit.ci.xml", allow}, {"phpstan analyse -c x src", ask}, {"phpstan analyse -c phpstan.neon src", allow}, {"phpcs --standard=PSR12 src", allow}, {"phpcs --standard=x.xml src", ask}, {"phpcs --standard=phpcs.xml src", allow},
		{"php-cs-fixer check --config x", ask}, {"rector process -n -c x", ask},
		{"golangci-lint run -c x", ask}, {"golangci-lint run -c .golangci.yml", allow}, {"sqlc vet -f x", ask}, {"buf generate --template x", ask}, {"tflint -c x", ask}, {"luacheck --config x a.lua", ask}, {"busted -f x", ask},
		{"karma start x.js", ask}, {"karma start karma.conf.ci.js --single-run", allow}, {"vitest --workspace x.ts", ask}, {"lint-imports --config x", ask}, {"bandit -c pyproject.toml -r src", allow},
		{"cabal build --project-file x", ask}, {"cabal build --project-file=cabal.project.ci", allow}, {"stack --stack-yaml x build", ask}, {"dune build --workspace x", ask}, {"markdownlint -r x a.md", ask}, {"markdownlint -c x.js a.md", ask},
		{"markdownlint -c .markdownlint.yaml a.md", allow}, {"spectral lint --resolver x.js a.yaml", ask}, {"ansible-lint -c x", ask}, {"clang-tidy --config-file=x a.c", ask}, {"buf lint --config x", ask}, {"uv --config-file x run pytest", ask},
		{"typedoc --tsconfig x", ask}, {"invoke -c x test", ask}, {"jekyll build --config x", ask}, {"jekyll build --config _config.yml", allow}, {"dotnet test -s x", ask}, {"dotnet test --settings x", ask},
		{"gradle -I x build", ask}, {"gradle -b x build", ask}, {"gradle -c x build", ask}, {"gradle --init-script x build", ask}, {"mvn -s x test", ask}, {"mvn -f x.xml test", ask}, {"make -f x", ask},
		{"cmake -P x", ask}, {"cmake -C x .", ask}, {"cmake -DCMAKE_TOOLCHAIN_FILE=x .", ask}, {"cmake --toolchain x .", ask}, {"ninja -f x", ask}, {"bazel --bazelrc=x build //a", ask},
		{"cargo --config x build", ask}, {"cargo build --manifest-path x", ask}, {"cargo build --manifest-path a/Cargo.toml", allow}, {"nginx -t -c x", ask}, {"uvicorn --env-file x a:b", ask}, {"just --dotenv-path x test", ask}, {"just -f x", ask},
		{"uv run --env-file x pytest", ask}, {"ctest -S x", ask}, {"meson setup build --native-file x", ask}, {"ant -f x.xml", ask}, {"sbt -addPluginSbtFile=x test", ask}, {"invoke -f x test", ask}, {"makers --env-file x test", ask},
		{"cmake-format -c x CMakeLists.txt", ask}, {"latexmk -r x a.tex", ask}, {"pre-commit run -c x", ask}, {"docker build -f x .", ask}, {"cap -f x staging", ask}, {"bundle --gemfile=x list", ask}, {"hugo --config x", ask},
	} {
		if v := (&Floor{}).Judge(bash(tt.command)); v.Result != tt.want {
			t.Errorf("%s\nis %s, want %s: %s", tt.command, v.Result, tt.want, v.Message)
		}
	}
}
