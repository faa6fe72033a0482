package main

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"ds2/internal/upkeep"
)

// initFlags are what goes into the file of an experiment. Most are texts: the experiment itself judges them.
type initFlags struct {
	Targets     []string
	Labels      []string // of each target, as are the next two; none: of none
	Powers      []string
	Devices     []string
	Threads     []string
	Size        string
	Profile     string
	RunTime     string
	Restore     string
	Runs, Until string
	Limits      []string
}

func newInitCommand() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init [FILE.yaml]",
		Short: "Write a commented file for ds2 experiment",
		Long: `Writes a file for ds2 experiment, with comments on what else it can hold: a configuration for each
--target, with each of the --threads. The default name is experiment.yaml; - is standard output. A
file that exists is not overwritten. Without --target, it asks for the targets on a terminal.

The file holds no password: if a target's URL has one, the file refers to a variable, which ds2 init
names.`,
		Example: `  ds2 init --target postgres://ds2:ds2@localhost/ds2 --threads 8,32,128
  ds2 init arrays.yaml
  ds2 init arrays.yaml --until '2 %' \
      --target hdd=postgres://ds2@db1/ds2 --label '24 disks, RAID 10' \
      --target ssd=postgres://ds2@db2/ds2 --label '6 SSDs, RAID 5'
  ds2 experiment arrays.yaml --plan

PowerShell:
  ds2 init arrays.yaml --target 'hdd=postgres://ds2@db1/ds2' --threads '32,128'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"experiment.yaml"}
			}
			return f.run(cmd, args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.Targets, "target", nil, "name and URL of a configuration's database, such as "+
		"hdd=postgres://ds2@db1/ds2; may be repeated")
	for _, own := range f.own() {
		flags.StringArrayVar(own.given, own.flag, nil, own.what+"; once for each --target, in their order")
	}
	flags.StringSliceVar(&f.Threads, "threads", []string{"32"}, "users per target; several, such as 32,128, are "+
		"compared; also --n-threads")
	flags.StringVar(&f.Size, "size", "", "expected size of the database, such as S or 80GB (default: the size it has)")
	profileFlag(flags, &f.Profile)
	flags.StringVar(&f.RunTime, "run-time", "20m", "run after the warm-up: minutes, or a duration such as 90s")
	flags.Var(oneOf(&f.Restore, upkeep.RestoreReset, upkeep.RestoreSnapshot, upkeep.RestoreNone), "restore", "how to "+
		"restore each database before a run")
	flags.StringVar(&f.Runs, "runs", "", "runs of each configuration: 6, or 5..9 with --until (default 6, "+
		"with --until 6..10)")
	flags.StringVar(&f.Until, "until", "", "stop once every difference is known to ± this, at 95 %, such as '2 %'")
	flags.StringArrayVar(&f.Limits, "limit", nil, "limit on every run, such as 'order p95 < 500ms' or exchange2013; "+
		"may be repeated")
	return cmd
}

func (f *initFlags) run(cmd *cobra.Command, path string) error {
	if in := cmd.InOrStdin(); len(f.Targets) == 0 && isTerminal(in) {
		f.ask(bufio.NewReader(in), cmd.ErrOrStderr())
	}
	text, variables, err := f.file(path)
	if err != nil {
		return err
	}
	if path == "-" {
		_, err = fmt.Fprint(cmd.OutOrStdout(), text)
	} else {
		err = writeNew(path, text)
	}
	if err != nil {
		return err
	}
	for _, v := range variables {
		fmt.Fprintf(cmd.ErrOrStderr(), "the file holds no password: set %s\n", v)
	}
	if path != "-" {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s written; next: ds2 experiment %s --plan\n", path, path)
	}
	return nil
}

// ask asks for targets, and what belongs to each.
func (f *initFlags) ask(r *bufio.Reader, w io.Writer) {
	answer := func(format string, args ...any) string {
		fmt.Fprintf(w, format+": ", args...)
		line, _ := r.ReadString('\n') // of a terminal that was closed: nothing
		return strings.TrimSpace(line)
	}
	which := "first"
	for {
		target := answer("URL of the %s database, with a name before it: hdd=postgres://ds2@db1/ds2 (--target)", which)
		if target == "" {
			return
		}
		f.Targets = append(f.Targets, target)
		name := f.target(len(f.Targets) - 1).Name
		for _, own := range f.own() {
			*own.given = append(*own.given, answer("%s: %s (--%s)", name, own.what, own.flag))
		}
		which = "next"
	}
}

// writeNew writes a file that is not there yet.
func writeNew(path, text string) error {
	w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return usageError("%s exists: name another file, or remove it", path)
	} else if err != nil {
		return err
	}
	_, err = w.WriteString(text)
	return errors.Join(err, w.Close())
}

// own is what belongs to a target, beside its URL.
func (f *initFlags) own() []initOwn {
	return []initOwn{
		{"label", "what the report calls it, such as 24 disks, RAID 10", &f.Labels},
		{"power", "where its watts come from, such as ipmitool dcmi power reading", &f.Powers},
		{"devices", "its block devices, such as data=sdb,log=sdc, where they are not those under the database's files",
			&f.Devices},
	}
}

// initOwn is given once for each target.
type initOwn struct {
	flag, what string
	given      *[]string
}

// initTarget is a configuration of the file.
type initTarget struct{ Name, URL, Label, Power, Devices string }

// target is the i-th as it was given.
func (f *initFlags) target(i int) initTarget {
	t := initTarget{Name: fmt.Sprintf("target%d", i+1), URL: f.Targets[i]}
	if m := namedTarget.FindStringSubmatch(t.URL); m != nil {
		t.Name, t.URL = m[1], m[2]
	}
	for k, of := range []*string{&t.Label, &t.Power, &t.Devices} {
		if given := *f.own()[k].given; i < len(given) {
			*of = given[i]
		}
	}
	return t
}

var (
	//go:embed init.yaml.tmpl
	initText     string
	initTemplate = template.Must(template.New("init").Funcs(template.FuncMap{"yaml": yamlScalar}).Parse(initText))

	namedTarget  = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9 ._-]*)=(.*)$`)
	noIdentifier = regexp.MustCompile(`[^A-Z0-9]+`)
)

// file is the text of the file, which ds2 experiment takes, and the variables that it needs.
func (f *initFlags) file(path string) (text string, variables []string, err error) {
	if len(f.Targets) == 0 {
		return "", nil, usageError("--target is missing: give a database's URL, such as hdd=postgres://ds2@db1/ds2, " +
			"once for each configuration")
	}
	for _, own := range f.own() {
		if n := len(*own.given); n > 0 && n != len(f.Targets) {
			return "", nil, usageError("--%s: %d for %d targets: give it once for each, in their order",
				own.flag, n, len(f.Targets))
		}
	}
	var targets []initTarget
	for i := range f.Targets {
		t := f.target(i)
		// It begins with no digit, nor like the variables of flags.
		variable := "PASSWORD_" + noIdentifier.ReplaceAllString(strings.ToUpper(t.Name), "_")
		url := withReference(t.URL, variable)
		if url != t.URL {
			t.URL, variables = url, append(variables, variable)
		}
		targets = append(targets, t)
	}
	var b strings.Builder
	err = initTemplate.Execute(&b, struct {
		*initFlags
		Path    string
		Targets []initTarget
	}{f, path, targets})
	if err != nil {
		return "", nil, fmt.Errorf("write file of the experiment: %w", err)
	}
	// The variables need not be set here.
	if _, err := parseExperiment(path, []byte(reference.ReplaceAllString(b.String(), "x"))); err != nil {
		if inner := errors.Unwrap(errors.Unwrap(err)); inner != nil { // without its place in a file that is not there
			err = usageError("%w", inner)
		}
		return "", nil, err
	}
	return b.String(), variables, nil
}

// withReference puts a reference to a variable in the place of the password in a URL, unless it is one already.
func withReference(url, variable string) string {
	for _, m := range secret.FindAllStringSubmatchIndex(url, -1) {
		from, to := max(m[2], m[4]), max(m[3], m[5]) // one of both groups, the other is -1
		if from < to && !reference.MatchString(url[from:to]) {
			return url[:from] + "${" + variable + "}" + url[to:]
		}
	}
	return url
}

// yamlScalar is a text as a value in YAML.
func yamlScalar(text string) (string, error) {
	out, err := yaml.Marshal(text)
	return strings.TrimSpace(string(out)), err
}
