package github

import (
	"fmt"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/internal/github/fakehub"
)

const bot = "github-actions[bot]"

func remark(text string) Comment {
	return Comment{Marker: "<!-- touchstone:touchstone digest=", Author: bot, Body: "<!-- touchstone:touchstone digest=1 -->\n" + text, Short: "<!-- touchstone:touchstone digest=2 -->\nshort", Create: true}
}

// Trap 11: ours is found on any page, by marker and author; what a human wrote
// with our marker is left alone.
func TestCommentIsFoundByMarkerAndAuthor(t *testing.T) {
	hub, client, _ := connect(t)
	for i := range 150 {
		hub.Comments[1] = append(hub.Comments[1], &fakehub.Comment{ID: int64(i + 1), Author: "till", Body: "hello"})
	}
	forged := &fakehub.Comment{ID: 400, Author: "mallory", Body: remark("all is well").Body}
	other := &fakehub.Comment{ID: 401, Author: bot, Body: "<!-- touchstone:another digest=1 -->\nx"}
	ours := &fakehub.Comment{ID: 402, Author: bot, Body: remark("old").Body}
	hub.Comments[1] = append(hub.Comments[1], forged, other, ours)
	if err := client.PutComment(t.Context(), 1, remark("new")); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(ours.Body, "new") || !strings.HasSuffix(forged.Body, "all is well") || !strings.HasSuffix(other.Body, "x") || len(hub.Comments[1]) != 153 {
		t.Errorf("ours %q, forged %q, %d comments", ours.Body, forged.Body, len(hub.Comments[1]))
	}
}

// Trap 13: nothing is written when nothing changed, and no comment is made only
// to say that all is well.
func TestCommentIsQuiet(t *testing.T) {
	hub, client, _ := connect(t)
	quiet := remark("fine")
	quiet.Create = false
	if err := client.PutComment(t.Context(), 1, quiet); err != nil || len(hub.Comments[1]) != 0 {
		t.Fatalf("%v, %d comments", err, len(hub.Comments[1]))
	}
	for _, text := range []string{"bad", "bad\r\n"} {
		if err := client.PutComment(t.Context(), 1, remark(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.PutComment(t.Context(), 1, quiet); err != nil {
		t.Fatal(err)
	}
	var writes []string
	for _, r := range hub.Requests() {
		if r.Method != "GET" {
			writes = append(writes, r.Method)
		}
	}
	if strings.Join(writes, " ") != "POST PATCH" || !strings.HasSuffix(hub.Comments[1][0].Body, "fine") {
		t.Errorf("%v: %q", writes, hub.Comments[1][0].Body)
	}
}

// Trap 12: two jobs that comment at the same time leave one comment, whichever
// of them is first.
func TestRacingCommentsLeaveOne(t *testing.T) {
	for _, theirs := range []int64{1, 9000} {
		hub, client, _ := connect(t)
		hub.Fail(fakehub.Fault{Method: "POST", Path: "/issues/1/comments", Before: func() {
			if theirs == 1 {
				hub.Comments[1] = append(hub.Comments[1], &fakehub.Comment{ID: 1, Author: bot, Body: remark("theirs").Body})
			}
		}})
		if err := client.PutComment(t.Context(), 1, remark("ours")); err != nil {
			t.Fatal(err)
		}
		if theirs == 9000 { // the other one lists after it has posted, and finds ours older
			late, _ := New(Config{APIURL: hub.URL, Token: hub.Token, Repository: hub.Repository})
			hub.Comments[1] = append(hub.Comments[1], &fakehub.Comment{ID: theirs, Author: bot, Body: remark("theirs").Body})
			made := hub.Comments[1][1].ID
			comments, _ := late.comments(t.Context(), 1, remark("theirs"))
			if err := late.settle(t.Context(), 1, remark("theirs"), comments[1]); err != nil || made != theirs {
				t.Fatal(err)
			}
		}
		if list := hub.Comments[1]; len(list) != 1 {
			t.Errorf("%d comments are left", len(list))
		}
	}
}

// Trap 14: a body over the limit is cut, and its short form sent once when GitHub
// still finds it too long.
func TestCommentTooLong(t *testing.T) {
	hub, client, _ := connect(t)
	if err := client.PutComment(t.Context(), 1, remark(strings.Repeat("x\n", 50_000))); err != nil {
		t.Fatal(err)
	}
	if n := len(hub.Comments[1][0].Body); n < 65_000 || n > 65_536 {
		t.Errorf("the comment has %d bytes", n)
	}
	hub, client, _ = connect(t)
	hub.Fail(fakehub.Fault{Method: "POST", Path: "/issues/2/comments", Status: 422, Body: `{"message":"Validation Failed","errors":[{"message":"body is too long (maximum is 65536 characters)"}]}`})
	if err := client.PutComment(t.Context(), 2, remark("x")); err != nil || !strings.HasSuffix(hub.Comments[2][0].Body, "short") {
		t.Errorf("%v: %+v", err, hub.Comments[2])
	}
	hub.Fail(fakehub.Fault{Method: "POST", Path: "/issues/3/comments", Times: 2, Status: 422, Body: `{"message":"Validation Failed"}`})
	if err := client.PutComment(t.Context(), 3, remark("x")); err == nil || len(hub.Comments[3]) != 0 {
		t.Errorf("%v: %+v", err, hub.Comments[3])
	}
}

// Trap 15: a comment that landed behind a 502 is not posted twice.
func TestCommentBehindAServerError(t *testing.T) {
	for _, landed := range []bool{true, false} {
		hub, client, _ := connect(t)
		hub.Fail(fakehub.Fault{Method: "POST", Path: "/issues/1/comments", Status: 502, Landed: landed})
		if err := client.PutComment(t.Context(), 1, remark("x")); err != nil || len(hub.Comments[1]) != 1 {
			t.Errorf("landed %v: %v, %d comments", landed, err, len(hub.Comments[1]))
		}
	}
}

// Trap 2: a fork's run names no pull request, and one that is named may have
// moved on; the head decides.
func TestPullOfRun(t *testing.T) {
	moved := strings.Repeat("a", 40)
	open := func(n int, sha, branch, repository string) *fakehub.Pull {
		return &fakehub.Pull{Number: n, State: "open", HeadSHA: sha, HeadRef: branch, HeadRepository: repository, BaseSHA: commit}
	}
	run := Run{HeadSHA: commit, HeadBranch: "fix", HeadOwner: "fork"}
	for _, c := range []struct {
		name  string
		pulls []*fakehub.Pull
		named []int
		want  int
	}{
		{"a fork's, by branch", []*fakehub.Pull{open(1, moved, "fix", "other/money"), open(2, commit, "fix", "fork/money")}, nil, 2},
		{"moved on", []*fakehub.Pull{open(2, moved, "fix", "fork/money")}, nil, 0},
		{"named", []*fakehub.Pull{open(3, commit, "other", "till/money")}, []int{3}, 3},
		{"named, moved on", []*fakehub.Pull{open(3, moved, "other", "till/money")}, []int{3}, 0},
		{"closed", []*fakehub.Pull{{Number: 4, State: "closed", HeadSHA: commit, HeadRef: "fix", HeadRepository: "fork/money", BaseSHA: commit}}, []int{4}, 0},
		{"none", nil, nil, 0},
	} {
		hub, client, _ := connect(t)
		for _, p := range c.pulls {
			hub.Pulls[p.Number] = p
		}
		run.Pulls = c.named
		pull, err := client.PullOfRun(t.Context(), run)
		got := 0
		if err == nil {
			got = pull.Number
		}
		if got != c.want {
			t.Errorf("%s: %d, %v; want %d", c.name, got, err, c.want)
		}
	}
}

func TestReadEvent(t *testing.T) {
	head, base := strings.Repeat("b", 40), strings.Repeat("c", 40)
	pull := fmt.Sprintf(`{"action":"synchronize","pull_request":{"number":7,"state":"open","draft":true,"head":{"sha":%q},"base":{"sha":%q,"ref":"main"},"labels":[{"name":"agent"}]}}`, head, base)
	for _, c := range []struct {
		name, payload string
		kind          Kind
		fails         string
	}{
		{"pull_request", pull, PullRequest, ""},
		{"pull_request_target", pull, PullRequest, ""},
		{"pull_request", `{"pull_request":{"number":7,"head":{"sha":"main"},"base":{"sha":"x"}}}`, 0, "two commit ids"},
		{"pull_request", `{}`, 0, "two commit ids"},
		{"pull_request", `[]`, 0, "reading the event pull_request"},
		{"merge_group", fmt.Sprintf(`{"action":"checks_requested","merge_group":{"head_sha":%q,"base_sha":%q}}`, head, base), MergeGroup, ""},
		{"merge_group", `{"merge_group":{"head_sha":"--upload-pack=x"}}`, 0, "two commit ids"},
		{"workflow_run", fmt.Sprintf(`{"workflow_run":{"head_sha":%q,"event":"pull_request","pull_requests":[]}}`, head), WorkflowRun, ""},
		{"workflow_run", `{}`, 0, "no commit id"},
		{"workflow_dispatch", `{"inputs":{"pr":"12"}}`, Dispatch, ""},
		{"workflow_dispatch", `{"inputs":{"pr":"12; rm -rf"}}`, 0, "not the number of a pull request"},
		{"workflow_dispatch", `{"inputs":null}`, Dispatch, ""},
		{"push", `{"ref":"refs/heads/main"}`, Refresh, ""},
		{"schedule", `{}`, Refresh, ""},
		{"issue_comment", `{}`, Unknown, ""},
	} {
		e, err := ReadEvent(c.name, []byte(c.payload))
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s %s: %v, want %q", c.name, c.payload, err, c.fails)
			}
		} else if err != nil || e.Kind != c.kind {
			t.Errorf("%s: %v, %v", c.name, e.Kind, err)
		}
	}
	if _, err := ReadEvent("push", make([]byte, maxEventBytes+1)); err == nil {
		t.Error("a payload without end was read")
	}
}
