package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/touchstone-gate/touchstone/internal/audit"
	"github.com/touchstone-gate/touchstone/internal/audit/ledger"
	"github.com/touchstone-gate/touchstone/internal/config"
	"github.com/touchstone-gate/touchstone/internal/git"
)

// coinOptions say whose coin is thrown, and how often it shows heads.
type coinOptions struct {
	repository string
	pr         int
	group      string
	member     string
	window     int
	head       string
	text       string
	agent      string
	paths      []string
	rate       float64
	shared     bool
	config     string
	settings   *config.Config // in place of reading a file
}

func (c *coinOptions) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&c.repository, "repository", "", "owner/name (default: $GITHUB_REPOSITORY, else the remote's)")
	flags.IntVar(&c.pr, "pr", 0, "number of the pull request")
	flags.StringVar(&c.group, "group", "", "the task (default: the issue that --text closes, else pr/N)")
	flags.StringVar(&c.member, "member", "", "line of attempts within the group (default: pr/N)")
	flags.IntVar(&c.window, "window", -1, "window of the coin (default: how many heads of the member the ledger has)")
	flags.StringVar(&c.head, "head", "", "commit that is judged: one that the ledger has keeps its window")
	flags.StringVar(&c.text, "text", "", "title and body of the pull request, to find the issue that it closes")
	flags.StringVar(&c.agent, "agent", "", "agent that wrote the change, for audit.agents")
	flags.StringArrayVar(&c.paths, "path", nil, "changed path, for audit.paths (repeatable)")
	flags.Float64Var(&c.rate, "rate", -1, "probability from 0 to 1, in place of the configuration's")
	flags.BoolVar(&c.shared, "shared", false, "one coin for the whole group and window, not one for each attempt")
	flags.StringVar(&c.config, "config", "", "configuration file (default: "+config.Path+" of the work tree's HEAD)")
}

// draw is a coin's throw as the next steps read it.
type draw struct {
	audit.Draw
	Design audit.Design      `json:"coin"`
	Floor  audit.Probability `json:"floor_ppm"`
	Why    audit.Why         `json:"why"`
	Words  string            `json:"why_ppm"`
}

func (a *App) auditCoinCommand(o *auditOptions) *cobra.Command {
	var c coinOptions
	var format string
	var explain, commitment, event bool
	cmd := &cobra.Command{
		Use:   "coin",
		Short: "Throw the coin that says whether a change is audited",
		Long: "Run it in a trusted job only: never in one that runs the change's code. The key is read from $" + auditKeyVariable + "\n" +
			"(hexadecimal, from openssl rand -hex 32). Publish its commitment before using it, and the key when it is retired.",
		Example: "  touchstone audit coin --commitment\n  touchstone audit coin --event                  # in a workflow: the output is called draw\n  touchstone audit coin --pr 12 --head $SHA --format json > draw.json\n  touchstone audit coin --pr 12 --explain",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			key, ok, err := a.auditKey()
			if err != nil {
				return err
			}
			if !ok {
				return &exit{exitUsage, fmt.Errorf("%s is not set: put a key there (openssl rand -hex 32), from a secret", auditKeyVariable)}
			}
			if commitment {
				fmt.Fprintln(a.Stdout, key.Commitment())
				return nil
			}
			if event {
				return a.eventCoin(cmd.Context(), o, key, format, explain)
			}
			return a.withLedger(cmd.Context(), o, func(s ledger.Store) error {
				d, err := a.throw(cmd.Context(), o, c, key, s)
				if err != nil {
					return err
				}
				return a.printDraw(d, key, format, explain)
			})
		},
	}
	c.flags(cmd)
	cmd.Flags().StringVar(&format, "format", "text", "text, json, or env (lines for a workflow's outputs)")
	cmd.Flags().BoolVar(&explain, "explain", false, "say how the draw came about")
	cmd.Flags().BoolVar(&commitment, "commitment", false, "print the key's commitment, to be published, and stop")
	cmd.Flags().BoolVar(&event, "event", false, "in a GitHub workflow: take pull request, text, paths, agent and configuration from the event and GitHub's API, and set the step's output draw")
	return cmd
}

// throw draws the coin of the next attempt of a member.
func (a *App) throw(ctx context.Context, o *auditOptions, c coinOptions, key audit.Key, s ledger.Store) (draw, error) {
	if err := c.complete(ctx, a, o); err != nil {
		return draw{}, &exit{exitUsage, err}
	}
	policy, err := a.auditPolicy(ctx, o, c)
	if err != nil {
		return draw{}, err
	}
	past, err := c.past(ctx, s)
	if err != nil {
		return draw{}, undecided(err)
	}
	rated := policy.For(c.agent, c.paths, past.suite)
	if c.window < 0 {
		c.window = past.window
	}
	coin := audit.Coin{Repository: c.repository, Group: c.group, Member: c.member, Window: c.window}
	d := draw{Design: audit.MemberCoins, Floor: policy.Floor(), Why: rated.Why, Words: rated.Words}
	if c.shared {
		d.Design, coin.Member = audit.GroupCoins, ""
	}
	d.Draw = key.Draw(coin, rated.Probability)
	return d, nil
}

// complete fills in what the flags leave open.
func (c *coinOptions) complete(ctx context.Context, a *App, o *auditOptions) error {
	c.repository = cmp.Or(c.repository, a.Getenv("GITHUB_REPOSITORY"))
	if c.repository == "" {
		if repo, err := git.Open(ctx, o.repo); err == nil {
			c.repository = repo.RepositoryName(ctx)
			repo.Close()
		}
	}
	if c.repository == "" {
		return fmt.Errorf("no repository is named: say --repository owner/name")
	}
	if c.group == "" && c.pr == 0 {
		return fmt.Errorf("no group is named: say --pr N, or --group")
	}
	c.group = cmp.Or(c.group, audit.GroupOf(c.repository, c.pr, c.text))
	if c.member == "" && !c.shared {
		c.member = audit.MemberOf(c.pr)
	}
	return nil
}

// auditPolicy reads the rates.
func (a *App) auditPolicy(ctx context.Context, o *auditOptions, c coinOptions) (audit.Policy, error) {
	settings, err := c.configured(ctx, o)
	if err != nil {
		return audit.Policy{}, &exit{exitUsage, err}
	}
	if c.rate >= 0 {
		settings.Audit.Rate, settings.Audit.Agents, settings.Audit.Paths = config.Rate(c.rate), nil, nil
	}
	policy, err := auditRates(settings.Audit)
	if err != nil {
		return policy, &exit{exitUsage, err}
	}
	return policy, nil
}

func (c *coinOptions) configured(ctx context.Context, o *auditOptions) (config.Config, error) {
	if c.settings != nil {
		return *c.settings, nil
	}
	repo, err := git.Open(ctx, o.repo)
	if err == nil {
		defer repo.Close()
		return headConfig(ctx, repo, c.config)
	}
	if c.config == "" {
		return config.Default(), nil // no repository, no configuration
	}
	return config.Config{}, err
}

// headConfig reads the configuration of HEAD: in a trusted job, the default
// branch is checked out and not the change.
func headConfig(ctx context.Context, repo *git.Repo, path string) (config.Config, error) {
	c := &change{repo: repo}
	commit, err := repo.Resolve(ctx, "HEAD")
	if err != nil && path == "" {
		return config.Default(), nil
	}
	if path == "" {
		if c.baseTree, err = repo.TreeOf(ctx, commit); err == nil {
			c.base, err = repo.Tree(ctx, c.baseTree)
		}
		if err != nil {
			return config.Config{}, err
		}
	}
	return readConfig(c, path)
}

// auditRates turns the configuration into a policy.
func auditRates(c config.Audit) (audit.Policy, error) {
	rate, err := audit.ParseProbability(float64(c.Rate))
	p := audit.Policy{Rate: rate, Under: time.Duration(c.FullWhenUnder), Agents: make(map[string]audit.Probability), Paths: make(map[string]audit.Probability)}
	for to, from := range map[*map[string]audit.Probability]map[string]config.Rate{&p.Agents: c.Agents, &p.Paths: c.Paths} {
		for name, r := range from {
			if err == nil {
				(*to)[name], err = audit.ParseProbability(float64(r))
			}
		}
	}
	return p, err
}

// past is what the ledger knows that a coin needs.
type past struct {
	window int
	suite  time.Duration
}

// past counts the member's judged heads: the next one has the next window, since
// the outcome of each is seen. One that the ledger has keeps its own.
func (c *coinOptions) past(ctx context.Context, s ledger.Store) (past, error) {
	var p past
	var heads []string
	err := ledger.Records(ctx, s, func(r *audit.Record) error {
		if r.Repository != c.repository {
			return nil
		}
		if r.SuiteSeconds > 0 && r.Full != audit.NotRun {
			p.suite = time.Duration(r.SuiteSeconds * float64(time.Second))
		}
		if r.Group == c.group && r.Member == c.member && r.Amends == "" {
			heads = append(heads, r.Head)
			p.window = max(p.window, r.Window+1)
		}
		return nil
	}, nil)
	if i := slices.Index(heads, c.head); i >= 0 && c.head != "" {
		p.window = i
	}
	return p, err
}

func (a *App) printDraw(d draw, key audit.Key, format string, explain bool) error {
	switch format {
	case "json":
		return a.printJSON(d)
	case "env":
		fmt.Fprintf(a.Stdout, "drawn=%v\nprobability=%v\nwindow=%d\n", d.Heads, d.Probability.Float(), d.Window)
	case "text":
		fmt.Fprintln(a.Stdout, map[bool]string{true: "heads: audit this attempt", false: "tails: no audit"}[d.Heads])
	default:
		return &exit{exitUsage, fmt.Errorf("--format: %q is not text, json or env", format)}
	}
	if explain {
		fmt.Fprintf(a.Stdout, `
repository   %s
group        %s     (the task: never a commit or a branch, which a new push would change)
member       %s     (the line of attempts within it)
window       %d     (grows with every judged head: a coin never covers what was pushed after its outcome was seen)
key          %s     (its commitment is %s)
probability  %d of 1,000,000, from %s
HMAC-SHA256 over "audit-coin-v1" and these four, each behind its length: first 8 bytes are %d
scaled       %d of 1,000,000: heads when it is below the probability: %v
`, d.Repository, d.Group, orNone(d.Member), d.Window, d.KeyID, key.Commitment(), d.Probability, d.Words, d.U64, d.Micro, d.Heads)
	}
	return nil
}

func orNone(text string) string { return cmp.Or(text, "(none: one coin for the group)") }
