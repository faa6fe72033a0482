package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages",
		Long: `Writes a manual page for each command, from the text that --help shows, into a directory. The
packages for Linux install them. The variable SOURCE_DATE_EPOCH sets their date.`,
		Example: `  ds2 man /usr/local/share/man/man1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name one directory for the pages, such as /usr/local/share/man/man1")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("make directory for the manual pages: %w", err)
			}
			root := newRoot() // a copy, whose texts are made Markdown
			root.InitDefaultCompletionCmd()
			root.DisableAutoGenTag = true
			toMarkdown(root)
			header := doc.GenManHeader{Section: "1", Source: "ds2 " + kitVersion(), Manual: "ds2 manual"}
			options := doc.GenManTreeOptions{Header: &header, Path: args[0], CommandSeparator: "-"}
			if err := doc.GenManTreeFromOpts(root, options); err != nil {
				return fmt.Errorf("write manual pages: %w", err)
			}
			return nil
		},
	}
}

// toMarkdown makes the texts of a command, and of those below it, what package doc takes them for.
func toMarkdown(cmd *cobra.Command) {
	cmd.Long = markdown(cmd.Long)
	cmd.Short = escaped(cmd.Short)
	cmd.Use = escaped(cmd.Use)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name, usage := pflag.UnquoteUsage(f)
		f.Usage = escaped(usage)
		if name != "string" && (f.DefValue == "" || f.DefValue == "[]") {
			f.DefValue = name
		}
	})
	for _, sub := range cmd.Commands() {
		toMarkdown(sub)
	}
}

// meaningful are the characters that mean something to Markdown in running text.
var meaningful = regexp.MustCompile("[\\\\`*_<>\\[\\]|~]")

func escaped(text string) string { return meaningful.ReplaceAllString(text, `\$0`) }

// markdown is a text of the help as Markdown: what is indented stays as it stands.
func markdown(text string) string {
	var lines []string
	literal := false
	for line := range strings.SplitSeq(text, "\n") {
		indented := strings.HasPrefix(line, "  ")
		if indented != literal && (indented || line != "") {
			lines = append(lines, "```")
			literal = indented
		}
		if !literal {
			line = escaped(line)
		}
		lines = append(lines, line)
	}
	if literal {
		lines = append(lines, "```")
	}
	return strings.Join(lines, "\n")
}
