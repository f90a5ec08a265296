import { type Dirent, statSync } from "node:fs";
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { whenMissing } from "../../controller/cluster/files/disk.ts";
import { titleOf } from "../../controller/cluster/titles.ts";
import type { Environment } from "../../domain/environment.ts";
import { errorText } from "../../domain/error-text.ts";
import { KINDS } from "../../domain/manifest/kinds.ts";
import { KeyringError } from "../../store/database/errors.ts";
import { parseKeyring } from "../../store/keyring.ts";
import {
  bootstrapTokenFile,
  encryptionKeyFile,
  isRunning,
  type RunningServerFile,
  readServerFile,
} from "../data-folder.ts";
import { heldGroups, heldText } from "../held.ts";
import { openManagement } from "../management-client.ts";
import { readiness, readStatusFiles } from "../status-files.ts";
import { runValidate } from "../validate.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";

type Check = (data: string, env: Environment) => Promise<Finding[]>;

/** Whatever may be off with an installation, in the order in which one thing causes another. */
export const CHECKS: readonly Check[] = [
  checkModes,
  checkEncryptionKey,
  checkProcess,
  checkManifests,
  checkHeld,
  checkObjects,
  checkSecrets,
];

/** How long an answer may take. Milliseconds. */
const TIMEOUT_MS = 5_000;

/** What others on the machine could read. */
async function checkModes(data: string): Promise<Finding[]> {
  const open: string[] = [];
  for (const path of [data, ...(await filesBelow(join(data, "secrets"))), bootstrapTokenFile(data)]) {
    if (await isOpenToOthers(path)) open.push(path);
  }
  if (await isOpenToOthers(encryptionKeyFile(data))) open.push(encryptionKeyFile(data));
  const findings = open.map((path) => wrong(`${path} is open to others on this machine: chmod go= '${path}'`));
  if (!isThere(bootstrapTokenFile(data))) {
    findings.push(wrong(`${bootstrapTokenFile(data)} is missing: start keyplane up again, and a new one is made`));
  }
  return findings.length > 0 ? findings : [ok(`${data} and what is secret in it are closed to others`)];
}

/** Whether the keys that a start will find are those that the store needs (threats c54). */
async function checkEncryptionKey(data: string, env: Environment): Promise<Finding[]> {
  const server = await readServerFile(data);
  const isGiven = Boolean(env.KEYPLANE_ENCRYPTION_KEY || env.KEYPLANE_ENCRYPTION_KEY_FILE);
  const file = server === undefined && !isGiven ? encryptionKeyFile(data) : server?.encryptionKeyFile;
  if (file === undefined || file === null) return [];
  const text = await readFile(file, "utf8").catch(whenMissing(undefined));
  if (text === undefined) {
    const step = "put it back from a backup (or give another file that holds it, with --encryption-key-file)";
    return [wrong(`${file} is missing, and keyplane up does not start without it: ${step}`)];
  }
  if (server === undefined) return [];
  const prints = fingerprintsOf(text);
  if (prints.join() === server.encryptionKeys.join()) return [ok(`${file} holds the keys that keyplane up runs with`)];
  if (server.encryptionKeys.every((print) => prints.includes(print))) {
    return [note(`${file} has keys that keyplane up does not know yet: restart it`)];
  }
  return [
    wrong(`${file} holds other keys than keyplane up runs with, ${server.encryptionKeys.join(", ")}: put those back`),
  ];
}

function fingerprintsOf(text: string): string[] {
  try {
    return parseKeyring(text).map(({ fingerprint }) => fingerprint);
  } catch (error) {
    if (error instanceof KeyringError) return [];
    throw error;
  }
}

/** Whether it runs, serves, and lets its own token in. */
async function checkProcess(data: string, env: Environment): Promise<Finding[]> {
  if (!(await isRunning(data))) return [wrong(`keyplane up does not run on ${data}: start it`)];
  const server = await readServerFile(data);
  if (server === undefined) {
    return [wrong(`keyplane up holds ${data} and is not ready: wait a moment, then look at what it prints`)];
  }
  const findings = [ok(`keyplane up runs on ${data} at ${server.url}`), await checkReady(server)];
  try {
    const keys = await (await openManagement(env, { data })).listKeys();
    findings.push(ok(`the management API answers; ${keys.length} keys are stored`));
  } catch (error) {
    findings.push(wrong(errorText(error)));
  }
  if (server.placeholders > 0) {
    const keys = server.placeholders === 1 ? "1 development key" : `${server.placeholders} development keys`;
    findings.push(note(`PLATFORM_API_KEYS gives ${keys} every right of a team: leave it out where others can call`));
  }
  return findings;
}

async function checkReady({ adminUrl }: RunningServerFile): Promise<Finding> {
  try {
    const answer = await fetch(`${adminUrl}/readyz`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (answer.ok) return ok("the server is ready: its view of the keys is current");
    return wrong(`the server is not ready (${(await answer.text()).trim()}): look at what keyplane up prints`);
  } catch {
    return wrong(`nothing answers at ${adminUrl}: restart keyplane up, and see that nothing else has its ports`);
  }
}

/** A fault keeps what was declared before it, which nobody sees who looks at the keys alone. */
async function checkManifests(data: string): Promise<Finding[]> {
  const { manifests } = (await readServerFile(data)) ?? {};
  if (manifests === undefined) return [];
  const lines: string[] = [];
  const code = await runValidate({ paths: [manifests] }, (line) => lines.push(line));
  if (code === 0) return [ok(`the manifests in ${manifests} are valid`)];
  return [wrong(`${lines.at(-1)}: what is faulty goes on as it was before: keyplane validate -f '${manifests}'`)];
}

/** What goes on as it was before though its declaration is gone or faulty, which no condition says. */
async function checkHeld(data: string): Promise<Finding[]> {
  const text = heldText(await isRunning(data));
  return (await heldGroups(data)).map(({ titles, why }) => wrong(`${text}: ${titles}: ${why}`));
}

/** What is not as declared, with the catalogue's advice, which is part of each condition's message. */
async function checkObjects(data: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  let all = 0;
  for (const kind of KINDS) {
    for (const object of await readStatusFiles(data, kind)) {
      all++;
      const { namespace, name } = object.metadata;
      const ready = readiness(object);
      if (ready?.type === "Ready" && ready.status === "True") continue;
      const title = titleOf({ kind, namespace, name });
      findings.push(
        ready === undefined
          ? wrong(`${title} has not been reconciled yet: see that keyplane up runs`)
          : wrong(`${title} is not ready: ${ready.reason}: ${ready.message}`),
      );
    }
  }
  return findings.length > 0 ? findings : [ok(`${all} declarations are ready`)];
}

/** That what workloads mount is there. */
async function checkSecrets(data: string): Promise<Finding[]> {
  const keys = await readStatusFiles(data, "PlatformKey");
  const delivered = keys.filter(({ status }) =>
    status?.conditions?.some(({ type, reason }) => type === "SecretDelivered" && reason === "Delivered"),
  );
  const findings = delivered.flatMap(({ metadata, status }) => {
    const { name = metadata.name, dataKey = "api-key" } = status?.secretRef ?? {};
    const file = join(data, "secrets", metadata.namespace, name, dataKey);
    return isThere(file)
      ? []
      : [wrong(`${file} is missing: a running keyplane up makes it again; look at PlatformKey ${metadata.name}`)];
  });
  return findings.length > 0 ? findings : [ok(`${delivered.length} keys are in their Secrets`)];
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** A link is whatever it leads to; that others may change where is the folder's mode. */
async function isOpenToOthers(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(whenMissing(undefined));
  return stats !== undefined && !stats.isSymbolicLink() && (stats.mode & 0o077) !== 0;
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(whenMissing<Dirent[]>([]));
  return [folder, ...entries.map((entry) => join(entry.parentPath, entry.name))];
}
