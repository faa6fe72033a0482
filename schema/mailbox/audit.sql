{{- /* The questions of the audit, in SQL that every engine takes: see package internal/workload/mailbox. */ -}}

{{/* The keys of all records, or the whole of them. */}}
{{define "records"}}SELECT mailbox_id, folder_id, message_id{{if .}}, flags, crc, body{{end}} FROM messages{{end}}
