/** Server to check, as its callers see it. */
import { connectionAdvice } from "../../domain/connection-advice.ts";
import { connectionErrorText, errorText } from "../../domain/error-text.ts";
import { printable } from "../../domain/manifest/document/diagnostic.ts";
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

const CHECKS: readonly Check<Server>[] = [checkConnection, checkCertificate, checkIssuers, checkManagement];

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

/**
 * Checks each issuer of the console: begins a sign-in by it, for which the server asks it for its endpoints. A server
 * that does not answer has its own finding.
 */
export async function checkIssuers({ url }: Pick<Server, "url">): Promise<Finding[]> {
  const ask = (path: string) =>
    fetch(new URL(path, url), { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
  const page = await ask("/dashboard/sign-in").then(
    (answer) => answer.text(),
    () => "",
  );
  const links = [...page.matchAll(/href="(\/dashboard\/sign-in\?issuer=[^"]+)"/g)];
  return Promise.all(
    links.map(async ([, link = ""]) => {
      const begun = new URL(link.replaceAll("&amp;", "&"), url);
      const issuer = printable(begun.searchParams.get("issuer") ?? "");
      const status = await ask(begun.href).then(
        (answer) => answer.status,
        () => "no answer",
      );
      if (status === 303) return ok("issuers", `people can sign in by ${issuer}`);
      const message = `people cannot sign in by ${issuer}: the server got no valid answer from it (${status})`;
      const step =
        "see the last cause in the server's log; for a certificate of your own authority set trustedCa of the chart, or NODE_EXTRA_CA_CERTS";
      return wrong("issuers", message, step);
    }),
  );
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
