-- What the kit notes of a database: what was loaded, and whether it is whole.
-- name: create table ds2_info; table: ds2_info
CREATE TABLE ds2_info (
    name  varchar(50)  NOT NULL CONSTRAINT PK_DS2_INFO PRIMARY KEY CLUSTERED,
    value varchar(500) NOT NULL
);
GO
-- What an unfinished load has done, so that another can go on with it; dropped at its end.
-- name: create table ds2_steps; table: ds2_steps
CREATE TABLE ds2_steps (
    name   varchar(200) NOT NULL CONSTRAINT PK_DS2_STEPS PRIMARY KEY CLUSTERED,
    copied bigint       NOT NULL -- rows
);
GO
-- The table of records. A record has a page of its own: its body of 7,000 bytes lies in the row, and two do not fit. The
-- clustered key comes with the table, and the rows in its order. Each lookup is by the whole key, so nothing is gained by
-- statistics, and making them would read pages in a run.
-- name: create table messages; table: messages
CREATE TABLE messages (
    message_id bigint          NOT NULL,
    mailbox_id int             NOT NULL,
    flags      int             NOT NULL, -- drawn anew at each write
    crc        int             NOT NULL, -- CRC-32C of key, flags and body
    folder_id  smallint        NOT NULL,
    body       varbinary(7000) NOT NULL,
    CONSTRAINT messages_pkey PRIMARY KEY CLUSTERED (mailbox_id, folder_id, message_id)
{{- if not .SQLServer.Lacks.Statistics}} WITH (STATISTICS_NORECOMPUTE = ON){{end}}
);
{{- if .SQLServer.Password}}
GO
-- The driver's user, which owns the database.
-- name: create user
IF USER_ID({{str .SQLServer.Login}}) IS NULL
    CREATE USER {{ident .SQLServer.Login}} FOR LOGIN {{ident .SQLServer.Login}};
GO
-- step: it may have been made for a login of that name that is gone. Azure SQL Database takes this alone in its batch only.
-- name: map user
ALTER USER {{ident .SQLServer.Login}} WITH LOGIN = {{ident .SQLServer.Login}};
GO
-- step: for the user.
-- name: grant to user
{{- if .SQLServer.Lacks.Owners}}
GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON SCHEMA::dbo TO {{ident .SQLServer.Login}};
{{- else}}
ALTER ROLE db_owner ADD MEMBER {{ident .SQLServer.Login}};
{{- end}}
{{- end}}
