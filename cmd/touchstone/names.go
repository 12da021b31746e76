package main

import (
	"context"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/patchsplit"
)

// newNames answers whether a name that a check did not find is one that only
// the production part of a change adds.
type newNames struct {
	ctx        context.Context
	change     *change
	classifier *patchsplit.Classifier
	declared   patchsplit.Names
	removed    patchsplit.Names // what head no longer declares
	standing   patchsplit.Names // all that the changed files declare on head
	onBase     map[string]bool  // name -> used by production code on base
}

func readNames(ctx context.Context, c *change, classifier *patchsplit.Classifier, parts []patchsplit.FilePart) *newNames {
	n := &newNames{ctx: ctx, change: c, classifier: classifier, onBase: make(map[string]bool)}
	for _, part := range parts {
		if part.Part != patchsplit.Production && part.Part != patchsplit.Mixed {
			continue
		}
		before, after := productionSides(c, part)
		n.declared.Merge(patchsplit.DeclaredNames(part.Path, before, after))
		n.removed.Merge(patchsplit.DeclaredNames(pathOnBase(part), after, before))
		n.standing.Merge(patchsplit.DeclaredNames(part.Path, nil, after))
	}
	return n
}

// stands holds when one of the changed production files declares the name on
// head.
func (n *newNames) stands(name string) bool {
	_, declared := n.standing.Added[name]
	return declared
}

// introduced holds when the production part newly declares the name. A look-up
// that stood in the code under test is that code's own failure when base's code
// already used the name: then the name is not what the change adds, but what it
// repairs.
func (n *newNames) introduced(m gate.Missing) bool {
	if m.Owner == "NoneType" {
		return false // nothing was there at all: that is behaviour
	}
	if m.Signature {
		return n.declared.Changed[m.Name] || m.Owner != "" && n.declared.Changed[m.Owner+"."+m.Name]
	}
	if _, added := n.declared.Added[m.Name]; !added {
		return false
	}
	return !m.FromProduction || !n.usedOnBase(m.Name)
}

// gone holds when the production part no longer declares the name, or wants it
// called otherwise, and a test that stood on base asked for it.
func (n *newNames) gone(m gate.Missing) bool {
	if m.FromProduction || m.Owner == "NoneType" {
		return false // the code's own failure
	}
	if m.Signature {
		return n.declared.Changed[m.Name] || m.Owner != "" && n.declared.Changed[m.Owner+"."+m.Name]
	}
	_, removed := n.removed.Added[m.Name]
	return removed
}

func (n *newNames) usedOnBase(name string) bool {
	word := name[strings.LastIndexByte(name, '.')+1:]
	used, known := n.onBase[word]
	if !known {
		files, err := n.change.repo.WordFiles(n.ctx, n.change.baseTree, word)
		used = err == nil && slices.ContainsFunc(files, func(path string) bool {
			return n.classifier.File(path).Part == patchsplit.Production
		})
		n.onBase[word] = used
	}
	return used
}

// inert holds when every production file keeps its code and changes comments,
// layout or documentation strings only, or only configures the tests.
func inert(c *change, parts []patchsplit.FilePart) bool {
	some := false
	for _, part := range parts {
		if part.Part != patchsplit.Production && part.Part != patchsplit.Mixed {
			continue
		}
		some = true
		if patchsplit.SetUpOnly(part) {
			continue
		}
		before, after := productionSides(c, part)
		if patchsplit.TestSettingsOnly(part.Path, before, after) {
			continue
		}
		if before == nil || after == nil || part.OldPath != "" || part.OldMode != part.NewMode || !patchsplit.Inert(part.Path, before, after) {
			return false
		}
	}
	return some
}

// kindOf is the kind of the change: by its content where that settles it, else by
// its shape and its subjects.
func kindOf(c *change, parts []patchsplit.FilePart) (kind, evidence string) {
	annotated, removed, settings, dependency := false, false, false, false
	for _, part := range parts {
		if part.Part != patchsplit.Production && part.Part != patchsplit.Mixed {
			continue
		}
		before, after := productionSides(c, part)
		switch {
		case before != nil && after != nil && patchsplit.Inert(part.Path, before, after):
		case patchsplit.TestSettingsOnly(part.Path, before, after):
			settings = true
		case patchsplit.Depends(part):
			dependency = true
		case patchsplit.AnnotationsOnly(part.Path, before, after):
			annotated = true
		case patchsplit.RemovesOnly(part.Path, before, after):
			removed = true
		default:
			return patchsplit.Kind(parts, c.subjects)
		}
	}
	switch {
	case removed:
		return patchsplit.KindRefactor, "whole declarations are taken away, and nothing else changes"
	case annotated:
		return patchsplit.KindRefactor, "only annotations of functions change"
	case dependency:
		return patchsplit.KindDependency, "of the production part only dependency files change, beside comments and layout"
	case settings:
		return patchsplit.KindUnknown, "of the production part only settings of the tests change"
	}
	return patchsplit.Kind(parts, c.subjects)
}
