// Package kubernetes compares storage classes on a cluster. It makes the manifests of a Job that
// runs an experiment; and in that Job it gives runs a server on a new volume, tells what the
// cluster says of it, and removes both. What the experiment runs is for its file to say.
package kubernetes

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/template"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
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
var manifestsText string

// manifestsTemplate gives manifests.yaml the values of a Setup. JSON is YAML too, so that no text
// of a user's means anything else there.
var manifestsTemplate = template.Must(template.New("").Funcs(template.FuncMap{
	"json": func(value any) (string, error) {
		text, err := json.Marshal(value)
		return string(text), err
	},
	"cpus": func(n float64) string {
		return resource.NewMilliQuantity(int64(1000*n), resource.DecimalSI).String()
	},
	"bytes": func(n int64) string { return resource.NewQuantity(n, resource.DecimalSI).String() },
}).Parse(manifestsText))

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

// ClaimDir is where the pod of a server has its claim.
const ClaimDir = "/claim"

// The directory of the Job's ConfigMap in its pod, and the files there.
const (
	ConfigDir      = "/etc/ds2"
	ExperimentFile = "experiment.yaml"
	serverFile     = "server.yaml"
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
	var filled bytes.Buffer
	if err := manifestsTemplate.Execute(&filled, s); err != nil {
		return fmt.Errorf("fill in the manifests: %w", err)
	}
	var m manifests
	if err := yaml.UnmarshalStrict(filled.Bytes(), &m); err != nil {
		return fmt.Errorf("read the manifests: %w", err)
	}
	// The Job decodes this in its pod, strictly too, and gives names and a storage class to copies.
	server, err := marshal(m.Server)
	if err != nil {
		return err
	}
	m.Config.Data[serverFile] = server
	objects := []any{m.Account, m.Role, m.RoleBinding}
	if s.ReadCluster {
		objects = append(objects, m.ClusterRole, m.ClusterRoleBinding)
	}
	var texts []string
	// The Job comes last: its pod needs all the others.
	for _, object := range append(objects, m.Config, m.Job) {
		text, err := marshal(object)
		if err != nil {
			return err
		}
		texts = append(texts, text)
	}
	_, err = io.WriteString(w, strings.Join(texts, "---\n"))
	return err
}

// unset are the fields that the API's types print though nothing sets them.
var unset = regexp.MustCompile(`(?m)^ *(creationTimestamp: null|status: \{\}|resources: \{\})\n`)

// marshal prints an object, or some, as YAML.
func marshal(object any) (string, error) {
	text, err := yaml.Marshal(object)
	if err != nil {
		return "", fmt.Errorf("print the manifests: %w", err)
	}
	return unset.ReplaceAllString(string(text), ""), nil
}

// noLabel is what a DNS label (RFC 1123) may not have, as names of objects are: the name of a class
// may have dots, and that of a configuration anything.
var noLabel = regexp.MustCompile(`[^a-z0-9]+`)

// serverName is the name of the claim and the pod of a storage class, as short as a label has to
// be.
func serverName(job, class string) string {
	name := job + "-" + strings.Trim(noLabel.ReplaceAllString(strings.ToLower(class), "-"), "-")
	return strings.Trim(name[:min(len(name), 63)], "-") // RFC 1123: at most 63 characters
}
