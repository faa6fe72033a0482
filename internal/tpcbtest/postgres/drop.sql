-- Everything that the other phases made in the database.
-- name: drop function
DROP FUNCTION IF EXISTS tpcb_post;

-- step: what it uses.

-- name: drop tables
DROP TABLE IF EXISTS ds2_info, ds2_steps, tpcb_history, tpcb_accounts, tpcb_tellers, tpcb_branches;
