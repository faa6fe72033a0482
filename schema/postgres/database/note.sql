-- Notes the value $2 under the name $1.
INSERT INTO ds2_info (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value
