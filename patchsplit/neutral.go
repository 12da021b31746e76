package patchsplit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var (
	ciDirs  = []string{".github/", ".gitlab/", ".circleci/", ".buildkite/", ".azure-pipelines/", ".woodpecker/", ".forgejo/", ".gitea/"}
	ciNames = []string{
		".gitlab-ci.yml", ".travis.yml", ".cirrus.yml", ".drone.yml", "azure-pipelines.yml", "appveyor.yml", ".appveyor.yml",
		"Jenkinsfile", "bitbucket-pipelines.yml", "codecov.yml", ".codecov.yml", ".coveralls.yml",
	}
	botNames = []string{
		".mergify.yml", "renovate.json", "renovate.json5", ".renovaterc", ".renovaterc.json", ".readthedocs.yaml", ".readthedocs.yml", "netlify.toml",
	}
	// forgeFiles lie beside workflows and run nothing.
	forgeFiles = lazyregexp.New(`^\.(github|gitlab|gitea|forgejo)/(ISSUE_TEMPLATE|issue_templates|PULL_REQUEST_TEMPLATE|merge_request_templates|FUNDING|CODEOWNERS|dependabot|renovate|labeler|stale|lock|release|settings|img|images|assets)\b`)
	editorDirs = []string{".vscode/", ".idea/", ".devcontainer/", ".claude/", ".cursor/", ".zed/", ".husky/"}
)

// ciFile is the rule for what runs the tests from outside: no test sees it, but
// a reader should.
func ciFile(path string) Decision {
	if !strings.HasPrefix(path, ".") && strings.Contains(path, "/") {
		return Decision{}
	}
	if forgeFiles.MatchString(path) && extOf(path) != ".md" {
		return Decision{Part: Neutral, Why: "settings of the code host (" + dirOf(path) + ")"}
	}
	if slices.Contains(botNames, path) {
		return Decision{Part: Neutral, Why: "settings of bots and services"}
	}
	for _, dir := range ciDirs {
		if strings.HasPrefix(path, dir) && extOf(path) != ".md" {
			return Decision{Part: Neutral, Class: ClassTestConfig, Why: "continuous integration (" + strings.TrimSuffix(dir, "/") + ")"}
		}
	}
	if slices.Contains(ciNames, path) {
		return Decision{Part: Neutral, Class: ClassTestConfig, Why: "continuous integration"}
	}
	return Decision{}
}

// isEditorName knows the files that only editors, linters and git read.
func isEditorName(base string) bool {
	switch base {
	case ".editorconfig", ".gitignore", ".gitattributes", ".mailmap", ".git-blame-ignore-revs", ".dockerignore", ".npmignore", ".prettierignore",
		".golangci.yml", ".golangci.yaml", ".golangci.toml", ".pre-commit-config.yaml", ".eslintrc", ".eslintrc.js", ".eslintrc.cjs",
		".eslintrc.json", ".eslintrc.yml", ".eslintignore", "eslint.config.js", "eslint.config.mjs", "eslint.config.ts", ".prettierrc", ".prettierrc.json",
		".flake8", ".pylintrc", ".ruff.toml", "ruff.toml", "mypy.ini", ".rubocop.yml", "rustfmt.toml", ".rustfmt.toml", "clippy.toml",
		".clang-format", ".clang-tidy", ".cursorrules", ".shellcheckrc", ".yamllint", ".yamllint.yml", ".markdownlint.json", "typos.toml", ".typos.toml":
		return true
	}
	return false
}

// editorFile is the rule for what only editors, linters and git read.
func (c *Classifier) editorFile(path string) Decision {
	if isEditorName(baseOf(path)) {
		return c.unlessUsed(path, Decision{Part: Neutral, Why: "read by editors, linters or git only"})
	}
	for _, dir := range editorDirs {
		if strings.HasPrefix(path, dir) {
			return c.unlessUsed(path, Decision{Part: Neutral, Why: "editor settings (" + strings.TrimSuffix(dir, "/") + ")"})
		}
	}
	return Decision{}
}

// benchmark is the rule for a repository's own benchmarks: programs beside the
// product that no test runs. Go's lie among the tests, Rust's are built with the
// crate.
func (c *Classifier) benchmark(path string) Decision {
	switch top, _, _ := strings.Cut(path, "/"); top {
	case "benchmark", "benchmarks", "bench", "asv_bench":
		if ext := extOf(path); ext != ".go" && ext != ".rs" {
			return c.unlessUsed(path, Decision{Part: Neutral, Why: "benchmark, which no test runs"})
		}
	}
	return Decision{}
}

// unlessUsed takes back what a place says of a source that lies there when the
// product or a test imports it: then tests see it, and it is the product's.
func (c *Classifier) unlessUsed(path string, d Decision) Decision {
	if d.Part != Neutral || !IsCode(path) || c.blind() {
		return d
	}
	if user := c.userOf(path); user != "" {
		return Decision{Part: Production, Why: fmt.Sprintf("%s imports it", user)}
	}
	return d
}

var noteDirs = []string{"newsfragments", "changelog.d", "releasenotes", ".changeset", ".changes", ".changelog", "changelog", "changelogs", "news", "changes", "release-notes", "whatsnew"}

// releaseNote is the rule for fragments of a change log, in whatever format.
func releaseNote(path string) Decision {
	if IsCode(path) {
		return Decision{}
	}
	for name := range strings.SplitSeq(dirOf(path), "/") {
		if slices.Contains(noteDirs, strings.ToLower(name)) {
			return Decision{Part: Neutral, Class: ClassDocs, Why: "release note"}
		}
	}
	return Decision{}
}

var (
	// legal names stand with any extension: LICENSE.APACHE, COPYING.LESSER.
	legal   = lazyregexp.New(`(?i)^(licen[cs]e|copying|copyright|notice|patents)([-_.].*)?$`)
	docName = lazyregexp.New(`(?i)^(readme|changes|changelog|history|news|authors|contributors|contributing|contribute|` +
		`code[-_]of[-_]conduct|conduct|security|maintainers|codeowners|owners|support|governance|roadmap|todo|credits|thanks|citation|upgrading|` +
		`releas(e|es|ing)|hacking|acknowledge?ments|claude|agents|gemini|copilot-instructions)([-_.].*)?$`)
	docExts = []string{".md", ".markdown", ".mdx", ".rst", ".adoc", ".asciidoc", ".textile", ".pod", ".rdoc"}
	docDirs = []string{"docs", "doc", "documentation", "man", "site", "website", "mkdocs"}
	figures = []string{".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico", ".pdf", ".mp4", ".css", ".txt", ".html", ".drawio", ".dot", ".puml", ".bib", ".ipynb"}
)

// documentation is the rule for text that people read. Text that tests read is
// theirs, and text inside a package may be the product's own data.
func (c *Classifier) documentation(path string) Decision {
	why := c.docWords(path)
	if why == "" {
		return Decision{}
	}
	if reader := c.readByTests(path); reader != "" {
		return Decision{Part: Test, Class: ClassSupport, Why: fmt.Sprintf("documentation that %s reads", reader)}
	}
	return c.unlessUsed(path, Decision{Part: Neutral, Class: ClassDocs, Why: why})
}

// docWords says why a file is documentation, "" when it is not.
func (c *Classifier) docWords(path string) string {
	base, ext := baseOf(path), extOf(path)
	if IsCode(path) && ext != ".py" || ext == ".json" {
		return ""
	}
	prose := slices.Contains(docExts, ext) || slices.Contains([]string{"", ".txt", ".cff"}, ext)
	if prose && docName.MatchString(base) || !IsCode(path) && legal.MatchString(base) {
		return "documentation (" + base + ")"
	}
	home, under := docDirectory(path)
	packaged := c.inPythonPackage(path)
	switch {
	case slices.Contains(docExts, ext) && (under || !packaged):
		return "documentation (" + ext + ")"
	case !under:
		return ""
	case (slices.Contains(figures, ext) || ext == "") && c.belowPythonPackage(path):
		return "" // a page or a style that the package may well serve
	case slices.Contains(figures, ext) || ext == "":
		return "documentation under " + home
	case ext == ".py" && !packaged, base == "make.bat":
		return "builds the documentation under " + home
	}
	return ""
}

// docDirectory finds the outermost directory that holds documentation by name.
// Code in it is not documentation: doc/ may well be a package.
func docDirectory(path string) (string, bool) {
	for end := range slashes(path) {
		if slices.Contains(docDirs, strings.ToLower(baseOf(path[:end]))) {
			return path[:end], true
		}
	}
	return "", false
}
