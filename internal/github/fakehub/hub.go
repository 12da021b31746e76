// Package fakehub is a server of ours that speaks as much of GitHub's REST API as
// the gate uses, for tests: it keeps state, enforces GitHub's limits and
// permissions with GitHub's own refusals, and records every request.
//
// A request that it does not know fails the test, and so does a fault that was
// prepared and never met. It is written from GitHub's API description and from
// the errors seen in practice, not from the client it tests.
package fakehub

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Hub is one repository with what hangs on it. Tests fill the fields before
// requests come, and read them afterwards.
type Hub struct {
	URL        string
	Repository string

	Token string
	// Permissions are the token's, as a workflow writes them: "checks": "write".
	Permissions map[string]string
	Personal    bool   // the token is a person's, not an app's
	Login       string // who comments with the token
	App         string // slug of the app that the token belongs to

	Pulls    map[int]*Pull
	Commits  map[int][]Commit // of a pull request
	Events   map[int][]LabelEvent
	Levels   map[string]string // login -> permission
	Runs     []*CheckRun
	Comments map[int][]*Comment
	// File returns a file at a commit, Compare the merge base and the changed
	// files of two.
	File    func(commit, path string) (string, bool)
	Compare func(base, head string) (mergeBase string, files []ChangedFile, ok bool)

	PageSize int // the largest page; GitHub's is 100
	Now      func() time.Time

	t        testing.TB
	mu       sync.Mutex
	requests []Request
	faults   []*Fault
	writes   []time.Time
	nextID   int64
	handlers []route
}

// Request is one that came.
type Request struct {
	Method, Path string
	Body         map[string]any
	Status       int
}

// Fault is an answer that stands in place of the right one.
type Fault struct {
	Method  string
	Path    string // regular expression
	Skip    int    // matching requests that are answered rightly first
	Times   int    // 0 means once
	Status  int
	Headers map[string]string
	Body    string
	Landed  bool // the request takes effect all the same
	Before  func()

	met int
}

type route struct {
	method  string
	path    *regexp.Regexp
	handler func(h *Hub, r *call) answer
}

type call struct {
	args  []string
	query map[string][]string
	body  map[string]any
}

type answer struct {
	status  int
	body    any
	headers map[string]string
}

// New starts a server with an empty repository and the token of a workflow that
// may write checks and pull requests.
func New(t testing.TB) *Hub {
	h := &Hub{
		t: t, Repository: "till/money", Token: "ghs_secretcanary1234567890", Login: "github-actions[bot]", App: "github-actions",
		Permissions: map[string]string{"checks": "write", "pull-requests": "write", "contents": "read", "issues": "read"},
		Pulls:       make(map[int]*Pull), Commits: make(map[int][]Commit), Events: make(map[int][]LabelEvent), Levels: make(map[string]string),
		Comments: make(map[int][]*Comment), PageSize: 100, Now: time.Now, nextID: 1000, handlers: routes(),
	}
	server := httptest.NewServer(h)
	h.URL = server.URL
	t.Cleanup(func() {
		server.Close()
		for _, f := range h.faults {
			if f.met < f.Skip+max(f.Times, 1) {
				t.Errorf("the fault %s %s (%d) was met %d times", f.Method, f.Path, f.Status, f.met)
			}
		}
	})
	return h
}

// Fail prepares a fault.
func (h *Hub) Fail(f Fault) { h.faults = append(h.faults, &f) }

// Requests are those that came so far, in order.
func (h *Hub) Requests() []Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Request(nil), h.requests...)
}

func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	text, _ := io.ReadAll(r.Body)
	body := make(map[string]any)
	if len(text) > 0 {
		if err := json.Unmarshal(text, &body); err != nil {
			h.t.Errorf("%s %s: the body is no JSON: %v", r.Method, r.URL, err)
		}
	}
	a := h.respond(r, body)
	h.requests = append(h.requests, Request{r.Method, r.URL.RequestURI(), body, a.status})
	for name, value := range a.headers {
		w.Header().Set(name, value)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(a.status)
	if text, ok := a.body.(string); ok {
		io.WriteString(w, text)
	} else if a.body != nil {
		json.NewEncoder(w).Encode(a.body)
	}
}

func (h *Hub) respond(r *http.Request, body map[string]any) answer {
	for _, f := range h.faults {
		if f.Method != r.Method || !regexp.MustCompile(f.Path).MatchString(r.URL.Path) {
			continue
		}
		f.met++
		if f.met <= f.Skip || f.met > f.Skip+max(f.Times, 1) {
			continue
		}
		if f.Before != nil {
			f.Before()
		}
		if f.Status == 0 {
			continue
		}
		if f.Landed {
			h.route(r, body)
		}
		return answer{f.Status, f.Body, f.Headers}
	}
	return h.route(r, body)
}

func (h *Hub) route(r *http.Request, body map[string]any) answer {
	switch auth := r.Header.Get("Authorization"); {
	case auth == "Bearer "+h.Token:
	case auth == "" && r.Method == http.MethodGet && h.Token == "":
	default:
		return refuse(http.StatusUnauthorized, "Bad credentials")
	}
	if r.Method != http.MethodGet {
		if a, limited := h.secondary(); limited {
			return a
		}
	}
	for _, route := range h.handlers {
		if args := route.path.FindStringSubmatch(r.URL.Path); args != nil && route.method == r.Method {
			if args[1] != h.Repository {
				return refuse(http.StatusNotFound, "Not Found")
			}
			return route.handler(h, &call{args: args[2:], query: r.URL.Query(), body: body})
		}
	}
	h.t.Errorf("the gate sent a request that the server does not know: %s %s", r.Method, r.URL)
	return refuse(http.StatusNotFound, "Not Found")
}

// secondary is the limit of 80 writes a minute.
func (h *Hub) secondary() (answer, bool) {
	now := h.Now()
	recent := h.writes[:0]
	for _, at := range h.writes {
		if now.Sub(at) < time.Minute {
			recent = append(recent, at)
		}
	}
	h.writes = append(recent, now)
	if len(h.writes) <= 80 {
		return answer{}, false
	}
	h.t.Errorf("%d writes within a minute", len(h.writes))
	return answer{http.StatusForbidden, SecondaryLimit, map[string]string{"Retry-After": "60"}}, true
}

// SecondaryLimit is GitHub's refusal of too many requests at once.
const SecondaryLimit = `{"documentation_url":"https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits","message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`

func refuse(status int, message string, errors ...string) answer {
	body := map[string]any{"message": message, "documentation_url": "https://docs.github.com/rest"}
	var list []map[string]string
	for _, text := range errors {
		list = append(list, map[string]string{"message": text, "code": "custom"})
	}
	if list != nil {
		body["errors"] = list
	}
	return answer{status, body, nil}
}

// may refuses a token without the permission, as GitHub does.
func (h *Hub) may(scope, level string) (answer, bool) {
	have := h.Permissions[scope]
	if have == "write" || have == level {
		return answer{}, true
	}
	a := refuse(http.StatusForbidden, "Resource not accessible by integration")
	a.headers = map[string]string{"X-Accepted-GitHub-Permissions": strings.ReplaceAll(scope, "-", "_") + "=" + level}
	return a, false
}

// page cuts a list and links to the rest.
func page[T any](h *Hub, c *call, path string, list []T) (part []T, headers map[string]string) {
	number := func(name string, otherwise int) int {
		if text := c.query[name]; len(text) > 0 {
			if n, err := strconv.Atoi(text[0]); err == nil && n > 0 {
				return n
			}
		}
		return otherwise
	}
	size, at := min(number("per_page", 30), h.PageSize), number("page", 1)
	from, to := min((at-1)*size, len(list)), min(at*size, len(list))
	if to < len(list) {
		headers = map[string]string{"Link": fmt.Sprintf(`<%s%s?per_page=%d&page=%d>; rel="next"`, h.URL, path, size, at+1)}
	}
	return list[from:to], headers
}
