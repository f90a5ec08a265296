/** A user of the console, who makes keys, uses them and revokes them again. */
import { setTimeout as delay } from "node:timers/promises";
import { until } from "../../env/until.ts";
import type { Report } from "../../oracle/report.ts";
import type { SecretLedger } from "../../oracle/secrets.ts";
import { ownPage, signIn } from "../../server/auth/session/sign-in.ts";
import { type Calls, StatusError } from "./calls.ts";
import type { Site } from "./site.ts";

/** Between two keys, in milliseconds. */
const PAUSE_MS = 4_000;
/** Between two looks at whether a revocation is confirmed, in milliseconds; it is within the lease and a moment. */
const LOOK_MS = 250;
const CONFIRMED_WITHIN_MS = 60_000;

export const ISSUER = "https://id.example";
export const ADMINS = "platform-admins";

/** What of it is judged. */
export type Judged = { readonly calls: Calls; readonly secrets: SecretLedger; readonly report: Report };

/**
 * Works until the signal, by a session as a sign-in at the issuer makes it.
 *
 * @returns how many keys were made and revoked
 */
export async function useConsole(
  { url, team, store }: Pick<Site, "url" | "team" | "store">,
  { calls, secrets, report }: Judged,
  signal: AbortSignal,
): Promise<number> {
  const person = { issuer: ISSUER, subject: "ada", groups: [ADMINS] };
  const beginSession = () => until("the user has signed in", () => signIn(store, { person, displayName: "Ada" }));
  let session = await beginSession();

  /** A page; undefined where the call failed. */
  const ask = (path: string, form?: Readonly<Record<string, string>>) =>
    calls.make("the console", "database", async () => {
      const response = await fetch(`${url}/dashboard${path}`, {
        redirect: "manual",
        headers: ownPage({ url }, session),
        ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) }),
      });
      const text = await response.text();
      if (response.status >= 400) throw new StatusError(response.status, text);
      // After ten minutes the issuer is asked anew who the person is, and there is none here.
      if (response.headers.get("location")?.includes("/sign-in?")) session = await beginSession();
      return text;
    });

  async function makeKey(name: string): Promise<{ id: string; value: string } | undefined> {
    const form = await ask("/keys/new");
    const once = form && /name="once" value="([^"]+)"/.exec(form)?.[1];
    const shown = once && (await ask("/keys/new", { name, team, preset: "MCPReadOnly", once }));
    const value = shown && /id="secret"[^>]*>([^<]+)</.exec(shown)?.[1];
    const id = shown && /data-shown-once="\/dashboard\/keys\/([^"]+)"/.exec(shown)?.[1];
    return id && value ? { id, value } : undefined;
  }

  async function revoke(id: string, name: string): Promise<boolean> {
    const form = { reason: "no longer needed", confirm: name };
    while ((await ask(`/keys/${id}/revoke`, form)) === undefined) await delay(PAUSE_MS);
    const deadline = performance.now() + CONFIRMED_WITHIN_MS;
    while (performance.now() < deadline) {
      if ((await ask(`/keys/${id}`))?.includes("Revoked everywhere.")) return true;
      await delay(LOOK_MS);
    }
    return false;
  }

  let done = 0;
  while (!signal.aborted) {
    const name = `console-${done + 1}-${Date.now()}`;
    const made = await makeKey(name);
    if (made !== undefined) {
      secrets.hold(name, made.value);
      report.note(`the console made ${name}`);
      await delay(PAUSE_MS);
      if (await revoke(made.id, name)) {
        secrets.refuse(made.value);
        report.note(`the console has a receipt for ${name}`);
        done++;
      } else report.violation({ rule: "I9", subject: name, what: "its revocation is not confirmed within a minute" });
    }
    await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
  return done;
}
