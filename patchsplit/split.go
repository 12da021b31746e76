package patchsplit

// Split puts each change into its part. A rename or copy goes with its new
// name; a rename from one part into another is taken apart into a deletion and
// an addition, since each state needs its own half: a test that becomes
// production code must not take its old self out of base's tests, nor the
// other way round. A file that changes its kind stays whole. A production file
// with test code of its own is taken apart by hunks.
func Split(changes []FileChange, c *Classifier) []FilePart {
	parts := make([]FilePart, 0, len(changes))
	for _, change := range changes {
		parts = append(parts, c.place(change)...)
	}
	return parts
}

func (c *Classifier) place(change FileChange) []FilePart {
	now := c.File(change.Path)
	if change.Status != Renamed || change.OldPath == "" {
		return []FilePart{c.settings(c.mixed(change, now))}
	}
	was := c.File(change.OldPath)
	if was.Part == now.Part {
		return []FilePart{c.settings(c.mixed(change, now))}
	}
	gone := FileChange{Path: change.OldPath, Status: Deleted, OldMode: change.OldMode, Binary: change.Binary}
	came := FileChange{Path: change.Path, Status: Added, NewMode: change.NewMode, Binary: change.Binary}
	was.Why += "; renamed to " + change.Path + ", which is " + now.Part.String()
	now.Why += "; renamed from " + change.OldPath + ", which is " + was.Part.String()
	return []FilePart{{FileChange: gone, Decision: was}, {FileChange: came, Decision: now}}
}
