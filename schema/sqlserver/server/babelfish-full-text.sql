-- Whether Babelfish passes over statements of full-text search.
SELECT CASE current_setting('babelfishpg_tsql.escape_hatch_fulltext')
	WHEN 'ignore' THEN 1 ELSE 0 END
