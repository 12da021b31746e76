package javascript

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// manifest is what is read off a package.json.
type manifest struct {
	Name            string                     `json:"name"`
	Type            string                     `json:"type"`
	Scripts         map[string]string          `json:"scripts"`
	Dependencies    map[string]string          `json:"dependencies"`
	DevDependencies map[string]string          `json:"devDependencies"`
	Peers           map[string]string          `json:"peerDependencies"`
	Optional        map[string]string          `json:"optionalDependencies"`
	Workspaces      json.RawMessage            `json:"workspaces"`
	Rest            map[string]json.RawMessage `json:"-"`
}

// readManifest reads a directory's package.json; one that is absent or damaged
// says nothing.
func readManifest(tree gate.Tree, dir string) (m manifest, ok bool) {
	content, err := tree.ReadFile(path.Join(dir, "package.json"))
	if err != nil || json.Unmarshal(content, &m.Rest) != nil {
		return manifest{}, false
	}
	for key, into := range map[string]any{
		"name": &m.Name, "type": &m.Type, "scripts": &m.Scripts, "dependencies": &m.Dependencies, "devDependencies": &m.DevDependencies, "peerDependencies": &m.Peers, "optionalDependencies": &m.Optional, "workspaces": &m.Workspaces,
	} {
		if raw, has := m.Rest[key]; has {
			_ = json.Unmarshal(raw, into) // a value of another shape says nothing
		}
	}
	return m, true
}

func (m manifest) depends(name string) bool {
	for _, list := range []map[string]string{m.Dependencies, m.DevDependencies, m.Peers, m.Optional} {
		if _, listed := list[name]; listed {
			return true
		}
	}
	return false
}

// config is the text of a framework's section of package.json, "" without one.
func (m manifest) config(framework string) string { return string(m.Rest[framework]) }

func depth(dir string) int {
	if dir == "." {
		return 0
	}
	return strings.Count(dir, "/") + 1
}
