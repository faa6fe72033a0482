// Package kubernetes compares storage classes on a cluster. It makes the manifests of a Job that
// runs an experiment; and in that Job it gives runs a server on a new volume, tells what the
// cluster says of it, and removes both. What the experiment runs is for its file to say.
package kubernetes

import (
	_ "embed"
	"fmt"
	"io"
	"maps"
	"regexp"
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

//go:embed manifests.yaml
var manifestsText []byte

// manifests are the objects in manifests.yaml.
type manifests struct {
	Account            corev1.ServiceAccount     `json:"account"`
	Role               rbacv1.Role               `json:"role"`
	RoleBinding        rbacv1.RoleBinding        `json:"roleBinding"`
	ClusterRole        rbacv1.ClusterRole        `json:"clusterRole"`
	ClusterRoleBinding rbacv1.ClusterRoleBinding `json:"clusterRoleBinding"`
	Config             corev1.ConfigMap          `json:"config"`
	Job                batchv1.Job               `json:"job"`
	Server             serverObjects             `json:"server"`
}

// serverObjects are the claim and the pod of a run's server, but for their names and the class,
// which the configuration gives.
type serverObjects struct {
	Claim corev1.PersistentVolumeClaim `json:"claim"`
	Pod   corev1.Pod                   `json:"pod"`
}

// What is in the Job's pod: the directory of its ConfigMap, the files there, and that of its
// records.
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

// jobLabel is the label of what a Job is and makes.
const jobLabel = "ds2/job"

// PrintManifests prints the objects for kubectl apply, in its order.
func (s Setup) PrintManifests(w io.Writer) error {
	var m manifests
	if err := yaml.UnmarshalStrict(manifestsText, &m); err != nil {
		return fmt.Errorf("read the manifests: %w", err)
	}
	s.fillServer(&m.Server)
	server, err := marshal(m.Server)
	if err != nil {
		return err
	}
	m.Config.Data = map[string]string{ExperimentFile: s.Experiment, serverFile: string(server)}
	s.fillRights(&m)
	s.fillJob(&m.Job)
	objects := []metav1.Object{&m.Account, &m.Role, &m.RoleBinding}
	if s.ReadCluster {
		objects = append(objects, &m.ClusterRole, &m.ClusterRoleBinding)
	}
	for i, object := range append(objects, &m.Config, &m.Job) {
		object.SetName(s.Name)
		s.label(object)
		switch object.(type) {
		case *rbacv1.ClusterRole, *rbacv1.ClusterRoleBinding:
		default:
			object.SetNamespace(s.Namespace)
		}
		text, err := marshal(object)
		if err != nil {
			return err
		}
		if i > 0 {
			text = append([]byte("---\n"), text...)
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// unset are the fields that the API's types print though nothing sets them.
var unset = regexp.MustCompile(`(?m)^ *(creationTimestamp: null|status: \{\}|resources: \{\})\n`)

func marshal(object any) ([]byte, error) {
	text, err := yaml.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("print the manifests: %w", err)
	}
	return unset.ReplaceAll(text, nil), nil
}

// label says that an object is the Job's.
func (s Setup) label(object metav1.Object) {
	labels := map[string]string{jobLabel: s.Name}
	maps.Copy(labels, object.GetLabels())
	object.SetLabels(labels)
}

func (s Setup) fillRights(m *manifests) {
	m.Role.Rules[len(m.Role.Rules)-1].ResourceNames = []string{s.Name}
	m.RoleBinding.RoleRef.Name = s.Name
	m.RoleBinding.Subjects[0].Name = s.Name
	m.RoleBinding.Subjects[0].Namespace = s.Namespace
	m.ClusterRole.Rules[0].ResourceNames = s.Classes
	m.ClusterRoleBinding.RoleRef.Name = s.Name
	m.ClusterRoleBinding.Subjects = m.RoleBinding.Subjects
}

func (s Setup) fillJob(job *batchv1.Job) {
	file := ConfigDir + "/" + ExperimentFile
	pod := &job.Spec.Template
	s.label(pod)
	pod.Spec.ServiceAccountName = s.Name
	pod.Spec.ImagePullSecrets = s.pullSecrets()
	pod.Spec.Volumes[0].ConfigMap.Name = s.Name
	ds2 := &pod.Spec.Containers[0]
	ds2.Image = s.Image
	ds2.Args = []string{"experiment", file, "--serve", "--out=" + recordsDir + "/" + s.Name}
	if s.Check {
		ds2.Args = []string{"preflight", file, "--details"}
	}
}

func (s Setup) pullSecrets() []corev1.LocalObjectReference {
	if s.PullSecret == "" {
		return nil
	}
	return []corev1.LocalObjectReference{{Name: s.PullSecret}}
}

func (s Setup) fillServer(server *serverObjects) {
	s.label(&server.Claim)
	server.Claim.Spec.Resources.Requests = corev1.ResourceList{
		corev1.ResourceStorage: *resource.NewQuantity(s.Server.Volume, resource.DecimalSI),
	}
	s.label(&server.Pod)
	pod := &server.Pod.Spec
	pod.ImagePullSecrets = s.pullSecrets()
	user := &s.Server.User
	pod.SecurityContext.RunAsUser = user
	pod.SecurityContext.RunAsGroup = user
	pod.SecurityContext.FSGroup = user // so that it can write to the volume
	avoided := &pod.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0]
	avoided.PodAffinityTerm.LabelSelector.MatchLabels[jobLabel] = s.Name
	if len(s.Server.Nodes) > 0 {
		pod.Affinity.NodeAffinity = onNodes(s.Server.Nodes)
	}
	postgres := &pod.Containers[0]
	postgres.Image = s.Server.Image
	for _, setting := range s.Server.Settings {
		postgres.Args = append(postgres.Args, "-c", setting)
	}
	postgres.Env[1].ValueFrom.SecretKeyRef.Name = s.Name
	cpus := int64(1000 * s.Server.CPUs)
	postgres.Resources.Limits = corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(cpus, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(s.Server.Memory, resource.DecimalSI),
	}
	postgres.Resources.Requests = postgres.Resources.Limits
	pod.Containers[1].Image = s.Image
}

func onNodes(names []string) *corev1.NodeAffinity {
	named := corev1.NodeSelectorRequirement{
		Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: names,
	}
	return &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchExpressions: []corev1.NodeSelectorRequirement{named}},
			},
		},
	}
}

var noLabel = regexp.MustCompile(`[^a-z0-9]+`)

// serverName is the name of the claim and the pod of a storage class, as short as a label has to
// be.
func serverName(job, class string) string {
	name := job + "-" + strings.Trim(noLabel.ReplaceAllString(strings.ToLower(class), "-"), "-")
	return strings.Trim(name[:min(len(name), 63)], "-")
}
