package fakehub

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Pull is one pull request.
type Pull struct {
	Number                           int
	State                            string
	Draft                            bool
	Title, Body                      string
	Author                           string
	AuthorID                         int64
	HeadSHA, HeadRef, HeadRepository string
	BaseSHA, BaseRef                 string
	Labels                           []string
}

// Commit is one of a pull request's.
type Commit struct{ Email, Message string }

// LabelEvent is a label that somebody set.
type LabelEvent struct{ Login, Label string }

// ChangedFile is one file of a comparison.
type ChangedFile struct {
	Path, OldPath string // OldPath of a rename
	Status        string
}

// Comment is one comment of a pull request.
type Comment struct {
	ID     int64
	Author string
	Body   string
}

// View is a pull request as the API and the events show it.
func (h *Hub) View(p *Pull) map[string]any {
	labels := []map[string]any{}
	for _, name := range p.Labels {
		labels = append(labels, map[string]any{"name": name})
	}
	owner, _, _ := strings.Cut(p.HeadRepository, "/")
	return map[string]any{
		"number": p.Number, "state": p.State, "draft": p.Draft, "title": p.Title, "body": p.Body, "labels": labels,
		"user": map[string]any{"login": p.Author, "id": p.AuthorID},
		"head": map[string]any{"sha": p.HeadSHA, "ref": p.HeadRef, "label": owner + ":" + p.HeadRef, "repo": map[string]any{"full_name": p.HeadRepository}},
		"base": map[string]any{"sha": p.BaseSHA, "ref": p.BaseRef, "repo": map[string]any{"full_name": h.Repository}},
	}
}

func routes() []route {
	repo := `^/repos/([^/]+/[^/]+)`
	add := func(method, path string, handler func(*Hub, *call) answer) route {
		return route{method, regexp.MustCompile(repo + path + "$"), handler}
	}
	return []route{
		add("GET", `/commits/([^/]+)/check-runs`, listRuns),
		add("POST", `/check-runs`, createRun),
		add("PATCH", `/check-runs/(\d+)`, updateRun),
		add("GET", `/check-runs/(\d+)/annotations`, listAnnotations),
		add("GET", `/pulls/(\d+)`, getPull),
		add("GET", `/pulls`, listPulls),
		add("GET", `/pulls/(\d+)/commits`, listCommits),
		add("GET", `/pulls/(\d+)/files`, listFiles),
		add("GET", `/compare/([0-9a-f]+)\.\.\.([0-9a-f]+)`, compare),
		add("GET", `/contents/(.+)`, contents),
		add("GET", `/issues/(\d+)/comments`, listComments),
		add("POST", `/issues/(\d+)/comments`, createComment),
		add("PATCH", `/issues/comments/(\d+)`, editComment),
		add("DELETE", `/issues/comments/(\d+)`, deleteComment),
		add("GET", `/issues/(\d+)/events`, listEvents),
		add("GET", `/collaborators/([^/]+)/permission`, permission),
	}
}

func getPull(h *Hub, c *call) answer {
	number, _ := strconv.Atoi(c.args[0])
	if p := h.Pulls[number]; p != nil {
		return answer{http.StatusOK, h.View(p), nil}
	}
	return refuse(http.StatusNotFound, "Not Found")
}

func listPulls(h *Hub, c *call) answer {
	var list []map[string]any
	for _, p := range h.Pulls {
		owner, _, _ := strings.Cut(p.HeadRepository, "/")
		if p.State == "open" && (len(c.query["head"]) == 0 || c.query["head"][0] == owner+":"+p.HeadRef) {
			list = append(list, h.View(p))
		}
	}
	part, headers := page(h, c, "/repos/"+h.Repository+"/pulls", list)
	if part == nil {
		part = []map[string]any{}
	}
	return answer{http.StatusOK, part, headers}
}

func listCommits(h *Hub, c *call) answer {
	number, _ := strconv.Atoi(c.args[0])
	var list []map[string]any
	for _, commit := range h.Commits[number] {
		list = append(list, map[string]any{"commit": map[string]any{"message": commit.Message, "author": map[string]any{"email": commit.Email}}})
	}
	part, headers := page(h, c, "/repos/"+h.Repository+"/pulls/"+c.args[0]+"/commits", list)
	return answer{http.StatusOK, part, headers}
}

func fileViews(files []ChangedFile) []map[string]any {
	list := []map[string]any{}
	for _, f := range files {
		view := map[string]any{"filename": f.Path, "status": f.Status}
		if f.OldPath != "" {
			view["previous_filename"] = f.OldPath
		}
		list = append(list, view)
	}
	return list
}

func listFiles(h *Hub, c *call) answer {
	number, _ := strconv.Atoi(c.args[0])
	p := h.Pulls[number]
	_, files, _ := h.Compare(p.BaseSHA, p.HeadSHA)
	part, headers := page(h, c, "/repos/"+h.Repository+"/pulls/"+c.args[0]+"/files", fileViews(files))
	return answer{http.StatusOK, part, headers}
}

func compare(h *Hub, c *call) answer {
	if a, ok := h.may("contents", "read"); !ok {
		return a
	}
	mergeBase, files, ok := h.Compare(c.args[0], c.args[1])
	if !ok {
		return refuse(http.StatusNotFound, "Not Found")
	}
	return answer{http.StatusOK, map[string]any{"merge_base_commit": map[string]any{"sha": mergeBase}, "files": fileViews(files[:min(300, len(files))])}, nil}
}

func contents(h *Hub, c *call) answer {
	path, _ := url.PathUnescape(c.args[0])
	text, ok := "", false
	if h.File != nil && h.Permissions["contents"] != "" {
		text, ok = h.File(c.query["ref"][0], path)
	}
	if !ok {
		return refuse(http.StatusNotFound, "Not Found")
	}
	return answer{http.StatusOK, map[string]any{"type": "file", "size": len(text), "encoding": "base64", "content": base64.StdEncoding.EncodeToString([]byte(text))}, nil}
}

func (c *Comment) view() map[string]any {
	return map[string]any{"id": c.ID, "body": c.Body, "user": map[string]any{"login": c.Author}}
}

func listComments(h *Hub, c *call) answer {
	number, _ := strconv.Atoi(c.args[0])
	list := []map[string]any{}
	for _, comment := range h.Comments[number] {
		list = append(list, comment.view())
	}
	part, headers := page(h, c, "/repos/"+h.Repository+"/issues/"+c.args[0]+"/comments", list)
	return answer{http.StatusOK, part, headers}
}

// body refuses what GitHub refuses; it counts characters here.
func (h *Hub) body(c *call) (string, answer, bool) {
	if a, ok := h.may("pull-requests", "write"); !ok {
		return "", a, false
	}
	text, _ := c.body["body"].(string)
	switch {
	case text == "":
		return "", refuse(http.StatusUnprocessableEntity, "Validation Failed", "body can't be blank"), false
	case utf8.RuneCountInString(text) > 65536:
		return "", refuse(http.StatusUnprocessableEntity, "Validation Failed", "body is too long (maximum is 65536 characters)"), false
	}
	return text, answer{}, true
}

func createComment(h *Hub, c *call) answer {
	number, _ := strconv.Atoi(c.args[0])
	text, a, ok := h.body(c)
	if !ok {
		return a
	}
	h.nextID++
	comment := &Comment{h.nextID, h.Login, text}
	h.Comments[number] = append(h.Comments[number], comment)
	return answer{http.StatusCreated, comment.view(), nil}
}

func (h *Hub) comment(id string) (number, index int) {
	for number, list := range h.Comments {
		for i, comment := range list {
			if strconv.FormatInt(comment.ID, 10) == id {
				return number, i
			}
		}
	}
	return 0, -1
}

func editComment(h *Hub, c *call) answer {
	text, a, ok := h.body(c)
	if !ok {
		return a
	}
	number, i := h.comment(c.args[0])
	switch {
	case i < 0:
		return refuse(http.StatusNotFound, "Not Found")
	case h.Comments[number][i].Author != h.Login:
		h.t.Errorf("the gate edits a comment of %s", h.Comments[number][i].Author)
		return refuse(http.StatusForbidden, "Must have admin rights to Repository.")
	}
	h.Comments[number][i].Body = text
	return answer{http.StatusOK, h.Comments[number][i].view(), nil}
}

func deleteComment(h *Hub, c *call) answer {
	number, i := h.comment(c.args[0])
	switch {
	case i < 0:
		return refuse(http.StatusNotFound, "Not Found")
	case h.Comments[number][i].Author != h.Login:
		h.t.Errorf("the gate deletes a comment of %s", h.Comments[number][i].Author)
	}
	h.Comments[number] = append(h.Comments[number][:i], h.Comments[number][i+1:]...)
	return answer{http.StatusNoContent, nil, nil}
}

func listEvents(h *Hub, c *call) answer {
	if a, ok := h.may("issues", "read"); !ok {
		return a
	}
	number, _ := strconv.Atoi(c.args[0])
	list := []map[string]any{}
	for _, e := range h.Events[number] {
		list = append(list, map[string]any{"event": "labeled", "actor": map[string]any{"login": e.Login}, "label": map[string]any{"name": e.Label}})
	}
	part, headers := page(h, c, "/repos/"+h.Repository+"/issues/"+c.args[0]+"/events", list)
	return answer{http.StatusOK, part, headers}
}

func permission(h *Hub, c *call) answer {
	level := h.Levels[c.args[0]]
	if level == "" {
		level = "read"
	}
	return answer{http.StatusOK, map[string]any{"permission": level}, nil}
}
