import { type Dirent, statSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { whenMissing } from "../../controller/cluster/files/disk.ts";
import { KINDS } from "../../domain/kinds/kinds.ts";
import { shellWord } from "../../domain/shell-word.ts";
import { UsageError } from "../command/usage-error.ts";
import {
  assertDataFolder,
  bootstrapTokenFile,
  encryptionKeyFile,
  isRunning,
  readServerFile,
} from "../data/data-folder.ts";
import { heldGroups, heldText } from "../data/held.ts";
import { readStatusFiles } from "../data/status-files.ts";
import { openManagement } from "../management/management-client.ts";
import { commandAt, ownCommand } from "../output/own-command.ts";
import { runValidate } from "../validate/validate.ts";
import { allReady, type Declaration, judgeDeclarations } from "./declarations.ts";
import { checkEncryptionKeyFile, type Embedded } from "./encryption-key-file.ts";
import { type Check, type Finding, note, ok, runChecks, wrong } from "./finding.ts";
import { checkFreeSpace } from "./free-space.ts";
import { judgeGatewayCredentials } from "./gateway-credentials.ts";
import { checkReadiness } from "./readiness.ts";
import { checkManagement } from "./server.ts";

/** Checks in the order in which one fault causes another. */
const CHECKS: readonly Check<Embedded>[] = [
  checkFreeSpace,
  checkModes,
  checkEncryptionKeyFile,
  checkProcess,
  checkManifests,
  checkHeld,
  checkObjects,
  checkCredentials,
  checkSecrets,
];

/**
 * Checks an installation of `keyplane up`.
 *
 * @throws UsageError if there is no such data folder
 */
export async function checkEmbedded(embedded: Embedded): Promise<Finding[]> {
  await assertDataFolder(embedded.data);
  return runChecks(CHECKS, embedded);
}

/** Checks that nothing secret is readable for others on the machine. */
async function checkModes({ data }: Embedded): Promise<Finding[]> {
  const open: string[] = [];
  for (const path of [data, ...(await filesBelow(join(data, "secrets"))), bootstrapTokenFile(data)]) {
    if (await isOpenToOthers(path)) open.push(path);
  }
  if (await isOpenToOthers(encryptionKeyFile(data))) open.push(encryptionKeyFile(data));
  const findings = open.map((path) =>
    wrong("file-modes", `${path} is open to others on this machine`, `chmod go= ${shellWord(path)}`),
  );
  if (!isThere(bootstrapTokenFile(data))) {
    const missing = `${bootstrapTokenFile(data)} is missing`;
    findings.push(wrong("bootstrap-token", missing, "start keyplane up again, and a new one is made"));
  }
  return findings.length > 0 ? findings : [ok("file-modes", `${data} and what is secret in it are closed to others`)];
}

/** Checks that `up` runs, serves, and accepts its own token. */
async function checkProcess({ data, env }: Embedded): Promise<Finding[]> {
  if (!(await isRunning(data))) return [wrong("process", `keyplane up does not run on ${data}`, "start it")];
  const server = await readServerFile(data);
  if (server === undefined) {
    const step = "wait a moment, then look at what it prints";
    return [wrong("process", `keyplane up holds ${data} and is not ready`, step)];
  }
  const findings = [
    ok("process", `keyplane up runs on ${data} at ${server.url}`),
    await checkReadiness(server.adminUrl),
  ];
  findings.push(
    ...(await checkManagement({
      management: () => openManagement(env, { data }),
      command: (words) => commandAt({ data }, env, words),
    })),
  );
  if (server.placeholders > 0) {
    const keys = server.placeholders === 1 ? "1 development key" : `${server.placeholders} development keys`;
    const message = `PLATFORM_API_KEYS gives ${keys} every right of a team`;
    findings.push(note("placeholder-keys", message, "leave it out where others can call"));
  }
  return findings;
}

/**
 * Checks the manifests themselves: what a faulty manifest declared before stays in effect, so the keys alone do not
 * show it.
 */
async function checkManifests({ data, env }: Embedded): Promise<Finding[]> {
  const { manifests } = (await readServerFile(data)) ?? {};
  if (manifests === undefined) return [];
  const lines: string[] = [];
  const code = await runValidate({ paths: [manifests] }, (line) => lines.push(line)).catch((error: unknown) => {
    if (!(error instanceof UsageError)) throw error;
    lines.push(error.message);
  });
  if (code === 0) return [ok("manifests", `the manifests in ${manifests} are valid`)];
  const message = `${lines.at(-1)}: faulty ones keep their last good state`;
  return [wrong("manifests", message, `${ownCommand(env)} validate -f ${shellWord(manifests)}`)];
}

/** Reports objects that stay as before although their declaration is gone or faulty. No condition says so. */
async function checkHeld({ data }: Embedded): Promise<Finding[]> {
  const text = heldText(await isRunning(data));
  return (await heldGroups(data)).map(({ titles, why }) =>
    wrong("held-declarations", `${text}: ${titles}: ${why}`, "write what is meant, or delete what shall end"),
  );
}

const AS_IT_SAYS = "do what this says in its declaration, or in what that refers to";

/** Reports objects that are not as declared. The message of each condition has the catalogue's advice. */
async function checkObjects({ data }: Embedded): Promise<Finding[]> {
  const findings: Finding[] = [];
  const all: Declaration[] = [];
  for (const kind of KINDS) {
    const objects = await readStatusFiles(data, kind);
    all.push(...objects);
    findings.push(...judgeDeclarations(kind, objects, AS_IT_SAYS));
  }
  return findings.length > 0 ? findings : [allReady(all)];
}

/** Reports credentials that providers refuse. A gateway counts as ready all the same. */
async function checkCredentials({ data }: Embedded): Promise<Finding[]> {
  return judgeGatewayCredentials(await readStatusFiles(data, "ModelGateway"));
}

/** Checks that the Secret files which workloads mount exist. */
async function checkSecrets({ data }: Embedded): Promise<Finding[]> {
  const keys = await readStatusFiles(data, "PlatformKey");
  const delivered = keys.filter(({ status }) =>
    status?.conditions?.some(({ type, reason }) => type === "SecretDelivered" && reason === "Delivered"),
  );
  const findings = delivered.flatMap(({ metadata, status }) => {
    const { name = metadata.name, dataKey = "api-key" } = status?.secretRef ?? {};
    const file = join(data, "secrets", metadata.namespace, name, dataKey);
    return isThere(file)
      ? []
      : [
          wrong(
            "secrets",
            `${file} is missing`,
            `start keyplane up, which makes it again, and see PlatformKey ${metadata.name}`,
          ),
        ];
  });
  return findings.length > 0
    ? findings
    : [
        ok(
          "secrets",
          delivered.length === 1 ? "1 key is in its Secret" : `${delivered.length} keys are in their Secrets`,
        ),
      ];
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/**
 * True if others may read or change the path. A link counts as closed: its target has its own mode, and replacing the
 * link depends on the folder's mode.
 */
async function isOpenToOthers(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(whenMissing(undefined));
  return stats !== undefined && !stats.isSymbolicLink() && (stats.mode & 0o077) !== 0;
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(whenMissing<Dirent[]>([]));
  return [folder, ...entries.map((entry) => join(entry.parentPath, entry.name))];
}
