-- parameters: @p1 nvarchar(16)
-- Gives the lock @p1 back where the session has it.
DECLARE @name nvarchar(255) = CONCAT(DB_NAME(), @p1);
IF APPLOCK_MODE('public', @name, 'Session') <> 'NoLock'
EXEC sp_releaseapplock @Resource = @name, @LockOwner = 'Session', @DbPrincipal = 'public'
