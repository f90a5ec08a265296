import { API_VERSIONS, KINDS } from "../../domain/kinds/kinds.ts";
import { MIN_SCHEMA_VERSION, SCHEMA_VERSION } from "../../store/database/migrate/migrate.ts";
import type { AddCommand } from "../command/command.ts";
import { outputOption, outputText, type StructuredFormat } from "../output/output.ts";
import { checkoutCommit } from "./checkout-commit.ts";
import { COMMIT } from "./commit.ts";
import { packageFolder, packageVersion } from "./package-version.ts";

/** Adds `keyplane version`, which prints what a bug report needs and what an upgrade depends on. It asks no server. */
export const addVersion: AddCommand = (program, { out }) => {
  program
    .command("version")
    .description("show the version, commit, database schema and served kinds")
    .addOption(outputOption())
    .example("keyplane version", "for a person")
    .example("keyplane version -o json", "for a program")
    .action(({ output }: { readonly output?: StructuredFormat }) => {
      out(output === undefined ? inWords(builtIn()) : outputText(builtIn(), output));
    });
};

type BuiltIn = ReturnType<typeof builtIn>;

function builtIn() {
  return {
    version: packageVersion(),
    commit: COMMIT ?? checkoutCommit(packageFolder()),
    node: process.versions.node,
    schema: { version: SCHEMA_VERSION, oldest: MIN_SCHEMA_VERSION },
    crds: KINDS.map((kind) => ({ kind, apiVersions: [...API_VERSIONS] })),
  };
}

function inWords({ version, commit, node, schema, crds }: BuiltIn): string {
  return [
    `keyplane ${version}`,
    `commit   ${commit ?? "unknown"}`,
    `node     ${node}`,
    `schema   ${schema.version}; migrate brings ${schema.oldest} and later to it`,
    ...crds.map(({ kind, apiVersions }) => `kind     ${kind}, ${apiVersions.join(", ")}`),
  ].join("\n");
}
