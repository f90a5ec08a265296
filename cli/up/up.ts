import { randomBytes, randomUUID } from "node:crypto";
import { access, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { openFilesCluster } from "../../controller/cluster/files/cluster.ts";
import { startController } from "../../controller/main.ts";
import { clusterNameOfFolder } from "../../domain/cluster-name.ts";
import type { Environment } from "../../domain/environment.ts";
import { shellWord } from "../../domain/shell-word.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLog } from "../../runtime/log.ts";
import type { LogLine } from "../../runtime/log-line.ts";
import { setting } from "../../runtime/settings.ts";
import { terminalLines } from "../../runtime/terminal-log.ts";
import { managementToken } from "../../server/auth/management/management-token.ts";
import { makeOneTimeLink } from "../../server/auth/session/one-time-link.ts";
import { baseUrl } from "../../server/context/base-url.ts";
import { parseServerConfig, type ServerFlags } from "../../server/context/config.ts";
import { assertPortsFree } from "../../server/http/connections/free-ports.ts";
import type { Store } from "../../store/database/store.ts";
import { adoptFirstKey, checkKeyring } from "../../store/encryption/encryption-key.ts";
import { type Keyring, parseKeyring } from "../../store/encryption/keyring.ts";
import { removeAllReplicas } from "../../store/replicas/replicas.ts";
import { type AddCommand, type Process, required } from "../command/command.ts";
import { ENCRYPTION_KEY, encryptionKeys } from "../command/config.ts";
import { listenerOptions } from "../command/listener-options.ts";
import { UsageError } from "../command/usage-error.ts";
import { whenAborted } from "../command/when-aborted.ts";
import {
  encryptionKeyFile,
  readOrMakeBootstrapToken,
  readOrMakeSecret,
  removeServerFile,
  writeServerFile,
} from "../data/data-folder.ts";
import { ownCommand } from "../output/own-command.ts";
import { embeddedDatabase } from "./embedded-database.ts";
import { watchInitialSync } from "./initial-sync.ts";
import { welcome } from "./welcome.ts";

type UpFlags = ServerFlags & {
  readonly manifests: string;
  readonly data: string;
  readonly encryptionKeyFile?: string | undefined;
};

export const addUp: AddCommand = (program, process) => {
  const { env, stopSignal } = process;
  listenerOptions(
    program.command("up").description("run server and controller in one process on a folder of manifests"),
  )
    .setting("--manifests <dir>", "the folder of manifests, which is watched")
    .setting("--data <dir>", "the folder that stores keys, Secrets and status")
    .setting(
      "--encryption-key-file <file>",
      "encryption keys, one per line; without, one is created in the data folder",
    )
    .variable(...ENCRYPTION_KEY)
    .variable("PLATFORM_API_KEYS", "development keys, which are not stored")
    .example("keyplane up --manifests manifests --data .keyplane", "serve and watch a folder of manifests")
    .example("keyplane up --manifests manifests --data .keyplane --port 9000", "the same on another port")
    .action((flags) => {
      const manifests = required(env, "manifests", flags.manifests);
      return runUp({ ...flags, manifests, data: required(env, "data", flags.data) }, process, stopSignal());
    });
};

/** Addresses that gateways may call by default in an embedded installation, for a model server on this machine. */
const LOOPBACK = "127.0.0.0/8,::1/128";

/**
 * Runs `keyplane up`, server and controller in one process, until the signal. Prints at once what it does, `ready URL`
 * once it serves, and the declared keys once each has been reconciled. Its log is lines for people on a terminal, else
 * JSON.
 *
 * @throws the signal's reason if the signal aborts before it serves
 */
export async function runUp(
  flags: UpFlags,
  { env, out, terminal }: Pick<Process, "env" | "out" | "terminal">,
  signal: AbortSignal,
): Promise<void> {
  const config = parseServerConfig({ KEYPLANE_ALLOW_PRIVATE_UPSTREAMS: LOOPBACK, ...env }, flags);
  out(`watching ${flags.manifests}, with keys, Secrets and status in ${flags.data}; Ctrl-C or SIGTERM ends it`);
  const lines = terminal && terminalLines(terminal, (text) => out(text.trimEnd()));
  const { logLevel } = config;
  // What a server says of its routine is for those who ask for it.
  const log = createLog(logLevel === "info" ? "warn" : logLevel, lines);
  const ownLog = createLog(logLevel, lines);
  const line: LogLine = (level, message) => ownLog[level]({}, message);
  const database = embeddedDatabase(flags.data);
  const closers = [() => database.close()];
  try {
    const cluster = await openFilesCluster({
      manifests: flags.manifests,
      data: flags.data,
      clock: systemClock,
      randomUuid: randomUUID,
      lostClusterId: database.lostClusterId,
      log: ({ level, message }) => line(level, message),
      signal,
    });
    // After the database: it is in the folder that the cluster has locked.
    closers.push(() => cluster.close());
    await refuseNoFolder(flags);
    await assertPortsFree(config);
    await removeServerFile(flags.data);
    const token = managementToken("bootstrap-token", await readOrMakeBootstrapToken(flags.data));
    const isNew = !(await isThere(join(flags.data, "db")));
    out(isNew ? "making the database, which takes some seconds once" : "opening the database");
    // The database opens in a thread of its own, while this one loads the server.
    const [store, { startServer }] = await Promise.all([database.open(), import("../../processes/main.ts")]);
    const broken = store.failed.then((error) => {
      throw error;
    });
    // A failure is handled where `broken` is awaited; while the others close, it is too late to report it.
    broken.catch(() => {});
    await database.assertClusterId(cluster.uid);
    await database.assertObjects(cluster.uid);
    // The folder is locked: a replica that is still registered was killed, and no key shall wait for its lease to end.
    await removeAllReplicas(store);
    const keyring = await openKeyring(env, flags, store);
    await adoptFirstKey(store, keyring, (warning) => log.warn({}, warning));
    signal.throwIfAborted();
    const data = resolve(flags.data);
    const linkCommand = `${ownCommand(env)} console --data ${shellWord(data)}`;
    const server = await startServer({
      ...{ store, feedStore: store.feedStore, config, keyring, clock: systemClock, log, linkCommand },
      managementToken: token,
    });
    closers.unshift(() => server.close());
    await Promise.race([server.whenCurrent, whenAborted(signal), broken]);
    signal.throwIfAborted();

    const stopping = new AbortController();
    const initialSync = watchInitialSync(cluster);
    const publicUrl = config.publicUrl === null ? server.url : baseUrl(config.publicUrl);
    const controlling = startController(
      {
        cluster: initialSync.cluster,
        store,
        keyring,
        publicUrl,
        clock: systemClock,
        log: line,
        onReconciled: initialSync.reconciled,
        retentionMs: config.retentionMs,
        clusterName: clusterNameOfFolder(basename(resolve(flags.manifests))),
      },
      stopping.signal,
    );
    closers.unshift(() => {
      stopping.abort();
      return controlling;
    });
    await writeServerFile(flags.data, {
      url: server.url,
      adminUrl: server.adminUrl,
      manifests: resolve(flags.manifests),
      encryptionKeyFile: encryptionKeySource(env, flags),
      encryptionKeys: keyring.map(({ fingerprint }) => fingerprint),
      placeholders: config.production ? 0 : config.placeholders.length,
    });
    closers.unshift(() => removeServerFile(flags.data));
    out(`ready ${server.url}`);
    const waiting = await Promise.race([initialSync.done, whenAborted(signal), controlling, broken]);
    if (!signal.aborted) {
      const link = await makeOneTimeLink(store, publicUrl, { actor: token.actor });
      const listCommand = `${ownCommand(env)} get keys --data ${shellWord(data)}`;
      const shown = { data, url: server.url, link: link.url, linkCommand, listCommand };
      out(await welcome({ ...shown, waiting: waiting === undefined ? 0 : waiting }));
    }
    await Promise.race([whenAborted(signal), controlling, broken]);
  } finally {
    for (const close of closers) await close();
  }
}

/**
 * Returns the given encryption keys, or the key in the data folder, which the first start makes.
 *
 * @throws EncryptionKeyError if none is given, and the key in the folder is lost
 */
async function openKeyring(env: Environment, flags: UpFlags, { db }: Store): Promise<Keyring> {
  const given = await encryptionKeys(env, flags.encryptionKeyFile);
  if (given !== undefined) return given;
  // Without any key it refuses whatever the database needs, by its name.
  if (!(await isThere(encryptionKeyFile(flags.data)))) await checkKeyring(db, []);
  const make = () => randomBytes(32).toString("base64");
  return parseKeyring(await readOrMakeSecret(encryptionKeyFile(flags.data), make));
}

function encryptionKeySource(env: Environment, flags: UpFlags): string | null {
  const given = setting(env, "encryption-key-file", flags.encryptionKeyFile);
  if (given !== undefined) return resolve(given);
  return env.KEYPLANE_ENCRYPTION_KEY ? null : encryptionKeyFile(resolve(flags.data));
}

/**
 * Refuses a path that never was a folder, or is a file: a mistake on the command line. A folder that disappeared later
 * is accepted, since that removes nothing.
 */
async function refuseNoFolder({ manifests, data }: UpFlags): Promise<void> {
  const there = await stat(manifests).catch(() => undefined);
  if (there?.isFile()) throw new UsageError(`--manifests ${manifests}: that is a file: name the folder that it is in`);
  if (there !== undefined || (await isThere(join(data, "db")))) return;
  throw new UsageError(`--manifests ${manifests}: there is no such folder`);
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
