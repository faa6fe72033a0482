package kubernetes

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write golden files anew")

// TestManifests holds what is printed against golden files, and decodes it strictly: a misspelt
// field, or one of another version of the API, is refused. The server's objects are decoded as the
// Job does.
func TestManifests(t *testing.T) {
	plain := Setup{
		Name: "ds2-compare", Experiment: "size: W\n", Image: "ds2:latest",
		Classes: []string{"gp3", "io2"},
		Server:  ServerSetup{Image: "postgres:17", User: 999, CPUs: 4, Memory: 8e9, Volume: 98e9},
	}
	all := plain
	all.Namespace = "bench"
	all.PullSecret = "registry"
	all.ReadCluster = true
	all.Server.Settings = []string{"max_connections=82", "shared_buffers=2GB"}
	all.Server.CPUs = .5
	all.Server.Nodes = []string{"worker-1", "worker-2"}
	check := plain
	check.Check = true
	for name, setup := range map[string]Setup{"plain": plain, "all": all, "check": check} {
		t.Run(name, func(t *testing.T) {
			var printed bytes.Buffer
			require.NoError(t, setup.PrintManifests(&printed))
			golden := "testdata/" + name + ".golden"
			if *update {
				require.NoError(t, os.WriteFile(golden, printed.Bytes(), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), printed.String(), "-update writes it anew")
			decodeStrictly(t, setup, printed.Bytes())
		})
	}
}

func decodeStrictly(t *testing.T, setup Setup, printed []byte) {
	t.Helper()
	var config corev1.ConfigMap
	var job batchv1.Job
	kinds := map[string]any{
		"ServiceAccount": &corev1.ServiceAccount{}, "ConfigMap": &config, "Job": &job,
		"Role": &rbacv1.Role{}, "RoleBinding": &rbacv1.RoleBinding{},
		"ClusterRole": &rbacv1.ClusterRole{}, "ClusterRoleBinding": &rbacv1.ClusterRoleBinding{},
	}
	for part := range bytes.SplitSeq(printed, []byte("---\n")) {
		var kind struct{ Kind string }
		require.NoError(t, yaml.Unmarshal(part, &kind))
		require.Contains(t, kinds, kind.Kind)
		require.NoError(t, yaml.UnmarshalStrict(part, kinds[kind.Kind]), kind.Kind)
		misspelt := append(bytes.Clone(part), "spce: {}\n"...)
		require.Error(t, yaml.UnmarshalStrict(misspelt, kinds[kind.Kind]), kind.Kind)
	}
	assert.Equal(t, setup.Experiment, config.Data[ExperimentFile])
	var server serverObjects
	require.NoError(t, yaml.UnmarshalStrict([]byte(config.Data[serverFile]), &server))
	for _, c := range server.Pod.Spec.Containers {
		assert.Equal(t, ClaimDir, c.VolumeMounts[0].MountPath)
	}
	for _, pod := range []corev1.PodSpec{job.Spec.Template.Spec, server.Pod.Spec} {
		assert.True(t, *pod.SecurityContext.RunAsNonRoot)
		assert.Equal(t, corev1.SeccompProfileTypeRuntimeDefault,
			pod.SecurityContext.SeccompProfile.Type)
		for _, c := range pod.Containers {
			assert.False(t, *c.SecurityContext.AllowPrivilegeEscalation)
			assert.Equal(t, []corev1.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop)
			for _, bounded := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				assert.Contains(t, c.Resources.Limits, bounded, c.Name)
				assert.Contains(t, c.Resources.Requests, bounded, c.Name)
			}
		}
	}
}

// TestServerNames: a name fits the cluster's rules, whatever the configuration is called.
func TestServerNames(t *testing.T) {
	long := "a-configuration-with-a-name-that-is-longer-than-a-label-of-the-cluster-may-be"
	for configuration, want := range map[string]string{
		"gp3":                   "ds2-compare-gp3",
		"Premium_RWO.threads-8": "ds2-compare-premium-rwo-threads-8",
		"-":                     "ds2-compare",
		long:                    "ds2-compare-a-configuration-with-a-name-that-is-longer-than-a-l",
	} {
		assert.Equal(t, want, serverName("ds2-compare", configuration))
	}
	p := Provisioner{job: Job{Name: "ds2-compare"}}
	names := map[string]bool{}
	for _, configuration := range []string{"gp3.fast", "gp3-fast", long + "-1", long + "-2"} {
		names[p.AddServer(configuration, "gp3").name] = true
	}
	assert.Len(t, names, 4, "each configuration has objects of its own")
}
