// Package figures writes the numbers of an audit ledger for people and programs:
// text, Markdown, JSON, and one HTML page with plots that needs nothing from
// elsewhere. Beside each number stands what it means, and what it does not.
//
// It computes nothing: every number is in an audit.Summary.
package figures
