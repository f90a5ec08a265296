/**
 * Keeps up with one collection of the API server: a list in pages, then one watch at a time from where the list ended,
 * reopened for ever. A watch lives for some 20 s, so that a watch that has silently died is noticed within 30 s,
 * whatever is between us and the server; the bookmark that the server sends before its end makes reopening cheap.
 */
import { setTimeout as delay } from "node:timers/promises";
import { errorText } from "../../../../domain/error-text.ts";
import { isRecord } from "../../../../domain/manifest/document/identity.ts";
import type { LogLine } from "../../../../runtime/log-line.ts";
import { backoffMs } from "../../../queue/backoff.ts";
import type { ApiClient } from "../api/api-client.ts";
import { ApiError, errorOfStatus, isExpired } from "../api/api-error.ts";
import { TOO_LARGE } from "../api/transport.ts";
import { isLater } from "./resource-version.ts";
import { eachYielding } from "./yield-between.ts";

/**
 * Number of objects on a page. An object has up to a mebibyte and a half, whatever its tenant writes into its metadata.
 */
const PAGE = 500;
/**
 * Bytes of a page beyond which it is requested again with fewer objects: it is held several times over while it is
 * read, and the chart gives the controller 512 MiB.
 */
const MAX_PAGE_BYTES = 8 << 20;
const FEWER = 4;
const LIST_TIMEOUT_MS = 60_000;
/** Seconds that a watch is requested to last; below, how much that varies, and how much longer it is waited for. */
const WATCH_SECONDS = 18;
const WATCH_JITTER_SECONDS = 5;
const WATCH_GRACE_SECONDS = 7;
/** Longest wait after the first failure, in milliseconds. */
const FIRST_RETRY_MS = 250;
/** Number of refusals of a watch in a row after which everything is listed again. */
const REFUSALS = 3;

export type ReflectorOptions<T> = {
  readonly api: ApiClient;
  readonly path: string;
  /** Name of what is watched, for messages. */
  readonly what: string;
  /** Media types of a list and of a watch's events, if they are not plain JSON. */
  readonly accept?: { readonly list: string; readonly watch: string };
  /** Returns what is kept of an object. Throws for what is none. */
  readonly read: (raw: unknown) => T;
  readonly sink: Sink<T>;
  readonly random: () => number;
  readonly log: LogLine;
  /** Called whenever the server answers, or sends an event. */
  readonly onHeard: () => void;
  /** Called with each failure of a list or a watch, also if the server refuses it. */
  readonly onFailed?: (error: unknown) => void;
  /** Rejects if a server other than the right one answers: nothing that it has just sent is taken. */
  readonly confirm?: () => Promise<void>;
  /** Called if the server's store is older than what was heard of it: it was restored from a backup. */
  readonly onRestored?: () => void;
  /** Called before each watch. Returns true, once, if the last list was found to be wrong. */
  readonly mustList?: () => boolean;
};

/** Receiver of what was read, in the server's order. */
export type Sink<T> = {
  /** Takes everything there is, as one list has it. */
  replace(items: readonly T[], version: string): void | Promise<void>;
  put(item: T): void;
  /** Takes a removal, with the item as it was when it went. */
  remove(item: T): void;
};

/** Position up to which a watch has heard, and how it has fared. */
type WatchState = {
  version: string | undefined;
  failures: number;
  refusals: number;
  fresh: boolean;
  complaint: string;
};

/**
 * Keeps up until the signal.
 *
 * @param onListed called after each complete list
 */
export async function reflect<T>(
  options: ReflectorOptions<T>,
  onListed: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { what, log, random } = options;
  const state: WatchState = { version: undefined, failures: 0, refusals: 0, fresh: false, complaint: "" };
  while (!signal.aborted) {
    try {
      if (options.mustList?.() === true) state.version = undefined;
      if (state.version === undefined) {
        state.version = await list(options, signal);
        onListed();
      }
      await watchOnce(options, state, signal);
      state.failures = 0;
      state.fresh = false;
    } catch (error) {
      if (signal.aborted) return;
      state.fresh = true;
      options.onFailed?.(error);
      if (isExpired(error)) state.version = undefined;
      else if (error instanceof ApiError && error.status !== null) state.refusals++;
      if (state.refusals >= REFUSALS) state.version = undefined;
      const message = errorText(error);
      if (message !== state.complaint) log("warn", `while watching ${what}: ${message}`);
      state.complaint = message;
      await delay(backoffMs(FIRST_RETRY_MS, state.failures++, random()), undefined, { signal }).catch(() => {});
    }
  }
}

/** Lists everything and hands it over. A page that has expired fails the list, which starts again. */
async function list<T>(options: ReflectorOptions<T>, signal: AbortSignal): Promise<string> {
  const { path, read, sink, onHeard, confirm } = options;
  const items: T[] = [];
  let next: string | undefined;
  let limit = PAGE;
  for (;;) {
    const page = await askForPage(options, { limit, next }, signal);
    onHeard();
    if (page === TOO_LARGE) {
      limit = Math.ceil(limit / FEWER);
      continue;
    }
    limit = Math.min(PAGE, 2 * limit);
    // An empty list of metadata has null for its items.
    const raws = isRecord(page) ? (page.items ?? []) : undefined;
    if (!isRecord(page) || !Array.isArray(raws)) throw new Error(`${path} is no list`);
    await eachYielding(raws, (raw) => items.push(read(raw)));
    const { resourceVersion, continue: token } = isRecord(page.metadata) ? page.metadata : {};
    if (typeof token === "string" && token !== "") {
      next = token;
      continue;
    }
    if (typeof resourceVersion !== "string") throw new Error(`the list at ${path} has no version`);
    await confirm?.();
    await sink.replace(items, resourceVersion);
    return resourceVersion;
  }
}

/** Requests a page of a list; {@link TOO_LARGE} if it is too long. A page of a single object may have any length. */
async function askForPage<T>(
  { api, path, accept }: ReflectorOptions<T>,
  { limit, next }: { readonly limit: number; readonly next: string | undefined },
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await api.request({
      method: "GET",
      path,
      query: { limit: String(limit), continue: next },
      timeoutMs: LIST_TIMEOUT_MS,
      maxBytes: limit === 1 ? undefined : MAX_PAGE_BYTES,
      signal,
      ...(accept === undefined ? {} : { accept: accept.list }),
    });
  } catch (error) {
    if (error instanceof ApiError && error.reason === TOO_LARGE) return TOO_LARGE;
    throw error;
  }
}

/** Runs one watch, from where the last one was to its end. */
async function watchOnce<T>(options: ReflectorOptions<T>, state: WatchState, signal: AbortSignal): Promise<void> {
  const { api, path, accept, random, onHeard, confirm } = options;
  const seconds = WATCH_SECONDS + Math.floor(random() * WATCH_JITTER_SECONDS);
  let heard = false;
  await api.stream(
    {
      method: "GET",
      path,
      query: {
        watch: "1",
        allowWatchBookmarks: "true",
        resourceVersion: state.version,
        timeoutSeconds: String(seconds),
      },
      timeoutMs: (seconds + WATCH_GRACE_SECONDS) * 1_000,
      signal,
      ...(accept === undefined ? {} : { accept: accept.watch }),
    },
    state.fresh,
    {
      async onOpen() {
        if (state.fresh) {
          await confirm?.();
          await checkStore(options, state, signal);
        }
        onHeard();
      },
      onValue(event) {
        take(options, state, event);
        heard = true;
        state.failures = 0;
        state.refusals = 0;
        state.complaint = "";
        onHeard();
      },
    },
  );
  if (heard || signal.aborted) return;
  await checkStore(options, state, signal);
}

function take<T>({ read, sink }: ReflectorOptions<T>, state: WatchState, event: unknown): void {
  const { type, object } = isRecord(event) ? event : {};
  if (type === "ERROR") throw errorOfStatus(object, null);
  const { metadata } = isRecord(object) ? object : {};
  const { resourceVersion } = isRecord(metadata) ? metadata : {};
  if (typeof resourceVersion !== "string") throw new Error(`an event of type ${String(type)} has no version`);
  if (type === "ADDED" || type === "MODIFIED") sink.put(read(object));
  else if (type === "DELETED") sink.remove(read(object));
  state.version = resourceVersion;
}

/**
 * Checks the version of the server's store. A watch that begins later than the store's last version, as after a restore
 * from a backup, stays silent until the store has caught up, and then goes on as if nothing had happened. So this is
 * called whenever that may be: after a failure, and after a watch that ended without a word, not even a bookmark.
 *
 * @throws Error if the store is older than what was heard of it: everything is to be listed again
 */
async function checkStore<T>(
  { api, path, accept, onHeard, onRestored }: ReflectorOptions<T>,
  state: WatchState,
  signal: AbortSignal,
): Promise<void> {
  const page = await api.request({
    method: "GET",
    path,
    query: { limit: "1" },
    signal,
    ...(accept === undefined ? {} : { accept: accept.list }),
  });
  onHeard();
  const { resourceVersion } = isRecord(page) && isRecord(page.metadata) ? page.metadata : {};
  const now = typeof resourceVersion === "string" ? resourceVersion : "";
  if (state.version === undefined || now === state.version || !isLater(state.version, now)) return;
  state.version = undefined;
  onRestored?.();
  throw new Error("the API server's store is older than what was heard of it, as after a restore: all is listed again");
}
