import { readFile } from "node:fs/promises";
import { until } from "./until.ts";

// biome-ignore lint/suspicious/noExplicitAny: whatever the API answers, for a test to look into
export type ApiBody = any;

/** A server that tests of a tool ask beside the tool. */
export type AskedServer = {
  /** The management API, with the installation's token. */
  manage(method: string, path: string, body?: object): Promise<{ status: number; body: ApiBody }>;
  /** The status of a memory request with this credential, asked for again while the server says to come back. */
  call(credential: string): Promise<number>;
};

/** @param where the server, which may start later, and the file of the installation's token */
export function askServer(where: () => { readonly url: string; readonly tokenFile: string }): AskedServer {
  return {
    async manage(method, path, body) {
      const { url, tokenFile } = where();
      const token = (await readFile(tokenFile, "utf8")).trim();
      const answer = await fetch(`${url}/api/v1/${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "if-match": "*" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: await answer.json() };
    },
    async call(credential) {
      let status = 0;
      await until("the server decides", async () => {
        const answer = await fetch(`${where().url}/atoms`, { headers: { authorization: `Bearer ${credential}` } });
        await answer.text();
        status = answer.status;
        return status !== 503;
      });
      return status;
    },
  };
}
