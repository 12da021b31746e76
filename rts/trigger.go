package rts

import (
	"path"
	"slices"
	"strings"
)

// globalNames are files that every test may depend on without opening them:
// they decide what is installed, built, collected and how.
var globalNames = []string{
	"go.mod", "go.sum", "go.work", "go.work.sum", "modules.txt",
	"pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "noxfile.py",
	"requirements*.txt", "requirements*.in", "constraints*.txt", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile", "Pipfile.lock", "environment*.yml",
	"MANIFEST.in", "sitecustomize.py", "usercustomize.py", "*.pth",
	"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml", "bun.lock", "bun.lockb", ".npmrc", ".yarnrc*", ".pnp.*",
	"tsconfig*.json", "jsconfig*.json", "babel.config.*", ".babelrc*", ".swcrc", "jest.config.*", "jest.setup.*", "jest-setup.*", "vitest.config.*", "vitest.setup.*", "vitest.workspace.*",
	"vite.config.*", "webpack.config.*", "rollup.config.*", ".mocharc.*", "mocha.opts", "ava.config.*", "karma.conf.*", "setupTests.*", "setup-tests.*",
	".nvmrc", ".node-version", ".python-version", ".ruby-version", ".tool-versions", "mise.toml", ".env*", "Makefile", "makefile", "GNUmakefile", "CMakeLists.txt", "*.cmake", "Dockerfile*",
	"Cargo.toml", "Cargo.lock", "build.rs", "rust-toolchain*", "pom.xml", "build.gradle*", "settings.gradle*", "gradle.properties", "*.lockfile",
	".gitmodules", ".gitattributes",
}

// dataTypes are extensions of files that take part only where they are opened,
// which is observed.
var dataTypes = wordSet(`.json .yaml .yml .txt .md .rst .csv .tsv .html .htm .xml .toml .ini .cfg .conf .tmpl .tpl .j2 .jinja .jinja2 .sql .css .svg .golden
	.snap .out .in .expected .diff .patch .log .jsonl .ndjson .graphql .po .pot .png .jpg .jpeg .gif .pdf .zip .gz .tar .txtar .dat .data .properties .pem .crt .key`)

var sourceTypes = wordSet(`.go .py .pyi .js .jsx .ts .tsx .mjs .cjs .mts .cts .vue .svelte`)

// scriptTypes are those of JavaScript and TypeScript.
var scriptTypes = wordSet(`.js .jsx .ts .tsx .mjs .cjs .mts .cts .vue .svelte`)

// nativeTypes belong to the Go package they lie beside.
var nativeTypes = wordSet(`.c .h .s .cc .cpp .cxx .hh .hpp .hxx .m .f .syso .swig .swigcxx`)

// global says why a change concerns everything, "" when it does not.
func global(f FileChange, allIfChanged func(string) bool) string {
	dir, base := split(f.Path)
	switch {
	case allIfChanged != nil && allIfChanged(f.Path):
		return f.Path + " is in select.all_if_changed"
	case f.Neutral:
		return ""
	case matches(globalNames, base) && !inTestdata(dir):
		return f.Path + " decides how everything is built or run"
	case base == "conftest.py" && dir == ".":
		return f.Path + " is for every test"
	case dir == "vendor" || strings.HasPrefix(dir, "vendor/"):
		return f.Path + " is a vendored dependency"
	}
	return ""
}

func inTestdata(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool {
		return part == "testdata" || part == "fixtures" || part == "__fixtures__"
	})
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}
