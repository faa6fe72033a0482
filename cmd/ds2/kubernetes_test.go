package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"ds2/internal/machinetest"
	"ds2/internal/nightly"
	"ds2/internal/promtest"
	"ds2/internal/result"
	"ds2/internal/texttest"
)

const kubernetesScripts = "../../scripts/kubernetes/"

// readYAML reads a file into v.
func readYAML(t *testing.T, path string, v any) {
	t.Helper()
	require.NoError(t, yaml.Unmarshal([]byte(read(t, path)), v))
}

// The jobs are such as Kubernetes takes, by its own schema; a misspelt field is not.
func TestKubernetesJobSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().
		Compile("../../testdata/kubernetes/job-batch-v1.schema.json")
	require.NoError(t, err)
	for _, file := range []string{"generate.yaml", "drive.yaml"} {
		var job map[string]any
		readYAML(t, kubernetesScripts+file, &job)
		assert.NoError(t, schema.Validate(job), file)
		job["spec"].(map[string]any)["completion"] = 4
		assert.Error(
			t,
			schema.Validate(job),
			"%s: the schema takes a job with a field that there",
			file,
		)
	}
}

// indexedJob reads how many pods an Indexed Job has, and the arguments of ds2 that each gets.
func indexedJob(t *testing.T, file string) (pods int, args []string) {
	t.Helper()
	var job struct {
		Spec struct {
			CompletionMode string `yaml:"completionMode"`
			Completions    int
			Template       struct {
				Spec struct {
					RestartPolicy string `yaml:"restartPolicy"`
					Containers    []struct{ Command, Args []string }
				}
			}
		}
	}
	readYAML(t, kubernetesScripts+file, &job)
	pod := job.Spec.Template.Spec
	require.True(
		t,
		job.Spec.CompletionMode == "Indexed" && pod.RestartPolicy == "Never",
		"%s: job %+v",
		file,
		job,
	)
	require.True(
		t,
		len(pod.Containers) == 1 && len(pod.Containers[0].Command) == 0,
		"%s: job %+v",
		file,
		job,
	)
	return job.Spec.Completions, pod.Containers[0].Args
}

// podArgs are the arguments of the pod of an index, with some of their parts replaced.
func podArgs(args []string, index int, replace ...string) []string {
	r := strings.NewReplacer(append(replace, "$(JOB_COMPLETION_INDEX)", fmt.Sprint(index))...)
	var all []string
	for _, arg := range args {
		all = append(all, r.Replace(arg))
	}
	return all
}

// What the job's pods run makes, with the size and the directory of a test, a whole dataset, each
// pod a part of it.
func TestKubernetesGenerate(t *testing.T) {
	pods, args := indexedJob(t, "generate.yaml")
	volume := t.TempDir()
	for i := range pods {
		for range 2 { // once more, as where a pod was started again
			must(t, podArgs(args, i, "--size=W", "--size=1MB", "/data/", volume+"/")...)
		}
	}
	verifyShards(t, volume)
}

// verifyShards puts what the pods made in a volume together, as the job's own comment says, and
// verifies the whole.
func verifyShards(t *testing.T, volume string) {
	t.Helper()
	files, err := filepath.Glob(volume + "/shard-*/*")
	require.NoError(t, err)
	whole := t.TempDir()
	for _, file := range files {
		require.NoError(t, os.Rename(file, filepath.Join(whole, filepath.Base(file))))
	}
	assert.Contains(t, must(t, "generate", "--verify", whole), "40 files")
}

// What the job's pods run, at a known rate and until Prometheus was told of orders of each, is one
// run: Prometheus sums the pods, and their records merge and pass the audit together.
func TestKubernetesDrive(t *testing.T) {
	nightly.Long(t, "drives for 20 s")
	t.Parallel()
	const rate = 5 // orders a second of each pod
	pods, args := indexedJob(t, "drive.yaml")
	target := loaded(t)
	records := t.TempDir()
	var pages []*relay
	var addresses []string
	for range pods {
		pages = append(pages, startRelay(t))
		addresses = append(addresses, pages[len(pages)-1].Address)
	}
	prometheus := promtest.Start(t, addresses)

	start := time.Now().Add(45 * time.Second) // in which a busy machine connects all users
	var running []*program
	for i := range pods {
		line := podArgs(args, i,
			"$START_AT", start.UTC().Format(time.RFC3339), "$RUN_ID", "many", // as envsubst does
			"--threads=32", "--threads=2",
			"0.0.0.0:9464", "127.0.0.1:0", "/records", records)
		pod := startProgram(
			t,
			append(line, words("--warmup-time=1s --ramp-rate=100 --spacing=even --rate=%d/s",
				rate)...)...)
		pod.Env = append(os.Environ(), "DS2_TARGET="+target)
		pod.start(t)
		running = append(running, pod)
	}
	for i, pod := range running {
		pages[i].To(pod.page(t))
	}
	for i, pod := range running {
		pod.await(t, "orders that Prometheus knows of", func() bool {
			told := query(
				t,
				prometheus,
				fmt.Sprintf("ds2_orders_total{instance=%q} > 20", addresses[i]),
				time.Now(),
			)
			return len(told) == 1
		})
	}
	for _, pod := range running {
		require.NoError(t, pod.Process.Signal(syscall.SIGINT))
		pod.ends(t, exitInterrupted)
	}

	var folders []string
	var all []*result.Record
	var made int64
	for i := range pages {
		folders = append(folders, filepath.Join(records, fmt.Sprint("many-", i)))
		all = append(all, recordOf(t, folders[i]))
		made += all[i].Counts.Orders
	}
	await(
		t,
		"the pods' last scrapes to be in the sum",
		func() bool { // a query is of a whole second
			var told float64
			for i, page := range pages {
				told += slices.Max(scrapedOrders(t, prometheus, page, all[i]))
			}
			sum := query(t, prometheus, "sum(max_over_time(ds2_orders_total[1h]))", time.Now())
			return slices.Equal([]float64{told}, sum)
		},
	)
	merged := decoded[[]result.Summary](
		t,
		append([]string{"report", "--merge", "--output", "json"}, folders...)...)
	require.Len(t, merged, 1)
	require.Equal(t, made, merged[0].Counts.Orders)
	verify := []string{"verify", "--target", target}
	for _, folder := range folders {
		verify = append(verify, "--record", folder)
	}
	must(t, verify...)
}

// TestKubernetesCommand: the experiment that a Job runs has what the flags say, the commands that
// come next are told, and what makes no Job is refused.
func TestKubernetesCommand(t *testing.T) {
	stdout, stderr := ends(t, exitDone, words("kubernetes --storage-class gp3 --storage-class io2 "+
		"--size W --threads 64 --limit 'order p95 < 500ms' --name tiers --namespace bench")...)
	texttest.Contains(t, stdout, "limit:\n      - order p95 < 500ms\n", "threads: \"64\"",
		"practice: 0\n", "volumes: fresh\n", "max_connections=114", "storage-class: io2\n")
	texttest.Contains(t, stderr, "kubectl --namespace bench logs -f job/tiers ")
	kept := must(t, words("kubernetes --storage-class gp3 --size S --volumes keep")...)
	assert.NotContains(t, kept, "practice:", "the first run of a volume is discarded")
	for line, says := range map[string]string{
		"--size W":                                             "--storage-class is missing",
		"--storage-class a":                                    "--size is missing",
		"--storage-class a --size W --name A":                  "--name: \"A\" must be",
		"--storage-class Fast_SSD --size W":                    "--storage-class: \"Fast_SSD\" is no",
		"--storage-class a --size W --setting fsync":           "--setting: \"fsync\" is not like",
		"--storage-class a --size W --volume-size 20GB":        "--volume-size: a database of size W",
		"--storage-class a --size W --server-cpus 0":           "--server-cpus is 0",
		"--storage-class a --size W --read-cluster":            "--read-cluster needs --namespace",
		"--storage-class a --storage-class a --size W":         "a is named twice",
		"--storage-class a --size W --until '1 %' --runs 5..x": "--runs",
	} {
		_, stderr := ends(t, exitUsage, append([]string{"kubernetes"}, words("%s", line)...)...)
		assert.Contains(t, stderr, says, line)
	}
}

// TestRoomOfVolume: a volume that is 1 MB too small is refused before its load.
func TestRoomOfVolume(t *testing.T) {
	exporter := machinetest.NewExporter(t, `node_cpu_seconds_total{cpu="0",mode="idle"} 1
node_filesystem_avail_bytes{device="/dev/sdb",fstype="ext4",mountpoint="/"} 1e12
node_filesystem_avail_bytes{device="/dev/sdc",fstype="ext4",mountpoint="/claim"} 3e9
`)
	address := exporter.URL + "/metrics"
	assert.NoError(t, checkRoom(t.Context(), address, 3e9))
	assert.ErrorContains(t, checkRoom(t.Context(), address, 3.001e9), "larger --volume-size")
}

// TestStorageClassElsewhere: a storage class is for a Job on a cluster, takes a size, and is in the
// place of a target.
func TestStorageClassElsewhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "classes.yaml")
	for text, says := range map[string]string{
		"size: S\nstorage-class: gp3\n":                                 "ds2 kubernetes prints one",
		"storage-class: gp3\n":                                          "--size is missing",
		"size: S\nstorage-class: gp3\ntarget: postgres://h/ds2\n":       "leave it out",
		"size: S\nstorage-class: gp3\nvolumes: some\n":                  "use fresh or keep",
		"size: S\nstorage-class: gp3\nconfigurations: {a: {volume: 1}}": "unknown key \"volume\"",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		for _, command := range []string{"experiment", "preflight"} {
			_, stderr := ends(t, exitUsage, command, file)
			assert.Contains(t, stderr, says, "%s: %s", command, text)
		}
	}
}

// TestComposeFile: what the service ds2 runs is a command line of ds2, whose record goes to the
// volume.
func TestComposeFile(t *testing.T) {
	var file struct {
		Services map[string]struct {
			Image            string
			Command, Volumes []string
		}
		Volumes map[string]any
	}
	readYAML(t, "../../scripts/docker-compose.yml", &file)
	ds2 := file.Services["ds2"]
	assert.Contains(t, file.Volumes, "records")
	assert.Equal(t, "ds2:latest", ds2.Image)
	assert.Equal(t, []string{"records:/work"}, ds2.Volumes)
	must(t, append(ds2.Command, "--help")...)
}
