package main

import (
	"maps"
	"slices"

	"github.com/spf13/pflag"
)

// jsonSchema is a JSON Schema, or a part of one.
type jsonSchema map[string]any

// experimentSchema describes the file of an experiment for editors, which complete and check it. It
// is made from the flags that are the file's keys.
func experimentSchema() jsonSchema {
	ofRuns := flagSchemas(new(variant).add)
	// A flag may stand at three places: for all configurations, for one, and with several values as
	// a factor.
	configuration := maps.Clone(ofRuns)
	configuration["labels"] = jsonSchema{
		"type": "object", "description": "your own words for the report, such as array: 24 disks",
	}
	factors := jsonSchema{}
	for name, schema := range ofRuns {
		factors[name] = jsonSchema{"type": "array", "items": schema, "minItems": 1}
	}
	all := ofRuns
	maps.Copy(all, flagSchemas(new(experimentSetup).add))
	all["factors"] = closedObject("flags with a list of values; each configuration runs with each",
		factors)
	all["configurations"] = jsonSchema{
		"type":        "object",
		"description": "what is compared, by name",
		"additionalProperties": closedObject("flags of one configuration, before those of all",
			configuration),
	}
	schema := closedObject("The file of an experiment of ds2", all)
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	return schema
}

func closedObject(description string, properties jsonSchema) jsonSchema {
	return jsonSchema{
		"type": "object", "description": description, "properties": properties,
		"additionalProperties": false,
	}
}

// flagSchemas describe the keys of a file that are flags.
func flagSchemas(add func(*pflag.FlagSet)) jsonSchema {
	all := jsonSchema{}
	newFlagSet(add).VisitAll(func(f *pflag.Flag) {
		if slices.Contains(notInFile, f.Name) || f.Hidden {
			return
		}
		// YAML takes 20 for a number and true for a boolean; all become the text that the flag
		// reads.
		one := jsonSchema{"type": []string{"string", "number", "boolean"}}
		if choice, ok := f.Value.(choice); ok {
			one = jsonSchema{"enum": choice.of}
		}
		schema := maps.Clone(one)
		if _, repeated := f.Value.(pflag.SliceValue); repeated {
			schema = jsonSchema{"anyOf": []jsonSchema{one, {"type": "array", "items": one}}}
		}
		if f.Name == "disclosure" {
			schema = jsonSchema{"type": []string{"string", "array", "object"}}
		}
		schema["description"] = f.Usage
		all[f.Name] = schema
	})
	return all
}
