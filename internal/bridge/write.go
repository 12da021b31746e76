package bridge

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// write puts one file together. Base's code keeps its lines: imports go behind
// the package clause, on its line, and additions behind the end.
func (b *builder) write(p *plan, mark string) {
	added := slices.DeleteFunc(slices.Clone(p.added), func(a addition) bool { return b.without[a.key] })
	var text strings.Builder
	var pieces []Piece
	if p.base != nil {
		pieces = b.edited(p, &text)
	} else if len(added) > 0 {
		text.WriteString(opening(p.head))
	}
	if len(added) == 0 && len(pieces) == 0 {
		return
	}
	marks := !b.marked && len(added) > 0
	imports := p.imports(added)
	if marks {
		imports += `; import touchstoneOS "os"; import touchstoneConv "strconv"`
	}
	content := withImports(text.String(), imports)
	if !strings.HasSuffix(content, "\n") {
		content += "\n"
	}
	for _, a := range added {
		from := lineCount(content) + 1
		content += a.text + "\n"
		pieces = append(pieces, Piece{Key: a.key, File: p.path, From: from, To: lineCount(content)})
	}
	if marks {
		b.marked = true
		content += fmt.Sprintf(reached, mark)
	}
	b.out.Files[p.path] = []byte(content)
	b.out.Pieces = append(b.out.Pieces, pieces...)
}

// reached is the mark: it cannot be recovered, whatever stands around it, and
// leaves a trace where the process that reached it is not the one that is
// watched.
const reached = `
func touchstoneReached(name string) string {
	if file, err := touchstoneOS.OpenFile(%q, touchstoneOS.O_APPEND|touchstoneOS.O_CREATE|touchstoneOS.O_WRONLY, 0666); err == nil {
		file.WriteString(touchstoneConv.Itoa(touchstoneOS.Getpid()) + " " + name + "\n")
		file.Close()
	}
	go func() { panic("touchstone: reached " + name + ", which base does not have") }()
	select {}
}
`

// edited writes base's source with what is put into its declarations.
func (b *builder) edited(p *plan, to *strings.Builder) []Piece {
	edits := slices.DeleteFunc(slices.Clone(b.edits[p.base]), func(e edit) bool { return b.without[p.path+" "+e.key] })
	slices.SortStableFunc(edits, func(x, y edit) int { return x.at - y.at })
	var pieces []Piece
	done := 0
	for i, e := range edits {
		to.Write(p.base.source[done:e.at])
		if e.member && (i > 0 && edits[i-1].at == e.at || !fresher(to.String())) {
			to.WriteString("; ")
		}
		from := lineCount(to.String()) + 1
		to.WriteString(e.text)
		pieces = append(pieces, Piece{Key: p.path + " " + e.key, File: p.path, From: from, To: lineCount(to.String()) + 1, Edit: true})
		done = e.at + e.cut
	}
	to.Write(p.base.source[done:])
	return pieces
}

// fresher tells whether a member may follow a text without a separator.
func fresher(text string) bool {
	text = strings.TrimRight(text, " \t")
	return strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "{")
}

// opening is all that stands before a file's imports: its build constraints and
// its package clause.
func opening(f *file) string {
	return string(f.source[:f.offset(f.parsed.Name.End())]) + "\n"
}

func withImports(content, imports string) string {
	if imports == "" {
		return content
	}
	f := &file{source: []byte(content), files: token.NewFileSet()}
	var err error
	if f.parsed, err = parser.ParseFile(f.files, "", content, parser.PackageClauseOnly); err != nil {
		return content
	}
	at := f.offset(f.parsed.Name.End())
	return content[:at] + imports + content[at:]
}

// imports are those of head's that the additions select from and that base's
// file does not have.
func (p *plan) imports(added []addition) string {
	used := make(map[string]bool)
	for _, a := range added {
		selected("package p\n"+a.text, used)
	}
	have := make(map[string]bool)
	if p.base != nil {
		for _, spec := range p.base.parsed.Imports {
			have[localName(spec)+" "+spec.Path.Value] = true
		}
	}
	text := ""
	for _, spec := range p.head.parsed.Imports {
		name := localName(spec)
		if !used[name] || have[name+" "+spec.Path.Value] {
			continue
		}
		have[name+" "+spec.Path.Value] = true
		text += "; import "
		if spec.Name != nil {
			text += spec.Name.Name + " "
		}
		text += spec.Path.Value
	}
	return text
}

// selected collects the names that something is selected from.
func selected(source string, into map[string]bool) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		return
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				into[x.Name] = true
			}
		}
		return true
	})
}

var majorVersion = lazyregexp.New(`^v\d+$`)

// localName is the name that an import is used by: its own, else what the path
// suggests.
func localName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	value, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return ""
	}
	base := path.Base(value)
	if majorVersion.MatchString(base) {
		base = path.Base(path.Dir(value))
	}
	base, _, _ = strings.Cut(base, ".v")
	return strings.TrimSuffix(strings.TrimPrefix(base, "go-"), "-go")
}
