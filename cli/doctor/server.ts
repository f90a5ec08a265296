/** Server to check, as its callers see it. */
import { connectionAdvice } from "../../domain/connection-advice.ts";
import { connectionErrorText, errorText } from "../../domain/error-text.ts";
import { isRecord } from "../../domain/manifest/document/identity.ts";
import type { ManagementClient } from "../management/management-client.ts";
import { checkServedCertificate } from "./certificate.ts";
import { type Check, type Finding, ok, runChecks, wrong } from "./finding.ts";
import { judgeClock } from "./judge-clock.ts";
import { TIMEOUT_MS } from "./readiness.ts";

type Server = {
  readonly url: URL;
  /** Opens the management API with the token; undefined if no token is given. */
  readonly management: (() => Promise<ManagementClient>) | undefined;
  /** Returns a command of this program that is directed at the same server, for a shell. */
  readonly command: (words: string) => string;
  /** Clock of this machine, in milliseconds since the epoch. */
  readonly now: () => number;
};

const CHECKS: readonly Check<Server>[] = [checkConnection, checkCertificate, checkManagement];

export function checkServer(server: Server): Promise<Finding[]> {
  return runChecks(CHECKS, server);
}

/** Checks that a Keyplane server answers. It is asked without a credential, which it refuses with a code. */
async function checkConnection({ url, now }: Server): Promise<Finding[]> {
  const step = "see that a keyplane server runs there, and that the URL is right";
  const before = now();
  try {
    const asked = new URL("api/v1/keys", url.href.replace(/\/*$/, "/"));
    const answer = await fetch(asked, { redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) });
    const after = now();
    const body: unknown = await answer.json().catch(() => undefined);
    if (answer.status !== 401 || !isRecord(body) || typeof body.code !== "string") {
      return [wrong("server-connection", `${url.href} answers as no keyplane server does (${answer.status})`, step)];
    }
    const reached = ok("server-connection", `a keyplane server answers at ${url.href}`);
    const date = Date.parse(answer.headers.get("date") ?? "");
    // It counts whole seconds.
    return Number.isNaN(date)
      ? [reached]
      : [reached, judgeClock("the server's", date, { before: before - 1_000, after })];
  } catch (error) {
    const message = `no answer from ${url.href} (${connectionErrorText(error)})`;
    return [wrong("server-connection", message, connectionAdvice(error, step))];
  }
}

async function checkCertificate({ url, now }: Server): Promise<Finding[]> {
  return url.protocol === "https:" ? checkServedCertificate(url, now()) : [];
}

/** Checks that the token opens the management API, and reports leaked keys that still work. */
export async function checkManagement({
  management,
  command,
}: Pick<Server, "management" | "command">): Promise<Finding[]> {
  if (management === undefined) return [];
  try {
    const keys = await (await management()).listKeys();
    const leaked = keys.filter(({ state, versions }) => {
      return state === "active" && versions.some(({ leakedAt, state }) => leakedAt !== null && isLiving(state));
    });
    return [
      ok("management-api", `the management API answers; ${keys.length} keys are stored`),
      ...leaked.map(({ namespace, name, id }) => {
        const message = `${namespace}/${name} was reported as leaked, and works still`;
        return wrong("leaked-keys", message, command(`rotate --revoke-old ${id}`));
      }),
    ];
  } catch (error) {
    return [wrong("management-api", errorText(error), "give this installation's token, and see the server's log")];
  }
}

const isLiving = (state: string): boolean => ["reserved", "active", "retiring"].includes(state);
