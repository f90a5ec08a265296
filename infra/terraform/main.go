// The provider of Keyplane for OpenTofu and Terraform, as a process that these start.
package main

import (
	"context"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"keyplane.dev/terraform-provider-keyplane/internal/provider"
)

// Address is what a configuration names as the provider's source.
const Address = "keyplane.dev/keyplane/keyplane"

func main() {
	if err := providerserver.Serve(context.Background(), provider.New, providerserver.ServeOpts{Address: Address}); err != nil {
		log.Fatal(err)
	}
}
