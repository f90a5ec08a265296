import type { Environment } from "../domain/environment.ts";
import type { KeyJson } from "../server/management/keys/key-json.ts";
import type { AddCommand } from "./command.ts";
import { openManagement, type ServerChoice, serverOptions, waitFor } from "./management/management-client.ts";
import { findNamedKey, keyTitle, NAMED_KEY } from "./management/named-key.ts";

export const addRotate: AddCommand = (program, { env, out }) => {
  serverOptions(
    program
      .command("rotate")
      .description("put a new version of a key into its Secret; the old one goes on for the overlap")
      .argument("<key>", NAMED_KEY),
  )
    .example("keyplane rotate team-a/reader --data .keyplane", "a new version now")
    .example("keyplane rotate team-a/reader --data .keyplane --revoke-old", "and end the old ones with it")
    .option("--revoke-old", "end the old versions as soon as the new one is delivered")
    .action((key, flags) => runRotate(key, flags, env, out));
};

/** How long a controller that is well may take: it is told at once, and waits for every replica. Milliseconds. */
const DELIVERY_MS = 20_000;

/**
 * `keyplane rotate`: asks for a new version, and waits until it is delivered.
 *
 * @throws Error when it is not in time: the request stands all the same
 */
async function runRotate(
  named: string,
  flags: ServerChoice & { readonly revokeOld?: boolean | undefined },
  env: Environment,
  out: (line: string) => void,
): Promise<void> {
  const client = await openManagement(env, flags);
  const key = await findNamedKey(client, named);
  const { sequence } = await client.rotate(key.id, flags.revokeOld ?? false);
  out(`a new version of ${keyTitle(key)} is asked for${sequence === null ? "" : `: change ${sequence}`}`);
  const before = versionInUse(key)?.number ?? 0;
  const worked = key.versions.filter(({ state }) => state === "active" || state === "retiring");
  const after = await waitFor(
    () => client.getKey(key.id),
    (now) => now.rotationRequestedAt === null && (versionInUse(now)?.number ?? 0) > before,
    DELIVERY_MS,
  );
  const delivered = versionInUse(after);
  if (delivered === undefined || delivered.number <= before) {
    throw new Error(
      `the request stands, and no new version is delivered yet: see what keyplane get keys says of ${key.namespace}/${key.name}`,
    );
  }
  out(`version ${delivered.number} (${delivered.prefix}...) is in its Secret and works everywhere`);
  for (const { number, prefix, state, retiresAt } of after.versions) {
    if (state === "retiring") out(`version ${number} (${prefix}...) works until ${retiresAt}`);
    if (state === "retired" && worked.some((version) => version.number === number))
      out(`version ${number} (${prefix}...) no longer works`);
  }
}

function versionInUse({ versions }: KeyJson): KeyJson["versions"][number] | undefined {
  return versions.find(({ state }) => state === "active");
}
