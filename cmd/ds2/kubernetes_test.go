package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

const kubernetesJob = "../../scripts/kubernetes/generate.yaml"

// readYAML reads a file into v.
func readYAML(t *testing.T, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, v); err != nil {
		t.Fatal(err)
	}
}

// The job is one that Kubernetes takes, by its own schema; a misspelt field is not.
func TestKubernetesJobSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../testdata/kubernetes/job-batch-v1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var job map[string]any
	readYAML(t, kubernetesJob, &job)
	if err := schema.Validate(job); err != nil {
		t.Error(err)
	}
	job["spec"].(map[string]any)["completion"] = 4
	if err := schema.Validate(job); err == nil {
		t.Error("the schema takes a job with a field that there is not")
	}
}

// What the job's pods run makes, with the size and the folder of a test, a whole dataset, each pod a part of it.
func TestKubernetesJobCommand(t *testing.T) {
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
	readYAML(t, kubernetesJob, &job)
	pod := job.Spec.Template.Spec
	if job.Spec.CompletionMode != "Indexed" || pod.RestartPolicy != "Never" || len(pod.Containers) != 1 {
		t.Fatalf("job %+v", job)
	}
	dir := filepath.Join(t.TempDir(), "data")
	container := pod.Containers[0]
	line := strings.NewReplacer("exec ds2 ", "printf '%s\n' ", "--size W", "--size 1MB", "/data/ds2-W", dir).Replace(container.Args[0])
	for i := range job.Spec.Completions {
		sh := exec.Command(container.Command[0], append(container.Command[1:], line)...)
		sh.Env = append(os.Environ(), fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i))
		args, err := sh.Output()
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // once more, as where a pod was started again
			if code, _, stderr := execute(t, strings.Fields(string(args))...); code != exitDone {
				t.Fatalf("ds2 %s: exit %d, %s", args, code, stderr)
			}
		}
	}
	if code, stdout, stderr := execute(t, "generate", "--verify", dir); code != exitDone || !strings.Contains(stdout, "40 files") {
		t.Errorf("verify: exit %d, %s%s", code, stdout, stderr)
	}
}
