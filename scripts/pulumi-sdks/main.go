// Package main writes the SDK of a Pulumi package in one language, as `pulumi package add` does. The CLI takes that from
// a plugin for each language, of which there is no Go module; these are the same generators.
//
// Arguments: the schema's file, `python` or `go`, and the folder to write to.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	golang "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

func main() {
	files, err := generate(os.Args[1], os.Args[2])
	for name, content := range files {
		if err == nil {
			err = write(filepath.Join(os.Args[3], name), content)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
}

func generate(schemaFile, language string) (map[string][]byte, error) {
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		return nil, err
	}
	var spec schema.PackageSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		return nil, err
	}
	pkg, err := schema.ImportSpec(spec, nil, schema.ValidationOptions{})
	if err != nil {
		return nil, err
	}
	// As the command does: with the files by which a program takes it out of a folder.
	pkg.SupportPack = true
	switch language {
	case "python":
		return python.GeneratePackage("keyplane", pkg, nil, nil)
	case "go":
		return golang.GeneratePackage("keyplane", pkg, nil)
	}
	return nil, fmt.Errorf("no generator for %s", language)
}

func write(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
