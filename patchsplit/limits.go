package patchsplit

// Limits of what Parse accepts. They are far above what a person reviews, and
// keep a hostile diff from eating the machine.
const (
	maxBytes    = 512 << 20 // of one diff
	maxFiles    = 50_000    // changed files
	maxName     = 4096      // bytes of one path, as PATH_MAX
	maxInflated = 256 << 20 // bytes that the binary parts of one diff inflate to
)
