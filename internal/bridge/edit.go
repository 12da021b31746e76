package bridge

import (
	"go/ast"
	"strings"
)

// members puts the fields that head adds to a struct of base's, and the methods
// it adds to an interface, into base's declaration.
func (b *builder) members(p *plan, spec *ast.TypeSpec) {
	base, ok := b.known.types[spec.Name.Name]
	if !ok {
		return
	}
	was, is := memberList(base.node.Type), memberList(spec.Type)
	if was == nil || is == nil || interfaceType(base.node.Type) != interfaceType(spec.Type) {
		return
	}
	known := make(map[string]bool)
	for _, field := range was.List {
		for _, name := range memberNames(field) {
			known[name] = true
		}
	}
	for _, field := range is.List {
		names := memberNames(field)
		if fresh := fresh(names, known); len(fresh) == 0 {
			continue
		}
		text := p.head.text(field.Pos(), field.End())
		if len(names) > 1 {
			if fresh := fresh(names, known); len(fresh) < len(names) {
				text = strings.Join(fresh, ", ") + " " + p.head.text(field.Type.Pos(), field.End())
			}
		}
		b.tagged(field)
		b.insert(base.file, was, spec.Name.Name+"."+strings.Join(names, ","), text)
	}
}

func memberList(expr ast.Expr) *ast.FieldList {
	switch expr := expr.(type) {
	case *ast.StructType:
		return expr.Fields
	case *ast.InterfaceType:
		return expr.Methods
	}
	return nil
}

func interfaceType(expr ast.Expr) bool {
	_, ok := expr.(*ast.InterfaceType)
	return ok
}

// memberNames are a field's names; an embedded one has its type's.
func memberNames(field *ast.Field) []string {
	if len(field.Names) == 0 {
		return []string{bare(field.Type)}
	}
	var names []string
	for _, name := range field.Names {
		names = append(names, name.Name)
	}
	return names
}

func fresh(names []string, known map[string]bool) []string {
	var list []string
	for _, name := range names {
		if !known[name] && name != "" && name != "_" {
			list = append(list, name)
		}
	}
	return list
}

// insert puts a member before the bracket that closes the list, on its line.
func (b *builder) insert(f *file, list *ast.FieldList, key, text string) {
	b.edits[f] = append(b.edits[f], edit{key: key, at: f.offset(list.Closing), text: text, member: true})
}

// parameters gives a function of base's the parameters that head adds behind
// its own: base's body ignores them. Any other change of a signature stands as
// it is on base.
func (b *builder) parameters(p *plan, decl *ast.FuncDecl) {
	base, ok := b.known.funcs[keyOf(decl)]
	if !ok || base.node.Body == nil {
		return
	}
	was, is := flat(base.file, base.node.Type.Params), flat(p.head, decl.Type.Params)
	if len(is) <= len(was) || flatText(base.file, base.node.Type.Results) != flatText(p.head, decl.Type.Results) {
		return
	}
	for i := range was {
		if was[i].kind != is[i].kind || was[i].variadic() {
			return
		}
	}
	var names []string
	for i := range is {
		name := "_"
		if i < len(was) {
			name = was[i].name
		}
		names = append(names, name+" "+is[i].kind)
	}
	open, close := base.file.offset(base.node.Type.Params.Opening), base.file.offset(base.node.Type.Params.Closing)
	b.edits[base.file] = append(b.edits[base.file], edit{key: keyOf(decl) + "()", at: open + 1, cut: close - open - 1, text: strings.Join(names, ", ")})
}

// parameter is one name with its type.
type parameter struct{ name, kind string }

func (p parameter) variadic() bool { return strings.HasPrefix(p.kind, "...") }

func flat(f *file, list *ast.FieldList) []parameter {
	var found []parameter
	if list == nil {
		return nil
	}
	for _, field := range list.List {
		kind := strings.Join(strings.Fields(f.text(field.Type.Pos(), field.Type.End())), " ")
		if len(field.Names) == 0 {
			found = append(found, parameter{"_", kind})
		}
		for _, name := range field.Names {
			found = append(found, parameter{name.Name, kind})
		}
	}
	return found
}

func flatText(f *file, list *ast.FieldList) string {
	var kinds []string
	for _, p := range flat(f, list) {
		kinds = append(kinds, p.kind)
	}
	return strings.Join(kinds, ",")
}
