package github

import (
	"strings"
	"unicode/utf8"
)

// GitHub's limits, in bytes where not said otherwise, with the error that
// exceeding one gives.
const (
	maxText       = 65_535    // a check's summary and text, each: "Only 65535 characters are allowed", counted in bytes
	maxTitle      = 255       // of a check, and of an annotation
	maxMessage    = 64 << 10  // an annotation's message, and its raw details
	maxComment    = 65_536    // "Body is too long (maximum is 65536 characters)", counted in characters
	perRequest    = 50        // annotations: "No more than 50 annotations are allowed per request"
	perPage       = 100       // items of a list
	maxPages      = 30        // of one list that are read
	maxRequests   = 900       // of one run: a workflow's token has 1,000 an hour
	maxWrites     = 80        // a minute, before the secondary limit strikes
	maxCommits    = 250       // that GitHub lists of a pull request
	maxFiles      = 3000      // that GitHub lists of a pull request
	maxConfig     = 256 << 10 // of a configuration file, ours
	maxEventBytes = 4 << 20   // of an event's payload, ours
)

// clip shortens text to a number of bytes, at the end of a rune.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// clipLines shortens text to a number of bytes, at the end of a line where
// there is one. It is the last defence: whoever made the text has cut it with
// more care.
func clipLines(text string, limit int) string {
	cut := clip(text, limit)
	if len(cut) == len(text) {
		return text
	}
	if end := strings.LastIndexByte(cut, '\n'); end > limit/2 {
		return cut[:end+1]
	}
	return cut
}
