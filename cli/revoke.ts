import { LEASE_RANGE_MS } from "../domain/protocol.ts";
import type { KeyJson } from "../server/management/keys/shown/key-json.ts";
import type { AddCommand, Process } from "./command/command.ts";
import { openManagement, type ServerChoice, serverOptions, waitFor } from "./management/management-client.ts";
import { findNamedKey, keyTitle, NAMED_KEY, namedKeyJson } from "./management/named-key.ts";
import { outputOption, outputText, type StructuredFormat } from "./output/output.ts";
import { plainText } from "./output/plain-text.ts";

type Flags = ServerChoice & { readonly reason?: string | undefined; readonly output?: StructuredFormat };

export const addRevoke: AddCommand = (program, process) => {
  serverOptions(
    program
      .command("revoke")
      .description("revoke a key and all its versions at once and permanently; its declaration cannot restore it")
      .argument("<key>", NAMED_KEY),
  )
    .example("keyplane revoke team-a/reader --data .keyplane", "revoke a key of keyplane up")
    .example(
      "keyplane revoke team-a/reader --server https://keys.example.com --reason 'it leaked'",
      "revoke a key of a server; the token is in KEYPLANE_TOKEN",
    )
    .option("--reason <text>", "the reason, for the audit log")
    .addOption(outputOption())
    .action((key, flags) => runRevoke(key, flags, process));
};

/**
 * Longest wait for the confirmation, in milliseconds: above the longest time that a replica goes on without proof that
 * its view is current.
 */
const CONFIRMATION_MS = LEASE_RANGE_MS.most + 10_000;

/**
 * Runs `keyplane revoke`: ends a key, and waits until every replica refuses it.
 *
 * @throws Error if that is not confirmed in time. The revocation stands nevertheless
 */
async function runRevoke(
  named: string,
  { reason, output, ...choice }: Flags,
  { env, out, progress }: Pick<Process, "env" | "out" | "progress">,
): Promise<void> {
  const say = (line: string) => output === undefined && out(line);
  const client = await openManagement(env, choice);
  const key = await findNamedKey(client, named);
  const wasRevoked = key.state === "revoked";
  if (wasRevoked) say(plainText(`${keyTitle(key)} is revoked already (${key.revocation?.reason})`));
  const { sequence } = await client.revoke(key.id, reason);
  if (!wasRevoked) say(`revoked ${keyTitle(key)}${sequence === null ? "" : `: change ${sequence}`}`);
  const isConfirmed = (now: KeyJson) => now.revocation?.confirmed === true;
  const { revocation } = await progress.during("waiting until every replica refuses it", () =>
    waitFor(() => client.getKey(key.id), isConfirmed, CONFIRMATION_MS),
  );
  if (output !== undefined) out(outputText({ key: namedKeyJson(key), wasRevoked, revocation }, output));
  if (!revocation?.confirmed) {
    throw new Error(
      `the revocation stands${sequence === null ? "" : ` (change ${sequence})`}, and not every replica has confirmed it: see keyplane doctor`,
    );
  }
  say(`confirmed: every replica refuses it, as of change ${revocation.sequence}`);
  if (key.declaredIn !== null && !wasRevoked) {
    say("its declaration mints no new one; delete it and apply it again to get one");
  }
}
