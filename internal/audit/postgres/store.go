package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

// migrations are applied in order, each once, each in a transaction.
var migrations = []string{
	`create table touchstone_head (repository text primary key, seq bigint not null, hash text not null)`,
	`create table touchstone_record (
		repository text not null references touchstone_head,
		seq bigint not null check (seq > 0),
		id text not null,
		line text not null,
		primary key (repository, seq),
		unique (repository, id))`,
	`create function touchstone_append_only() returns trigger language plpgsql as
		$$ begin raise exception 'the audit ledger is append-only'; end $$;
	create trigger touchstone_append_only before update or delete or truncate on touchstone_record
		for each statement execute function touchstone_append_only()`,
}

// migrationLock keeps two programs from migrating at once.
const migrationLock = 0x746f756368 // "touch"

// Store holds the ledgers of many repositories. Each has a chain of its own; a
// record goes to that of the repository that it names.
type Store struct {
	pool       *pgxpool.Pool
	repository string // "" for all
}

// Open connects and brings the tables up to date. repository restricts Lines to
// one repository's chain; "" gives all, one after the other.
func Open(ctx context.Context, url, repository string) (*Store, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("reading the address of the PostgreSQL ledger: %w", withoutSecret(err))
	}
	s := &Store{pool, repository}
	if err := s.migrate(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("opening the PostgreSQL ledger: %w", withoutSecret(err))
	}
	return s, nil
}

// withoutSecret drops what pgx says of an address that it could not read: it may
// hold the password.
func withoutSecret(err error) error {
	var parse *pgconn.ParseConfigError
	if errors.As(err, &parse) {
		return errors.New("it is no postgres://user@host/database address")
	}
	return err
}

// Close ends the connections.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

func (s *Store) migrate(ctx context.Context) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, int64(migrationLock)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `create table if not exists touchstone_migration (number int primary key, applied timestamptz not null default now())`); err != nil {
			return err
		}
		var done int
		if err := tx.QueryRow(ctx, `select count(*) from touchstone_migration`).Scan(&done); err != nil {
			return err
		}
		if done > len(migrations) {
			return fmt.Errorf("the database is at migration %d and this touchstone knows %d: use a newer touchstone", done, len(migrations))
		}
		for i := done; i < len(migrations); i++ {
			if _, err := tx.Exec(ctx, migrations[i]); err != nil {
				return fmt.Errorf("migration %d: %w", i+1, err)
			}
			if _, err := tx.Exec(ctx, `insert into touchstone_migration (number) values ($1)`, i+1); err != nil {
				return err
			}
		}
		return nil
	})
}

// Append implements ledger.Store. Writers of one repository take turns by a lock on
// its head's row; those of different ones do not wait for each other.
func (s *Store) Append(ctx context.Context, records []audit.Record) (added int, err error) {
	var names []string
	for _, r := range records {
		names = append(names, r.Repository)
	}
	slices.Sort(names) // always in the same order, so that no two writers wait for each other
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		added = 0
		for _, name := range slices.Compact(names) {
			n, err := appendTo(ctx, tx, name, records)
			if err != nil {
				return err
			}
			added += n
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("appending to the PostgreSQL ledger: %w", err)
	}
	return added, nil
}

// appendTo puts a repository's records behind its chain.
func appendTo(ctx context.Context, tx pgx.Tx, repository string, records []audit.Record) (added int, err error) {
	if _, err := tx.Exec(ctx, `insert into touchstone_head (repository, seq, hash) values ($1, 0, '') on conflict do nothing`, repository); err != nil {
		return 0, err
	}
	var seq int64
	var hash string
	if err := tx.QueryRow(ctx, `select seq, hash from touchstone_head where repository = $1 for update`, repository).Scan(&seq, &hash); err != nil {
		return 0, err
	}
	known, err := knownIDs(ctx, tx, repository, records)
	if err != nil {
		return 0, err
	}
	var rows [][]any
	for i := range records {
		r := &records[i]
		if r.Repository != repository || known[r.ID] {
			continue
		}
		known[r.ID] = true
		line, err := audit.Seal(r, seq+1, hash)
		if err != nil {
			return 0, err
		}
		seq, hash = r.Seq, r.Hash
		rows = append(rows, []any{repository, seq, r.ID, string(line)})
	}
	if len(rows) == 0 {
		return 0, nil
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"touchstone_record"}, []string{"repository", "seq", "id", "line"}, pgx.CopyFromRows(rows)); err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, `update touchstone_head set seq = $2, hash = $3 where repository = $1`, repository, seq, hash)
	return len(rows), err
}

func knownIDs(ctx context.Context, tx pgx.Tx, repository string, records []audit.Record) (map[string]bool, error) {
	var ids []string
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	rows, err := tx.Query(ctx, `select id from touchstone_record where repository = $1 and id = any($2)`, repository, ids)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	known := make(map[string]bool)
	for _, id := range list {
		known[id] = true
	}
	return known, err
}

// Lines implements ledger.Store.
func (s *Store) Lines(ctx context.Context, f func(line []byte) error) error {
	rows, err := s.pool.Query(ctx, `select line from touchstone_record where $1 = '' or repository = $1 order by repository, seq`, s.repository)
	if err != nil {
		return fmt.Errorf("reading the PostgreSQL ledger: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var line []byte
		if err := rows.Scan(&line); err != nil {
			return fmt.Errorf("reading the PostgreSQL ledger: %w", err)
		}
		if err := f(line); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Chains are the repositories that have a chain, with the end that the database
// keeps of each.
func (s *Store) Chains(ctx context.Context) (map[string]string, error) {
	rows, err := s.pool.Query(ctx, `select repository, seq || ':' || hash from touchstone_head where seq > 0 and ($1 = '' or repository = $1)`, s.repository)
	if err != nil {
		return nil, fmt.Errorf("reading the PostgreSQL ledger: %w", err)
	}
	tips := make(map[string]string)
	var name, tip string
	_, err = pgx.ForEachRow(rows, []any{&name, &tip}, func() error {
		tips[name] = tip
		return nil
	})
	return tips, err
}

// Of is the same store, restricted to one repository's chain. It need not be
// closed.
func (s *Store) Of(repository string) *Store { return &Store{s.pool, repository} }
