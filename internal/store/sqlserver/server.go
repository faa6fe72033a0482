package sqlserver

import (
	"cmp"
	"context"
	"database/sql"
	"strings"

	"ds2/internal/store"
	"ds2/schema"
)

const (
	editionAzureDatabase   = 5 // by SERVERPROPERTY('EngineEdition')
	editionManagedInstance = 8
	editionFabric          = 12 // SQL database in Microsoft Fabric, an Azure SQL Database

	// oldest is the first major version of SQL Server that is supported: 2016, of which DROP … IF
	// EXISTS is.
	oldest = 13
)

// server is what a server says of itself.
type server struct {
	edition, major    int
	babelfish         bool
	rds               bool   // Amazon runs it, and takes backups on its own
	fullText          bool   // can be had; of Babelfish: its statements are passed over
	dataPath, logPath string // where it keeps new databases
}

// isAzureDatabase tells whether the server is Azure SQL Database, isAzure whether Azure runs it and
// decides where files lie.
func (v server) isAzureDatabase() bool {
	return !v.babelfish && (v.edition == editionAzureDatabase || v.edition == editionFabric)
}

func (v server) isAzure() bool {
	return v.isAzureDatabase() || !v.babelfish && v.edition == editionManagedInstance
}

// checkUses is an error where the server cannot serve a workload at all.
func (v server) checkUses(uses schema.Features) error {
	const op = "look at the server"
	switch {
	case v.babelfish && uses.FullText && !v.fullText:
		return store.Refuse(op,
			"have an administrator run EXEC sp_babelfish_configure 'escape_hatch_fulltext', 'ignore', 'server', once: the workload uses full-text search",
			"Babelfish does not let this login use full-text search")
	case v.babelfish || v.isAzure():
		return nil
	case v.major < oldest:
		return store.Refuse(op, "use SQL Server 2016 or later",
			"its major version is %d, and ds2 needs %d or later", v.major, oldest)
	case uses.FullText && !v.fullText:
		return store.Refuse(op, "install it (mssql-server-fts on Linux): the workload uses it",
			"full-text search is not installed")
	}
	return nil
}

// IsBabelfish tells whether the server is one.
func (s *Store) IsBabelfish(ctx context.Context) (bool, error) {
	v, err := s.askServer(ctx)
	return v.babelfish, err
}

// askServer asks the server what it is, once for a Store. A database that does not exist yet need
// not keep it from answering.
func (s *Store) askServer(ctx context.Context) (server, error) {
	s.asked.Lock()
	defer s.asked.Unlock()
	if s.server != nil {
		return *s.server, nil
	}
	v, err := readProperties(ctx, s.db)
	if deniesDatabase(err) {
		master := s.openMaster()
		defer master.Close()
		v, err = readProperties(ctx, master)
	}
	if err != nil {
		return server{}, s.Wrap("ask "+s.Label()+" for its version", err)
	}
	s.server = &v
	return v, nil
}

// readProperties asks a database of the server; every login may see these.
func readProperties(ctx context.Context, db *sql.DB) (server, error) {
	var v server
	err := db.QueryRowContext(ctx, query("server/properties")).
		Scan(&v.edition, &v.major, &v.babelfish, &v.fullText, &v.dataPath, &v.logPath, &v.rds)
	if err == nil && v.babelfish {
		err = db.QueryRowContext(ctx, query("server/babelfish-full-text")).Scan(&v.fullText)
	}
	return v, err
}

// Adapt fills in what the SQL depends on and only the server knows. It returns a line for each
// thing that the server cannot take and that the benchmark does without; where it cannot do
// without, that is an error.
func (s *Store) Adapt(ctx context.Context, p *schema.Params) (leftOut []string, err error) {
	v, err := s.askServer(ctx)
	if err != nil {
		return nil, err
	}
	if err := v.checkUses(p.Layout.Uses); err != nil {
		return nil, err
	}
	if len(p.Layout.Files) > 0 && (v.babelfish || v.isAzure()) {
		return nil, store.Refuse("have "+s.Label()+" read files",
			"load the same rows by --size instead of --from",
			"this server has no BULK INSERT from files")
	}
	if p.Layout.Password != "" && !s.hidesPassword() {
		return nil, store.Refuse("make the driver's login on "+s.Label(),
			"add encrypt=true to the target, and certificate=FILE.pem where this machine does not trust the server's",
			"its password would cross the network in clear: without encrypt=true only the login is encrypted")
	}
	placed, err := s.hasFilegroups(ctx)
	if err != nil {
		return nil, s.Wrap("look for filegroups in "+s.Label(), err)
	}
	o := &p.Layout
	o.DataDir, o.LogDir = cmp.Or(o.DataDir, v.dataPath), cmp.Or(o.LogDir, v.logPath)
	o.Lacks = v.findLacking(placed)
	if o.Password != "" {
		if o.LoginThere, err = s.hasLogin(ctx, v, o.Login); err != nil {
			return nil, s.Wrap("look for login "+o.Login+" in "+s.Label(), err)
		}
	}
	return v.leftOut(*o), nil
}

// hasLogin tells whether a login is there.
func (s *Store) hasLogin(ctx context.Context, v server, login string) (bool, error) {
	ask := "server/login"
	if v.isAzureDatabase() {
		ask = "server/login-on-azure"
	}
	master := s.openMaster()
	defer master.Close()
	var n int
	err := master.QueryRowContext(ctx, query(ask), login).Scan(&n)
	return n > 0, err
}

// findLacking says what the server cannot do; placed, whether the database has the filegroups or
// will have them.
func (v server) findLacking(placed bool) schema.Features {
	return schema.Features{
		Files:       v.babelfish || v.isAzure() || !placed,
		Recovery:    v.babelfish || v.isAzure() || v.rds,
		Statistics:  v.babelfish,
		Catalog:     v.babelfish,
		Owners:      v.babelfish,
		ServerState: v.babelfish || v.isAzureDatabase(),

		DelayedDurability: v.babelfish,
	}
}

// leftOut tells in a line each what the SQL does without.
func (v server) leftOut(o schema.Layout) []string {
	return writeLines("leftout.tmpl", struct {
		schema.Layout
		NoFiles, Managed, RDS bool
	}{o, v.babelfish || v.isAzureDatabase(), v.isAzure(), v.rds})
}

// hasFilegroups tells whether the filegroups are there, or will be because the database is yet to
// be made.
func (s *Store) hasFilegroups(ctx context.Context) (bool, error) {
	var n int
	ask := query("database/filegroup")
	err := s.db.QueryRowContext(ctx, ask, schema.SQLServerFilegroup).Scan(&n)
	if deniesDatabase(err) {
		return true, nil
	}
	return n == 1, err
}

// openMaster opens a pool in the server's own database, master; the caller closes it.
func (s *Store) openMaster() *sql.DB {
	config := s.config
	config.Database = "master"
	return sql.OpenDB(connector{s, config})
}

// Name is the name of the database.
func (s *Store) Name() string { return s.config.Database }

// Schema is the user's default one.
func (s *Store) Schema() string { return "SCHEMA_NAME()" }

// standing is how a database stands, as master knows it.
type standing struct {
	State     string // state_desc of sys.databases; empty: it is not there
	Access    bool   // the login may use it
	Collation string // empty where it is not open
}

// askStanding asks master for the target's database.
func (s *Store) askStanding(ctx context.Context, master *sql.DB) (standing, error) {
	found, err := store.Collect[standing](ctx, master, query("server/standing"), s.Name())
	return append(found, standing{})[0], err
}

// checkLoadable is an error where a database is there that cannot be loaded into.
func (d standing) checkLoadable(database string) error {
	op := "open database " + database
	switch {
	case d.State == "":
		return nil
	case d.State == "RECOVERING":
		return store.Connection.Fail(
			op, "wait until its state is ONLINE", "the server is still recovering it")
	case d.State == "RESTORING":
		return store.Refuse(op, "restore it with ds2 snapshot restore, or drop it",
			"its state is RESTORING: a restore was not finished")
	case d.State == "OFFLINE":
		return store.Refuse(op, "set it online: ALTER DATABASE "+quoteName(database)+" SET ONLINE",
			"its state is OFFLINE")
	case d.State != "ONLINE":
		return store.Refuse(op, "look at the server's error log", "its state is %s", d.State)
	case strings.Contains(d.Collation, "_CS") || strings.Contains(d.Collation, "_BIN"):
		return store.Refuse(op, "drop the database and let ds2 load make it, or name another",
			"its collation %s is case-sensitive, and that of a database that ds2 makes is not",
			d.Collation)
	}
	return nil
}

// CreateDatabase makes the target's database with the given statements. Where it is there, those
// that do it no harm are run: recovery model and login.
func (s *Store) CreateDatabase(ctx context.Context, statements []schema.Statement) error {
	master := s.openMaster()
	defer master.Close()
	database, err := s.askStanding(ctx, master)
	if err != nil {
		// A user of the target's database alone may not ask master; then the database is there.
		if s.db.PingContext(ctx) != nil {
			return s.Wrap("ask for database "+s.Name(), err)
		}
		database = standing{State: "ONLINE", Access: true}
	}
	if err := database.checkLoadable(s.Name()); err != nil {
		return err
	}
	there := database.State != ""
	if there {
		if err := s.db.PingContext(ctx); err != nil {
			op := "connect to " + s.Label()
			if deniesDatabase(err) && !database.Access {
				return store.Refuse(op, "make the login a user of the database, or use another",
					"the database exists, but the login of the target may not use it")
			}
			return s.Wrap(op, err)
		}
	}
	for _, statement := range statements {
		if statement.Unless == schema.UnlessExists && there {
			continue
		}
		if _, err := master.ExecContext(ctx, statement.SQL); err != nil {
			return s.Wrap(statement.Name+" of "+s.Name(), err)
		}
	}
	return nil
}
