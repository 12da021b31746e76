package bridge

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// plan is what one file gets.
type plan struct {
	path       string
	base, head *file // base is nil for a file that only head has
	added      []addition
}

// addition is a declaration put behind a file's end.
type addition struct{ key, text string }

// edit is text put into a declaration of base's.
type edit struct {
	key    string
	at     int // offset in base's source
	cut    int // bytes taken out there
	text   string
	member bool // one more of a list that its separator must part it from
}

// plan reads off what head declares and base does not. Nil means nothing.
func (b *builder) plan(source Source) *plan {
	p := &plan{path: source.Path, base: b.known.files[source.Path], head: parse(source.Head)}
	switch {
	case source.Head == nil || source.Base != nil && p.base == nil:
		return nil
	case p.head == nil:
		b.gap("%s does not parse on head", source.Path)
		return nil
	case importsC(p.head):
		b.gap("%s uses cgo", source.Path)
		return nil
	}
	for _, decl := range p.head.parsed.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			b.function(p, decl)
		case *ast.GenDecl:
			b.general(p, decl)
		}
	}
	if p.base == nil && len(p.added) == 0 {
		return nil
	}
	return p
}

func importsC(f *file) bool {
	for _, spec := range f.parsed.Imports {
		if spec.Path.Value == `"C"` {
			return true
		}
	}
	return false
}

func (b *builder) gap(format string, args ...any) {
	b.out.Gaps = append(b.out.Gaps, fmt.Sprintf(format, args...))
}

// function adds a function that base does not have, with a body that marks.
func (b *builder) function(p *plan, decl *ast.FuncDecl) {
	key := keyOf(decl)
	switch {
	case decl.Name.Name == "_" || decl.Recv == nil && (decl.Name.Name == "init" || decl.Name.Name == "main"):
	case b.known.names[key]:
		b.parameters(p, decl)
	default:
		p.add(key, p.head.text(decl.Pos(), decl.Type.End())+" { panic(touchstoneReached("+quote(key+"()")+")) }")
	}
}

func (p *plan) add(key, text string) { p.added = append(p.added, addition{p.path + " " + key, text}) }

func quote(text string) string { return fmt.Sprintf("%q", text) }

func (b *builder) general(p *plan, decl *ast.GenDecl) {
	switch decl.Tok {
	case token.TYPE:
		for _, spec := range decl.Specs {
			b.typeSpec(p, spec.(*ast.TypeSpec))
		}
	case token.CONST:
		b.constants(p, decl)
	case token.VAR:
		for _, spec := range decl.Specs {
			b.variables(p, decl, spec.(*ast.ValueSpec))
		}
	}
}

func (b *builder) typeSpec(p *plan, spec *ast.TypeSpec) {
	if b.known.names[spec.Name.Name] {
		b.members(p, spec)
		return
	}
	p.add(spec.Name.Name, "type "+p.head.text(spec.Pos(), spec.End()))
	if s, ok := spec.Type.(*ast.StructType); ok {
		for _, field := range s.Fields.List {
			b.tagged(field)
		}
	}
}

// tagged remembers the names of a field that reflection reads.
func (b *builder) tagged(field *ast.Field) {
	if field.Tag == nil {
		return
	}
	for _, name := range field.Names {
		b.out.Values = append(b.out.Values, name.Name)
	}
}

// constants adds what is new of a group. Where the names that base has stand
// otherwise than there, iota counts otherwise, and nothing is added.
func (b *builder) constants(p *plan, decl *ast.GenDecl) {
	var fresh, old []string
	for _, name := range namesOf(decl) {
		if b.known.names[name] {
			old = append(old, name)
		} else if name != "_" {
			fresh = append(fresh, name)
		}
	}
	if len(fresh) == 0 {
		return
	}
	if len(old) > 0 && counts(decl) && !b.continues(decl, old) {
		b.gap("%s: the constants %s stand among base's own", p.path, strings.Join(fresh, ", "))
		return
	}
	p.add(strings.Join(fresh, ","), blankNames(p.head, decl, b.known.names))
	b.out.Values = append(b.out.Values, fresh...)
}

// counts tells whether a constant's value depends on where it stands.
func counts(decl *ast.GenDecl) bool {
	found := false
	ast.Inspect(decl, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == "iota" {
			found = true
		}
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 0 {
			found = true
		}
		return !found
	})
	return found
}

// continues tells whether the group begins with base's whole group.
func (b *builder) continues(decl *ast.GenDecl, old []string) bool {
	base, head := b.known.consts[old[0]], namesOf(decl)
	if len(base) == 0 || len(base) > len(head) {
		return false
	}
	for i, name := range base {
		if head[i] != name {
			return false
		}
	}
	return true
}

// blankNames is a group with the names that base has turned into blanks.
func blankNames(f *file, decl *ast.GenDecl, known map[string]bool) string {
	text := f.text(decl.Pos(), decl.End())
	begin := f.offset(decl.Pos())
	for i := len(decl.Specs) - 1; i >= 0; i-- {
		names := decl.Specs[i].(*ast.ValueSpec).Names
		for j := len(names) - 1; j >= 0; j-- {
			if known[names[j].Name] {
				at := f.offset(names[j].Pos()) - begin
				text = text[:at] + "_" + text[at+len(names[j].Name):]
			}
		}
	}
	return text
}

// variables adds a variable whose value can be had without running code of the
// package itself.
func (b *builder) variables(p *plan, decl *ast.GenDecl, spec *ast.ValueSpec) {
	var names []string
	for _, name := range spec.Names {
		if b.known.names[name.Name] {
			return
		}
		if name.Name != "_" {
			names = append(names, name.Name)
		}
	}
	if len(names) == 0 {
		return
	}
	if embeds(decl, spec) || !b.harmless(p.head, spec) {
		b.gap("%s: the value of %s runs code of the change", p.path, strings.Join(names, ", "))
		return
	}
	p.add(strings.Join(names, ","), "var "+markLiterals(p.head, spec, names[0]))
	b.out.Values = append(b.out.Values, names...)
}

func embeds(decl *ast.GenDecl, spec *ast.ValueSpec) bool {
	for _, doc := range []*ast.CommentGroup{decl.Doc, spec.Doc} {
		if doc == nil {
			continue
		}
		for _, comment := range doc.List {
			if strings.HasPrefix(comment.Text, "//go:embed") {
				return true
			}
		}
	}
	return false
}

// harmless tells whether a variable's value calls nothing but the standard
// library, outside function literals.
func (b *builder) harmless(f *file, spec *ast.ValueSpec) bool {
	std := make(map[string]bool)
	for _, imported := range f.parsed.Imports {
		if path := strings.Trim(imported.Path.Value, `"`); !strings.Contains(strings.Split(path, "/")[0], ".") {
			std[localName(imported)] = true
		}
	}
	ok := true
	for _, value := range spec.Values {
		ast.Inspect(value, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.CallExpr:
				ok = ok && plainCall(n, std)
			}
			return ok
		})
	}
	return ok
}

var builtins = map[string]bool{"make": true, "new": true, "len": true, "cap": true, "append": true, "string": true, "byte": true, "rune": true, "int": true, "int64": true, "uint64": true, "float64": true, "error": true}

func plainCall(call *ast.CallExpr, std map[string]bool) bool {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return builtins[fun.Name]
	case *ast.SelectorExpr:
		of, ok := fun.X.(*ast.Ident)
		return ok && std[of.Name]
	case *ast.ArrayType, *ast.MapType, *ast.InterfaceType:
		return true
	}
	return false
}

// markLiterals is a variable's declaration with the bodies of function literals
// replaced by the mark.
func markLiterals(f *file, spec *ast.ValueSpec, name string) string {
	text, begin := f.text(spec.Pos(), spec.End()), f.offset(spec.Pos())
	var bodies []*ast.BlockStmt
	ast.Inspect(spec, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			bodies = append(bodies, lit.Body)
			return false
		}
		return true
	})
	for i := len(bodies) - 1; i >= 0; i-- {
		from, to := f.offset(bodies[i].Pos())-begin, f.offset(bodies[i].End())-begin
		text = text[:from] + "{ panic(touchstoneReached(" + quote(name+"()") + ")) }" + text[to:]
	}
	return text
}
