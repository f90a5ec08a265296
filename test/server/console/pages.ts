import type { Environment } from "../../../domain/environment.ts";
import { managementToken } from "../../../server/auth/management/management-token.ts";
import type { Store } from "../../../store/database/store.ts";
import { openByAnyPlans } from "../../env/database/engines.ts";
import { type Browser, ownPage, signIn } from "../auth/session/sign-in.ts";
import { startApi, TOKEN } from "../management/api.ts";

/** A page as the server has rendered it. */
export type PageResponse = { readonly status: number; readonly text: string; readonly headers: Headers };

/** The issuer whose people may sign in. It is never asked: sessions are made by hand. */
export const ISSUER = "https://id.example";

export type Pages = Awaited<ReturnType<typeof startPages>>;
/** How a person who is signed in looks at pages. */
export type Visitor = ReturnType<typeof visitorOf>;

/** A server on a database of its own, whose pages the installation's own looks at, who came by a one-time link. */
export async function startPages(store?: Store, settings: Environment = {}) {
  const own = store ?? (await openByAnyPlans());
  const env = {
    ...{ KEYPLANE_OIDC_ISSUER: ISSUER, KEYPLANE_OIDC_AUDIENCE: "keyplane" },
    KEYPLANE_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.0/8",
    ...settings,
  };
  const api = await startApi(own, env, undefined, managementToken("console", TOKEN));
  const browser = await signIn(own);
  return {
    ...api,
    store: own,
    ...visitorOf(api, browser),
    /** Signs in a person of this name, who is a member where a team names them. */
    async as(subject: string, displayName = subject): Promise<Visitor> {
      const person = { issuer: ISSUER, subject, groups: [] };
      return visitorOf(api, await signIn(own, { person, displayName }));
    },
    async close() {
      await api.close();
      if (store === undefined) await own.close();
    },
  };
}

function visitorOf(api: { readonly url: string }, browser: Browser) {
  async function ask(path: string, init: RequestInit = {}): Promise<PageResponse> {
    const answer = await fetch(`${api.url}/dashboard${path}`, {
      redirect: "manual",
      ...init,
      headers: { ...ownPage(api, browser), ...init.headers },
    });
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  }
  return {
    browser,
    get: (path: string, headers: Record<string, string> = {}) => ask(path, { headers }),
    /** Sends a form. */
    post: (
      path: string,
      fields: Readonly<Record<string, string>> | URLSearchParams = {},
      headers: Record<string, string> = {},
    ) => ask(path, { method: "POST", body: new URLSearchParams(fields), headers }),
    /** Sends a form without a body, as no page of ours does. */
    postNothing: (path: string) => ask(path, { method: "POST" }),
  };
}
