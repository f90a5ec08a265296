import { migrateStoredVersions, readStoredVersions } from "../controller/cluster/kubernetes/api/stored-versions.ts";
import { KINDS } from "../domain/manifest/kinds.ts";
import { systemClock } from "../runtime/clock.ts";
import type { AddCommand } from "./command.ts";
import { setting } from "./config.ts";

type Flags = { readonly kubeconfig?: string; readonly dryRun?: boolean };

/** `keyplane migrate-api-version`: what an upgrade needs before it can leave an old version of our kinds behind. */
export const addMigrateApiVersion: AddCommand = (program, { env, out }) => {
  program
    .command("migrate-api-version")
    .description("have the cluster store all declarations under the version that crds/ stores")
    .setting("--kubeconfig <file>", "of an administrator: this writes every declaration, and the definitions' status")
    .option("--dry-run", "show what would be done, and change nothing")
    .example("keyplane migrate-api-version --kubeconfig ~/.kube/config --dry-run", "see what is stored under which")
    .example("keyplane migrate-api-version", "move it, in the cluster of kubectl's current context")
    .action(async (flags: Flags) => {
      // Only here: the Kubernetes client takes a second to load, which no other command should wait for.
      const [{ connect }, { createApiClient }] = await Promise.all([
        import("../controller/cluster/kubernetes/api/connection.ts"),
        import("../controller/cluster/kubernetes/api/api-client.ts"),
      ]);
      const connection = connect(setting(env, "kubeconfig", flags.kubeconfig), systemClock);
      const api = createApiClient({ connection, random: Math.random, log: (_level, text) => out(text) });
      try {
        for (const kind of KINDS) {
          const versions = await readStoredVersions(api, kind);
          const others = versions.stored.filter((version) => version !== versions.storage);
          if (others.length === 0) out(`${kind}: all are stored as ${versions.storage}`);
          else if (flags.dryRun)
            out(`${kind}: some may be stored as ${others.join(", ")}, to become ${versions.storage}`);
          else {
            const count = await migrateStoredVersions(api, kind, versions);
            out(`${kind}: ${count} objects, all stored as ${versions.storage} now; before also ${others.join(", ")}`);
          }
        }
      } finally {
        api.close();
      }
    });
};
