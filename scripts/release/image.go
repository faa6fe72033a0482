package main

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// imageUser is whom the image runs as, and whose its working directory is.
const imageUser = 10001

type image struct {
	platform
	v1.Image
}

// image makes the image of nothing but the binary and the certificates of the authorities that Mozilla trusts, and
// writes it as docker load takes it.
func (r *release) image(b binary) (image, error) {
	var system, own bytes.Buffer
	if err := tarred(&system, r.time, 0, []entry{
		{"etc/", 0o755, nil}, {"etc/ssl/", 0o755, nil}, {"etc/ssl/certs/", 0o755, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, certificates()},
		{"ds2", 0o755, b.content},
	}); err != nil {
		return image{}, err
	}
	if err := tarred(&own, r.time, imageUser, []entry{{"work/", 0o755, nil}}); err != nil {
		return image{}, err
	}
	oci := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	i := image{b.platform, mutate.ConfigMediaType(oci, types.OCIConfigJSON)}
	for _, layer := range []struct {
		tar []byte
		by  string
	}{{system.Bytes(), "ds2 and certificates"}, {own.Bytes(), "working directory"}} {
		open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(layer.tar)), nil }
		l, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
		if err != nil {
			return image{}, err
		}
		history := v1.History{Created: v1.Time{Time: r.time}, CreatedBy: layer.by}
		i.Image, err = mutate.Append(i.Image, mutate.Addendum{Layer: l, MediaType: types.OCILayer, History: history})
		if err != nil {
			return image{}, err
		}
	}
	config, err := i.ConfigFile()
	if err != nil {
		return image{}, err
	}
	config = config.DeepCopy()
	config.Created, config.OS, config.Architecture = v1.Time{Time: r.time}, b.os, b.arch
	config.Config = v1.Config{
		Entrypoint: []string{"/ds2"}, User: fmt.Sprintf("%d:%d", imageUser, imageUser), WorkingDir: "/work",
		ExposedPorts: map[string]struct{}{"9464/tcp": {}}, // /metrics
		Labels: map[string]string{
			"org.opencontainers.image.title":    "ds2",
			"org.opencontainers.image.version":  r.version,
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	if i.Image, err = mutate.ConfigFile(i.Image, config); err != nil {
		return image{}, err
	}
	tags := map[name.Reference]v1.Image{}
	for _, text := range []string{"ds2:" + r.version, "ds2:latest"} {
		tag, err := name.NewTag(text)
		if err != nil {
			return image{}, err
		}
		tags[tag] = i.Image
	}
	entries, err := dockerArchive(i, tags)
	if err != nil {
		return image{}, err
	}
	return i, r.createTar(fmt.Sprintf("ds2_%s_image_%s.tar", r.version, b.arch), entries)
}

// dockerArchive is what tarball.MultiRefWrite writes, but with the tags in order, which differs there from one time to
// the next.
func dockerArchive(i image, tags map[name.Reference]v1.Image) ([]entry, error) {
	manifest, err := tarball.ComputeManifest(tags)
	if err != nil {
		return nil, err
	}
	one := &manifest[0]
	slices.Sort(one.RepoTags)
	text, err := json.Marshal(manifest)
	if err != nil {
		return nil, err
	}
	config, err := i.RawConfigFile()
	if err != nil {
		return nil, err
	}
	entries := []entry{{"manifest.json", 0o644, text}, {one.Config, 0o644, config}}
	layers, err := i.Layers()
	if err != nil {
		return nil, err
	}
	for k, layer := range layers {
		reader, err := layer.Compressed()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(reader)
		if err := errors.Join(err, reader.Close()); err != nil {
			return nil, err
		}
		entries = append(entries, entry{one.Layers[k], 0o644, content})
	}
	return entries, nil
}

// imageOfAll writes the images of all processors as one OCI archive, for registries and for what reads an index.
func (r *release) imageOfAll(images []image) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, i := range images {
		of := v1.Descriptor{Platform: &v1.Platform{OS: i.os, Architecture: i.arch}}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: i.Image, Descriptor: of})
	}
	latest := v1.Descriptor{Annotations: map[string]string{"org.opencontainers.image.ref.name": "latest"}}
	top := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	top = mutate.AppendManifests(top, mutate.IndexAddendum{Add: index, Descriptor: latest})
	dir := filepath.Join(r.work, "image")
	if _, err := layout.Write(dir, top); err != nil {
		return fmt.Errorf("write image: %w", err)
	}
	entries := []entry{{"blobs/", 0o755, nil}, {"blobs/sha256/", 0o755, nil}}
	blobs, err := fs.Glob(os.DirFS(dir), "blobs/sha256/*")
	if err != nil {
		return err
	}
	for _, name := range append([]string{"index.json", "oci-layout"}, blobs...) {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		entries = append(entries, entry{name, 0o644, content})
	}
	return r.createTar(fmt.Sprintf("ds2_%s_image.oci.tar", r.version), entries)
}

// certificates are those of Mozilla's list, as far as they have no conditions that a file cannot state.
func certificates() []byte {
	var all []byte
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			all = append(all, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})...)
		}
	}
	return all
}
