-- The transaction of TPC-B in one round trip.
-- name: create function tpcb_post
CREATE FUNCTION tpcb_post(account integer, teller integer, branch integer, amount integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    total bigint;
BEGIN
    UPDATE tpcb_accounts SET balance = balance + amount WHERE aid = account RETURNING balance INTO STRICT total;
    UPDATE tpcb_tellers SET balance = balance + amount WHERE tid = teller;
    UPDATE tpcb_branches SET balance = balance + amount WHERE bid = branch;
    INSERT INTO tpcb_history (tid, bid, aid, delta, at) VALUES (teller, branch, account, amount, now());
    RETURN total;
END
$$;
