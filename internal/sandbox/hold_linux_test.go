package sandbox

import (
	"context"
	"fmt"
	"os"

	"github.com/touchstone-gate/touchstone/gate"
)

// holdState runs a state of the tree args[0] until it is killed; args[2] and
// args[3] may name another kind and its image.
func holdState(args []string) int {
	opts := Options{Kind: "overlay", Root: args[0]}
	if len(args) > 2 {
		opts.Kind, opts.Image = args[2], args[3]
	}
	box, err := New(context.Background(), opts)
	if err == nil {
		var st *State
		if st, err = box.State(context.Background(), nil); err == nil {
			fmt.Println("ready")
			_, err = st.Run(context.Background(), gate.Command{Argv: []string{"sleep", args[1]}})
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// printKind prints what kind of sandbox the tree args[0] gets here, and why.
func printKind(args []string) int {
	box, err := New(context.Background(), Options{Root: args[0]})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(box.Kind(), box.Reason())
	return 0
}
