import { findGoProgram } from "../go/go-program.ts";

/** The path of what writes the SDKs of a package, as {@link findGoProgram} finds it: scripts/pulumi-sdks. */
export function findPulumiSdks(): Promise<string> {
  const module = "../../scripts/pulumi-sdks";
  return findGoProgram({ name: "pulumi-sdks", variable: "PULUMI_SDKS_BIN", module, package: "." });
}

/** The path of what runs Pulumi programs in YAML, as {@link findGoProgram} finds it. */
export function findPulumiYaml(): Promise<string> {
  return findGoProgram({
    name: "pulumi-language-yaml",
    variable: "PULUMI_YAML_BIN",
    module: "pulumi/yaml",
    package: "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
  });
}

/** The path of a Pulumi CLI, as {@link findGoProgram} finds it. */
export function findPulumi(): Promise<string> {
  return findGoProgram({
    name: "pulumi",
    variable: "PULUMI_BIN",
    module: "pulumi/cli",
    package: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
    // The Automation API refuses a CLI without a version.
    flags: (versionOf) =>
      `-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=${versionOf("github.com/pulumi/pulumi/pkg/v3")}`,
  });
}
