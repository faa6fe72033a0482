-- What a database lacks that DVD Store's own scripts made: the kit's notes. The phase procedures follows.
{{template "notes" ""}}
{{- template "user" .}}
