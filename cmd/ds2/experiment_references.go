package main

import (
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
)

// reference is ${VARIABLE} or ${file:PATH}.
var reference = regexp.MustCompile(`\$\{(file:)?([^}]*)\}`)

// expand puts the values of variables and the contents of files in a value; within a URL they are escaped, since a password
// may hold any character. The shell's commands are left as they are: the shell knows the variables too.
func expand(flag, text string) (string, error) {
	if strings.HasSuffix(flag, "-command") {
		return text, nil
	}
	var bad error
	inURL := strings.Contains(text, "://")
	text = reference.ReplaceAllStringFunc(text, func(found string) string {
		m := reference.FindStringSubmatch(found)
		value, ok := os.LookupEnv(m[2])
		if m[1] != "" {
			content, err := os.ReadFile(m[2])
			if value, ok = strings.TrimRight(string(content), "\r\n"), true; err != nil && bad == nil {
				bad = fmt.Errorf("%s: %w", flag, err)
			}
		}
		if !ok && bad == nil {
			bad = fmt.Errorf("%s: the variable %s is not set", flag, m[2])
		}
		if inURL {
			value = strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
		}
		return value
	})
	return text, bad
}
