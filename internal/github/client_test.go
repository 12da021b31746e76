package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/internal/github/fakehub"
)

const commit = "413e6760740d413e6760740d413e6760740d413e"

// clock is a time that passes only by waiting.
type clock struct {
	at    time.Time
	slept []time.Duration
}

func (c *clock) now() time.Time { return c.at }

func (c *clock) sleep(_ context.Context, d time.Duration) error {
	c.slept = append(c.slept, d)
	c.at = c.at.Add(d)
	return nil
}

func connect(t *testing.T) (*fakehub.Hub, *Client, *clock) {
	t.Helper()
	hub, time := fakehub.New(t), &clock{at: time.Unix(1_800_000_000, 0)}
	hub.Now = time.now
	client, err := New(Config{APIURL: hub.URL, Token: hub.Token, Repository: hub.Repository, UserAgent: "test", Now: time.now, Sleep: time.sleep})
	if err != nil {
		t.Fatal(err)
	}
	return hub, client, time
}

func failing(annotations int) Check {
	check := Check{Name: "touchstone", HeadSHA: commit, Conclusion: "failure", Title: "Fail: it does", Summary: "**FAIL**\n", Text: "more\n"}
	for i := range annotations {
		check.Annotations = append(check.Annotations, Annotation{Path: "a_test.go", Line: i + 1, Level: "warning", Title: "vacuous test", Message: fmt.Sprintf("test %d", i)})
	}
	return check
}

func lines(hub *fakehub.Hub) (list []string) {
	for _, r := range hub.Requests() {
		path, _, _ := strings.Cut(strings.TrimPrefix(r.Path, "/repos/"+hub.Repository), "?")
		list = append(list, fmt.Sprintf("%s %s %d", r.Method, path, r.Status))
	}
	return list
}

// Trap 3: 120 annotations go as 50+50+20, each request with title, summary and
// text, and the conclusion with the last.
func TestAnnotationsGoInChunks(t *testing.T) {
	for _, n := range []int{0, 1, 49, 50, 51, 100, 101, 120} {
		hub, client, _ := connect(t)
		check := failing(n)
		check.Conclusion = "success"
		if err := client.PutCheck(t.Context(), check); err != nil {
			t.Fatal(err)
		}
		run := hub.Runs[0]
		writes := max(1, (n+49)/50)
		if len(run.Annotations) != n || run.Conclusion != "success" || run.Text != "more\n" || len(run.History) != writes {
			t.Errorf("%d annotations: the run has %d, %s, %q after %v", n, len(run.Annotations), run.Conclusion, run.Text, run.History)
		}
		for i, status := range run.History {
			if want := i == writes-1; want != (status == "success") {
				t.Errorf("%d annotations: write %d made it %s", n, i, status)
			}
		}
	}
}

// Trap 7: one check a commit, found by its external id and patched; nothing is
// written when it says all already, and no annotation stands there twice.
func TestRerunPatchesTheSameRun(t *testing.T) {
	hub, client, _ := connect(t)
	hub.PageSize = 30
	for range 3 {
		hub.Runs = append(hub.Runs, &fakehub.CheckRun{ID: int64(len(hub.Runs) + 1), Name: "touchstone", HeadSHA: commit, ExternalID: "other", App: "someone"})
	}
	if err := client.PutCheck(t.Context(), failing(70)); err != nil {
		t.Fatal(err)
	}
	before := len(hub.Requests())
	if err := client.PutCheck(t.Context(), failing(70)); err != nil {
		t.Fatal(err)
	}
	if again := hub.Requests()[before:]; len(again) != 1 || again[0].Method != "GET" {
		t.Errorf("an unchanged check was written again: %v", lines(hub)[before:])
	}
	changed := failing(71)
	changed.Title = "Fail: it does, more"
	if err := client.PutCheck(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	if len(hub.Runs) != 4 || len(hub.Runs[3].Annotations) != 71 || hub.Runs[3].Title != changed.Title {
		t.Errorf("%d runs, the last with %d annotations and %q", len(hub.Runs), len(hub.Runs[3].Annotations), hub.Runs[3].Title)
	}
}

// Trap 6: a job's own run is never written, and its name is refused.
func TestJobsOwnRunIsRefused(t *testing.T) {
	hub, client, _ := connect(t)
	hub.Runs = []*fakehub.CheckRun{{ID: 1, Name: "touchstone", HeadSHA: commit, ExternalID: "9c1f", App: "github-actions", Job: true}}
	if err := client.PutCheck(t.Context(), failing(0)); !errors.Is(err, ErrJobName) {
		t.Errorf("%v", err)
	}
	if len(hub.Requests()) != 1 {
		t.Errorf("%v", lines(hub))
	}
}

// Trap 8: a run of another app cannot be edited: one new one, and no loop.
func TestInvalidAppID(t *testing.T) {
	hub, client, _ := connect(t)
	hub.Runs = []*fakehub.CheckRun{{ID: 1, Name: "touchstone", HeadSHA: commit, ExternalID: "touchstone:" + commit, App: "other-app"}}
	if err := client.PutCheck(t.Context(), failing(60)); err != nil {
		t.Fatal(err)
	}
	if len(hub.Runs) != 2 || len(hub.Runs[1].Annotations) != 60 || hub.Runs[1].Conclusion != "failure" {
		t.Errorf("%d runs: %v", len(hub.Runs), lines(hub))
	}

	hub, client, _ = connect(t)
	hub.Runs = []*fakehub.CheckRun{{ID: 1, Name: "touchstone", HeadSHA: commit, ExternalID: "touchstone:" + commit, App: "other-app"}}
	hub.Fail(fakehub.Fault{Method: "PATCH", Path: "/check-runs/1001", Status: 422, Body: `{"message":"Invalid app_id"}`})
	if err := client.PutCheck(t.Context(), failing(60)); err == nil || len(hub.Runs) != 2 {
		t.Errorf("%v, %d runs: %v", err, len(hub.Runs), lines(hub))
	}
}

// Trap 4 and 5: the last defence cuts on a rune, in bytes.
func TestLimitsAreBytes(t *testing.T) {
	hub, client, _ := connect(t)
	check := failing(1)
	check.Title = strings.Repeat("ü", 200)
	check.Summary = strings.Repeat("ä\n", 40_000)
	check.Text = strings.Repeat("🙂", 20_000)
	check.Annotations[0].Message = strings.Repeat("é", 40_000)
	check.Annotations[0].Title = strings.Repeat("é", 200)
	check.Annotations[0].Line = 0
	if err := client.PutCheck(t.Context(), check); err != nil {
		t.Fatal(err)
	}
	run := hub.Runs[0]
	if !strings.HasSuffix(run.Summary, "ä\n") || len(run.Summary) < 65_000 || len(run.Text)%4 != 0 || len(run.Title) != 254 {
		t.Errorf("summary %d bytes, text %d, title %d", len(run.Summary), len(run.Text), len(run.Title))
	}
}

// Trap 9: what is missing is named.
func TestRefusalsNameWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*fakehub.Hub)
		want string
	}{
		{"a fork's token", func(h *fakehub.Hub) { h.Permissions["checks"] = "read" }, "permissions: {checks: write}"},
		{"a person's token", func(h *fakehub.Hub) { h.Personal = true }, "not a personal access token"},
		{"no such token", func(h *fakehub.Hub) { h.Token = "another" }, "the token is not valid"},
		{"no permission at all", func(h *fakehub.Hub) { h.Permissions["checks"] = "" }, "permissions: {checks: read}"},
	} {
		hub, client, _ := connect(t)
		c.set(hub)
		err := client.PutCheck(t.Context(), failing(0))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if n := len(hub.Requests()); n > 2 {
			t.Errorf("%s: %d requests", c.name, n)
		}
	}
}

// Trap 15: limits are waited for by their header, a minute without one, within a
// budget; a POST that landed is not sent twice.
func TestLimitsAreWaitedFor(t *testing.T) {
	secondary := fakehub.Fault{Method: "POST", Path: "/check-runs$", Status: 403, Body: fakehub.SecondaryLimit}
	for _, c := range []struct {
		name  string
		fault fakehub.Fault
		slept []time.Duration
		fails bool
	}{
		{"429 with a time", fakehub.Fault{Method: "POST", Path: "/check-runs$", Status: 429, Headers: map[string]string{"Retry-After": "7"}, Body: `{"message":"slow down"}`}, []time.Duration{7 * time.Second}, false},
		{"429 without one", fakehub.Fault{Method: "GET", Path: "check-runs$", Status: 429, Body: `{}`}, []time.Duration{time.Minute}, false},
		{"secondary without one", secondary, []time.Duration{time.Minute}, false},
		{"secondary, twice", fakehub.Fault{Method: "POST", Path: "/check-runs$", Status: 403, Times: 2, Body: fakehub.SecondaryLimit}, []time.Duration{time.Minute, 2 * time.Minute}, false},
		{"primary until its reset", fakehub.Fault{Method: "GET", Path: "check-runs$", Status: 403, Headers: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1800000090"}, Body: `{"message":"API rate limit exceeded"}`}, []time.Duration{91 * time.Second}, false},
		{"primary, too long", fakehub.Fault{Method: "GET", Path: "check-runs$", Status: 403, Headers: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1800003000"}, Body: `{"message":"API rate limit exceeded"}`}, nil, true},
		{"server error on a read", fakehub.Fault{Method: "GET", Path: "check-runs$", Status: 502}, []time.Duration{time.Second}, false},
		{"server error on a write", fakehub.Fault{Method: "POST", Path: "/check-runs$", Status: 502}, nil, false},
		{"server error on a write that landed", fakehub.Fault{Method: "POST", Path: "/check-runs$", Status: 502, Landed: true}, nil, false},
	} {
		hub, client, time := connect(t)
		hub.Fail(c.fault)
		err := client.PutCheck(t.Context(), failing(0))
		if (err != nil) != c.fails || !slices.Equal(time.slept, c.slept) {
			t.Errorf("%s: %v, waited %v, want %v", c.name, err, time.slept, c.slept)
		}
		if !c.fails && len(hub.Runs) != 1 {
			t.Errorf("%s: %d runs", c.name, len(hub.Runs))
		}
	}
}

// An edit whose annotations landed although the server failed does not add them
// twice.
func TestLandedAnnotationsAreNotSentAgain(t *testing.T) {
	hub, client, _ := connect(t)
	hub.Fail(fakehub.Fault{Method: "PATCH", Path: "/check-runs/", Status: 502, Landed: true})
	if err := client.PutCheck(t.Context(), failing(120)); err != nil {
		t.Fatal(err)
	}
	if run := hub.Runs[0]; len(run.Annotations) != 120 || run.Conclusion != "failure" {
		t.Errorf("%d annotations, %s: %v", len(run.Annotations), run.Conclusion, lines(hub))
	}
}

// Trap 24: no more than 80 writes a minute, and an end to requests.
func TestWritesArePaced(t *testing.T) {
	hub, client, time := connect(t)
	for i := range 100 {
		check := failing(0)
		check.Title = fmt.Sprint("Fail: ", i)
		if err := client.PutCheck(t.Context(), check); err != nil {
			t.Fatal(err)
		}
	}
	if len(time.slept) == 0 {
		t.Error("100 writes within a minute")
	}
	for range maxRequests {
		if _, err := client.Pull(t.Context(), 1); errors.Is(err, errBudget) {
			if n := len(hub.Requests()); n > maxRequests {
				t.Errorf("%d requests were sent", n)
			}
			return
		}
	}
	t.Error("requests have no end")
}

// The last allowed request of an hour is not followed by another before the
// limit is set back.
func TestPrimaryLimitIsMinded(t *testing.T) {
	hub, client, time := connect(t)
	hub.Pulls[1] = &fakehub.Pull{Number: 1, HeadSHA: commit, BaseSHA: commit}
	hub.Fail(fakehub.Fault{Method: "GET", Path: "/pulls/1$", Status: 200, Headers: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1800000030"}, Body: fmt.Sprintf(`{"number":1,"head":{"sha":%q},"base":{"sha":%q}}`, commit, commit)})
	for range 2 {
		if _, err := client.Pull(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	if len(time.slept) != 1 || time.slept[0] != 31e9 {
		t.Errorf("waited %v", time.slept)
	}
}

// Trap 17: the address of an enterprise server, and the token stays with it.
func TestTokenStaysAtHome(t *testing.T) {
	var paths, tokens []string
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tokens = append(tokens, r.Header.Get("Authorization"))
		fmt.Fprintf(w, `{"number":1,"head":{"sha":%q},"base":{"sha":%q}}`, commit, commit)
	}))
	defer foreign.Close()
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.URL.Path+" "+r.Header.Get("Authorization"))
		http.Redirect(w, r, foreign.URL+"/elsewhere", http.StatusFound)
	}))
	defer home.Close()
	client, err := New(Config{APIURL: home.URL + "/api/v3", Token: "secret", Repository: "a/b"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Pull(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(paths, []string{"/api/v3/repos/a/b/pulls/1 Bearer secret"}) || !slices.Equal(tokens, []string{""}) {
		t.Errorf("home saw %q, the foreign host saw the tokens %q", paths, tokens)
	}
}

func TestNewRefusesWhatIsNoAddress(t *testing.T) {
	for _, c := range []Config{{APIURL: "api.github.com", Repository: "a/b"}, {APIURL: "ftp://x", Repository: "a/b"}, {APIURL: "https://api.github.com", Repository: "a"}, {APIURL: "https://api.github.com", Repository: "a/b/c"}, {}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}
