import type { KeyJson } from "../server/management/keys/shown/key-json.ts";
import type { AddCommand, Process } from "./command/command.ts";
import { openManagement, type ServerChoice, serverOptions, waitFor } from "./management/management-client.ts";
import { findNamedKey, keyTitle, NAMED_KEY, namedKeyJson } from "./management/named-key.ts";
import { outputOption, outputText, type StructuredFormat } from "./output/output.ts";

type Flags = ServerChoice & { readonly revokeOld?: boolean | undefined; readonly output?: StructuredFormat };

export const addRotate: AddCommand = (program, process) => {
  serverOptions(
    program
      .command("rotate")
      .description("write a new version of a key to its Secret; the old one works for the overlap")
      .argument("<key>", NAMED_KEY),
  )
    .example("keyplane rotate team-a/reader --data .keyplane", "create a new version now")
    .example("keyplane rotate team-a/reader --data .keyplane --revoke-old", "and end the old versions")
    .option("--revoke-old", "end the old versions once the new one is delivered")
    .addOption(outputOption())
    .action((key, flags) => runRotate(key, flags, process));
};

/**
 * Longest wait for the delivery, in milliseconds. A healthy controller is notified at once, and waits for every
 * replica.
 */
const DELIVERY_MS = 20_000;

/**
 * Runs `keyplane rotate`: requests a new version, and waits until it is delivered.
 *
 * @throws Error if it is not delivered in time. The request stands nevertheless
 */
async function runRotate(
  named: string,
  { revokeOld = false, output, ...choice }: Flags,
  { env, out, progress }: Pick<Process, "env" | "out" | "progress">,
): Promise<void> {
  const say = (line: string) => output === undefined && out(line);
  const client = await openManagement(env, choice);
  const key = await findNamedKey(client, named);
  const { sequence } = await client.rotate(key.id, revokeOld);
  say(
    `a new version of ${keyTitle({ ...key, prefix: null })} is asked for${sequence === null ? "" : `: change ${sequence}`}`,
  );
  const before = versionInUse(key)?.number ?? 0;
  const worked = key.versions.filter(({ state }) => state === "active" || state === "retiring");
  const isDelivered = (now: KeyJson) => now.rotationRequestedAt === null && (versionInUse(now)?.number ?? 0) > before;
  const after = await progress.during("waiting until the new version is in its Secret", () =>
    waitFor(() => client.getKey(key.id), isDelivered, DELIVERY_MS),
  );
  const inUse = versionInUse(after);
  const delivered = inUse !== undefined && inUse.number > before ? inUse : undefined;
  const old = after.versions.filter(({ number, state }) =>
    state === "retired" ? worked.some((version) => version.number === number) : state === "retiring",
  );
  if (output !== undefined) {
    out(outputText({ key: namedKeyJson(key), sequence, delivered: delivered ?? null, old }, output));
  }
  if (delivered === undefined) {
    throw new Error(`the request stands, and no new version is delivered yet: see keyplane get keys`);
  }
  say(`version ${delivered.number} (${delivered.prefix}...) is in its Secret and works everywhere`);
  for (const { number, prefix, state, retiresAt } of old) {
    say(`version ${number} (${prefix}...) ${state === "retiring" ? `works until ${retiresAt}` : "no longer works"}`);
  }
}

function versionInUse({ versions }: KeyJson): KeyJson["versions"][number] | undefined {
  return versions.find(({ state }) => state === "active");
}
