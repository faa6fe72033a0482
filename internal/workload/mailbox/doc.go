// Package mailbox is the workload of a mailbox store: records of a page each are inserted, deleted, replaced and read
// by random keys in a fixed mix, a share of the commits lazy, and what counts is the reads and writes a second that the
// drives of the data do within limits on their latency. It has the I/O profile and the method of Microsoft's Jetstress,
// not its engine: no figure of it is a Jetstress or ESRP result. The facts and their sources are in
// mailbox/WORKLOAD.md, what differs and why in docs/howto/mailbox.md. Calls on an engine are in the rooms below; this
// one knows no database driver.
package mailbox
