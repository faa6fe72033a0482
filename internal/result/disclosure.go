package result

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Disclosures are what a reader of published figures asks of a configuration, by their keys in the file of an experiment.
var Disclosures = []string{"array", "firmware", "raid", "cache", "compression", "file-system", "price"}

// PriceKey is the disclosure that is an amount and its currency, such as "12000 USD".
const PriceKey = "price"

// CheckDisclosure refuses what nobody asks for, and a price that is none. Empty values are what is not stated.
func CheckDisclosure(stated map[string]string) error {
	for key := range stated {
		if !slices.Contains(Disclosures, key) {
			return fmt.Errorf("unknown key %q: keys are %s", key, strings.Join(Disclosures, ", "))
		}
	}
	if stated[PriceKey] == "" {
		return nil
	}
	_, _, err := ParsePrice(stated[PriceKey])
	return err
}

// ParsePrice reads an amount and its currency.
func ParsePrice(text string) (amount float64, currency string, err error) {
	number, currency, _ := strings.Cut(strings.TrimSpace(text), " ")
	amount, err = strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
	if err != nil || !(amount > 0) || amount > 1e15 || strings.TrimSpace(currency) == "" {
		return 0, "", fmt.Errorf("invalid price %q: write an amount and its currency, such as 12000 USD", text)
	}
	return amount, strings.TrimSpace(currency), nil
}
