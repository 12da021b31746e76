package fakehub

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// CheckRun is one check run. One of a workflow's job belongs to the runner.
type CheckRun struct {
	ID          int64
	Name        string
	HeadSHA     string
	ExternalID  string
	Status      string
	Conclusion  string
	Title       string
	Summary     string
	Text        string
	Annotations []map[string]any
	App         string
	Job         bool // made by the runner for a job

	History []string // what each write made of it: "in_progress", "success"
}

func (c *CheckRun) view() map[string]any {
	v := map[string]any{
		"id": c.ID, "name": c.Name, "head_sha": c.HeadSHA, "external_id": c.ExternalID, "status": c.Status,
		"app":    map[string]any{"slug": c.App},
		"output": map[string]any{"title": c.Title, "summary": c.Summary, "text": c.Text, "annotations_count": len(c.Annotations)},
	}
	if c.Conclusion != "" {
		v["conclusion"] = c.Conclusion
	}
	return v
}

func listRuns(h *Hub, c *call) answer {
	if a, ok := h.may("checks", "read"); !ok {
		return a
	}
	var list []map[string]any
	for _, run := range h.Runs {
		if run.HeadSHA == c.args[0] && (len(c.query["check_name"]) == 0 || run.Name == c.query["check_name"][0]) {
			list = append(list, run.view())
		}
	}
	part, headers := page(h, c, "/repos/"+h.Repository+"/commits/"+c.args[0]+"/check-runs", list)
	return answer{http.StatusOK, map[string]any{"total_count": len(list), "check_runs": part}, headers}
}

func createRun(h *Hub, c *call) answer {
	if a, ok := h.mayCheck(); !ok {
		return a
	}
	run := &CheckRun{App: h.App}
	run.Name, _ = c.body["name"].(string)
	run.HeadSHA, _ = c.body["head_sha"].(string)
	run.ExternalID, _ = c.body["external_id"].(string)
	if run.Name == "" || run.HeadSHA == "" {
		return refuse(http.StatusUnprocessableEntity, "Invalid request.\n\n\"name\", \"head_sha\" weren't supplied.")
	}
	if problem := h.write(run, c.body); problem != "" {
		return refuse(http.StatusUnprocessableEntity, "Validation Failed", problem)
	}
	h.nextID++
	run.ID = h.nextID
	h.Runs = append(h.Runs, run)
	return answer{http.StatusCreated, run.view(), nil}
}

func (h *Hub) mayCheck() (answer, bool) {
	if h.Personal {
		return refuse(http.StatusForbidden, "You must authenticate via a GitHub App."), false
	}
	return h.may("checks", "write")
}

func updateRun(h *Hub, c *call) answer {
	if a, ok := h.mayCheck(); !ok {
		return a
	}
	run := h.run(c.args[0])
	switch {
	case run == nil:
		return refuse(http.StatusNotFound, "Not Found")
	case run.Job:
		h.t.Errorf("the gate writes to the check run of a job, %d", run.ID)
		return refuse(http.StatusForbidden, "Check run status cannot be changed by this token")
	case run.App != h.App:
		return refuse(http.StatusUnprocessableEntity, "Invalid app_id `15368` - check run can only be modified by the GitHub App that created it.")
	case c.body["head_sha"] != nil:
		h.t.Errorf("head_sha stands in an update of a check run")
	}
	if problem := h.write(run, c.body); problem != "" {
		return refuse(http.StatusUnprocessableEntity, "Validation Failed", problem)
	}
	return answer{http.StatusOK, run.view(), nil}
}

func (h *Hub) run(id string) *CheckRun {
	number, _ := strconv.ParseInt(id, 10, 64)
	for _, run := range h.Runs {
		if run.ID == number {
			return run
		}
	}
	return nil
}

// write validates a body and takes it over.
func (h *Hub) write(run *CheckRun, body map[string]any) (problem string) {
	output, _ := body["output"].(map[string]any)
	if problem := checkOutput(output); problem != "" {
		return problem
	}
	status, _ := body["status"].(string)
	conclusion, _ := body["conclusion"].(string)
	switch {
	case status == "completed" && conclusion == "":
		return "conclusion is required when status is completed"
	case conclusion != "" && !slices.Contains([]string{"success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required"}, conclusion):
		return "conclusion is not one of the allowed values"
	case conclusion != "":
		status = "completed"
	}
	run.Status, run.Conclusion = status, conclusion
	if output != nil {
		run.Title, _ = output["title"].(string)
		run.Summary, _ = output["summary"].(string)
		run.Text, _ = output["text"].(string) // what is missing is nulled
		list, _ := output["annotations"].([]any)
		if len(list) > 0 && len(run.History) > 0 && run.History[len(run.History)-1] == "success" {
			h.t.Errorf("annotations come after the conclusion success")
		}
		for _, item := range list {
			run.Annotations = append(run.Annotations, item.(map[string]any))
		}
	}
	if conclusion != "" {
		status = conclusion
	}
	run.History = append(run.History, status)
	return ""
}

// checkOutput holds an output to GitHub's limits, which count bytes.
func checkOutput(output map[string]any) string {
	if output == nil {
		return ""
	}
	title, _ := output["title"].(string)
	summary, hasSummary := output["summary"].(string)
	text, _ := output["text"].(string)
	list, _ := output["annotations"].([]any)
	switch {
	case title == "" || !hasSummary || summary == "":
		return "title and summary are required"
	case len(title) > 255:
		return "title is too long (maximum is 255 characters)"
	case len(summary) > 65535:
		return "Only 65535 characters are allowed; " + strconv.Itoa(len(summary)) + " were supplied: summary"
	case len(text) > 65535:
		return "Only 65535 characters are allowed; " + strconv.Itoa(len(text)) + " were supplied: text"
	case len(list) > 50:
		return fmt.Sprintf("No more than 50 annotations are allowed per request; %d were supplied", len(list))
	}
	for _, item := range list {
		if problem := checkAnnotation(item.(map[string]any)); problem != "" {
			return problem
		}
	}
	return ""
}

func checkAnnotation(a map[string]any) string {
	path, _ := a["path"].(string)
	start, _ := a["start_line"].(float64)
	end, _ := a["end_line"].(float64)
	level, _ := a["annotation_level"].(string)
	message, _ := a["message"].(string)
	title, _ := a["title"].(string)
	details, _ := a["raw_details"].(string)
	switch {
	case path == "" || strings.HasPrefix(path, "/") || strings.Contains(path, `\`) || strings.HasPrefix(path, "../"):
		return fmt.Sprintf("annotation path %q is not relative to the repository", path)
	case start < 1 || end < start:
		return "start_line and end_line are required"
	case a["start_column"] != nil && start != end:
		return "columns are allowed only when start_line equals end_line"
	case !slices.Contains([]string{"notice", "warning", "failure"}, level):
		return fmt.Sprintf("annotation_level %q is not notice, warning or failure", level)
	case message == "" || len(message) > 64<<10 || len(details) > 64<<10:
		return "message and raw_details have at most 64 KB, and a message is required"
	case len(title) > 255:
		return "annotation title is too long (maximum is 255 characters)"
	}
	return ""
}

func listAnnotations(h *Hub, c *call) answer {
	run := h.run(c.args[0])
	if run == nil {
		return refuse(http.StatusNotFound, "Not Found")
	}
	part, headers := page(h, c, "/repos/"+h.Repository+"/check-runs/"+c.args[0]+"/annotations", run.Annotations)
	if part == nil {
		part = []map[string]any{}
	}
	return answer{http.StatusOK, part, headers}
}
