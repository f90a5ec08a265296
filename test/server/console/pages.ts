import { managementToken } from "../../../server/auth/management-token.ts";
import type { Store } from "../../../store/database/store.ts";
import { openEmbedded } from "../../env/embedded-database.ts";
import { ownPage, signIn } from "../auth/session/sign-in.ts";
import { startApi, TOKEN } from "../management/api.ts";

/** A page as the server has rendered it. */
export type PageResponse = { readonly status: number; readonly text: string; readonly headers: Headers };

export type Pages = Awaited<ReturnType<typeof startPages>>;

/** A server on an embedded database, whose pages the installation's own looks at, who came by a one-time link. */
export async function startPages(store?: Store) {
  const own = store ?? (await openEmbedded());
  const api = await startApi(own, {}, undefined, managementToken("console", TOKEN));
  const browser = await signIn(own);
  async function ask(path: string, init: RequestInit = {}): Promise<PageResponse> {
    const answer = await fetch(`${api.url}/dashboard${path}`, {
      redirect: "manual",
      ...init,
      headers: { ...ownPage(api, browser), ...init.headers },
    });
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  }
  return {
    ...api,
    store: own,
    browser,
    get: (path: string, headers: Record<string, string> = {}) => ask(path, { headers }),
    /** Sends a form. */
    post: (path: string, fields: Readonly<Record<string, string>> | URLSearchParams = {}) =>
      ask(path, { method: "POST", body: new URLSearchParams(fields) }),
    /** Sends a form without a body, as no page of ours does. */
    postNothing: (path: string) => ask(path, { method: "POST" }),
    async close() {
      await api.close();
      if (store === undefined) await own.close();
    },
  };
}
