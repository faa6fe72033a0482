package main

import (
	"regexp"
	"strings"
	"unsafe"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ds2/internal/escape"
	"ds2/internal/result"
	"ds2/internal/workload"
)

// typed is where the root of the commands is annotated with the command line, for the record.
const typed = "typed"

// commandLine is the command line without passwords, as far as a text shows that it holds one.
func commandLine(args []string) string {
	words := []string{"ds2"}
	hidden := false // is what follows the flag's name
	for _, arg := range args {
		name, _, given := strings.Cut(arg, "=")
		asked := normalizeFlag(nil, name) == "--"+passwordCommand
		switch {
		case hidden:
			arg = "***"
		case asked && given:
			arg = name + "=***"
		}
		hidden = asked && !given && !hidden
		words = append(words, quoted(withoutPasswords(arg)))
	}
	return strings.Join(words, " ")
}

// invocation is how ds2 was called, for the record, without passwords. The flags are those of a
// run, also by default, without those that the workload of its plan does not have.
func invocation(cmd *cobra.Command, flags *pflag.FlagSet, plan workload.Plan) *result.Command {
	c := &result.Command{Line: cmd.Root().Annotations[typed], Flags: map[string]string{}}
	flags.VisitAll(func(f *pflag.Flag) {
		value := f.Value.String()
		other := plan != nil && otherOf(f, plan.Workload().Name()) != ""
		switch {
		case value == "" || f.Name == "help" || other:
		case f.Name == passwordCommand:
			c.Flags[f.Name] = "***"
		default:
			c.Flags[f.Name] = withoutPasswords(value)
		}
	})
	return c
}

// passwordCommand is the flag whose value may itself hold the password, so that no record has it.
const passwordCommand = "password-command"

// commandPassword is a password among the words of a command that a user gives, such as a meter's.
var commandPassword = regexp.MustCompile(`(^|\s)(-P|--?pass(?:word)?)(\s+)\S+`)

// withoutPasswords takes the passwords out of an argument or value, in which several URLs may stand
// with ; between.
func withoutPasswords(text string) string {
	without := func(part string) string {
		return commandPassword.ReplaceAllString(redact(part), "$1$2$3***")
	}
	return strings.Join(mapped(strings.Split(text, ";"), without), ";")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./*-]+$`)

// quoted is a word as a shell reads it.
func quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// secret matches the passwords in an argument: in a URL's user part, which ends at the last @
// before a slash, or in its options.
var secret = regexp.MustCompile(`://[^/@:]*:([^/]*)@|(?i:password|pwd)=([^&;\s]*)`)

// takeArgs copies the arguments and writes over the passwords in the originals: the system shows
// the memory that those lie in to all users, as the process's title.
func takeArgs(args []string) []string {
	own := make([]string, len(args))
	for i, arg := range args {
		own[i] = strings.Clone(arg)
		for _, m := range secret.FindAllStringSubmatchIndex(arg, -1) {
			// one of both groups, the other is -1
			from := max(m[2], m[4])
			to := max(m[3], m[5])
			text := unsafe.Slice(unsafe.StringData(arg), len(arg))
			copy(text[from:to], strings.Repeat("*", to-from))
		}
	}
	return own
}

// What may be a password in a text that did not parse as what it should be: in a URL, in libpq's
// key=value or in user:password@host, up to the last @ before a blank. The groups, what stands
// around it, stay.
var passwords = []*regexp.Regexp{
	regexp.MustCompile(`(://[^/@:\s]*:)\S*(@)`),
	regexp.MustCompile(`(?i)((?:password|pwd)\s*=\s*)(?:\\?'[^']*'|[^\s&;"']+)`),
	regexp.MustCompile(
		`(https?://[^\s"'?;]*\?)[^\s"';]+`,
	), // whatever a page is asked may be a token
	regexp.MustCompile(`((?:^|[\s"'=])[^\s"':/@=]+:)(?:[^/\s"]|/[^/\s"])[^\s"]*(@)`),
}

// redact takes out of a text, before it is printed, what may be a password, and makes the rest safe
// to show: an error may quote others.
func redact(text string) string {
	for _, p := range passwords {
		text = p.ReplaceAllString(text, "${1}***${2}")
	}
	lines := strings.Split(escape.Lines(text), "\n")
	return strings.Join(mapped(lines, escape.Brief), "\n")
}
