/**
 * Cluster of the embedded default (spec §8): declarations come from a folder of manifests, and everything that an API
 * server would hold is in a DATA folder, which is locked as long as the cluster is open.
 */
import { readFile, realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import { errorText } from "../../../domain/error-text.ts";
import type { Cluster, ClusterChange } from "../port.ts";
import { eventLine, titleOf } from "../titles.ts";
import { replaceFile, whenMissing } from "./disk.ts";
import { forgetHeld } from "./held.ts";
import { lockData } from "./lock.ts";
import { createManifests } from "./manifests/manifests.ts";
import { openOrigins } from "./manifests/origins.ts";
import { FilesObjects } from "./objects.ts";
import { closeOwnFolder, hideFromGit } from "./own-folder.ts";
import { createSecretWatch } from "./secrets/secret-watch.ts";
import { FilesSecrets } from "./secrets/secrets.ts";
import { createStatusFiles } from "./status.ts";
import { watchTree } from "./tree-watch.ts";

export type FilesClusterOptions = {
  /** Folder of manifests. It may be missing, and come later. */
  readonly manifests: string;
  readonly data: string;
  /** `now` in milliseconds since the epoch, `monotonic` in milliseconds. */
  readonly clock: { now(): number; monotonic(): number };
  readonly randomUuid: () => string;
  /** Finds the cluster's id elsewhere if DATA has none; undefined for a new cluster. */
  readonly lostClusterId?: () => Promise<string | undefined>;
  /** Called with faults of manifests, warnings and events, each on one line and free of secrets. */
  readonly log: (line: FilesLogLine) => void;
  /** Signal that ends the wait for another process that is using DATA. */
  readonly signal?: AbortSignal;
};

type Log = (level: FilesLogLine["level"], message: string) => void;

export type FilesLogLine = { readonly level: "info" | "warn" | "error"; readonly message: string };

/**
 * Opens the cluster. Open it before anything else in DATA, since it takes the lock, and close it last.
 *
 * @throws DataLockedError if another process is still using DATA after 15 s
 * @throws the signal's reason if the signal aborts during the wait for the lock
 * @throws Error if the manifests are in DATA: what is written there would be read as declarations; and if DATA, or
 * something in it, is another user's, or others can write there
 */
export async function openFilesCluster(options: FilesClusterOptions): Promise<Cluster & { close(): Promise<void> }> {
  const { data, manifests, clock, signal, log } = options;
  if (
    isWithin(data, manifests) ||
    isWithin(await withoutLinks(data), await realpath(manifests).catch(() => manifests))
  ) {
    throw new Error(`the manifests (${manifests}) cannot be in the data folder (${data}): choose another --data`);
  }
  // DATA itself may be reached through a link; nothing in it is.
  await closeOwnFolder(await withoutLinks(data), (message) => log({ level: "warn", message }));
  const lock = await lockData(data, { clock, signal, onWait: (message) => log({ level: "info", message }) });
  try {
    return await openLocked(options, lock.release);
  } catch (error) {
    lock.release();
    throw error;
  }
}

const isWithin = (folder: string, path: string): boolean => !relative(folder, path).startsWith("..");
const withoutLinks = (path: string): Promise<string> => realpath(path).catch(whenMissing(path));

async function openLocked(
  options: FilesClusterOptions,
  unlock: () => void,
): Promise<Cluster & { close(): Promise<void> }> {
  const { data, clock, randomUuid } = options;
  const log: Log = (level, message) => options.log({ level, message: onOneLine(message) });
  await hideFromGit(data);
  await forgetHeld(data);
  const statusFiles = createStatusFiles(join(data, "status"), (message) => log("error", message));
  const objects = await FilesObjects.open(join(data, "objects"), statusFiles, { clock, randomUuid });
  const closing = new AbortController();
  const watches: Promise<void>[] = [];
  const sayOnce = new Set<string>();
  let announce: (change: ClusterChange) => void = () => {};

  const manifests = createManifests({
    folder: options.manifests,
    data,
    objects,
    origins: await openOrigins(data),
    statusFiles,
    clock,
    randomUuid,
    log,
    announce: (change) => announce(change),
  });
  const secrets = await FilesSecrets.open(data, randomUuid, manifests.findSecret);
  const secretWatch = createSecretWatch(secrets, (change) => announce(change));

  return {
    uid: await readClusterId(options, log),
    isReplaced: () => false,
    namespaces: null,
    listedNamespaces: () => null,

    async watch(onChange, signal) {
      const until = AbortSignal.any([signal, closing.signal]);
      await manifests.readAll(until);
      await secretWatch.look(undefined);
      announce = onChange;
      for (const { kind, namespace, name } of objects.all()) onChange({ of: "object", kind, namespace, name });
      const onError = (what: string) => (error: unknown) => log("error", `while watching ${what}: ${errorText(error)}`);
      watches.push(
        watchTree({
          path: options.manifests,
          signal: until,
          clock,
          look: manifests.look,
          onTouched: manifests.touched,
          onError: onError(options.manifests),
        }),
        watchTree({
          path: join(data, "secrets"),
          signal: until,
          clock,
          look: secretWatch.look,
          onError: onError("the Secrets"),
        }),
      );
    },

    get: (kind, namespace, name) => objects.get(kind, namespace, name),
    list: (kind) => objects.list(kind),
    uids: (kind) => objects.list(kind).map(({ uid }) => uid),
    lookUp: (ref, uid) => objects.lookUp(ref, uid),
    addFinalizer: (object) => objects.addFinalizer(object),
    async removeFinalizer(object) {
      if (!(await objects.removeFinalizer(object))) return;
      manifests.reconsider();
      announce({ of: "object", kind: object.kind, namespace: object.namespace, name: object.name });
    },
    writeStatus: (object, status) => objects.writeStatus(object, status),
    leavesStatus: () => false,

    // No version is cached: a file is read as quickly as its change is noticed.
    namespaceTerminates: async () => false,
    cachedSecretVersion: () => undefined,
    readSecret: (namespace, name) => secrets.read(namespace, name),
    createSecret: (draft) => secrets.create(draft),
    replaceSecret: (read, draft) => secrets.replace(read, draft),
    deleteSecret: (read) => secrets.remove(read),

    async recordEvent(object, event) {
      log(event.type === "Warning" ? "warn" : "info", eventLine(object, event));
    },
    async restartWorkload(namespace, { kind, name }) {
      const workload = titleOf({ kind, namespace, name });
      if (sayOnce.has(workload)) return;
      sayOnce.add(workload);
      log("info", `${workload} is not restarted: a folder of manifests has no workloads. Restart it yourself.`);
    },

    async close() {
      closing.abort();
      await Promise.all(watches);
      unlock();
    },
  };
}

/**
 * Reads the id that identifies the cluster for ever, and makes it at the first start. A different id would strand every
 * key (threats c53).
 */
async function readClusterId({ data, randomUuid, lostClusterId }: FilesClusterOptions, log: Log): Promise<string> {
  const path = join(data, "cluster-id");
  const known = (await readFile(path, "utf8").catch(whenMissing(""))).trim();
  if (known !== "") return known;
  const lost = await lostClusterId?.();
  if (lost !== undefined) log("warn", `${path} was missing: the id of the database is taken, ${lost}`);
  const uid = lost ?? randomUuid();
  await replaceFile(path, `${uid}\n`);
  return uid;
}

/**
 * Puts a text on one line. Names and messages come from files of any author: a line break in them must not start a line
 * of the log.
 */
const onOneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
