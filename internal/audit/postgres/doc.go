// Package postgres keeps the audit ledgers of an organisation in PostgreSQL: one
// chain for each repository, in one database.
//
// It is a store like those of package ledger, with the same lines and promises; it
// does not judge, and what it stores is the sealed lines, not columns of their
// content. The client is pgx: pure Go, the one that PostgreSQL users know.
package postgres
