package oracle_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"assent/floor/shell/oracle"
)

func TestTry(t *testing.T) {
	k, err := oracle.NewKit(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w, err := k.NewWorld(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text := os.Getenv("TRY")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	start := time.Now()
	r, err := w.Run(ctx, w.Expand(text))
	fmt.Println(time.Since(start), k.Missing, err)
	for _, f := range r.Facts {
		fmt.Println(f)
	}
	fmt.Printf("%q\n%s\n%s", r.Env, r.Output, r.Errors)
}
