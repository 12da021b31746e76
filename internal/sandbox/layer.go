package sandbox

// Layer is what set-up commands left behind, for states to stand on. It is of
// use until its sandbox is closed.
type Layer struct {
	key   string // names the paths that were left out of it
	image string // docker: the image's id
}
