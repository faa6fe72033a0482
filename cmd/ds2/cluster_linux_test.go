package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/result"
)

// clusterVariable names the directory of the cluster that make kubernetes starts.
const clusterVariable = "DS2_TEST_CLUSTER"

// cluster is a namespace of the test's cluster, in which the programs of the pods say what they do.
type cluster struct {
	t         *testing.T
	dir       string
	namespace string
}

// newNamespace makes a namespace that admits restricted pods only. It goes with the test.
func newNamespace(t *testing.T, name string) cluster {
	dir := os.Getenv(clusterVariable)
	if dir == "" {
		t.Skipf("%s names no cluster; make kubernetes starts one", clusterVariable)
	}
	c := cluster{t, dir, name}
	t.Setenv("KUBECONFIG", filepath.Join(dir, "admin.conf"))
	t.Setenv("PATH", filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	c.kubectl("create", "namespace", name)
	c.kubectl("label", "namespace", name, "pod-security.kubernetes.io/enforce=restricted")
	t.Cleanup(func() { c.kubectl("delete", "namespace", name, "--wait=true") })
	return c
}

func (c cluster) try(args ...string) (string, error) {
	said, err := exec.Command("kubectl", append([]string{"--namespace", c.namespace}, args...)...).
		CombinedOutput()
	return string(said), err
}

func (c cluster) kubectl(args ...string) string {
	c.t.Helper()
	said, err := c.try(args...)
	require.NoError(c.t, err, "kubectl %s\n%s", strings.Join(args, " "), said)
	return said
}

// apply applies what ds2 kubernetes prints for these flags.
func (c cluster) apply(flags string, values ...any) (file string) {
	c.t.Helper()
	file = filepath.Join(c.t.TempDir(), "compare.yaml")
	printed := must(c.t, words("kubernetes --namespace "+c.namespace+" "+flags, values...)...)
	require.NoError(c.t, os.WriteFile(file, []byte(printed), 0o600))
	c.kubectl("apply", "-f", file)
	return file
}

// log is what the drivers of a Job have said, as their node keeps it: also while its kubelet is
// stopped.
func (c cluster) log() (all string) {
	logs, _ := filepath.Glob("/var/log/pods/" + c.namespace + "_ds2-compare-?????_*/ds2/*.log")
	for _, path := range logs {
		text, _ := os.ReadFile(path)
		all += string(text)
	}
	return all
}

// awaitLog waits until a driver says what a pattern matches.
func (c cluster) awaitLog(within time.Duration, pattern string) {
	c.t.Helper()
	begin := time.Now()
	said := regexp.MustCompile(pattern)
	for !said.MatchString(c.log()) {
		require.Less(c.t, time.Since(begin), within, "waited for %q:\n%s", pattern, c.log())
		time.Sleep(200 * time.Millisecond)
	}
	c.t.Logf("%s: after %s: %s", c.namespace, time.Since(begin).Round(time.Second),
		said.FindString(c.log()))
}

// awaitNothing waits until nothing is left of what drivers make, or of the Job too.
func (c cluster) awaitNothing(selector string) {
	c.t.Helper()
	begin := time.Now()
	for {
		left := c.kubectl("get", "pods,pvc,secrets,jobs", "--output=name", "--selector="+selector)
		if left == "" {
			c.t.Logf(
				"%s: nothing is left after %s",
				c.namespace,
				time.Since(begin).Round(time.Second),
			)
			return
		}
		require.Less(c.t, time.Since(begin), time.Minute, "left: %s\n%s", left, c.log())
		time.Sleep(500 * time.Millisecond)
	}
}

// What a small comparison is; the servers of two have to fit on the node beside the driver.
const smallServers = "--server-cpus 0.3 --server-memory 200MB --setting shared_buffers=32MB " +
	"--settle 0s --idle 0s --cooldown 0s --warmup-time 1s --threads 2"

// The labels of all that a Job of ds2 is and makes, and of its servers.
const (
	ofJob     = "ds2/job=ds2-compare"
	ofServers = "ds2/role=server"
)

// TestClusterFaults: what the cluster cannot do is said within a minute, in its own words, and
// nothing is left.
func TestClusterFaults(t *testing.T) {
	for _, fault := range []struct{ name, flags, says string }{
		{
			"absent", "--storage-class absent",
			`storageclass.storage.k8s.io \\?"absent\\?" not found`,
		},
		{
			"unbound", "--storage-class slow --volume-size 500GB",
			`FailedScheduling: .*didn't find available persistent volumes to bind`,
		},
		{
			"image", "--storage-class slow --postgres-image registry.invalid/postgres:17",
			`Failed to pull image .*registry.invalid`,
		},
		{"quota", "--storage-class slow --volume-size 2GB", `exceeded quota: small`},
	} {
		t.Run(fault.name, func(t *testing.T) {
			c := newNamespace(t, "fault-"+fault.name)
			if fault.name == "quota" {
				c.kubectl("create", "quota", "small", "--hard=requests.storage=1G")
			}
			file := c.apply("--size 1MB --volume-size 1GB %s %s", smallServers, fault.flags)
			c.awaitLog(time.Minute, fault.says)
			c.kubectl("wait", "--for=condition=Failed", "--timeout=100s", "job/ds2-compare")
			assert.NotContains(t, c.log(), "kubectl delete", "nothing could not be removed")
			c.awaitNothing(ofServers)
			assert.NotContains(t, c.kubectl("get", "secrets", "--output=name"), "ds2-compare")
			c.kubectl("delete", "-f", file)
			c.awaitNothing(ofJob)
		})
	}
}

// TestClusterCheck: the preflight starts a server on each class and removes it, and its Job is
// complete; with images that have volumes and links where those of PostgreSQL 17 and 18 do.
func TestClusterCheck(t *testing.T) {
	for _, version := range []string{"17", "18"} {
		t.Run(version, func(t *testing.T) { newNamespace(t, "check-"+version).check(version) })
	}
}

func (c cluster) check(version string) {
	t := c.t
	file := c.apply("--check --storage-class slow --storage-class fast --size 1MB "+
		"--volume-size 1GB --postgres-image postgres:%s %s", version, smallServers)
	c.kubectl("wait", "--for=condition=Complete", "--timeout=100s", "job/ds2-compare")
	for _, class := range []string{"slow", "fast"} {
		assert.Regexp(
			t,
			`storage class `+class+`: a server was ready after \d+s on node node-1, volume `+
				class+`-\d of 3G`,
			c.log(),
		)
	}
	assert.Contains(t, c.log(), "ds2 ran on the server's node")
	c.awaitNothing(ofServers)
	c.kubectl("delete", "-f", file)
	c.awaitNothing(ofJob)
}

// inMidRun applies a comparison and waits until users are at work.
func (c cluster) inMidRun() (file string) {
	c.t.Helper()
	file = c.apply("--storage-class fast --size 1MB --volume-size 1GB --run-time 10m %s",
		smallServers)
	c.awaitLog(3*time.Minute, `run +\d+s,`)
	return file
}

// TestClusterJobDeleted: with the Job in mid-run all goes that it made.
func TestClusterJobDeleted(t *testing.T) {
	c := newNamespace(t, "deleted")
	c.inMidRun()
	c.kubectl("delete", "job", "ds2-compare")
	c.awaitNothing(ofJob)
}

// TestClusterDriverGone: ds2 is killed, which leaves it no time, or evicted; its Job starts it once
// more, which removes what was left and begins anew, and is stopped in order.
func TestClusterDriverGone(t *testing.T) {
	for name, takeAway := range map[string]func(c cluster){
		"killed": func(c cluster) {
			require.NoError(c.t, syscall.Kill(c.pidOfDriver(), syscall.SIGKILL))
		},
		"evicted": func(c cluster) {
			c.evict(c.kubectl("get", "pod", "--selector=ds2/role=driver",
				"--output=jsonpath={.items[0].metadata.name}"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newNamespace(t, name)
			file := c.inMidRun()
			before := c.uidOfServer()
			pid := c.pidOfDriver()
			takeAway(c)
			c.awaitOtherServer(before)
			require.NotEqual(t, pid, c.pidOfDriver())
			c.stop(file)
		})
	}
}

// TestClusterServerEvicted: a run whose server is evicted fails and says so; the next has another.
func TestClusterServerEvicted(t *testing.T) {
	c := newNamespace(t, "lost")
	file := c.inMidRun()
	before := c.uidOfServer()
	c.evict("ds2-compare-fast")
	c.awaitLog(time.Minute, `run-1 failed: .*was lost: .*`)
	c.awaitOtherServer(before)
	c.stop(file)
}

// TestClusterVolumesKept: each class has one claim and one server for all of its runs.
func TestClusterVolumesKept(t *testing.T) {
	c := newNamespace(t, "kept")
	file := c.apply("--volumes keep --storage-class slow --storage-class fast --size 1MB "+
		"--volume-size 1GB --runs 2 --run-time 10s %s", smallServers)
	c.awaitLog(3*time.Minute, `run-1: \d+ OPM`)
	first := c.uidOfServer()
	c.awaitLog(3*time.Minute, `run-2: running`)
	assert.Equal(t, first, c.uidOfServer())
	c.awaitLog(3*time.Minute, `the report and the record are served`)
	assert.Len(t, regexp.MustCompile(`run-[12]: \d+ OPM`).FindAllString(c.log(), -1), 4)
	assert.Equal(t, 2, strings.Count(c.log(), "a server starts on a new volume"))
	c.stop(file)
}

// evict has the cluster take a pod away as it does where a node is drained.
func (c cluster) evict(pod string) {
	c.t.Helper()
	eviction := exec.Command("kubectl", "create", "--filename=-",
		"--raw=/api/v1/namespaces/"+c.namespace+"/pods/"+pod+"/eviction")
	eviction.Stdin = strings.NewReader(`{"apiVersion": "policy/v1", "kind": "Eviction", ` +
		`"metadata": {"name": "` + pod + `", "namespace": "` + c.namespace + `"}}`)
	said, err := eviction.CombinedOutput()
	require.NoError(c.t, err, "%s", said)
}

func (c cluster) uidOfServer() string {
	c.t.Helper()
	return c.kubectl("get", "pod", "ds2-compare-fast", "--output=jsonpath={.metadata.uid}")
}

// awaitOtherServer waits until another server than that of a UID is there.
func (c cluster) awaitOtherServer(before string) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		now, err := c.try("get", "pod", "ds2-compare-fast", "--output=jsonpath={.metadata.uid}")
		return err == nil && now != before
	}, 2*time.Minute, time.Second, "another server is there")
}

// stop stops ds2 in order, and removes what was applied.
func (c cluster) stop(file string) {
	c.t.Helper()
	require.NoError(c.t, syscall.Kill(c.pidOfDriver(), syscall.SIGTERM))
	c.awaitNothing(ofServers)
	c.kubectl("delete", "-f", file)
	c.awaitNothing(ofJob)
}

// pidOfDriver is the process of ds2 in the namespace's driver.
func (c cluster) pidOfDriver() (pid int) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		lines, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, path := range lines {
			text, _ := os.ReadFile(path)
			command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			if strings.Contains(string(text), "POD_NAMESPACE="+c.namespace+"\x00") &&
				strings.HasPrefix(string(command), "/ds2\x00") {
				pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(path)))
				return true
			}
		}
		return false
	}, time.Minute, 100*time.Millisecond)
	return pid
}

// TestClusterKubeletStopped: where the node does not answer, the run ends with the cluster's own
// event; what cannot be removed is named with the command, and goes when the node is back.
func TestClusterKubeletStopped(t *testing.T) {
	c := newNamespace(t, "stopped")
	file := c.inMidRun()
	script, err := filepath.Abs(kubernetesScripts + "cluster/cluster")
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(c.dir, "run/kubelet"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	back := func() {
		said, err := exec.Command(script, "kubelet").CombinedOutput()
		require.NoError(t, err, "%s", said)
	}
	started := false
	defer func() {
		if !started {
			back()
		}
	}()
	c.awaitLog(time.Minute+5*time.Second, `Pod ds2-compare-fast: NodeNotReady: .*`)
	c.awaitLog(2*time.Minute, `still there after .*kubectl delete --namespace stopped --force .*`)
	c.awaitLog(10*time.Second, `run-1 failed: .*was lost: .*`)
	back()
	started = true
	c.kubectl("delete", "-f", file)
	c.awaitNothing(ofJob)
}

// TestCluster types the commands of docs/howto/kubernetes.md for two storage classes whose drives
// do 600 and 1,500 reads a second, and asks the record for what is known: the ratio of the drives,
// by the reads of each order, is in the interval of the difference; the drives that were observed
// are those of the claims.
func TestCluster(t *testing.T) {
	c := newNamespace(t, "bench")
	dir := filepath.Join(c.dir, "compared") // where its record is kept until the next
	require.NoError(t, os.MkdirAll(dir, 0o755))
	flags := "kubernetes --storage-class slow --storage-class fast --size 450MB --threads 16 --runs 5 " +
		"--server-cpus 0.8 --server-memory 224MB --volume-size 3GB --setting shared_buffers=32MB " +
		"--setting maintenance_work_mem=16MB --run-time 60s --warmup-time 45s --settle 0s " +
		"--idle 0s --cooldown 0s --read-cluster --namespace bench"
	code, manifests, next := execute(t, words("%s", flags)...)
	require.Equal(t, exitDone, code, next)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "compare.yaml"), []byte(manifests), 0o600))
	commands := regexp.MustCompile(`(?m)^  ([^#\n]+?)(?: +#.*)?$`).FindAllStringSubmatch(next, -1)
	require.Len(t, commands, 5)
	said := c.kubectl("apply", "--dry-run=server", "-f", filepath.Join(dir, "compare.yaml"))
	assert.NotContains(t, said, "Warning")
	shell := func(i int) *exec.Cmd {
		t.Log("$ ", commands[i][1])
		command := exec.Command("sh", "-c", "exec "+commands[i][1])
		command.Dir = dir
		return command
	}
	ran := func(i int) string {
		t.Helper()
		said, err := shell(i).CombinedOutput()
		t.Log(string(said))
		require.NoError(t, err)
		return string(said)
	}
	ran(0)
	c.kubectl("wait", "--for=condition=Ready", "--timeout=60s", "pod",
		"--selector=ds2/role=driver")
	logs := shell(1)
	var progress output
	logs.Stdout = &progress
	require.NoError(t, logs.Start())
	const verdict = "the report and the record are served until this is stopped"
	for end := time.Now().Add(time.Hour); !strings.Contains(progress.String(), verdict); {
		require.True(t, time.Now().Before(end), "%s", progress.String())
		time.Sleep(time.Second)
	}
	logs.Process.Kill()
	logs.Wait()
	t.Log(progress.String())
	forward := shell(2)
	require.NoError(t, forward.Start())
	defer func() { forward.Process.Kill(); forward.Wait() }()
	page := func(path string) string {
		text, err := exec.Command("curl", "--silent", "--fail", "--retry", "5",
			"--retry-connrefused", "http://localhost:9464"+path).Output()
		require.NoError(t, err, path)
		return string(text)
	}
	assert.Contains(t, page("/"), "ds2")
	assert.Contains(t, page("/report.html"), "fast")
	ran(3)
	c.judge(filepath.Join(dir, "record.zip"))
	ran(4)
	c.awaitNothing(ofJob)
	for _, kind := range []string{"clusterrole", "clusterrolebinding"} {
		_, err := c.try("get", kind, "bench:ds2-compare")
		assert.Error(t, err, "%s is left", kind)
	}
}

// judge holds the record of a comparison of the two classes against what is known of them.
func (c cluster) judge(archive string) {
	t := c.t
	t.Helper()
	text := must(t, "compare", archive, "--output", "json")
	var found struct {
		Differences []struct {
			Name, Against, Figure string
			Low                   float64 `json:"low_pct"`
			High                  float64 `json:"high_pct"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &found))
	require.NotEmpty(t, found.Differences)
	d := found.Differences[0]
	require.Equal(t, "opm", d.Figure)
	require.Equal(t, []string{"slow", "fast"}, []string{d.Name, d.Against})
	record, err := result.Unpack(archive, t.TempDir())
	require.NoError(t, err)
	reads := map[string]float64{}
	for _, class := range []string{"slow", "fast"} {
		bench, err := result.ReadSummary[result.Bench](filepath.Join(record, class))
		require.NoError(t, err)
		for _, run := range bench.Runs {
			require.True(t, run.Counts, "%s %s: %v", class, run.Dir, run.Findings)
			reads[class] += *run.Costs.Reads / float64(len(bench.Runs))
			s, err := result.ReadSummary[result.Summary](filepath.Join(record, class, run.Dir))
			require.NoError(t, err)
			c.checkCluster(class, s)
		}
	}
	want := 100 * (600./1500*reads["fast"]/reads["slow"] - 1)
	t.Logf("slow against fast: %.1f %% to %.1f %%; by 600 and 1,500 reads a second and %.2f and "+
		"%.2f reads per order %.1f %%", d.Low, d.High, reads["slow"], reads["fast"], want)
	assert.True(t, d.Low <= want && want <= d.High)
}

// checkCluster holds what a record has of the cluster and of the drives against the test's cluster.
func (c cluster) checkCluster(class string, s result.Summary) {
	t := c.t
	t.Helper()
	require.NotNil(t, s.Cluster)
	k := *s.Cluster
	assert.Equal(
		t,
		[]string{class, "kubernetes.io/no-provisioner", "node-1", "node-1", "test.small"},
		[]string{k.StorageClass, k.Provisioner, k.Node, k.DriverNode, k.InstanceType},
	)
	assert.Equal(t, []string{"v1.33.4", "Filesystem", "3G"},
		[]string{k.Version, k.VolumeMode, k.VolumeSize})
	assert.NotNil(t, result.FindingOf(s.Findings, result.SameNode))
	device := regexp.MustCompile(`(?m)^` + k.Volume + ` 7:(\d+)$`).
		FindStringSubmatch(read(t, filepath.Join(c.dir, "devices")))
	require.NotNil(t, device, k.Volume)
	require.Len(t, s.Machine.Drives, 1)
	assert.Equal(t, "loop"+device[1], s.Machine.Drives[0].Name)
}
