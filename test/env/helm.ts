import { findGoProgram } from "./go/go-program.ts";

/** The path of Helm's program, as {@link findGoProgram} finds it. */
export function findHelm(): Promise<string> {
  return findGoProgram({
    name: "helm",
    variable: "HELM_BIN",
    module: "helm",
    package: "helm.sh/helm/v3/cmd/helm",
    flags(versionOf) {
      // What it takes a chart's kubeVersion to be about where it asks no cluster.
      const minor = versionOf("k8s.io/client-go").split(".")[1];
      const kubernetes = ["pkg/chartutil", "pkg/lint/rules"].map(
        (name) => `-X helm.sh/helm/v3/${name}.k8sVersionMajor=1 -X helm.sh/helm/v3/${name}.k8sVersionMinor=${minor}`,
      );
      return [`-X helm.sh/helm/v3/internal/version.version=${versionOf("helm.sh/helm/v3")}`, ...kubernetes].join(" ");
    },
  });
}
