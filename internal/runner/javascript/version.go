package javascript

import "github.com/touchstone-gate/touchstone/gate"

// which prints the versions of Node and of a framework, which is looked up as
// Node looks it up from a directory; a package may hide its manifest.
const which = `const fs = require("fs"), path = require("path"), name = process.argv[1];
let said = "node " + process.version;
for (let dir = process.cwd(); name !== "node"; dir = path.dirname(dir)) {
  const file = path.join(dir, "node_modules", name, "package.json");
  if (fs.existsSync(file)) { said = name + " " + JSON.parse(fs.readFileSync(file, "utf8")).version + ", " + said; break; }
  if (dir === path.dirname(dir)) { said = name + " is not in node_modules, " + said; break; }
}
console.log(said);`

// Version asks Node and the framework which they are.
func (r *Runner) Version() gate.Command {
	return gate.Command{Argv: []string{"node", "-e", which, r.Config.Framework}, Dir: r.Dir, Env: r.Env, Timeout: r.Timeout}
}
