-- The settings that someone changed besides those of database/settings.sql, which a comparison of servers has to know. No texts: those
-- may hold passwords. What a session sets for itself is not the server's, and what the server computes follows from others.
SELECT name, current_setting(name) FROM pg_settings
WHERE vartype <> 'string' AND setting IS DISTINCT FROM boot_val AND name <> 'port'
    AND source NOT IN ('default', 'override', 'client', 'session', 'interactive')
ORDER BY name
