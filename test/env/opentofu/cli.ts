import { findGoProgram } from "../go/go-program.ts";

/** The path of OpenTofu's CLI, as {@link findGoProgram} finds it. */
export function findTofu(): Promise<string> {
  return findGoProgram({
    name: "tofu",
    variable: "TOFU_BIN",
    module: "opentofu",
    package: "github.com/opentofu/opentofu/cmd/tofu",
    // Otherwise it takes itself for a version that is being developed.
    flags: () => "-X github.com/opentofu/opentofu/version.dev=no",
  });
}
