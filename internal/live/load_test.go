package live

import (
	"testing"
	"testing/synctest"
	"time"

	"ds2/datagen"
	"ds2/internal/progress"
)

// TestLoadShow follows a load second by second.
func TestLoadShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLoad(progress.Ignore)
		show := l.Show("size S into db1")
		l.Tell("data", 0, 0)
		if f := show.Now(); f.Values != nil || f.Share != nil || f.Phase != "data" {
			t.Errorf("at its begin a load stands at %+v", f)
		}
		l.Copied(datagen.Orders, 4000, 2e6)
		l.Copied(datagen.Customers, 1000, 2e6)
		l.Tell("data", 0, 100)
		time.Sleep(time.Second)
		l.Tell("data, vacuum orders, vacuum products", 25, 100)
		time.Sleep(time.Second)
		f := show.Now()
		if f.At != 2 || *f.Values[0] != 2500 || *f.Values[1] != 2 {
			t.Errorf("after two seconds %v rows and %v MB a second at %v, want 2500 and 2 at 2", *f.Values[0],
				*f.Values[1], f.At)
		}
		if f.Headline != "25 %" || f.Left != "about 2s left" || *f.Share != 0.25 ||
			f.Doing != "vacuum orders, vacuum products" || f.Facts[0].Value != "5,000" {
			t.Errorf("after two seconds: %+v", f)
		}
		if f := show.Now(); f.At != 2 || f.Values != nil {
			t.Errorf("asked twice within a second: %+v", f)
		}
		l.Tell("indexes", 30, 100)
		time.Sleep(time.Second)
		if f := show.Now(); *f.Values[0] != 0 || f.Doing != "" || f.Phase != "indexes" {
			t.Errorf("while indexes are built: %+v", f)
		}
	})
}
