package gate

import "strings"

// sourceOf is the text of a check, "" when it is not known.
func sourceOf(tree Tree, row Row) string {
	content, err := tree.ReadFile(row.File)
	if err != nil {
		return ""
	}
	lines := strings.SplitAfter(string(content), "\n")
	if row.Line < 1 || row.End < row.Line || row.End > len(lines) {
		return ""
	}
	return strings.Join(lines[row.Line-1:row.End], "")
}

// text is a row's source on a state that was opened, "" when it is not known. Of
// a row whose end is not known it is the first line.
func (r *replay) text(name StateName, row Row) string {
	o := r.states[name]
	if o == nil || o.state == nil {
		return ""
	}
	row.End = max(row.End, row.Line)
	return strings.TrimSuffix(sourceOf(o.state.Tree(), row), "\n")
}
