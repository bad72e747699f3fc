// SPDX-License-Identifier: GPL-2.0-or-later

//go:build tools

// Package tools names the programs that tests/e2e/build-tools.sh builds from
// this module, so that go.mod and go.sum pin them and all that they import.
package tools

import (
	_ "helm.sh/helm/v3/cmd/helm"
)
