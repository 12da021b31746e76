package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// transport sends requests as GitHub wants them: the token to its own host
// only, no more than it allows, and again after the time it names.
//
// Reads and edits, which may be repeated, are tried again after a server's
// error. A POST never is: it may have landed, and its caller looks first.
type transport struct {
	inner        http.RoundTripper
	scheme, host string
	token        string
	now          func() time.Time
	sleep        func(context.Context, time.Duration) error

	budget  time.Duration // left for waiting
	sent    int
	writes  []time.Time // of the last minute
	blocked time.Time   // no request before this
}

// errBudget is a request that was not sent because one run may send no more.
var errBudget = fmt.Errorf("no request is left: one run sends at most %d, of the 1,000 an hour that a workflow's token has", maxRequests)

func newTransport(c Config, base *url.URL) *transport {
	t := &transport{inner: http.DefaultTransport, scheme: base.Scheme, host: base.Host, token: c.Token, now: c.Now, sleep: c.Sleep, budget: c.Budget}
	if t.now == nil {
		t.now = time.Now
	}
	if t.sleep == nil {
		t.sleep = pause
	}
	if t.budget == 0 {
		t.budget = 5 * time.Minute
	}
	return t
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// onceKey marks a request that must not be repeated, as one whose annotations
// would be added twice.
type onceKey struct{}

func once(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	for failures, strikes := 0, 0; ; {
		if err := t.pace(req); err != nil {
			return nil, err
		}
		resp, err := t.send(req)
		switch {
		case req.Context().Err() != nil:
			return resp, err
		case err != nil || resp.StatusCode >= 500:
			if !repeatable(req) || failures == 2 || !t.wait(req.Context(), time.Duration(1+2*failures)*time.Second) {
				return resp, err
			}
			failures++
		default:
			wait, limited := t.limit(resp, strikes)
			if !limited || !t.wait(req.Context(), wait) {
				return resp, nil
			}
			strikes++
		}
		if resp != nil {
			resp.Body.Close()
		}
	}
}

// repeatable tells whether sending a request again does no harm.
func repeatable(req *http.Request) bool {
	return req.Method != http.MethodPost && req.Context().Value(onceKey{}) == nil
}

// send makes one attempt, with the token if it stays at home.
func (t *transport) send(req *http.Request) (*http.Response, error) {
	attempt := req.Clone(req.Context())
	attempt.Header.Del("Authorization")
	if t.token != "" && req.URL.Host == t.host && req.URL.Scheme == t.scheme {
		attempt.Header.Set("Authorization", "Bearer "+t.token)
	}
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		attempt.Body = body
	}
	t.sent++
	if req.Method != http.MethodGet {
		t.writes = append(t.writes, t.now())
	}
	return t.inner.RoundTrip(attempt)
}

// pace holds a request back until the limits known so far allow it.
func (t *transport) pace(req *http.Request) error {
	if t.sent >= maxRequests {
		return errBudget
	}
	now := t.now()
	if req.Method != http.MethodGet {
		for len(t.writes) > 0 && now.Sub(t.writes[0]) >= time.Minute {
			t.writes = t.writes[1:]
		}
		if len(t.writes) >= maxWrites && !t.wait(req.Context(), t.writes[0].Add(time.Minute).Sub(now)) {
			return errors.New("GitHub takes no more writes this minute, and the time to wait is used up")
		}
	}
	if wait := t.blocked.Sub(t.now()); wait > 0 && !t.wait(req.Context(), wait) {
		return fmt.Errorf("GitHub's limit of requests is reached until %s, longer than there is time to wait", t.blocked.UTC().Format(time.RFC3339))
	}
	return nil
}

// wait sleeps if the budget allows it, and tells whether it did.
func (t *transport) wait(ctx context.Context, d time.Duration) bool {
	if d > t.budget {
		return false
	}
	t.budget -= max(d, 0)
	return t.sleep(ctx, d) == nil
}

// limit reads how long to wait before the same request is sent again. It also
// notes when the last allowed request was used, and takes the headers away, which
// go-github would answer the next call by, without waiting.
func (t *transport) limit(resp *http.Response, strikes int) (wait time.Duration, limited bool) {
	remaining, reset := resp.Header.Get("X-RateLimit-Remaining"), resp.Header.Get("X-RateLimit-Reset")
	until := time.Time{}
	if seconds, err := strconv.ParseInt(reset, 10, 64); err == nil && remaining == "0" {
		until = time.Unix(seconds, 0).Add(time.Second)
		resp.Header.Del("X-RateLimit-Remaining")
		resp.Header.Del("X-RateLimit-Reset")
	}
	if resp.StatusCode < 300 {
		t.blocked = until
		return 0, false
	}
	after, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	told := err == nil && after >= 0
	if resp.StatusCode != http.StatusTooManyRequests && (resp.StatusCode != http.StatusForbidden || !told && until.IsZero() && !aboutLimits(resp)) {
		return 0, false
	}
	switch {
	case told:
		return time.Duration(after) * time.Second, true
	case !until.IsZero():
		return max(until.Sub(t.now()), time.Second), true
	}
	return time.Minute << min(strikes, 4), true
}

// aboutLimits reads a refusal's text, and leaves it as it was.
func aboutLimits(resp *http.Response) bool {
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), resp.Body), resp.Body}
	return err == nil && strings.Contains(strings.ToLower(string(text)), "rate limit")
}
