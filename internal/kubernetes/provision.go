package kubernetes

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"ds2/internal/progress"
)

// Job is the Job that this process is the driver of.
type Job struct {
	Namespace, Name, UID string
	Node                 string // that its pod is on
}

// What manifests.yaml has of a server's pod: the user of the database, the key of its password in
// the Job's secret, and the ports.
const (
	databaseUser = "ds2"
	passwordKey  = "password"
	postgresPort = "5432"
	exporterPort = "9100"
)

// How long is waited for what the cluster does: for a server that an event says is held up, for one
// that is merely not there yet, such as while its image is pulled, and for what is removed.
const (
	heldUpTime = 45 * time.Second
	startTime  = 15 * time.Minute
	removeTime = 45 * time.Second
	pollTime   = time.Second
)

// The reasons of events that say that a pod comes on, after which an earlier warning is no more
// true; that a node is being added, which takes minutes; and of a container whose image cannot be
// pulled, which is tried again and again.
var (
	comesOn  = strings.Fields("Scheduled SuccessfulAttachVolume Pulling Pulled Created Started")
	scalesUp = strings.Fields("TriggeredScaleUp Nominated")
	noImage  = strings.Fields("ErrImagePull ImagePullBackOff InvalidImageName ErrImageNeverPull")

	// of every server that is asked before it accepts connections
	notYet = "Unhealthy"
	// of a pull secret that is absent, which an image that a node has does without
	noSecret = "FailedToRetrieveImagePullSecret"
)

// Provisioner makes the servers of a Job's configurations. All that it makes is the Job's: the
// cluster removes it with the Job at the latest.
type Provisioner struct {
	core     *rest.RESTClient
	job      Job
	objects  serverObjects
	password string
	tell     func(format string, args ...any)
	servers  []*Server
}

// Connect reads what the manifests say of a server, and prepares to ask the cluster that this
// process is a pod of.
func Connect(job Job, tell func(format string, args ...any)) (*Provisioner, error) {
	config, err := rest.InClusterConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	p := &Provisioner{job: job, password: rand.Text(), tell: tell}
	text, err := os.ReadFile(filepath.Join(ConfigDir, serverFile))
	if err != nil {
		return nil, fmt.Errorf("read what a server is: %w", err)
	}
	if err := yaml.UnmarshalStrict(text, &p.objects); err != nil {
		return nil, fmt.Errorf("read %s: %w", serverFile, err)
	}
	p.core, err = newClient(config)
	return p, err
}

// newClient asks a cluster for objects of the core of its API.
func newClient(config *rest.Config) (*rest.RESTClient, error) {
	// The types of the core alone: those of all groups would more than double what they add to ds2.
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	config.APIPath = "/api"
	config.GroupVersion = &corev1.SchemeGroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.Timeout = requestTime
	return rest.RESTClientFor(config)
}

// requestTime bounds one request to the cluster.
const requestTime = 10 * time.Second

// Server is the server of a configuration, a new one each time that it is started.
type Server struct {
	provisioner *Provisioner
	name, class string
	pod         *corev1.Pod     // nil: none was started
	told        map[string]bool // the warnings that were told, each once
}

// AddServer is the server of a configuration on a storage class, which Start starts.
func (p *Provisioner) AddServer(configuration, class string) *Server {
	s := &Server{provisioner: p, name: serverName(p.job.Name, configuration), class: class}
	hasName := func(o *Server) bool { return o.name == s.name }
	// Names that differ in what an object's may not have, or in their ends, are made unlike.
	for n := 2; slices.ContainsFunc(p.servers, hasName); n++ {
		s.name = serverName(p.job.Name, fmt.Sprintf("%d-%s", n, configuration))
	}
	p.servers = append(p.servers, s)
	return s
}

// Close removes all that the provisioner made.
func (p *Provisioner) Close() error {
	var all error
	for _, s := range p.servers {
		all = errors.Join(all, s.Remove())
	}
	if _, err := p.removeObject("secrets", p.job.Name); err != nil {
		all = errors.Join(all, fmt.Errorf("remove the secret: %w; kubectl delete --namespace %s "+
			"secret/%s removes it", err, p.job.Namespace, p.job.Name))
	}
	return all
}

// createObject creates an object of the Job's.
func (p *Provisioner) createObject(
	ctx context.Context, resource string, object metav1.Object,
) error {
	object.SetNamespace(p.job.Namespace)
	object.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: "batch/v1", Kind: "Job", Name: p.job.Name, UID: types.UID(p.job.UID),
	}})
	body := object.(runtime.Object)
	created := p.core.Post().Namespace(p.job.Namespace).Resource(resource).Body(body).Do(ctx)
	return created.Into(body)
}

// askFor asks for an object of the Job's namespace.
func (p *Provisioner) askFor(ctx context.Context, resource, name string) rest.Result {
	return p.core.Get().Namespace(p.job.Namespace).Resource(resource).Name(name).Do(ctx)
}

// removeObject has an object be removed, which may take a while, and says whether it is gone. It
// does so also where all else has been stopped.
func (p *Provisioner) removeObject(resource, name string) (gone bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTime)
	defer cancel()
	request := p.core.Delete().Namespace(p.job.Namespace).Resource(resource).Name(name)
	if err = request.Do(ctx).Error(); apierrors.IsNotFound(err) {
		return true, nil
	}
	return false, err
}

// makeSecret makes the secret of the servers' password, in the place of one that an earlier pod of
// the Job left.
func (p *Provisioner) makeSecret(ctx context.Context) error {
	if _, err := p.removeObject("secrets", p.job.Name); err != nil {
		return err
	}
	return p.createObject(ctx, "secrets", &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: p.job.Name, Labels: map[string]string{jobLabel: p.job.Name},
		},
		StringData: map[string]string{passwordKey: p.password},
	})
}

// Start removes the server that was, and starts one on a new claim of the class: a volume that an
// earlier run filled has its free blocks elsewhere, and part of it in caches. It ends when the
// server accepts connections.
func (s *Server) Start(ctx context.Context) (err error) {
	if err := s.Remove(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("start a server on storage class %s: %w", s.class, err)
			err = errors.Join(err, s.Remove())
		}
	}()
	p := s.provisioner
	if err := p.makeSecret(ctx); err != nil {
		return err
	}
	s.told = map[string]bool{}
	// The class binds the claim when it is made, or when the pod that mounts it is placed.
	claim := p.objects.Claim.DeepCopy()
	claim.Name = s.name
	claim.Spec.StorageClassName = &s.class
	if err := p.createObject(ctx, "persistentvolumeclaims", claim); err != nil {
		return err
	}
	pod := p.objects.Pod.DeepCopy()
	pod.Name = s.name
	for i := range pod.Spec.Volumes {
		if claim := pod.Spec.Volumes[i].PersistentVolumeClaim; claim != nil {
			claim.ClaimName = s.name
		}
	}
	if err := p.createObject(ctx, "pods", pod); err != nil {
		return err
	}
	s.pod = pod
	return s.awaitReady(ctx, claim.UID)
}

// awaitReady waits until the pod is ready. It tells what the cluster warns of as it comes, and
// gives up where that lasts, unless a node is being added.
func (s *Server) awaitReady(ctx context.Context, claim types.UID) error {
	var heldUp time.Time
	deadline := time.Now().Add(startTime)
	for {
		err := s.provisioner.askFor(ctx, "pods", s.name).Into(s.pod)
		if apierrors.IsNotFound(err) {
			return err
		}
		if err == nil { // else the cluster is away for now
			ready, err := readPod(s.pod)
			if ready || err != nil {
				return err
			}
		}
		warning, scaling := s.readEvents(ctx, claim)
		switch {
		case scaling || warning == "" && !lacksImage(s.pod):
			heldUp = time.Time{} // what comes is counted from its own beginning
		case heldUp.IsZero():
			heldUp = time.Now()
		case time.Since(heldUp) > heldUpTime && warning != "":
			return errors.New(warning)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("it is not ready after %s: %s", startTime, s.pod.Status.Phase)
		}
		if !progress.Pause(ctx, pollTime) {
			return context.Cause(ctx)
		}
	}
}

// lacksImage says whether a container waits for an image that could not be pulled. Of that the
// events may be gone before it is given up.
func lacksImage(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		return c.State.Waiting != nil && slices.Contains(noImage, c.State.Waiting.Reason)
	})
}

// readPod says whether a pod can serve, or why it never will.
func readPod(pod *corev1.Pod) (ready bool, err error) {
	if pod.DeletionTimestamp != nil {
		return false, fmt.Errorf("its pod %s is being deleted", pod.Name)
	}
	for _, c := range pod.Status.ContainerStatuses {
		if ended := c.State.Terminated; ended != nil {
			return false, fmt.Errorf("container %s of its pod %s ended: %s, exit code %d %s",
				c.Name, pod.Name, ended.Reason, ended.ExitCode, strings.TrimSpace(ended.Message))
		}
	}
	if pod.Status.Phase == corev1.PodFailed {
		return false, fmt.Errorf("its pod %s failed: %s %s",
			pod.Name, pod.Status.Reason, pod.Status.Message)
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue, nil
		}
	}
	return false, nil
}

// readEvents tells the warnings of the pod and the claim that were not told yet, and gives the
// last, unless the pod has come on since; empty: there is none. Scaling says that the cluster adds
// a node.
func (s *Server) readEvents(ctx context.Context, claim types.UID) (last string, scaling bool) {
	var all corev1.EventList
	p := s.provisioner
	request := p.core.Get().Namespace(p.job.Namespace).Resource("events").
		Param("fieldSelector", "involvedObject.name="+s.name)
	if err := request.Do(ctx).Into(&all); err != nil {
		return "", false
	}
	slices.SortStableFunc(all.Items, func(a, b corev1.Event) int {
		return timeOf(a).Compare(timeOf(b))
	})
	for _, e := range all.Items {
		// Each run's objects have the same names: those of earlier ones are told apart by UID.
		if uid := e.InvolvedObject.UID; uid != s.pod.UID && uid != claim {
			continue
		}
		scaling = scaling || slices.Contains(scalesUp, e.Reason)
		if slices.Contains(comesOn, e.Reason) {
			last = ""
		}
		if e.Type != corev1.EventTypeWarning || e.Reason == notYet {
			continue
		}
		warning := fmt.Sprintf("%s %s: %s: %s",
			e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Reason, e.Message)
		if !s.told[warning] {
			s.told[warning] = true
			p.tell("%s", warning)
		}
		if e.Reason != noSecret {
			last = warning
		}
	}
	return last, scaling
}

// timeOf is when an event happened last: which of the three fields says so depends on who noted it.
func timeOf(e corev1.Event) time.Time {
	return slices.MaxFunc(
		[]time.Time{e.LastTimestamp.Time, e.EventTime.Time, e.CreationTimestamp.Time},
		time.Time.Compare)
}

// FindLoss says how the server was lost, as the cluster tells it; nil: it was not, or that is
// unknown.
func (s *Server) FindLoss(ctx context.Context) error {
	var pod corev1.Pod
	err := s.provisioner.askFor(ctx, "pods", s.name).Into(&pod)
	switch {
	case apierrors.IsNotFound(err):
		err = fmt.Errorf("its pod %s is gone", s.name)
	case err != nil: // the cluster is away, and the server may be well
		return nil
	default:
		var ready bool
		if ready, err = readPod(&pod); err == nil && !ready {
			// The claim was bound before the run: only the pod's events can say why.
			warning, _ := s.readEvents(ctx, "")
			err = errors.New(cmp.Or(warning, "its pod "+s.name+" is not ready"))
		}
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("the server on storage class %s was lost: %w", s.class, err)
}

// WatchPod gives a context that is done, with the reason as its cause, where the cluster takes the
// server away or its node does not answer.
func (s *Server) WatchPod(ctx context.Context) (watched context.Context, end func()) {
	watched, lose := context.WithCancelCause(context.Background())
	return watched, progress.Watch(ctx, pollTime, func(ctx context.Context) bool {
		err := s.FindLoss(ctx)
		if err != nil {
			lose(err)
		}
		return err == nil
	})
}

// Remove removes the server and its claim, and waits until both are gone. It does so also where all
// else has been stopped. Its error names what is still there, and the command that removes it.
func (s *Server) Remove() error {
	s.pod = nil
	for end := time.Now().Add(removeTime); ; time.Sleep(pollTime) {
		var there []string
		// Both each time: the cluster keeps a claim for as long as a pod uses it.
		for _, kind := range []string{"pod", "persistentvolumeclaim"} {
			gone, err := s.provisioner.removeObject(kind+"s", s.name)
			if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
				return err // the Job's rights are deleted first: the cluster removes its things
			}
			if !gone {
				there = append(there, kind+"/"+s.name)
			}
		}
		if len(there) == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s is still there after %s; kubectl delete --namespace %s --force "+
				"--grace-period=0 %s removes it", strings.Join(there, " and "), removeTime,
				s.provisioner.job.Namespace, strings.Join(there, " "))
		}
	}
}

// URL is the address of a database of the server that was started.
func (s *Server) URL(database string) string {
	u := url.URL{
		Scheme: "postgres",
		User:   url.UserPassword(databaseUser, s.provisioner.password),
		Host:   net.JoinHostPort(s.pod.Status.PodIP, postgresPort),
		Path:   "/" + database,
	}
	return u.String()
}

// Exporter is the address of the figures of the server's node and of the claim's drive.
func (s *Server) Exporter() string {
	return "http://" + net.JoinHostPort(s.pod.Status.PodIP, exporterPort) + "/metrics"
}
