package sandbox

import (
	"context"
	"errors"
	"slices"

	"github.com/touchstone-gate/touchstone/gate"
)

// dockerSetup runs commands in containers, each made from what the one before
// left.
type dockerSetup struct {
	*contained
	key      string
	finished string // the last container, ended; "" before the first
	step     int
	surplus  []string // paths below the root that are the state's own
}

func openDockerSetup(ctx context.Context, s *Sandbox, files []File) (setUpper, error) {
	c, err := newContained(ctx, s, nil, files)
	if err != nil {
		return nil, err
	}
	common, key := s.docker.base.strip(files)
	u := &dockerSetup{contained: c, key: key}
	for _, path := range c.delta {
		if _, there := common[path]; !there {
			u.surplus = append(u.surplus, path)
		}
	}
	return u, nil
}

func (u *dockerSetup) run(ctx context.Context, t task) (gate.Exit, error) {
	t.network = true
	if err := u.next(ctx); err != nil {
		return gate.Exit{}, err
	}
	id, err := u.create(ctx, t, u.step == 0)
	if err != nil {
		return gate.Exit{}, err
	}
	u.finished = id
	return u.execute(ctx, id, t)
}

// next makes what the last container left the image of the next.
func (u *dockerSetup) next(ctx context.Context) error {
	if u.finished == "" {
		return nil
	}
	u.d.mu.Lock()
	defer u.d.mu.Unlock()
	id, err := u.d.commit(ctx, u.finished, "set-up "+u.finished)
	if err != nil {
		return err
	}
	u.forget(u.finished)
	u.finished, u.image, u.setUp = "", id, true
	u.step++
	return nil
}

// maxArguments keeps a command line well below the system's limit.
const maxArguments = 500

// keep removes the state's own files, by the image's own rm, since an engine has
// no call for that.
func (u *dockerSetup) keep(ctx context.Context) (*Layer, error) {
	for paths := range slices.Chunk(u.surplus, maxArguments) {
		argv := []string{"rm", "-rf", "--"}
		for _, path := range paths {
			argv = append(argv, joinSlash(u.at.root, slashed(path)))
		}
		t := task{Argv: argv, Dir: ".", Env: u.at.env, Memory: gib, Pids: 10, Timeout: answerGrace}
		var err error
		if t.streams, err = openStreams(gate.Command{}, gib); err != nil {
			return nil, err
		}
		exit, err := u.run(ctx, t)
		t.streams.wait()
		if err == nil && exit.Code != 0 {
			err = errors.New("the image's rm failed on the state's own files")
		}
		if err != nil {
			return nil, err
		}
	}
	if err := u.next(ctx); err != nil {
		return nil, err
	}
	return &Layer{key: u.key, image: u.image}, nil
}
