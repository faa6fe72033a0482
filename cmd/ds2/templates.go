package main

import (
	"embed"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"
)

var (
	//go:embed *.tmpl
	templateFiles embed.FS

	// templates are the texts for people in which more than figures vary.
	templates = template.Must(template.New("").Funcs(template.FuncMap{
		"bytes": bytesText,
		"join":  strings.Join,
		"yaml":  yamlScalar,
	}).ParseFS(templateFiles, "*.tmpl"))
)

// yamlScalar is a text as a value in YAML.
func yamlScalar(text string) (string, error) {
	out, err := yaml.Marshal(text)
	return strings.TrimSpace(string(out)), err
}
