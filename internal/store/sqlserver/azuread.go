//go:build azuread

package sqlserver

import "github.com/microsoft/go-mssqldb/azuread"

func init() { newFedAuthConnector = azuread.NewConnector }
