-- name: vacuum tpcb_accounts; table: tpcb_accounts; transaction: none; progress: vacuum
VACUUM (ANALYZE) tpcb_accounts;

-- name: analyze tpcb_tellers; table: tpcb_tellers; progress: analyze
ANALYZE tpcb_tellers;

-- name: analyze tpcb_branches; table: tpcb_branches; progress: analyze
ANALYZE tpcb_branches;
