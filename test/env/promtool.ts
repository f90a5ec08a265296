import { findGoProgram } from "./go/go-program.ts";

/** The path of Prometheus' tool that checks and tests rules, as {@link findGoProgram} finds it. */
export function findPromtool(): Promise<string> {
  return findGoProgram({
    name: "promtool",
    variable: "PROMTOOL_BIN",
    module: "prometheus",
    package: "github.com/prometheus/prometheus/cmd/promtool",
    // The clients of every cloud, which no rule needs, would be most of it.
    tags: "remove_all_sd",
  });
}
