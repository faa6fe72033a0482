package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

var echartsVersion = regexp.MustCompile(`\bversion="(\d+\.\d+\.\d+)"`)

// billOfMaterials writes what a binary consists of, as it says itself: ds2, Go's standard library, the modules that are
// linked, and the charts' script in its pages.
func (r *release) billOfMaterials(b binary) error {
	script, err := os.ReadFile(filepath.Join(r.source, "internal/report/page/echarts.common.min.js"))
	if err != nil {
		return err
	}
	charts := echartsVersion.FindSubmatch(script)
	if charts == nil {
		return fmt.Errorf("no version in the charts' script")
	}
	apache := &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}
	sum := fmt.Sprintf("%x", sha256.Sum256(b.content))
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: r.time.Format(time.RFC3339),
		Component: &cdx.Component{
			BOMRef: "ds2", Type: cdx.ComponentTypeApplication, Name: "ds2", Version: r.version, Licenses: apache,
			Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum}},
			Properties: &[]cdx.Property{{Name: "GOOS", Value: b.os}, {Name: "GOARCH", Value: b.arch}},
		},
	}
	var refs []string
	var components []cdx.Component
	add := func(name, version, purl string, licenses *cdx.Licenses, properties ...cdx.Property) {
		c := cdx.Component{
			BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: name, Version: version,
			PackageURL: purl, Licenses: licenses,
		}
		if len(properties) > 0 {
			c.Properties = &properties
		}
		components, refs = append(components, c), append(refs, purl)
	}
	standard := strings.TrimPrefix(b.info.GoVersion, "go")
	add("std", standard, "pkg:golang/std@"+standard, nil)
	for _, m := range b.info.Deps {
		for m.Replace != nil {
			m = m.Replace
		}
		add(m.Path, m.Version, "pkg:golang/"+m.Path+"@"+m.Version, nil, cdx.Property{Name: "go.sum", Value: m.Sum})
	}
	version := string(charts[1])
	add("echarts", version, "pkg:npm/echarts@"+version, apache)
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: "ds2", Dependencies: &refs}}
	return r.create(fmt.Sprintf("ds2_%s_%s.cdx.json", r.version, b), func(w io.Writer) error {
		return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	})
}
