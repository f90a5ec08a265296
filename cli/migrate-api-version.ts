import { migrateStoredVersions, readStoredVersions } from "../controller/cluster/kubernetes/api/stored-versions.ts";
import { KINDS, type Kind } from "../domain/kinds/kinds.ts";
import { systemClock } from "../runtime/clock.ts";
import { setting } from "../runtime/settings.ts";
import type { AddCommand } from "./command/command.ts";
import { outputOption, outputText, type StructuredFormat } from "./output/output.ts";

type Flags = { readonly kubeconfig?: string; readonly dryRun?: boolean; readonly output?: StructuredFormat };

/** Migration of one kind, done or planned. */
type Migrated = {
  readonly kind: Kind;
  /** Version that declarations are stored in. */
  readonly storage: string;
  /** Other versions that some declarations may be stored in. */
  readonly others: readonly string[];
  /** Number of objects that were written again; null if nothing was done. */
  readonly objects: number | null;
};

/** Adds `keyplane migrate-api-version`, which must run before an upgrade can drop an old version of the kinds. */
export const addMigrateApiVersion: AddCommand = (program, { env, out, progress }) => {
  program
    .command("migrate-api-version")
    .description("rewrite all declarations of a cluster in the API version that its CRDs store")
    .setting("--kubeconfig <file>", "an administrator's kubeconfig: this writes every declaration and the CRDs' status")
    .option("--dry-run", "show the steps without running them")
    .addOption(outputOption())
    .example(
      "keyplane migrate-api-version --kubeconfig ~/.kube/config --dry-run",
      "show what is stored in which version",
    )
    .example("keyplane migrate-api-version", "migrate the cluster of kubectl's current context")
    .action(async ({ kubeconfig, dryRun = false, output }: Flags) => {
      // Only here: the Kubernetes client takes a second to load, which no other command should wait for.
      const [{ connect }, { createApiClient }] = await Promise.all([
        import("../controller/cluster/kubernetes/api/connection.ts"),
        import("../controller/cluster/kubernetes/api/api-client.ts"),
      ]);
      const connection = connect(setting(env, "kubeconfig", kubeconfig), systemClock);
      const warn = (text: string) => output === undefined && out(text);
      const api = createApiClient({ connection, random: Math.random, log: (_level, text) => warn(text) });
      const kinds: Migrated[] = [];
      try {
        for (const kind of KINDS) {
          const versions = await readStoredVersions(api, kind);
          const { storage } = versions;
          const others = versions.stored.filter((version) => version !== storage);
          const isDone = others.length === 0 || dryRun;
          const move = () => migrateStoredVersions(api, kind, versions);
          const objects = isDone ? null : await progress.during(`storing ${kind}s as ${storage}`, move);
          kinds.push({ kind, storage, others, objects });
          if (output === undefined) out(inWords({ kind, storage, others, objects }));
        }
        if (output !== undefined) out(outputText({ dryRun, kinds }, output));
      } finally {
        api.close();
      }
    });
};

function inWords({ kind, storage, others, objects }: Migrated): string {
  if (others.length === 0) return `${kind}: all are stored as ${storage}`;
  const before = others.join(", ");
  if (objects === null) return `${kind}: some may be stored as ${before}, to become ${storage}`;
  return `${kind}: ${objects} objects, all stored as ${storage} now; before also ${before}`;
}
