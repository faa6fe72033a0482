package main

import (
	"os"
	"strings"

	"github.com/spf13/pflag"

	"ds2/datagen/folder"
	"ds2/schema"
)

// sqlServerFlags are the flags for the layout of a SQL Server database, and for the login that the driver gets there.
type sqlServerFlags struct {
	options      schema.Layout
	passwordFile string
	recovery     int // seconds; defaultRecovery: the server's own
}

// maxFiles is a limit against slips of the keyboard: SQL Server's own is 32,767 files in a database.
const maxFiles = 256

// defaultRecovery is what SQL Server gives a new database, and maxRecovery what no log of a test needs.
const defaultRecovery, maxRecovery = 60, 86400

// add declares the flags, and those of the placement on PostgreSQL, which are p's.
func (f *sqlServerFlags) add(flags *pflag.FlagSet, p *schema.Params) {
	flags.StringVar(&p.DataTablespace, "data-tablespace", "", "PostgreSQL: tablespace of the tables (default: "+
		"the database's)")
	flags.StringVar(&p.IndexTablespace, "index-tablespace", "", "PostgreSQL: tablespace of the indexes (default: "+
		"the database's)")
	flags.IntVar(&f.options.FilesPerFilegroup, "files-per-filegroup", 1, "SQL Server: files of each of the four "+
		"filegroups; a quarter to one per core")
	flags.StringVar(&f.options.DataDir, "data-dir", "", "SQL Server: directory of the data files, as the server sees "+
		"it (default: the server's)")
	flags.StringVar(&f.options.LogDir, "log-dir", "", "SQL Server: directory of the log file (default: the server's)")
	flags.Int64Var(&f.options.LogMB, "log-size", 0, "SQL Server: size of the log file in MB; an order writes about 6 "+
		"kB, and a log that grows stalls the run (default: 40 % of the data, at least 256)")
	flags.IntVar(&f.recovery, "target-recovery-time", defaultRecovery, "SQL Server: target recovery time in seconds, "+
		"for which changed pages are written all the time; 0 = checkpoints about once a minute, as before 2016")
	flags.StringVar(&f.options.Login, "driver-login", "ds2user", "SQL Server: login and user that own the database, "+
		"created with --driver-password-file")
	flags.StringVar(&f.passwordFile, "driver-password-file", "", "SQL Server: file with the password for "+
		"--driver-login on its first line")
	under(flags, ofPlacement)
}

// addFiles declares the flag for files that the server reads itself.
func (f *sqlServerFlags) addFiles(flags *pflag.FlagSet) {
	flags.StringVar(&f.options.FilesDir, "server-dir", "", "SQL Server: the directory of --from as the server sees "+
		"it, to read the files by BULK INSERT")
}

// directory has the server read the files of a directory, for a script.
func (f *sqlServerFlags) directory(engine, from string) error {
	switch {
	case !schema.ReadsFiles(engine):
		return usageError("--phase: %s has no phase %s: ds2 load streams the data", engine, schema.Data)
	case from == "" || f.options.FilesDir == "":
		return usageError("--phase %s needs --from and --server-dir: "+
			"the directory of the dataset, as this machine and as the server see it", schema.Data)
	}
	dir, err := folder.Open(from)
	if err == nil {
		_, err = dir.Parts() // which refuses a directory that is not whole
	}
	if err != nil {
		return flagError("from", err)
	}
	f.files(dir.Manifest)
	return nil
}

// files has the server read the files of a manifest.
func (f *sqlServerFlags) files(m *folder.Manifest) {
	f.options.CRLF = m.Lines == "crlf"
	for _, e := range m.Files {
		f.options.Files = append(f.options.Files, schema.ServerFile{Name: e.Name, Table: string(e.Table), Rows: e.Rows})
	}
}

func (f *sqlServerFlags) read() (schema.Layout, error) {
	o := f.options
	switch {
	case o.FilesPerFilegroup < 1 || o.FilesPerFilegroup > maxFiles:
		return o, usageError("--files-per-filegroup is %d: it must be 1 to %d", o.FilesPerFilegroup, maxFiles)
	case f.recovery < 0 || f.recovery > maxRecovery:
		return o, usageError("--target-recovery-time is %d: it must be 0 to %d seconds", f.recovery, maxRecovery)
	case o.LogMB < 0:
		return o, usageError("--log-size is %d: it must be 0 or more", o.LogMB)
	case o.Login == "":
		return o, usageError("--driver-login is empty: " +
			"leave --driver-password-file out for a database without its own login")
	}
	if f.recovery != defaultRecovery {
		o.TargetRecovery = &f.recovery
	}
	if f.passwordFile != "" {
		text, err := os.ReadFile(f.passwordFile)
		if err != nil {
			return o, flagError("driver-password-file", err)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		if o.Password = strings.TrimSuffix(first, "\r"); o.Password == "" {
			return o, usageError("--driver-password-file: %s: the first line is empty", f.passwordFile)
		}
	}
	return o, nil
}
