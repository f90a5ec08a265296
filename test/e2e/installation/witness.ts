/** What the keys of an installation are, and are answered with, while it is used and broken. */
import { setTimeout as delay } from "node:timers/promises";
import { KEY_LABEL } from "../../../controller/cluster/port.ts";
import { type Probers, startProbers } from "../../oracle/probers.ts";
import type { Report } from "../../oracle/report.ts";
import { checkRules } from "../../oracle/rules.ts";
import { decode, type SecretLedger, watchSecrets } from "../../oracle/secrets.ts";
import { lookAtSecrets, type Standings, takeIn } from "../../oracle/standings.ts";
import type { WatchedObject } from "../../oracle/watch.ts";
import type { Site } from "./site.ts";

const BETWEEN_LOOKS_MS = 600;
/** Before a watch that ended is begun again, in milliseconds. */
const AGAIN_MS = 200;

export type Keys = {
  readonly secrets: SecretLedger;
  /** What the Secret of each key holds at the moment, by its namespace and name. */
  readonly present: ReadonlyMap<string, string>;
};

/** Watches the Secrets of keys until the signal. */
export function watchKeys({ cluster }: Site, report: Report, signal: AbortSignal): Keys {
  const secrets = watchSecrets({ secretNames: new Set() }, report);
  const present = new Map<string, string>();

  /** @param line the event and its object */
  function see(line: string): void {
    const at = line.indexOf(" ");
    const isGone = line.slice(0, at) === "DELETED";
    const secret: WatchedObject = JSON.parse(line.slice(at + 1));
    secrets.see(secret, isGone);
    const title = `${secret.metadata.namespace}/${secret.metadata.name}`;
    const value = decode(secret.data, "api-key");
    if (value === undefined || isGone) present.delete(title);
    else present.set(title, value);
  }

  void (async () => {
    const of = ["secrets", "--all-namespaces", `--selector=${KEY_LABEL}`];
    const how = ["--watch", "--output-watch-events", '--output=jsonpath={.type} {.object}{"\\n"}'];
    while (!signal.aborted) {
      await cluster.followKubectl(["get", ...of, ...how], signal, see);
      await delay(AGAIN_MS);
    }
  })();
  return { secrets, present };
}

export type Witness = {
  /** Of every server to every key, by status. */
  readonly answers: Probers["counts"];
  /** How often the store was looked at, and the answers until then judged. */
  looks(): number;
};

/** Looks at the store and calls every server with every key that a Secret ever held, until the signal. */
export function startWitness({ store, urls }: Site, { secrets }: Keys, report: Report, signal: AbortSignal): Witness {
  const probers = startProbers(urls, secrets, report, signal);
  let standings: Standings = new Map();
  let looks = 0;

  async function look(): Promise<void> {
    const seen = await lookAtSecrets(store);
    standings = takeIn(standings, seen);
    probers.onLook(seen, standings);
    await checkRules(store, report);
    looks++;
  }

  void (async () => {
    while (!signal.aborted) {
      // PostgreSQL is away, and the next look is soon.
      await look().catch((error: unknown) => report.note(`no look at the store: ${String(error).slice(0, 100)}`));
      await delay(BETWEEN_LOOKS_MS, undefined, { signal }).catch(() => {});
    }
  })();
  return { answers: probers.counts, looks: () => looks };
}
