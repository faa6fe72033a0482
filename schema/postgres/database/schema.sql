-- The schema as it stands, a name and a value each: what decides what a statement does, and what it costs. A load notes
-- it, and each later look is compared with the note. ds2's own tables are left out: a load and a reset change them.
WITH tables AS (
    SELECT c.*, CASE relkind WHEN 'v' THEN 'view ' WHEN 'm' THEN 'materialized view ' WHEN 'f' THEN 'foreign table '
            ELSE 'table ' END || relname AS title
    FROM pg_class c
    WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')
        AND relname NOT LIKE 'ds2\_%'
        AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
)
SELECT title, concat_ws(', ', CASE relpersistence WHEN 'p' THEN 'permanent' WHEN 'u' THEN 'unlogged' ELSE 'temporary' END,
        array_to_string(reloptions, ', '),
        'TOAST with ' || (SELECT array_to_string(o.reloptions, ', ') FROM pg_class o WHERE o.oid = reltoastrelid),
        'in tablespace ' || (SELECT spcname FROM pg_tablespace s WHERE s.oid = reltablespace),
        CASE WHEN relrowsecurity THEN 'with row security' END,
        CASE WHEN relispartition OR EXISTS (SELECT FROM pg_inherits WHERE tables.oid IN (inhrelid, inhparent))
            THEN 'with inheritance' END)
    FROM tables
UNION ALL SELECT format('column %s of %s', attname, relname),
        concat_ws(' ', format_type(atttypid, atttypmod), CASE WHEN attnotnull THEN 'not null' END,
        'default ' || (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum),
        CASE WHEN attidentity <> '' THEN 'identity' END,
        CASE WHEN attstorage <> typstorage THEN 'storage ' || attstorage::text END,
        'statistics ' || nullif(attstattarget, -1), array_to_string(attoptions, ', '))
    FROM tables JOIN pg_attribute a ON attrelid = tables.oid JOIN pg_type y ON y.oid = atttypid
    WHERE attnum > 0 AND NOT attisdropped
UNION ALL SELECT 'index ' || i.relname, concat_ws(', ', pg_get_indexdef(i.oid),
        'in tablespace ' || (SELECT spcname FROM pg_tablespace s WHERE s.oid = i.reltablespace),
        CASE WHEN NOT indisvalid OR NOT indisready OR NOT indislive THEN 'invalid' END,
        CASE WHEN indisclustered THEN 'clustered' END)
    FROM tables JOIN pg_index ON indrelid = tables.oid JOIN pg_class i ON i.oid = indexrelid
UNION ALL SELECT format('constraint %s of %s', conname, relname), concat_ws(', ', pg_get_constraintdef(n.oid),
        (SELECT 'its triggers are disabled' FROM pg_trigger WHERE tgconstraint = n.oid AND tgenabled IN ('D', 'R') LIMIT 1))
    FROM pg_constraint n JOIN tables ON tables.oid = conrelid WHERE contype <> 'n'
UNION ALL SELECT format('trigger %s of %s', tgname, relname), concat_ws(', ', pg_get_triggerdef(t.oid),
        CASE tgenabled WHEN 'D' THEN 'disabled' WHEN 'R' THEN 'on a replica only' WHEN 'A' THEN 'always' END)
    FROM pg_trigger t JOIN tables ON tables.oid = tgrelid WHERE NOT tgisinternal
UNION ALL SELECT 'event trigger ' || evtname, concat_ws(', ', evtevent, evtfoid::regproc,
        CASE evtenabled WHEN 'D' THEN 'disabled' END)
    FROM pg_event_trigger
UNION ALL SELECT format('rule %s of %s', rulename, relname), concat_ws(', ', pg_get_ruledef(r.oid),
        CASE ev_enabled WHEN 'D' THEN 'disabled' END)
    FROM pg_rewrite r JOIN tables ON tables.oid = ev_class
UNION ALL SELECT 'policies of ' || relname, string_agg(concat_ws(', ', polname, polcmd, pg_get_expr(polqual, polrelid),
        pg_get_expr(polwithcheck, polrelid)), '; ' ORDER BY polname)
    FROM pg_policy JOIN tables ON tables.oid = polrelid GROUP BY relname
UNION ALL SELECT 'sequence ' || relname, format('increment %s, cache %s%s', seqincrement, seqcache,
        CASE WHEN seqcycle THEN ', cycle' END)
    FROM pg_sequence JOIN pg_class c ON c.oid = seqrelid
    WHERE relnamespace = quote_ident(current_schema())::regnamespace
UNION ALL SELECT 'statistics ' || stxname, pg_get_statisticsobjdef(x.oid)
    FROM pg_statistic_ext x JOIN tables ON tables.oid = stxrelid
UNION ALL SELECT 'function ' || p.oid::regprocedure, concat_ws(', ', 'its text has the sum ' || left(md5(concat(prosrc,
        to_jsonb(p)->>'prosqlbody', provolatile, prosecdef, proisstrict, prorows, procost)), 8),
        'with ' || array_to_string(proconfig, ', '))
    FROM pg_proc p WHERE pronamespace = quote_ident(current_schema())::regnamespace
        AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
        AND (proowner = (SELECT relowner FROM pg_class WHERE oid = to_regclass('ds2_info')) OR proname LIKE 'ds2\_%')
UNION ALL SELECT 'setting session_replication_role', current_setting('session_replication_role')
-- What updates and deletes left behind is read with the rows: from twice their room on, where it is a fiftieth of the
-- database and more than many sessions that insert have taken in advance; not where the server lost its counts of rows.
UNION ALL SELECT 'bloat of ' || title, 'more than twice what its rows take'
    FROM (
        SELECT title, pg_relation_size(oid) AS bytes, n_live_tup >= .9 * reltuples OR n_dead_tup > reltuples AS counted,
            greatest(n_live_tup, reltuples) * (28 + row_bytes) * 100 / coalesce(
                (SELECT option_value::int FROM pg_options_to_table(reloptions) WHERE option_name = 'fillfactor'), 100) AS needed
        FROM tables JOIN pg_stat_user_tables ON relid = oid
        JOIN (SELECT tablename, sum((1 - null_frac) * avg_width) + 8 AS row_bytes
            FROM pg_stats WHERE schemaname = current_schema() GROUP BY tablename) w ON tablename = tables.relname
        WHERE relkind = 'r' AND reltuples >= 0
    ) r
    WHERE bytes > 2 * needed AND bytes - needed > greatest(pg_database_size(current_database()) / 50, 8 << 20) AND counted
