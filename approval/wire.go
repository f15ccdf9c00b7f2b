package approval

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A vote is a small enumeration whose zero value is null on the wire.
type vote interface{ ~uint8 }

func nameOf[T vote](names []string, v T, zero string) string {
	if v != 0 && int(v) < len(names) {
		return names[v]
	}
	return zero
}

func parseName[T vote](what string, names []string, name string) (T, error) {
	for i, n := range names {
		if i > 0 && n == name {
			return T(i), nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q (want %s)", what, name, strings.Join(names[1:], ", "))
}

func marshalName[T vote](names []string, v T) ([]byte, error) {
	if v == 0 {
		return []byte("null"), nil
	}
	if int(v) >= len(names) {
		return nil, fmt.Errorf("value %d has no name", v)
	}
	return []byte(`"` + names[v] + `"`), nil
}

func unmarshalName[T vote](what string, names []string, b []byte, v *T) error {
	if string(b) == "null" {
		*v = 0
		return nil
	}
	var name string
	if err := json.Unmarshal(b, &name); err != nil {
		return fmt.Errorf("a %s is a string (%s) or null", what, strings.Join(names[1:], ", "))
	}
	parsed, err := parseName[T](what, names, name)
	if err != nil {
		return err
	}
	*v = parsed
	return nil
}

// The two bits of the law, approved and orchestrationResult, are 1 for false
// and 2 for true.
func marshalBool[T vote](v T) ([]byte, error) {
	switch v {
	case 0:
		return []byte("null"), nil
	case 1:
		return []byte("false"), nil
	case 2:
		return []byte("true"), nil
	}
	return nil, fmt.Errorf("value %d is neither true nor false", v)
}

func unmarshalBool[T vote](b []byte, v *T) error {
	switch string(b) {
	case "null":
		*v = 0
	case "false":
		*v = 1
	case "true":
		*v = 2
	default:
		return fmt.Errorf("want true, false or null")
	}
	return nil
}
