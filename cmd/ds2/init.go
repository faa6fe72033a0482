package main

import (
	_ "embed"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

func newInitCommand() *cobra.Command {
	var targets []string
	var schema bool
	cmd := newCommand("init", func(cmd *cobra.Command, _ []string) error {
		if schema {
			return printJSON(cmd.OutOrStdout(), experimentSchema())
		}
		if len(targets) == 0 {
			targets = []string{"disks=postgres://ds2@db1/ds2", "ssd=postgres://ds2@db2/ds2"}
		}
		var configurations []initTarget
		for _, given := range targets {
			m := namedTarget.FindStringSubmatch(given)
			if m == nil {
				return usageError(
					"--target: give a name and a URL, such as ssd=postgres://ds2@db1/ds2",
				)
			}
			// It begins with no digit, nor like the variables of flags.
			variable := "PASSWORD_" + noIdentifier.ReplaceAllString(strings.ToUpper(m[1]), "_")
			// The file will be kept and shared, so a password in the URL gives way to a variable's
			// name.
			configurations = append(configurations,
				initTarget{m[1], withReference(m[2], variable)})
		}
		return templates.ExecuteTemplate(cmd.OutOrStdout(), "init.yaml.tmpl", configurations)
	})
	declare(cmd.Flags(), "init", fields{"target": &targets, "schema": &schema})
	annotate(cmd.Flags(), "target", onlyTyped, "its values have names")
	return cmd
}

type initTarget struct{ Name, URL string }

var (
	namedTarget  = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9 ._-]*)=(.*://.*)$`)
	noIdentifier = regexp.MustCompile(`[^A-Z0-9]+`)
)

// withReference puts a reference to a variable in the place of the password in a URL, unless it is
// one already.
func withReference(url, variable string) string {
	for _, m := range secret.FindAllStringSubmatchIndex(url, -1) {
		// one of both groups, the other is -1
		from := max(m[2], m[4])
		to := max(m[3], m[5])
		if from < to && !reference.MatchString(url[from:to]) {
			return url[:from] + "${" + variable + "}" + url[to:]
		}
	}
	return url
}
