package monitor

// Server is what a reader of a result must know of a target's database server, and of the database's own settings.
type Server struct {
	Version  string            `json:"version"` // as the server says it
	Settings map[string]string `json:"settings,omitempty"`

	Container *Container `json:"container,omitempty"` // what it may use of its machine, where that is less than all

	Files []File `json:"-"` // of the database, data before log
}
