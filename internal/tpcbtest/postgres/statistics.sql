-- name: vacuum tpcb_accounts; table: tpcb_accounts; cost: 1; transaction: none; progress: vacuum
VACUUM (ANALYZE) tpcb_accounts;

-- name: analyze tpcb_tellers; table: tpcb_tellers; cost: 1; progress: analyze
ANALYZE tpcb_tellers;

-- name: analyze tpcb_branches; table: tpcb_branches; cost: 1; progress: analyze
ANALYZE tpcb_branches;
