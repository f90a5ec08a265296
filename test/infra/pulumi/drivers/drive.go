package main

import (
	"bufio"
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// drive brings a program up, prints its outputs as one line of JSON, and once a line has come brings it down again.
func drive(program pulumi.RunFunc) {
	ctx := context.Background()
	stack, err := auto.NewStackInlineSource(ctx, "test", "keys", program)
	check(err)
	up, err := stack.Up(ctx)
	check(err)
	outputs := map[string]map[string]any{}
	for name, output := range up.Outputs {
		outputs[name] = map[string]any{"value": output.Value, "secret": output.Secret}
	}
	check(json.NewEncoder(os.Stdout).Encode(outputs))
	_, err = bufio.NewReader(os.Stdin).ReadString('\n')
	check(err)
	_, err = stack.Destroy(ctx)
	check(err)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
