package main

import (
	"context"
	"fmt"
)

// refresh brings the coverage map up to date on the default branch, where no
// change is to be judged: later pull requests select by it. A repository whose
// runners cannot be observed has none, which is no failure.
func (w *workflow) refresh(ctx context.Context, dir string) error {
	if w.event.Aside != "" {
		w.step.Notice(fmt.Sprintf("touchstone: %.100q is not the default branch; there is nothing to judge and nothing to refresh", w.event.Aside))
		return nil
	}
	o := selectOptions{repo: dir, base: "HEAD", head: "HEAD", index: "refresh"}
	s, err := prepareSelect(ctx, o)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, r := range s.runners.list {
		if _, ok := r.(tracer); !ok {
			w.step.Notice(fmt.Sprintf("touchstone: the tests of %s cannot be observed one by one: selection goes by imports and names, and there is no map to refresh", r.Name()))
			return nil
		}
	}
	w.step.Group("touchstone: coverage map")
	defer w.step.EndGroup()
	return s.makeIndex(ctx, w.app.Stdout)
}
