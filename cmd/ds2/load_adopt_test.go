package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/texttest"
)

// dvdStore makes a database of size S as DVD Store's own scripts do, from what WORKLOAD.md sections 1, 3 and 4 say of
// them: their types, keys, indexes, procedures and trigger, other words than the kit's, and nothing of the kit.
func dvdStore(t *testing.T) (target string, db *sql.DB) {
	t.Helper()
	target = pgtest.Database(t)
	db = openDB(t, target)
	db.SetMaxIdleConns(0) // a snapshot takes nobody beside it
	pgtest.Exec(t, db, `
		CREATE TABLE CUSTOMERS (CUSTOMERID SERIAL, FIRSTNAME VARCHAR(50) NOT NULL, LASTNAME VARCHAR(50) NOT NULL,
			ADDRESS1 VARCHAR(50) NOT NULL, ADDRESS2 VARCHAR(50), CITY VARCHAR(50) NOT NULL,
			STATE VARCHAR(50), ZIP VARCHAR(9), COUNTRY VARCHAR(50) NOT NULL, REGION SMALLINT NOT NULL,
			EMAIL VARCHAR(50), PHONE VARCHAR(50), CREDITCARDTYPE INTEGER NOT NULL, CREDITCARD VARCHAR(50) NOT NULL,
			CREDITCARDEXPIRATION VARCHAR(50) NOT NULL, USERNAME VARCHAR(50) NOT NULL, PASSWORD VARCHAR(50) NOT NULL,
			AGE SMALLINT, INCOME INTEGER, GENDER VARCHAR(1));
		CREATE TABLE ORDERS (ORDERID SERIAL, ORDERDATE DATE NOT NULL, CUSTOMERID INTEGER, NETAMOUNT NUMERIC NOT NULL,
			TAX NUMERIC NOT NULL, TOTALAMOUNT NUMERIC NOT NULL);
		CREATE TABLE ORDERLINES (ORDERLINEID SMALLINT NOT NULL, ORDERID INTEGER NOT NULL, PROD_ID INTEGER NOT NULL,
			QUANTITY SMALLINT NOT NULL, ORDERDATE DATE NOT NULL);
		CREATE TABLE CUST_HIST (CUSTOMERID INTEGER NOT NULL, ORDERID INTEGER NOT NULL, PROD_ID INTEGER NOT NULL);
		CREATE TABLE PRODUCTS (PROD_ID SERIAL, CATEGORY SMALLINT NOT NULL, TITLE TEXT NOT NULL, ACTOR TEXT NOT NULL,
			PRICE NUMERIC NOT NULL, SPECIAL SMALLINT NOT NULL, COMMON_PROD_ID INTEGER NOT NULL);
		CREATE TABLE INVENTORY (PROD_ID INTEGER NOT NULL, QUAN_IN_STOCK INTEGER NOT NULL, SALES INTEGER NOT NULL)
			WITH (fillfactor = 85);
		CREATE TABLE CATEGORIES (CATEGORY SERIAL, CATEGORYNAME VARCHAR(50) NOT NULL);
		CREATE TABLE REORDER (PROD_ID INTEGER NOT NULL, DATE_LOW DATE NOT NULL, QUAN_LOW INTEGER NOT NULL,
			DATE_REORDERED DATE, QUAN_REORDERED INTEGER, DATE_EXPECTED DATE);
		INSERT INTO CATEGORIES (CATEGORYNAME) SELECT 'category ' || n FROM generate_series(1, 16) n`)

	words := *datagen.DefaultWords()
	for i, list := range [][]string{words.Titles[:], words.First[:], words.Last[:]} {
		for j := range list {
			list[j] = fmt.Sprintf("%cD%d", 'T'+i, j)
		}
	}
	data, err := datagen.New(datagen.S, &words, datagen.Options{})
	require.NoError(t, err)
	conn, err := pgx.Connect(t.Context(), target)
	require.NoError(t, err)
	defer conn.Close(t.Context())
	for _, part := range data.Parts() {
		var rows bytes.Buffer
		_, err := part.WriteTo(&rows)
		require.NoError(t, err)
		_, err = conn.PgConn().CopyFrom(t.Context(), &rows, fmt.Sprintf("COPY %s FROM STDIN CSV", part.Table))
		require.NoError(t, err)
	}
	pgtest.Exec(t, db, `
		SELECT setval('customers_customerid_seq', 20000), setval('orders_orderid_seq', 12000);
		SELECT setval('products_prod_id_seq', 10000);
		ALTER TABLE CUSTOMERS ADD PRIMARY KEY (CUSTOMERID);
		ALTER TABLE ORDERS ADD PRIMARY KEY (ORDERID);
		ALTER TABLE PRODUCTS ADD PRIMARY KEY (PROD_ID);
		ALTER TABLE INVENTORY ADD PRIMARY KEY (PROD_ID);
		ALTER TABLE CATEGORIES ADD PRIMARY KEY (CATEGORY);
		CREATE INDEX IX_CUST_HIST_CUSTOMERID ON CUST_HIST (CUSTOMERID);
		ALTER TABLE CUST_HIST ADD CONSTRAINT FK_CUST_HIST_CUSTOMERID
			FOREIGN KEY (CUSTOMERID) REFERENCES CUSTOMERS ON DELETE CASCADE;
		CREATE INDEX IX_ORDER_CUSTID ON ORDERS (CUSTOMERID);
		ALTER TABLE ORDERS ADD CONSTRAINT FK_CUSTOMERID
			FOREIGN KEY (CUSTOMERID) REFERENCES CUSTOMERS ON DELETE SET NULL;
		CREATE UNIQUE INDEX IX_ORDERLINES_ORDERID ON ORDERLINES (ORDERID, ORDERLINEID);
		ALTER TABLE ORDERLINES ADD CONSTRAINT FK_ORDERID FOREIGN KEY (ORDERID) REFERENCES ORDERS ON DELETE CASCADE;
		CREATE INDEX IX_PROD_ACTOR ON PRODUCTS USING GIN (to_tsvector('simple', ACTOR));
		CREATE INDEX IX_PROD_TITLE ON PRODUCTS USING GIN (to_tsvector('simple', TITLE));
		CREATE INDEX IX_PROD_CATEGORY ON PRODUCTS (CATEGORY);
		CREATE INDEX IX_PROD_SPECIAL ON PRODUCTS (SPECIAL);
		CREATE INDEX IX_PROD_CAT_SPECIAL ON PRODUCTS (CATEGORY, SPECIAL);
		CREATE UNIQUE INDEX IX_CUST_USERNAME ON CUSTOMERS (USERNAME);
		CREATE UNIQUE INDEX IX_CUST_USERNAME_PASSWORD ON CUSTOMERS (USERNAME, PASSWORD);
		CREATE FUNCTION login(username_in varchar, password_in varchar) RETURNS SETOF refcursor LANGUAGE plpgsql
			AS $$ BEGIN RETURN; END $$;
		CREATE FUNCTION restock_order() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF NEW.quan_in_stock < 3 THEN
				INSERT INTO reorder (prod_id, date_low, quan_low) VALUES (NEW.prod_id, current_date, NEW.quan_in_stock);
				UPDATE inventory SET quan_in_stock = 250 WHERE prod_id = NEW.prod_id;
			END IF;
			RETURN NEW;
		END $$;
		CREATE TRIGGER restock AFTER UPDATE ON inventory FOR EACH ROW EXECUTE FUNCTION restock_order()`)
	return target, db
}

// TestAdopt takes over what DVD Store's own scripts made, and does with it what can be done with a database of the
// kit's.
func TestAdopt(t *testing.T) {
	t.Parallel()
	target, db := dvdStore(t)
	before := pgtest.Contents(t, target)
	ok := func(want string, args ...string) string {
		t.Helper()
		stdout := must(t, append(args, "--target", target)...)
		require.Contains(t, stdout, want)
		return stdout
	}
	ok("size S", "load", "--adopt", "--dry-run")
	assert.Equal(t, before, pgtest.Contents(t, target), "the dry run changed the database")
	out := ok("added", "load", "--adopt")
	texttest.Contains(t, out, "20000 customers, 12000 orders, 10000 products", "no run has added",
		"DVD Store's programs write on Linux",
		"other words than ds2's")
	found := pgtest.Contents(t, target)
	delete(found, "ds2_info")
	assert.Equal(t, before, found, "adopting changed the database")
	ok("passed", "verify", "-q")
	ok("", "snapshot", "create")
	dir := filepath.Join(t.TempDir(), "record")
	text := "\ufefftarget=" + target + " n_threads=2 ramp_rate=100 run_time=2s db_size=10MB warmup_time=0 " +
		"think_time=0 pct_newcustomers=20 n_searches=3 search_batch_size=5 n_line_items=5 virt_dir=ds2 page_type=php " +
		"windows_perf_host= linux_perf_host=db1:80 detailed_view=Y "
	conf := textFile(t, "DriverConfig.txt", strings.ReplaceAll(text, " ", "\r\n"))
	_, stderr := ends(t, exitDone, words("drive --config_file=%s --seed 1 --metrics-addr '' --out %s", conf, dir)...)
	// E1: parameters that mean nothing to ds2 are accepted, and said to be ignored.
	texttest.Contains(t, stderr, "virt_dir", "page_type", "linux_perf_host", "--exporter")
	require.NotZero(t, recordOf(t, dir).Counts.Orders)
	// Who has driven it already is told.
	pgtest.Exec(t, db, "ALTER TABLE ds2_info RENAME TO hidden")
	assert.Contains(t, must(t, "load", "--adopt", "--dry-run", "--target", target), "driven already")
	pgtest.Exec(t, db, "ALTER TABLE hidden RENAME TO ds2_info")
	ok("", "reset")
	found = pgtest.Contents(t, target)
	delete(found, "ds2_info")
	assert.Equal(t, before, found, "after reset")
	ok("", "snapshot", "restore")
	fails(t, exitFailed, "one of ds2's already", "load", "--adopt", "--target", target)
}

// TestAdoptRefused are databases and command lines that are not adopted.
func TestAdoptRefused(t *testing.T) {
	t.Parallel()
	target := pgtest.Database(t)
	db := openDB(t, target)
	for _, c := range []struct {
		why, change string
		args        []string
		code        int
		want        string
	}{
		{"an empty database", "SELECT 1", nil, exitFailed, "it lacks table categories"},
		{"a table without a column", "CREATE TABLE customers (customerid int)", nil, exitFailed,
			"column username of table customers"},
		{"a dry run of a load", "SELECT 1", []string{"--adopt=false", "--dry-run"}, exitUsage, "--dry-run"},
		{"mailboxes", "SELECT 1", []string{"--workload", "mailbox"}, exitUsage, "--workload"},
	} {
		pgtest.Exec(t, db, c.change)
		fails(t, c.code, c.want, append([]string{"load", "--adopt", "--target", target}, c.args...)...)
	}
}
