package store

// Placed is a table or an index and where it lies.
type Placed struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`  // "table" or "index"
	Place string `json:"place"` // tablespace or filegroup, with its directory where that is known
	Bytes int64  `json:"bytes"`
}

// Columns are those of a query for it.
func (p *Placed) Columns() []any { return []any{&p.Name, &p.Kind, &p.Place, &p.Bytes} }
