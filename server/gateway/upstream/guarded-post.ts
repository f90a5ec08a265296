import type { BlockList } from "node:net";
import { Agent } from "undici";
import { type AddressGuard, AddressRefusedError, createAddressGuard } from "./addresses.ts";
import { assertAllowed, guardedConnector } from "./guarded-connector.ts";
import { assertFewInterimAnswers } from "./interim-answers.ts";
import { lookupLimit } from "./lookup-limit.ts";
import { retryAfterMs } from "./retry-after.ts";

/**
 * Result of a post: the status, and how long the receiver asks to wait if it says so; or the reason why there is no
 * status, without any words of the other side.
 */
export type PostOutcome =
  | { readonly status: number; readonly retryAfterMs?: number | undefined }
  | { readonly why: string };

/** A post and its holder: for each holder, one name is looked up at a time. */
type Posted = {
  readonly holder: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Posts to the addresses that tenants choose: by sockets of its own, to addresses that an upstream may have. */
export type GuardedPosts = {
  /** Posts; never rejects. It follows no redirect, and keeps nothing of an answer but what is a number. */
  post(posted: Posted, signal: AbortSignal): Promise<PostOutcome>;
  close(): Promise<void>;
};

const TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 4_000;
/**
 * Names that are looked up at once: each takes one of the process's few threads for as long as its servers like, and
 * the gateway needs some.
 */
const MAX_LOOKUPS = 2;
/** Bytes of an answer that are read, so that its socket can be used again. */
const MAX_ANSWER = 16 << 10;

/**
 * Opens a client that posts.
 *
 * @param allowed private networks that may be posted to (`--allow-private-upstreams`): there, and nowhere else, without
 *   TLS too
 */
export function openGuardedPosts(
  allowed: BlockList,
  timeoutMs: number = TIMEOUT_MS,
  guardOf: typeof createAddressGuard = createAddressGuard,
): GuardedPosts {
  const waiting = new Set<Posted>();
  const holdersOf = (hostname: string): string[] =>
    [...waiting].filter(({ url }) => url.hostname === hostname).map(({ holder }) => holder);
  const limit = lookupLimit({ most: MAX_LOOKUPS, patienceMs: timeoutMs, holdersOf });
  const https = openAgent(limit(guardOf(allowed)), timeoutMs);
  const http = openAgent(limit(guardOf(allowed, "none")), timeoutMs);

  return {
    async post(posted, signal) {
      const { headers, body } = posted;
      const { protocol, origin, hostname, pathname, search } = posted.url;
      const { agent, guard } = protocol === "https:" ? https : http;
      const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      let interimAnswers = 0;
      waiting.add(posted);
      try {
        assertAllowed(hostname, guard);
        const request = {
          origin,
          path: `${pathname}${search}`,
          method: "POST",
          headers,
          body,
          signal: within,
          onInfo: () => assertFewInterimAnswers(++interimAnswers),
        } as const;
        const answer = await Promise.race([agent.request(request), rejectAtEnd(within)]);
        // Its status is known; what follows it, or does not, changes nothing.
        await answer.body.dump({ limit: MAX_ANSWER, signal: within }).catch(() => {});
        return { status: answer.statusCode, retryAfterMs: retryAfterMs(answer.headers, Date.now()) };
      } catch (error) {
        return { why: whyOf(error, within.aborted, protocol, timeoutMs) };
      } finally {
        waiting.delete(posted);
      }
    },
    async close() {
      await Promise.all([https.agent.destroy(), http.agent.destroy()]);
    },
  };
}

/**
 * Rejects when a signal is aborted. The dispatcher looks at a request's signal only once there is a socket for it, and
 * then sends nothing.
 */
function rejectAtEnd(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function openAgent(guard: AddressGuard, timeoutMs: number): { readonly agent: Agent; readonly guard: AddressGuard } {
  const agent = new Agent({
    connect: guardedConnector(guard),
    // As many to one receiver as its callers want: they bound that, and one of them never waits for another.
    connections: null,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  return { agent, guard };
}

/** Returns the reason why a post failed, by error codes alone: a message may hold what the other side sent. */
function whyOf(error: unknown, isOver: boolean, protocol: string, timeoutMs: number): string {
  if (error instanceof AddressRefusedError) {
    return protocol === "https:"
      ? "its address is private or reserved, and its network not among --allow-private-upstreams"
      : "http is for networks of --allow-private-upstreams alone: write https";
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (isOver || code.endsWith("_TIMEOUT")) return `no answer within ${timeoutMs / 1_000} s`;
  return /^[A-Z0-9_]{1,64}$/.test(code) ? `the connection failed: ${code}` : "the connection failed";
}
