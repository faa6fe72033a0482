package result

// Cluster is where Kubernetes ran the server of a run, as far as it tells. What only the cluster's
// own rights show, such as the parameters of a storage class, may be unknown.
type Cluster struct {
	Version      string            `json:"version,omitempty"`
	StorageClass string            `json:"storage_class"`
	Provisioner  string            `json:"provisioner,omitempty"`
	Parameters   map[string]string `json:"parameters,omitempty"` // of the class
	Volume       string            `json:"volume,omitempty"`     // that the claim is bound to
	VolumeSize   string            `json:"volume_size,omitempty"`
	AccessModes  []string          `json:"access_modes,omitempty"`
	VolumeMode   string            `json:"volume_mode,omitempty"`
	Node         string            `json:"node,omitempty"`          // of the server
	InstanceType string            `json:"instance_type,omitempty"` // of that
	DriverNode   string            `json:"driver_node,omitempty"`   // of ds2
}
