/**
 * Kept connections to the API server: those of requests, which are limited in number, and those of watches and of the
 * leader election, which wait for none.
 */
import { Agent as HttpAgent } from "node:http";
import { Agent as TlsAgent } from "node:https";
import type { TlsOptions } from "./connection.ts";

/** Largest number of requests under way at once; further requests wait for a connection. */
const MAX_AT_ONCE = 32;
/** Milliseconds after which an idle connection is probed: a peer that is gone is found out within 20 s. */
export const PROBE_AFTER_MS = 10_000;

type TlsAgents = { readonly tls: TlsOptions; readonly requests: HttpAgent; readonly unbounded: HttpAgent };

export type Agents = {
  /** Returns the agents for these certificates: they are kept as long as the certificates are the same. */
  with(tls: TlsOptions): TlsAgents;
  close(): void;
};

export function createAgents(isTls: boolean): Agents {
  let kept: TlsAgents | undefined;
  return {
    with(tls) {
      if (kept !== undefined && sameTls(kept.tls, tls)) {
        // The next comparison is then of the same object.
        kept = { ...kept, tls };
        return kept;
      }
      const make = (maxSockets: number) => {
        const options = { keepAlive: true, keepAliveMsecs: PROBE_AFTER_MS, maxSockets };
        return isTls ? new TlsAgent({ ...options, ...tls }) : new HttpAgent(options);
      };
      kept = { tls, requests: make(MAX_AT_ONCE), unbounded: make(Number.POSITIVE_INFINITY) };
      return kept;
    },
    close() {
      kept?.requests.destroy();
      kept?.unbounded.destroy();
    },
  };
}

function sameTls(a: TlsOptions, b: TlsOptions): boolean {
  return (
    a === b ||
    JSON.stringify([a.ca, a.cert, a.key, a.servername]) === JSON.stringify([b.ca, b.cert, b.key, b.servername])
  );
}
