// Package sandbox runs one command in one state of a work tree.
//
// A state is the user's work tree with some files replaced, added or removed.
// Its commands see it at the path of the original work tree, so that editable
// installs, virtual environments and build caches tied to that path belong to
// the state and to nothing else.
//
// Goals:
//   - The user's tree and home are never written, nothing is left behind: no
//     mount, process or temporary file, also when this process is killed.
//   - No state can be told from another by its path, environment, times or mounts.
//   - The command is hostile. It gets no capability, no credential, no socket
//     of the host, no network unless asked for, and limits on time, memory,
//     processes and disk.
//
// Three kinds exist. "overlay" (Linux) keeps all of the above with a user, mount,
// PID, IPC, UTS and network namespace and overlay filesystems; nothing is
// copied. "docker" runs each command in a fresh container of a Docker engine,
// near or far, at the same path; what its commands see is the image's, not this
// machine's. "copy" works everywhere: a clone of the tree at another path, with a
// private temporary directory and best-effort limits; [Sandbox.Reason] says
// why it was used and what it does not keep. The contract suite in
// contract_test.go is run on all three and states where they differ.
//
// Non-goals: making a state's files out of commits (the caller stages blobs),
// and knowing anything about test frameworks.
//
// A program that uses the overlay kind calls [Init] first thing in main.
package sandbox
