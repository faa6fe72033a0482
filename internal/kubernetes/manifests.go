// Package kubernetes compares storage classes on a cluster. It makes the manifests of a Job that
// runs an experiment; and in that Job it gives runs a server on a new volume, tells what the cluster
// says of it, and removes both. What the experiment runs is for its file to say.
package kubernetes

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Setup is the Job that compares storage classes.
type Setup struct {
	Name        string // of the Job, and the beginning of all that it makes
	Namespace   string // empty: that of who applies the manifests
	Experiment  string // the file of the experiment, as YAML
	Image       string // of ds2
	PullSecret  string // that both images are pulled with; empty: none
	ReadCluster bool   // the Job may read storage classes and nodes, which are the cluster's
	Check       bool   // the Job is a preflight of the experiment
	Classes     []string

	Server ServerSetup
}

// ServerSetup is the PostgreSQL server of a run.
type ServerSetup struct {
	Image    string
	User     int64    // that the image's server runs as
	Settings []string // such as shared_buffers=2GB
	CPUs     float64
	Memory   int64    // bytes
	Volume   int64    // size of the claim, bytes
	Nodes    []string // that it may run on; none: all
}

// The paths in the Job's pod: of what the manifests give it, and of its records.
const (
	ConfigDir      = "/etc/ds2"
	ExperimentFile = "experiment.yaml"
	serverFile     = "server.yaml"
	recordsDir     = "/work"
)

// The variables by which the Job's pod knows itself.
const (
	NamespaceVariable = "POD_NAMESPACE"
	NodeVariable      = "NODE_NAME"
	JobNameVariable   = "JOB_NAME"
	JobUIDVariable    = "JOB_UID"
)

// The user of ds2's image, the ports of a server's pod, and where its volume is mounted.
const (
	ds2User      = 10001
	postgresPort = 5432
	exporterPort = 9100
	volumeDir    = "/var/lib/postgresql/data"
)

// The label of what a Job makes, and what it is there.
const (
	jobLabel  = "ds2/job"
	roleLabel = "ds2/role"
	driver    = "driver"
	server    = "server"
)

// PrintManifests prints the objects for kubectl apply, in its order.
func (s Setup) PrintManifests(w io.Writer) error {
	objects, err := s.objects()
	if err != nil {
		return err
	}
	for i, object := range objects {
		text, err := yaml.Marshal(object)
		if err != nil {
			return fmt.Errorf("print the manifests: %w", err)
		}
		if i > 0 {
			text = append([]byte("---\n"), text...)
		}
		if _, err := w.Write(withoutUnset(text)); err != nil {
			return err
		}
	}
	return nil
}

// unset are the fields that Go's types print though nothing sets them.
var unset = regexp.MustCompile(`(?m)^ *(creationTimestamp: null|status: \{\}|resources: \{\})\n`)

func withoutUnset(text []byte) []byte { return unset.ReplaceAll(text, nil) }

func (s Setup) objects() ([]any, error) {
	serverText, err := yaml.Marshal(s.serverObjects())
	if err != nil {
		return nil, fmt.Errorf("print the server's pod: %w", err)
	}
	config := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: s.meta(),
		Data: map[string]string{
			ExperimentFile: s.Experiment,
			serverFile:     string(withoutUnset(serverText)),
		},
	}
	account := &corev1.ServiceAccount{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta: s.meta(),
	}
	return slices.Concat([]any{account}, s.rights(), []any{config, s.job()}), nil
}

func (s Setup) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: s.Name, Namespace: s.Namespace, Labels: map[string]string{jobLabel: s.Name},
	}
}

const rbac = "rbac.authorization.k8s.io"

// rights are what the Job may do in its namespace and, where that is asked for, read of the cluster.
func (s Setup) rights() []any {
	role := &rbacv1.Role{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbac + "/v1", Kind: "Role"},
		ObjectMeta: s.meta(),
		Rules: []rbacv1.PolicyRule{
			{
				APIGroups: []string{""}, Resources: []string{"pods", "persistentvolumeclaims"},
				Verbs: []string{"get", "create", "delete"},
			},
			{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"list"}},
			{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}},
			{
				APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"delete"},
				ResourceNames: []string{s.Name},
			},
		},
	}
	subject := rbacv1.Subject{Kind: "ServiceAccount", Name: s.Name, Namespace: s.Namespace}
	bound := func(kind string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbac, Kind: kind, Name: s.Name}
	}
	all := []any{role, &rbacv1.RoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbac + "/v1", Kind: "RoleBinding"},
		ObjectMeta: s.meta(),
		Subjects:   []rbacv1.Subject{subject},
		RoleRef:    bound("Role"),
	}}
	if !s.ReadCluster {
		return all
	}
	meta := s.meta()
	meta.Namespace = ""
	return append(all, &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbac + "/v1", Kind: "ClusterRole"},
		ObjectMeta: meta,
		Rules: []rbacv1.PolicyRule{
			{
				APIGroups: []string{"storage.k8s.io"}, Resources: []string{"storageclasses"},
				Verbs: []string{"get"}, ResourceNames: s.Classes,
			},
			{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get"}},
		},
	}, &rbacv1.ClusterRoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbac + "/v1", Kind: "ClusterRoleBinding"},
		ObjectMeta: meta,
		Subjects:   []rbacv1.Subject{subject},
		RoleRef:    bound("ClusterRole"),
	})
}

// job is the Job. A pod of it that was lost, to an eviction perhaps, is made once more and begins by
// removing what the other left; one that ended by itself is not.
func (s Setup) job() *batchv1.Job {
	of := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	file := ConfigDir + "/" + ExperimentFile
	args := []string{"experiment", file, "--serve", "--out=" + recordsDir + "/" + s.Name}
	if s.Check {
		args = []string{"preflight", file, "--details"}
	}
	container := corev1.Container{
		Name:            "ds2",
		Image:           s.Image,
		Args:            args,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Env: []corev1.EnvVar{
			{Name: NamespaceVariable, ValueFrom: of("metadata.namespace")},
			{Name: NodeVariable, ValueFrom: of("spec.nodeName")},
			{Name: JobNameVariable, ValueFrom: of("metadata.labels['" + batchv1.JobNameLabel + "']")},
			{Name: JobUIDVariable, ValueFrom: of("metadata.labels['" + batchv1.ControllerUidLabel + "']")},
		},
		Resources: corev1.ResourceRequirements{
			Requests: resources("250m", "256Mi"),
			Limits:   resources("4", "2Gi"),
		},
		SecurityContext: restricted(true),
		VolumeMounts: []corev1.VolumeMount{
			{Name: "config", MountPath: ConfigDir},
			{Name: "records", MountPath: recordsDir},
		},
	}
	meta := s.meta()
	meta.Labels[roleLabel] = driver
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: meta.Labels},
		Spec: corev1.PodSpec{
			ServiceAccountName: s.Name,
			RestartPolicy:      corev1.RestartPolicyNever,
			ImagePullSecrets:   s.pullSecrets(),
			SecurityContext:    unprivileged(ds2User),
			Containers:         []corev1.Container{container},
			Volumes: []corev1.Volume{
				{Name: "config", VolumeSource: corev1.VolumeSource{
					ConfigMap: &corev1.ConfigMapVolumeSource{
						LocalObjectReference: corev1.LocalObjectReference{Name: s.Name},
					},
				}},
				{Name: "records", VolumeSource: corev1.VolumeSource{
					EmptyDir: &corev1.EmptyDirVolumeSource{},
				}},
			},
			// the time to remove a server and its claim
			TerminationGracePeriodSeconds: new(int64(2 * removeTime.Seconds())),
		},
	}
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: meta,
		Spec: batchv1.JobSpec{
			BackoffLimit: new(int32(1)),
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action: batchv1.PodFailurePolicyActionFailJob,
				OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
					ContainerName: new("ds2"),
					Operator:      batchv1.PodFailurePolicyOnExitCodesOpIn,
					Values:        []int32{1, 2, 3, 4},
				},
			}}},
			Template: template,
		},
	}
}

func (s Setup) pullSecrets() []corev1.LocalObjectReference {
	if s.PullSecret == "" {
		return nil
	}
	return []corev1.LocalObjectReference{{Name: s.PullSecret}}
}

func resources(cpus, memory string) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cpus),
		corev1.ResourceMemory: resource.MustParse(memory),
	}
}

// unprivileged is what the standard "restricted" of Pod Security asks of a pod, and restricted what
// it asks of a container.
func unprivileged(user int64) *corev1.PodSecurityContext {
	return &corev1.PodSecurityContext{
		RunAsNonRoot:   new(true),
		RunAsUser:      &user,
		RunAsGroup:     &user,
		FSGroup:        &user, // so that the user can write to the volume
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

func restricted(readOnly bool) *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false),
		ReadOnlyRootFilesystem:   &readOnly,
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// serverObjects are the claim and the pod of a run's server, but for the names and the class, which
// the configuration gives.
type serverObjects struct {
	Claim corev1.PersistentVolumeClaim `json:"claim"`
	Pod   corev1.Pod                   `json:"pod"`
}

func (s Setup) serverObjects() serverObjects {
	labels := map[string]string{jobLabel: s.Name, roleLabel: server}
	size := corev1.ResourceList{
		corev1.ResourceStorage: *resource.NewQuantity(s.Server.Volume, resource.DecimalSI),
	}
	return serverObjects{
		Claim: corev1.PersistentVolumeClaim{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: size},
			},
		},
		Pod: corev1.Pod{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{
				RestartPolicy:                 corev1.RestartPolicyNever,
				AutomountServiceAccountToken:  new(false),
				EnableServiceLinks:            new(false),
				TerminationGracePeriodSeconds: new(int64(5)), // its data goes with it
				ImagePullSecrets:              s.pullSecrets(),
				SecurityContext:               unprivileged(s.Server.User),
				Affinity:                      s.affinity(),
				Containers:                    []corev1.Container{s.postgres(), s.exporter()},
				Volumes: []corev1.Volume{
					{Name: dataVolume, VolumeSource: corev1.VolumeSource{
						PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{},
					}},
					{Name: "shm", VolumeSource: corev1.VolumeSource{
						EmptyDir: &corev1.EmptyDirVolumeSource{
							Medium: corev1.StorageMediumMemory,
						},
					}},
				},
			},
		},
	}
}

// dataVolume is the volume of a server's pod that its claim is put into.
const dataVolume = "data"

// affinity keeps a server on the nodes that it may run on and, where it can, off the driver's.
func (s Setup) affinity() *corev1.Affinity {
	a := &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
			Weight: 100,
			PodAffinityTerm: corev1.PodAffinityTerm{
				TopologyKey: corev1.LabelHostname,
				LabelSelector: &metav1.LabelSelector{
					MatchLabels: map[string]string{jobLabel: s.Name, roleLabel: driver},
				},
			},
		}},
	}}
	if len(s.Server.Nodes) > 0 {
		a.NodeAffinity = &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchExpressions: []corev1.NodeSelectorRequirement{{
						Key:      corev1.LabelHostname,
						Operator: corev1.NodeSelectorOpIn,
						Values:   s.Server.Nodes,
					}},
				}},
			},
		}
	}
	return a
}

func (s Setup) postgres() corev1.Container {
	var args []string
	for _, setting := range s.Server.Settings {
		args = append(args, "-c", setting)
	}
	secret := corev1.LocalObjectReference{Name: s.Name}
	probe := corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{
		"pg_isready", "--quiet", "--host=127.0.0.1", // not while it is set up
	}}}
	bounds := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(int64(1000*s.Server.CPUs), resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(s.Server.Memory, resource.DecimalSI),
	}
	return corev1.Container{
		Name:            "postgres",
		Image:           s.Server.Image,
		Args:            args,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Env: []corev1.EnvVar{
			{Name: "POSTGRES_USER", Value: databaseUser},
			{Name: "POSTGRES_PASSWORD", ValueFrom: &corev1.EnvVarSource{
				SecretKeyRef: &corev1.SecretKeySelector{
					LocalObjectReference: secret, Key: passwordKey,
				},
			}},
			// not the root of a file system, which may hold lost+found
			{Name: "PGDATA", Value: volumeDir + "/pgdata"},
		},
		Ports:           []corev1.ContainerPort{{Name: "postgres", ContainerPort: postgresPort}},
		Resources:       corev1.ResourceRequirements{Requests: bounds, Limits: bounds},
		ReadinessProbe:  &corev1.Probe{ProbeHandler: probe, PeriodSeconds: 2, TimeoutSeconds: 10},
		SecurityContext: restricted(false),
		VolumeMounts: []corev1.VolumeMount{
			{Name: dataVolume, MountPath: volumeDir},
			{Name: "shm", MountPath: "/dev/shm"},
		},
	}
}

// exporter shows the drive of the claim.
func (s Setup) exporter() corev1.Container {
	return corev1.Container{
		Name:  "exporter",
		Image: s.Image,
		Args: []string{
			"exporter", "--dir=" + volumeDir, fmt.Sprintf("--listen=:%d", exporterPort),
		},
		ImagePullPolicy: corev1.PullIfNotPresent,
		Ports:           []corev1.ContainerPort{{Name: "metrics", ContainerPort: exporterPort}},
		Resources: corev1.ResourceRequirements{
			Requests: resources("50m", "64Mi"), Limits: resources("500m", "128Mi"),
		},
		SecurityContext: restricted(true),
		VolumeMounts: []corev1.VolumeMount{
			{Name: dataVolume, MountPath: volumeDir, ReadOnly: true},
		},
	}
}

var noLabel = regexp.MustCompile(`[^a-z0-9]+`)

// serverName is the name of the claim and the pod of a storage class, as short as a label has to be.
func serverName(job, class string) string {
	name := job + "-" + strings.Trim(noLabel.ReplaceAllString(strings.ToLower(class), "-"), "-")
	return strings.Trim(name[:min(len(name), 63)], "-")
}
