// Command roots prints the certificates of the authorities that Mozilla trusts, as far as they have
// no conditions that a file cannot state: the image has no others.
package main

import (
	"encoding/pem"
	"os"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

func main() {
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(
			os.Stdout,
			&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate},
		); err != nil {
			panic(err)
		}
	}
}
