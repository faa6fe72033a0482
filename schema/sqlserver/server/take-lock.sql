-- parameters: @p1 nvarchar(16), @p2 nvarchar(16), @p3 nvarchar(16), @p4 bit
-- Takes a database's lock @p2, alone or, where @p4, with those who hold the lock @p3 of the same run, while @p1 lets no other
-- session do so. The database's name is in theirs, since Babelfish's locks are those of the whole server. A drive's own locks
-- are no hindrance to APPLOCK_TEST, which asks for those of others.
DECLARE @got int = 0, @taking nvarchar(255) = CONCAT(DB_NAME(), @p1),
	@own nvarchar(255) = CONCAT(DB_NAME(), @p2), @run nvarchar(255) = CONCAT(DB_NAME(), @p3);
EXEC @got = sp_getapplock @Resource = @taking, @LockMode = 'Exclusive', @LockOwner = 'Session',
	@LockTimeout = 30000, @DbPrincipal = 'public';
IF @got >= 0
BEGIN
	IF @p4 = 0
		EXEC @got = sp_getapplock @Resource = @own, @LockMode = 'Exclusive', @LockOwner = 'Session',
			@LockTimeout = 0, @DbPrincipal = 'public';
	ELSE IF APPLOCK_TEST('public', @own, 'Exclusive', 'Session') = 0
		AND APPLOCK_TEST('public', @run, 'Exclusive', 'Session') = 1
		SET @got = -1; -- others are at work, and none of them on this run
	ELSE
	BEGIN
		EXEC @got = sp_getapplock @Resource = @own, @LockMode = 'Shared', @LockOwner = 'Session',
			@LockTimeout = 0, @DbPrincipal = 'public';
		IF @got >= 0
			EXEC @got = sp_getapplock @Resource = @run, @LockMode = 'Shared', @LockOwner = 'Session',
				@LockTimeout = 0, @DbPrincipal = 'public';
	END
	EXEC sp_releaseapplock @Resource = @taking, @LockOwner = 'Session', @DbPrincipal = 'public';
END
SELECT @got
