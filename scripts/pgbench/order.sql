-- One order cycle of WORKLOAD.md section 5 for pgbench: the same calls of the same procedures in the same order, with the
-- averages of what ds2 drive draws. The server must have as much work of it, so names of new customers are new and the
-- words that are searched for vary; pgbench draws numbers only, hence the lists of words. scripts/bench-driver runs it
-- with -M prepared and -D customers=… -D products=…
\set new random(1, 100)
\set c random(1, :customers)
\set name random(1, 1000000000000)
\set batch1 random(1, 9)
\set batch2 random(1, 9)
\set batch3 random(1, 9)
\set category random(1, 16)
\set first random(1, 16)
\set last random(1, 16)
\set word1 random(1, 16)
\set word2 random(1, 16)
\set p1 random(1, :products)
\set p2 random(1, :products)
\set p3 random(1, :products)
\set p4 random(1, :products)
\set p5 random(1, :products)
\set q1 random(1, 3)
\set q2 random(1, 3)
\set net random(10, 200)
\set tax :net * 825 / 10000
\set total :net + :tax
\if :new <= 20
SELECT ds2_new_customer('ABCDEF', 'ABCDEFGHIJ', '4608499546 Dell Way', '', 'ABCDEFG', 'SD', '24101', 'US', 1::smallint, 'ABCDEFGHIJ@dell.com', '4608499546', 1, '1979279217775911', '2012/03', 'newuser' || :name, 'password', 55::smallint, 100000, 'M') AS c \gset
\else
SELECT * FROM ds2_login('user' || :c, 'password');
\endif
SELECT * FROM ds2_browse_by_category(:batch1, :category::smallint);
SELECT * FROM ds2_browse_by_actor(:batch2,
    (ARRAY['AARON', 'AMELIA', 'BARBARA', 'CARLA', 'CONRAD', 'DORA', 'ELIZABETH', 'FABIAN', 'GILBERT', 'HARRY', 'INGRID', 'JEREMY', 'KATE', 'LUCAS', 'MATTHEW', 'PATRICIA'])[:first::integer] || ' ' ||
    (ARRAY['ABBOTT', 'BAINBRIDGE', 'BLOOMFIELD', 'CARMICHAEL', 'CUNNINGHAM', 'ECKHART', 'FLANAGAN', 'GOODWIN', 'HATHAWAY', 'JEFFERSON', 'LANGFORD', 'MARLOWE', 'NIELSEN', 'PETROV', 'SANDERSON', 'TOMLINSON'])[:last::integer]);
SELECT * FROM ds2_browse_by_title(:batch3,
    (ARRAY['CLOISTER', 'CYCLONE', 'PASSPORT', 'FACTORY', 'WHISTLE', 'FLAG', 'BUCKET', 'MANSION', 'TOOLBOX', 'INKWELL', 'PALM', 'BEEKEEPER', 'BAKER', 'HIBISCUS', 'COOPER', 'WARDEN'])[:word1::integer] || ' ' ||
    (ARRAY['CLOISTER', 'CYCLONE', 'PASSPORT', 'FACTORY', 'WHISTLE', 'FLAG', 'BUCKET', 'MANSION', 'TOOLBOX', 'INKWELL', 'PALM', 'BEEKEEPER', 'BAKER', 'HIBISCUS', 'COOPER', 'WARDEN'])[:word2::integer]);
SELECT prod_id, price FROM products WHERE prod_id = ANY (ARRAY[:p1, :p2, :p3, :p4, :p5]::integer[]);
SELECT ds2_purchase(:c, 5, :net, :tax, :total, ARRAY[:p1, :p2, :p3, :p4, :p5]::integer[], ARRAY[:q1, :q2, :q1, :q2, :q1]::smallint[]);
