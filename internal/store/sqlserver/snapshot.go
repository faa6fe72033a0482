package sqlserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/internal/store"
)

// A snapshot here is a full backup, which is what the storage report restores before each run (WORKLOAD.md section 6).
// SQL Server's own database snapshots are not used: while one exists, the first change of every page is copied to it,
// which a storage benchmark would measure, and going back to one drops the full-text catalogs (docs/sqlserver.md).

// backupFile is the name of the backup in the server's own folder for backups.
func (s *Store) backupFile() string { return "ds2_snapshot_" + s.Database() + ".bak" }

// CreateSnapshot makes a full backup: store.Snapshotter. It is also what full recovery takes effect with.
func (s *Store) CreateSnapshot(ctx context.Context) error {
	op := "back up " + s.Label()
	if err := s.needBackup(ctx, op); err != nil {
		return err
	}
	_, err := s.db.ExecContext(ctx, fmt.Sprintf("BACKUP DATABASE %s TO DISK = %s WITH FORMAT, INIT, CHECKSUM",
		quoteName(s.Database()), quoteText(s.backupFile())))
	return s.Wrap(op, err)
}

// RestoreSnapshot puts the backup in the database's place, in the files where the database lies now.
func (s *Store) RestoreSnapshot(ctx context.Context) error {
	op := "restore " + s.Label()
	if err := s.needBackup(ctx, op); err != nil {
		return err
	}
	master := s.master()
	defer master.Close()
	moves, err := s.moves(ctx, master)
	if err != nil {
		return s.Wrap(op, err)
	}
	// What is asked first fails where there is no backup, before anybody is disconnected.
	database, file := quoteName(s.Database()), quoteText(s.backupFile())
	for _, statement := range []string{
		"RESTORE FILELISTONLY FROM DISK = " + file,
		"ALTER DATABASE " + database + " SET OFFLINE WITH ROLLBACK IMMEDIATE",
		"RESTORE DATABASE " + database + " FROM DISK = " + file + " WITH REPLACE, CHECKSUM" + moves,
	} {
		if _, err := master.ExecContext(ctx, statement); err != nil {
			online, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
			defer cancel()
			_, failed := master.ExecContext(online, "ALTER DATABASE "+database+" SET ONLINE")
			return s.Wrap(op, errors.Join(err, failed))
		}
	}
	return nil
}

// moves are the MOVE options of RESTORE that keep every file where it is, whatever the backup says.
func (s *Store) moves(ctx context.Context, master *sql.DB) (string, error) {
	rows, err := master.QueryContext(ctx, "SELECT name, physical_name FROM sys.master_files WHERE database_id = DB_ID(@p1)", s.Database())
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var moves strings.Builder
	for rows.Next() {
		var name, path string
		if err := rows.Scan(&name, &path); err != nil {
			return "", err
		}
		fmt.Fprintf(&moves, ", MOVE %s TO %s", quoteText(name), quoteText(path))
	}
	return moves.String(), rows.Err()
}

// DropSnapshot can only tell which file is to be deleted: no statement of SQL Server deletes a backup.
func (s *Store) DropSnapshot(ctx context.Context) error {
	op := "drop the snapshot of " + s.Label()
	if err := s.needBackup(ctx, op); err != nil {
		return err
	}
	// The path as BACKUP resolved it is in the history of backups, for those who may read that.
	path := s.backupFile() + " in the server's folder for backups"
	_ = s.db.QueryRowContext(ctx, `
		SELECT TOP (1) m.physical_device_name
		FROM msdb.dbo.backupset AS b
		JOIN msdb.dbo.backupmediafamily AS m ON m.media_set_id = b.media_set_id
		WHERE b.database_name = @p1 AND RIGHT(m.physical_device_name, LEN(@p2)) = @p2
		ORDER BY b.backup_finish_date DESC`, s.Database(), s.backupFile()).Scan(&path)
	return &store.Error{Op: op, Class: store.Config, Err: errors.New("SQL Server has no statement that deletes a backup"),
		Hint: "delete " + path + " on the server's machine"}
}

// needBackup is an error where the server has no BACKUP of its own.
func (s *Store) needBackup(ctx context.Context, op string) error {
	v, err := s.ask(ctx)
	if err != nil {
		return err
	}
	if v.babelfish || v.azure() {
		return &store.Error{Op: op, Class: store.Config, Err: errors.New("this server has no BACKUP DATABASE to a disk"), Hint: "use ds2 reset"}
	}
	return nil
}

func quoteName(name string) string { return mssql.TSQLQuoter{}.ID(name) }
func quoteText(text string) string { return "N'" + strings.ReplaceAll(text, "'", "''") + "'" }
