package main

import (
	"bytes"
	"context"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/datatable"
	"ds2/internal/preflight"
	"ds2/internal/result"
)

// filesOf are the texts of the project's files of a kind below directories, by their paths from its
// top.
func filesOf(t *testing.T, extension string, directories ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range directories {
		err := fs.WalkDir(
			os.DirFS("../.."),
			dir,
			func(path string, _ fs.DirEntry, err error) error {
				if filepath.Ext(path) == extension {
					all[path] = read(t, filepath.Join("../..", path))
				}
				return err
			},
		)
		require.NoError(t, err)
	}
	return all
}

// documents are the texts of README and all pages.
func documents(t *testing.T) map[string]string { return filesOf(t, ".md", "README.md", "docs") }

// programs are the texts of all programs without their tests.
func programs(t *testing.T) map[string]string {
	all := filesOf(t, ".go", "cmd", "internal", "datagen", "schema")
	maps.DeleteFunc(all, func(path, _ string) bool { return strings.HasSuffix(path, "_test.go") })
	return all
}

// dataTables are the tables and templates beside the code that hold texts, such as the words of
// findings and the tables of reports.
func dataTables(t *testing.T) map[string]string {
	all := filesOf(t, ".tsv", "internal", "cmd")
	maps.Copy(all, filesOf(t, ".tmpl", "internal", "cmd"))
	return all
}

// writtenParts are the parts of pages that programs write: by "output" a command, whose output
// stands there, or by "written" one of the functions below.
var writtenParts = regexp.MustCompile(`(?s)<!-- (output|written): ([^\n]*) -->\n.*?<!-- end -->`)

// TestDocuments: what a page shows of an output is what the command prints now. `make docs` writes
// it with -update.
func TestDocuments(t *testing.T) {
	outputs := 0
	for path, text := range documents(t) {
		now := writtenParts.ReplaceAllStringFunc(text, func(part string) string {
			m := writtenParts.FindStringSubmatch(part)
			body := ""
			if m[1] == "output" {
				outputs++
				body = "```\n" + outputOf(t, path, m[2]) + "```\n"
			} else {
				body = map[string]func() string{
					"commands": commandReference, "exit codes": exitCodeReference,
					"levels": levelReference,
					"checks": func() string { return checkReference(t) },
				}[m[2]]()
			}
			return fmt.Sprintf("<!-- %s: %s -->\n%s<!-- end -->", m[1], m[2], body)
		})
		switch {
		case now == text:
		case *update:
			require.NoError(t, os.WriteFile(filepath.Join("../..", path), []byte(now), 0o644))
		default:
			t.Errorf("%s is out of date: make docs writes it anew", path)
		}
	}
	assert.GreaterOrEqual(t, outputs, 6, "only")
}

// outputOf is what a command line prints in the directory docs, on to what stands after a |.
func outputOf(t *testing.T, page, line string) string {
	t.Helper()
	command, filter, _ := strings.Cut(line, " | ")
	t.Chdir("../../docs")
	defer t.Chdir("../cmd/ds2")
	code, stdout, stderr := execute(t, strings.Fields(command)[1:]...)
	require.True(
		t,
		code == exitDone && stdout != "",
		"%s: %s: exit %d, %s",
		page,
		command,
		code,
		stderr,
	)
	if filter != "" {
		sh := exec.Command("sh", "-c", filter)
		sh.Stdin = strings.NewReader(stdout)
		out, err := sh.Output()
		require.True(t, err == nil && len(out) != 0, "%s: %s: %v, %s", page, filter, err, out)
		stdout = string(out)
	}
	return stdout
}

// commandReference is the reference of all commands and flags, of the texts that --help shows: each
// command with the flags that it alone has, and then once those that several share. Examples and
// details stay with --help.
func commandReference() string {
	root := newRoot()
	type use struct{ name, value, usage string }
	// the commands with that flag, and their defaults
	by := map[use][]string{}
	defaults := map[use][]string{}
	shared := map[string][]use{}    // by name
	single := map[string]string{}   // lines, by command
	headings := map[string]string{} // by name
	for _, cmd := range root.Commands() {
		if cmd.Name() == "preflight" {
			continue
		}
		for _, c := range slices.Concat([]*cobra.Command{cmd}, cmd.Commands()) {
			c.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if f.Hidden {
					return
				}
				grouped := groupedFlags(c, "all") != groupedFlags(
					c,
					"",
				) // the command's help has headings
				if all := f.Annotations[headingOf]; all != nil && grouped {
					headings[f.Name] = all[0]
				}
				value, usage := pflag.UnquoteUsage(f)
				value = regexp.MustCompile("stringArray|strings|string").
					ReplaceAllString(value, "…")
				value = regexp.MustCompile("uint|int|float").ReplaceAllString(value, "N")
				u := use{f.Name, value, escaped(usage)}
				if by[u] == nil {
					shared[f.Name] = append(shared[f.Name], u)
				}
				if !slices.Contains(by[u], cmd.Name()) {
					by[u] = append(by[u], cmd.Name())
					defaults[u] = append(defaults[u], f.DefValue)
				}
			})
		}
	}
	line := func(u use, commands string) string {
		text := fmt.Sprintf(
			"- `%s`%s: %s",
			strings.TrimSuffix("--"+u.name+"="+u.value, "="),
			commands,
			u.usage,
		)
		alike := len(slices.Compact(slices.Clone(defaults[u]))) == 1
		var given []string
		for i, d := range defaults[u] {
			if slices.Contains([]string{"", "[]", "false", "0"}, d) {
				continue
			}
			if !alike {
				d = by[u][i] + " " + d
			}
			given = append(given, d)
		}
		if given != nil {
			text += " (default " + strings.Join(slices.Compact(given), "; ") + ")"
		}
		return text + "\n"
	}
	of := func(u use) string {
		if len(by[u]) > 7 {
			return "most commands"
		}
		return strings.Join(by[u], ", ")
	}
	text := "\n## Shared flags\n\n" +
		"A flag belongs to the commands in its heading, or to those in brackets after it; preflight takes all flags " +
		"of drive.\n"
	for _, g := range append(slices.Clone(flagGroups), "Others") {
		var uses []use
		often := map[string]int{}
		for _, name := range slices.Sorted(maps.Keys(shared)) {
			if headings[name] != g && g != "Others" {
				continue
			}
			for _, u := range shared[name] {
				if len(by[u]) == 1 && len(shared[name]) == 1 {
					single[by[u][0]] += line(u, "")
				} else {
					often[of(u)]++
					uses = append(uses, u)
				}
			}
			delete(shared, name)
		}
		if uses == nil {
			continue
		}
		usual := slices.MaxFunc(slices.Sorted(maps.Keys(often)), func(a, b string) int {
			return often[a] - often[b]
		})
		if often[usual] == 1 {
			usual = "see each"
		}
		text += fmt.Sprintf("\n### %s: %s\n\n", g, usual)
		for _, u := range uses {
			text += line(u, strings.Replace(" ("+of(u)+")", " ("+usual+")", "", 1))
		}
	}
	var b strings.Builder
	for _, group := range root.Groups() {
		fmt.Fprintf(&b, "\n## %s\n", strings.TrimSuffix(group.Title, ":"))
		for _, cmd := range root.Commands() {
			if cmd.GroupID == group.ID {
				fmt.Fprintf(&b, "\n### ds2 %s\n\n%s.\n", cmd.Name(), markdown(cmd.Short))
				if cmd.Use != cmd.Name() {
					fmt.Fprintf(&b, "\n    ds2 %s\n", cmd.Use)
				}
				if lines := single[cmd.Name()]; lines != "" {
					b.WriteString("\n" + lines)
				}
			}
		}
	}
	return b.String() + text
}

func exitCodeReference() string {
	return fmt.Sprintf(`| exit code | means |
| --- | --- |
| %d | done |
| %d | failed |
| %d | wrong usage: the message names the flag or argument |
| %d | it ran, but a limit, a gate or the audit failed, or the database is damaged |
| %d | a limit or a gate cannot tell, or no run counts |
| %d | interrupted |
`, exitDone, exitFailed, exitUsage, exitVerdict, exitUnknown, exitInterrupted)
}

// levelReference is each kind of finding, and the best level that it leaves.
func levelReference() string {
	text := "| level at best | finding | said |\n| --- | --- | --- |\n"
	placed := slices.Clone(result.FindingKinds)
	slices.SortStableFunc(placed, func(a, b result.KindOfFinding) int {
		return result.CompareEffects(a.Effect, b.Effect)
	})
	for _, k := range placed {
		words := strings.NewReplacer("|", "\\|", "{", "*", "%}", "* %", "}", "*").Replace(k.Says)
		text += fmt.Sprintf("| %s | %s | %s |\n", k.Effect.Level(), k.Kind, words)
	}
	return text
}

// checkReference is what a preflight may warn of and fail by, by kind.
func checkReference(t *testing.T) string {
	text := "| kind | state | found; what to do |\n| --- | --- | --- |\n"
	words := strings.NewReplacer("|", "\\|", "{", "*", "}", "*")
	for _, row := range datatable.Rows(read(t, "../../internal/preflight/kinds.tsv"), 5) {
		if row[2] == string(preflight.Failure) || row[2] == string(preflight.Warning) {
			says := strings.TrimSuffix(row[3]+"; "+row[4], "; ")
			text += fmt.Sprintf("| %s | %s | %s |\n", row[0], row[2], words.Replace(says))
		}
	}
	return text
}

// linkOfPage is a link in Markdown.
var linkOfPage = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinksOfDocuments: each link of a page within the project leads to a file, and to a heading
// where it names one.
func TestLinksOfDocuments(t *testing.T) {
	pages := documents(t)
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	unnamed := regexp.MustCompile(`[^a-z0-9 _-]`)
	for path, text := range pages {
		for _, m := range linkOfPage.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], ":") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			to := path
			if file != "" {
				to = filepath.Join(filepath.Dir(path), file)
			}
			_, err := os.Stat(filepath.Join("../..", to))
			assert.NoError(t, err, "%s: there is no %s", path, m[1])
			var anchors []string
			for _, h := range heading.FindAllStringSubmatch(pages[to], -1) {
				anchor := unnamed.ReplaceAllString(strings.ToLower(h[1]), "")
				anchors = append(anchors, strings.ReplaceAll(anchor, " ", "-"))
			}
			named := anchor == "" || slices.Contains(anchors, anchor)
			assert.True(t, named, "%s: %s has no heading #%s", path, to, anchor)
		}
	}
}

// TestMessagesOfDocuments: each message that the page of troubleshooting quotes stands in the
// program. A … is anything.
func TestMessagesOfDocuments(t *testing.T) {
	texts := programs(t)
	maps.Copy(texts, dataTables(t))
	maps.Copy(texts, filesOf(t, ".sql", "schema"))
	source := strings.Join(slices.Collect(maps.Values(texts)), "\n")
	// Texts are written in several lines.
	whole := regexp.MustCompile(`"\s*\+\s*"|'\n\s*'`).ReplaceAllString(source, "")
	quoted := regexp.MustCompile("(?m)^### `(.*)`$")
	messages := quoted.FindAllStringSubmatch(documents(t)["docs/howto/troubleshooting.md"], -1)
	for _, m := range messages {
		for part := range strings.SplitSeq(m[1], "…") {
			assert.True(
				t,
				strings.Contains(whole, strings.TrimSpace(part)),
				"ds2 says nowhere %q",
				part,
			)
		}
	}
	assert.GreaterOrEqual(t, len(messages), 15, "messages")
}

// TestFlagsOfDocuments looks up every command of ds2 and every flag that the documents name.
func TestFlagsOfDocuments(t *testing.T) {
	root := newRoot()
	root.InitDefaultCompletionCmd()
	any := map[string]bool{}
	for _, c := range withThoseBelow(root) {
		c.InitDefaultHelpFlag()
		c.Flags().VisitAll(func(f *pflag.Flag) { any[f.Name] = true })
	}
	code := regexp.MustCompile("(?m)`([^`\n]+)`|^    (.*)$")
	commands := 0
	flags := 0
	for name, text := range documents(t) {
		text = strings.ReplaceAll(text, "\\\n", " ")
		for _, m := range code.FindAllStringSubmatch(text, -1) {
			words := strings.Fields(m[1] + m[2])
			if len(words) > 0 && strings.HasPrefix(words[0], "--") {
				flags++
				assert.True(t, any[flagName(words[0])], "%s: no command has %s", name, words[0])
				continue
			}
			if len(words) < 2 || words[0] != "ds2" && words[0] != "bin/ds2" ||
				words[1] != strings.ToLower(words[1]) {
				continue
			}
			command, _, err := root.Find(words[1:])
			if err != nil || command == root {
				t.Errorf("%s: %q is no command", name, strings.Join(words[:2], " "))
				continue
			}
			commands++
			for _, word := range words[2:] {
				if word == "|" || word == "#" || word == "&&" {
					break
				}
				if !strings.HasPrefix(word, "--") {
					continue
				}
				flags++
				flag := command.Flags().Lookup(flagName(word))
				assert.NotNil(t, flag, "%s: ds2 %s has no %s", name, command.Name(), word)
			}
		}
	}
	assert.True(
		t,
		commands >= 50 && flags >= 200,
		"found %d commands and %d flags",
		commands,
		flags,
	)
}

// TestCommandsOfDocuments runs each command that stands on a separate line of a page. Those that
// only ask run on a database of 1 MB, the others where no server listens: they have to pass all
// checks of their flags and then find no server.
func TestCommandsOfDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	example, err := filepath.Abs("../../docs/examples/demo")
	require.NoError(t, err)
	experiment := read(t, "../../docs/examples/arrays.yaml")
	device := read(t, "../../docs/examples/device.json")
	pages := documents(t)
	database := loaded(t)
	must(t, "snapshot", "create", "--target", database)
	t.Chdir(t.TempDir())
	url := regexp.MustCompile(`(postgres|sqlserver)://[^@/]*@?[^/?]*`)
	masked := func(text string) string {
		text = strings.NewReplacer(
			"$TARGET",
			"postgres://h/ds2",
			"$DISKS",
			"postgres://h/ds2",
			"$SSD",
			"postgres://h/ds2",
			"--target=localhost",
			"--target=127.0.0.1:1",
			"db1:9100",
			"127.0.0.1:1",
			"db2:9100",
			"127.0.0.1:1",
			"/mnt/dataset",
			"dataset",
			"/var/lib/postgresql/17/main",
			"dataset",
		).Replace(text)
		return url.ReplaceAllString(text, "$1://x:x@127.0.0.1:1")
	}
	for name, text := range map[string]string{
		"tutorial.yaml": masked(experiment), "array-a.json": device,
		"password.txt": "x\n", "DriverConfig.txt": "target=127.0.0.1:1\n",
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	must(t, "generate", "--size", "1MB", "--out", "dataset", "--quiet")
	must(
		t,
		quick("drive", database, "--run-time 1s --journal --verify none --quiet --out journal")...)
	line := regexp.MustCompile(`(?m)^    (?:bin/)?ds2 +(.*)$`)
	asks := strings.Fields("preflight verify snapshot")
	// They start servers and processes, or write as much as they say.
	leave := strings.Fields("demo device generate")
	ran := 0
	for path, text := range pages {
		if strings.HasPrefix(path, "docs/evidence") || path == "docs/reference/commands.md" {
			continue
		}
		for _, m := range line.FindAllStringSubmatch(strings.ReplaceAll(text, "\\\n", " "), -1) {
			command, _, _ := strings.Cut(m[1], " #")
			command, _, _ = strings.Cut(command, " &")
			args := words("%s", command)
			if to := slices.Index(args, ">"); to > 0 { // a file
				args = args[:to]
			}
			if slices.Contains(leave, args[0]) {
				continue
			}
			for i, a := range args {
				switch {
				case strings.Contains(a, "ds2-results/") && args[i-1] != "--out":
					a = filepath.Base(a)
					os.Symlink(example, a) // it may be there already
				case a == "power-1" && args[0] == "verify":
					a = "journal"
				case a == "arrays.yaml":
					a = "tutorial.yaml"
				case slices.Contains(asks, args[0]) && (a == "$TARGET" || strings.HasPrefix(a, "postgres:")):
					a = database
				default:
					a = masked(a)
				}
				args[i] = a
			}
			if args[0] == "exporter" { // serves until it is stopped
				stopped, stop := context.WithCancel(t.Context())
				stop()
				args = append(args, "--listen", "127.0.0.1:0")
				var stderr bytes.Buffer
				code := run(stopped, args, io.Discard, &stderr)
				assert.Equal(t, exitDone, code, "%s: ds2 %s: %s", path, m[1], &stderr)
				assert.Contains(t, stderr.String(), "metrics: http", "%s: ds2 %s", path, m[1])
				ran++
				continue
			}
			code, _, stderr := execute(t, args...)
			done := code == exitDone || !strings.Contains("verify snapshot sizes init", args[0])
			assert.True(
				t,
				done && code != exitUsage,
				"%s: ds2 %s: exit %d, %s",
				path,
				m[1],
				code,
				stderr,
			)
			ran++
		}
	}
	assert.GreaterOrEqual(t, ran, 35, "commands")
}

// flagName is the name in --name=value, as flags are declared.
func flagName(word string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
	return strings.ReplaceAll(strings.TrimRight(name, ".,:;…"), "_", "-")
}

// TestTestsOfDocuments looks for each test that documents name as what holds a statement; the logs
// of measurements, which are dated, may name one of their time.
func TestTestsOfDocuments(t *testing.T) {
	var tests strings.Builder
	for path, text := range filesOf(t, ".go", "cmd", "internal", "datagen", "schema") {
		if strings.HasSuffix(path, "_test.go") {
			tests.WriteString(text)
		}
	}
	code := tests.String()
	named := 0
	for path, text := range documents(t) {
		if strings.HasPrefix(path, "docs/evidence") {
			continue
		}
		test := regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*)`")
		for _, m := range test.FindAllStringSubmatch(text, -1) {
			named++
			known := strings.Contains(code, "\nfunc "+m[1]+"(")
			assert.True(t, known, "%s: there is no test %s", path, m[1])
		}
	}
	assert.GreaterOrEqual(t, named, 20, "documents name")
}

// TestMakeTargets looks for each target that documents and the Makefile itself name.
func TestMakeTargets(t *testing.T) {
	makefile := read(t, "../../Makefile")
	rules := map[string]bool{}
	for _, rule := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(makefile, -1) {
		rules[rule[1]] = true
	}
	phony := regexp.MustCompile(`(?m)^\.PHONY: (.*)$`).FindString(makefile)
	for _, target := range regexp.MustCompile(`[a-z-]+`).FindAllString(phony, -1) {
		assert.True(t, rules[target], ".PHONY names %s, and there is no rule", target)
	}
	named := 0
	for path, text := range documents(t) {
		for _, m := range regexp.MustCompile("(?m)(?:`|^    )make ([a-z-]+)").FindAllStringSubmatch(text, -1) {
			named++
			assert.True(t, rules[m[1]], "%s: there is no make %s", path, m[1])
		}
	}
	assert.GreaterOrEqual(t, named, 10, "documents name")
}

// oldTurns are not how a database engineer says it: CPU, per order, valid runs, in flight, varies
// by, its own.
var oldTurns = regexp.MustCompile(
	`(?i)\b((any|no)body|so many|(of|on) (their|a) own|processors?|an order (a|than)|` +
		`reads an order|runs? (of \S+ )?that count|under way|holds? the truth|scatters?|told apart|made in blocks)\b`,
)

// TestWords reads the pages, but for the logs of measurements, and all texts of the programs.
func TestWords(t *testing.T) {
	refuse := func(where, text string) {
		for _, found := range oldTurns.FindAllString(text, -1) {
			t.Errorf("%s: %q in %.120q", where, found, text)
		}
	}
	for path, text := range documents(t) {
		if !strings.HasPrefix(path, "docs/evidence") {
			for line := range strings.Lines(text) {
				refuse(path, line)
			}
		}
	}
	actions := regexp.MustCompile(`(?s)\{\{.*?\}\}`) // of templates, whose cells are parted by bars
	for path, text := range dataTables(t) {
		text = strings.ReplaceAll(actions.ReplaceAllString(text, ""), " | ", "\t")
		const most = 12 // fields
		for _, text := range slices.Concat(datatable.Rows(text, most)...) {
			if strings.Contains(text, " ") {
				refuse(path, text)
			}
		}
	}
	allowed := strings.NewReplacer("neither a user postgres nor nobody", "", "_processor", "")
	for path, text := range programs(t) {
		files := token.NewFileSet()
		var s scanner.Scanner
		s.Init(files.AddFile(path, -1, len(text)), []byte(text), nil, 0)
		for pos, kind, literal := s.Scan(); kind != token.EOF; pos, kind, literal = s.Scan() {
			if kind == token.STRING && strings.Contains(literal, " ") &&
				!strings.HasPrefix(literal, "`json:") {
				refuse(files.Position(pos).String(), allowed.Replace(literal))
			}
		}
	}
}

// TestOldGo has make say which Go it needs where the one of the system is too old, or is missing.
func TestOldGo(t *testing.T) {
	old := textFile(t, "go", "#!/bin/sh\necho go version go1.19.8 linux/amd64\n")
	require.NoError(t, os.Chmod(old, 0o700))
	for _, program := range []string{old, "/no/such/go"} {
		said, err := exec.Command("make", "-C", "../..", "build", "GO="+program).CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(said), "ds2 needs Go 1.21 or later")
	}
}
