// Package github talks to GitHub: it reads the event that started a workflow,
// the pull request behind it and the signs that an agent wrote it, and posts one
// check run and one comment.
//
// Goals: nothing is written when nothing changed; what is written stays within
// GitHub's limits; a request is never sent twice when it may have landed; the
// token goes to no other host; what cannot be done is said with the permission
// that is missing.
//
// Non-goals: deciding anything, wording a report, reading a repository's files
// beyond its configuration. All text comes in ready-made.
package github
