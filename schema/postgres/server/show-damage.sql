-- Sets for the transaction what would hide damage.
SELECT set_config(name, 'off', true) FROM (VALUES ('zero_damaged_pages'), ('ignore_checksum_failure')) v (name)
WHERE current_setting(name) <> 'off'
