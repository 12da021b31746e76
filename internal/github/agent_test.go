package github

import "testing"

func TestAgentOf(t *testing.T) {
	for _, c := range []struct {
		about   string
		pull    Pull
		commits []Commit
		want    string
	}{
		{"copilot by login", Pull{Author: "Copilot-SWE-Agent[bot]"}, nil, "copilot"},
		{"copilot by id", Pull{Author: "Copilot", AuthorID: 198982749}, nil, "copilot"},
		{"copilot by branch", Pull{HeadRef: "copilot/fix-12"}, nil, "copilot"},
		{"copilot by address", Pull{}, []Commit{{Author: "198982749+Copilot@users.noreply.github.com"}}, "copilot"},
		{"copilot by trailer", Pull{}, []Commit{{Message: "Fix\n\nAgent-Logs-Url: https://github.com/x/y"}}, "copilot"},
		{"codex by title", Pull{Title: "[codex] Fix it"}, nil, "codex"},
		{"codex by task", Pull{Body: "https://chatgpt.com/codex/tasks/task_e_1"}, nil, "codex"},
		{"codex by id", Pull{AuthorID: 199175422}, nil, "codex"},
		{"codex by co-author", Pull{}, []Commit{{Message: "Fix\n\nCo-authored-by: Codex <codex@openai.com>"}}, "codex"},
		{"claude by co-author", Pull{}, []Commit{{Message: "Fix\n\nbody\n\nCo-Authored-By: Claude <noreply@anthropic.com>\n"}}, "claude"},
		{"claude by body", Pull{Body: "x\n\n🤖 Generated with [Claude Code](https://claude.com/claude-code)"}, nil, "claude"},
		{"claude by branch", Pull{HeadRef: "claude/issue-3"}, nil, "claude"},
		{"cursor by address", Pull{}, []Commit{{Author: "cursoragent@cursor.com"}}, "cursor"},
		{"cursor by link", Pull{Body: "[Open](https://cursor.com/agents/bc-12)"}, nil, "cursor"},
		{"cursor by older link", Pull{Body: "https://www.cursor.com/background-agent?bcId=1"}, nil, "cursor"},
		{"devin by branch", Pull{HeadRef: "devin/1741234567-fix"}, nil, "devin"},
		{"devin by login", Pull{Author: "devin-ai-integration[bot]"}, nil, "devin"},
		{"jules by branch", Pull{HeadRef: "jules-1234567890-ab12cd34"}, nil, "jules"},
		{"jules by body", Pull{Body: "PR created automatically by Jules for task 1"}, nil, "jules"},
		{"amazon-q", Pull{Author: "amazon-q-developer[bot]"}, nil, "amazon-q"},
		{"codegen", Pull{Author: "codegen-sh[bot]"}, nil, "codegen"},
		{"openhands", Pull{}, []Commit{{Author: "openhands@all-hands.dev"}}, "openhands"},
		{"aider", Pull{}, []Commit{{Message: "Fix\n\nCo-authored-by: aider (gpt) <noreply@aider.chat>"}}, "aider"},
		{"amp", Pull{}, []Commit{{Message: "Fix\n\nCo-authored-by: Amp <amp@ampcode.com>"}}, "amp"},
		{"opencode", Pull{}, []Commit{{Author: "noreply@opencode.ai"}}, "opencode"},

		{"a person", Pull{Author: "till", HeadRef: "fix/rounding", Title: "Fix rounding"}, []Commit{{Author: "till@example.com", Message: "Fix"}}, ""},
		{"dependabot bumps codex", Pull{Author: "dependabot[bot]", AuthorID: 49699333, HeadRef: "dependabot/npm_and_yarn/openai/codex-0.2", Title: "Bump @openai/codex from 0.1 to 0.2"}, nil, ""},
		{"docs about codex", Pull{HeadRef: "docs/codex-mcp"}, nil, ""},
		{"a word that ends like one", Pull{Title: "raider: fix", HeadRef: "raider/fix"}, nil, ""},
		{"a devin without seconds", Pull{HeadRef: "devin/readme"}, nil, ""},
		{"a person named jules", Pull{HeadRef: "jules-fix"}, nil, ""},
		{"claude in mid branch", Pull{HeadRef: "feat/claude/x"}, nil, ""},
		{"github's own address", Pull{}, []Commit{{Author: "noreply@github.com", Message: "Merge\n\nCo-authored-by: GitHub <noreply@github.com>"}}, ""},
		{"a review bot's suggestion", Pull{Author: "coderabbitai[bot]"}, []Commit{{Message: "Apply\n\nCo-authored-by: Copilot <175728472+Copilot@users.noreply.github.com>"}}, ""},
		{"an address that holds another", Pull{}, []Commit{{Author: "notnoreply@anthropic.com"}}, ""},
		{"an address in mid text", Pull{}, []Commit{{Message: "Mail noreply@anthropic.com\n\nSee noreply@aider.chat"}}, ""},
		{"a trailer in the subject", Pull{}, []Commit{{Message: "Co-authored-by: Claude <noreply@anthropic.com>"}}, ""},
		{"a similar login", Pull{Author: "my-cursor[bot]"}, nil, ""},
	} {
		name, signals := AgentOf(&c.pull, c.commits)
		if name != c.want || (name == "") != (len(signals) == 0) {
			t.Errorf("%s: %q %q, want %q", c.about, name, signals, c.want)
		}
	}
}
