package git

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Credentials let Deepen read a private repository whose clone keeps none.
type Credentials struct {
	Server string // https://github.com: the token is sent to this host only
	Token  string
}

// depths are how much history a shallow clone is deepened to, before all of it
// is asked for.
var depths = []string{"--depth=50", "--depth=500", "--unshallow"}

// Deepen makes a clone hold two commits and their merge base, by fetching from
// origin what is missing: of a shallow clone more and more history, of a whole
// one only the commits, for a depth would make it shallow. It is the one
// function of this package that writes to the repository, and moves no ref.
func Deepen(ctx context.Context, dir string, credentials Credentials, a, b string) error {
	if !isID(a) || !isID(b) {
		return fmt.Errorf("fetching %q and %q: both must be whole commit ids", a, b)
	}
	r, err := Open(ctx, dir)
	if err != nil {
		return err
	}
	defer r.Close()
	if r.joined(ctx, a, b) {
		return nil
	}
	var failed error
	for _, depth := range append([]string{""}, depths...) {
		if shallow := r.IsShallow(ctx); shallow == (depth == "") {
			continue
		}
		if failed = r.fetch(ctx, dir, credentials, depth, a, b); failed == nil && r.joined(ctx, a, b) {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if failed != nil {
		return fmt.Errorf("fetching %s and %s from origin: %w: check them out whole (fetch-depth: 0 in actions/checkout)", short(a), short(b), failed)
	}
	_, err = r.MergeBase(ctx, a, b)
	return err
}

// joined tells whether both commits and a common ancestor are there.
func (r *Repo) joined(ctx context.Context, a, b string) bool {
	if !r.exists(ctx, a) || !r.exists(ctx, b) {
		return false
	}
	_, err := r.MergeBase(ctx, a, b)
	return err == nil
}

// fetch asks with what the clone itself knows, then with the token.
func (r *Repo) fetch(ctx context.Context, dir string, credentials Credentials, depth string, commits ...string) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance"}
	if depth != "" {
		args = append(args, depth)
	}
	args = append(append(args, "origin"), commits...)
	plain := probe(ctx, dir, args...)
	plain.Env = append(plain.Env, "GIT_ALLOW_PROTOCOL=https:http:ssh:file")
	_, err := plain.output(1 << 20)
	header, ok := credentials.header()
	if err == nil || !ok || ctx.Err() != nil {
		return err
	}
	again := probe(ctx, dir, args...)
	again.Env = append(again.Env, "GIT_ALLOW_PROTOCOL=https:http")
	again.Env = append(again.Env, configured([][2]string{header})...)
	if _, second := again.output(1 << 20); second != nil {
		return errors.Join(err, second)
	}
	return nil
}

// header is the setting that sends the token, to its own server only.
func (c Credentials) header() (setting [2]string, ok bool) {
	server, err := url.Parse(c.Server)
	if err != nil || c.Token == "" || server.Host == "" || server.Scheme != "https" && server.Scheme != "http" {
		return setting, false
	}
	key := fmt.Sprintf("http.%s://%s/.extraheader", server.Scheme, server.Host)
	value := "AUTHORIZATION: basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+c.Token))
	return [2]string{key, value}, !strings.ContainsAny(c.Token, "\r\n")
}
