package kubernetes

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/version"

	"ds2/internal/result"
)

// provisionerAnnotation is where the cluster notes on a claim who makes its volume.
const provisionerAnnotation = "volume.kubernetes.io/storage-provisioner"

// DescribeCluster says where the server runs. What the Job may not read stays unknown.
func (s *Server) DescribeCluster(ctx context.Context) result.Cluster {
	p := s.provisioner
	c := result.Cluster{
		StorageClass: s.class, Node: s.pod.Spec.NodeName, DriverNode: p.job.Node,
	}
	var of version.Info
	if p.readAt(ctx, "/version", &of) {
		c.Version = of.GitVersion
	}
	var claim corev1.PersistentVolumeClaim
	if p.askFor(ctx, "persistentvolumeclaims", s.name).Into(&claim) == nil {
		c.Volume = claim.Spec.VolumeName
		// A Job that may not read classes learns here at least who made the volume.
		c.Provisioner = claim.Annotations[provisionerAnnotation]
		// The volume may be larger than was asked for, and caps of many clouds grow with its size.
		if size, bound := claim.Status.Capacity[corev1.ResourceStorage]; bound {
			c.VolumeSize = size.String()
		}
		for _, mode := range claim.Status.AccessModes {
			c.AccessModes = append(c.AccessModes, string(mode))
		}
		if mode := claim.Spec.VolumeMode; mode != nil {
			c.VolumeMode = string(*mode)
		}
	}
	// The class may name another provisioner than the claim's note: a driver that took over from
	// one in Kubernetes itself. The class is what the user chose.
	var class storagev1.StorageClass
	if p.readAt(ctx, "/apis/storage.k8s.io/v1/storageclasses/"+s.class, &class) {
		c.Provisioner = class.Provisioner
		c.Parameters = class.Parameters
	}
	var node corev1.Node
	if p.readAt(ctx, "/api/v1/nodes/"+c.Node, &node) {
		c.InstanceType = node.Labels[corev1.LabelInstanceTypeStable]
	}
	return c
}

// readAt reads an object of the cluster's, if the Job may: classes and nodes are in no namespace,
// and take a ClusterRole that users may not be allowed to give.
func (p *Provisioner) readAt(ctx context.Context, path string, into any) bool {
	text, err := p.core.Get().AbsPath(path).Do(ctx).Raw()
	return err == nil && json.Unmarshal(text, into) == nil
}
