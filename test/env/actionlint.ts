import { findGoProgram } from "./go/go-program.ts";

/** The path of the checker of GitHub's workflows, as {@link findGoProgram} finds it. */
export function findActionlint(): Promise<string> {
  return findGoProgram({
    name: "actionlint",
    variable: "ACTIONLINT_BIN",
    module: "actionlint",
    package: "github.com/rhysd/actionlint/cmd/actionlint",
  });
}
