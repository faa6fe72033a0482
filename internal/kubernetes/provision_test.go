package kubernetes

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// TestRemoveWithoutRights: where the Job was deleted and its rights with it, ds2 does not stay to
// ask again: the cluster removes what is the Job's.
func TestRemoveWithoutRights(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		json.NewEncoder(w).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status:   metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: 403,
			Message: "pods is forbidden",
		})
	}))
	defer api.Close()
	core, err := newClient(&rest.Config{Host: api.URL})
	require.NoError(t, err)
	p := &Provisioner{core: core, job: Job{Namespace: "bench", Name: "ds2-compare"}}
	begin := time.Now()
	err = p.AddServer("gp3", "gp3").Remove()
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.Less(t, time.Since(begin), removeTime)
}
