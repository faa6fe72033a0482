// Package numbers writes numbers for readers, the same in reports, on terminals and in what records
// say in words.
package numbers

import (
	"fmt"
	"math"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// english writes numbers alike on all machines, whatever their locale: reports of two are compared.
var english = message.NewPrinter(language.English)

// Decimals prints a number with n decimals and commas between thousands.
func Decimals(f float64, decimals int) string { return english.Sprintf("%.*f", decimals, f) }

// Integer prints a whole number with commas between thousands.
func Integer[N int | int64](n N) string { return english.Sprintf("%d", n) }

// Worth prints a figure with as many digits as half the width of its interval carries: two of that.
// Without an interval it has one decimal; from 100 on it has none in any case.
func Worth(f, half float64) string {
	digits := 1
	if half > 0 {
		digits -= int(math.Floor(math.Log10(half)))
	}
	if math.Abs(f) >= 100 {
		digits = min(digits, 0)
	}
	scale := math.Pow(10, float64(digits))
	return Decimals(math.Round(f*scale)/scale, max(digits, 0)) // rounded once: 106.53 ± 8 is 107
}

// Bytes prints a number of bytes in decimal units, as disks are sold: "13.4 GB".
func Bytes(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	}
	v := float64(n) / 1000
	unit := 0
	for v >= 999.95 && unit < 3 { // 999.96 kB are 1.0 MB
		v /= 1000
		unit++
	}
	return fmt.Sprintf("%.1f %cB", v, "kMGT"[unit])
}

// Times prints a factor: "2.51 ×".
func Times(factor float64) string { return fmt.Sprintf("%.3g ×", factor) }

// Clock prints a time of a run as m:ss.
func Clock(t time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(t.Minutes()), int(t.Seconds())%60)
}

// Share prints a part of a whole in percent; a dash where there is no whole.
func Share[N int64 | float64](part, whole N, decimals int) string {
	if whole == 0 {
		return "–"
	}
	return Decimals(100*float64(part)/float64(whole), decimals) + " %"
}
