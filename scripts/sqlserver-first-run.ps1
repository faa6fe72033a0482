# The twin of sqlserver-first-run for Windows PowerShell 5.1 and later: runs docs/howto/sqlserver-first-run.md against a SQL Server and packs all
# that was run, said and recorded into one archive to send. IT HAS NEVER BEEN RUN: no PowerShell was at hand.
# usage: sqlserver-first-run.ps1 [-Quick] TARGET [KILL-COMMAND START-COMMAND]
#   -Quick   5 minutes: connections, load, one run of each workload, backup and restore; without it 20 to 30 minutes
#   TARGET   sqlserver://sa:password@host?database=DS2_FIRST, a database that does not exist; the login must be sysadmin
# No password is in what is packed, which is looked at. $env:DS2 names another ds2 than the one on the PATH; $env:SHARED a directory that
# the server sees by the same path, for BULK INSERT.
param(
    [switch]$Quick,
    [Parameter(Mandatory = $true, Position = 0)][string]$Target,
    [Parameter(Position = 1)][string]$Kill,
    [Parameter(Position = 2)][string]$Start
)
$ds2 = 'ds2'
if ($env:DS2) { $ds2 = $env:DS2 }
if (-not (Get-Command $ds2 -ErrorAction SilentlyContinue)) { Write-Error "$ds2 is not on the PATH: add its directory, or name it by `$env:DS2"; exit 2 }
$mail = $Target -replace '([?&]database=[^&]*)', '$1_MAIL'
if ($mail -eq $Target) { Write-Error 'the target names no database: add ?database=DS2_FIRST'; exit 2 }
$name = 'ds2-first-run-' + (Get-Date -Format 'yyyyMMdd-HHmmss')
New-Item -ItemType Directory -Path $name | Out-Null
$out = Join-Path $name 'steps.txt'

# The password as it stands in the URL and as the server knows it, never to be written.
$secret = ''
if ($Target -match '^[a-z]+://[^:/@]*:([^@]*)@') { $secret = $Matches[1] }
$plain = [uri]::UnescapeDataString($secret)
$own = 'Aa1-' + [guid]::NewGuid().ToString('N') # of the login ds2_first
function Hide([string]$text) {
    $text = $text.Replace($own, '...')
    if ($secret) { $text = $text.Replace($secret, '...').Replace($plain, '...') }
    return $text
}
$script:failed = 0
$script:skipped = 0
$script:said = ''
function Note([string]$text) {
    Write-Host $text
    Add-Content -Path $out -Value $text -Encoding UTF8
}
function Fail([string]$text) {
    $script:failed++
    Note "-- FAILED: $text"
}
function Skip([string]$what, [string]$why) {
    $script:skipped++
    Note "== $what"
    Note "-- skipped: $why"
}
# Step runs ds2 with arguments and looks at its exit code.
function Step([string]$what, [int]$want, [string[]]$arguments) {
    Note "== $what"
    Add-Content -Path $out -Value (Hide ('$ ds2 ' + ($arguments -join ' '))) -Encoding UTF8
    $begin = Get-Date
    $raw = (& $ds2 @arguments 2>&1 | ForEach-Object { "$_" }) -join "`n"
    $got = $LASTEXITCODE
    $script:said = Hide $raw
    if ($script:said -cne $raw) { Fail 'it said a password' }
    Add-Content -Path $out -Value $script:said -Encoding UTF8
    $took = [int]((Get-Date) - $begin).TotalSeconds
    if ($got -eq $want) { Note "-- ok, $took s" } else { Fail "exit $got, not $want, after $took s" }
}
function Says([string]$pattern) {
    if ($script:said -notmatch $pattern) { Fail "it did not say: $pattern" }
}
# Figure is the first figure of a name in a record; 0 where it has none.
function Figure([string]$record, [string]$key) {
    $file = Join-Path (Join-Path $name $record) 'summary.json'
    $line = Select-String -Path $file -Pattern ('^\s*"' + $key + '":\s*([0-9.e+]+)') -ErrorAction SilentlyContinue | Select-Object -First 1
    if ($line) { return [double]$line.Matches[0].Groups[1].Value }
    return 0
}
# Holds looks whether a record has a figure above 0.
function Holds([string]$record, [string]$key) {
    if ((Figure $record $key) -le 0) { Fail "record $record has no $key above 0" }
}
# Counted looks whether events told of the I/Os that the server counted, within 5 %, and says what they cost.
function Counted([string]$record) {
    $events = Figure $record 'events'
    $ios = Figure $record 'ios'
    Note "I/Os by events $events, by the server ${ios}; OPM $(Figure $record 'opm') with events, $(Figure "$record-without" 'opm') without"
    if ([math]::Abs($events - $ios) -ge 0.05 * $ios) { Fail "events and server disagree in record $record" }
}
# Clean looks whether an attempt failed, but as the victim of a deadlock.
function Clean([string]$record) {
    $other = Select-String -Path (Join-Path (Join-Path $name $record) 'summary.json') -Pattern '"class":' -ErrorAction SilentlyContinue | Where-Object { $_.Line -notmatch 'deadlock' }
    if ($other) { Fail "attempts failed in record ${record}: $other" }
}
# Sized looks whether the database had a size in MB at the beginning, within 2 %. Babelfish's storage is not SQL Server's.
function Sized([string]$record, [double]$megabytes) {
    $text = Get-Content -Raw -Path (Join-Path (Join-Path $name $record) 'summary.json') -ErrorAction SilentlyContinue
    $bytes = 0
    if ($text -match '"bytes_before":\s*\[\s*([0-9]+)') { $bytes = [double]$Matches[1] }
    if ($script:backups -and [math]::Abs($bytes / $megabytes / 1048576 - 1) -gt 0.02) { Fail "the database of record $record had $bytes bytes, not $megabytes MB" }
}
# Same looks whether the server said the same of a setting at the beginning of two records.
function Same([string]$first, [string]$second, [string]$setting) {
    $key = '"' + $setting + '":'
    $lines = foreach ($record in $first, $second) {
        $file = Join-Path (Join-Path $name $record) 'summary.json'
        [string](Select-String -Path $file -SimpleMatch -Pattern $key -ErrorAction SilentlyContinue | ForEach-Object { $_.Line })
    }
    if ($script:backups -and ($lines[0] -ne $lines[1])) { Fail ("$setting was not set back: " + ($lines -join ', then ')) }
}
# Sql asks Microsoft's own client.
function Sql([string]$query) {
    $env:SQLCMDPASSWORD = $plain
    "> $query"
    & sqlcmd -C -S $address -U $user -y 0 -Q $query 2>&1 | ForEach-Object { "$_" }
    Remove-Item Env:SQLCMDPASSWORD
}
$script:backups = $true
function Backup([string]$what, [int]$want, [string[]]$arguments) {
    if ($script:backups) { Step $what $want $arguments } else { Skip $what 'this server has no BACKUP, RESTORE and DBCC CHECKDB of its own' }
}
function Record([string]$record) { return @('--metrics-addr=', '--ramp-rate', '10', '--out', (Join-Path $name $record)) }

Step 'version' 0 @('version')
Step 'a database that is not there' 3 @('preflight', '--target', $Target, '--threads', '1')
Says '4060|4063|911'
if ($script:said -match 'loaded to the end') {
    Write-Error 'the database is there already: drop it, or name another'
    exit 1
}
$size = 'S'; $long = '60s'; $boxes = '100'
if ($Quick) { $size = '10MB'; $long = '20s'; $boxes = '20' }
Step 'load' 0 @('load', '--target', $Target, '--size', $size)
if ($script:said -match 'full-text search is not installed') {
    Write-Error 'the server has no full-text search: install it by SQL Server''s setup'
    exit 1
}
if ($script:said -match 'recovery models') { $script:backups = $false }
$uri = [uri]$Target
$address = $uri.Host + $uri.AbsolutePath.TrimEnd('/').Replace('/', '\')
if ($uri.Port -gt 0) { $address += ',' + $uri.Port }
$user = ($uri.UserInfo -split ':')[0]
$database = ($Target -replace '.*[?&]database=', '') -replace '&.*', ''
$sqlcmd = [bool](Get-Command sqlcmd -ErrorAction SilentlyContinue)
if ($sqlcmd) {
    $answer = Sql "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = 'Log Bytes Flushed/sec' AND instance_name = '$database'"
    Add-Content -Path (Join-Path $name 'log-of-load.txt') -Value (Hide ($answer -join "`n")) -Encoding UTF8
}
Step 'preflight' 0 @('preflight', '--target', $Target, '--threads', '8')
Says 'experimental'
Step 'load again is refused' 1 @('load', '--target', $Target, '--size', $size)
Step 'verify' 0 @('verify', '--target', $Target)
$short = @('--threads', '1', '--warmup-time', '0', '--run-time', '8s', '--verify', 'none')
foreach ($options in 'encrypt=disable', 'encrypt=false', 'encrypt=true&trustservercertificate=true', 'encrypt=strict') {
    # What a server lets in is its own affair.
    $base = ($Target -replace '&encrypt=[^&]*', '') -replace '\?encrypt=[^&]*&*', '?'
    Note "== connection: $options"
    $arguments = @('drive', '--target', "$base&$options") + $short + (Record (($options -replace '&.*', '') -replace '=', '-'))
    Note (Hide ([string](& $ds2 @arguments 2>&1 | Select-Object -Last 1)))
}
Step 'drive in packets of 8192 bytes' 0 (@('drive', '--target', "$Target&packet%20size=8192") + $short + (Record 'packets'))
Clean 'packets'
Step 'drive for longer than a login may take' 0 (@('drive', '--target', "$Target&connection%20timeout=5") + $short + (Record 'limit'))
Clean 'limit'
Backup 'snapshot create' 0 @('snapshot', 'create', '--target', $Target)
$env:DS2_WIRE_FILE = Join-Path $name 'wire.bin' # for the messages of one user, by the second of the two
foreach ($calls in 'driver', 'wire') {
    $plainly = $Target
    if ($calls -eq 'wire' -and $Target -notmatch 'encrypt=') { $plainly = "$Target&encrypt=disable" }
    Step "drive by $calls" 0 (@('drive', '--target', $plainly, '--sqlserver-calls', $calls, '--threads', '8', '--warmup-time', '10s', '--run-time', $long) + (Record "run-$calls"))
    Holds "run-$calls" 'opm'
    Clean "run-$calls"
    Step "verify the run by $calls" 0 @('verify', '--target', $Target, '--record', (Join-Path $name "run-$calls"))
}
Remove-Item Env:DS2_WIRE_FILE
if ($script:backups) {
    Step 'drive without --io-events' 0 (@('drive', '--target', $Target, '--threads', '8', '--warmup-time', '5s', '--run-time', '25s') + (Record 'timed-without'))
    Step 'drive with --io-events' 0 (@('drive', '--target', $Target, '--threads', '8', '--warmup-time', '5s', '--run-time', '25s', '--io-events') + (Record 'timed'))
    Counted 'timed'
} else {
    Skip 'drive with --io-events' 'this server has no Extended Events'
}
# PowerShell sends no Ctrl-C to a program that it waits for.
Skip 'drive, ended by Ctrl-C' 'only the script for sh can'
if ($sqlcmd) {
    $killing = Start-Job -ArgumentList $address, $user, $plain, $database -ScriptBlock {
        param($address, $user, $plain, $database)
        Start-Sleep -Seconds 15
        $env:SQLCMDPASSWORD = $plain
        & sqlcmd -C -S $address -U $user -Q "DECLARE @kill varchar(max) = ''; SELECT @kill = @kill + 'KILL ' + CAST(session_id AS varchar(10)) + ';'
            FROM sys.dm_exec_sessions WHERE database_id = DB_ID('$database') AND program_name = 'ds2'; EXEC (@kill)"
    }
    Step 'drive, its sessions killed' 0 (@('drive', '--target', $Target, '--threads', '4', '--warmup-time', '0', '--run-time', '30s') + (Record 'killed'))
    Wait-Job $killing | Remove-Job
    Holds 'killed' 'reconnects'
} else {
    Skip 'drive, its sessions killed' 'there is no sqlcmd here'
}
Backup 'reset with the log discarded' 0 @('reset', '--target', $Target, '--discard-log')
Backup 'snapshot restore' 0 @('snapshot', 'restore', '--target', $Target)
Step 'verify in the end' 0 @('verify', '--target', $Target)
Backup 'deep check' 0 @('verify', '--target', $Target, '--deep')
if (-not $Quick) {
    Backup 'bench of two short runs' 0 (@('bench', '--target', $Target, '--threads', '8', '--warmup-time', '5s', '--run-time', '30s', '--runs', '2', '--settle', '5s', '--idle', '0', '--cooldown', '0', '--restore', 'snapshot') + (Record 'bench'))
    if ($script:backups) { Holds 'bench' 'opm' }
    if ($Kill -and $Start) {
        Step 'crash' 0 (@('drive', '--target', $Target, '--threads', '8', '--warmup-time', '5s', '--run-time', '90s', '--crash-after', '30s', '--kill-command', $Kill, '--start-command', $Start) + (Record 'crash'))
        Says 'The audit passed'
    } else {
        Skip 'crash' 'no commands that kill and start the server were given'
    }
}
# Where its password would cross a network in clear, ds2 makes no login.
$driver = @()
$password = Join-Path $name 'password'
if ($Target -match 'encrypt=true|encrypt=strict|@localhost[:?]|@127\.0\.0\.1[:?]') { $driver = @('--driver-login', 'ds2_first', '--driver-password-file', $password) }
Set-Content -Path $password -Value $own -Encoding Ascii
$load = @('load', '--target', $mail, '--workload', 'mailbox', '--mailboxes', $boxes, '--mailbox-size', '10MB') + $driver
if (-not $Quick) { Skip 'load mailboxes, cut off' 'only the script for sh can' }
Step 'load mailboxes' 0 $load
Remove-Item $password
$lazy = @()
if ($script:said -match 'lazy 0') { $lazy = @('--lazy', '0') }
Step 'verify mailboxes' 0 @('verify', '--target', $mail)
Step 'drive mailboxes' 0 (@('drive', '--target', $mail, '--threads', '8', '--warmup-time', '10s', '--run-time', $long) + $lazy + (Record 'mail'))
if ($script:backups) { Holds 'mail' 'iops' }
Clean 'mail'
Sized 'mail' (10 * [int]$boxes)
Step 'verify the run of mailboxes' 0 @('verify', '--target', $mail, '--record', (Join-Path $name 'mail'))
if ($driver) {
    $as = $mail -replace '//[^@]*@', "//ds2_first:$own@"
    Step 'drive mailboxes as their owner' 0 (@('drive', '--target', $as, '--threads', '2', '--warmup-time', '0', '--run-time', '8s') + $lazy + (Record 'owner'))
    Clean 'owner'
} else {
    Skip 'drive mailboxes as their owner' 'the connection is not encrypted'
}
if (-not $Quick) {
    Step 'drive mailboxes in full commits' 0 (@('drive', '--target', $mail, '--threads', '8', '--warmup-time', '10s', '--run-time', '60s', '--lazy', '0') + (Record 'mail-full'))
    Step 'drive mailboxes in transactions of 10' 0 (@('drive', '--target', $mail, '--threads', '8', '--warmup-time', '5s', '--run-time', '30s', '--batch', '10') + $lazy + (Record 'mail-batch'))
    Step 'scan beside the users of mailboxes' 0 (@('drive', '--target', $mail, '--threads', '4', '--warmup-time', '5s', '--run-time', '60s', '--scrub-rate', '60MB/s') + $lazy + (Record 'mail-scan'))
    Holds 'mail-scan' 'passes'
    Clean 'mail-scan'
    Backup 'deferred work of mailboxes' 0 (@('drive', '--target', $mail, '--threads', '4', '--warmup-time', '1s', '--run-time', '5s', '--debt', '--checkpoint-first') + (Record 'mail-debt'))
    Backup 'snapshot of mailboxes' 0 @('snapshot', 'create', '--target', $mail)
    Backup 'restore mailboxes' 0 @('snapshot', 'restore', '--target', $mail)
    Backup 'deep check of mailboxes' 0 @('verify', '--target', $mail, '--deep')
    if ($Kill -and $Start) {
        Backup 'replay test' 0 (@('drive', '--target', $mail, '--threads', '8', '--warmup-time', '0', '--replay', '50MB', '--kill-command', $Kill, '--start-command', $Start) + (Record 'mail-replay'))
        Step 'crash of mailboxes' 0 (@('drive', '--target', $mail, '--threads', '8', '--warmup-time', '5s', '--run-time', '90s', '--crash-after', '30s', '--kill-command', $Kill, '--start-command', $Start) + $lazy + (Record 'mail-crash'))
        Same 'mail' 'mail-crash' 'database target recovery time (s)'
    }
}

if (-not $Quick -and $env:SHARED) {
    $files = Join-Path $env:SHARED 'ds2-first'
    Step 'generate files' 0 @('generate', '--size', '10MB', '--out', $files)
    Backup 'load by BULK INSERT' 0 @('load', '--target', ($Target -replace '([?&]database=[^&]*)', '$1_FILES'), '--from', $files, '--server-dir', $files)
}
if (-not $Quick -and $sqlcmd -and $script:backups) {
    $full = $Target -replace '([?&]database=[^&]*)', '$1_FULL'
    Step 'load for a full log' 0 @('load', '--target', $full, '--size', '10MB', '--log-size', '64')
    # The log is kept from the first full backup on.
    Note (Hide ((Sql "BACKUP DATABASE [${database}_FULL] TO DISK = N'NUL'; ALTER DATABASE [${database}_FULL] MODIFY FILE (NAME = log_1, FILEGROWTH = 0)") -join "`n"))
    Step 'drive until the log is full' 1 (@('drive', '--target', $full, '--threads', '8', '--warmup-time', '0', '--run-time', '10m', '--max-retries', '3', '--max-errors', '0') + (Record 'full'))
    Says '9002.*the log is full'
    Note (Hide ((Sql "DROP DATABASE [${database}_FULL]") -join "`n"))
} elseif (-not $Quick) {
    Skip 'drive until the log is full' 'this server keeps no log, or there is no sqlcmd here'
}
# What the server says of itself, by Microsoft's own client where there is one.
if ($sqlcmd) {
    foreach ($query in 'SELECT @@VERSION', 'SELECT * FROM sys.databases', 'SELECT * FROM sys.dm_exec_connections', 'SELECT * FROM sys.dm_os_performance_counters',
        "SELECT SERVERPROPERTY('ProcessID')", 'SELECT * FROM msdb.dbo.suspect_pages', 'DBCC TRACESTATUS(-1)', 'EXEC sp_readerrorlog') {
        Add-Content -Path (Join-Path $name 'server.txt') -Value (Hide ((Sql $query) -join "`n")) -Encoding UTF8
    }
} else {
    Skip 'what the server says of itself' 'there is no sqlcmd here'
}
Get-Process -Name sqlservr -ErrorAction SilentlyContinue | Format-List @('Id', 'StartTime') | Out-File -FilePath (Join-Path $name 'processes.txt') -Encoding utf8
foreach ($record in Get-ChildItem -Path $name -Directory) {
    if (Test-Path (Join-Path $record.FullName 'summary.json')) { Step "report of $($record.Name)" 0 @('report', '-o', 'text', $record.FullName) }
}
$patterns = @($own, $secret, $plain) | Where-Object { $_ }
$found = Get-ChildItem -Path $name -Recurse -File | Select-String -SimpleMatch -Pattern $patterns -List
if ($found) {
    $found | ForEach-Object { Write-Host $_.Path }
    Write-Error 'the password is in the files above: look at them, nothing is packed'
    exit 1
}
if ($script:failed -eq 0) { Note "all steps did what they should, $($script:skipped) were skipped" } else { Note "$($script:failed) checks failed, $($script:skipped) steps were skipped" }
Compress-Archive -Path $name -DestinationPath "$name.zip"
Write-Host "send the file $name.zip; what is in it lies in $name, too"
if ($script:failed -gt 0) { exit 1 }
