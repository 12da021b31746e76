package conformance

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
)

// Repository is one framework's small repository with the answers that its
// tests must get.
type Repository struct {
	Name     string // of its file: the framework's
	Files    []txtar.File
	Sections []Section

	settings map[string]string // the lines "key: value" above the answers
}

// Section is one situation: the lines of its rows, or why there are none.
type Section struct {
	Situation string   // one of Situations, or any other words after "more: "
	Lines     []string // "id: outcome reason names @file:line", the place optional
	None      string   // why the framework has no such notion
}

// Load reads a repository from an archive or from a directory that holds a file
// want.
func Load(path string) (*Repository, error) {
	r := &Repository{Name: strings.TrimSuffix(filepath.Base(path), ".txtar"), settings: make(map[string]string)}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		r.Files, err = filesBelow(path)
	} else {
		var archive *txtar.Archive
		if archive, err = txtar.ParseFile(path); err == nil {
			r.Files = archive.Files
		}
	}
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(r.Files, func(f txtar.File) bool { return f.Name == "want" })
	if i < 0 {
		return nil, fmt.Errorf("%s has no file want", path)
	}
	want := string(r.Files[i].Data)
	r.Files = slices.Delete(r.Files, i, i+1)
	if err := r.parse(want); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func filesBelow(dir string) ([]txtar.File, error) {
	var files []txtar.File
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "target" || entry.Name() == "build"): // a build's
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		content, err := os.ReadFile(filepath.Join(dir, path))
		files = append(files, txtar.File{Name: path, Data: content})
		return err
	})
	return files, err
}

// parse reads the settings and the sections.
func (r *Repository) parse(want string) error {
	for line := range strings.Lines(want) {
		line = strings.TrimRight(line, "\r\n")
		n := len(r.Sections)
		switch {
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "# "):
			r.Sections = append(r.Sections, Section{Situation: line[2:]})
		case n == 0:
			key, value, ok := strings.Cut(line, ": ")
			if !ok {
				return fmt.Errorf("%q stands above the first situation and is no setting", line)
			}
			r.settings[key] = value
		case strings.HasPrefix(line, "none: "):
			r.Sections[n-1].None = line[len("none: "):]
		default:
			r.Sections[n-1].Lines = append(r.Sections[n-1].Lines, line)
		}
	}
	return r.whole()
}

// whole holds that each situation is there once, and answered.
func (r *Repository) whole() error {
	seen := make(map[string]bool)
	for _, s := range r.Sections {
		switch {
		case seen[s.Situation]:
			return fmt.Errorf("the situation %q stands twice", s.Situation)
		case !slices.Contains(Situations, s.Situation) && !strings.HasPrefix(s.Situation, "more"):
			return fmt.Errorf("there is no situation %q", s.Situation)
		case (len(s.Lines) == 0) == (s.None == ""):
			return fmt.Errorf("the situation %q needs rows, or a line that begins with none", s.Situation)
		}
		seen[s.Situation] = true
	}
	for _, name := range Situations {
		if !seen[name] {
			return fmt.Errorf("the situation %q is missing", name)
		}
	}
	return nil
}

func (r *Repository) section(name string) Section {
	for _, s := range r.Sections {
		if s.Situation == name {
			return s
		}
	}
	return Section{}
}

// Timeout is the time limit that the repository asks for.
func (r *Repository) Timeout() time.Duration {
	if limit, err := time.ParseDuration(r.settings["timeout"]); err == nil {
		return limit
	}
	return time.Minute
}

// words are a setting's words, separated by commas.
func (r *Repository) words(key string) []string {
	return strings.FieldsFunc(r.settings[key], func(c rune) bool { return c == ',' || c == ' ' })
}
